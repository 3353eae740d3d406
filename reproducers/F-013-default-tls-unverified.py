# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Connects to a server whose certificate is signed by an unknown CA, by default and with `ssl_context=True`.
Needs such a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import os
import socket
import ssl

import pg8000.native

host, port = os.environ["PGHOST"], int(os.environ["PGPORT"])


def connect(who, **options):
    try:
        connection = pg8000.native.Connection(
            user=os.environ["PGUSER"],
            password=os.environ["PGPASSWORD"],
            host=host,
            port=port,
            database=os.environ["PGDATABASE"],
            timeout=5,
            **options,
        )
        rows = connection.run("select ssl from pg_stat_ssl where pid = pg_backend_pid()")
        print(f"{who}: connected, and the server says that TLS is {rows[0][0]}", flush=True)
    except Exception as error:
        print(f"{who}: refused, {type(error).__name__}", flush=True)


with socket.create_connection((host, port), timeout=5) as plain:
    plain.sendall(bytes.fromhex("0000000804d2162f"))  # SSLRequest
    if plain.recv(1) == b"S":
        try:
            ssl.create_default_context().wrap_socket(plain, server_hostname=host)
        except ssl.SSLCertVerificationError:
            print("Python's own defaults: refused, SSLCertVerificationError", flush=True)
connect("pg8000's default")
connect("ssl_context=True", ssl_context=True)
connect("ssl_context=create_default_context()", ssl_context=ssl.create_default_context())

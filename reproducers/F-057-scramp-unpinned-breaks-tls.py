# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6", "scramp"]
# ///
"""Connects over TLS with whatever scramp a fresh install of pg8000 gets: `scramp` is named above, but must not be pinned.
Needs a Postgres with TLS, named by PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE and PGSSLROOTCERT."""
import os
import socket
import ssl

import pg8000.native

host, port = os.environ["PGHOST"], int(os.environ["PGPORT"])
context = ssl.create_default_context(cafile=os.environ["PGSSLROOTCERT"])

with socket.create_connection((host, port), timeout=5) as plain:
    plain.sendall(bytes.fromhex("0000000804d2162f"))  # SSLRequest
    if plain.recv(1) == b"S":
        with context.wrap_socket(plain, server_hostname=host):
            print("without pg8000: the server speaks TLS, and its certificate is good", flush=True)

try:
    connection = pg8000.native.Connection(
        user=os.environ["PGUSER"],
        password=os.environ["PGPASSWORD"],
        host=host,
        port=port,
        database=os.environ["PGDATABASE"],
        timeout=5,
        ssl_context=context,
    )
    rows = connection.run("select ssl from pg_stat_ssl where pid = pg_backend_pid()")
    print(f"with pg8000: connected, and the server says that TLS is {rows[0][0]}", flush=True)
except Exception as error:
    print(f"with pg8000: {type(error).__name__}: {error}", flush=True)

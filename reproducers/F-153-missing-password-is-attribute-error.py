# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Connects to a server that asks for a password by SCRAM: with a password, and with none.
Needs a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import os

import pg8000.native


def connect(password):
    try:
        connection = pg8000.native.Connection(
            user=os.environ["PGUSER"],
            password=password,
            host=os.environ["PGHOST"],
            port=int(os.environ["PGPORT"]),
            database=os.environ["PGDATABASE"],
            timeout=5,
        )
        return connection.run("show password_encryption")
    except Exception as error:
        return f"{type(error).__name__}, {error}"


print("with a password:", connect(os.environ["PGPASSWORD"]), flush=True)
print("without:", connect(None), flush=True)

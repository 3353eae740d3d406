# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Stores two bytes in a bytea column: as a parameter, and as a literal.
Needs a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import os

import pg8000.native

connection = pg8000.native.Connection(
    user=os.environ["PGUSER"],
    password=os.environ["PGPASSWORD"],
    host=os.environ["PGHOST"],
    port=int(os.environ["PGPORT"]),
    database=os.environ["PGDATABASE"],
    timeout=5,
)
connection.run("create temporary table files (content bytea)")


def store(how, value, **params):
    try:
        connection.run(f"insert into files values ({value})", **params)
        rows = connection.run("select content from files")
        connection.run("delete from files")
        print(f"{how}: reads back as {rows[0][0]}", flush=True)
    except pg8000.native.DatabaseError as error:
        print(f"{how}: {value}, {error.args[0]['M']}", flush=True)


data = bytes.fromhex("01ff")
store("a parameter", ":data", data=data)
store("literal()", pg8000.native.literal(data))

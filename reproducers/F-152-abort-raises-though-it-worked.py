# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Ends a failed transaction in several ways, and asks after each whether it has ended.
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

for statement in "rollback", "abort", "/* request 7 */ rollback":
    connection.run("begin")
    try:
        connection.run("select 1 / 0")
    except pg8000.native.DatabaseError as error:
        failed = error.args[0]["M"]
    try:
        connection.run(statement)
        outcome = "returned"
    except pg8000.native.InterfaceError as error:
        outcome = f"raised InterfaceError, {error}"
    rows = connection.run("select 2")
    print(f"after {failed}, {statement}: {outcome}; then select 2: {rows}", flush=True)

# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Closes a prepared statement, then uses and closes it once more: before and after another one is prepared.
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


def attempt(what, call, **params):
    try:
        print(f"{what}: {call(**params)}", flush=True)
    except Exception as error:
        said = error.args[0]["M"] if isinstance(error, pg8000.native.DatabaseError) else error
        print(f"{what}: {type(error).__name__}, {said}", flush=True)


first = connection.prepare("select cast(:n as int)")
attempt("first.run()", first.run, n=1)
attempt("first.close()", first.close)
attempt("first.close() again", first.close)
second = connection.prepare("select 1000 * cast(:n as int)")
attempt("first.run(), closed", first.run, n=1)
attempt("first.close(), closed", first.close)
attempt("second.run()", second.run, n=2)

# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Copies rows into a table from a generator that fails after the first one, and goes on with the connection.
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

connection.run("create temporary table numbers (n int)")


def rows():
    yield "1\n"
    raise ValueError("the second row is bad")


def attempt(what, sql, **how):
    try:
        print(f"{what}: {connection.run(sql, **how)}", flush=True)
    except Exception as error:
        print(f"{what}: {type(error).__name__}, {error}", flush=True)


attempt("copy of one row", "copy numbers from stdin", stream=["7\n"])
attempt("copy from the generator", "copy numbers from stdin", stream=rows())
attempt("then", "select n from numbers")

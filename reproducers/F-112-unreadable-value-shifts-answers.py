# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Reads what pg8000 can't decode; then others use the same connection.
Needs a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import os

import pg8000.native


def connect():
    return pg8000.native.Connection(
        user=os.environ["PGUSER"],
        password=os.environ["PGPASSWORD"],
        host=os.environ["PGHOST"],
        port=int(os.environ["PGPORT"]),
        database=os.environ["PGDATABASE"],
        timeout=5,
    )


def ask(who, sql):
    try:
        print(f"{who} gets {connection.run(sql)}", flush=True)
    except Exception as error:
        print(f"{who} gets {type(error).__name__}", flush=True)


for what, sql in {
    "midnight at the end of a day": "select time '24:00'",
    "an array that begins at 0": "select cast('[0:1]={1,2}' as int[])",
    "a notification": "listen news; notify news, 'caf\u00e9'",
}.items():
    connection = connect()
    print(f"{what}:", flush=True)
    ask("user 1", "select 'data of user 1'")
    ask("user 1", sql)
    ask("user 2", "select 'data of user 2'")
    ask("user 3", "select 'data of user 3'")

# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Runs statements that psql takes, each with a parameter and with one more thing that SQL allows.
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

for what, sql in {
    "nothing more": "select 'x' where 1 = cast(:n as int)",
    "a comment with an apostrophe": "select 'x' /* don't */ where 1 = cast(:n as int)",
    "a comment with a colon": "select 'x' /* by app:web */ where 1 = cast(:n as int)",
    "a dollar quote with a tag": "select $t$it's$t$ where 1 = cast(:n as int)",
    "a backslash in E''": "select E'\\\\' where 1 = cast(:n as int)",
    "a small e''": "select e'it\\'s' where 1 = cast(:n as int)",
}.items():
    try:
        print(f"{what}: {connection.run(sql, n=1)}", flush=True)
    except pg8000.native.Error as error:
        said = error.args[0]["M"] if isinstance(error.args[0], dict) else error
        print(f"{what}: {type(error).__name__}, {said}", flush=True)

# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Executes a statement without parameters: with an empty tuple, and with None as the documentation has it.
Needs a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import os

import pg8000.dbapi

connection = pg8000.dbapi.connect(
    user=os.environ["PGUSER"],
    password=os.environ["PGPASSWORD"],
    host=os.environ["PGHOST"],
    port=int(os.environ["PGPORT"]),
    database=os.environ["PGDATABASE"],
    timeout=5,
)

cursor = connection.cursor()
for args in (), None:
    try:
        cursor.execute("select 1", args)
        print(f"args={args}: {cursor.fetchall()}", flush=True)
    except Exception as error:
        print(f"args={args}: {type(error).__name__}, {error}", flush=True)
    connection.rollback()

# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Chains a fetch to execute(), which returns the cursor according to the documentation.
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
returned = cursor.execute("select 1")
print("the cursor has:", cursor.fetchall(), flush=True)
print("execute() returned:", "the cursor" if returned is cursor else returned, flush=True)

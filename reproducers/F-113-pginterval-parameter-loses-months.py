# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Sends intervals of months, days and seconds as parameters, and asks the server what it got.
Needs a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import os

import pg8000.native
from pg8000.native import DatabaseError, PGInterval

connection = pg8000.native.Connection(
    user=os.environ["PGUSER"],
    password=os.environ["PGPASSWORD"],
    host=os.environ["PGHOST"],
    port=int(os.environ["PGPORT"]),
    database=os.environ["PGDATABASE"],
    timeout=5,
)

for text in "1 day", "1 month", "1 year 2 months 3 days":
    value = connection.run("select cast(:text as interval)", text=text)[0][0]
    try:
        back = connection.run("select cast(cast(:value as interval) as text)", value=value)[0][0]
    except DatabaseError as error:
        back = f"an error: {error.args[0]['M']}"
    print(f"{text}: pg8000 reads a {type(value).__name__}, and writes back {back}", flush=True)

value = PGInterval(months=1, days=2, seconds=3, microseconds=4)
sent = connection.run("select cast(cast(:value as interval) as text)", value=value)[0][0]
print(f"PGInterval of {value}: the server gets {sent}", flush=True)

# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Reads negative intervals, and has the server count the seconds of the same value.
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

for text in "01:30:00", "-00:30:00", "-01:30:00", "1 day -00:30:00":
    sql = "select cast(:text as interval), cast(extract(epoch from cast(:text as interval)) as int)"
    read, seconds = connection.run(sql, text=text)[0]
    print(f"{text}: the server counts {seconds} seconds, pg8000 reads {read.total_seconds():.0f}", flush=True)

sql = "select timestamp '2026-01-01 10:00' - timestamp '2026-01-01 10:30'"
print(f"10:00 minus 10:30: pg8000 reads {connection.run(sql)[0][0].total_seconds():.0f} seconds", flush=True)

# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Reads the first of February under several settings of the server's DateStyle.
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

for style in "ISO, DMY", "SQL, DMY", "German":
    connection.run(f"set datestyle to '{style}'")
    sql = "select timestamp '2026-02-01 10:00', cast(extract(month from timestamp '2026-02-01 10:00') as int)"
    value, month = connection.run(sql)[0]
    print(f"{style}: the server has month {month}, pg8000 reads {type(value).__name__} {value}", flush=True)

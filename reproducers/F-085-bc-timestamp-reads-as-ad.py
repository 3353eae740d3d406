# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Reads a timestamp of 44 BC and one of 44 AD.
Needs a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import os
import warnings

import pg8000.native

connection = pg8000.native.Connection(
    user=os.environ["PGUSER"],
    password=os.environ["PGPASSWORD"],
    host=os.environ["PGHOST"],
    port=int(os.environ["PGPORT"]),
    database=os.environ["PGDATABASE"],
    timeout=5,
)

values = []
for text in "0044-03-15 12:00:00", "0044-03-15 12:00:00 BC":
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sql = "select cast(:text as timestamp), cast(extract(year from cast(:text as timestamp)) as int)"
        value, year = connection.run(sql, text=text)[0]
    values.append(value)
    print(f"{text}: the server says year {year}, pg8000 reads {type(value).__name__} {value}", flush=True)
    for warning in caught:
        print(f"a warning: {warning.category.__name__}", flush=True)
print(f"both are equal: {values[0] == values[1]}", flush=True)
connection.close()

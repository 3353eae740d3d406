# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Reads rows as values of type record, and asks the server for their fields.
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

for fields in "1, 2, 3", "1, null, 3", "1, '', 3", "1, 'the \"new\" one', 3":
    value = connection.run(f"select row({fields})")[0][0]
    print(f"row({fields}): pg8000 reads {len(value)} fields, {value}", flush=True)

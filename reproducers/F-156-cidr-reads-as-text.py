# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Reads a network from the columns that can hold one.
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

rows = connection.run("select inet '10.0.0.0/8', cast(array['10.0.0.0/8'] as cidr[]), cidr '10.0.0.0/8'")
for what, value in zip(("inet", "cidr[]", "cidr"), rows[0]):
    print(f"{what}: {value!r}", flush=True)

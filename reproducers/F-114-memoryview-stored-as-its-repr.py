# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Stores the same bytes as bytes, bytearray and memoryview, and asks the server what it has.
Needs a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import os
import re

import pg8000.native

connection = pg8000.native.Connection(
    user=os.environ["PGUSER"],
    password=os.environ["PGPASSWORD"],
    host=os.environ["PGHOST"],
    port=int(os.environ["PGPORT"]),
    database=os.environ["PGDATABASE"],
    timeout=5,
)

connection.run("create temporary table files (content bytea)")
for content in b"data", bytearray(b"data"), memoryview(b"data"):
    connection.run("delete from files")
    try:
        connection.run("insert into files values (:content)", content=content)
        stored = connection.run("select encode(content, 'escape') from files")[0][0]
    except Exception as error:
        stored = f"nothing, as it raised {type(error).__name__}"
    print(f"{type(content).__name__}: stored {re.sub('0x[0-9a-f]+', '0x...', stored)}", flush=True)

# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Reads bytea values under both settings of the server's bytea_output.
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

for output in "hex", "escape":
    connection.run(f"set bytea_output to {output}")
    for data in b"12345678", b"ok":
        sql = "select cast(:data as bytea), octet_length(cast(:data as bytea))"
        value, length = connection.run(sql, data=data)[0]
        print(f"{output}: sent {data}, the server has {length} bytes, pg8000 reads {value}", flush=True)

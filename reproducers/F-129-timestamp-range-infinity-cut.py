# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Reads ranges of timestamps without an end, written as infinity, beside a range of dates, and writes them back.
Needs a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import os

import pg8000.native
from pg8000.native import DatabaseError


def connect():
    return pg8000.native.Connection(
        user=os.environ["PGUSER"],
        password=os.environ["PGPASSWORD"],
        host=os.environ["PGHOST"],
        port=int(os.environ["PGPORT"]),
        database=os.environ["PGDATABASE"],
        timeout=5,
    )


for kind in "daterange", "tsrange", "tstzrange":
    connection = connect()
    try:
        value = connection.run(f"select {kind}('-infinity', 'infinity')")[0][0]
        print(f"{kind}: from {value.lower} to {value.upper}", flush=True)
        back = connection.run(f"select cast(cast(:value as {kind}) as text)", value=value)[0][0]
        print(f"{kind}: written back: {back}", flush=True)
    except DatabaseError as error:
        print(f"{kind}: written back: refused, {error.args[0]['M']}", flush=True)
    except Exception as error:
        print(f"{kind}: {type(error).__name__}, {error}", flush=True)

# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Reads an inet column that holds an interface's address with its netmask, and writes back what was read.
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

connection.run("create temporary table interfaces (address inet)")
for address in "10.1.2.3/8", "fe80::1/64":
    connection.run("delete from interfaces")
    connection.run("insert into interfaces values (cast(:address as inet))", address=address)
    stored = connection.run("select cast(address as text) from interfaces")[0][0]
    print(f"the server has {stored}", flush=True)
    value = connection.run("select address from interfaces")[0][0]
    print(f"pg8000 reads {value}", flush=True)
    connection.run("update interfaces set address = :value", value=value)
    back = connection.run("select cast(address as text) from interfaces")[0][0]
    print(f"written back: {back}", flush=True)

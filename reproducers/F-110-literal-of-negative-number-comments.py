# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Builds SQL with literal(), which makes values safe, and with a minus sign before a number.
Needs a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import os

import pg8000.native
from pg8000.native import literal

connection = pg8000.native.Connection(
    user=os.environ["PGUSER"],
    password=os.environ["PGPASSWORD"],
    host=os.environ["PGHOST"],
    port=int(os.environ["PGPORT"]),
    database=os.environ["PGDATABASE"],
    timeout=5,
)

for number in 3, -5:
    print(f"10-literal({number}): the server counts {connection.run(f'select 10-{literal(number)}')[0][0]}", flush=True)

connection.run("create temporary table accounts (owner text, balance int)")
connection.run("insert into accounts values ('alice', 20), ('bob', 30)")
for amount in 5, -5:
    for owner in "mallory", "mallory\nunion select $$and any SQL$$ order by 1 --":
        sql = f"select owner from accounts where 0 <= balance-{literal(amount)} and owner = {literal(owner)}"
        print(f"amount {amount}, owner {owner!r}: {connection.run(sql)}", flush=True)

# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Stores lists of one string each as text[], and asks the server how many elements of it are NULL.
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

connection.run("create temporary table people (names text[])")
for names in ["Nullmann"], ["NULL"], ["null"], ["Null"]:
    connection.run("delete from people")
    connection.run("insert into people values (:names)", names=names)
    nulls = connection.run("select count(*) from people, unnest(names) as name where name is null")[0][0]
    back = connection.run("select names from people")[0][0]
    print(f"{names}: the server counts {nulls} NULL, and pg8000 reads back {back}", flush=True)

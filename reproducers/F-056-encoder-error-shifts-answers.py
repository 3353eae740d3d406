# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""A parameter that can't be encoded raises, as it should; from then on each query on that connection is given the
answer of the one before. Needs a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import datetime
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


def ask(who, sql):
    try:
        print(f"{who} gets {connection.run(sql)}", flush=True)
    except Exception as error:
        print(f"{who} gets {type(error).__name__}: {error}", flush=True)


ask("user 1", "select 'data of user 1'")
try:
    connection.run("select cast(:event as json)", event={"at": datetime.date(2026, 1, 1)})
except TypeError as error:
    print(f"a date in a JSON parameter: TypeError: {error}", flush=True)
ask("rollback", "rollback")  # as a pool does before it hands the connection to the next user
ask("user 2", "select 'data of user 2'")
ask("user 3", "select 'data of user 3'")
ask("user 4", "select 'data of user 4'")

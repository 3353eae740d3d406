# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""A statement that the server cancels, then one after which it ends the connection: what the program is told.
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


def ask(sql):
    try:
        return connection.run(sql)
    except Exception as error:
        code = error.args[0]["C"] if isinstance(error.args[0], dict) else "no code"
        return f"{type(error).__name__}, {code}, {error.args[0]['M'] if code != 'no code' else error}"


print("cancelled:", ask("set statement_timeout = 100; select pg_sleep(10)"), flush=True)
print("terminated:", ask("select pg_terminate_backend(pg_backend_pid())"), flush=True)

# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""A signal handler raises during a query, as a soft time limit does; then others use the same connection.
Needs a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import os
import signal

import pg8000.native

connection = pg8000.native.Connection(
    user=os.environ["PGUSER"],
    password=os.environ["PGPASSWORD"],
    host=os.environ["PGHOST"],
    port=int(os.environ["PGPORT"]),
    database=os.environ["PGDATABASE"],
    timeout=5,
)


class SoftTimeLimit(Exception):
    pass


def stop(*_):
    raise SoftTimeLimit


def ask(who, sql):
    try:
        print(f"{who} gets {connection.run(sql)}", flush=True)
    except Exception as error:
        print(f"{who} gets {type(error).__name__}: {error}", flush=True)


ask("user 0", "select 'data of user 0'")
signal.signal(signal.SIGALRM, stop)
signal.setitimer(signal.ITIMER_REAL, 0.5)
ask("user 1", "select 'data of user 1' from pg_sleep(1)")
ask("user 2", "select 'data of user 2'")
ask("user 3", "select 'data of user 3'")

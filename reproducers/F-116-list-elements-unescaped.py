# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Stores lists of one element that reads `a,b`, or `NULL`, as text[], and asks the server how many it has.
Needs a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import os
from enum import Enum
from pathlib import PurePosixPath

import pg8000.native

connection = pg8000.native.Connection(
    user=os.environ["PGUSER"],
    password=os.environ["PGPASSWORD"],
    host=os.environ["PGHOST"],
    port=int(os.environ["PGPORT"]),
    database=os.environ["PGDATABASE"],
    timeout=5,
)


class Answer(Enum):
    BOTH = "a,b"
    NONE = "NULL"


for element in "a,b", "NULL", PurePosixPath("a,b"), PurePosixPath("NULL"), Answer.BOTH, Answer.NONE:
    sql = "select cardinality(v), array_to_string(v, ' | ', 'SQL NULL') from (select cast(:v as text[])) as x (v)"
    number, items = connection.run(sql, v=[element])[0]
    what = f"{type(element).__name__} of {getattr(element, 'value', element)}"
    print(f"[{what}]: {number} in the array, {items}", flush=True)

# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Reads one letter under each of several client encodings.
Needs a Postgres, named by PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE."""
import os

import pg8000.native


def connect():
    return pg8000.native.Connection(
        user=os.environ["PGUSER"],
        password=os.environ["PGPASSWORD"],
        host=os.environ["PGHOST"],
        port=int(os.environ["PGPORT"]),
        database=os.environ["PGDATABASE"],
        timeout=5,
    )


letters = {"WIN1251": "\u041f", "WIN866": "\u041f", "KOI8R": "\u041f", "KOI8U": "\u041f", "ISO_8859_5": "\u041f",
           "ISO_8859_6": "\u0639", "ISO_8859_7": "\u03a9", "ISO_8859_8": "\u05d0"}
for encoding, letter in letters.items():
    connection = connect()
    try:
        connection.run(f"set client_encoding to {encoding}")
        value = connection.run(f"select chr({ord(letter)})")[0][0]
        print(f"{encoding}: reads {'the letter' if value == letter else ascii(value)}", flush=True)
    except Exception as error:
        print(f"{encoding}: {type(error).__name__}: {error}", flush=True)

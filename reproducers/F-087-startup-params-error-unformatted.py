# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Gives `user` in startup_params, which pg8000 refuses before it connects."""
import pg8000.native

try:
    pg8000.native.Connection("alice", host="127.0.0.1", port=1, startup_params={"user": "bob"})
except pg8000.native.InterfaceError as error:
    print(f"InterfaceError: {error}", flush=True)

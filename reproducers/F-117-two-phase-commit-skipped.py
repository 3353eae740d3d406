# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Prepares and commits a transaction, under an id without a branch qualifier and one with it, on a listener that
answers as a Postgres would, and shows the statements that arrive there."""
import socket
import struct
import threading

import pg8000.dbapi


def message(code, data):
    return code + struct.pack("!i", len(data) + 4) + data


SSL_REQUEST = struct.pack("!i", 80877103)
READY = message(b"Z", b"T")
COLUMN = message(b"T", struct.pack("!h", 1) + b"gid\0" + struct.pack("!ihihih", 0, 0, 25, -1, -1, 0))
ROW = message(b"D", struct.pack("!hi", 1, 4) + b"gid1")  # the one prepared transaction


def serve(listener):
    peer, _ = listener.accept()
    stream = peer.makefile("rwb", buffering=0)
    while stream.read(struct.unpack("!i", stream.read(4))[0] - 4) == SSL_REQUEST:
        stream.write(b"N")
    stream.write(message(b"R", struct.pack("!i", 0)) + READY)
    while code := stream.read(1):
        data = stream.read(struct.unpack("!i", stream.read(4))[0] - 4)
        statement = data.strip(b"\0").decode().rstrip(";")
        if code in b"QP":
            print("  the server is sent:", statement, flush=True)
        if code == b"Q":
            rows = COLUMN + ROW if "pg_prepared_xacts" in statement else b""
            stream.write(rows + message(b"C", b"OK\0"))
        if code in b"QS":
            stream.write(READY)


for branch in "", "branch":
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    connection = pg8000.dbapi.connect("user", host="127.0.0.1", port=listener.getsockname()[1], timeout=5)
    xid = connection.xid(0, "gid1", branch)
    print(f"branch qualifier {branch!r}:", flush=True)
    connection.tpc_begin(xid)
    connection.cursor().execute("insert into orders values (1)")
    connection.tpc_prepare()
    connection.tpc_commit()
    print("  tpc_commit() returned", flush=True)

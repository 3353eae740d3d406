# /// script
# requires-python = ">=3.11"
# dependencies = ["pg8000==1.31.6"]
# ///
"""Sends a query to a listener that speaks just enough of the protocol to let pg8000 connect, and that then closes,
resets, or says nothing."""
import socket
import struct
import threading

import pg8000.native

SSL_REQUEST = bytes.fromhex("0000000804d2162f")
AUTHENTICATION_OK = b"R" + struct.pack("!ii", 8, 0)
READY_FOR_QUERY = b"Z" + struct.pack("!ic", 5, b"I")
peers = []  # keeps the silent one open


def serve(listener, how):
    peer, _ = listener.accept()
    peers.append(peer)
    if peer.recv(4096) == SSL_REQUEST:
        peer.sendall(b"N")
        peer.recv(4096)
    peer.sendall(AUTHENTICATION_OK + READY_FOR_QUERY)
    peer.recv(4096)  # the query
    if how == "reset":
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if how != "silence":
        peer.close()


for how in "close", "reset", "silence":
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener, how)).start()
    connection = pg8000.native.Connection("user", port=listener.getsockname()[1], host="127.0.0.1", timeout=1)
    try:
        print(f"{how}: answered {connection.run('select 1')}", flush=True)
    except Exception as error:
        print(f"{how}: {type(error).__module__}.{type(error).__name__}: {error}", flush=True)

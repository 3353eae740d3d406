"""TLS towards the database: verified unless told otherwise."""

from __future__ import annotations

import socket
import ssl
import struct
from pathlib import Path

from servers.edge.outages import NoTls
from servers.edge.settings import BadSetting, Database, Tls

_PEM = "-----BEGIN "
_SSL_REQUEST = struct.pack("!ii", 8, 80877103)


def context(database: Database) -> ssl.SSLContext | None:
    """How to do TLS with this database; None for not at all. Raises BadSetting if DB_SSL_CA holds no certificate."""
    if database.tls is Tls.DISABLE:
        return None
    if database.ca.startswith(_PEM):
        source = {"cadata": database.ca}
    elif database.ca and not Path(database.ca).is_file():
        raise BadSetting("DB_SSL_CA: there is no such file; give the path of a CA's certificate, or its PEM text")
    else:
        source = {"cafile": database.ca} if database.ca else {}
    try:
        made = ssl.create_default_context(**source)  # type: ignore[arg-type]
    except (ssl.SSLError, OSError, ValueError):
        raise BadSetting("DB_SSL_CA: holds no certificate in PEM format") from None
    if database.tls is Tls.REQUIRE:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    return made


def secured(plain: socket.socket, host: str, how: ssl.SSLContext) -> ssl.SSLSocket:
    """The connection, encrypted. Raises NoTls, or what the ssl module raises when it does not trust the other side."""
    plain.sendall(_SSL_REQUEST)
    if plain.recv(1) != b"S":
        raise NoTls
    return how.wrap_socket(plain, server_hostname=host)

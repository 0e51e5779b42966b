"""debugpy's adapter with its listeners guarded: python guarded_adapter.py [FOLDER WITH DEBUGPY]

The adapter listens on loopback for the sessions of child processes and asks nobody who connects.
On a machine that is shared, every user could debug the program through it; here only connections of
the user that runs it are taken. Where the system does not tell whose a connection is, all are.
"""

from __future__ import annotations

import os
import runpy
import sys

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


def owner(sock) -> int | None:
    """The user id at the other end of a connection from this machine, or None if not known."""
    here, there = sock.getsockname()[1], sock.getpeername()[1]
    for table in _TABLES:
        try:
            with open(table, encoding="ascii") as rows:
                next(rows)
                for row in rows:
                    fields = row.split()
                    if _port(fields[1]) == there and _port(fields[2]) == here:
                        return int(fields[7])
        except OSError:
            continue
    return None


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


def is_ours(sock) -> bool:
    """Whether a connection is this user's, or the administrator's."""
    user = owner(sock)
    return user is None or user in (os.getuid(), 0)


def guard(serve):
    """`sockets.serve` of debugpy, with strangers turned away."""

    def guarded(name, handler, *args, **kwargs):
        def take(sock):
            if is_ours(sock):
                handler(sock)
            else:
                sock.close()

        return serve(name, take, *args, **kwargs)

    return guarded


def main() -> None:
    """Runs the adapter as `python -m debugpy.adapter` does."""
    sys.path[0:1] = sys.argv[1:2]  # in place of the folder of this file
    sys.argv[1:] = []
    from debugpy.common import sockets

    sockets.serve = guard(sockets.serve)
    runpy.run_module("debugpy.adapter", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()

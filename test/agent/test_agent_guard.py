"""Whoever connects to debugpy's listeners is looked up in the system's tables."""

import importlib.util
import os
import socket
import threading
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "runtime" / "agent" / "guarded_adapter.py"


@pytest.fixture
def guarded():
    spec = importlib.util.spec_from_file_location("guarded_adapter", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def accepted():
    """The accepting end of a connection from this process."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        sock, _ = server.accept()
    with client, sock:
        yield sock


def table_with(path: Path, sock, user: int) -> str:
    there, here = sock.getpeername()[1], sock.getsockname()[1]
    row = f"0: 0100007F:{there:04X} 0100007F:{here:04X} 01 0:0 00:0 0 {user} 0 1"
    path.write_text(f"sl local rem st queue tr retrnsmt uid timeout inode\n{row}\n")
    return str(path)


def test_knows_its_own_connection(guarded, accepted):
    assert guarded.owner(accepted) == os.getuid()
    assert guarded.is_ours(accepted)


def test_turns_others_away_and_takes_the_administrator(guarded, accepted, tmp_path, monkeypatch):
    for user, taken in ((os.getuid() + 1000, False), (0, True)):
        monkeypatch.setattr(guarded, "_TABLES", (table_with(tmp_path / "tcp", accepted, user),))
        assert guarded.is_ours(accepted) is taken


def test_takes_all_where_the_system_does_not_tell(guarded, accepted, tmp_path, monkeypatch):
    monkeypatch.setattr(guarded, "_TABLES", (str(tmp_path / "missing"),))
    assert guarded.owner(accepted) is None
    assert guarded.is_ours(accepted)


def test_a_stranger_never_reaches_the_handler(guarded, monkeypatch):
    given, reached = [], threading.Event()

    def serve(_name, handler, *_args, **_kwargs):
        given.append(handler)

    guarded.guard(serve)("Client", lambda _sock: reached.set(), "127.0.0.1", 0)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        monkeypatch.setattr(guarded, "is_ours", lambda _sock: False)
        given[0](ours)
        assert not reached.is_set()
        assert ours.fileno() == -1
        monkeypatch.setattr(guarded, "is_ours", lambda _sock: True)
        given[0](theirs)
        assert reached.is_set()

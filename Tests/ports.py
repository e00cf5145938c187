"""Ports of a suite's own: nobody else takes them between the moment when their numbers are told and the moment when they are bound.

They lie below those that the kernel gives to clients, in the share of Python (ports.json; Tests/TestSupport/HeldPorts.swift has the other).
Each process holds blocks of it, by a lock on a file of the block, until it ends.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import socket

# Of all steps that run at once, each with a folder for temporary files of its own.
SHARES = json.loads(pathlib.Path(__file__).with_name("ports.json").read_text())
FOLDER = pathlib.Path(SHARES["folder"])
FIRST, END, SIZE = (SHARES["python"][name] for name in ("first", "end", "size"))

_held, _left = [], range(0)


def take(count=1):
    """Ports that follow each other, each free; no other call gets them."""
    global _left
    while True:
        for first in _left[:max(0, len(_left) - count + 1)]:
            ports = range(first, first + count)
            if all(map(is_free, ports)):
                _left = range(first + count, _left.stop)
                return list(ports)
        _left = _block()


def is_free(port):
    """Whether a server can begin to listen there."""
    with socket.socket() as one, contextlib.suppress(OSError):
        # An earlier connection leaves what is in no server's way.
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind(("127.0.0.1", port))
        return True
    return False


def _block():
    """The next block that no other process holds."""
    with contextlib.suppress(FileExistsError):
        FOLDER.mkdir()
        FOLDER.chmod(0o777)
    for first in range(FIRST, END, SIZE):
        if first in (block for block, _ in _held):
            continue
        with contextlib.suppress(OSError):
            file = os.open(FOLDER / str(first), os.O_RDONLY | os.O_CREAT, 0o644)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(file)
                raise
            _held.append((first, file))
            return range(first, first + SIZE)
    raise RuntimeError(f"no block of ports is left: {FOLDER} has {sorted(path.name for path in FOLDER.iterdir())}")

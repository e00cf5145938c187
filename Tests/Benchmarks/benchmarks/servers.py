"""Processes that serve: how they are started and stopped, and what they take of processors and memory."""
import contextlib
import http.client
import os
import pathlib
import random
import re
import shutil
import socket
import ssl
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


class Missing(Exception):
    """Something that is not installed; names the Debian package. What needs it is left out."""

    def __init__(self, tool, package):
        super().__init__(f"{tool} is missing: install the package {package}")


def need(tool, package):
    path = shutil.which(tool) or shutil.which(tool, path="/usr/sbin:/sbin")
    if not path:
        raise Missing(tool, package)
    return path


def free_ports():
    """A port whose successor is free too: the demo tenant takes it. None of those that clients get: somebody who tries to
    connect to one of these before the server is there may get the same port, and so be connected to itself."""
    while True:
        port = random.randrange(20_000, 32_000, 2)
        with socket.socket() as first, socket.socket() as second, contextlib.suppress(OSError):
            first.bind(("127.0.0.1", port))
            second.bind(("127.0.0.1", port + 1))
            return port


# A benchmark's certificate is nobody's.
TLS = ssl._create_unverified_context()


def get(port, path, is_secure=False, **fields):
    """The response's fields and body; its status is 200."""
    kind, how = (http.client.HTTPSConnection, {"context": TLS}) if is_secure else (http.client.HTTPConnection, {})
    connection = kind("127.0.0.1", port, timeout=5, **how)
    try:
        connection.request("GET", path, headers={"Host": f"localhost:{port}"} | fields)
        response = connection.getresponse()
        body = response.read()
    finally:
        connection.close()
    if response.status != 200:
        raise OSError(f"{path} on port {port} returned {response.status}")
    return response.getheaders(), body


def environment(**settings):
    """This process's, without settings of a companion that somebody uses."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COMPANION")} | settings


def family(pid):
    """A process and all its descendants."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            number, _, rest = stat.read_text().partition(" (")
            children.setdefault(int(rest.rsplit(")", 1)[1].split()[1]), []).append(int(number))
    found = [pid]
    for parent in found:
        found += children.get(parent, [])
    return found


def processor_seconds(pid):
    """The time that a process and all its descendants have taken, in both modes, those that have ended included."""
    total = 0
    for number in family(pid):
        with contextlib.suppress(OSError):
            fields = pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()
            total += sum(map(int, fields[11:15]))
    return total / TICKS


class Server:
    """A running server; it has started when it returns `path`, or accepts connections where there is no path."""

    def __init__(self, name, port, command, folder, path=None, is_secure=False, **settings):
        self.name, self.port, self.is_secure = name, port, is_secure
        self.log = folder / f"{name.replace(' ', '-')}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                list(map(str, command)), cwd=folder, env=environment(**settings), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)
        end = time.monotonic() + 30
        while True:
            try:
                if path:
                    get(port, path, is_secure)
                else:
                    socket.create_connection(("127.0.0.1", port), 5).close()
                return
            except (OSError, http.client.HTTPException) as problem:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.stop()
                    raise RuntimeError(f"{name} did not start: {problem}\n{self.log.read_text()[-2000:]}") from problem
                time.sleep(0.02)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def settle(self):
        """Waits until it has done what it does after its start: compressing files takes the companion some seconds."""
        before = -1
        while before < (now := self.processor_seconds()):
            before = now
            time.sleep(1)

    def processor_seconds(self):
        return processor_seconds(self.process.pid)

    def resident_bytes(self, kind="VmRSS"):
        """With the kind `RssAnon`: without what is mapped from files."""
        total = 0
        for pid in family(self.process.pid):
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            total += int(re.search(kind + r":\s+(\d+) kB", status)[1]) * 1024
        return total

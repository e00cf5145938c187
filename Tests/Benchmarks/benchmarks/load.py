"""The loads of the servers: wrk, slow clients, a flood."""
import os
import re
import selectors
import socket
import statistics
import subprocess
import time

from .servers import need

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60}

RANDOM_COOKIES = """
local cookies = {}
function init(arguments)
  for line in io.lines(os.getenv("COOKIES")) do cookies[#cookies + 1] = os.getenv("COOKIE") .. "=" .. line end
  math.randomseed(os.time() + tonumber(tostring({}):match("0x(%x+)"), 16) % 1000003)
end
function request()
  return wrk.format("GET", nil, { Host = wrk.headers["Host"], Cookie = cookies[math.random(#cookies)] })
end
"""


class Target:
    """Something that is asked for, at one of the servers."""

    def __init__(self, server, path, headers=(), script=None, cookies=None):
        self.server, self.path, self.headers, self.script, self.cookies = server, path, headers, script, cookies

    def command(self, connections, seconds):
        command = [need("wrk", "wrk"), "--latency", "-t", str(min(2, connections)), "-c", str(connections), "-d", f"{seconds}s"]
        for header in [f"Host: localhost:{self.server.port}", *self.headers]:
            command += ["-H", header]
        if self.script:
            command += ["-s", str(self.script)]
        scheme = "https" if self.server.is_secure else "http"
        return command + [f"{scheme}://127.0.0.1:{self.server.port}{self.path}"]

    def load(self, connections, seconds):
        """One run of wrk: requests a second, the server's CPU time for each in microseconds, and the latency of which one
        in a hundred is above, in seconds."""
        before = self.server.processor_seconds()
        output = subprocess.run(
            self.command(connections, seconds), check=True, capture_output=True, text=True,
            env=os.environ | ({"COOKIES": str(self.cookies), "COOKIE": f"companion-{self.server.port}"} if self.cookies else {})).stdout
        used = self.server.processor_seconds() - before
        problem = re.search(r"(Socket errors|Non-2xx).*", output)
        if problem:
            print(f"    {self.server.name} {self.path}: {problem[0]}", flush=True)
        requests = int(re.search(r"(\d+) requests in", output)[1])
        slowest = re.search(r"99%\s+([\d.]+)(us|ms|s|m)", output)
        return (float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1]), used / max(1, requests) * 1e6,
                float(slowest[1]) * UNITS[slowest[2]])


class Handshakes:
    """Connections to one of the servers, each for one small response: with a full handshake, or with a ticket."""

    # Each has one connection at a time.
    PROCESSES = 8

    def __init__(self, server, path, resumes):
        self.server, self.path, self.resumes = server, path, resumes

    def load(self, connections, seconds):
        """Connections a second, and the server's CPU time for each in microseconds."""
        before = self.server.processor_seconds()
        command = [need("openssl", "openssl"), "s_time", "-reuse" if self.resumes else "-new", "-connect",
                   f"127.0.0.1:{self.server.port}", "-www", self.path, "-time", str(seconds)]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                   for _ in range(connections)]
        count = rate = 0
        for process in running:
            output = process.communicate()[0]
            # Its work before the first reused one comes first.
            found = re.findall(r"(\d+) connections in (\d+) real seconds, (\d+) bytes", output)
            if process.returncode or not found or int(found[-1][2]) == 0:
                raise RuntimeError(f"openssl s_time failed at {self.server.name}: {output[-500:]}")
            count += int(found[-1][0])
            rate += int(found[-1][0]) / int(found[-1][1])
        used = self.server.processor_seconds() - before
        return rate, used / max(1, count) * 1e6


def in_turn(targets, connections, rounds, seconds):
    """The runs of each target, one round after the other."""
    runs = [[] for _ in targets]
    for _ in range(rounds):
        for target, own in zip(targets, runs):
            own.append(target.load(connections, seconds))
    return runs


def median(runs, index=0):
    return statistics.median(run[index] for run in runs)


def median_ratio(mine, others, index=0):
    """Of the rounds: what happens to the machine meanwhile happens to both."""
    return statistics.median(one[index] / other[index] for one, other in zip(mine, others))


def slow_clients(port, path, count, ready, end):
    """`count` clients, each of which takes eight seconds to send a request's head, again and again. A process of its own."""
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: a slow client\r\n\r\n".encode()
    step = len(request) // 4 + 1
    chunks = [request[start:start + step] for start in range(0, len(request), step)]
    pause = 8 / len(chunks)
    clients = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(count)]
    for client in clients:
        client.setblocking(False)
    selector = selectors.EpollSelector()
    for client in clients:
        selector.register(client, selectors.EVENT_READ)
    ready.set()
    start, sent = time.monotonic(), 0
    while not end.is_set():
        # This number of chunks should have been sent by now, one for each client in turn.
        due = int((time.monotonic() - start) * count / pause)
        for number in range(sent, due):
            try:
                clients[number % count].send(chunks[number // count % len(chunks)])
            except OSError:
                pass  # The server has ended it; the others go on.
        sent = due
        for key, _ in selector.select(0.005):
            try:
                if key.fileobj.recv(65536):
                    continue
            except OSError:
                pass
            selector.unregister(key.fileobj)


def flood(port, path, seconds, keeps_connections):
    """ab from one other address, with as many requests as it can send: each on a connection of its own, or not. It has
    fewer connections at a time than one address may have."""
    command = [need("ab", "apache2-utils"), "-q", "-r", "-B", "127.0.0.2", "-c", "400", "-t", str(seconds), "-n", "100000000"]
    return subprocess.Popen(command + (["-k"] if keeps_connections else []) + [f"http://127.0.0.1:{port}{path}"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

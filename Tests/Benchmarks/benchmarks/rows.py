"""The rows: each measures one thing beside its peers, yields results, and is named by its function."""
import multiprocessing
import os
import pathlib
import re
import resource
import socket
import ssl
import statistics
import subprocess
import time

from . import browser, load
from .bench import ROOT, SECRET
from patience import next_line
from .load import Handshakes, Target, in_turn, median, median_ratio
from .report import Result
from .servers import TLS, Missing, environment, free_ports, processor_seconds

ROWS = {}


def row(name):
    def register(function):
        ROWS[name] = function
        return function
    return register


def beside(bench, name, case, ours, peers, connections, goals=(), unit="/s"):
    """Requests a second of ours and of each peer, by name, all in turn."""
    runs = in_turn([ours, *peers.values()], connections, bench.options.rounds, bench.options.seconds)
    for (peer, theirs), goal in zip(zip(peers, runs[1:]), goals or [None] * len(peers)):
        yield Result(name, case, unit, median(runs[0]), peer, median(theirs), median_ratio(runs[0], theirs),
                     median(runs[0], 1), median(theirs, 1), goal)


@row("page")
def page(bench):
    theirs = Target(bench.nginx, "/page")
    for connections in (1, 64, 512):
        yield from beside(bench, "page", f"{connections} connections", bench.ours("/ios"), {"nginx file": theirs},
                          connections, [1.1 if connections == 1 else 1.5])


@row("account")
def account(bench):
    yield from beside(bench, "account", "cached session", bench.ours("/api/ios/account"),
                      {"nginx return 200": Target(bench.nginx, "/account")}, 64, [0.8])


@row("me")
def me(bench):
    peers, goals = {"nginx proxy_pass": Target(bench.nginx, "/me")}, [0.6]
    try:
        peers, goals = {"mod_auth_openidc": bench.apache, **peers}, [4, *goals]
    except Missing as problem:
        bench.leave_out("me beside mod_auth_openidc", problem)
    # As many as one session may have under way.
    yield from beside(bench, "me", "token cached", bench.ours("/api/ios/me"), peers, 32, goals)


@row("uncached")
def uncached(bench):
    """Sessions that are not in the cache: at the store's API without a cache, then any of very many at the server."""
    seconds, least = bench.options.seconds, None
    for count in bench.options.sessions:
        folder = bench.sessions(count)
        # All measure the file in the system's memory, no matter which is first.
        with open(folder / "companion.sqlite", "rb") as file:
            while file.read(1 << 24):
                pass
        single, several, prepared = [], [], []
        for _ in range(bench.options.rounds):
            single.append(bench.store("read", folder, seconds, 1))
            prepared.append(bench.store("prepared", folder, seconds))
            several.append(bench.store("read", folder, seconds, 16))

        def time_of(runs):
            return statistics.median(1e6 / run["rate"] for run in runs)

        def middle(runs, key):
            return statistics.median(run[key] for run in runs)

        yield Result("uncached", f"{count:,} sessions, one at a time", "us", time_of(single), "prepared read",
                     time_of(prepared), time_of(single) / time_of(prepared), middle(single, "cpu_us"),
                     middle(prepared, "cpu_us"), 25, "ours", at_most=True)
        yield Result("uncached", f"{count:,} sessions, 16 at once", "/s", middle(several, "rate"),
                     cpu_us=middle(several, "cpu_us"))
        least = least or time_of(single)
        if count > bench.options.sessions[0]:
            yield Result("uncached", f"{count:,} sessions", "us", time_of(single), f"{bench.options.sessions[0]:,} sessions",
                         least, time_of(single) / least, goal=1.3 if count >= 1_000_000 else None, at_most=True)
    count = bench.options.sessions[-1]
    many = bench.many(count)
    yield from beside(bench, "uncached", f"account, any of {count:,}", many, {"cached": bench.ours("/api/ios/account")}, 64)
    yield Result("uncached", f"resident after any of {count:,}", "MB", many.server.resident_bytes() / 2**20)
    many.server.stop()
    size = sum(file.stat().st_size for file in bench.sessions(count).glob("companion.sqlite*"))
    yield Result("uncached", f"on the disk, each of {count:,}", "KB", size / count / 1024)


@row("sign-ins")
def sign_ins(bench):
    """Whole sign-ins at the store, 64 at a time, beside what the disk can do."""
    folder = bench.sub("sign-ins")
    runs, synced = [], []
    for _ in range(bench.options.rounds):
        runs.append(bench.store("sign-in", folder, bench.options.seconds))
        synced.append(synced_writes(folder / "synced", 1))
    rate, theirs = statistics.median(run["rate"] for run in runs), statistics.median(synced)
    yield Result("sign-ins", "64 at once", "/s", rate, "synced writes", theirs, rate / theirs,
                 statistics.median(run["cpu_us"] for run in runs), goal=3000, goal_of="ours")


def synced_writes(path, seconds):
    """Writes of 4 KB a second, each on the disk before the next."""
    file = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        count, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            os.pwrite(file, os.urandom(4096), count % 256 * 4096)
            os.fdatasync(file)
            count += 1
        return count / seconds
    finally:
        os.close(file)


def first_byte(port, path, start, process):
    """Milliseconds from `start`, when the process was started, until it has sent a response's first byte."""
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    while time.monotonic() < start + 30 and process.poll() is None:
        try:
            with socket.create_connection(("127.0.0.1", port), 30) as connection:
                connection.sendall(request)
                if connection.recv(1):
                    return (time.monotonic() - start) * 1000
        except OSError:
            time.sleep(0.0005)
    raise RuntimeError(f"{process.args} does not serve {path}")


@row("tls")
def tls(bench):
    """Over TLS with one certificate: a page, connections with full handshakes and with tickets, and idle connections."""
    ours = bench.secure("secure")
    nginx = bench.secure_nginx("secure-nginx", ours)
    for connections, goal in ((1, None), (64, 1.2)):
        yield from beside(bench, "tls", f"page, {connections} connections", Target(ours, "/ios"),
                          {"nginx file": Target(nginx, "/page")}, connections, [goal])
    for case, resumes in (("full handshakes", False), ("resumed", True)):
        yield from beside(bench, "tls", case, Handshakes(ours, "/healthz", resumes),
                          {"nginx return 200": Handshakes(nginx, "/small", resumes)}, Handshakes.PROCESSES, [0.9])
    for server in (ours, nginx):
        server.stop()
    yield idle_beside(bench, "tls", lambda: bench.secure("idle-tls-companion"),
                      lambda ours: bench.secure_nginx("idle-tls-nginx", ours), goal=1)


@row("start")
def start(bench):
    """From the process's start to a page's first byte: on an empty folder, again, and on a socket that was handed over. For the
    tenant alone it is the line that says that it listens."""
    def started(command, port, folder, path="/ios", sockets=(), **settings):
        with open(folder / "start.log", "ab") as log:
            begin = time.monotonic()
            process = subprocess.Popen(list(map(str, command)), cwd=folder, stdout=log, stderr=log, pass_fds=sockets,
                                       env=environment(**settings))
            try:
                return first_byte(port, path, begin, process)
            finally:
                process.terminate()
                process.wait(20)

    def demo(folder):
        port = free_ports()
        return started([bench.binary, "demo", "--port", port, "--database", folder / "companion.sqlite", "--public",
                        ROOT / "Public"], port, folder)

    def nginx(folder):
        """A second one with the same configuration."""
        port, text = free_ports(), pathlib.Path(bench.nginx.process.args[-1]).read_text()
        text = text.replace(f"127.0.0.1:{bench.nginx.port} ", f"127.0.0.1:{port} ").replace("nginx.pid", "second.pid")
        (folder / "nginx.conf").write_text(text)
        return started([*bench.nginx.process.args[:-1], folder / "nginx.conf"], port, folder, "/page")

    def handed_over(folder, configuration, port):
        # The socket listens before the process starts, as systemd's does; sh knows its own process's number.
        with socket.create_server(("127.0.0.1", port), backlog=128) as listener:
            descriptor = listener.fileno()
            shell = f'export LISTEN_PID=$$ LISTEN_FDS=1; exec "$0" "$@" 3<&{descriptor}'
            return started(["sh", "-c", shell, bench.binary, "serve", "--config", configuration], port, folder,
                           sockets=(descriptor,), COMPANION_APPS_IOS_CLIENT_SECRET=SECRET)

    rounds = bench.options.rounds * 3
    folders = [bench.sub(f"start-{number}") for number in range(rounds)]
    first = [demo(folder) for folder in folders]
    again = [demo(folders[0]) for _ in range(rounds)]
    served, port = bench.sub("start-serve"), free_ports()
    configuration = bench.configuration(served, port)
    over = [handed_over(served, configuration, port) for _ in range(rounds + 1)][1:]
    theirs = statistics.median(nginx(folders[0]) for _ in range(rounds))
    for case, times in (("demo, first start", first), ("demo, next start", again), ("serve, socket handed over", over)):
        ours = statistics.median(times)
        yield Result("start", case, "ms", ours, "nginx", theirs, ours / theirs, goal=50, goal_of="ours", at_most=True)

    def tenant(folder):
        begin = time.monotonic()
        process = subprocess.Popen(
            [bench.binary, "tenant", "--json", "--listen", "localhost:0"], cwd=folder, stdout=subprocess.PIPE,
            env=environment(COMPANION_PUBLIC=str(ROOT / "Public"), COMPANION_DEVELOPMENT_CA=str(folder / "ca")))
        try:
            next_line(process, "the tenant announces itself")
            return (time.monotonic() - begin) * 1000
        finally:
            process.terminate()
            process.wait(20)

    folders = [bench.sub(f"tenant-{number}") for number in range(20)]
    for case in ("tenant, first start", "tenant, next start"):
        ours = statistics.median([tenant(folder) for folder in folders])
        yield Result("start", case, "ms", ours, goal=100, goal_of="ours", at_most=True)


@row("memory")
def memory(bench):
    """The demo's memory after its start and one page. The rest of the resident set is code, which the kernel drops by itself."""
    server = bench.keep(bench.demo(bench.sub("memory"), free_ports()))
    time.sleep(3)
    for case, kind, goal in (("the demo at rest, anonymous", "RssAnon", 30), ("with code and files", "VmRSS", None)):
        ours, theirs = (each.resident_bytes(kind) / 2**20 for each in (server, bench.nginx))
        yield Result("memory", case, "MB", ours, "nginx", theirs, ours / theirs, goal=goal, goal_of="ours", at_most=True)
    server.stop()


@row("idle")
def idle(bench):
    """Memory of its own that a connection takes which was answered once and idles, at servers that have done nothing before."""
    yield idle_beside(bench, "idle", lambda: bench.serve("idle", free_ports()),
                      lambda ours: bench.fresh_nginx(bench.sub("idle-nginx")))


def idle_beside(bench, row, ours, nginx, goal=None):
    count = bench.options.clients
    check_descriptors(count)
    server = ours()
    servers = server, nginx(server)
    ours, theirs = (idle_bytes(server, path, count) for server, path in zip(servers, ("/ios", "/page")))
    for server in servers:
        server.stop()
    return Result(row, f"each of {count:,} idle connections", "B", ours, "nginx", theirs, ours / theirs, goal=goal,
                  at_most=True)


def idle_bytes(server, path, count):
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    connections = []

    def open_one():
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        if server.is_secure:
            connection = TLS.wrap_socket(connection)
        connections.append(connection)
        connection.sendall(request)
        received = connection.recv(65536)
        length = int(re.search(rb"(?i)content-length: (\d+)", received)[1])
        while len(received) < received.index(b"\r\n\r\n") + 4 + length:
            received += connection.recv(65536)

    try:
        # The first connections make the server set memory aside for all, which is not theirs.
        for _ in range(100):
            open_one()
        before = server.resident_bytes("RssAnon")
        for _ in range(count - 100):
            open_one()
        growth = server.resident_bytes("RssAnon") - before
        alive = 0
        for connection in connections:
            connection.setblocking(False)
            try:
                alive += connection.recv(1) != b""
            except (BlockingIOError, ssl.SSLWantReadError):
                alive += 1
        if alive < count:
            print(f"    {server.name}: only {alive} of {count} connections stayed open")
        return growth / (count - 100)
    finally:
        for connection in connections:
            connection.close()


class TooFewDescriptors(Exception):
    """The limit of descriptors forbids the row."""


def check_descriptors(count):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < count + 200:
        raise TooFewDescriptors(f"the limit of descriptors is {hard} (ulimit -Hn), and {count + 200} are needed")


@row("slow")
def slow(bench):
    """A page's 99th percentile while very many clients send their requests slowly, by that of the same page alone."""
    count = bench.options.clients
    check_descriptors(count)
    medians = []
    for target in (bench.ours("/ios"), Target(bench.nginx, "/page")):
        alone, beside_them = [], []
        for _ in range(bench.options.rounds):
            alone.append(target.load(64, bench.options.seconds))
            ready, end = multiprocessing.Event(), multiprocessing.Event()
            clients = multiprocessing.Process(
                target=load.slow_clients, args=(target.server.port, target.path, count, ready, end))
            clients.start()
            try:
                if not ready.wait(60):
                    raise RuntimeError("the slow clients could not connect")
                beside_them.append(target.load(64, bench.options.seconds))
            finally:
                end.set()
                clients.join(60)
        medians.append((median(alone, 2) * 1000, median(beside_them, 2) * 1000, median_ratio(beside_them, alone, 2)))
    (alone, ours, growth), (their_alone, theirs, their_growth) = medians
    yield Result("slow", "a page's p99 alone", "ms", alone, "nginx", their_alone, alone / their_alone)
    yield Result("slow", f"with {count:,} slow clients", "ms", ours, "nginx", theirs, ours / theirs)
    yield Result("slow", "p99 with them ÷ alone", "", growth, "nginx", their_growth, growth / their_growth,
                 goal=1.3, goal_of="ours", at_most=True)


@row("flood")
def flood(bench):
    """Others' throughput in a flood of one address, by that without it: as it is, and by the processor time that the
    flood's sender, which runs on the same machine, leaves them."""
    folder = bench.sub("flood")
    ours = bench.keep(bench.demo(folder, free_ports()))
    for case, keeps in (("new connections", False), ("kept connections", True)):
        shares, raw = [], []
        for target in (Target(ours, "/ios"), Target(bench.nginx, "/page")):
            runs = []
            for _ in range(bench.options.rounds):
                alone = target.load(64, bench.options.seconds)[0]
                sender = load.flood(target.server.port, target.path, bench.options.seconds + 30, keeps)
                try:
                    time.sleep(1)
                    before, begin = processor_seconds(sender.pid), time.monotonic()
                    flooded = target.load(64, bench.options.seconds)[0]
                    if sender.poll() is not None:
                        raise RuntimeError("the flood ended early")
                    used = (processor_seconds(sender.pid) - before) / (time.monotonic() - begin)
                finally:
                    sender.kill()
                    sender.wait()
                runs.append((flooded / alone * 100, flooded / alone * 100 / (1 - used / os.cpu_count())))
            raw.append(median(runs))
            shares.append(median(runs, 1))
        yield Result("flood", f"{case} of one address, as it is", "%", raw[0], "nginx", raw[1], raw[0] / raw[1])
        yield Result("flood", "the same without its sender's CPU", "%", shares[0], "nginx", shares[1],
                     shares[0] / shares[1], goal=80, goal_of="ours")
    ours.stop()


@row("limits")
def limits(bench):
    """The same server with limits by address that are never reached, beside the one without."""
    limited = bench.serve("limited", free_ports(), has_limits=True)
    for case, fields in (("page", []), ("page, each on a new connection", ["Connection: close"])):
        targets = [Target(server, "/ios", fields) for server in (limited, bench.companion)]
        yield from beside(bench, "limits", case, targets[0], {"off": targets[1]}, 64)
    limited.stop()


@row("weight")
def weight(bench):
    visitor = browser.Visitor(bench.companion.port)
    for visit, goal in (("first", None), ("second", 1)):
        requests, received = visitor.visit("/ios")
        yield Result("weight", f"requests of the {visit} visit", "", requests, goal=goal, goal_of="ours", at_most=True)
        yield Result("weight", f"bytes of the {visit} visit", "B", received)

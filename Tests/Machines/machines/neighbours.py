"""A stranger, and those who share an address with him: a class, a company, a provider's customers."""
import concurrent.futures
import contextlib
import http.client
import json
import pathlib
import re
import secrets
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.parse

import patience
from faults.processes import get
from faults.visitor import Visitor
from machines.front import FRONTS, Front
from patience import until
from tally import Skipped

STRANGER = pathlib.Path(__file__).with_name("stranger.py")
ADDRESS = "127.0.0.2"
SILENT, BEGINS, IMAGES = 512, 25, 40
# One of the others begins after the other, until the stranger has asked for more than limits of minutes have room for.
OTHERS, PAUSE = 20, 0.35


class Neighbour(Visitor):
    """A browser at the stranger's address."""

    def connection(self):
        connection = super().connection()
        connection.source_address = (ADDRESS, 0)
        return connection


class Stranger:
    """Use it in `with`; what came of it is in `answers` afterwards."""

    def __init__(self, way):
        certificate = way.folder / "certificate.pem" if hasattr(way, "tls") else "-"
        self.command = [sys.executable, STRANGER, way.port, certificate, SILENT, BEGINS, IMAGES]

    def __enter__(self):
        self.process = subprocess.Popen([str(part) for part in self.command], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if patience.next_line(self.process, "the stranger is ready") != "ready\n":
            self.end()
            raise AssertionError("the stranger has failed")
        self.began = time.monotonic()
        return self

    def __exit__(self, kind, *_):
        self.seconds = time.monotonic() - self.began
        try:
            # Where something else has failed, that is the reason.
            if kind is None:
                self.answers = json.loads(self.process.communicate(timeout=2 * patience.SECONDS)[0])
        finally:
            self.end()

    def end(self):
        self.process.kill()
        self.process.communicate(timeout=patience.SECONDS)

    def count(self, kind):
        return sum(number for name, number in self.answers.items() if name.startswith(kind))


def most_seconds(way):
    """Those that a sign-in may take beside strangers: ten times the time of one alone, on this machine in this minute, and one more."""
    def alone():
        began = time.monotonic()
        Visitor(way).signed_in()
        return time.monotonic() - began
    return 10 * max(alone() for _ in range(3)) + 1


def sign_in_beside_a_stranger(way):
    """Each with a connection of its own for each request; why they failed, and the longest time."""
    def one(number):
        time.sleep(max(0, start + number * PAUSE - time.monotonic()))
        began = time.monotonic()
        try:
            neighbour = Neighbour(way).signed_in()
            assert neighbour.account(), "nobody is signed in"
            return None, time.monotonic() - began
        except Exception as error:
            return f"{type(error).__name__}: {error}", time.monotonic() - began
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(OTHERS) as pool:
        results = list(pool.map(one, range(OTHERS)))
    return [why for why, _ in results if why], max(took for _, took in results)


def limited(node, limit):
    return int(re.search(rf'\ncompanion_limited_total{{limit="{limit}"}} (\d+)', get(node.metrics_port, "/metrics")[1])[1])


def stranger(site):
    """One companion, so that the stranger has all of it, with its own limits."""
    site.primary.make("neighbours")
    untested = []
    with site.one_on(site.address("neighbours"), limits={}) as node:
        ways = {"without a front": lambda: contextlib.nullcontext(node)}
        ways |= {file: lambda file=file: Front(node.folder, file, *site.ports[10:12], [node], site.origin) for file in FRONTS}
        for name, make in ways.items():
            with make() as way:
                until(lambda: Neighbour(way).get("/healthz").status == 200, f"{name}: it answers")
                before, most = limited(node, "connections"), most_seconds(way)
                with Stranger(way) as one:
                    failures, longest = sign_in_beside_a_stranger(way)
                closed = limited(node, "connections") - before
            print(f"      {name}: the longest sign-in {longest:.2f} s in {one.seconds:.1f} s, {one.answers}")
            assert not failures, f"{name}: {len(failures)} of {OTHERS} failed, as: {failures[0]}"
            assert longest < most, f"{name}: {longest:.2f} s of {most:.2f} s"
            # A front's connections are those of all its clients.
            assert (closed >= OTHERS) == (name == "without a front"), f"{name}: {closed} connections were closed for others"
            if any(one.count(kind) <= 0.5 * rate * one.seconds for kind, rate in (("begin", BEGINS), ("image", IMAGES))):
                untested.append(name)
    if untested:
        raise Skipped(f"the stranger was too slow {', '.join(untested)}")


class Networks:
    """Strangers from a thousand networks, each with a browser of their own for each sign-in. Use it in `with`."""
    COUNT, CLIENTS = 1_000, 4
    HEAVIEST = urllib.parse.urlencode({
        "claims": json.dumps({"id_token": {"x" * 900: None}}), "login_hint": "h" * 256, "domain_hint": "d" * 256,
        "return_to": "/ios?" + "r" * 400, "prompt": "login"})

    def __init__(self, node, comes_back):
        self.node, self.comes_back, self.answers, self.failures = node, comes_back, 0, []
        self.is_over = threading.Event()

    def __enter__(self):
        self.threads = [threading.Thread(target=self.run, args=(number,)) for number in range(self.CLIENTS)]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        for thread in self.threads:
            thread.join()

    def run(self, number):
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=patience.SECONDS)
        try:
            while not self.is_over.is_set():
                number = (number + self.CLIENTS) % self.COUNT
                self.one(connection, f"10.{number // 250}.{number % 250}.1")
                self.answers += 1
        except Exception as error:
            self.failures.append(f"{type(error).__name__}: {error}")
        finally:
            connection.close()

    def one(self, connection, address):
        def get(path, **fields):
            fields = {name.replace("_", "-"): value for name, value in fields.items()}
            connection.request("GET", path, headers={"X-Forwarded-For": address, "Accept": "text/html", **fields})
            answer = connection.getresponse()
            answer.read()
            return answer
        begun = get("/auth/ios/sign-in?" + self.HEAVIEST)
        assert begun.status == 302, begun.status
        if self.comes_back:
            state = urllib.parse.parse_qs(urllib.parse.urlsplit(begun.headers["Location"]).query)["state"][0]
            cookies = "; ".join(field.split(";")[0] for field in begun.headers.get_all("Set-Cookie"))
            back = get(f"/auth/callback?state={state}&code={secrets.token_hex(8)}", Cookie=cookies)
            assert back.status == 303 and "sign_in_error" in back.headers["Location"], back.status


def from_a_thousand_networks(site):
    """Who leaves is nobody's row, and who comes back in vain makes room: on both kinds of database."""
    site.primary.make("networks")
    file = site.folder / "networks.sqlite"
    for left in file.parent.glob(file.name + "*"):
        left.unlink()

    def bytes_of_file():
        # As a reader has it, whenever the log of writes is moved into it.
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=patience.SECONDS)) as database:
            return database.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()[0]

    def bytes_of_tables():
        # Dead rows go first: the server's own vacuum, which comes once a minute, makes room of it.
        site.primary.ask("VACUUM FULL", "networks")
        return int(site.primary.ask(
            "SELECT sum(pg_table_size(oid)) FROM pg_class WHERE relname IN ('session', 'sign_in_attempt', 'session_note')", "networks"))

    for name, address, size in (("SQLite", str(file), bytes_of_file), ("PostgreSQL", site.address("networks"), bytes_of_tables)):
        with site.one_on(address, limits={}) as node:
            longest = most_seconds(node)
            for what, comes_back, most in (("begins", False, 0), ("callbacks", True, 4 << 20)):
                before = size()
                with Networks(node, comes_back) as networks:
                    began = time.monotonic()
                    took = newcomers = 0
                    # A few would not outweigh the pages that are begun for them.
                    while time.monotonic() - began < site.flood or newcomers < 10:
                        started = time.monotonic()
                        newcomer = Visitor(node).signed_in()
                        assert newcomer.account(), "nobody is signed in"
                        took = max(took, time.monotonic() - started)
                        newcomers += 1
                        time.sleep(0.2)
                assert not networks.failures, networks.failures[0]
                grown = size() - before
                print(f"      {name}: {networks.answers} {what} in {time.monotonic() - began:.0f} s, {grown} bytes more with {newcomers} newcomers, who signed in within {took:.2f} s")
                # The newcomers stay, with about 10 KB each.
                assert grown <= most + newcomers * (16 << 10), f"{name}: {grown} bytes more after {networks.answers} {what}, {newcomers} newcomers"
                assert took < longest, f"{name}: {took:.2f} s of {longest:.2f} s"


TESTS = [
    ("a stranger at their address keeps no newcomer out, without a front and behind each", stranger),
    ("sign-ins from a thousand networks that nobody comes back from leave nothing, and those in vain little", from_a_thousand_networks),
]

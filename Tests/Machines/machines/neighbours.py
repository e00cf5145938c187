"""What a stranger can do to those who share an address with him: a class, a company, a provider's customers."""
import concurrent.futures
import contextlib
import json
import pathlib
import re
import subprocess
import sys
import time

from faults.processes import get, until
from faults.visitor import Visitor
from machines.front import FRONTS, Front

STRANGER = pathlib.Path(__file__).with_name("stranger.py")
ADDRESS = "127.0.0.2"
SILENT, BEGINS, IMAGES = 512, 25, 40
# One of the others begins after the other, until the stranger has asked for more than limits of minutes have room for.
OTHERS, PAUSE = 20, 0.35
# A sign-in of theirs, with the demo tenant's forms.
SECONDS = 2


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
        assert self.process.stdout.readline() == "ready\n", "the stranger has failed"
        self.began = time.monotonic()
        return self

    def __exit__(self, *_):
        self.seconds = time.monotonic() - self.began
        try:
            self.answers = json.loads(self.process.communicate(timeout=30)[0])
        finally:
            self.process.kill()
            self.process.wait()

    def count(self, kind):
        return sum(number for name, number in self.answers.items() if name.startswith(kind))


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
    site.primary.ask("CREATE DATABASE neighbours")
    with site.one_on(site.address("neighbours"), limits={}) as node:
        ways = {"without a front": lambda: contextlib.nullcontext(node)}
        ways |= {file: lambda file=file: Front(node.folder, file, *site.ports[10:12], [node], site.origin) for file in FRONTS}
        for name, make in ways.items():
            with make() as way:
                until(lambda: Neighbour(way).get("/healthz").status == 200, f"{name}: it answers")
                before = limited(node, "connections")
                with Stranger(way) as one:
                    failures, longest = sign_in_beside_a_stranger(way)
                closed = limited(node, "connections") - before
            print(f"      {name}: the longest sign-in {longest:.2f} s in {one.seconds:.1f} s, {one.answers}")
            assert not failures, f"{name}: {len(failures)} of {OTHERS} failed, as: {failures[0]}"
            assert longest < SECONDS, f"{name}: {longest:.2f} s"
            for kind, rate in (("begin", BEGINS), ("image", IMAGES)):
                assert one.count(kind) > 0.8 * rate * one.seconds, f"{name}: the stranger was too slow: {one.answers}"
            # A front's connections are those of all its clients.
            assert (closed >= OTHERS) == (name == "without a front"), f"{name}: {closed} connections were closed for others"


TESTS = [
    ("a stranger at their address keeps no newcomer out, without a front and behind each", stranger),
]

"""Memory that requests of the worst kind take from a server of its own, from /proc."""
import collections
import http.client
import itertools
import json
import os
import pathlib
import random
import secrets
import socket
import subprocess
import threading
import urllib.parse

import patience
import ports

ROOT = pathlib.Path(__file__).resolve().parents[3]
CLIENT_ID = "5d1f0a52-3c5e-4a8e-9d5c-0c0a3f1e7b10"
SECRET = "the-client-secret-of-Tests-Costs"
HOST = "companion.example"
MEGABYTE = 1 << 20
CLIENTS = 4


def environment(**more):
    return {name: value for name, value in os.environ.items() if not name.startswith("COMPANION")} | more


class Server:
    """`companion serve` behind a front that it trusts, and `companion demo` as its identity provider, a process each."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.port, demo_port, tenant_port = ports.take(3)
        (folder / "secret").write_text(SECRET)
        (folder / "secret").chmod(0o600)
        base = f"http://localhost:{tenant_port}"
        (folder / "companion.json").write_text(json.dumps({
            "listen": f"127.0.0.1:{self.port}", "public_url": f"https://{HOST}", "trusted_proxies": ["127.0.0.1/32"],
            "public": str(ROOT / "Public"), "database": str(folder / "companion.sqlite"),
            "encryption_key_file": str(folder / "companion.key"), "log_level": "error",
            "apps": {"ios": {"page": "ios", "client_id": CLIENT_ID, "client_secret_file": str(folder / "secret"),
                             "authority": f"{base}/common", "api": f"{base}/v1.0/me"}},
        }))
        self.processes = [
            self.start("demo", "--port", str(demo_port), "--database", str(folder / "provider.sqlite"), "--public",
                       str(ROOT / "Public"), COMPANION_PUBLIC_URL=f"https://{HOST}", COMPANION_DEMO_CLIENT_SECRET=SECRET),
            self.start("serve", "--config", str(folder / "companion.json")),
        ]
        self.pid = self.processes[-1].pid
        for process, port in zip(self.processes, (tenant_port, self.port)):
            self.wait_for(process, port)

    def start(self, *arguments, **variables):
        log = open(self.folder / f"{arguments[0]}.log", "ab")
        return subprocess.Popen([self.binary, *arguments], cwd=self.folder, env=environment(**variables), stdout=log, stderr=log)

    def wait_for(self, process, port):
        name = process.args[1]
        patience.answered(process, lambda: socket.create_connection(("127.0.0.1", port), 1).close(), f"{name} listens",
                          lambda: (self.folder / f"{name}.log").read_text()[-800:])

    def resident(self):
        """The memory that the process holds, in bytes, without what is mapped from files."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return sum(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("RssAnon:"))

    def database_bytes(self):
        return sum(path.stat().st_size for path in self.folder.glob("companion.sqlite*"))

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()


class Stranger:
    """One connection of the front, through which each request comes from another address, without a cookie."""

    def __init__(self, port, numbers, seed):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience.SECONDS)
        self.numbers, self.random = numbers, random.Random(seed)
        self.statuses = collections.Counter()

    def send(self, method, path, body=None, **fields):
        number = next(self.numbers)
        address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        headers = {"Host": HOST, "X-Forwarded-Proto": "https", "X-Forwarded-For": address, "Accept": "text/html"}
        if method == "POST":
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self.connection.request(method, path, body, headers | {name.replace("_", "-"): value for name, value in fields.items()})
        answer = self.connection.getresponse()
        answer.read()
        self.statuses[answer.status] += 1
        return answer

    def sign_in(self, **fields):
        return self.send("GET", "/auth/ios/sign-in?" + urllib.parse.urlencode(fields))

    # The kinds of request, each as large as it may be.

    def large_claims(self):
        claims = json.dumps({"id_token": {secrets.token_hex(460): None}}, separators=(",", ":"))
        return self.sign_in(claims=claims, scope=" ".join(secrets.token_hex(4) for _ in range(50)), domain_hint=secrets.token_hex(128))

    def strange_answer(self):
        return self.send("POST", "/auth/callback", f"state={secrets.token_hex(20)}&code={secrets.token_hex(7000)}")

    def posted_answer(self):
        location = self.large_claims().getheader("Location") or ""
        state = urllib.parse.parse_qs(urllib.parse.urlsplit(location).query).get("state", ["none"])[0]
        return self.send("POST", "/auth/callback", f"state={state}&code={secrets.token_hex(7000)}")

    def random_tenant(self):
        return self.sign_in(tenant=secrets.token_hex(12) + ".example")

    def random_languages(self):
        return self.send("GET", "/ios", Accept_Language=",".join("-".join(secrets.token_hex(2) for _ in range(7)) for _ in range(400)))

    def front_channel_logout(self):
        return self.send("GET", f"/auth/front-channel-logout?iss=http%3A%2F%2Flocalhost&sid={secrets.token_hex(250)}")

    def unknown_cookie(self):
        return self.send("GET", "/api/ios/account", Cookie=f"__Host-companion={secrets.token_urlsafe(32)}")

    def several_attempts(self):
        cookies = {}
        for _ in range(4):
            answer = self.send("GET", "/auth/ios/sign-in?prompt=login&scope=" + "a" * 500,
                               Cookie="; ".join(f"{name}={value}" for name, value in cookies.items()))
            for field in answer.headers.get_all("Set-Cookie") or []:
                name, _, value = field.partition(";")[0].partition("=")
                cookies[name] = value

    def worst(self):
        kinds = [self.large_claims, self.strange_answer, self.posted_answer, self.random_tenant, self.random_languages,
                 self.front_channel_logout, self.unknown_cookie, self.several_attempts]
        self.random.choice(kinds)()


def flood(server, numbers, count):
    """At least so many requests; the statuses of their answers."""
    end = (numbers.last or 0) + count
    strangers = [Stranger(server.port, numbers, seed) for seed in range(CLIENTS)]
    failures = []

    def run(stranger):
        try:
            while (numbers.last or 0) < end:
                stranger.worst()
        except Exception as error:  # Reported by the thread that waits.
            failures.append(error)

    threads = [threading.Thread(target=run, args=[stranger]) for stranger in strangers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    return sum((stranger.statuses for stranger in strangers), collections.Counter())


class Numbers:
    """One after the other, for all threads."""

    def __init__(self):
        self.all, self.lock, self.last = itertools.count(1), threading.Lock(), None

    def __next__(self):
        with self.lock:
            self.last = next(self.all)
            return self.last


def measure(binary, folder, first=80_000, further=20_000):
    """The megabytes by which the process grows with the first and with the further requests, and the answers.

    The first ones are 10,000 of each of the eight kinds. A server remembers that many names or addresses of a kind.
    """
    server = Server(binary, folder)
    try:
        numbers = Numbers()
        flood(server, numbers, 500)
        steps = []
        statuses = collections.Counter()
        for count in (first, further):
            before = server.resident()
            statuses += flood(server, numbers, count)
            steps.append((server.resident() - before) / MEGABYTE)
        return steps, statuses, server.database_bytes() / MEGABYTE
    finally:
        server.stop()

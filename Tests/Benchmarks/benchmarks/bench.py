"""The servers of one run, each started when the first row needs it."""
import contextlib
import functools
import json
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "Tests" / "Machines"))
from machines import database
from . import browser, peers
from .load import RANDOM_COOKIES, Target
from .servers import Missing, Server, environment, free_ports, get

CONTOSO = "5c7d0b28-bdf8-410c-aa93-4df372b16203"
CLIENT_ID = "5d1f0a52-3c5e-4a8e-9d5c-0c0a3f1e7b10"
SECRET = "the-client-secret-of-Tests-Benchmarks"
LIMITS = ("sign_ins_per_minute", "callbacks_per_minute", "forced_refreshes_per_minute", "operator_requests_per_minute")


def build(product):
    """The release build of a product."""
    command = ["swift", "build", "--package-path", str(ROOT), "--configuration", "release"]
    subprocess.run(command + ["--product", product], check=True, stdout=sys.stderr)
    folder = subprocess.run(command + ["--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    return pathlib.Path(folder) / product


class Bench:
    """Use it in `with`: it stops what it has started."""

    # A launcher of `companion serve`, as valgrind, and what it runs instead of the binary.
    launcher, served = (), None

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.servers, self.left_out = contextlib.ExitStack(), {}
        folder.chmod(0o755)

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.servers.close()

    def leave_out(self, what, problem):
        self.left_out[what] = str(problem)
        print(f"{what}: left out, because {problem}", flush=True)

    def keep(self, server):
        self.servers.callback(server.stop)
        return server

    def sub(self, name):
        """A folder that no other server uses."""
        path = self.folder / name
        path.mkdir()
        return path

    @functools.cached_property
    def binary(self):
        return self.options.companion or build("companion")

    @functools.cached_property
    def store_binary(self):
        return self.options.store or build("StoreBenchmark")

    # The companion

    def demo(self, folder, port, **settings):
        """`companion demo`, as anyone starts it."""
        return Server("demo", port, [
            self.binary, "demo", "--port", port, "--database", folder / "companion.sqlite", "--public", ROOT / "Public",
            "--log-level", "error"], folder, "/ios", **settings)

    def provider(self, public_url):
        """A demo tenant at which the relying party with this address is registered; its authority."""
        folder, port = self.sub(f"provider-{public_url.rsplit(':')[-1]}"), free_ports()
        self.keep(self.demo(folder, port, COMPANION_PUBLIC_URL=public_url, COMPANION_DEMO_CLIENT_SECRET=SECRET,
                            COMPANION_LIMITS_EXEMPT="127.0.0.0/8"))
        return f"http://localhost:{port + 1}"

    @functools.cached_property
    def port(self):
        return free_ports()

    @functools.cached_property
    def authority(self):
        return self.provider(f"http://localhost:{self.port}")

    def configuration(self, folder, port, has_limits=False, **settings):
        """The file of a server that knows one application; its limits by address are off, or on and never reached."""
        path = folder / "companion.json"
        limits = {"connections": 100_000} if has_limits else {
            **dict.fromkeys(LIMITS, 0), "connections": 0, "exempt": ["127.0.0.0/8"]}
        path.write_text(json.dumps({
            "listen": f"127.0.0.1:{port}", "public_url": f"http://localhost:{port}", "public": str(ROOT / "Public"),
            "database": str(folder / "companion.sqlite"), "log_level": "error", "limits": limits,
            "session": {"idle_minutes": 480_000, "max_hours": 8_000},
            "apps": {"ios": {
                "page": "ios", "client_id": CLIENT_ID, "authority": f"{self.authority}/common",
                "api": f"http://127.0.0.1:{self.upstream.port}{peers.API}"}},
        } | settings))
        return path

    def serve(self, name, port, **how):
        """`companion serve` with the demo tenant as its provider and the upstream as its API."""
        folder = self.sub(name)
        server = self.keep(Server(
            name, port, [*self.launcher, self.served or self.binary, "serve", "--config",
                         self.configuration(folder, port, **how)],
            folder, "/ios", is_secure="tls" in how, COMPANION_APPS_IOS_CLIENT_SECRET=SECRET, COMPANION_DATABASE_PASSWORD=database.PASSWORD))
        server.settle()
        return server

    @functools.cached_property
    def upstream(self):
        return self.keep(peers.upstream(self.folder))

    @functools.cached_property
    def companion(self):
        return self.serve("companion", self.port)

    @functools.cached_property
    def cookie(self):
        """Adele's session at the companion."""
        return browser.sign_in(f"http://localhost:{self.companion.port}/auth/ios/sign-in")

    def ours(self, path):
        return Target(self.companion, path, [f"Cookie: {self.cookie}"] if path.startswith("/api/") else [])

    # The others

    @functools.cached_property
    def nginx(self):
        return self.fresh_nginx(self.folder)

    def fresh_nginx(self, folder):
        responses = [get(self.companion.port, path, **fields)
                     for path, fields in (("/ios", {}), ("/api/ios/account", {"Cookie": self.cookie}),
                                          ("/api/ios/me", {"Cookie": self.cookie}))]
        server = self.keep(peers.comparable_nginx(folder, *responses, self.upstream.port))
        for path, response in zip(("/page", "/account", "/me"), responses):
            if get(server.port, path)[1] != response[1]:
                raise RuntimeError(f"nginx does not return the companion's bytes at {path}")
        return server

    # Over TLS

    @functools.cached_property
    def certificate(self):
        """A certificate and its key, of the kind that authorities give today."""
        certificate, key = self.folder / "certificate.pem", self.folder / "certificate.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
            check=True, stderr=subprocess.DEVNULL)
        return certificate, key

    def secure(self, name):
        """A companion with https of its own."""
        port, (certificate, key) = free_ports(), self.certificate
        return self.serve(name, port, public_url=f"https://localhost:{port}",
                          tls={"certificate_file": str(certificate), "private_key_file": str(key)})

    def secure_nginx(self, name, companion):
        """nginx with the same certificate and the same responses."""
        responses = [get(companion.port, path, is_secure=True) for path in ("/ios", "/healthz")]
        server = self.keep(peers.secure_nginx(self.sub(name), *responses, *self.certificate))
        for path, response in zip(("/page", "/small"), responses):
            if get(server.port, path, is_secure=True)[1] != response[1]:
                raise RuntimeError(f"nginx does not return the companion's bytes at {path} over TLS")
        return server

    @functools.cached_property
    def apache(self):
        """mod_auth_openidc's `/me`, signed in for real."""
        port = free_ports()
        authority = self.provider(f"http://localhost:{port}")
        server = self.keep(peers.apache(
            self.folder, port, f"{authority}/{CONTOSO}/v2.0/.well-known/openid-configuration", CLIENT_ID, SECRET,
            self.upstream.port))
        cookie = browser.sign_in(f"http://localhost:{port}/me")
        if get(port, "/me", Cookie=cookie)[1] != peers.ME.encode():
            raise RuntimeError("mod_auth_openidc does not return the API's bytes")
        return Target(server, "/me", [f"Cookie: {cookie}"])

    # Stores

    def store(self, *arguments):
        """The measurements of the program for the store."""
        done = subprocess.run([self.store_binary, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise RuntimeError(f"StoreBenchmark {arguments[0]} failed")
        return json.loads(done.stdout)

    @functools.cache
    def sessions(self, count):
        """The folder of a store with so many sessions, filled when it is not there."""
        folder = (self.options.keep or self.folder) / f"sessions-{count}"
        if not (folder / "cookies").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            start = time.monotonic()
            self.store("fill", folder, count)
            print(f"    filled a store with {count:,} sessions in {time.monotonic() - start:.0f} s", flush=True)
        return folder

    @functools.cached_property
    def random_cookies(self):
        script = self.folder / "random.lua"
        script.write_text(RANDOM_COOKIES)
        return script

    def many(self, count):
        """The accounts of any of so many sessions, at a server with their store."""
        folder = self.sessions(count)
        server = self.serve(f"companion-{count}", free_ports(), database=str(folder / "companion.sqlite"))
        return Target(server, "/api/ios/account", script=self.random_cookies, cookies=folder / "cookies")

    # PostgreSQL

    @functools.cached_property
    def postgresql(self):
        """A server of this run's own, on loopback; its commits are on the disk before they are answered."""
        if not database.is_installed():
            raise Missing("PostgreSQL 15", "postgresql-15")
        server = database.Database(self.folder / "postgresql", free_ports(), shared_buffers="1GB")
        self.servers.callback(server.remove)
        server.start()
        return server

    def new_database(self, name):
        """An empty one; its address, without the password."""
        self.postgresql.ask(f'CREATE DATABASE "{name}"')
        return f"postgresql://{database.USER}@127.0.0.1:{self.postgresql.port}/{name}?sslmode=disable"

    def postgresql_folder(self, address, name):
        """A folder for the program for the store, whose store is in this database."""
        folder = self.sub(name)
        (folder / "database").write_text(address.replace("@", f":{database.PASSWORD}@", 1))
        return folder

    @functools.cache
    def moved(self, count):
        """`count` sessions, the same ones as in SQLite: the database's address, and the folder of its store."""
        source, address = self.sessions(count), self.new_database(f"sessions-{count}")
        folder = self.postgresql_folder(address, f"postgresql-{count}")
        for name in ("cookies", "companion.key"):
            shutil.copy2(source / name, folder / name)
        start = time.monotonic()
        subprocess.run(
            [self.binary, "migrate", "--database", source / "companion.sqlite", "--to", address], cwd=folder, check=True,
            stdout=subprocess.DEVNULL, env=environment(
                COMPANION_ENCRYPTION_KEY_FILE=str(folder / "companion.key"), COMPANION_DATABASE_PASSWORD=database.PASSWORD))
        print(f"    moved {count:,} sessions to PostgreSQL in {time.monotonic() - start:.0f} s", flush=True)
        self.postgresql.ask("VACUUM ANALYZE", f"sessions-{count}")
        self.postgresql.ask("CHECKPOINT")
        return address, folder

"""The processes under test: an identity provider with Graph (the demo), and the companion that uses it."""
import contextlib
import http.client
import json
import os
import pathlib
import secrets
import subprocess

import patience
import ports
from groups import end_group
from patience import until

ROOT = pathlib.Path(__file__).resolve().parents[3]
CLIENT_ID = "5d1f0a52-3c5e-4a8e-9d5c-0c0a3f1e7b10"
SECRET = "the-client-secret-of-Tests-Faults"
# A request's line may have these; an address, a name or a path is none of it.
LINE_KEYS = {"bytes", "cause", "code", "correlation_id", "ended_accounts", "level", "logger", "message", "method",
             "microseconds", "reason", "request_id", "route", "status", "time", "trace_id"}


def get(port, path, timeout=patience.SECONDS):
    """Status and text of one request."""
    connection = http.client.HTTPConnection("localhost", port, timeout=timeout)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def environment(**more):
    return {name: value for name, value in os.environ.items() if not name.startswith("COMPANION")} | more


class Provider:
    """The demo tenant, in a process of its own; the companion under test is its registered application."""

    def __init__(self, binary, folder, port, companion):
        self.binary, self.folder, self.server_port, self.port = binary, folder, port, port + 1
        # Its origin.
        self.companion = companion
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "demo", "--port", str(self.server_port), "--database", f"{self.folder}/provider.sqlite",
             "--public", str(ROOT / "Public")], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=environment(COMPANION_PUBLIC_URL=self.companion, COMPANION_DEMO_CLIENT_SECRET=SECRET), start_new_session=True)
        until(self.answers, "the provider answers")

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def answers(self):
        assert self.is_running(), "the provider has ended"
        with contextlib.suppress(OSError):
            return get(self.port, "/control")[0] == 200

    def stop(self):
        if self.process:
            end_group(self.process)
            self.process = None

    def control(self, **changes):
        """Failures on demand; `reset=True` ends them."""
        connection = http.client.HTTPConnection("localhost", self.port, timeout=patience.SECONDS)
        connection.request("POST", "/control", json.dumps(changes), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status == 200, text


class Companion:
    """`companion serve` with a configuration file, and `companion check` on the same file."""

    def __init__(self, binary, folder, provider, port, metrics_port, *, database=None, ios=None,
                 tls=None, around=(), variables=None):
        self.binary, self.folder, self.port, self.metrics_port = binary, pathlib.Path(folder), port, metrics_port
        # A command and variables that run the server, and `check`, in other circumstances.
        self.around, self.variables = list(around), variables or {}
        self.secret = self.folder / "ios.secret"
        self.secret.write_text(SECRET + "\n")
        self.secret.chmod(0o600)
        self.database = pathlib.Path(database or self.folder / "companion.sqlite")
        self.key = self.folder / "companion.key"
        self.log = self.folder / "log"
        self.config = self.folder / "companion.json"
        self.is_secure = bool(tls)
        base = f"http://localhost:{provider.port}"
        own = {"client_id": CLIENT_ID, "client_secret_file": str(self.secret)}
        self.config.write_text(json.dumps({
            "listen": f"127.0.0.1:{port}", "public_url": f"http{'s' if tls else ''}://localhost:{port}", "public": str(ROOT / "Public"),
            "database": str(self.database), "encryption_key_file": str(self.key), "log_format": "json",
            "log_requests": "true", "metrics": {"listen": f"127.0.0.1:{metrics_port}"},
            "apps": {
                # A setting that is None is left out.
                "ios": {name: value for name, value in (own | {
                    "page": "ios", "authority": f"{base}/common", "api": f"{base}/v1.0/me"} | (ios or {})).items() if value},
                "external": own | {
                    "page": "external", "kind": "external", "authority": f"{base}/fabrikam.example",
                    "api": f"{base}/api/external", "scopes": ["api://fabrikam.example/tasks.read"]},
            },
        } | ({"tls": tls} if tls else {})))
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()

    def launch(self):
        # The listening sockets may be shared, so that a server that is left over would answer in place of this one.
        until(lambda: all(ports.is_free(port) for port in (self.port, self.metrics_port)), "the ports are free")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.around, self.binary, "serve", "--config", str(self.config)], cwd=self.folder, stdout=log,
                stderr=log, env=environment(**self.variables), start_new_session=True)

    def start(self):
        self.launch()
        until(self.answers, "the companion answers")

    def answers(self):
        assert self.process.poll() is None, f"the companion has ended: {self.log.read_text()[-800:]}"
        with contextlib.suppress(OSError):
            # Over TLS a request in plain http gets a 400.
            return (get(self.metrics_port, "/healthz")[0], get(self.port, "/healthz")[0]) == (
                200, 400 if self.is_secure else 200)

    def kill(self):
        """The process, and what stands around it."""
        if self.process:
            end_group(self.process)
            self.process = None

    def scrape(self):
        status, text = get(self.metrics_port, "/metrics")
        assert status == 200, text
        return text

    def readiness(self):
        """Status and JSON of /readyz, with the details."""
        status, text = get(self.metrics_port, "/readyz")
        return status, json.loads(text)

    # The log

    def mark(self):
        """A place in the log, from which `lines` reads on: behind the lines of all that was asked before. Lines come in their
        order, but a moment after the answers."""
        trace, tls = secrets.token_hex(16), getattr(self, "tls", None)
        connection = http.client.HTTPSConnection("localhost", self.port, context=tls) if tls else \
            http.client.HTTPConnection("localhost", self.port)
        connection.timeout = patience.SECONDS
        with contextlib.closing(connection):
            connection.request("GET", "/api/ios/me", headers={"traceparent": f"00-{trace}-{trace[:16]}-01"})
            connection.getresponse().read()
        until(lambda: trace in self.log.read_text(), "the line of this request")
        return self.log.stat().st_size

    def lines(self, mark, count):
        """The lines about requests since a mark: exactly so many."""
        def read():
            with open(self.log, "rb") as log:
                log.seek(mark)
                complete = log.read().decode().rpartition("\n")[0].splitlines()
            entries = [json.loads(line) for line in complete if line.startswith("{")]
            return [entry for entry in entries if entry["message"] == "request"]
        until(lambda: len(read()) >= count, f"{count} lines about requests", seen=lambda: len(read()))
        lines = read()
        assert len(lines) == count, f"{len(lines)} lines about {count} requests"
        for line in lines:
            assert line.keys() <= LINE_KEYS, f"not to be in a log line: {line.keys() - LINE_KEYS}"
        return lines

    # companion check

    def check(self, *arguments):
        return subprocess.run([*self.around, self.binary, "check", "--config", str(self.config), *arguments],
                              cwd=self.folder, capture_output=True, text=True, timeout=2 * patience.SECONDS,
                              env=environment(**self.variables))

    def findings(self):
        """The findings of `companion check`, as JSON; what it prints for people says the same."""
        done, printed = self.check("--json"), self.check()
        report = json.loads(done.stdout)
        assert done.returncode == printed.returncode == (0 if report["ok"] else 1), (done.returncode, report["ok"])
        for finding in report["findings"]:
            if finding["severity"] not in ("good", "unknown"):
                mark = {"mistake": "ERROR", "advice": "ADVICE"}[finding["severity"]]
                assert f"  {mark}" in printed.stdout and f"Fix: {finding['remedy']}" in printed.stdout, printed.stdout
        return report["findings"]

    def assert_found(self, subject, what, remedy, severity="mistake", app=None):
        """`check` names it, and says why it matters and how to fix it."""
        findings = [finding for finding in self.findings() if finding["severity"] not in ("good", "unknown")]
        for finding in findings:
            if (finding["subject"] == subject and what in finding["what"] and remedy in finding["remedy"]
                    and finding["severity"] == severity and (app is None or finding.get("application") == app)):
                assert finding["why"]
                return
        raise AssertionError(f"check does not report {severity} {subject}: …{what}… (fix: …{remedy}…), but {findings}")

    def assert_sound(self):
        """`check` finds no mistake: also afterwards, when everything is well again."""
        mistakes = [finding for finding in self.findings() if finding["severity"] == "mistake"]
        assert not mistakes, mistakes

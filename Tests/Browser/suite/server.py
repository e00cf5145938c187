"""The server under test: `companion demo` on free ports with a database of its own."""

import datetime
import json
import os
import secrets
import ssl
import subprocess
import urllib.request

import ports
from patience import SECONDS, answered, next_line

# The times of a kiosk, which no check meets.
LONG = {"COMPANION_KIOSK_COUNTDOWN_AFTER_SECONDS": "600", "COMPANION_KIOSK_IDLE_SECONDS": "900", "COMPANION_SESSION_IDLE_MINUTES": "15"}


class Server:
    def __init__(self, binary, public, folder, settings=None):
        self.binary, self.public, self.folder, self.settings = binary, public, folder, settings or {}
        self.port = free_pair_of_ports()
        self.origin = f"http://localhost:{self.port}"
        self.tenant = f"http://localhost:{self.port + 1}"
        self.log = folder / "companion.log"
        self.process = None
        self.device = None

    def start(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("COMPANION")} | self.settings
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command(), cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        # Nobody knows who has signed the certificate of a demo over https.
        context = ssl._create_unverified_context()
        answered(self.process, lambda: urllib.request.urlopen(self.origin + "/readyz", timeout=SECONDS, context=context).close(), "the companion is ready", self.log_tail)

    def command(self):
        return [self.binary, "demo", "--port", str(self.port), "--database", self.folder / "companion.sqlite", "--public", self.public]

    def sibling(self, name, **settings):
        """Another server with a folder and settings (environment variables) of its own."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return Server(self.binary, self.public, folder, settings)

    def shared_device(self):
        """The sibling on a shared device, one for all checks that need no settings of their own; it stops with this server."""
        self.device = self.device or self.sibling("device", COMPANION_DEVICE_MODE="shared", **LONG)
        return self.device

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def ensure_running(self):
        if not self.is_running:
            self.start()

    def kill(self):
        """As kill -9 does: no chance to tidy up."""
        self.process.kill()
        self.process.wait(10)

    def stop(self):
        """As an operator does, with patience for the 10 seconds that requests under way are given."""
        if self.device:
            self.device.stop()
        if self.is_running:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.kill()

    def control(self, **settings):
        """Switches failures of the demo tenant on and off; without settings, reads them and the counts."""
        body = json.dumps(settings).encode() if settings else None
        request = urllib.request.Request(self.tenant + "/control", data=body, headers={"Content-Type": "application/json", "Accept": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)

    def reset(self):
        """No failures, and nobody has signed in, consented or changed anything."""
        self.control(reset="seed")

    def counts(self):
        return self.control()["counts"]

    def log_tail(self, lines=25):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:]) if self.log.exists() else ""


class SecureServer(Server):
    """`companion demo --https`, whose certificates are its own: a browser has to take them as they are."""

    def __init__(self, usual):
        folder = usual.folder / "secure"
        folder.mkdir(exist_ok=True)
        super().__init__(usual.binary, usual.public, folder, {"COMPANION_DEVELOPMENT_CA": str(folder / "ca")})
        self.origin, self.tenant = (address.replace("http:", "https:") for address in (self.origin, self.tenant))

    def command(self):
        return [*super().command(), "--https"]


CLIENT_ID = "5d1f0a52-3c5e-4a8e-9d5c-0c0a3f1e7b10"  # CompanionCommand/DemoApplications
FABRIKAM = "fabrikam.example"


class Tenant(Server):
    """`companion tenant` with these applications, as a file has them."""

    def __init__(self, usual, applications):
        super().__init__(usual.binary, usual.public, usual.folder / "tenant")
        self.folder.mkdir(exist_ok=True)
        (self.folder / "tenant.yaml").write_text(json.dumps({"applications": applications}))
        self.log = self.folder / "companion.log"

    def start(self):
        self.process = subprocess.Popen(
            [self.binary, "tenant", "--json", "--plain", "--listen", "localhost:0", "--exit-with-parent", "--public", self.public,
             "--config", self.folder / "tenant.yaml"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.origin = self.tenant = json.loads(next_line(self.process, "the tenant announces itself"))["base_url"]


class Registrations(Server):
    """`companion serve` with a team's many registrations, all of them at the demo tenant of another process."""

    def __init__(self, usual, count, days=12):
        """days: how soon secrets expire, to which each application's number is added."""
        super().__init__(usual.binary, usual.public, usual.folder / "registrations")
        self.days = days
        self.folder.mkdir(exist_ok=True)
        self.log = self.folder / "companion.log"
        self.count, self.secret = count, secrets.token_hex(16)
        self.provider = Server(usual.binary, usual.public, self.folder, {
            "COMPANION_PUBLIC_URL": self.origin, "COMPANION_DEMO_CLIENT_SECRET": self.secret})
        self.provider.log = self.folder / "provider.log"
        self.tenant = self.provider.tenant

    def applications(self):
        """The portal, and applications as a company has them: for each a test and a live one, in no order, some of them ill."""
        teams = ["Expenses", "Timesheets", "Field service", "Store inventory", "Travel", "Payroll self-service", "Onboarding", "Facilities",
                 "Fleet and vehicle handover", "Learning"]
        own = {"client_id": CLIENT_ID, "client_secret_file": str(self.folder / "secret")}
        workforce = own | {"authority": f"{self.tenant}/common", "api": f"{self.tenant}/v1.0/me"}
        external = own | {"kind": "external", "authority": f"{self.tenant}/{FABRIKAM}", "api": f"{self.tenant}/api/external",
                          "scopes": [f"api://{FABRIKAM}/tasks.read"]}
        apps = {"portal": workforce | {"page": "portal", "title": "Test portal"}}
        for number in range(self.count - 1):
            team, stage = teams[number * 7 % len(teams)], ("test", "live")[number // len(teams) % 2]
            page = ("ios", "macos")[number // 20]
            title = f"{team} for {'iOS' if page == 'ios' else 'macOS'}, {stage}"
            each = external | {"page": "external"} if team == "Travel" else workforce | {"page": page}
            if number % 9 == 4:
                each |= {"client_secret_expires": str(datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=self.days + number))}
            if number == 8:
                each |= {"authority": f"http://localhost:1/{FABRIKAM}"}
            apps[f"{team.lower().replace(' ', '-')}-{page}-{stage}"] = each | {"title": title}
        return apps

    def start(self):
        (self.folder / "secret").write_text(self.secret)
        (self.folder / "secret").chmod(0o600)
        (self.folder / "companion.json").write_text(json.dumps({
            "listen": f"127.0.0.1:{self.port}", "public_url": self.origin, "public": str(self.public), "database": str(self.folder / "served.sqlite"),
            "encryption_key_file": str(self.folder / "key"), "apps": self.applications()}))
        self.provider.start()
        super().start()

    def command(self):
        return [self.binary, "serve", "--config", self.folder / "companion.json"]

    def stop(self):
        super().stop()
        self.provider.stop()


def free_pair_of_ports():
    """A port of this process, whose next one is the demo tenant's."""
    return ports.take(2)[0]

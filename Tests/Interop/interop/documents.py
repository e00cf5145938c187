"""The blocks of README and guides for a shell, as they stand there, on a machine that is a folder; the ones of the recipe for a Mac
are run by mac.py, those of pytest by recipes.py, and the YAML is read by SettingsTests and TenantFileTests."""

import functools
import json
import re
import sys
import xml.etree.ElementTree
from contextlib import contextmanager

from patience import next_line
from suite.registry import registry
from suite.server import CLIENT_ID, Server, free_pair_of_ports

from .machine import Machine, answers

tests, test = registry("documents")

PAGES = ["README.md", "deploy/README.md", "deploy/guides/*.md", "deploy/recipes/README.md"]
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
# Blocks that cannot be run here, by their beginning, and the reason.
NOT_HERE = {
    ("README.md", "deploy/test  "): "it is what runs this",
    ("deploy/guides/https.md", "[Socket]\nListenStream=\n"): "systemd does not run here; Tests/HTTPS hands over such sockets",
    ("deploy/guides/https.md", "[Socket]\nListenStream=80\n"): "the same",
    ("deploy/guides/install.md", "deploy/package  "): "it builds for 15 minutes; deploy/debian/test installs the packages",
    ("deploy/guides/install.md", "cat >.env"): "it needs an engine for containers; deploy/container/test runs the composition",
    ("deploy/recipes/README.md", '{"rules": [{"when"'): "NativeAttackTests posts such a rule",
    ("deploy/recipes/README.md", "cd deploy/recipes/pytest"): "recipes.py runs the same tests",
}
ROWS = {}


def blocks(root):
    """Each block of a shell, of SQL, of systemd or of cron, with its document."""
    for pattern in PAGES:
        for path in sorted(root.glob(pattern)):
            for indent, kind, block in BLOCK.findall(path.read_text()):
                if kind not in {"yaml", "yml"}:
                    yield str(path.relative_to(root)), re.sub(f"^{indent}", "", block, flags=re.MULTILINE)


def row(document, beginning, sentence, *needs):
    """A test of the block that begins like this."""
    def add(function):
        ROWS[document, beginning] = sentence

        @test(f"{document}: {sentence}", *needs)
        @functools.wraps(function)
        def run(context):
            found = [block for path, block in blocks(context.root) if path == document and block.startswith(beginning)]
            assert found, f"{document} has no block that begins with {beginning!r}"
            for block in found:
                function(context, block)
            context.clear_home()
        return run
    return add


class Reader(Machine):
    """A machine with a configuration: a portal at the demo tenant of another process."""

    def __init__(self, binary, root, folder):
        super().__init__(binary, root, folder)
        self.port = free_pair_of_ports()
        self.origin = f"http://localhost:{self.port}"
        (folder / "provider").mkdir()
        self.provider = Server(binary, root / "Public", folder / "provider", {
            "COMPANION_PUBLIC_URL": self.origin, "COMPANION_DEMO_CLIENT_SECRET": "the-secret-of-the-documents"})
        self.served = None

    def situation(self):
        return self.provider.log_tail()

    def start(self):
        self.provider.start()
        secret = self.path("/etc/companion/portal.secret")
        secret.write_text("the-secret-of-the-documents")
        secret.chmod(0o600)
        said = self.run("companion tokens new --name nightly --scope check")
        self.token = re.search(r"companion_\S+", said)[0]
        settings = {
            "listen": f"127.0.0.1:{self.port}", "public_url": self.origin, "database": str(self.path("/var/lib/companion") / "companion.sqlite"),
            "apps": {"portal": {"client_id": CLIENT_ID, "client_secret_file": str(secret), "authority": f"{self.provider.tenant}/common",
                                "api": f"{self.provider.tenant}/v1.0/me"}}}
        lines = re.sub("^  ", "", said.split("Configuration:\n")[1], flags=re.MULTILINE)
        self.configuration = self.path("/etc/companion/companion.yaml")
        self.configuration.write_text("".join(f"{key}: {json.dumps(value)}\n" for key, value in settings.items()) + lines)
        self.served = self.running("companion serve --config /etc/companion/companion.yaml", f"{self.origin}/readyz")
        self.served.__enter__()

    def stop(self):
        if self.served:
            self.served.__exit__(None, None, None)
            self.served = None


@contextmanager
def environment(binary, root, folder):
    reader = Reader(binary, root, folder)
    try:
        reader.start()
        yield reader
    finally:
        reader.stop()
        reader.provider.stop()


@test("every block is run here, or says why it is not")
def all_blocks(reader):
    rows = [*ROWS, *NOT_HERE]
    for document, block in blocks(reader.root):
        fitting = [beginning for path, beginning in rows if path == document and block.startswith(beginning)]
        assert len(fitting) == 1, f"{document}: {block!r} belongs to {fitting}"
    found = list(blocks(reader.root))
    for document, beginning in rows:
        assert any(path == document and block.startswith(beginning) for path, block in found), f"{document}: nothing begins with {beginning!r}"


def door(document, beginning, sentence, pages, **variables):
    """A row for a block that starts the demo, and what its readers open then."""
    @row(document, beginning, sentence)
    def opened(reader, block):
        port = free_pair_of_ports()
        with reader.running(block, f"http://localhost:{port}{pages[0]}", MORE=f"--port {port}", **variables) as process:
            for page in pages:
                answers(process, f"http://localhost:{port}{page}", block)


def tenant_of(process):
    said = json.loads(next_line(process, "the tenant announces itself"))
    assert said["base_url"].startswith("https://localhost:"), said
    return said


door("README.md", "deploy/run\n", "deploy/run starts the demo, with the pages of its doors", ["/ios", "/portal", "/native", "/kiosk"])
door("README.md", "docker build -f deploy/container/Dockerfile -t companion .\n", "the image starts the demo", ["/ios"])
door("README.md", "COMPANION_DEVICE_MODE=shared", "the kiosk's door leads to the kiosk", ["/kiosk"])
door("README.md", "export COMPANION_APPS=ios", "the variables of a real tenant start the server", ["/ios", "/healthz"])


@row("README.md", "docker run --rm --no-healthcheck", "the tenant of the simulator's door knows the app")
def simulator(reader, block):
    with reader.running(block, MORE="--listen localhost:0 --json --exit-with-parent") as process:
        assert [each["name"] for each in tenant_of(process)["clients"]] == ["com.contoso.tasks"]


@row("README.md", "deploy/run tenant --json", "the pipeline's door is one line of JSON")
def pipeline(reader, block):
    with reader.running(block) as process:
        tenant_of(process)


@row("deploy/guides/tenant.md", "companion tenant --native", "each way to start the tenant starts it")
def ways(reader, block):
    secret = reader.path("home/tasks.secret")
    secret.write_text("a-secret-of-the-documents")
    secret.chmod(0o600)
    for line in block.splitlines():
        if line.startswith("companion tenant trust"):
            assert "security add-trusted-cert" in reader.run(line)
        elif line.startswith("companion tenant"):
            with reader.running(line, MORE="" if "--json" in line else "--listen localhost:0 --json --exit-with-parent") as process:
                tenant_of(process)
        else:
            port = free_pair_of_ports()
            with reader.running(line, f"https://localhost:{port}/readyz", MORE=f"--port {port}"):
                pass


@row("deploy/guides/portal.md", "openssl rand", "a portal of the reader's own fits a tenant of theirs")
def portal(reader, block):
    yaml = re.search("```yaml\n(provider_ca_file:.*?)```", (reader.root / "deploy/guides/portal.md").read_text(), re.DOTALL)[1]
    with reader.running(block, MORE="--listen localhost:0 --json --exit-with-parent") as process:
        said = tenant_of(process)
        assert f"client_id: {said['clients'][0]['client_id']}\n" in yaml, said
        reader.path("home/companion.yaml").write_text(yaml.replace("https://localhost:8443", said["base_url"]))
        reader.run(f"curl --silent --output companion-root.pem {said['root_url']}")
        assert "No errors found." in (checked := reader.run("companion check")), checked


@row("deploy/guides/tenant.md", "export CURL_CA_BUNDLE", "applications and people are made, changed and removed while it runs")
def run_time(reader, block):
    with reader.running("companion tenant --plain", MORE="--listen localhost:0 --json --exit-with-parent") as process:
        said = json.loads(next_line(process, "the tenant announces itself"))
        lines = block.replace("https://localhost:8443/control", said["control"]).splitlines()
        answers = [json.loads(reader.run("\n".join([*lines[:2], line])) or "null") for line in lines[2:]]
    shop, ada, renamed, announced, removed = answers
    assert shop["secret"] and ada["object_id"] and renamed["name"] == "Ada King" and removed is None, answers
    assert any(each["client_id"] == shop["client_id"] for each in announced["clients"]), announced
    assert any(each["username"] == "ada@contoso.example" for each in announced["users"]), announced


@row("deploy/guides/pipeline.md", "companion check", "the check of a configuration that is right passes, as JUnit")
def check(reader, block):
    reader.path("home/companion.yaml").symlink_to(reader.configuration)
    reader.run(block)
    suites = xml.etree.ElementTree.parse(reader.path("home/check.xml")).getroot()
    assert len(list(suites.iter("testcase"))) > 5 and not list(suites.iter("failure"))


@row("deploy/guides/pipeline.md", "curl --fail-with-body", "a program's token asks for the check")
def program(reader, block):
    answer = json.loads(reader.run(block.replace("https://companion.example.com", reader.origin), TOKEN=reader.token))
    assert answer["ok"] is True and answer["counts"], answer


@row("deploy/recipes/README.md", "15 3 * * *", "cron's line is silent about what is right")
def cron(reader, block):
    command = re.fullmatch(r"15 3 \* \* \* companion +(.*)\n", block)[1]
    assert reader.run(command) == ""


@row("deploy/guides/kiosk.md", "chromium --kiosk", "Chromium shows the kiosk with these options")
def chromium(reader, block):
    page = reader.run(block.replace("http://localhost:8080/", f"{reader.provider.origin}/"))
    assert 'id="attract"' in page, page[:2000]


@row("deploy/guides/kiosk.md", "ssh SERVER", "another machine's policy allows its addresses and no others")
def policy(reader, block):
    portal = reader.configuration.read_text()
    reader.configuration.write_text("device_mode: shared\n" + portal.replace('"portal"', '"kiosk"'))
    reader.run(block)
    reader.configuration.write_text(portal)
    # A server without a kiosk has none, and takes away none.
    reader.run(block, status=1)
    policies = json.loads((reader.path("/etc/chromium/policies/managed") / "companion-kiosk.urls.json").read_text())
    assert policies["URLBlocklist"] == ["*"] and policies["URLAllowlist"], policies


@row("deploy/guides/https.md", "install -m 0644", "certbot's hook copies what was renewed")
def renewed(reader, block):
    for name in ("fullchain.pem", "privkey.pem"):
        reader.path(f"home/{name}").write_text(name)
    reader.run(block, RENEWED_LINEAGE=str(reader.path("home")))
    assert (reader.path("/etc/companion") / "privkey.pem").stat().st_mode & 0o777 == 0o640


@row("deploy/guides/upgrade.md", "dpkg-deb --extract", "the next version's program backs up and tries the change")
def upgrade(reader, block):
    package = reader.path("home/package")
    reader.program(package / "usr/bin/companion", 'exec companion "$@"')
    (package / "DEBIAN").mkdir()
    (package / "DEBIAN/control").write_text("Package: companion\nVersion: 9\nArchitecture: all\nMaintainer: a <a@b.example>\nDescription: a\n")
    reader.run("dpkg-deb --root-owner-group --build package companion_NEW.deb")
    reader.run(block)
    assert (reader.path("/var/lib/companion") / "before.sqlite").exists()


@row("deploy/guides/operation.md", "runuser -u companion", "a backup is written while the server runs")
def backup(reader, block):
    reader.run(block)


@row("deploy/guides/operation.md", "systemctl stop companion.socket", "the backup is restored", backup)
def restore(reader, block):
    reader.stop()
    database = reader.path("/var/lib/companion") / "companion.sqlite"
    database.write_bytes(b"damaged")
    reader.run(block)
    assert database.read_bytes().startswith(b"SQLite format 3") and database.stat().st_mode & 0o777 == 0o600


class Postgres:
    """A PostgreSQL that this suite starts when it is first needed, and the address that it has instead of the documents'."""

    def __init__(self, reader):
        sys.path.append(str(reader.root / "Tests/Machines"))
        from machines import database
        # The document makes the role `companion`. PostgreSQL does not run as root.
        database.USER = "postgres"
        reader.folder.chmod(0o711)
        self.port = free_pair_of_ports()
        self.server = database.Database(reader.folder / "postgres", self.port)
        self.environ = {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": "postgres", "PGPASSWORD": database.PASSWORD}
        self.server.start()


@row("deploy/guides/postgresql.md", "CREATE ROLE companion", "PostgreSQL takes the role and the database")
def role(reader, block):
    reader.postgres = Postgres(reader)
    reader.path("home/role.sql").write_text(block)
    reader.run("psql --quiet --set ON_ERROR_STOP=1 --dbname postgres --file role.sql", **reader.postgres.environ)


@row("deploy/guides/postgresql.md", "companion migrate", "the sessions of the file go to PostgreSQL", role)
def migrate(reader, block):
    reader.stop()
    try:
        password = reader.path("home/password")
        password.write_text("…")
        password.chmod(0o600)
        moved = block.replace("db.example", f"127.0.0.1:{reader.postgres.port}").replace("verify-full", "disable")
        reader.run(moved, COMPANION_DATABASE_PASSWORD_FILE=str(password))
    finally:
        reader.postgres.server.stop()

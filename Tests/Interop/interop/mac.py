"""The commands that the recipe, the projects' READMEs and /native give to a Mac, as they stand there: of docker run, what is behind the
image's name is run with the program; of the Mac's own tools, that no other is named."""

import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
from contextlib import contextmanager

import requests
from made import made
from patience import next_line
from suite.registry import registry
from suite.server import free_pair_of_ports

tests, test = registry("On a Mac")

RECIPE = "deploy/recipes/on-a-mac.md"
# The project that the recipe says to choose before the archive is unpacked into this folder.
DOWNLOADED = {
    "Workforce": "workforce-ios", "External": "external-ios", "B2C": "b2c-ios", "Mac": "workforce-macos", "MacExternal": "external-macos",
}
BUNDLE = "com.contoso.tasks"
VALUES = {"bundle_id": BUNDLE, "redirect_uri": f"msauth.{BUNDLE}://auth", "edit_policy": "b2c_1_edit_profile"}
# Commands within sentences that no machine but a Mac can run, or that belong to Microsoft's samples.
ONLY_SAID = ("ping -c 1 fabrikam.ciamlogin.localhost", "pod update MSAL")
ONLY_THERE = ("xcrun simctl ", "echo '127.0.0.1 fabrikam.ciamlogin.localhost' | sudo tee -a /etc/hosts", "security add-trusted-cert ", "open -a Simulator")


class Mac:
    """The folder of a second Terminal, and the tenant, when it runs."""

    def __init__(self, binary, root, folder):
        self.binary, self.root, self.folder = binary, root, folder
        self.tenant = None

    def stop(self):
        if self.tenant:
            self.tenant.terminate()
            self.tenant.wait(15)
            self.tenant = None

    def situation(self):
        return str(sorted(str(path.relative_to(self.folder)) for path in self.folder.glob("*/*")))

    def download(self, project, folder):
        """The archive of the page /native, unpacked."""
        files, = made({"projects": [{"id": project, "tenant": "demo", "origin": self.said["base_url"], "values": VALUES}]})["projects"]
        for path, text in files.items():
            place = folder / "TasksApp" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    def program(self, command):
        """The words behind the image's name, with the volumes' folders here, and its variables."""
        words = shlex.split(command)
        behind = words[words.index("companion") + 1:]
        named = dict(word.split("=", 1) for option, word in itertools.pairwise(words) if option == "-e")
        usual = {name: value for name, value in os.environ.items() if not name.startswith("COMPANION")}
        behind = [word.replace("/var/lib/companion/", f"{self.folder}/") for word in behind]
        return [self.binary, *behind], usual | named | {"COMPANION_PUBLIC": str(self.root / "Public"), "XDG_DATA_HOME": str(self.folder / "data")}


@contextmanager
def environment(binary, root, folder):
    mac = Mac(binary, root, folder)
    try:
        yield mac
    finally:
        mac.stop()


def lines(block):
    """The commands of a block, each on one line."""
    return [line.strip() for line in re.sub(r" *\\\n *", " ", block).splitlines() if line.strip()]


def commands(text):
    """The commands of the blocks of a shell."""
    return [line for block in re.findall(r"^ *```sh\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE) for line in lines(block)]


def run(mac, command):
    if command == "docker exec CONTAINER companion tenant trust":
        arguments, environ = mac.program(command)
        said = subprocess.run(arguments, env=environ, check=True, capture_output=True, text=True, timeout=60).stdout
        assert "security add-trusted-cert" in said, said
    elif command.startswith("docker build -f "):
        assert (mac.root / command.split()[3]).exists(), command
    elif command.startswith("docker run ") and " companion tenant " in command:
        arguments, environ = mac.program(command)
        mac.tenant = subprocess.Popen(
            [*arguments, "--listen", f"localhost:{free_pair_of_ports()}", "--json", "--exit-with-parent"], env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        mac.said = json.loads(next_line(mac.tenant, "the tenant announces itself"))
        assert [each["client_id"] for each in mac.said["clients"]], mac.said
        for auth, status in ((None, 401), (("any", "control"), 200)):
            answer = requests.get(f"{mac.said['base_url']}/control", auth=auth, verify=mac.said["root_file"], timeout=30)
            assert answer.status_code == status, f"{auth}: {answer.status_code}"
    elif command.startswith("docker run ") and " companion demo" in command:
        assert "-p 127.0.0.1:8080-8081:8080-8081 " in command, command
        assert "<http://localhost:8080/native>" in (mac.root / RECIPE).read_text()
    elif found := re.fullmatch(r"ditto -x -k ~/Downloads/TasksApp\.zip (\w+)", command):
        mac.download(DOWNLOADED[found[1]], mac.folder / found[1])
    elif command.startswith("curl ") and "/control/users " in command:
        words = shlex.split(command.replace("https://localhost:8443/", f"{mac.said['base_url']}/"))
        said = subprocess.run(words, check=True, capture_output=True, timeout=60, cwd=mac.folder).stdout
        assert json.loads(said)["username"] in command, said
    elif command.startswith("curl "):
        port = int(mac.said["base_url"].rsplit(":", 1)[1]) + 1
        subprocess.run(shlex.split(command.replace(":8444/", f":{port}/")), check=True, capture_output=True, timeout=60, cwd=mac.folder)
        assert (mac.folder / shlex.split(command)[2]).read_text().startswith("-----BEGIN CERTIFICATE-----")
    elif found := re.fullmatch(r"mkdir (\w+) && mv ~/Downloads/TasksApp \1", command):
        # In place of unpacking it.
        assert found[1] in DOWNLOADED, command
    elif re.match(r"open [\w/]+\.xcodeproj$", command):
        assert (mac.folder / command.split()[1] / "project.pbxproj").exists(), command
    else:
        assert command.startswith(ONLY_THERE), f"nobody runs {command}"


@test("every command of the recipe runs in its order, or is one of the Mac's own tools")
def recipe(mac):
    found = commands((mac.root / RECIPE).read_text())
    assert len(found) > 10, found
    for command in found:
        run(mac, command)
    said = re.findall(r"`((?:docker|open|mkdir|mv|rm|ping|ditto|curl|xcrun|security|sudo|pod) [^`]+)`", (mac.root / RECIPE).read_text())
    assert len(said) > 4 and set(ONLY_SAID) < set(said), said
    for command in said:
        if command not in ONLY_SAID:
            run(mac, command)
    written = {path.name for path in pathlib.Path(mac.folder).iterdir() if any(path.glob("*/*.xcodeproj"))}
    assert written == set(DOWNLOADED), written


@test("the commands of each project's README, and those of /native, run in their order, too")
def written(mac):
    answer = made({
        "projects": [{"id": row["id"], "tenant": "demo", "values": VALUES} for row in made({})["rows"]],
        "commands": [{"kind": "workforce", "tenant": "demo", "platform": platform, "root_url": "http://localhost:8444/root.pem", "scopes": [], **VALUES}
                     for platform in ("ios", "macos")],
    })
    found = {tuple(commands(files["README.md"])) for files in answer["projects"]} | {tuple(lines(text)) for text in answer["commands"]}
    for each in sorted(found):
        assert [command.split()[0] for command in each[:3]] == ["docker", "docker", "curl"], each
        mac.stop()
        for command in each:
            run(mac, command)

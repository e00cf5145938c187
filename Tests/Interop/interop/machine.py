"""A folder that stands for the machine of a reader: its paths, and commands that a test cannot run there as they are."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
from contextlib import contextmanager

import requests
import urllib3
from patience import SECONDS, answered

PLACES = ("/etc/companion", "/etc/chromium/policies/managed", "/var/lib/companion", "/tmp/")
# Each runs the rest of its line, or what stands behind the name of an image, with the program under test.
COMMANDS = {
    "companion": 'exec "$BINARY" "$@" $MORE',
    "sudo": 'exec "$@"',
    "runuser": 'shift 3; exec "$@"',
    "ssh": 'shift; exec "$@"',
    "docker": """
        case $1 in
        build) exec test -f "$ROOT/$3" ;;
        run)
            shift
            until [ "$1" = companion ]; do [ "$1" != -e ] || export "$2"; shift; done
            shift
            exec companion "$@" ;;
        esac
        exit 64""",
    # There is no systemd here, and the user of the service neither.
    "systemctl": """
        shift
        for unit in "$@"; do test -f "$ROOT/deploy/debian/$unit" || { echo "there is no $unit" >&2; exit 64; }; done""",
    "install": """
        words=()
        while [ $# -gt 0 ]; do case $1 in -o | -g) shift 2 ;; *) words+=("$1"); shift ;; esac; done
        exec /usr/bin/install "${words[@]}" """,
    "apt": 'test "$1" = install && exec dpkg-deb --info "$2"',
    "chromium": 'exec /usr/bin/chromium --headless --no-sandbox --dump-dom "$@"',
}


class Machine:
    def __init__(self, binary, root, folder):
        self.binary, self.root, self.folder = pathlib.Path(binary), root, folder
        for place in (*PLACES, "bin", "home"):
            (folder / place.strip("/")).mkdir(parents=True, exist_ok=True)
        for name, script in COMMANDS.items():
            self.program(folder / "bin" / name, script)
        # The sources, in which deploy/run builds nothing.
        (folder / "home/deploy").mkdir()
        for path in (root / "deploy").iterdir():
            if path.name != "run":
                (folder / "home/deploy" / path.name).symlink_to(path)
        self.program(folder / "home/deploy/run", 'exec companion "$@"')

    @staticmethod
    def program(path, script):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def path(self, place):
        return self.folder / place.strip("/")

    def here(self, text):
        """The text with the machine's paths in this folder."""
        return re.sub(rf"(?<![\w./-])({'|'.join(PLACES)})", rf"{self.folder}\1", text)

    def environ(self, more):
        usual = {name: value for name, value in os.environ.items() if not name.startswith("COMPANION")}
        return usual | {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}", "BINARY": str(self.binary), "ROOT": str(self.root), "MORE": "", "HOME": str(self.path("home")),
            "COMPANION_PUBLIC": str(self.root / "Public"), "XDG_DATA_HOME": str(self.folder / "data")} | more

    def run(self, block, status=0, **variables):
        """Runs a block in bash, which ends at the first command that fails; its output."""
        done = subprocess.run(["bash", "-euc", self.here(block)], cwd=self.path("home"), env=self.environ(variables),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        assert done.returncode == status, f"{block}: status {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    @contextmanager
    def running(self, block, address="", **variables):
        """Runs a block that does not end by itself; its process, once the address answers, or with its first line."""
        process = subprocess.Popen(["bash", "-euc", self.here(block)], cwd=self.path("home"), env=self.environ(variables), text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            if address:
                answers(process, address, block)
            yield process
        finally:
            end(process)

    def clear_home(self):
        for path in self.path("home").iterdir():
            if path.is_symlink() or path.is_file():
                path.unlink()
            elif path.name != "deploy":
                shutil.rmtree(path)


def end(process):
    """Ends bash and what it has started, if it has not ended by itself."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, number)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                continue
    process.stdout.close()


def answers(process, address, block):
    """Waits until an address answers with 200, for the person of a document to see."""
    urllib3.disable_warnings()
    status = answered(process, lambda: requests.get(address, verify=False, timeout=SECONDS).status_code, f"{block}: {address} answers",
                      lambda: "" if process.poll() is None else process.stdout.read()[-3000:])
    assert status == 200, f"{address}: {status}"

"""One companion of several: `companion serve` on the cluster's database, behind the front."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "Tests" / "Faults"))
import patience
from groups import end_group
from patience import until
from machines.database import PASSWORD
from faults.processes import CLIENT_ID, SECRET, environment, get

# Most tests are quicker than people are.
UNLIMITED = {"exempt": ["127.0.0.1"], "forced_refreshes_per_minute": 0}


class Node:
    def __init__(self, binary, folder, name, provider, port, metrics_port, origin, database, key, *, drain=5, around=(),
                 public=ROOT / "Public", limits=UNLIMITED):
        self.binary, self.name, self.port, self.metrics_port = binary, name, port, metrics_port
        # Of the front.
        self.origin = origin
        # A command that runs the server in other circumstances.
        self.around = list(around)
        self.folder = pathlib.Path(folder) / name
        self.folder.mkdir()
        self.log = self.folder / "log"
        self.config = self.folder / "companion.json"
        base = f"http://localhost:{provider.port}"
        self.settings = {
            "listen": f"127.0.0.1:{port}", "public_url": origin, "public": str(public),
            "log_format": "json", "metrics": {"listen": f"127.0.0.1:{metrics_port}"},
            "drain_seconds": drain, "limits": limits,
            "trusted_proxies": ["127.0.0.1"],
            "apps": {"ios": {"client_id": CLIENT_ID, "page": "ios", "authority": f"{base}/common", "api": f"{base}/v1.0/me"}},
        }
        self.key = None
        self.seal_with(key)
        # The database's password and the client's secret stand in no file that others read.
        self.variables = {"COMPANION_DATABASE": database, "COMPANION_DATABASE_PASSWORD": PASSWORD, "COMPANION_APPS_IOS_CLIENT_SECRET": SECRET}
        self.process = None

    def seal_with(self, key):
        """From the next start on, with this key file."""
        self.key = key
        self.config.write_text(json.dumps(self.settings | {"encryption_key_file": str(key)}))

    def launch(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*self.around, self.binary, "serve", "--config", str(self.config)], cwd=self.folder, stdout=log, stderr=log,
                env=environment(**self.variables), start_new_session=True)

    def start(self):
        self.launch()
        until(self.answers, f"{self.name} answers")

    def answers(self):
        assert self.process.poll() is None, f"{self.name} has ended: {self.log.read_text()[-800:]}"
        with contextlib.suppress(OSError):
            return get(self.port, "/healthz")[0] == get(self.metrics_port, "/healthz")[0] == 200

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def is_ready(self, seconds=patience.SECONDS):
        with contextlib.suppress(OSError):
            return get(self.port, "/readyz", timeout=seconds)[0] == 200

    def stop(self):
        """As a service manager does; returns how long it took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(patience.SECONDS)
        self.process = None
        assert status == 0, f"{self.name} ended with status {status}"
        return time.monotonic() - began

    def pause(self, seconds):
        """As a machine that is asleep, or moved to another one."""
        os.killpg(self.process.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.killpg(self.process.pid, signal.SIGCONT)

    def wake(self):
        """Goes on, if it stands still."""
        os.killpg(self.process.pid, signal.SIGCONT)

    def kill(self):
        if self.process:
            end_group(self.process)
            self.process = None

    def connections(self):
        """The number of connections to it that the other side has not closed, also those of a process that is gone."""
        rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        # 1 is ESTABLISHED, 8 is CLOSE_WAIT.
        return len([row for row in rows if int(row[2].partition(":")[2], 16) == self.port and int(row[3], 16) in (1, 8)])

    def run(self, *arguments):
        """A subcommand on the same configuration."""
        return subprocess.run([self.binary, *arguments, "--config", str(self.config)], cwd=self.folder, capture_output=True,
                              text=True, timeout=2 * patience.SECONDS, env=environment(**self.variables))

"""The published configurations of deploy/fronts in front of the companions, without affinity."""
import contextlib
import pathlib
import socket
import ssl
import sys

import patience
from patience import until

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "deploy" / "fronts"))
from published import FRONTS, WAYS, certificate


class Front:
    """Use it in `with`. `file` is the configuration's name; `origin`, of another front, where that is the companions' own."""

    def __init__(self, folder, file, port, plain_port, nodes, origin=None):
        self.port, self.nodes = port, nodes
        self.origin = origin or f"https://localhost:{port}"
        self.folder = folder / file.partition(".")[0]
        self.folder.mkdir()
        certificate(self.folder)
        self.tls = ssl.create_default_context(cafile=self.folder / "certificate.pem")
        self.program = FRONTS[file](self.folder, WAYS[0], port, plain_port, [node.port for node in nodes])
        self.admin = self.folder / "admin"
        if file == "haproxy.cfg":
            # Beside the published file: a test asks it whom it has.
            own = self.folder / "own.cfg"
            own.write_text(f"global\n    stats socket {self.admin}\n")
            self.program.command += ["-f", own]

    def __enter__(self):
        self.program.__enter__()
        return self

    def __exit__(self, *_):
        self.program.__exit__()

    def is_running(self):
        return self.program.process is not None and self.program.process.poll() is None

    def ready(self):
        """The number of companions that HAProxy finds ready."""
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as admin:
            admin.settimeout(patience.SECONDS)
            admin.connect(str(self.admin))
            admin.sendall(b"show stat -1 4 -1\n")
            text = b""
            while part := admin.recv(65536):
                text += part
            rows = [line.split(",") for line in text.decode().splitlines() if line.startswith("companion,")]
            return len([row for row in rows if row[17] == "UP"])

    def until_up(self, count=None):
        count = len(self.nodes) if count is None else count
        until(lambda: self.ready() == count, f"HAProxy finds {count} ready", seen=self.ready)

"""HAProxy in front of the companions, without affinity: each connection goes to the next of them."""
import contextlib
import socket
import subprocess
import sys
import time

CONFIGURATION = """
global
    stats socket {folder}/haproxy.sock
    maxconn 2000
defaults
    mode http
    timeout connect 2s
    timeout client 60s
    timeout server 60s
    timeout http-request 10s
    # A request that fails is to be seen.
    retries 0
frontend all
    bind 127.0.0.1:{port}
    default_backend companions
backend companions
    balance roundrobin
    http-reuse never
    option httpchk
    http-check send meth GET uri /readyz?exclude=database ver HTTP/1.1 hdr Host localhost:{port}
    default-server check inter 200ms fall 1 rise 1
{servers}
"""


class Front:
    def __init__(self, folder, port, nodes):
        self.folder, self.port, self.nodes = folder, port, nodes
        servers = "\n".join(f"    server {node.name} 127.0.0.1:{node.port}" for node in nodes)
        self.config = folder / "haproxy.cfg"
        self.config.write_text(CONFIGURATION.format(folder=folder, port=port, servers=servers))
        self.process = None

    def start(self):
        self.process = subprocess.Popen(["/usr/sbin/haproxy", "-db", "-q", "-f", str(self.config)], stdout=sys.stderr)
        self.until_up()

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def up(self):
        """The names of the companions to which it sends requests."""
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as admin:
            admin.connect(f"{self.folder}/haproxy.sock")
            admin.sendall(b"show stat -1 4 -1\n")
            text = b""
            while part := admin.recv(65536):
                text += part
            rows = [line.split(",") for line in text.decode().splitlines() if line.startswith("companions,")]
            return {row[1] for row in rows if row[17] == "UP"}
        return set()

    def until_up(self, count=None, seconds=30):
        end = time.monotonic() + seconds
        while len(self.up()) != (len(self.nodes) if count is None else count):
            assert time.monotonic() < end, f"in front of {self.up()}"
            time.sleep(0.05)

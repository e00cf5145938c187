"""The configurations of this folder as they are published, on addresses, ports and with a certificate of a test's own."""

import os
import pathlib
import re
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "Tests"))
import patience
from groups import end_group

WAYS = ("the whole host", "a path that is passed on", "a path that is taken away")


class Program:
    """A process that serves a port until the end of the block."""

    def __init__(self, command, port, log, environment=None, keeps_log=False):
        self.command, self.port, self.log, self.environment, self.keeps_log = command, port, log, environment, keeps_log
        self.process = None

    def __enter__(self):
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, cwd=self.log.parent, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)
        try:
            patience.until(self.serves, f"{self.command[0]} serves {self.port}", seen=lambda: self.log.read_text(errors="replace"))
        except AssertionError:
            self.__exit__()
            raise
        return self

    def serves(self):
        assert self.process.poll() is None, f"{self.command[0]} has ended:\n{self.log.read_text(errors='replace')}"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def __exit__(self, *_):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                pass
            end_group(self.process)
            self.process = None


def with_path(text):
    """The configuration with its lines for a path."""
    lines, mode = [], "as it is"
    for line in text.splitlines():
        if "# [" in line:
            mode = next((new for mark, new in (("[The whole host", "comment out"), ("[A path", "comment in"), ("[End]", "as it is")) if mark in line), mode)
        elif mode == "comment out":
            line = "#" + line
        elif mode == "comment in" and not line.lstrip().startswith("# "):
            line = line.replace("#", "", 1)
        lines.append(line)
    return "\n".join(lines) + "\n"


def replaced(text, *pairs):
    for old, new in pairs:
        if not re.search(old, text):
            raise RuntimeError(f"the configuration has no {old!r} any more; {__file__} must learn what stands there now")
        text = re.sub(old, new, text)
    return text


def configuration(file, way, *pairs):
    text = (HERE / file).read_text()
    if way != WAYS[0]:
        text = with_path(text)
    if way == WAYS[1]:
        pairs += {
            "Caddyfile": (("handle_path", "handle"),), "nginx.conf": ((r"http://companion/;", "http://companion;"),),
            "haproxy.cfg": ((r"(?m)^.*replace-path.*\n", ""),),
        }[file]
    return replaced(text, *pairs)


def each(upstreams, line):
    """The lines in place of the only companion's: one for each, of its number and its port."""
    return lambda found: "".join(line(found[0], number, port) for number, port in enumerate(upstreams))


def caddy(folder, way, tls, plain, upstreams):
    text = configuration(
        "Caddyfile", way, (r"(?m)^\{\n", f"{{\n\tadmin off\n\thttp_port {plain}\n\thttps_port {tls}\n"),
        (r"# tls \S+ \S+", f"tls {folder}/certificate.pem {folder}/certificate.key"))
    (folder / "Caddyfile").write_text(text)
    environment = os.environ | {
        "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "COMPANION_HOST": "localhost",
        "COMPANION_UPSTREAM": " ".join(f"127.0.0.1:{port}" for port in upstreams)}
    return Program(["caddy", "run", "--adapter", "caddyfile", "--config", folder / "Caddyfile"], tls, folder / "caddy.log", environment)


def nginx(folder, way, tls, plain, upstreams):
    text = configuration(
        "nginx.conf", way, (r"listen \[::\]:.*\n", ""), (r"listen 80;", f"listen 127.0.0.1:{plain};"), (r"listen 443 ssl http2;", f"listen 127.0.0.1:{tls} ssl http2;"),
        (r"companion\.example\.com", "localhost"), (r"/etc/nginx/companion\.pem", f"{folder}/certificate.pem"),
        (r"/var/log/nginx", str(folder)), (r"/etc/nginx/companion\.key", f"{folder}/certificate.key"),
        (r"(?m)^ *server 127\.0\.0\.1:8080 .*\n", each(upstreams, lambda line, _, port: line.replace("127.0.0.1:8080", f"127.0.0.1:{port}"))))
    paths = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    whole = f"daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx-error.log; events {{ worker_connections 4096; }} http {{ {paths}\n{text}}}"
    (folder / "nginx.conf").write_text(whole)
    return Program(["nginx", "-e", folder / "nginx-error.log", "-c", folder / "nginx.conf"], tls, folder / "nginx.log", keeps_log=True)


def haproxy(folder, way, tls, plain, upstreams):
    (folder / "both.pem").write_text((folder / "certificate.pem").read_text() + (folder / "certificate.key").read_text())
    text = configuration(
        "haproxy.cfg", way, (r"(?m)^ *(user|group|chroot) .*\n", ""), (r"(?m)^ *bind :::.*\n", ""), (r"bind :80", f"bind 127.0.0.1:{plain}"),
        (r"bind :443", f"bind 127.0.0.1:{tls}"), (r"/etc/haproxy/companion\.pem", f"{folder}/both.pem"), (r"log /dev/log", "log stdout format raw"),
        (r"(?m)^ *server companion 127\.0\.0\.1:8080.*\n", each(
            upstreams, lambda line, number, port: line.replace("companion 127.0.0.1:8080", f"companion{number} 127.0.0.1:{port}"))),
        (r"companion\.example\.com", "localhost"))
    (folder / "haproxy.cfg").write_text(text)
    return Program(["haproxy", "-db", "-f", folder / "haproxy.cfg"], tls, folder / "haproxy.log", keeps_log=True)


def certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / "certificate.key", "-out", folder / "certificate.pem"], check=True, capture_output=True)


FRONTS = {"Caddyfile": caddy, "nginx.conf": nginx, "haproxy.cfg": haproxy}

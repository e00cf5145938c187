"""Stands before a provider that is not ours: passes everything on unchanged, and remembers what was asked and answered."""

import http.client
import json
import ssl
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

# Header fields of one connection alone.
OWN = {"connection", "keep-alive", "transfer-encoding", "content-length"}


@dataclass
class Exchange:
    method: str
    path: str
    query: dict
    form: dict
    authorization: str
    status: int
    location: str
    answer: str

    def __str__(self):
        asked = " ".join(f"{name}={value[:80]}" for name, value in (self.query | self.form).items())
        answered = self.answer[:300] if self.answer.startswith("{") else f"{len(self.answer)} characters"
        return f"{self.method} {self.path} {asked} {self.authorization[:5]} -> {self.status} {self.location[:300]} {answered}"


class Front:
    """The provider listens on `inner`; all the world, the provider's own metadata too, knows `base`."""

    def __init__(self, inner, certificate=None):
        """certificate: for https, a file with it and its key."""
        self.inner = inner
        self.exchanges = []
        # Seconds that the next token answer gives the access token; None leaves the provider's own.
        self.shortened = None
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        if certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(certificate)
            # The handshake is the business of the connection's own thread.
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.base = f"{'https' if certificate else 'http'}://localhost:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(10)

    def tokens(self, grant=None):
        """The requests of tokens: those of forms with a `grant_type`."""
        return [each for each in self.exchanges if "grant_type" in each.form and grant in (None, each.form["grant_type"])]

    def asked(self, path):
        return [each for each in self.exchanges if each.path == path]

    def last(self, count=6):
        """The last requests and their answers, without those of style sheets and scripts."""
        return "\n".join(str(each) for each in [each for each in self.exchanges if "." not in each.path.rpartition("/")[2]][-count:])

    def shorten(self, text):
        """An access token of another lifetime than the provider's: it is the client alone that counts it."""
        answer = json.loads(text)
        answer["expires_in"], self.shortened = self.shortened, None
        return json.dumps(answer)

    def handler(self):
        front = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                inner = http.client.HTTPConnection("127.0.0.1", front.inner, timeout=60)
                try:
                    inner.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                    for name, value in self.headers.items():
                        if name.lower() not in OWN:
                            inner.putheader(name, value)
                    if body or self.command == "POST":
                        inner.putheader("Content-Length", str(len(body)))
                    inner.endheaders(body)
                    answer = inner.getresponse()
                    content = answer.read()
                except (OSError, http.client.HTTPException) as error:
                    self.send_error(502, str(error))
                    return
                finally:
                    inner.close()
                form = single(body.decode("utf-8", "replace")) if "urlencoded" in self.headers.get("Content-Type", "") else {}
                if front.shortened is not None and "grant_type" in form and answer.status == 200:
                    content = front.shorten(content).encode()
                address = urlsplit(self.path)
                front.exchanges.append(Exchange(
                    self.command, address.path, single(address.query), form, self.headers.get("Authorization", ""), answer.status,
                    answer.getheader("Location", ""), content.decode("utf-8", "replace")))
                self.send_response_only(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in OWN:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = do_OPTIONS = pass_on

        return Handler


def single(text):
    return {name: values[0] for name, values in parse_qs(text, keep_blank_values=True).items()}

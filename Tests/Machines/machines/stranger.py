"""A stranger who shares an address with others: silent connections, sign-ins that nobody wants, another site's images.

stranger.py PORT CERTIFICATE SILENT BEGINS IMAGES: until its input ends, on a port of this machine (with TLS, where CERTIFICATE
is a file and not "-"). Prints a line when all SILENT connections are open, and in the end how often each answer came, as JSON.
It is a process of its own, so that it is as quick as a stranger's.
"""
import collections
import http.client
import json
import selectors
import socket
import ssl
import sys
import threading
import time

# Of this machine, and no front.
ADDRESS = "127.0.0.2"
NAVIGATION = {"Accept": "text/html", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "none", "Sec-Fetch-Dest": "document"}
IMAGE = {"Accept": "image/*", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"}
BEGIN = "/auth/ios/sign-in"
THREADS = 6


class Silence:
    """Connections on which nothing is sent. What is closed is opened again at once."""

    def __init__(self, port, count):
        self.port, self.reopened = port, 0
        self.selector = selectors.DefaultSelector()
        for _ in range(count):
            self.open()

    def open(self):
        connection = socket.create_connection(("127.0.0.1", self.port), source_address=(ADDRESS, 0))
        self.selector.register(connection, selectors.EVENT_READ)

    def run(self, is_over):
        while not is_over.is_set():
            for key, _ in self.selector.select(0.1):
                self.selector.unregister(key.fileobj)
                key.fileobj.close()
                self.reopened += 1
                self.open()


class Requests:
    """Requests of one kind at a rate, on connections that are kept where the server keeps them."""

    def __init__(self, port, tls, name, rate, fields, paths):
        self.port, self.tls, self.name, self.rate, self.fields, self.paths = port, tls, name, rate, fields, paths
        self.answers, self.lock = collections.Counter(), threading.Lock()

    def connection(self):
        if self.tls:
            return http.client.HTTPSConnection("localhost", self.port, timeout=20, source_address=(ADDRESS, 0), context=self.tls)
        return http.client.HTTPConnection("localhost", self.port, timeout=20, source_address=(ADDRESS, 0))

    def run(self, index, is_over):
        connection, began, number = self.connection(), time.monotonic(), index
        while self.rate and not is_over.wait(max(0, began + number / self.rate - time.monotonic())):
            try:
                connection.request("GET", self.paths[number // THREADS % len(self.paths)], headers=self.fields)
                answer = connection.getresponse()
                answer.read()
                status = str(answer.status)
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                status = type(error).__name__
            with self.lock:
                self.answers[f"{self.name} {status}"] += 1
            number += THREADS


def main():
    port, certificate, *counts = sys.argv[1:]
    port, (silent, begins, images) = int(port), map(int, counts)
    tls = None if certificate == "-" else ssl.create_default_context(cafile=certificate)
    silence, is_over = Silence(port, silent), threading.Event()
    kinds = [Requests(port, tls, "begin", begins, NAVIGATION, [BEGIN]),
             Requests(port, tls, "image", images, IMAGE, ["/auth/callback?code=x&state=y", BEGIN])]
    threads = [threading.Thread(target=silence.run, args=(is_over,))]
    threads += [threading.Thread(target=kind.run, args=(index, is_over)) for kind in kinds for index in range(THREADS)]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    sys.stdin.read()
    is_over.set()
    for thread in threads:
        thread.join()
    print(json.dumps(sum((kind.answers for kind in kinds), collections.Counter(reopened=silence.reopened))), flush=True)


main()

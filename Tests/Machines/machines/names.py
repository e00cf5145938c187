"""A name server on loopback that knows one name, and can be silent."""
import contextlib
import os
import socket
import struct
import threading

# Nobody else's; a resolver asks at port 53 only.
ADDRESS = "127.0.0.53"


class NameServer:
    """Use it in `with`. What runs with `around` in front of its command asks it, and nobody else."""

    def __init__(self, folder, name, address):
        self.name, self.address = name.encode(), socket.inet_aton(address)
        self.is_silent, self.unanswered = False, 0
        resolver = folder / "resolv.conf"
        resolver.write_text(f"nameserver {ADDRESS}\noptions timeout:10 attempts:1\n")
        shell = f'mount --bind {resolver} /etc/resolv.conf && exec "$0" "$@"'
        own = [] if os.geteuid() == 0 else ["--map-root-user"]
        self.around = ["unshare", *own, "--mount", "sh", "-c", shell]

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((ADDRESS, 53))
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        # The thread that waits for a question would keep the port.
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def _serve(self):
        while True:
            try:
                query, sender = self.socket.recvfrom(512)
            except OSError:
                return
            if not query:
                return
            if self.is_silent:
                self.unanswered += 1
            else:
                self.socket.sendto(self._answer(query), sender)

    def _answer(self, query):
        """RFC 1035, section 4.1: the question again, and the address where it is asked for."""
        end = query.index(b"\0", 12) + 5
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]])
            at += 1 + query[at]
        kind = struct.unpack("!H", query[end - 4:end - 2])[0]
        is_known = b".".join(labels).lower() == self.name
        records = [struct.pack("!HHHIH", 0xC00C, 1, 1, 0, 4) + self.address] if is_known and kind == 1 else []
        flags = 0x8180 if is_known else 0x8183
        return query[:2] + struct.pack("!HHHHH", flags, 1, len(records), 0, 0) + query[12:end] + b"".join(records)

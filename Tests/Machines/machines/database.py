"""A PostgreSQL of our own on loopback, with a standby, and a way to it that can be slow or closed."""
import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import threading
import time

import patience
from groups import state
from patience import until

BINARIES = pathlib.Path("/usr/lib/postgresql/15/bin")
USER = "companion"
PASSWORD = "the-password-of-Tests-Machines"


def is_installed():
    return (BINARIES / "postgres").exists()


def _as_nobody(command):
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", *command]


class Database:
    """One server in a folder. `standby_of` makes it a streaming standby of another."""

    def __init__(self, folder, port, standby_of=None, shared_buffers="64MB"):
        self.folder, self.port, self.process = pathlib.Path(folder), port, None
        self.data = self.folder / "data"
        self.folder.mkdir()
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        if standby_of is None:
            secret = self.folder / "password"
            secret.write_text(PASSWORD + "\n")
            secret.chmod(0o644)
            self._run("initdb", "-D", self.data, "-U", USER, "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8",
                      "--locale", "C.UTF-8")
            self._append("pg_hba.conf", "host replication all 127.0.0.1/32 scram-sha-256\n")
        else:
            self._run("pg_basebackup", "-D", self.data, "-R", "-X", "stream", "-c", "fast", "-d",
                      f"host=127.0.0.1 port={standby_of.port} user={USER} password={PASSWORD} application_name=standby")
        self._append("postgresql.conf", f"""
            port = {port}
            listen_addresses = '127.0.0.1'
            unix_socket_directories = ''
            shared_buffers = {shared_buffers}
            max_connections = 100
            hot_standby = on
            wal_level = replica
            max_wal_senders = 4
        """)

    def _run(self, program, *arguments):
        done = subprocess.run(_as_nobody([str(BINARIES / program), *map(str, arguments)]), cwd="/", capture_output=True, text=True,
                              timeout=2 * patience.SECONDS)
        assert done.returncode == 0, f"{program}: {done.stderr[-600:]}"

    def _append(self, name, text):
        with open(self.data / name, "a") as file:
            file.write(text)

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(_as_nobody([str(BINARIES / "postgres"), "-D", str(self.data)]), cwd="/", stdout=log,
                                            stderr=log, start_new_session=True)

        def answers():
            assert self.process.poll() is None, f"PostgreSQL has ended: {(self.folder / 'log').read_text()[-800:]}"
            return self.answers()
        until(answers, "PostgreSQL answers")

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def answers(self):
        done = subprocess.run([BINARIES / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)], check=False)
        return done.returncode == 0

    def stop(self):
        """As a service manager does: connections are ended, everything is written."""
        if self.is_running():
            self.process.send_signal(signal.SIGINT)
            self.process.wait(patience.SECONDS)

    def _signal(self, number):
        """To the server and each of its processes, which lead groups of their own; returns their numbers."""
        # One that stands still begins no other.
        self.process.send_signal(signal.SIGSTOP)
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        processes = [self.process.pid, *map(int, children)]
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)
        return processes

    def fall_silent(self):
        """As a machine that hangs, or has lost its power: nothing is answered, and nothing refused."""
        self._signal(signal.SIGSTOP)

    def wake(self):
        """Goes on, if it stands still."""
        if self.is_running():
            self._signal(signal.SIGCONT)

    def kill(self):
        """As a crash of the server does: the kernel ends its connections."""
        if self.is_running():
            processes = self._signal(signal.SIGKILL)
            self.process.wait(patience.SECONDS)
            until(lambda: not any(map(state, processes)), f"all processes of PostgreSQL at {self.port} are gone")

    def ask(self, statement, database="postgres"):
        """The output of psql, without decoration."""
        done = subprocess.run(
            [BINARIES / "psql", "-AtX", "-v", "ON_ERROR_STOP=1", "-d",
             f"host=127.0.0.1 port={self.port} user={USER} dbname={database} connect_timeout={patience.SECONDS:.0f}", "-c", statement],
            capture_output=True, text=True, timeout=2 * patience.SECONDS, env=os.environ | {"PGPASSWORD": PASSWORD})
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def make(self, name):
        """An empty database, whoever has used one of this name."""
        self.ask(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        self.ask(f"CREATE DATABASE {name}")

    def change(self, setting):
        """A setting of the server, as `ALTER SYSTEM` has it."""
        self.ask(f"ALTER SYSTEM {setting}")
        self.ask("SELECT pg_reload_conf()")

    def restore(self):
        """Takes back each setting that was changed since its start, of the server and of its user."""
        self.change("RESET ALL")
        self.ask(f"ALTER ROLE {USER} RESET ALL")
        until(lambda: self.ask("SHOW default_transaction_read_only") == "off", "PostgreSQL takes writes")

    def is_primary(self):
        return self.ask("SELECT pg_is_in_recovery()") == "f"

    def require_standby(self):
        """From now on a commit is answered when the standby has it."""
        self.change("SET synchronous_standby_names = 'standby'")
        until(lambda: self.ask("SELECT sync_state FROM pg_stat_replication") == "sync", "the standby is synchronous")

    def promote(self):
        self.ask("SELECT pg_promote()")

    def remove(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Way:
    """A way to the database that passes everything on, late where it is told so, or nothing at all."""

    def __init__(self, port, target):
        self.port, self.target, self.delay, self.is_open = port, target, 0.0, True
        self.pairs, self.lock = set(), threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", port), backlog=256)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near):
        if not self.is_open:
            # As a machine that is gone: nobody answers, and nobody says no.
            with self.lock:
                self.pairs.add((near, near))
            return
        try:
            far = socket.create_connection(("127.0.0.1", self.target), timeout=5)
        except OSError:
            near.close()
            return
        far.settimeout(None)
        for one in (near, far):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.pairs.add((near, far))
        requests = threading.Thread(target=self._pass, args=(near, far, True), daemon=True)
        requests.start()
        self._pass(far, near, False)
        requests.join()
        with self.lock:
            self.pairs.discard((near, far))
        near.close()
        far.close()

    def _pass(self, source, sink, is_request):
        try:
            while data := source.recv(65536):
                if is_request and self.delay:
                    time.sleep(self.delay)
                while not self.is_open:
                    time.sleep(0.02)
                sink.sendall(data)
        except OSError:
            pass
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self):
        """Nothing passes, and nobody is told."""
        self.is_open = False

    def open(self):
        """Loses what was on its way."""
        with self.lock:
            pairs, self.pairs = self.pairs, set()
        for pair in pairs:
            for one in pair:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()
        self.is_open = True

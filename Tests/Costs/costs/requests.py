"""Instructions that a server takes for whole requests, counted by callgrind in its process: of all threads, without the kernel."""
import pathlib
import subprocess
import sys
import time

import patience

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "Tests" / "Faults"), str(ROOT / "Tests" / "Benchmarks")]
from benchmarks.profiling import SIGSUSPEND
from faults.processes import Companion, Provider, ports, until
from faults.visitor import Visitor

# The most that one request may take. Measured last, in a debug build: 989,000, 2,985,000 and 21,204,000. Each comes on a
# connection of its own and has a line in the log. A callback redeems its code, verifies the ID token and stores the account.
LIMITS = {"account": 1_040_000, "me": 3_200_000, "callback": 25_000_000}
TIMES = {"account": 20, "me": 20, "callback": 4}


class Counted(Companion):
    """A companion under callgrind, which counts when it is asked to."""

    def count(self, work):
        """The instructions during a piece of work."""
        self.control("--instr=on")
        work()
        self.control("--instr=off")
        self.control("--dump")
        newest = max(self.folder.glob("callgrind.*"), key=lambda path: int(path.suffix[1:]))
        return sum(int(line.split()[1]) for line in newest.read_text().splitlines() if line.startswith("totals:"))

    def control(self, order):
        subprocess.run(["callgrind_control", f"--vgdb-prefix={self.folder}/vgdb", order, str(self.process.pid)], check=True, capture_output=True, timeout=patience.SECONDS)

    def seconds(self):
        """The processor time so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def is_quiet(self):
        before = self.seconds()
        time.sleep(2)
        return self.seconds() - before < 0.1


def measure(binary, folder):
    """The instructions of one request, by its name."""
    stripped, shim = folder / "companion", folder / "sigsuspend.so"
    # Valgrind 3.19 cannot read the debugging information of this compiler.
    subprocess.run(["strip", "--strip-debug", "-o", stripped, binary], check=True)
    subprocess.run(["clang", "-shared", "-fPIC", "-x", "c", "-", "-o", shim], input=SIGSUSPEND, text=True, check=True)
    port, metrics_port, provider_port, _ = ports.take(4)
    provider = Provider(binary, folder, provider_port, f"http://localhost:{port}")
    companion = Counted(
        stripped, folder, provider, port, metrics_port, variables={"SWIFT_DETERMINISTIC_HASHING": "1"},
        around=["env", f"LD_PRELOAD={shim}", "valgrind", "-q", "--tool=callgrind", "--instr-atstart=no",
                f"--callgrind-out-file={folder}/callgrind", f"--vgdb-prefix={folder}/vgdb"])
    provider.start()
    try:
        companion.launch()
        until(companion.answers, "the companion answers", 300)
        until(companion.is_quiet, "all assets are compressed", 600)
        visitor = Visitor(companion).signed_in()
        others = [Visitor(companion) for _ in range(TIMES["callback"])]
        callbacks = [other.at_provider(other.begin().location) for other in others]

        def ask(path):
            answers = [visitor.get(path).status for _ in range(TIMES[path.rpartition("/")[2]])]
            assert set(answers) == {200}, answers

        def come_back():
            answers = [other.open(callback).location for other, callback in zip(others, callbacks)]
            assert set(answers) == {"/ios"}, answers

        works = {"account": lambda: ask("/api/ios/account"), "me": lambda: ask("/api/ios/me"), "callback": come_back}
        # Things that the first request of a kind makes are made before.
        ask("/api/ios/account"), ask("/api/ios/me")
        return {name: companion.count(work) // TIMES[name] for name, work in works.items()}
    finally:
        companion.kill()
        provider.stop()

"""Speaks for deploy/test: a line about the machine, and the last lines, which tell everything to somebody who sees only them."""

import contextlib
import os
import pathlib
import pwd
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from outcomes import tally
from plan import alone, relative

SHOWN = 8
LONGEST = 300
# More than so many chances at once are none.
UNSTEADY = 5
# Of the work of `seconds_of_work`, on the two cores of CONTRIBUTING.md's table when they have nothing else to do.
REFERENCE = 0.12
# The room for temporary files in memory, in GiB. What decides fills a small part of it.
IN_MEMORY = 4


def lines(run):
    """At most 45 lines, the last of which counts; `run` is a Run of steps.py that has ended."""
    failed, unsteady = run.failed, run.unsteady
    if failed:
        yield "== what failed"
        for failure in failed[:SHOWN]:
            yield cut(f"FAIL {failure.step}: {failure.name}" + (f" — {failure.where}" if failure.where else ""))
            yield cut("     " + "; ".join(part for part in (failure.again, failure.expected or "no reason was given") if part))
            yield f"     again: {again(run, failure)}"
        others = {}
        for failure in failed[SHOWN:]:
            others.setdefault(failure.step, []).append(failure.name)
        named = [f"and of {step}: {'; '.join(names)}" for step, names in others.items()]
        yield from (line[:4000] for line in [*named[:4], *(["; ".join(named[4:])] if named[4:] else [])])
    if left := [f"{each.step}: {cut(each.expected)}" for each in run.left if each not in failed]:
        yield f"== left behind beside what failed: {'; '.join(left)}"
    yield "== seconds: " + ", ".join(f"{seconds} {name}" for name, seconds in sorted(run.times.items(), key=lambda row: -row[1]))
    if left_out := {name: len(outcome.timed) for name, outcome in run.outcomes.items() if outcome.timed and f"{name}-time" not in run.outcomes}:
        yield f"== left out, because they need time: {', '.join(f'{number} of {name}' for name, number in left_out.items())}; deploy/test all has them"
    yield f"== {run.seconds} s in all, the logs are in {relative(str(run.logs))}"
    if failed or unsteady:
        yield run.place
        yield place(run.patience)
    if unsteady:
        yield f"== unsteady, they failed once and passed when they ran again by themselves: {'; '.join(f'{each.step}: {each.name} ({cut(each.expected, 120)})' for each in unsteady)}"
    yield tally(run.passed, len(failed), run.skipped)


def cut(text, longest=LONGEST):
    text = " ".join(text.split())
    return text if len(text) <= longest else text[:longest - 1] + "…"


def again(run, failure):
    """The command that runs it by itself."""
    step = run.named.get(failure.step)
    if step is None:
        return f"deploy/test {failure.step}"
    words = alone(step, [failure.key] if failure.key else [])
    if not failure.key and step.kind == "swift":
        words = step.command
    return " ".join(shlex.quote(relative(word)) for word in words)


# MARK: The machine


def patience(measure):
    """By how much this machine is slower than ours, for the tests' upper limits (Tests/patience.py); None where somebody has said it."""
    return None if "TEST_PATIENCE_FACTOR" in os.environ else round(min(10, max(1, measure() / REFERENCE)), 1)


def seconds_of_work():
    """The seconds that a fixed piece of work takes in two processes at once; the fewest of three, because a moment is not the machine."""
    def once():
        began = time.monotonic()
        for process in [subprocess.Popen([sys.executable, "-ISc", "sum(n * n for n in range(1_500_000))"]) for _ in range(2)]:
            process.wait()
        return time.monotonic() - began
    return min(once() for _ in range(3))


def place(factor=None):
    """One line about where this runs. Two of them, of a run that passed and of one that did not, are what one compares."""
    import platform
    files, processes = (resource.getrlimit(each) for each in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC))
    folder = tempfile.gettempdir()
    said = {
        "cores": os.cpu_count(), "of them ours": len(os.sched_getaffinity(0)), "quota": first("/sys/fs/cgroup/cpu.max"),
        "patience": f"{factor:g}" if factor else os.environ.get("TEST_PATIENCE_FACTOR", "1"), "memory": memory(), "load": " ".join(f"{value:.1f}" for value in os.getloadavg()),
        "files": f"{limit(files[0])}/{limit(files[1])}", "processes": f"{limit(processes[0])}/{limit(processes[1])}",
        folder: f"{shutil.disk_usage(folder).free >> 30} GiB free on {filesystem(folder)}", "files of unit and browser in": temporary(True),
        "client ports": first("/proc/sys/net/ipv4/ip_local_port_range"), "somaxconn": first("/proc/sys/net/core/somaxconn"),
        "user": pwd.getpwuid(os.getuid()).pw_name, "kernel": platform.release(), "stdin": standard_input(),
        "PostgreSQL": ", ".join(sorted(path.name for path in pathlib.Path("/usr/lib/postgresql").glob("*"))) or "none",
        "nginx": version("nginx", "-v"), "HAProxy": version("haproxy", "-v"), "Chromium": version("chromium", "--version"),
        "listening": ", ".join(map(str, listening())) or "nobody",
    }
    return "== place: " + ", ".join(f"{name} {value}" for name, value in said.items())


def limit(value):
    return "none" if value == resource.RLIM_INFINITY else value


def first(path):
    try:
        return " ".join(pathlib.Path(path).read_text().split())
    except OSError:
        return "none"


def memory():
    kibibytes = meminfo()
    return f"{kibibytes['MemAvailable'] >> 20} of {kibibytes['MemTotal'] >> 20} GiB"


def meminfo():
    with open("/proc/meminfo") as file:
        return {line.split(":")[0]: int(line.split()[1]) for line in file}


def temporary(is_in_memory):
    """The folder for temporary files of a step: in memory, if that is wanted and has room, and programs may run there. Containers often have
    64 MB."""
    folder = "/dev/shm"
    if is_in_memory and os.access(folder, os.W_OK | os.X_OK) and filesystem(folder) == "tmpfs":
        found = os.statvfs(folder)
        if min(found.f_bavail * found.f_frsize >> 30, meminfo()["MemAvailable"] >> 20) >= IN_MEMORY and not found.f_flag & os.ST_NOEXEC:
            return folder
    return "/tmp"


def filesystem(folder):
    with open("/proc/self/mounts") as file:
        mounts = [line.split()[1:3] for line in file]
    return max((mount for mount in mounts if os.path.commonpath([mount[0], folder]) == mount[0]), key=lambda mount: len(mount[0]))[1]


def standard_input():
    try:
        return os.readlink("/proc/self/fd/0")
    except OSError:
        return "closed"


def version(*command):
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL, timeout=20,
                             env=os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin"})
        found = re.search(r"\d+(\.\d+)+", ran.stdout)
        return found[0] if found else "unknown"
    return "none"


def listening():
    """The TCP ports on which somebody listens."""
    ports = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError), open(table) as file:
            ports |= {int(row.split()[1].rsplit(":", 1)[1], 16) for row in list(file)[1:] if row.split()[3] == "0A"}
    return sorted(ports)[:20]

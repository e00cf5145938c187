"""Processes that the suites end as a group, and wait for."""
import contextlib
import os
import pathlib
import signal

from patience import SECONDS, until


def state(process):
    """State and group of a process by its number; None when it is gone. One that has ended, and only waits for its parent, is gone."""
    with contextlib.suppress(OSError):
        # The name stands in parentheses, and may contain some.
        words = pathlib.Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(") ")[2].split()
        return None if words[0] in "ZX" else (words[0], int(words[2]))


def end_group(process):
    """Kills a process that leads a group, and all of the group; nothing of it is left afterwards."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(SECONDS)

    def left():
        found = {number: state(number) for number in map(int, filter(str.isdigit, os.listdir("/proc")))}
        return [number for number, known in found.items() if known and known[1] == process.pid]
    until(lambda: not left(), f"all of {process.args[0]} is gone", seen=left)

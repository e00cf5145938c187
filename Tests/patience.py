"""The patience of the suites with what a machine has to do. It costs time only where a test fails."""
import os
import threading
import time

# The harness of deploy/test says by how much the machine is slow.
SECONDS = 60 * float(os.environ.get("TEST_PATIENCE_FACTOR", "1"))


def until(condition, what, seconds=SECONDS, seen=None):
    """Asks again and again; the condition's first true value. On expiry it says what it waited for, and `seen()` or the last value."""
    end = time.monotonic() + seconds
    while True:
        is_last = time.monotonic() > end
        value = condition()
        if value:
            return value
        if is_last:
            raise AssertionError(f"not within {seconds:g} s: {what}; the last was {seen() if seen else value!r}")
        time.sleep(0.02)


def answered(process, ask, what, said=str):
    """Asks a server that has been started until it answers, which is when `ask` raises no OSError. A process that has ended is not
    waited for. `said()` is its output, for those who read why."""
    last = None

    def answer():
        nonlocal last
        assert process.poll() is None, f"{what}: it ended with status {process.returncode}\n{said()}"
        try:
            return ask() or True
        except OSError as error:
            last = error
    return until(answer, what, seen=lambda: f"{last!r}\n{said()}")


def next_line(process, what):
    """The next line that a program prints, or nothing at its end."""
    read = []
    reader = threading.Thread(target=lambda: read.append(process.stdout.readline()), daemon=True)
    reader.start()
    reader.join(SECONDS)
    assert read, f"not within {SECONDS:g} s: {what}; nothing was printed, and its status is {process.poll()}"
    return read[0]


def true_after(seconds, condition, what, seen=None):
    """Asks again and again; the condition's first true value. It must be true of a question that begins so many seconds from now,
    however long the machine takes to answer."""
    began = time.monotonic()
    while True:
        asked = time.monotonic()
        value = condition()
        if value:
            return value
        assert asked - began < seconds, f"not true {asked - began:.1f} s later: {what}; the last was {seen() if seen else value!r}"
        time.sleep(0.02)

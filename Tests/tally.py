"""The suites in Python count their tests and end with this."""

import sys


class Skipped(Exception):
    """Raised by a test that cannot run here; says why. It is counted as skipped, never as passed."""


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    @property
    def line(self):
        """`N passed, M failed`, with `, K skipped` behind it where some were."""
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")

    def end(self):
        """The suite's last line and its status: a suite without tests has failed."""
        print(self.line, flush=True)
        sys.exit(0 if not self.failed and self.passed + self.skipped else 1)

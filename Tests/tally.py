"""The suites in Python choose, run, time and count their checks with this."""

import argparse
import contextlib
import faulthandler
import os
import pathlib
import shlex
import signal
import sys
import tempfile
import textwrap
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[1]

# With TEST_WITHOUT=time, checks that need time are left out, and named: Tests/Counting/steps.py runs them afterwards, alone.
TIME = "time"


class Skipped(Exception):
    """Raised by a test that cannot run here; says why. It is counted as skipped, never as passed."""


class Suite:
    """A suite of checks: functions that have a `sentence`, and the earlier ones that they need in `needs`, if any. A check that runs only
    because another one needs it says `need` where it does not fail, and is in no count then."""

    def __init__(self, program, more=()):
        """program: as one calls it in the project's folder; more: the suite's own options, as argparse takes them."""
        self.passed = self.failed = self.skipped = 0
        # The folder of the checks that ran last. It goes before the next one is made, or when the count is printed.
        self.folder = contextlib.ExitStack()
        # The harness asks a suite that stands still for its stacks.
        faulthandler.register(signal.SIGQUIT, all_threads=True)
        self.program = ROOT / program
        ours = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        ours.add_argument("--only", action="append", metavar="TEXT",
                          help="run only checks with this, or one of several, in their sentence or their function's name, and what they need")
        ours.add_argument("--list", action="store_true", help="name the checks instead, and run none")
        ours.add_argument("--repeat", type=int, default=1, metavar="N", help="run them N times, each time from the start")
        parser = argparse.ArgumentParser(prog=program, parents=[ours], allow_abbrev=False)
        parser.add_argument("companion", nargs="?", type=pathlib.Path,
                            help="the companion binary; by default the newest of .build/release and .build/debug")
        for name, described in dict(more).items():
            parser.add_argument(name, **described)
        self.options = parser.parse_args()
        self.command = [os.path.relpath(self.program), *ours.parse_known_args()[1]]

    @property
    def binary(self):
        if self.options.companion and not self.options.companion.exists():
            sys.exit(f"{self.options.companion} does not exist")
        return self.options.companion.resolve() if self.options.companion else newest_binary()

    def run(self, checks, environment, each=lambda check, context: check(context)):
        """Calls each check that was asked for with what `environment(folder)` is for them; every repetition has a new one."""
        chosen, needed, left_out = self.chosen(checks)
        print(*(f"{TIME}  {check.sentence}\n" for check in left_out), sep="", end="")
        if self.options.list:
            asked = [check for check in chosen if check not in needed]
            print(*(check.sentence for check in asked), sep="\n", end="\n" if asked else "")
            self.skipped += len(asked)
            return
        for _ in range(self.options.repeat if chosen else 0):
            left, is_good = list(chosen), False
            try:
                self.folder.close()
                made = tempfile.TemporaryDirectory(prefix=f"companion-{self.program.parent.name.lower()}-", ignore_cleanup_errors=True)
                with environment(pathlib.Path(self.folder.enter_context(made))) as context:
                    while left:
                        check = left.pop(0)
                        is_good = self.check(check, context, each, check in needed)
            except Skipped as why:
                for check in left:
                    self.skip(check, why, check in needed)
            except Exception as error:
                if not left and is_good:
                    # It is the end that fails: the last one has failed, and not passed.
                    self.passed -= 1
                    left = chosen[-1:]
                for check in left:
                    self.fail(check, "", error)

    def chosen(self, checks):
        """The checks that were asked for, with what they need; of these, those that were not asked for; and those left out. A text that is
        a sentence means this check alone, though it may be a part of others."""
        sentences = {check.sentence for check in checks}
        meant = [check for check in checks if not self.options.only or any(
            text == check.sentence if text in sentences else text in f"{function(check).__name__} {check.sentence}" for text in self.options.only)]
        left_out = [check for check in meant if needs_time(check)] if os.environ.get("TEST_WITHOUT") == TIME else []
        needed = {need for check in meant if check not in left_out for need in getattr(function(check), "needs", ())}
        chosen = [check for check in checks if check in meant and check not in left_out or function(check) in needed]
        return chosen, [check for check in chosen if check not in meant], [check for check in left_out if check not in chosen]

    def check(self, check, context, each, is_needed):
        began = time.monotonic()
        try:
            each(check, context)
            print(f"{'need ' if is_needed else 'ok   '} {check.sentence}{took(check, began)}", flush=True)
            self.passed += not is_needed
            return True
        except Skipped as why:
            self.skip(check, why, is_needed)
        except Exception as error:
            self.fail(check, took(check, began), error, getattr(context, "situation", str)())

    def skip(self, check, why, is_needed):
        self.skipped += not is_needed
        print(f"{'need ' if is_needed else 'skip '} {check.sentence}: {why}", flush=True)

    def fail(self, check, more, error, situation=""):
        self.failed += 1
        # Of the way to the error, what is in the project's own files.
        way = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.line}\n" for frame in traceback.extract_tb(error.__traceback__)
               if frame.filename.startswith(f"{ROOT}/") and f"{ROOT}/.build" not in frame.filename and frame.filename != __file__]
        reasons = textwrap.indent(f"{''.join(way)}{type(error).__name__}: {str(error).strip()}\n{textwrap.dedent(situation)}".rstrip(), " " * 8)
        print(f"FAIL  {check.sentence}{more}\n{reasons}\nagain: {shlex.join([*self.command, '--only', check.sentence])}", flush=True)

    def end(self):
        """The suite's last line and its status: a suite without tests has failed."""
        print(f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else ""), flush=True)
        self.folder.close()
        sys.exit(0 if not self.failed and self.passed + self.skipped else 1)


def function(check):
    """Of a check with arguments, the function: it has the name."""
    return function(check.func) if hasattr(check, "func") else check


def needs_time(check):
    return getattr(function(check), "needs_time", False) or getattr(check, "needs_time", False)


def took(check, began):
    """The seconds of a check, which the harness wants in a file too."""
    seconds = time.monotonic() - began
    if file := os.environ.get("TEST_SECONDS"):
        with open(file, "a") as kept:
            print(f"{seconds:.3f} {check.sentence}", file=kept)
    return f" ({seconds:.1f} s)"


def newest_binary():
    """The binary that was built last."""
    built = [path for mode in ("release", "debug") if (path := ROOT / ".build" / mode / "companion").exists()]
    if not built:
        sys.exit("There is no companion binary; build it with: swift build")
    return max(built, key=lambda path: path.stat().st_mtime)

"""Builds, runs and counts the steps of deploy/test; see there. Tests/Counting/harness is the test of this.

What was skipped is never counted as passed. A step fails that has no tests, that ends with another status than 0 (whatever its own line
says), that takes longer than its limit, or that leaves a process or a temporary file behind (Tests/Counting/contain). One that stands still for
fifteen minutes says where its threads are; what was under way has failed, and what had not begun runs then, once.

What failed is run again when all steps have ended, with nobody beside it. Failed again, it has failed; passed, it is unsteady, which is
said and in no count. What says that a token, a secret, an answer or an acknowledged write was lost, and what a signal ended, has failed
at the first time.
"""

import concurrent.futures
import contextlib
import dataclasses
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

import closing
import outcomes
import plan

HERE = pathlib.Path(__file__).resolve().parent
CONTAIN = str(HERE / "contain")
# A step of these keeps seven tenths of a core busy: three at a time took more than twice as long each as one alone. What mostly waits takes no lane.
LANES = 2
# Continuous integration ends everything after ninety minutes, and shows only what was printed before.
MINUTES = 85
# More than so many are no chance, and would take long.
REPEATED = 20
# Under a sanitizer all takes about so many times as long.
SANITIZED = 3
MOST_FILES = 65_536
# Of Swift Testing's output, what passes and begins is not shown.
HIDDEN = re.compile(r"^(◇|↳|✔ (Test|Suite)|\[[0-9]+/[0-9]+\])")


class Run:
    def __init__(self, logs, lanes=LANES, began=None, root=plan.ROOT, patience=None):
        self.logs, self.lanes, self.root = logs, lanes, root
        self.began = began or time.time()
        # The factor for the tests' upper limits, unless the environment has it.
        self.patience = patience
        self.place = closing.place(patience)
        # By name: the steps, their outcomes, and the seconds of everything.
        self.named, self.outcomes, self.times = {}, {}, {}
        self.running, self.lock = set(), threading.Lock()
        # The reason for an end before the time.
        self.ending = None

    # MARK: The result

    @property
    def seconds(self):
        return int(time.time() - self.began)

    @property
    def passed(self):
        return sum(outcome.passed for outcome in self.outcomes.values())

    @property
    def skipped(self):
        return sum(outcome.skipped for outcome in self.outcomes.values())

    @property
    def unsteady(self):
        found = self.all_unsteady
        return found if len(found) <= closing.UNSTEADY else []

    @property
    def failed(self):
        failures = [each for outcome in self.outcomes.values() for each in outcome.failures if each not in self.unsteady]
        return failures + [left for left in self.left if left.step not in {each.step for each in failures}]

    @property
    def left(self):
        return [outcome.left for outcome in self.outcomes.values() if outcome.left]

    @property
    def all_unsteady(self):
        return [each for outcome in self.outcomes.values() for each in outcome.failures if each.again == PASSED and not each.is_law]

    # MARK: Running

    def build(self, build):
        """Whether it builds; if not, that is a failure of its own."""
        log = self.logs / f"build-{build.name}"
        began = time.time()
        # SwiftPM leaves its locks in the folder for temporary files, so that this is not contained.
        status = self.follow(["timeout", "--kill-after=30", "3600", *build.command], log, f"build {build.name}", build.environment)
        self.times[f"build {build.name}"] = int(time.time() - began)
        self.say(f"== build {build.name}: {self.times[f'build {build.name}']} s")
        if status:
            errors = [line for line in log.read_text(errors="replace").splitlines() if "error:" in line]
            self.outcomes[f"build {build.name}"] = outcomes.Outcome(failures=[outcomes.Failure(
                f"build {build.name}", self.ending or f"it does not build (status {status})", expected=" — ".join(errors[:3]))])
        return status == 0

    def all(self, steps, builds=(), is_with_time=False):
        """Builds, and runs in lanes the steps whose build there is, beside both those that take no lane; after them those that need the machine,
        then what needs time, if that is wanted, and at last what failed."""
        self.named = {step.name: step for step in steps}
        # In their order, whichever ends first.
        self.outcomes |= {step.name: outcomes.Outcome() for step in steps}
        with concurrent.futures.ThreadPoolExecutor(self.lanes) as lanes, concurrent.futures.ThreadPoolExecutor(1) as beside:
            ended = [beside.submit(self.step, step) for step in steps if step.beside == "builds"]
            built = {None} | {build.name for build in builds if self.build(build)}
            steps = [step for step in steps if step.build in built]
            ended += [(beside if step.beside else lanes).submit(self.step, step) for step in steps if step.beside != "builds" and not step.is_alone]
            for each in ended:
                each.result()
        for step in steps:
            if step.is_alone:
                self.step(step)
        if is_with_time:
            timed = {step.name: plan.timed(step, keys) for step in steps if (keys := self.outcomes[step.name].timed)}
            self.named |= {step.name: step for step in timed.values()}
            for name, step in timed.items():
                self.step(step)
                self.take_back(name, step)
            steps = [*steps, *timed.values()]
        for step in steps:
            self.repeat(step)
        self.list_slowest()

    def take_back(self, name, timed):
        """A failure of a check that needs no time is its own step's: here it has run only because others need it."""
        first, second = self.outcomes[name], self.outcomes[timed.name]
        known = {failure.key for failure in first.failures}
        others = [failure for failure in second.failures if failure.key and failure.key not in [timed.name, *first.timed]]
        second.failures = [failure for failure in second.failures if failure not in others]
        new = [dataclasses.replace(failure, step=name) for failure in others if failure.key not in known]
        first.failures += new
        # They had passed.
        first.passed -= len(new)

    def list_slowest(self):
        file = self.logs / "slowest"
        file.write_text("".join(f"== {name}\n" + "".join(f"{seconds:8.1f} s  {test}\n" for seconds, test in outcome.slowest)
                                for name, outcome in self.outcomes.items() if outcome.slowest))
        self.say(f"== the slowest tests of each step are listed in {plan.relative(str(file))}")

    def step(self, step):
        if self.ending:
            self.outcomes[step.name] = outcomes.Outcome(failures=[outcomes.Failure(step.name, f"{step.name} did not run: {self.ending}")])
            return
        began = time.time()
        outcome = self.attempt(step, step.command, step.name)
        self.times[step.name] = int(time.time() - began)
        self.outcomes[step.name] = outcome
        for failure in outcome.failures:
            self.say(f"== {step.name} failed: {failure.name}: {failure.expected[:1000]}")
        if outcome.left:
            self.say(f"== {outcome.left.name}: {outcome.left.expected[:1000]}")
        self.say(f"== {step.name}: {outcome.line} ({self.times[step.name]} s, limit {step.seconds} s)")

    def attempt(self, step, command, name):
        """Runs a command of a step, and if it stands still its rest, and reads what came of it."""
        first = self.once(step, command, name)
        if not first.rest or self.ending:
            return first
        self.say(f"== {step.name} {outcomes.standstill()}; {len(first.rest)} of its tests had not begun, and run now")
        second = self.once(step, plan.rest(step, first.rest, first.begun), f"{name}-rest")
        # An earlier check that the rest needs has run again, and counts as it did.
        known = {*first.begun, *(failure.key for failure in first.failures)} - {None}
        second.failures = [failure for failure in second.failures if failure.key not in known]
        missing = len(first.rest) - second.passed - second.skipped - len(second.timed) - sum(bool(failure.key) for failure in second.failures)
        if missing > 0:
            second.failures.append(outcomes.Failure(step.name, f"{missing} tests of {step.name} did not run, because it {outcomes.standstill()}"))
        return outcomes.added(first, second)

    def once(self, step, command, name):
        log, events, word = self.logs / name, self.logs / f"{name}.events", self.logs / f"{name}.ending"
        events.unlink(missing_ok=True)
        word.unlink(missing_ok=True)
        if step.kind == "swift":
            command = [*command, "--event-stream-output-path", str(events), "--event-stream-version", "0"]
        # Tests/tally.py writes the seconds of its checks there.
        environment = {"TEST_SECONDS": str(events), "STEP_PLACE": closing.temporary(step.is_in_memory)} | step.environment
        factor = (self.patience or 1) * (SANITIZED if step.build in plan.SANITIZERS else 1)
        if self.patience:
            environment["TEST_PATIENCE_FACTOR"] = f"{factor:g}"
        # A server that a test has started may go on to write into its log.
        watched = [] if step.is_silent else [events] if step.kind == "swift" else [events, log]
        status = self.follow([CONTAIN, str(step.seconds), str(word), *command], log, name, environment, watched, factor)
        try:
            ending = word.read_text() if word.exists() else ""
            listed = self.listed(step, command) if ending == outcomes.STOOD_STILL and step.is_listed else []
            outcome = outcomes.read(step, log, events, status, ending, listed)
        except Exception as error:
            # The others are still told.
            outcome = outcomes.Outcome(failures=[outcomes.Failure(step.name, f"the output of {step.name} cannot be read: {error!r}")])
        if self.ending:
            outcome.failures = [failure for failure in outcome.failures if failure.key]
            outcome.failures.append(outcomes.Failure(step.name, f"{step.name} was ended: {self.ending}"))
        return outcome

    def listed(self, step, command):
        """The sentences of a suite, in their order, without those that it leaves out."""
        try:
            said = subprocess.run([*command, "--list"], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=self.root, timeout=300,
                                  env=os.environ | step.environment, check=True).stdout
        except subprocess.SubprocessError as error:
            # Its output says what ran before.
            self.say(f"== {step.name} does not list its tests: {error}")
            return []
        return [line for line in said.splitlines()[:-1] if not outcomes.LEFT_OUT.match(line)]

    def repeat(self, step):
        """Runs what failed once more, now that nobody is beside it."""
        failures = self.outcomes[step.name].failures
        wanted = [failure for failure in failures if failure.key]
        if not wanted or step.again == "never" or len(failures) > REPEATED or self.ending:
            return
        self.say(f"== {step.name}: once more, {len(wanted)} that failed")
        began = time.time()
        outcome = self.attempt(step, plan.alone(step, [failure.key for failure in wanted]), f"{step.name}-again")
        self.times[f"{step.name} again"] = int(time.time() - began)
        self.say(f"== {step.name}: {outcome.line} of those that failed ({self.times[f'{step.name} again']} s)")
        again = {failure.key: failure for failure in outcome.failures}
        known = {failure.key for failure in failures}
        # A check that these need, and that has failed now, is none of them.
        ran = outcome.passed + len(known & set(again)) + outcome.skipped
        for failure in wanted:
            if whole := again.get(None) or again.get(step.name) or outcome.left:
                # A limit, a signal, something left behind, an end without a count.
                failure.again = f"failed again: {whole.name}"
            elif ran < len(wanted):
                failure.again = f"failed again, because only {ran} of {len(wanted)} ran"
            elif failure.key in again:
                failure.again = "failed again"
            else:
                failure.again = PASSED
        # One that had passed at first is unsteady as well, and in no count.
        more = [dataclasses.replace(failure, again=PASSED) for key, failure in again.items() if key not in known | {None, step.name}]
        if step.name in known:
            # Nothing had been counted.
            more = [dataclasses.replace(failure, again="") for failure in more]
        else:
            self.outcomes[step.name].passed -= len(more)
        failures += more

    def follow(self, command, log, name, environment, watched=(), factor=1):
        """Runs a command and shows its output, with the name before each line. Returns its status, as a shell has it. It is told that it stands
        still when none of the watched files has grown for long."""
        shown = threading.Thread(target=self.show, args=(log, name, over := threading.Event()))
        with log.open("wb") as output:
            # Not through a pipe: what the command leaves running would keep that open.
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=self.root,
                                       env=os.environ | {"NO_COLOR": "1"} | environment)
        with self.lock:
            self.running.add(process)
            if self.ending:
                process.terminate()
        shown.start()
        try:
            status = wait(process, watched, factor)
        finally:
            over.set()
            shown.join()
        with self.lock:
            self.running.discard(process)
        return status if status >= 0 else 128 - status

    def show(self, log, name, over):
        with log.open(errors="replace") as file:
            rest = ""
            while True:
                is_over = over.wait(0.2)
                *lines, rest = (rest + file.read()).split("\n")
                if is_over and rest:
                    lines.append(rest)
                self.say(*(f"{name}: {line}" for line in lines if not HIDDEN.match(line)))
                if is_over:
                    return

    def say(self, *lines):
        if lines:
            with self.lock:
                print(*lines, sep="\n", flush=True)

    def end(self, why):
        """Ends what runs; what has ended is still counted, and what has not is a failure."""
        self.ending = self.ending or why
        for process in list(self.running):
            process.terminate()

    def close(self):
        """Prints the last lines. The status is 0 exactly when something passed and nothing failed."""
        print(*closing.lines(self), sep="\n", flush=True)
        return 0 if self.passed and not self.failed else 1


PASSED = "passed when it ran again"


def wait(process, watched, factor):
    # Twice as long as a test waits, at least: who waits in vain still says for what.
    most = outcomes.STANDSTILL * max(1, factor / 7.5)
    size, since = None, time.monotonic()
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(min(5, outcomes.STANDSTILL / 5) if watched else None)
        now = sum(file.stat().st_size for file in watched if file.exists())
        if now != size:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > most:
            # Once: it is ending.
            process.send_signal(signal.SIGQUIT)
            watched = ()


def heed(run):
    """A stop, and the last minute, end the steps and leave time for the last lines."""
    signal.signal(signal.SIGTERM, lambda *_: run.end("it was stopped"))
    signal.signal(signal.SIGINT, lambda *_: run.end("it was stopped"))
    signal.signal(signal.SIGALRM, lambda *_: run.end(f"minute {MINUTES}"))
    signal.setitimer(signal.ITIMER_REAL, max(0.1, MINUTES * 60 - run.seconds))


def wanted(words):
    """The steps that were named, and the arguments for one of them."""
    end = words.index("--") if "--" in words else len(words)
    named, arguments = words[:end], words[end + 1:]
    if end < len(words) and (len(named) != 1 or named == ["all"] or not arguments):
        sys.exit("what stands behind -- is for the program of one step: deploy/test STEP -- ARGUMENTS")
    return named, arguments


def main():
    named, arguments = wanted(sys.argv[1:])
    asked, is_deciding = named or plan.DECIDING, not named
    if asked == ["all"]:
        asked = plan.ALL
    unknown = [name for name in asked if name not in plan.KNOWN]
    if unknown:
        sys.exit(f"unknown step {unknown[0]}; there are: {' '.join(plan.KNOWN)}")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    # Fronts have room for as many connections as they may open files: half of 1,024 is less than one stranger takes.
    resource.setrlimit(resource.RLIMIT_NOFILE, (MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES), hard))
    # Steps say for themselves what they leave out.
    os.environ.pop("TEST_WITHOUT", None)
    logs = plan.ROOT / ".build-logs"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir()
    run = Run(logs, began=float(os.environ.pop("TEST_BEGAN", time.time())), patience=closing.patience(closing.seconds_of_work))
    print(run.place, flush=True)
    if is_deciding:
        heed(run)
    else:
        signal.signal(signal.SIGTERM, lambda *_: run.end("it was stopped"))
        signal.signal(signal.SIGINT, lambda *_: run.end("it was stopped"))
    run.all(plan.steps(asked, is_deciding, arguments), plan.builds(asked), not is_deciding)
    sys.exit(run.close())


if __name__ == "__main__":
    main()

"""Reads what a step has left: how many of its tests passed, which failed and why, how many were skipped."""

import collections
import dataclasses
import json
import re
import signal

# These say that a token, a secret, an answer or an acknowledged write was lost or went astray: a second run takes nothing back.
LAWS = re.compile(r"(CompanionTests\.(Lifecycle|Crash|Secrets)Tests|SQLiteStoreTests\.CrashTests|StoreConformance\.|FuzzTests\.)")
LAWS_OF_PAGES = re.compile(r"holds what looks like a secret|scripts can read a cookie")
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
FAILS = re.compile(r"^(?:FAIL|FAILED) +(.*?)(?: \([\d.]+ s\))?$")
DENO_FAILS = re.compile(r"^(.+?) \.\.\. FAILED \(")
LEFT_OUT = re.compile(r"^time  (.*)$", re.MULTILINE)
OTHERS = re.compile(r"^(ok|skip|need|time|warn|again: |The end of|\d+ passed, )")
SLOWEST = 30
# In seconds, without an event.
STANDSTILL = 15 * 60
# The words by which Tests/Counting/contain says why it has ended a step.
LIMIT, LEFT, STOOD_STILL = "limit", "left", "standstill"
STATE = re.compile(r"^(ok|FAIL|skip) +(.*?)(?: \([\d.]+ s\))?$")
PLACE = re.compile(r"([\w./-]+\.(?:py|js|swift|sh))(?:\", line |:)(\d+)")


@dataclasses.dataclass
class Failure:
    step: str
    name: str
    where: str = ""
    expected: str = ""
    # By this it is run again and recognized; None for what is none of a test's, such as a limit.
    key: str = None
    is_law: bool = False
    # The result of running it again.
    again: str = ""


@dataclasses.dataclass
class Outcome:
    passed: int = 0
    skipped: int = 0
    failures: list = dataclasses.field(default_factory=list)
    # Seconds and name of those that took longest.
    slowest: list = dataclasses.field(default_factory=list)
    # The keys of those left out because they need time.
    timed: list = dataclasses.field(default_factory=list)
    # Of a step that stood still, the keys of what had begun and of what had not.
    begun: list = dataclasses.field(default_factory=list)
    rest: list = dataclasses.field(default_factory=list)
    # Something left behind: a failure of its own only if nothing else of its step has failed.
    left: Failure = None

    @property
    def line(self):
        return tally(self.passed, len(self.failures) or int(bool(self.left)), self.skipped)


def tally(passed, failed, skipped):
    """The line with which a suite ends."""
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def standstill():
    return f"stood still for {STANDSTILL / 60:g} minutes"


def added(first, second):
    """The outcome of a step that stood still, and then ran its rest."""
    return Outcome(first.passed + second.passed, first.skipped + second.skipped, first.failures + second.failures,
                   sorted(first.slowest + second.slowest, reverse=True)[:SLOWEST], first.timed + second.timed, left=second.left)


def read(step, log, events, status, ending="", listed=()):
    """The outcome of a step from its output, its events (Swift Testing) or seconds (Tests/tally.py), and the status and the word of
    Tests/Counting/contain."""
    text = log.read_text(errors="replace")
    if step.kind == "swift":
        outcome = swift_outcome(step, events, status, ending)
    else:
        outcome = still_outcome(step, text, listed) if listed else suite_outcome(step, text, status)
    outcome.slowest = sorted(swift_seconds(events) if step.kind == "swift" else suite_seconds(events), reverse=True)[:SLOWEST]
    why = None
    if ending == LIMIT:
        why = f"took longer than its limit of {step.seconds} seconds"
    elif ending == LEFT:
        why = "left something behind"
    elif ending == STOOD_STILL:
        why = None if any(failure.expected == standstill() for failure in outcome.failures) else standstill()
    elif status != 0 and not outcome.failures:
        why = f"ended with status {status}" + (f" ({name_of(status)})" if status > 128 else "")
    elif outcome.passed + outcome.skipped + len(outcome.timed) == 0 and not outcome.failures:
        why = "has no tests"
    if why:
        left = [line.removeprefix("It left behind: ") for line in text.splitlines() if line.startswith("It left behind: ")]
        made = tests_at(events, left) if step.kind == "swift" else left
        last = "; ".join(text.strip().splitlines()[-3:])
        # A suite that ended by itself without a count may do better the next time: a registry that did not answer, for one.
        is_repeated = step.kind == "suite" and (why.startswith("ended with status") and status < 128 or ending == STOOD_STILL)
        failure = Failure(step.name, f"{step.name} {why}", expected="; ".join(made) or last, key=step.name if is_repeated else None, is_law=status > 128)
        if ending == LEFT:
            outcome.left = failure
        else:
            outcome.failures.append(failure)
    return outcome


def name_of(status):
    try:
        return signal.Signals(status - 128).name
    except ValueError:
        return "a signal"


# MARK: Swift Testing's events (ABI version 0)


def records(events):
    if not events.exists():
        return
    with events.open(errors="replace") as file:
        for line in file:
            # The last line of a process that a signal ended may be cut.
            try:
                yield json.loads(line)
            except ValueError:
                pass


def swift_outcome(step, events, status, ending):
    """A test fails by an issue that was not expected, or by being under way when the process ended."""
    tests, issues, under_way, ended, skipped, timed = {}, collections.OrderedDict(), {}, set(), set(), set()
    is_whole = False
    for record in records(events):
        kind, payload = record["kind"], record["payload"]
        if kind == "test":
            tests[payload["id"]] = payload
            continue
        test_id, kind = payload.get("testID"), payload["kind"]
        if kind == "testStarted":
            under_way[test_id] = None
        elif kind == "testEnded":
            under_way.pop(test_id, None)
            ended.add(test_id)
        elif kind in ("testSkipped", "testCancelled"):
            (timed if any("needs time" in message["text"] for message in payload.get("messages", [])) else skipped).add(test_id)
        elif kind == "runEnded":
            is_whole = True
        elif kind == "issueRecorded" and is_failure(payload.get("issue", {})):
            issues.setdefault(test_id, []).append(payload)
    functions = {test_id for test_id, test in tests.items() if test["kind"] == "function"}
    failures = [swift_failure(step, test_id, tests.get(test_id), found[0]) for test_id, found in issues.items()]
    if not is_whole:
        cut = [test_id for test_id in under_way if test_id in functions and test_id not in issues]
        left = len(functions - ended - skipped - timed - set(cut) - set(issues))
        by = "by the limit of its step" if ending == LIMIT else f"with status {status}" + (f" ({name_of(status)})" if status > 128 else "")
        why = standstill() if ending == STOOD_STILL else f"the process ended {by} while it ran; {left} tests did not run"
        # A limit, and a stop, end whatever is under way.
        failures += [Failure(step.name, name_of_test(tests[test_id]), place(tests[test_id]), why, test_id,
                             is_law=bool(LAWS.match(test_id)) if ending == STOOD_STILL else ending != LIMIT and status != 143)
                     for test_id in cut]
    begun = functions & (ended | skipped | timed | set(under_way)) if ending == STOOD_STILL else functions
    passed = len((ended & functions) - skipped - timed - set(issues))
    return Outcome(passed, len(skipped & functions), failures, timed=sorted(timed & functions), begun=sorted(begun), rest=sorted(functions - begun))


def is_failure(issue):
    return not issue.get("isKnown", False) and issue.get("isFailure", issue.get("_isFailure", True)) and issue.get("severity", issue.get("_severity", "error")) != "warning"


def swift_failure(step, test_id, test, issue):
    messages = [message["text"] for message in issue.get("messages", [])]
    return Failure(step.name, name_of_test(test) if test else test_id or step.name, place(issue.get("issue", {})) or place(test or {}),
                   " — ".join(" ".join(text.split()) for text in messages), test_id, is_law=bool(LAWS.match(test_id or "")))


def name_of_test(test):
    return test.get("displayName", test["name"])


def place(payload):
    location = payload.get("sourceLocation") or {}
    return f"{location.get('fileID') or location.get('_filePath', '')}:{location.get('line', '')}" if location else ""


def spans(events):
    """Begin, end and ID of each test; suites are tests of their own."""
    begun = {}
    for record in records(events):
        payload = record["payload"]
        at = payload.get("instant", {}).get("since1970")
        if payload["kind"] == "testStarted":
            begun[payload["testID"]] = at
        elif payload["kind"] == "testEnded" and payload["testID"] in begun:
            yield begun.pop(payload["testID"]), at, payload["testID"]
    yield from ((at, float("inf"), test_id) for test_id, at in begun.items())


def swift_seconds(events):
    functions = {record["payload"]["id"] for record in records(events) if record["kind"] == "test" and record["payload"]["kind"] == "function"}
    return ((end - begin, test_id) for begin, end, test_id in spans(events) if test_id in functions)


def tests_at(events, left):
    """The lines about what was left behind, each with the test that ran when it was made."""
    found = list(spans(events))
    for line in left:
        made = re.search(r"made ([\d.]+)", line)
        # The shortest one is what ran. A file's time is that of the kernel's last tick.
        over = sorted((end - begin, test_id) for begin, end, test_id in found if made and begin - 0.02 <= float(made[1]) <= end + 0.02)
        yield line + (f", in {over[0][1]}" if over else "")


# MARK: Suites that print lines


def suite_seconds(file):
    """A line is the seconds and the sentence of a check."""
    rows = [line.split(" ", 1) for line in file.read_text(errors="replace").splitlines()] if file.exists() else []
    return [(float(seconds), sentence) for seconds, sentence in rows]


def suite_outcome(step, text, status):
    counts = COUNTS.findall(text)
    if not counts:
        # The end says what kept it from counting.
        if status == 0:
            return Outcome(failures=[Failure(step.name, f"{step.name} does not say how many tests passed", key=step.name)])
        return Outcome()
    passed, failed, skipped = (int(number or 0) for number in counts[-1])
    failures = list(suite_failures(step, text.splitlines()))
    more = failed - len(failures)
    if more > 0:
        failures.append(Failure(step.name, f"{more} more of {step.name}, which its output names", key=f"{more} more"))
        failures += [Failure(step.name, f"another one of {step.name}", key=f"another {number}") for number in range(1, more)]
    return Outcome(passed, skipped, failures, timed=LEFT_OUT.findall(text))


def still_outcome(step, text, listed):
    """The outcome of a suite of these sentences, in their order, which stood still: it did so behind the last one that it tells."""
    states = {}
    for line in text.splitlines():
        if found := STATE.match(line):
            states |= {each: found[1] for each in listed if found[2] == each or found[1] == "skip" and found[2].startswith(f"{each}: ")}
    told = max((listed.index(each) + 1 for each in states), default=0)
    failures = list(suite_failures(step, text.splitlines()))
    failures += [Failure(step.name, each, expected=standstill(), key=each) for each in listed[told:told + 1]]
    passed, skipped = (list(states.values()).count(state) for state in ("ok", "skip"))
    return Outcome(passed, skipped, failures, timed=LEFT_OUT.findall(text), begun=listed[:told + 1], rest=listed[told + 1:])


def suite_failures(step, lines):
    for number, line in enumerate(lines):
        found = FAILS.match(line) or DENO_FAILS.match(line)
        if not found:
            continue
        reasons = []
        for following in lines[number + 1:number + 30]:
            if FAILS.match(following) or OTHERS.match(following):
                break
            reasons.append(following.strip())
        before = [each.strip() for each in lines[max(0, number - 3):number] if not OTHERS.match(each)]
        reasons = [reason for reason in reasons if reason] or before
        said = "\n".join(reasons)
        places = [each for each in PLACE.findall(said) if "site-packages" not in each[0]]
        errors = [reason for reason in reasons if re.match(r"(\w+\.)*\w*(Error|Exception)\b", reason)]
        name = found[1].split(": wanted “")[0]
        yield Failure(step.name, found[1], ":".join(places[-1]) if places else "", " — ".join(errors[-1:] or reasons[:2]), name,
                      is_law=bool(LAWS_OF_PAGES.search(said)))

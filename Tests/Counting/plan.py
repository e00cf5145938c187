"""The steps of deploy/test: what each runs, which build it needs, for how long, and how what failed in it is run again."""

import dataclasses
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPANION = str(ROOT / ".build/debug/companion")

# These tell whether it works, and continuous integration runs them: nothing in it measures time, kills, cuts off or scans.
DECIDING = ("format", "projects", "counting", "unit", "browser", "interop", "monitoring", "fronts")
ALL = ("format", "projects", "counting", "address", "thread", "browser", "restart", "interop", "machines", "fronts", "faults", "https", "trust",
       "monitoring", "kubernetes", "requests")
# These run when they are named. Both of the last build in release mode what is installed on servers, and need root and some gigabytes.
NAMED = ("unit", "costs", "foreign", "fuzz", "debian", "container")
KNOWN = dict.fromkeys(DECIDING + ALL + NAMED)

# Targets without servers and clocks run their tests side by side. All others one by one: they start servers of their own,
# and two cores starve fifty of them.
PURE = r"^(WebFormatsTests|CryptographyTests|ExpiringTests|HTTPWireTests|OpenIDConnectTests|SessionStoreTests|FuzzTests)\."
STORES = r"^(StoreConformance|SQLiteStoreTests|PostgresStoreTests|SessionStoreTests)\."
APPLICATION = r"^CompanionTests\."
# Under a sanitizer, TLS and PgBouncer say nothing about our memory and threads, and a tenth of the random schedules will do.
SANITIZERS = ("address", "thread")
SANITIZED = {"STORE_BACKENDS": "sqlite,memory,postgres", "LIFECYCLE_SCHEDULES": "12"}
# A test that is marked as needing time (`needsTime` in Tests/TestSupport, `needs="time"` in Tests/tally.py) is left out of its step. Where more runs
# than what decides, it runs afterwards, with nobody beside it.
WITHOUT_TIME = {"TEST_WITHOUT": "time"}
WAYS_THAT_DECIDE = ("--only", "the whole host", "--only", "what is not below the path")
# It has all threads unless one asks for them: with `threads=all`, only the one that took the signal (Swift 6.3).
BACKTRACE = "enable=yes,interactive=no,color=no,registers=none,images=none"
# More expressions at once have not been tried: each is compared with each test.
MOST_FILTERS = 300


@dataclasses.dataclass(frozen=True)
class Build:
    """Runs before the steps that need it, with both cores."""

    name: str
    command: tuple
    environment: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    command: tuple
    # `swift` writes events, `suite` ends with a line "N passed, M failed".
    kind: str = "suite"
    build: str = None
    seconds: int = 2400
    # A failure is run again by the tests' IDs (swift), by `sentences`, or `whole`; `never` where a run takes the machine for long.
    again: str = "never"
    # Takes --list and --only, as Tests/tally.py has them, so that the rest of it can run when it has stood still.
    is_listed: bool = False
    # Builds in release mode, and says nothing meanwhile.
    is_silent: bool = False
    # Needs the machine for itself.
    is_alone: bool = False
    # Takes no lane. It begins with the `builds`, whose compilers leave a quarter of two cores idle, or with the `lanes`, if it waits for the most part.
    beside: str = None
    # Its temporary files are in memory, where there is room: its servers sync many thousand times, and a disk takes milliseconds for each.
    is_in_memory: bool = False
    environment: dict = dataclasses.field(default_factory=dict)


def builds(asked):
    """The builds that these steps need, in order."""
    tests = Build("tests", ("swift", "build", "--build-tests"))
    if "unit" in asked:
        yield tests
    elif {"browser", "restart", "interop", "foreign", "monitoring", "machines", "fronts", "faults", "https", "trust", "costs", "requests"} & set(asked):
        yield Build("companion", ("swift", "build", "--product", "companion"))
    if "address" in asked:
        yield Build("address", (*tests.command, "--sanitize=address", "--scratch-path", ".build-address"))
    if "thread" in asked:
        # Where threads meet; all else runs on a worker or in actors.
        yield Build("thread", (*tests.command, "--sanitize=thread", "--scratch-path", ".build-thread"), {"COMPANION_TARGETS": "threads"})
    if "costs" in asked:
        yield Build("costs", ("swift", "build", "--product", "Costs"))


def steps(asked, is_deciding, arguments=()):
    """The steps that were asked for; those that take longest come first. With arguments, the one step, whole: they choose in it."""
    found = [step for step in every_step(asked, is_deciding) if step.name.split("-")[0] in asked]
    return [dataclasses.replace(with_time(found[0]), name=asked[0], command=choosing(found[0], arguments), is_listed=False)] if arguments else found


def every_step(asked, is_deciding):
    companion = "tests" if "unit" in asked else "companion"

    def suite(name, program, *arguments, **options):
        return Step(name, (program, COMPANION, *arguments), build=companion, **options)

    # Six style sheets have colours for the dark: in every run axe looks at pages of each of them.
    light = ("--light",) if is_deciding else ()
    browsers = [suite(f"browser-{part[0]}", "Tests/Browser/run", "--part", part, *light, again="sentences", is_listed=True, is_in_memory=True,
                      environment=WITHOUT_TIME) for part in ("1/2", "2/2")]
    application, rest, pure = unit("unit", ".build", "tests", {"LIFECYCLE_SCHEDULES": "20"} if is_deciding else {})
    # A browser has the processors busy, and tests of servers wait for long: in two lanes, one of each runs beside the other. The rest waits for
    # more than half of its time.
    yield from (browsers[0], application, browsers[1], dataclasses.replace(rest, beside="lanes"))
    yield from unit("address", ".build-address", "address", SANITIZED)
    yield swift("thread-stores", ".build-thread", "thread", SANITIZED, "--no-parallel", "--filter", STORES)
    yield swift("thread-rest", ".build-thread", "thread", SANITIZED, "--no-parallel", "--skip", STORES)
    yield suite("faults", "Tests/Faults/run", is_listed=True)
    yield suite("https", "Tests/HTTPS/run", is_listed=True)
    yield suite("interop", "Tests/Interop/run", again="whole", is_listed=True, environment=WITHOUT_TIME)
    yield suite("foreign", "Tests/Interop/run", "--foreign", is_listed=True)
    yield suite("restart", "Tests/Restart/run", is_listed=True)
    yield suite("trust", "Tests/Trust/run", is_listed=True)
    yield Step("counting", ("Tests/Counting/run",), again="whole", beside="lanes")
    yield Step("projects", ("Tests/Projects/run",), again="whole", beside="builds")
    yield Step("format", ("Tests/scripts/run",), again="whole", beside="builds")
    # Short ones come last, so that both lanes end together.
    yield suite("fronts", "deploy/fronts/test", *(WAYS_THAT_DECIDE if is_deciding else ()), again="sentences", is_listed=True)
    yield pure
    yield Step("kubernetes", ("deploy/kubernetes/test",), again="sentences", is_listed=True)
    yield suite("monitoring", "deploy/monitoring/test", again="sentences", is_listed=True)
    # These count instructions, say seconds or need the whole machine. The findings of earlier runs of `fuzz` are replayed by `unit`.
    yield suite("machines", "Tests/Machines/run", "--sign-ins", "300", is_listed=True, is_alone=True)
    yield Step("fuzz", ("Tests/Fuzz/run", "--seconds", "60"), seconds=3600, is_silent=True, is_alone=True)
    yield suite("requests", "Tests/Costs/run", ".build/debug/Costs", "--only", "requests", is_silent=True, is_alone=True)
    yield Step("costs", ("Tests/Costs/run", COMPANION, ".build/debug/Costs"), build="costs", seconds=3600, is_silent=True, is_alone=True)
    yield Step("debian", ("deploy/debian/test",), seconds=10800, is_silent=True, is_alone=True)
    yield Step("container", ("deploy/container/test",), seconds=10800, is_silent=True, is_alone=True)


def unit(name, folder, build, environment):
    yield swift(f"{name}-application", folder, build, environment, "--no-parallel", "--filter", APPLICATION)
    yield swift(f"{name}-rest", folder, build, environment, "--no-parallel", "--skip", APPLICATION, "--skip", PURE)
    yield swift(f"{name}-pure", folder, build, environment, "--filter", PURE)


def swift(name, folder, build, environment, *arguments):
    # Foundation's Process and XCTest leak objects of their own (Swift 6.3), which is not our news.
    environment = environment | WITHOUT_TIME | {"ASAN_OPTIONS": "detect_leaks=0", "SWIFT_BACKTRACE": BACKTRACE}
    # Published vectors for CryptographyTests, which skip what is not there.
    for vectors in sorted(ROOT.glob(".build-vectors/lib/python3*/site-packages/cryptography_vectors")):
        environment |= {"CRYPTOGRAPHY_VECTORS": str(vectors)}
    program = (str(ROOT / folder / "debug/companionPackageTests.xctest"), "--testing-library", "swift-testing")
    return Step(name, (*program, *arguments), kind="swift", build=build, seconds=3600 if build in SANITIZERS else 2400, again="tests",
                is_in_memory=True, environment=environment)


def with_time(step):
    return dataclasses.replace(step, environment={name: value for name, value in step.environment.items() if name not in WITHOUT_TIME})


def timed(step, keys):
    """The step of those that a step has left out because they need time."""
    return dataclasses.replace(with_time(step), name=f"{step.name}-time", command=only(step, keys), is_alone=True)


def choosing(step, words):
    """The command of a step with these words, without those by which it is a part."""
    if step.kind == "swift":
        return (*step.command[:3], "--no-parallel", *words)
    return (*(step.command[:2] if step.again == "sentences" else step.command), *words)


def alone(step, keys):
    """The command that runs only what failed in a step, by the keys of its failures."""
    # Its name stands for a step that ended without a count.
    chooses = step.kind == "swift" or step.again == "sentences" and step.name not in keys
    return only(step, keys) if chooses else step.command


def rest(step, keys, begun):
    """The command that runs what did not run in a step, when these have begun. Of many, Swift's suites in which none has are named whole."""
    if step.kind == "swift" and len(keys) > MOST_FILTERS:
        parts = {suite_of(key) for key in begun}
        keys = list(dict.fromkeys(key if suite_of(key) in parts else suite_of(key) for key in keys))
    return only(step, keys)


def suite_of(test_id):
    return test_id.split("/")[0] + "/"


def only(step, keys):
    if step.kind == "swift":
        return choosing(step, [word for key in keys for word in ("--filter", "^" + escaped(key))])
    return choosing(step, [word for key in keys for word in ("--only", key)])


def escaped(test_id):
    """The expression that matches this ID alone, for Swift's `Regex`."""
    return "".join(character if character.isalnum() or character in "_/:`'" or ord(character) > 127 else "\\" + character for character in test_id)


def relative(word):
    """A word of a command as somebody in the project's folder writes it."""
    return os.path.relpath(word, ROOT) if word.startswith(f"{ROOT}/") else word

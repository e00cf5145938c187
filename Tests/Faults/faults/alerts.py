"""Which alerts fire on what the server really told: scrapes become promtool's input series, the rules are the real ones."""
import json
import pathlib
import re
import subprocess
import tempfile

RULES = pathlib.Path(__file__).resolve().parents[3] / "deploy" / "monitoring" / "companion.rules.yml"
# The machine on which the suite runs may raise these by itself: a full disk, no processor time.
OF_THE_MACHINE = {"CompanionDiskFull", "CompanionSlow", "CompanionEventLoopLag", "CompanionDatabaseSlow"}
# Minutes of each part of the history; the longest window and `for` of the rules together are 20.
PART = 30


def names():
    """All alerts of the rules."""
    return set(re.findall(r"^ *- alert: (\w+)$", RULES.read_text(), re.MULTILINE))


def _samples(text):
    """Series and values of an exposition, and which of them are counters; only those that the rules look at."""
    wanted = set(re.findall(r"\b(?:companion|process)_[a-z_]+\b", RULES.read_text()))
    values, counters, kind = {}, set(), {}
    for line in text.splitlines():
        if match := re.match(r"# TYPE (\w+) (\w+)", line):
            kind = {match[1]: match[2]}
            continue
        match = re.match(r"(\w+)(?:\{(.*)\})? (\S+)$", line)
        if not match or match[1] not in wanted:
            continue
        labels = ",".join(filter(None, ['job="companion"', 'instance="a"', match[2]]))
        series = f"{match[1]}{{{labels}}}"
        values[series] = float(match[3])
        if set(kind.values()) <= {"counter", "histogram"}:
            counters.add(series)
    return values, counters


def _history(before, during, after):
    """Half an hour as before the fault, half an hour in which every minute brings what the fault really brought between
    two scrapes, and half an hour as afterwards."""
    (old, _), (bad, counters), (new, more) = (_samples(text) for text in (before, during, after))
    series = []
    for name in sorted(old.keys() | bad.keys() | new.keys()):
        is_counter = name in counters | more
        first, second, third = old.get(name), bad.get(name), new.get(name)
        parts = [f"_x{PART}" if first is None else f"{first}+0x{PART - 1}"]
        if second is None:
            parts.append(f"_x{PART}")
        elif is_counter:
            step = second - (first or 0)
            assert step >= 0, f"{name} went back"
            parts.append(f"{second}+{step}x{PART - 1}")
            # A series that is new with the fault, and was not asked for afterwards, stays as it is.
            third = second + step * (PART - 1) + (0 if third is None else third - second)
        else:
            parts.append(f"{second}+0x{PART - 1}")
        parts.append(f"_x{PART}" if third is None else f"{third}+0x{PART - 1}")
        series.append({"series": name, "values": " ".join(parts)})
    return series + [{"series": 'up{job="companion",instance="a"}', "values": f"1x{3 * PART}"}]


def value(text, series):
    """One sample of an exposition."""
    return float(re.search(rf"^{re.escape(series)} (\S+)$", text, re.MULTILINE)[1])


def assert_fire(before, during, after, expected, still=()):
    """Exactly these alerts fire at the end of a fault, none before it, and none (or those that stay) half an hour
    afterwards. Each is its name, with labels where they matter: 'CompanionSignInsFail{app="ios"}'."""
    ignored = OF_THE_MACHINE - {alert.partition("{")[0] for alert in expected}
    _assert(_history(before, during, after), [(PART - 1, []), (2 * PART - 1, expected), (3 * PART - 1, still)], ignored)


def assert_stay(text, expected):
    """Exactly these alerts fire when everything stays as it is."""
    _assert(_history(text, text, text), [(3 * PART - 1, expected)], OF_THE_MACHINE)


def assert_series(series, minute, expected):
    """Exactly these alerts fire at a minute of a history of its own."""
    _assert(series, [(minute, expected)], OF_THE_MACHINE)


def _assert(series, moments, ignored):
    expression = ('group by (alertname, app, provider, operation, code) '
                  f'(ALERTS{{alertstate="firing",alertname!~"{"|".join(sorted(ignored))}"}})')
    tests = []
    for minute, alerts in moments:
        samples = []
        for alert in sorted(alerts):
            name, _, labels = alert.partition("{")
            labels = ",".join(filter(None, [f'alertname="{name}"', labels.rstrip("}")]))
            samples.append({"labels": f"{{{labels}}}", "value": 1})
        tests.append({"expr": expression, "eval_time": f"{minute}m", "exp_samples": samples})
    content = {"rule_files": [str(RULES)], "evaluation_interval": "1m",
               "tests": [{"interval": "1m", "input_series": series, "promql_expr_test": tests}]}
    # JSON is YAML.
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        json.dump(content, file)
        file.flush()
        done = subprocess.run(["promtool", "test", "rules", file.name], capture_output=True, text=True)
    assert done.returncode == 0, "the wrong alerts fire:\n" + (done.stdout + done.stderr).strip()

"""The results: a table for people, JSON for programs."""
import dataclasses
import os
import pathlib
import platform
import re

HEAD = f"{'row':<9} {'case':<44} {'ours':>11} {'theirs':>11} {'ratio':>6} {'CPU us':>7} {'theirs':>7}  goal"


@dataclasses.dataclass
class Result:
    """One measurement beside its peer, and what it should be."""
    row: str
    case: str
    unit: str
    ours: float
    peer: str | None = None
    theirs: float | None = None
    ratio: float | None = None
    cpu_us: float | None = None
    peer_cpu_us: float | None = None
    # The aim for `ratio`, or for `ours` where `goal_of` says so; at least, or at most.
    goal: float | None = None
    goal_of: str = "ratio"
    at_most: bool = False

    @property
    def factor_to_goal(self):
        """By how much it would have to be better; at most 1 when the goal is reached. None without a goal."""
        value = self.ratio if self.goal_of == "ratio" else self.ours
        if self.goal is None or value is None:
            return None
        return value / self.goal if self.at_most else self.goal / max(value, 1e-9)

    @property
    def verdict(self):
        factor = self.factor_to_goal
        if factor is None:
            return ""
        goal = f"{'at most' if self.at_most else 'at least'} {self.goal:g}"
        unit = "" if self.goal_of == "ratio" else self.unit
        return f"{goal}{unit if unit == '/s' else ' ' + unit}".rstrip() + ": " + ("reached" if factor <= 1 else f"has to be {factor:.2f} times better")

    def __str__(self):
        case = f"{self.case} | {self.peer}" if self.peer else self.case
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        return (f"{self.row:<9} {case:<44} {number(self.ours, self.unit):>11} {number(self.theirs, self.unit):>11} {ratio:>6} "
                f"{number(self.cpu_us):>7} {number(self.peer_cpu_us):>7}  {self.verdict}").rstrip()

    def as_json(self):
        return dataclasses.asdict(self) | {"factor_to_goal": self.factor_to_goal}


def number(value, unit="/s"):
    """A number for each second needs no unit in the table."""
    if value is None:
        return ""
    digits = 0 if value >= 1000 or float(value).is_integer() else 1 if unit else 2
    return f"{value:,.{digits}f}" + ("" if unit == "/s" else f" {unit}".rstrip())


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())
    return {"processor": model[1] if model else platform.machine(), "cores": os.cpu_count(),
            "memory_gb": round(int(memory[1]) / 2**20), "kernel": platform.release(), "load": os.getloadavg()[0]}

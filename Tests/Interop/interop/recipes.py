"""The recipe of deploy/recipes/pytest, run as its readers run it."""

import os
import subprocess
import sys
from contextlib import contextmanager

from suite.registry import registry

tests, test = registry("recipes")


class Context:
    def __init__(self, binary, root):
        self.binary, self.root = binary, root

    def situation(self):
        return ""


@contextmanager
def environment(binary, root, folder):
    yield Context(binary, root)


@test("each example of deploy/recipes/pytest passes")
def examples(context):
    folder = context.root / "deploy/recipes/pytest"
    environment = os.environ | {"COMPANION": str(context.binary), "COMPANION_PUBLIC": str(context.root / "Public")}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " skipped" not in done.stdout and " passed" in done.stdout, done.stdout

"""Asks made.js for the Swift of the pages. Needs the tools that Tests/scripts/run installs."""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def made(asked):
    """The answer of made.js."""
    environment = os.environ | {"DENO_DIR": str(ROOT / ".build-scripts/deno"), "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
    deno = ROOT / ".build-scripts/venv/bin/deno"
    arguments = [deno, "run", "--quiet", "--no-check", f"--allow-read={ROOT}", "--config", ROOT / "Tests/scripts/deno.json", HERE / "made.js"]
    done = subprocess.run(arguments, input=json.dumps(asked), capture_output=True, text=True, timeout=120, env=environment)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)

"""Runs every test in order and prints one line for each; see ../run."""

import argparse
import os
import pathlib
import tempfile
import time
import traceback

from suite.server import newest_binary
from tally import Tally

from . import graph_sdk, msal_python, native, openapi, provider, recipes, web


def arguments():
    parser = argparse.ArgumentParser(prog="Tests/Interop/run")
    parser.add_argument("companion", nargs="?", help="the companion binary; by default the newest of .build/release and .build/debug")
    parser.add_argument("--only", default="", help="run only tests whose sentence contains this text")
    parser.add_argument("--root", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    root = pathlib.Path(options.root)
    binary = pathlib.Path(options.companion).resolve() if options.companion else newest_binary(root)
    tally = Tally()
    for module in (provider, native, msal_python, graph_sdk, web, recipes, openapi):
        tests = [test for test in module.tests if options.only in test.sentence]
        if not tests:
            continue
        with tempfile.TemporaryDirectory(prefix="companion-interop-") as folder:
            # Chromium leaves folders of its own among the temporary files.
            os.environ["TMPDIR"] = folder
            with module.environment(binary, root, pathlib.Path(folder)) as context:
                for test in tests:
                    started = time.monotonic()
                    try:
                        test(context)
                        tally.passed += 1
                        print(f"ok    {test.sentence} ({time.monotonic() - started:.1f} s)", flush=True)
                    except Exception as error:
                        tally.failed += 1
                        print(f"FAIL  {test.sentence} ({time.monotonic() - started:.1f} s)", flush=True)
                        print("".join(traceback.format_exception(error)), context.situation(), flush=True)
    tally.end()


main()

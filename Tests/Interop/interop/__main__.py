"""Runs every test in order and prints one line for each; see ../run."""

import argparse
import os
import pathlib
import tempfile
import time
import traceback

from suite.server import newest_binary
from tally import Tally

from . import foreign


def arguments():
    parser = argparse.ArgumentParser(prog="Tests/Interop/run")
    parser.add_argument("companion", nargs="?", help="the companion binary; by default the newest of .build/release and .build/debug")
    parser.add_argument("--foreign", action="store_true", help="instead of the usual tests: all providers that are not ours")
    parser.add_argument("--only", default="", help="run only tests whose sentence contains this text")
    parser.add_argument("--root", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def modules(options):
    """Each has tests and an environment for them."""
    # Each environment of Python has what its own modules are made of.
    if options.foreign:
        from . import foreign_clients
        return [*foreign.areas(), foreign_clients]
    from . import credentials, documents, graph_libraries, graph_sdk, mac, msal_python, native, native_auth, native_failures, older, openapi, provider, recipes, truth, validators, web, web_frameworks, xcode
    return [
        truth, validators, provider, *foreign.areas(foreign.USUAL), native, native_auth, native_failures, xcode, mac, documents, msal_python, older, graph_sdk, graph_libraries, web, web_frameworks, credentials, recipes, openapi,
    ]


def run(test, context, tally):
    started = time.monotonic()
    try:
        test(context)
        tally.passed += 1
        print(f"ok    {test.sentence} ({time.monotonic() - started:.1f} s)", flush=True)
    except Exception as error:
        tally.failed += 1
        print(f"FAIL  {test.sentence} ({time.monotonic() - started:.1f} s)", flush=True)
        print("".join(traceback.format_exception(error)), context.situation(), flush=True)


def main():
    options = arguments()
    root = pathlib.Path(options.root)
    binary = pathlib.Path(options.companion).resolve() if options.companion else newest_binary(root)
    tally = Tally()
    for module in modules(options):
        tests = [test for test in module.tests if options.only in test.sentence]
        if not tests:
            continue
        with tempfile.TemporaryDirectory(prefix="companion-interop-") as folder:
            # Chromium leaves folders of its own among the temporary files.
            os.environ["TMPDIR"] = folder
            try:
                with module.environment(binary, root, pathlib.Path(folder)) as context:
                    for test in tests:
                        run(test, context, tally)
            except Exception as error:
                tally.failed += 1
                print(f"FAIL  {tests[0].sentence}, and what follows: nothing to test it on", flush=True)
                print("".join(traceback.format_exception(error)), flush=True)
    tally.end()


main()

"""Runs every test in order and prints one line for each; see ../run."""

import argparse
import os
import pathlib
import sys
import tempfile
import time
import traceback

# Tests/tally.py
sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
from tally import Tally

from . import below_a_path, bench, blocked, cases, clients, columns, device, failures, journeys, kinds, kiosk, languages, learner, looks, missions, native, paste, portal, projects, setup, swift_lines, tutorials
from .browser import Browser
from .server import Server, newest_binary


def arguments():
    parser = argparse.ArgumentParser(prog="Tests/Browser/run")
    parser.add_argument("companion", nargs="?", help="the companion binary; by default the newest of .build/release and .build/debug")
    parser.add_argument("--only", action="append", help="run only tests whose name contains this text, or one of several")
    parser.add_argument("--part", default="1/1", help="run a part of the modules, such as 1/2: the other part may run beside it")
    parser.add_argument("--screenshots", help="keep screenshots in this folder")
    parser.add_argument("--root", required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    root = pathlib.Path(options.root)
    binary = pathlib.Path(options.companion) if options.companion else newest_binary(root)
    if not binary.exists():
        sys.exit(f"Tests/Browser/run: {binary} does not exist")
    screenshots = pathlib.Path(options.screenshots) if options.screenshots else None
    if screenshots:
        screenshots.mkdir(parents=True, exist_ok=True)

    modules = (
        journeys, tutorials, columns, swift_lines, projects, kinds, kiosk, learner, portal, below_a_path, failures, looks, languages, native, setup, paste, clients, missions, device, bench, cases, blocked)
    part, parts = map(int, options.part.split("/"))
    tests = [test for module in modules[part - 1::parts] for test in module.tests if not options.only or any(text in test.sentence for text in options.only)]
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="companion-browser-") as folder:
        # Chromium leaves folders of its own among the temporary files.
        os.environ["TMPDIR"] = folder
        server = Server(binary.resolve(), root / "Public", pathlib.Path(folder))
        try:
            server.start()
        except RuntimeError as error:
            print(error)
            tally.failed = len(tests)
            tally.end()
        browser = Browser(server, screenshots)
        try:
            for test in tests:
                started = time.monotonic()
                reason = run(test, server, browser)
                took = time.monotonic() - started
                if reason is None:
                    tally.passed += 1
                    print(f"ok    {test.sentence} ({took:.1f} s)", flush=True)
                else:
                    tally.failed += 1
                    print(f"FAIL  {test.sentence} ({took:.1f} s)\n{reason}", flush=True)
        finally:
            browser.quit()
            server.stop()
            if tally.failed:
                print("The end of the server's log:")
                print(server.log_tail())
    tally.end()


def run(test, server, browser):
    """None, or why the test failed."""
    try:
        server.ensure_running()
        server.reset()
        browser.begin()
        test(browser)
        browser.finish()
        return None
    except Exception as error:
        if browser.screenshots:
            browser.shoot("failed " + test.sentence)
        where = [frame for frame in traceback.extract_tb(error.__traceback__) if "/suite/" in frame.filename]
        lines = "".join(f"        {pathlib.Path(frame.filename).name}:{frame.lineno} {frame.line}\n" for frame in where[1:])
        return f"{lines}        {type(error).__name__}: {str(error).strip()}\n{browser.situation()}"


main()

"""Runs every test in order and prints one line for each; see ../run."""

import contextlib
import os
import pathlib

from tally import ROOT, Suite

from . import below_a_path, bench, blocked, cases, clients, columns, device, emptied, failures, journeys, kinds, kiosk, languages, learner, looks, missions, native, paste, portal, projects, setup, swift_lines, tutorials
from .browser import Browser
from .server import Server

MODULES = (
    journeys, tutorials, columns, swift_lines, projects, kinds, kiosk, portal, learner, below_a_path, failures, looks, languages, native, setup, paste, clients, missions, device, bench, cases, blocked, emptied)


def main():
    suite = Suite("Tests/Browser/run", {
        "--part": {"default": "1/1", "help": "run a part of the modules, such as 1/2: the other part may run beside it"},
        "--light": {"action": "store_true", "help": "let axe look at dark pages only in the checks that insist on it"},
        "--screenshots": {"type": pathlib.Path, "help": "keep screenshots in this folder"}})
    screenshots = suite.options.screenshots
    if suite.options.light:
        Browser.schemes = ("light",)
    if screenshots:
        screenshots.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def browser(folder):
        # Chromium leaves folders of its own among the temporary files.
        os.environ["TMPDIR"] = str(folder)
        failed = suite.failed
        server = Server(suite.binary, ROOT / "Public", folder)
        server.start()
        browser = Browser(server, screenshots)
        try:
            yield browser
        finally:
            browser.quit()
            server.stop()
            if suite.failed > failed:
                print("The end of the server's log:")
                print(server.log_tail())

    part, parts = map(int, suite.options.part.split("/"))
    suite.run([test for module in MODULES[part - 1::parts] for test in module.tests], browser, run)
    suite.end()


def run(test, browser):
    try:
        browser.server.ensure_running()
        browser.server.reset()
        browser.begin()
        test(browser)
        browser.finish()
    except Exception:
        if browser.screenshots:
            browser.shoot("failed " + test.sentence)
        raise


main()

"""The pictures of README and guides, from the running demo; see ../pictures."""

import argparse
import base64
import pathlib
import sys
import tempfile

from tally import ROOT, newest_binary

from .browser import ADELE, Browser
from .kiosk import walk_up
from .server import Server


def take(browser, path, width, height, scheme="light"):
    """Keeps the window as a WebP, which is a fraction of a PNG. Motion is reduced, so that each picture is the same again."""
    browser.size(width, height)
    browser.cdp("Emulation.setEmulatedMedia", features=[
        {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])
    browser.cdp("Emulation.setScrollbarsHidden", hidden=True)
    browser.settled()
    shot = browser.cdp("Page.captureScreenshot", format="webp", quality=82)
    path.write_bytes(base64.b64decode(shot["data"]))
    print(f"{path.name}: {path.stat().st_size // 1024} KB")


def learner(browser, folder):
    browser.open("/")
    browser.one("#cards")
    take(browser, folder / "home.webp", 1280, 800)
    browser.size(1600, 900)
    browser.sign_in()
    browser.wait("the last step", lambda: browser.one("#drawing").get_attribute("data-step") == "api")
    take(browser, folder / "ios.webp", 1600, 900)


def portal(browser, folder):
    browser.open("/portal")
    browser.one("#columns")
    browser.one("#sign-in").click()
    browser.choose_account(ADELE)
    browser.wait("back", lambda: not browser.at_tenant() or browser.all("input[name=password], button[name=consent]"))
    if browser.at_tenant() and browser.all("input[name=password]"):
        browser.enter_password()
    if browser.at_tenant() and browser.all("button[name=consent]"):
        browser.answer_consent()
    browser.expect_page("/portal")
    browser.one("#tab-attempts").click()
    browser.one(".attempt summary").click()
    browser.one(".waterfall")
    take(browser, folder / "portal.webp", 1280, 800)


def kiosk(browser, folder):
    with browser.visiting(browser.server.sibling("kiosk", COMPANION_DEVICE_MODE="shared")):
        browser.open("/kiosk")
        browser.one("#attract")
        walk_up(browser)
        browser.wait("the photo", lambda: browser.all("#front canvas"))
        take(browser, folder / "kiosk.webp", 1280, 800)


def main():
    parser = argparse.ArgumentParser(prog="Tests/Browser/pictures")
    parser.add_argument("companion", nargs="?", help="the companion binary; by default the newest of .build/release and .build/debug")
    options = parser.parse_args()
    binary = pathlib.Path(options.companion) if options.companion else newest_binary()
    if not binary.exists():
        sys.exit(f"Tests/Browser/pictures: {binary} does not exist")
    with tempfile.TemporaryDirectory(prefix="companion-pictures-") as place:
        server = Server(binary.resolve(), ROOT / "Public", pathlib.Path(place))
        server.start()
        browser = Browser(server, None)
        try:
            for picture in (learner, portal, kiosk):
                browser.begin()
                picture(browser, ROOT / "deploy/guides/pictures")
        finally:
            browser.quit()
            server.stop()


main()

"""person.py ORIGIN TENANT ADDRESS: a person at one real browser, for deploy/debian/test.

Each line of the input is something to do; the answer is one line, "ok" or what was seen instead. The browser stays open in
between. ADDRESS is where ORIGIN's host is found, as no name service knows it.
"""

import signal
import sys
from types import SimpleNamespace
from urllib.parse import urlsplit

from suite.browser import ADELE, Browser


def sign_in(browser):
    browser.begin()
    browser.sign_in()
    browser.expect_page("/ios")
    host = urlsplit(browser.server.origin).hostname
    cookies = browser.cdp("Network.getCookies", urls=[browser.server.origin + "/ios"])["cookies"]
    kept = [(one["name"], one["domain"], one["path"], one["secure"], one["httpOnly"], one.get("sameSite")) for one in cookies]
    wanted = ("__Host-companion", host, "/", True, True, "Lax")
    assert wanted in kept, f"no cookie {wanted} among {kept}"
    assert not [one for one in kept if not one[3]], f"a cookie that also goes out without TLS: {kept}"


def is_signed_in(browser):
    """First on the page that has been open all the time, then on a new one."""
    call(browser)
    is_signed_in_on_a_new_page(browser)


def is_signed_in_on_a_new_page(browser):
    browser.driver.refresh()
    browser.expect_log(f"Found a signed in account {ADELE}. Updating data for that account...")
    call(browser)


def call(browser):
    def results():
        return sum(text.startswith("Result from Graph: ") for text in browser.log())

    before = results()
    browser.press("Call Microsoft Graph API")
    browser.wait("Graph's answer", lambda: results() == before + 1)
    browser.expect_log("Refreshed Access token is ")
    browser.expect_graph()
    browser.expect_page("/ios")


DEEDS = {"sign in": sign_in, "is signed in": is_signed_in, "is signed in on a new page": is_signed_in_on_a_new_page}


def main(origin, tenant, address):
    # Ends as it does at the end of the input, so that no browser is left.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    server = SimpleNamespace(origin=origin, tenant=tenant)
    browser = Browser(server, None, f"--host-resolver-rules=MAP {urlsplit(origin).hostname} {address}")
    try:
        for line in sys.stdin:
            try:
                DEEDS[line.strip()](browser)
                browser.finish()
                print("ok", flush=True)
            except Exception as error:
                print(" ".join(f"{type(error).__name__}: {error} {browser.situation()}".split()), flush=True)
    finally:
        browser.quit()


main(*sys.argv[1:])

"""The companion on a host that it shares: its public URL has a path, and every address of ours is below it."""

from contextlib import contextmanager

from selenium.webdriver.support.ui import Select

from .browser import ADELE
from .kiosk import LONG
from .registry import registry

tests, test = registry("below a path", time="Two more trips, each at a server of its own. The one from home to Graph decides.")

PATH = "/companion"


@contextmanager
def below(browser, name, **settings):
    server = browser.server.sibling(name, **settings)
    server.settings["COMPANION_PUBLIC_URL"] = server.origin + PATH
    with browser.visiting(server):
        browser.server.reset()
        yield


def expect_all_below(browser):
    """The server answers at its root as well, for fronts that take the path away; a browser must never ask there. What opens in a
    tab of its own leads elsewhere."""
    names = browser.driver.execute_script(
        "return [location.href, ...performance.getEntriesByType('resource').map(e => e.name), ...[...document.links].filter(e => e.target !== '_blank').map(e => e.href)]")
    ours = browser.server.origin + PATH + "/"
    assert len(names) > 4, names
    assert not [name for name in names if not name.startswith((ours, browser.server.tenant + "/"))], names


@test("every address stays below it, from home to Graph, with all panels open, and out again")
def journey(browser):
    with below(browser, "path"):
        browser.open(PATH)
        browser.press("iOS tutorial")
        browser.expect_page(f"{PATH}/ios")
        browser.press("Call Microsoft Graph API")
        browser.choose_account()
        browser.enter_password()
        browser.answer_consent()
        browser.expect_graph()
        # The options move what is below them when they come.
        browser.one("#options summary").click()
        browser.one("#sign-in-options")
        browser.one("#claims summary").click()
        browser.wait("the claims", lambda: "preferred_username" in browser.one("#claims").text)
        expect_all_below(browser)
        Select(browser.one("#language-choice")).select_by_value("pt-BR")
        browser.wait("Portuguese", lambda: browser.driver.execute_script("return document.documentElement.lang") == "pt-BR")
        browser.expect_log(f"Found a signed in account {ADELE}. Updating data for that account...")
        browser.wait("the tutorial in this language", lambda: "/pt-br/" in browser.all("#code a.out")[0].get_attribute("href"))
        expect_all_below(browser)
        browser.press("Sign Out")
        browser.expect_username("Signed out")
        browser.one("a.home").click()
        browser.expect_page(PATH + "/")
        browser.one("#cards li")
        expect_all_below(browser)
        browser.open(f"{PATH}/portal")
        browser.one("#columns")
        expect_all_below(browser)


@test("a failed sign-in, an error page and the portal stay below it", needs="time")
def portal(browser):
    with below(browser, "path"):
        browser.allow(f"{PATH}/nothing")
        browser.open(f"{PATH}/nothing")
        browser.one("h1")
        expect_all_below(browser)
        browser.one("#back").click()
        browser.expect_page(PATH + "/")
        browser.open(f"{PATH}/portal")
        browser.one("#columns")
        browser.one("#sign-in").click()
        browser.choose_account()
        browser.enter_password()
        browser.answer_consent("cancel")
        browser.expect_page(f"{PATH}/portal")
        browser.one("#sign-in").click()
        browser.wait("the picker or consent", lambda: browser.at_tenant())
        if browser.all(f"button[name=username][value='{ADELE}']"):
            browser.choose_account()
        browser.wait("a next page", lambda: browser.all("input[name=password], button[name=consent]"))
        if browser.all("input[name=password]"):
            browser.enter_password()
        browser.answer_consent()
        browser.expect_page(f"{PATH}/portal")
        browser.wait("who it is", lambda: ADELE in browser.one("#result").text)
        expect_all_below(browser)


@test("the kiosk signs in, shows the card and comes back by itself", needs="time")
def kiosk(browser):
    with below(browser, "path-kiosk", COMPANION_DEVICE_MODE="shared", **LONG):
        browser.open(f"{PATH}/kiosk")
        browser.press("Sign in")
        browser.choose_account()
        browser.enter_password()
        browser.answer_consent()
        browser.wait("the profile", lambda: ADELE in browser.one("#badge").text)
        browser.wait("the photo", lambda: browser.all("#badge canvas"))
        expect_all_below(browser)
        browser.press("Sign out")
        browser.expect_page(f"{PATH}/auth/signed-out")
        browser.wait("the start", lambda: browser.driver.current_url == f"{browser.server.origin}{PATH}/kiosk" and browser.one("#attract").is_displayed())
        expect_all_below(browser)

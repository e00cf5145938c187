"""A browser that blocks cookies and site data: each page opens, says what cannot work then, and does the rest."""

from contextlib import contextmanager

from selenium.webdriver.support.ui import Select

from .browser import Browser
from .languages import TAGS, TEXTS, ask_for
from .native import BUNDLE, paste, plist, unfold
from .registry import registry

tests, test = registry("blocked", time="All pages and six languages in a second browser. A tutorial and the pages for one's own app decide.")

# Each page and the text that it shows.
PAGES = {
    **dict.fromkeys(("/", "/ios", "/macos", "/external", "/b2c", "/portal"), "blocked.sign_in"),
    **dict.fromkeys(("/native", "/native/map", "/paste"), "blocked.values"),
    **dict.fromkeys(("/auth/signed-out", "/auth/callback", "/auth/callback?code=a&state=b"), "blocked.trip"),
    "/kiosk": "kiosk.blocked",
}


@contextmanager
def blocking(browser):
    """A browser of its own, because this is a preference."""
    made = Browser(browser.server, browser.screenshots, preferences={"profile.default_content_setting_values.cookies": 2})
    try:
        made.size(1280, 800)
        made.allow("/auth/callback", "/auth/callback?code=a&state=b")
        yield made
        made.expect_clean()
    finally:
        made.quit()


def expect_said(browser, path, texts):
    browser.open(path)
    place = "#message .lines" if path == "/kiosk" else "#blocked"
    browser.expect_text(place, texts[PAGES[path]])
    browser.settled()
    browser.expect_clean()


@test("each page says what cannot work, in each language, and none of its scripts fails", needs="time")
def each_page(browser):
    with blocking(browser) as blocked:
        for path in PAGES:
            expect_said(blocked, path, TEXTS["en"])
        for tag in TAGS:
            ask_for(blocked, tag)
            for path in ("/ios", "/native", "/auth/callback", "/kiosk"):
                expect_said(blocked, path, TEXTS[tag])
        ask_for(blocked, None)
        blocked.open("/native")
        blocked.expect_text("#blocked", TEXTS["en"]["blocked.values"])
        blocked.expect_accessible("blocked native")
        # A browser that blocks nothing is told nothing.
        browser.open("/native")
        browser.settled()
        assert not browser.all("#blocked")


@test("a tutorial's buttons answer, and its choices last as long as the page")
def tutorial(browser):
    with blocking(browser) as blocked:
        blocked.open("/ios")
        blocked.press("Call Microsoft Graph API")
        said = blocked.expect_log("Couldn't query current account with error: ")
        assert TEXTS["en"]["app.no_cookies"] in said, said
        blocked.press("Get device info")
        assert '"cookies": false' in blocked.expect_log("Received device info.")
        blocked.size(1440, 900)
        blocked.one("#code-values").click()
        Select(blocked.one("#code-completion")).select_by_value("async")
        blocked.wait("the other program", lambda: "await" in blocked.one("#code .listing").text)
        blocked.one("#missions summary").click()
        blocked.wait("the missions", lambda: blocked.all(".missions li"))


@test("the pages for the reader's own app work: values, file check and steps")
def own_app(browser):
    with blocking(browser) as blocked:
        blocked.open("/native")
        unfold(blocked)
        blocked.one("#bundle_id").send_keys(BUNDLE)
        blocked.wait("the value in the steps", lambda: f"msauth.{BUNDLE}" in blocked.one("#rest").text)
        blocked.one(".steps input").click()
        blocked.open("/")
        blocked.one("#paste").click()
        blocked.wait("the box is ready", lambda: blocked.one("#paste").get_attribute("data-ready") == "true")
        paste(blocked, plist({"CFBundleURLTypes": [{"CFBundleURLSchemes": [f"msauth.{BUNDLE}"]}]}))
        blocked.wait("the findings of the first file", lambda: "LSApplicationQueriesSchemes" in blocked.one("#found").text)
        paste(blocked, plist({"keychain-access-groups": ["$(AppIdentifierPrefix)com.microsoft.adalcache"]}))
        blocked.one("#paste-bundle").send_keys(BUNDLE)
        blocked.wait("those of the second", lambda: "LSApplicationQueriesSchemes" not in blocked.one("#found").text)

"""The team portal: for people who test app registrations, tenants and users, and for their operator."""

import json
import re
import urllib.request
from urllib.parse import parse_qs, urlencode, urlsplit

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from .browser import ADELE, BOTH
from .registry import registry
from .server import Registrations

tests, test = registry("portal", time="Forty registrations, sixty sessions, pairs of sign-ins, and phones in pixels. One failure, an operator and axe in each tab decide, with PortalTests.")

MEGAN = "megan@contoso.example"
CUSTOMER = "customer@fabrikam.example"
DAY = r"[A-Z]\w+ \d+, \d{4}"
EXPIRES = rf"Client secret expires {DAY}, in (\d+) days"


def open_portal(browser, query=""):
    browser.open("/portal" + query)
    browser.one("#columns")


def registration(browser, app):
    """Chooses a registration in the list; where the window is narrow, the list is opened first."""
    if browser.all("#sheet[open]"):
        browser.press("Close")
    if browser.one("#open-list, #list").get_attribute("id") == "open-list":
        browser.one("#open-list").click()
    browser.click(f"the registration {app}", lambda: browser.one(f"#registrations [data-app='{app}']"))


def settings(browser):
    """Opens the sheet of the settings, if it is closed, and returns it."""
    if not browser.all("#sheet[open]"):
        browser.one("#open-settings").click()
        browser.wait("the sheet stands still", lambda: browser.driver.execute_script("return document.querySelector('#sheet[open]')?.getAnimations().length === 0"))
    return browser.one("#sheet")


def choose(browser, field, value):
    settings(browser)
    Select(browser.one(f"#{field}")).select_by_value(value)


def press_sign_in(browser):
    browser.one("#sheet-sign-in" if browser.all("#sheet[open]") else "#sign-in").click()


def titles(browser):
    """The registrations in the list, in its order."""
    return [each.text for each in browser.all("#registrations b") if each.is_displayed()]


def tab(browser, name):
    browser.click(f"the tab {name}", lambda: browser.one(f"#tab-{name}"))
    return browser.one(f"#{name}")


def through_the_provider(browser, username, consent="accept"):
    browser.wait("the provider's page", lambda: browser.at_tenant() and browser.all("button[name=username], input[name=password], button[name=consent]"))
    if browser.all(f"button[name=username][value='{username}']"):
        browser.choose_account(username)
    browser.wait("a next page", lambda: browser.all("input[name=password], button[name=consent]") or not browser.at_tenant())
    if browser.all("input[name=password]"):
        browser.enter_password()
    browser.wait("consent or back", lambda: browser.all("button[name=consent]") or not browser.at_tenant())
    if browser.at_tenant():
        browser.answer_consent(consent)
    browser.expect_page("/portal")
    browser.one("#columns")


def sign_in(browser, app, username, **kwargs):
    registration(browser, app)
    press_sign_in(browser)
    through_the_provider(browser, username, **kwargs)


@test("account and decoded tokens with explained claims of the chosen application are there after a sign-in")
def account(browser):
    open_portal(browser)
    assert [each.get_attribute("data-app") for each in browser.all("#registrations button")] == ["ios", "macos", "external", "b2c", "portal"]
    assert browser.one("#sign-in").text == "Sign in", browser.one("#sign-in").text
    sign_in(browser, "ios", ADELE)
    browser.wait("who it is", lambda: ADELE in browser.one("#result").text)
    assert browser.one("#sign-in").text == "Sign in again", browser.one("#sign-in").text
    shown = tab(browser, "account")
    browser.wait("the reason", lambda: "Why you may sign in here" in shown.text)
    # One rule decides which claims are shown: that of the tokens.
    assert "preferred_username" not in shown.text, shown.text
    shown = tab(browser, "tokens")
    browser.wait("the decoded tokens", lambda: "RS256" in shown.text and "User.Read" in shown.text)
    assert "preferred_username" in shown.text and "The username to show." in shown.text, shown.text
    assert all(re.search(rf"^{claim}: …\nNot shown: {kind}", shown.text, re.MULTILINE) for claim, kind in (("sid", "the provider's session"), ("uti", ""))), shown.text
    assert "It is for Microsoft Graph, and only Graph can validate it." in shown.text, shown.text
    browser.wait("the lifetimes", lambda: browser.all("#tokens meter"))
    browser.settled()
    # It may change once a minute. This same line must say by itself that two are over.
    left = browser.one("#tokens .lifetime span")
    first = left.text
    browser.later(120)
    browser.wait("the lifetime goes on", lambda: left.text != first)


@test("a provider that cannot end its session: the account's tab says so before a sign-out, and the portal after it")
def kept_session(browser):
    said = "This identity provider has no sign-out page, so its session goes on"
    with browser.at_keeping_provider():
        open_portal(browser)
        sign_in(browser, "ios", ADELE)
        shown = tab(browser, "account")
        browser.wait("it is said before", lambda: said in shown.text)
        browser.press("Sign out at the provider too")
        browser.wait("it is said after", lambda: said in browser.one("#outcome").text)


@test("tokens are acquired silently and by force, and Graph's answer has status, request id and timing, as a tree")
def api(browser):
    open_portal(browser)
    sign_in(browser, "ios", ADELE)
    tab(browser, "tokens")
    before = browser.server.counts()["token_refresh"]
    browser.press("Acquire silently")
    browser.wait("the answer from the cache", lambda: "cache" in browser.one("#tokens").text.lower())
    assert browser.server.counts()["token_refresh"] == before
    browser.press("Force refresh")
    browser.wait("a refresh", lambda: browser.server.counts()["token_refresh"] == before + 1)
    shown = tab(browser, "api")
    browser.press("Call the API")
    browser.wait("the status", lambda: "200" in shown.text)
    text = shown.text
    assert "displayName" in text and re.search(r"\d ms", text), text
    browser.server.control(graph_error={"status": 403, "body": {"error": {"code": "Denied", "message": "No."}}, "times": 1})
    browser.allow("/api/ios/me")
    browser.press("Call the API")
    browser.wait("the refusal", lambda: "403" in shown.text and "error: {2}" in shown.text)
    browser.server.control(missing_scope="Mail.Read")
    browser.press("Call the API")
    browser.wait("the offer", lambda: "Grant this permission" in shown.text)


@test("the failure of one application is explained, and the others go on", needs="time")
def three_and_a_failing_one(browser):
    open_portal(browser)
    sign_in(browser, "ios", ADELE)
    sign_in(browser, "b2c", "b2cuser@fabrikamb2c.example")
    browser.server.control(authorize_platform_error=50105)
    registration(browser, "external")
    press_sign_in(browser)
    through_the_provider(browser, CUSTOMER)
    browser.wait("the explanation", lambda: "50105" in browser.one("#result").text)
    assert "not assigned to the application" in browser.one("#result").text
    registration(browser, "ios")
    browser.wait("the other application is well", lambda: ADELE in browser.one("#who").text)
    shown = tab(browser, "attempts")
    browser.wait("its attempt alone", lambda: [each.is_displayed() for each in browser.all("#attempts li.attempt")].count(True) == 1)
    assert "access_denied" not in shown.text, shown.text
    browser.tick("#attempts .each input")
    browser.wait("the attempts", lambda: [each.is_displayed() for each in browser.all("#attempts li.attempt")].count(True) == 3)
    assert "access_denied" in shown.text, shown.text


# In how many lines each step's name is set, and by how much the details stand in from their attempt.
ON_A_PHONE = """
const left = (selector) => document.querySelector(selector).getBoundingClientRect().left;
const lines = (name) => Math.round(name.getBoundingClientRect().height / parseFloat(getComputedStyle(name).lineHeight));
return [[...document.querySelectorAll(".attempt [open] .waterfall li > :first-child")].map(lines),
  left(".attempt [open] .problem") - left("li.attempt:has([open])")];
"""


@test("a sign-in that fails opens its attempt, which has the focus, whatever tab was last looked at")
def failed_attempt(browser):
    open_portal(browser)
    tab(browser, "tokens")
    browser.server.control(authorize_platform_error=50105)
    press_sign_in(browser)
    through_the_provider(browser, ADELE)
    browser.wait("the attempt", lambda: "50105" in browser.one("#attempts [open]").text)
    assert browser.one("#tab-attempts").get_attribute("aria-selected") == "true"
    focused = browser.driver.execute_script("return document.activeElement.matches('.attempt [open] > summary')")
    assert focused, browser.driver.execute_script("return document.activeElement.outerHTML.slice(0, 200)")
    assert "You are not signed in" not in browser.one("#result").text
    assert len(browser.all("#attempts [open] .problem")) == 1 and not browser.one("#result").find_elements(By.CSS_SELECTOR, "#outcome .problem")
    browser.expect_accessible("portal failed attempt")
    browser.size(390, 844)
    lines, cut = browser.driver.execute_script(ON_A_PHONE)
    browser.shoot("portal failed attempt 390")
    assert lines == [1] * len(lines) and cut == 0, (lines, cut)
    browser.size(1440, 900)
    browser.shoot("portal failed attempt 1440")
    tab(browser, "account")
    browser.one(".beginning")
    assert not browser.all(".example"), "an example of a failure beside a real one"


@test("a sign-in that ends on the provider's page is not denied: the portal says that it has not come back, and where its error is explained, or explains it")
def no_return(browser):
    open_portal(browser)
    browser.one("#sign-in").click()
    browser.wait("the provider", lambda: browser.driver.current_url.startswith(browser.server.tenant))
    browser.driver.back()
    browser.wait("the sentence", lambda: "has not come back from the provider" in browser.one("#outcome").text)
    browser.one("#sign-in").click()
    browser.wait("the provider", lambda: browser.driver.current_url.startswith(browser.server.tenant))
    open_portal(browser)
    browser.wait("the sentence", lambda: "has not come back from the provider" in browser.one("#outcome").text)
    browser.expect_accessible("portal no return")
    browser.press("If it showed an error there, paste it to have it explained.")
    browser.expect_page("/paste")
    # In the demo the way back brings its number, which is explained here.
    browser.server.control(authorize_platform_error=50011)
    open_portal(browser)
    browser.one("#sign-in").click()
    browser.wait("the provider's error", lambda: browser.at_tenant() and "AADSTS50011: " in browser.one("main").text)
    # Chromium reports its status.
    browser.allowed.append(browser.driver.current_url)
    browser.press("Back to Companion")
    browser.expect_page("/portal")
    is_explained = lambda: all(each in browser.one("#outcome").text for each in ("has not come back", "AADSTS50011", "The redirect URI is not registered."))
    browser.wait("the explanation", is_explained)
    # The browser's own way back brings nothing, and the demo's tenant is asked.
    browser.server.control(authorize_platform_error=50011)
    open_portal(browser)
    browser.one("#sign-in").click()
    browser.wait("the provider's error", lambda: browser.at_tenant() and "AADSTS50011: " in browser.one("main").text)
    browser.allowed.append(browser.driver.current_url)
    browser.driver.back()
    browser.expect_page("/portal")
    browser.wait("the explanation", is_explained)
    browser.wait("how to begin", lambda: browser.all(".beginning li"))
    assert not browser.seen("return seen('.example')[0]"), "an example of a failure below a real one"


@test("before the first sign-in there is how to begin and an example of an attempt, beside the registrations, which a press chooses")
def welcome(browser):
    open_portal(browser)
    browser.wait("the beginning", lambda: len(browser.all(".beginning li")) == 3)
    assert titles(browser) == ["iOS tutorial", "macOS tutorial", "External tenant tutorial", "Azure AD B2C tutorial", "Test portal"], titles(browser)
    assert "Example" in browser.one(".example").text and "AADSTS7000215" in browser.one(".example").text
    browser.expect_accessible("portal welcome")
    for width, height in ((1440, 900), (820, 1180), (390, 844)):
        browser.size(width, height)
        browser.shoot(f"portal welcome {width}")
    browser.size(1280, 800)
    registration(browser, "external")
    browser.expect_text("#result-title", "External tenant tutorial")
    assert [each.text for each in browser.all("#registrations [aria-current=true] b")] == ["External tenant tutorial"]
    sign_in(browser, "external", CUSTOMER)
    registration(browser, "ios")
    browser.wait("who is signed in where", lambda: CUSTOMER in browser.one("#registrations [data-app=external]").text)
    registration(browser, "external")
    browser.wait("the account instead", lambda: CUSTOMER in browser.one("#account").text and not browser.all(".beginning"))


@test("Clear stands beside the title of the settings, apart from what keeps them")
def clear(browser):
    open_portal(browser)
    settings(browser)
    browser.one("#login_hint").send_keys(ADELE)
    assert browser.all("#with")[0].get_attribute("textContent") == "With: Login hint"
    keep = [each.text for each in browser.all(".keep button")]
    assert keep == ["Copy link"], keep
    browser.press("Clear")
    assert browser.one("#login_hint").get_attribute("value") == "" and browser.all("#with")[0].get_attribute("textContent") == ""


@test("where a sign-in fails and the earlier one is still valid, the page says both")
def failed_beside_signed_in(browser):
    open_portal(browser)
    sign_in(browser, "ios", ADELE)
    browser.server.control(authorize_platform_error=50105)
    press_sign_in(browser)
    through_the_provider(browser, ADELE)
    browser.wait("the problem", lambda: "50105" in browser.one("#attempts [open]").text)
    assert "not assigned to the application" in browser.one("#attempts [open]").text
    assert f"Your earlier sign-in is still valid: you are signed in as {ADELE}." in browser.one("#outcome").text
    browser.expect_accessible("portal failed beside")
    registration(browser, "external")
    browser.server.control(authorize_platform_error=50105)
    press_sign_in(browser)
    through_the_provider(browser, CUSTOMER)
    browser.wait("the other problem", lambda: "External" in browser.one("#attempts [open] summary").text and "50105" in browser.one("#attempts [open]").text)
    assert "still valid" not in browser.one("#result").text
    registration(browser, "ios")
    browser.wait("the other application is well", lambda: ADELE in browser.one("#who").text)


@test("an attempt is copied as a report without anything personal, and two are compared side by side", needs="time")
def attempts(browser):
    open_portal(browser)
    choose(browser, "prompt", "login")
    browser.one("#login_hint").send_keys(ADELE)
    press_sign_in(browser)
    through_the_provider(browser, ADELE)
    open_portal(browser)
    browser.server.control(require_consent=ADELE)
    choose(browser, "prompt", "consent")
    browser.one("#login_hint").clear()
    press_sign_in(browser)
    through_the_provider(browser, ADELE, consent="cancel")
    tab(browser, "attempts")
    browser.wait("both attempts", lambda: len(browser.all("#attempts li.attempt")) == 2)
    browser.cdp("Browser.grantPermissions", origin=browser.server.origin, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])

    def is_open():
        details = browser.all("#attempts li.attempt details")[0]
        return details.get_attribute("open") or details.find_element(By.CSS_SELECTOR, "summary").click()
    browser.wait("the newest is open", is_open)
    browser.press("Copy as bug report")
    browser.wait("the button says so", lambda: "Copied" in browser.one("#attempts").text)
    report = browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert "65004" in report and "prompt" in report.lower(), report
    assert "adele" not in report.lower() and "state=" not in report and "code=" not in report, report
    browser.tick("#attempts .pick input")
    browser.press("Compare")
    rows = browser.wait("the comparison", lambda: browser.all("dialog[open] tbody tr"))
    marked = [row.text for row in rows if "differs" in row.text.lower()]
    assert any("consent" in row and "login" in row for row in marked), marked
    browser.expect_accessible("portal comparison")


@test("the link carries the settings and nothing personal, and fills the form of anyone who opens it")
def link(browser):
    open_portal(browser)
    registration(browser, "macos")
    choose(browser, "prompt", "login")
    browser.one("#login_hint").send_keys(ADELE)
    browser.one("#scope").send_keys("mail.read")
    browser.cdp("Browser.grantPermissions", origin=browser.server.origin, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.press("Copy link")
    browser.wait("the button says so", lambda: browser.one("#copy-link").text == "Copied")
    copied = browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert parse_qs(urlsplit(copied).query) == {"app": ["macos"], "prompt": ["login"], "scope": ["mail.read"]}, copied
    browser.driver.execute_script("sessionStorage.clear()")
    browser.driver.get(copied)
    browser.one("#columns")
    browser.expect_page("/portal")
    browser.expect_text("#result-title", "macOS tutorial")
    assert browser.one("#with").text == "With: Prompt, Additional scopes"
    settings(browser)
    values = [browser.one(f"#{field}").get_attribute("value") for field in ("prompt", "scope", "login_hint")]
    assert values == ["login", "mail.read", ""], values


@test("claims that are no JSON are refused before anybody leaves the page: their sheet opens for them, and closes")
def claims(browser):
    open_portal(browser)
    settings(browser)
    browser.one("#more summary").click()
    browser.one("#claims").send_keys('{"access_token":')
    press_sign_in(browser)
    browser.wait("what is wrong", lambda: browser.one("#claims-error").text)
    assert not browser.at_tenant()
    assert browser.driver.switch_to.active_element.get_attribute("id") == "claims"
    for width in (1280, 390):
        browser.size(width, 844)
        browser.keys(Keys.ESCAPE)
        assert not browser.driver.execute_script(SHEET), "the sheet does not close"
        browser.one("#sign-in").click()
        assert browser.driver.execute_script(SHEET), "the sheet does not open"
        assert browser.driver.switch_to.active_element.get_attribute("id") == "claims"


def is_signed_in(browser, app, cookie):
    """Whether anyone who has this cookie is still signed in there."""
    request = urllib.request.Request(f"{browser.server.origin}/api/{app}/account", headers={"Cookie": f"companion-{browser.server.port}={cookie}"})
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)["account"] is not None


@test("a tab that is pressed while the attempt of a failure is still asked for opens, and then the attempt does")
def tab_before_failure(browser):
    open_portal(browser)
    browser.server.control(authorize_platform_error=50105)
    with browser.holding("/api/attempts") as let_go:
        press_sign_in(browser)
        through_the_provider(browser, ADELE)
        browser.one("#columns")
        tab(browser, "tokens")
        browser.wait("the tab", lambda: browser.one("#tokens").text)
        let_go()
        browser.wait("the problem", lambda: "50105" in browser.one("#attempts [open]").text)


@test("a tab that is opened before the account is known is drawn once, when it is known")
def early_tab(browser):
    open_portal(browser)
    sign_in(browser, "portal", MEGAN)
    with browser.holding("/api/portal/account") as let_go:
        open_portal(browser)
        shown = tab(browser, "sessions")
        browser.wait("the first answer", lambda: browser.driver.execute_script("return window.held") == 1)
        # The page asks for the account again, as when it comes back to the foreground.
        browser.driver.execute_script("document.dispatchEvent(new Event('visibilitychange'))")
        browser.wait("the second answer", lambda: browser.driver.execute_script("return window.held") == 2)
        assert shown.text == "Loading…", shown.text
        let_go()
        browser.one("#sessions li.session")
        browser.settled()
    asked = browser.driver.execute_script(
        "return performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)")
    assert asked.count("/api/portal/account") == 2, asked
    assert asked.count("/api/portal/sessions") == 1, "the view was drawn anew under the person's hand"
    assert MEGAN in browser.one("#registrations [data-app=portal]").text


@test("the operator ends the session of somebody else, after a fresh sign-in where the last one is too old")
def end_session(browser):
    # A server of its own has no sessions of other tests.
    with browser.visiting(browser.server.sibling("ending")):
        open_portal(browser)
        sign_in(browser, "external", CUSTOMER)
        # All that the page still asks for is this session's.
        browser.wait("who it is", lambda: CUSTOMER in browser.one("#result").text)
        browser.settled()
        cookie = browser.driver.get_cookie(f"companion-{browser.server.port}")["value"]
        browser.cdp("Network.clearBrowserCookies")
        browser.driver.execute_script("sessionStorage.clear()")

        # The provider does not say when Megan gave her password, and was not asked for it.
        browser.server.control(omit_auth_time=True)
        open_portal(browser)
        sign_in(browser, "portal", MEGAN)
        shown = tab(browser, "sessions")
        browser.wait("the other session", lambda: CUSTOMER in shown.text)

        def others_row():
            [row] = [each for each in browser.all("#sessions li.session") if CUSTOMER in each.text]
            return row

        def revoke(answer):
            others_row().find_element(By.CSS_SELECTOR, "button").click()
            dialog = browser.one("dialog[open]")
            assert CUSTOMER in dialog.text, dialog.text
            [button] = [each for each in dialog.find_elements(By.CSS_SELECTOR, "button") if each.text == answer]
            button.click()

        revoke("Cancel")
        browser.wait("the dialog is gone", lambda: not browser.all("dialog[open]"))
        assert is_signed_in(browser, "external", cookie)
        key = others_row().get_attribute("data-key")
        browser.allow(f"/api/portal/sessions/{key}")
        revoke("Revoke")
        browser.wait("what is asked for", lambda: "signed in within the last five minutes" in shown.text)
        browser.expect_accessible("portal fresh sign-in")
        assert is_signed_in(browser, "external", cookie)

        browser.press("Sign in again")
        browser.choose_account(MEGAN)
        browser.enter_password()
        browser.expect_page("/portal")
        browser.wait("the same session at hand", lambda: browser.driver.execute_script(
            "return document.activeElement.closest('li.session')?.dataset.key") == key)
        shown = browser.one("#sessions")
        revoke("Revoke")
        browser.wait("it is ended", lambda: "The session is revoked." in shown.text)
        assert not is_signed_in(browser, "external", cookie)
        assert MEGAN in browser.one("#registrations [data-app=portal]").text


# The buttons in sight that stand out.
FILLED = """
const main = [...document.querySelectorAll(".primary")].filter((each) => each.checkVisibility());
return main.filter((each) => getComputedStyle(each).backgroundColor !== "rgba(0, 0, 0, 0)").map((each) => each.textContent);
"""


@test("the operator sees health and sessions; nobody else does")
def operator(browser):
    with browser.visiting(browser.server.sibling("operator")):
        open_portal(browser)
        browser.allow("/api/portal/sessions", "/api/portal/health?applications=ios&known=true")
        tab(browser, "health")
        # The registration's own button, above it, leads elsewhere.
        browser.wait("an offer to sign in here", lambda: browser.driver.execute_script(FILLED) == ["Sign in to the portal"])
        sign_in(browser, "ios", ADELE)
        assert not browser.all("#registrations strong, #registrations .tag") and not browser.seen("return seen('#summary')[0]")
        tab(browser, "health")
        browser.wait("an offer to sign in here", lambda: "Sign in to the portal" in browser.one("#health").text)
        shown = tab(browser, "sessions")
        browser.wait("an offer to sign in here", lambda: "Sign in" in shown.text)
        assert not browser.all("#registrations [aria-current=true]") and not browser.seen("return seen('#result-title')[0]")
        assert not browser.all("#sessions li"), shown.text
        registration(browser, "ios")
        tab(browser, "health")
        # The provider knows her.
        browser.press_in("#health", "Sign in to the portal")
        browser.wait("her role", lambda: "Not checked yet" in browser.one("#health").text)
        browser.size(390, 844)
        browser.shoot("portal not checked 390")
        card, last = browser.driver.execute_script("return ['#result', '#health > :last-child'].map((each) => document.querySelector(each).getBoundingClientRect().bottom)")
        assert card - last < 40, "the card is empty below its words"
        assert re.search(rf"Not checked yet\. {EXPIRES}\.", browser.one("#health").text), browser.one("#health").text
        browser.size(1280, 800)
        shown = tab(browser, "sessions")
        browser.wait("the sessions", lambda: shown.text.count(ADELE) == 2)
        assert "Not checked yet" in browser.one("#list").text
        # As a team sees it: what ends first is first, and nobody has asked the provider.
        days = [int(each) for each in re.findall(EXPIRES, browser.one("#registrations").text)]
        assert len(days) == 5 and days == sorted(days) and days[0] < 7 and days[1] > 30, days
        browser.server.control(provider_down="b2c")
        browser.press("Check all")
        browser.wait("what fails is first", lambda: titles(browser)[0] == "Azure AD B2C tutorial")
        assert "Problem" in browser.one("#registrations [data-app=b2c]").text
        registration(browser, "b2c")
        shown = tab(browser, "health")
        browser.wait("health", lambda: "cannot be reached" in shown.text)
        assert "cannot be reached" in browser.one("#health tbody tr").text, shown.text
        for width in (1440, 390):
            browser.size(width, 900)
            browser.shoot(f"portal health {width}")
            assert bool(browser.seen("return seen('#dock')[0]")) == (width == 1440)
        tab(browser, "account")
        browser.wait("how to begin", lambda: browser.all(".beginning li"))
        assert not browser.all(".example") and browser.seen("return seen('#dock')[0]")
        shown = tab(browser, "health")
        browser.size(1280, 800)
        browser.wait("health", lambda: "cannot be reached" in shown.text)
        browser.expect_accessible("portal operator")
        browser.server.control(provider_down=None)
        browser.press("Check now")
        browser.wait("it is well again", lambda: "Gone:" in shown.text and " good" in shown.text)
        browser.wait("the list says so", lambda: "Problem" not in browser.one("#list").text)
        browser.server.control(provider_down="b2c")
        browser.press("Check all")
        browser.wait("what is open says what the list says", lambda: "cannot be reached" in shown.text)
        browser.server.control(provider_down=None)


@test("in the demo, health names the account that may see it, whose sign-in asks for the password and comes back to the same health")
def demo_operator(browser):
    with browser.visiting(browser.server.sibling("newcomer")):
        open_portal(browser)
        registration(browser, "macos")
        browser.allow("/api/portal/health?applications=macos&known=true")
        shown = tab(browser, "health")
        browser.wait("the account", lambda: f"In this demo, sign in as {ADELE}, password: demo." in shown.text)
        browser.press_in("#health", "Sign in to the portal")
        browser.enter_password()
        browser.answer_consent()
        browser.expect_page("/portal")
        browser.wait("its health", lambda: "Not checked yet" in browser.one("#health").text)
        browser.expect_text("#result-title", "macOS tutorial")


@test("who is signed in to the portal without a role reads for whom health and sessions are")
def no_role(browser):
    served = Registrations(browser.server, 2)
    own = served.applications()
    served.applications = lambda: own | {"portal": own["portal"] | {"operators": {"users": ["00001111-aaaa-2222-bbbb-3333cccc4444"]}}}
    with browser.visiting(served):
        open_portal(browser)
        sign_in(browser, "portal", ADELE)
        browser.allow("/api/portal/sessions", "/api/portal/health?applications=portal&known=true")
        for name in ("health", "sessions"):
            shown = tab(browser, name)
            browser.wait("for whom it is", lambda: "This is for operators and readers of the portal." in shown.text)
            assert "may not sign in" not in shown.text, shown.text


@test("an account is signed out of the application, and of the browser")
def sign_out(browser):
    open_portal(browser)
    sign_in(browser, "ios", ADELE)
    tab(browser, "account")
    browser.press("Sign out of this application")
    browser.wait("nobody", lambda: ADELE not in browser.one("#result").text)
    sign_in(browser, "ios", ADELE)
    tab(browser, "account")
    browser.press("Sign out at the provider too")
    browser.expect_page("/auth/signed-out")


@test("a tab that is drawn again while its account is signed out asks nothing more about it")
def sign_out_while_drawn(browser):
    open_portal(browser)
    sign_in(browser, "ios", ADELE)
    shown = browser.one("#account")
    browser.wait("the view", lambda: "Why you may sign in here" in shown.text)
    let_go = browser.hold("/api/attempts")
    tab(browser, "account")
    browser.press("Sign out of this application")
    browser.wait("nobody", lambda: ADELE not in browser.one("#result").text)
    let_go()
    browser.settled()


def refreshing(browser):
    """A token of the account that is signed in is being refreshed, until the tenant lets it go; the account's tab is open."""
    open_portal(browser)
    sign_in(browser, "ios", ADELE)
    tab(browser, "tokens")
    browser.server.control(hold="token")
    browser.press("Force refresh")
    browser.wait("the tenant's wait", lambda: browser.server.control()["held"]["token"] == 1)
    tab(browser, "account")


@test("a token that is being refreshed while its account is signed out is not waited for, and brings no error")
def sign_out_while_refreshed(browser):
    refreshing(browser)
    browser.press("Sign out of this application")
    browser.wait("nobody", lambda: ADELE not in browser.one("#result").text)
    browser.server.control(hold=None)
    browser.settled()


@test("a token that is being refreshed when a sign-out fails may have come or not: its tab says that no answer came")
def failed_sign_out_while_refreshed(browser):
    refreshing(browser)
    browser.allow("/auth/ios/sign-out")
    browser.cdp("Network.enable")
    browser.cdp("Network.setBlockedURLs", urls=["*/auth/ios/sign-out"])
    browser.press("Sign out of this application")
    browser.wait("what is wrong", lambda: "cannot be reached" in browser.one("#outcome").text)
    browser.cdp("Network.setBlockedURLs", urls=[])
    browser.wait("the same in the other tab", lambda: "cannot be reached" in browser.all("#tokens")[0].get_attribute("textContent"))
    browser.server.control(hold=None)
    browser.press("Sign out of this application")
    browser.wait("nobody", lambda: ADELE not in browser.one("#result").text)


@test("a sign-out that fails says so, and the tab that was drawn again meanwhile is there")
def failed_sign_out(browser):
    open_portal(browser)
    sign_in(browser, "ios", ADELE)
    shown = browser.one("#account")
    browser.wait("the view", lambda: "Why you may sign in here" in shown.text)
    browser.driver.execute_script("document.querySelector('#account .facts').id = 'before'")
    let_go = browser.hold("/api/attempts")
    tab(browser, "account")
    browser.allow("/auth/ios/sign-out")
    browser.cdp("Network.enable")
    browser.cdp("Network.setBlockedURLs", urls=["*/auth/ios/sign-out"])
    browser.press("Sign out of this application")
    let_go()
    browser.wait("a new view", lambda: not browser.all("#before") and "Why you may sign in here" in shown.text)
    assert "cannot be reached" in browser.one("#outcome").text
    browser.cdp("Network.setBlockedURLs", urls=[])
    browser.press("Sign out of this application")
    browser.wait("nobody", lambda: ADELE not in browser.one("#result").text)


@test("the keyboard alone leads from the form to the provider and back, and through the tabs")
def keyboard(browser):
    open_portal(browser)
    browser.tab_to("#registrations [data-app=macos]")
    browser.keys(Keys.ENTER)
    browser.expect_text("#result-title", "macOS tutorial")
    browser.tab_to("#sign-in")
    browser.keys(Keys.ENTER)
    browser.sign_in_by_keyboard()
    browser.expect_page("/portal")
    browser.one("#columns")
    browser.tab_to("[role=tab][aria-selected=true]")
    for _ in range(2):
        browser.keys(Keys.ARROW_RIGHT)
    browser.wait("the API's tab", lambda: browser.one("#api").is_displayed())


@test("the page says that the server is gone, and works when it is back", needs="time")
def server_down(browser):
    open_portal(browser)
    sign_in(browser, "ios", ADELE)
    browser.allow("/api/ios/me", "/api/apps", "/api/ios/account")
    browser.wait("the account's view, which asks for more", lambda: "Why you may sign in here" in browser.one("#account").text)
    tab(browser, "api")
    browser.wait("the view", lambda: browser.all("#api button"))
    # The page's last requests find a server that answers.
    browser.settled()
    browser.server.kill()
    browser.press("Call the API")
    browser.wait("what is wrong", lambda: "cannot be reached" in browser.one("#api").text)
    browser.server.start()
    browser.press("Call the API")
    browser.wait("Graph's answer", lambda: "200" in browser.one("#api").text)


@test("an attempt is a row with outcome in words, account, prompt and duration, and its steps are bars along its time, the person's included")
def waterfall(browser):
    open_portal(browser)
    choose(browser, "prompt", "login")
    press_sign_in(browser)
    through_the_provider(browser, ADELE)
    tab(browser, "attempts")
    row = browser.one(".attempt summary")
    assert "iOS tutorial" in row.text and "Succeeded" in row.text and "login" in row.find_element(By.CSS_SELECTOR, ".prompt").text, row.text
    assert row.find_element(By.CSS_SELECTOR, ".username").text == ADELE, row.text
    assert "ms" in row.find_element(By.CSS_SELECTOR, ".took").text, row.text
    row.click()
    steps = [each.text for each in browser.all(".waterfall li > :first-child")]
    assert steps == ["sign-in page", "At the provider", "redirect", "token"], steps
    bars = browser.driver.execute_script("return [...document.querySelectorAll('.waterfall .bar')].map((e) => [e.offsetLeft, e.offsetWidth])")
    assert all(width > 0 for _, width in bars) and [left for left, _ in bars] == sorted(left for left, _ in bars), bars
    assert bars[1][1] > bars[0][1], "the person took longer than the server"
    browser.expect_accessible("portal waterfall")


@test("an attempt is tried again with one change: the form has its settings, without the login hint, and the two can be compared")
def retry(browser):
    open_portal(browser)
    choose(browser, "prompt", "login")
    browser.one("#login_hint").send_keys(ADELE)
    browser.one("#scope").send_keys("mail.read")
    press_sign_in(browser)
    through_the_provider(browser, ADELE)
    settings(browser)
    browser.one("#clear").click()
    registration(browser, "external")
    tab(browser, "attempts")
    browser.wait("none of this one", lambda: "No sign-in to this registration" in browser.one("#attempts").text)
    browser.tick("#attempts .each input")
    browser.one(".attempt summary").click()
    browser.press("Retry with one change")
    browser.one("#sheet[open]")
    browser.expect_text("#result-title", "iOS tutorial")
    values = browser.driver.execute_script("return ['prompt', 'scope', 'login_hint'].map((id) => document.getElementById(id).value)")
    assert values == ["login", "mail.read", ""], values
    assert "Change one" in browser.one("#changed").text
    choose(browser, "prompt", "consent")
    press_sign_in(browser)
    through_the_provider(browser, ADELE)
    tab(browser, "attempts")
    browser.wait("both attempts", lambda: len(browser.all(".attempt .pick input")) > 1)
    browser.tick(".attempt .pick input", 2)
    browser.press("Compare")
    browser.wait("what differs", lambda: "Prompt" in browser.one("dialog .comparison").text)


@test("decoded tokens say what they are for, what their claims mean, and of what kind a value is that is not shown", needs="time")
def meanings(browser):
    open_portal(browser)
    sign_in(browser, "ios", ADELE)
    panel = tab(browser, "tokens")
    browser.wait("meanings", lambda: panel.find_elements(By.CSS_SELECTOR, ".leaf .meaning"))
    leaves = {leaf.find_element(By.CSS_SELECTOR, ".key").text.rstrip(": "): leaf.text for leaf in panel.find_elements(By.CSS_SELECTOR, ".leaf")}
    assert "Not shown: the provider's session" in leaves["sid"] and "…" in leaves["sid"], leaves["sid"]
    assert "Not shown" in leaves["uti"] and len(leaves["oid"].split("\n")) > 1, leaves
    purposes = ["It is for Microsoft Graph, and only Graph can validate it.", "It tells the application who signed in."]
    assert all(panel.text.count(each) == 1 for each in purposes), panel.text
    assert panel.text.index(purposes[0]) < panel.text.index(purposes[1]), panel.text


@test("on a phone the registration comes first; the list opens above it, and the settings are a sheet from below", needs="time")
def sheet(browser):
    browser.size(390, 844)
    open_portal(browser)
    assert not browser.driver.execute_script("return document.getElementById('form').checkVisibility()")
    assert browser.one("#result").rect["y"] < 400, browser.one("#result").rect
    registration(browser, "macos")
    assert not browser.seen("return seen('#list')[0]"), "the list stays over what was chosen"
    assert browser.driver.switch_to.active_element.get_attribute("id") == "open-list"
    settings(browser)
    browser.expect_accessible("portal sheet")
    browser.size(390, 844)
    browser.keys(Keys.ESCAPE)
    browser.wait("it is closed", lambda: not browser.driver.execute_script("return document.getElementById('form').checkVisibility()"))
    assert browser.driver.switch_to.active_element.get_attribute("id") == "open-settings"
    press_sign_in(browser)
    through_the_provider(browser, ADELE)
    browser.wait("who it is", lambda: ADELE in browser.one("#result").text)
    assert "macOS tutorial" in browser.one("#result-title").text


SHEET = "return document.getElementById('form').checkVisibility()"
# The room between the demo's note and the title, and of the tabs beyond their row.
PHONE = """
const box = (selector) => document.querySelector(selector).getBoundingClientRect();
return [box("h1").top - box("#demo").bottom, Math.max(...[...document.querySelectorAll("[role=tab]")].map((e) => e.getBoundingClientRect().right)) - box("#tabs").right];
"""


@test("axe finds nothing in any tab, signed out and in, nothing is wider than 320 pixels, and it is light")
def looks(browser):
    open_portal(browser)
    browser.expect_light("/portal", 62_000)
    browser.expect_accessible("portal signed out", BOTH)
    sign_in(browser, "ios", ADELE)
    for name in ("account", "tokens", "api", "attempts"):
        tab(browser, name)
        if name == "api":
            browser.press("Call the API")
            browser.wait("Graph's answer", lambda: "200" in browser.one("#api").text)
        browser.settled()
        browser.expect_accessible(f"portal {name}", BOTH)
        browser.size(375, 667, 2)
        above, beside = browser.driver.execute_script(PHONE)
        assert above >= 8 and beside <= 0, (above, beside)
        assert not browser.driver.execute_script(SHEET), "the settings are over the results"
        browser.shoot(f"portal {name} phone")
        browser.size(1440, 900)
        browser.shoot(f"portal {name} desktop")
        browser.size(1280, 800)


@test("on a phone nothing touches or is cut: the note stands below the way home, and every tab can be seen", needs="time")
def phone(browser):
    browser.size(390, 844)
    open_portal(browser)
    browser.settled()
    found = browser.driver.execute_script(PHONE)
    assert found[0] >= 8 and found[1] <= 0, found
    browser.shoot("portal phone")


@test("of two attempts, what differs comes first, under what they were; the rest is folded, and outcomes are words", needs="time")
def comparison(browser):
    open_portal(browser)
    sign_in(browser, "ios", ADELE)
    browser.server.control(authorize_platform_error=50105)
    registration(browser, "external")
    press_sign_in(browser)
    through_the_provider(browser, CUSTOMER)
    browser.one("#columns")
    tab(browser, "attempts")
    browser.wait("both", lambda: len(browser.all("#attempts li.attempt")) == 2)
    assert "This account may not sign in" in browser.one("#attempts").text, browser.one("#attempts").text
    # The list is drawn anew when the session is known, and what was ticked before is not ticked any more.
    browser.settled()
    browser.tick("#attempts .each input")
    browser.tick("#attempts .pick input")
    browser.press("Compare")
    rows = browser.wait("the comparison", lambda: browser.all("dialog[open] table")[0].find_elements(By.CSS_SELECTOR, "tbody tr"))
    assert rows and all("Differs" in row.text for row in rows), [row.text for row in rows]
    cells = {row.find_element(By.TAG_NAME, "td").text.replace("Differs", "").strip(): [cell.text for cell in row.find_elements(By.TAG_NAME, "td")][1:] for row in rows}
    assert "not assigned" in cells["Reason"][0] and cells["Reason"][1] == "–", cells
    assert cells["Step: redirect"] == ["This account may not sign in", "Succeeded"], cells
    heads = browser.one("dialog[open] thead").text
    assert "Not known" in heads and cells["Username"] == ["Not known", ADELE], (heads, cells)
    assert "Succeeded" in heads and "iOS tutorial" in heads and "This account may not sign in" in heads, heads
    assert not browser.one("dialog[open] details").get_attribute("open"), "what is the same is not folded"
    browser.size(390, 844)
    browser.shoot("portal comparison phone")


# The content is longer than the dialog, does not go beyond its sides, and its last button is the one that is there.
CLOSE_IN_SIGHT = """
const dialog = document.querySelector("dialog[open]"), close = [...dialog.querySelectorAll("button")].at(-1);
const { left, top, width, height } = close.getBoundingClientRect();
return dialog.scrollHeight > 1.5 * dialog.clientHeight && dialog.scrollWidth <= dialog.clientWidth &&
  document.elementFromPoint(left + width / 2, top + height / 2) === close;
"""


@test("from the account one comes to the comparison, which says of how many; where Graph may not be asked, it says what names of groups need")
def to_comparison(browser):
    open_portal(browser)
    sign_in(browser, "ios", ADELE)
    tab(browser, "account")
    browser.press("Compare two people")
    browser.wait("who is missing", lambda: "To compare two people, sign in here with each of them." in browser.one("#attempts").text)
    # Who signs in there stays there.
    sign_in(browser, "ios", MEGAN)
    browser.wait("both", lambda: "Choose two to compare them." in browser.one("#attempts").text)
    browser.settled()
    browser.size(768, 1024)
    assert browser.seen("return seen('.attempt :is(.username, .prompt)').every((each) => each.offsetHeight < 1.8 * parseFloat(getComputedStyle(each).fontSize))"), "broken"
    browser.size(1280, 800)
    # There is no other pair.
    assert all(each.is_selected() for each in browser.all("#attempts .pick input"))
    browser.press("Compare")
    browser.wait("what is needed", lambda: "Group names need Graph's path /me/transitiveMemberOf" in browser.one("dialog[open]").text)


@test("two people are compared by account, rule, claims and token, each under their name; a copied report names neither", needs="time")
def two_people(browser):
    open_portal(browser)
    for username in (ADELE, MEGAN):
        sign_in(browser, "portal", username)
    browser.press("Compare two people")
    browser.wait("both, with their names", lambda: ADELE in (text := browser.one("#attempts").text) and MEGAN in text)
    browser.settled()
    browser.tick("#attempts .pick input")
    browser.press("Compare")
    browser.wait("the comparison", lambda: browser.all("dialog[open] tbody tr"))
    heads = browser.one("dialog[open] thead").text
    assert ADELE in heads and MEGAN in heads, heads
    assert "always differ" in browser.one("dialog[open] details").text and not browser.all("dialog[open] details[open]")
    browser.shoot("portal two people")
    browser.driver.execute_script("for (const each of document.querySelectorAll('dialog[open] details')) each.open = true")
    different, always, same = ({(cells := [cell.text for cell in row.find_elements(By.TAG_NAME, "td")])[0].removesuffix("Differs").strip(): cells[1:]
                                for row in part.find_elements(By.CSS_SELECTOR, "tbody tr")} for part in browser.all("dialog[open] table"))
    assert set(different["Username"]) == {ADELE, MEGAN}, different
    groups = [[re.sub(r"\(.{8}-.{4}-.{4}-.{4}-.{12}\)", "(id)", line) for line in cell.splitlines()] for cell in different["ID token: groups"]]
    assert sorted(groups) == [["All Employees (id) in both", "Marketing (id)"], ["All Employees (id) in both", "Retail (id)", "User Administrator (id)"]], groups
    assert "Group names need" not in browser.one("dialog[open]").text
    assert not [term for term in [*different, *same] if term.startswith("App roles")], "they are a claim of the ID token"
    assert next(iter(different)) == "Username" and not [term for term in different if term.endswith((": name", ": oid", ": sub", ": exp", ": iat", ": uti", ": sid"))], different
    assert len(set(always["ID token: name"])) == 2 and len(set(always["Access token: oid"])) == 2 and "ID token: iat" in always, always
    assert "Rule" in same and "Access token: aud" in same and not set(always) & (set(different) | set(same)), same
    for width, height in ((1440, 900), (390, 844)):
        browser.size(width, height)
        assert browser.driver.execute_script(CLOSE_IN_SIGHT), f"it is out of sight at {width}"
        browser.shoot(f"portal two people, all {width}")
    browser.size(1440, 900)
    browser.expect_accessible("portal two people")
    browser.press("Close")
    browser.one(".attempt summary").click()
    browser.cdp("Browser.grantPermissions", origin=browser.server.origin, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.press("Copy as bug report")
    browser.wait("the button says so", lambda: "Copied" in browser.one("#attempts").text)
    report = browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert "adele" not in report.lower() and "megan" not in report.lower(), report


@test("a tutorial's page at which two people have signed in leads to their comparison")
def compared_from_tutorial(browser):
    browser.sign_in()
    browser.press("Accounts")
    assert "Compare two people" not in browser.one("#accounts").text
    browser.press("Add an account")
    browser.choose_account(MEGAN)
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph(MEGAN)
    browser.press("Accounts (2)")
    browser.press("Compare two people")
    browser.wait("both are chosen", lambda: len(browser.all("#attempts .pick input:checked")) == 2)
    browser.press("Compare")
    browser.wait("the comparison", lambda: browser.all("dialog[open] tbody tr"))
    heads = browser.one("dialog[open] thead").text
    assert ADELE in heads and MEGAN in heads, heads


@test("the list says in one line how all are, and when they were checked; one's own session comes first")
def health_first(browser):
    with browser.visiting(browser.server.sibling("summary")):
        for _ in range(2):
            open_portal(browser)
            sign_in(browser, "external", CUSTOMER)
            # All that the page still asks for is this session's.
            browser.wait("who it is", lambda: CUSTOMER in browser.one("#result").text)
            browser.settled()
            browser.cdp("Network.clearBrowserCookies")
            browser.driver.execute_script("sessionStorage.clear()")
        open_portal(browser)
        sign_in(browser, "portal", MEGAN)
        tab(browser, "sessions")
        browser.wait("the sessions", lambda: len(browser.all("#sessions li.session")) == 3)
        first = browser.all("#sessions li.session")[0].text
        assert MEGAN in first and "This session" in first, first
        browser.press("Check all")
        said = lambda: re.search(rf"^Advice: 1 · iOS tutorial: Client secret expires {DAY}, in 6 days Checked {DAY}, ", browser.one("#summary").text)
        browser.wait("the summary", said)
        # The one that ends soon is first. Of what only a sign-in can show, nothing is called good.
        assert titles(browser)[0] == "iOS tutorial" and "Advice" in browser.one("#registrations [data-app=ios]").text
        assert "No problem found" in browser.one("#registrations [data-app=macos]").text, browser.one("#registrations").text
        # The findings are there when the page is opened again, and nobody is asked.
        asked = browser.server.counts()["discovery"]
        browser.driver.refresh()
        browser.wait("the summary of the last check", said)
        assert all("Good" in each.text or "No problem found" in each.text for each in browser.all("#registrations button")[1:])
        registration(browser, "ios")
        shown = tab(browser, "health")
        browser.wait("what ends soon", lambda: re.search(rf"The client secret expires on {DAY}, in 6 days\. Replace it\.", browser.one("#health tbody tr").text))
        # Both say the same day.
        assert len(set(re.findall(rf"expires (?:on )?({DAY}), in 6 days", browser.one("main").text))) == 1, browser.one("main").text
        # The good ones are folded away below those that are not known.
        browser.wait("its findings", lambda: re.search(r"\d checks are good", shown.text))
        assert "The authority responds" not in shown.text, shown.text
        browser.one("#health .folded > summary").click()
        browser.wait("the good ones", lambda: "The authority responds" in shown.text)
        times = re.findall(r"Checked (.*\d:.*)", browser.one("main").text)
        assert len(times) == 2 and len(set(times)) == 1, times
        assert browser.server.counts()["discovery"] == asked


@test("of more sessions than come at once, the operator reads that only those that are loaded are in order", needs="time")
def many_sessions(browser):
    with browser.visiting(browser.server.sibling("many", COMPANION_LIMITS_SIGN_INS_PER_MINUTE="6000", COMPANION_LIMITS_SIGN_IN_BURST="600")):
        for _ in range(60):
            # Each is a newcomer's, who comes back in vain.
            asked = {}

            class Redirects(urllib.request.HTTPRedirectHandler):
                def redirect_request(self, request, answer, code, message, headers, url):
                    if "/authorize?" in url:
                        asked.update(parse_qs(urlsplit(url).query))
                    return super().redirect_request(request, answer, code, message, headers, url)

            newcomer = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(), Redirects)
            with newcomer.open(browser.server.origin + "/auth/ios/sign-in", timeout=10) as response:
                assert response.url.startswith(browser.server.tenant)
            refusal = urlencode({"error": "access_denied", "state": asked["state"][0]})
            with newcomer.open(f"{asked['redirect_uri'][0]}?{refusal}", timeout=10) as response:
                assert "cancelled" in response.url, response.url
        open_portal(browser)
        sign_in(browser, "portal", MEGAN)
        shown = tab(browser, "sessions")
        browser.wait("the order", lambda: "Sorted by last use, among the 50 loaded so far." in shown.text)
        browser.press("More sessions")
        browser.wait("all", lambda: "Sorted by last use" not in shown.text and MEGAN in shown.text)
        assert "Sessions without an account (60)" in shown.text, shown.text


CUT = """
return [...document.querySelectorAll(".attempt summary > *, .registration > *, .session p, #health td")].filter((e) => e.checkVisibility()
  && (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline" || e.getBoundingClientRect().right > innerWidth)).map((e) => e.textContent);
"""


@test("signing in is the large button for who is not signed in, and none for who is")
def large_button(browser):
    plain = "rgba(0, 0, 0, 0)"
    large = lambda: browser.driver.execute_script("return [...document.querySelectorAll('#sign-in')].map((e) => getComputedStyle(e).backgroundColor)")
    open_portal(browser)
    assert large() != [plain], large()
    sign_in(browser, "portal", MEGAN)
    browser.wait("it is one of two", lambda: large() == [plain])


@test("a secret that expires on the next day says so", needs="time")
def one_day(browser):
    with browser.visiting(Registrations(browser.server, 6, days=-3)):
        open_portal(browser)
        sign_in(browser, "portal", MEGAN)
        browser.press("Check all")
        shown = browser.one("#list")
        said = rf"Client secret expires {DAY}, tomorrow\b"
        browser.wait("the summary", lambda: re.search(rf": {said} ", shown.text) and len(re.findall(rf"\n{said}\n", shown.text)) == 1)


@test("a team's home says how each registration is to who operates the portal, failing ones first; to others it says who they are alone")
def home_of_operator(browser):
    cards = lambda: [each.get_attribute("data-app") for each in browser.all("#cards .card")]
    with browser.visiting(Registrations(browser.server, 10)):
        browser.open("/")
        browser.settled()
        order = cards()
        assert not browser.all("#cards .marks") and not browser.one("#team").find_elements(By.CSS_SELECTOR, "#summary:not([hidden])")
        open_portal(browser)
        sign_in(browser, "portal", MEGAN)
        browser.press("Check all")
        browser.wait("what fails is first", lambda: "Problem" in browser.all("#registrations button")[0].text)
        first = browser.all("#registrations button")[0].get_attribute("data-app")
        browser.open("/")
        browser.wait("the states", lambda: len(browser.all("#cards .marks")) == 10)
        assert cards()[0] == first and sorted(cards()) == sorted(order), cards()
        assert browser.one("#summary").text.startswith("Problem: 1 · "), browser.one("#summary").text
        browser.expect_accessible("home of an operator", BOTH)
        for width in (1440, 768, 390):
            browser.size(width, 900)
            browser.shoot(f"home of an operator {width}")
        browser.size(1280, 800)
        title = browser.one("#cards .card h3 a").get_attribute("href")
        assert title.endswith(f"/portal?app={first}"), title
        browser.one("#cards .marks").click()
        browser.expect_page("/portal")
        browser.wait("its health", lambda: "Problem" in browser.one("#health tbody tr").text and browser.all("#tab-health[aria-selected=true]"))
        tab(browser, "account")
        browser.wait("how to begin", lambda: browser.all(".beginning li"))
        assert not browser.all(".example"), "an example of a failure beside a real one"
        browser.wait("the same one", lambda: browser.all(f"#registrations [data-app='{first}'][aria-current=true]"))


@test("registrations with the same title have their ids beside it, at home and in the portal", needs="time")
def same_titles(browser):
    served = Registrations(browser.server, 4)
    own = served.applications()
    served.applications = lambda: {id: each | {"title": "Timesheets"} if id.endswith("-test") else each for id, each in own.items()}
    expected = sorted(f"Timesheets ({id})" for id in own if id.endswith("-test"))
    with browser.visiting(served):
        browser.open("/")
        browser.settled()
        shown = [each.text for each in browser.all(".card h3")]
        assert sorted(each for each in shown if "Timesheets" in each) == expected and "Test portal" in shown, shown
        open_portal(browser)
        assert sorted(each for each in titles(browser) if "Timesheets" in each) == expected, titles(browser)
        registration(browser, expected[1].split("(")[1].rstrip(")"))
        browser.expect_text("#result-title", expected[1])


@test("with 40 registrations the home page finds cards by their words, and Enter opens the first; with a few there is no field", needs="time")
def home_finds(browser):
    browser.open("/")
    browser.settled()
    assert not browser.all("#find"), "a field although there are few cards"
    browser.expect_clean()
    with browser.visiting(Registrations(browser.server, 40)):
        browser.open("/")
        browser.settled()
        shown = lambda: [each.text for each in browser.all(".card h3") if each.is_displayed()]
        assert len(shown()) == 40
        field = browser.one("#find")
        field.send_keys("LIVE timesheets ios")
        browser.wait("one is left", lambda: shown() == ["Timesheets for iOS, live"])
        browser.expect_accessible("home found")
        field.send_keys("x")
        browser.wait("none", lambda: not shown() and "No applications match" in browser.one("#none-found").text)
        browser.expect_accessible("home none found")
        field.send_keys(Keys.BACKSPACE, Keys.ENTER)
        browser.expect_page("/timesheets-ios-live")
        with browser.typing_early("find", "LIVE timesheets ios"):
            browser.open("/")
            browser.wait("one is left", lambda: shown() == ["Timesheets for iOS, live"])


@test("of 40 registrations one is found by words of its name; what fails and what ends first is on top, and the rest is by name", needs="time")
def forty(browser):
    with browser.visiting(Registrations(browser.server, 40)):
        open_portal(browser)
        assert len(titles(browser)) == 40 and titles(browser) == sorted(titles(browser), key=str.casefold), titles(browser)
        field = browser.one("#list input[type=search]")
        field.send_keys("live timesheets ios")
        browser.wait("one is left", lambda: len(titles(browser)) == 1)
        browser.expect_accessible("portal find")
        field.send_keys("x")
        browser.expect_text("#none-found", "No applications match.")
        field.send_keys(Keys.BACKSPACE, Keys.ENTER)
        browser.expect_text("#result-title", "Timesheets for iOS, live")
        field.clear()
        field.send_keys(" ")
        sign_in(browser, "portal", MEGAN)
        browser.press("Check all")
        browser.wait("the summary", lambda: re.search(r"^Problem: 1 · Advice: 2 · .* in 16 days Checked", browser.one("#summary").text))
        rows = [each.text for each in browser.all("#registrations button")]
        days = [re.search(EXPIRES, row) for row in rows]
        ends = [int(each[1]) for each in days[1:] if each]
        # One problem, two pieces of advice; among the rest, what has a date, then by name.
        assert "Problem" in rows[0] and all("Advice" in row for row in rows[1:3]), rows[:3]
        assert ends[2:] == sorted(ends[2:]) and all(days[3:len(ends) + 1]) and not any(days[len(ends) + 1:]), rows
        rest = titles(browser)[len(ends) + 1:]
        assert rest == sorted(rest, key=str.casefold), rest
        browser.expect_accessible("portal 40 registrations")
        for width, height in ((390, 844), (820, 1180), (1280, 900)):
            browser.size(width, height)
            browser.shoot(f"portal 40 registrations {width}")
            assert not (cut := browser.driver.execute_script(CUT)), f"cut at {width}: {cut}"
        browser.one("#list input[type=search]").send_keys("travel macos")
        browser.wait("two lines", lambda: len(titles(browser)) == 2)
        browser.driver.refresh()
        browser.one("#columns")
        sign_in(browser, "fleet-and-vehicle-handover-macos-live", ADELE)
        tab(browser, "attempts")
        browser.tick("#attempts .each input")
        browser.wait("both attempts", lambda: len(browser.all("#attempts li.attempt")) == 2)
        for width, height in ((390, 844), (820, 1180), (1280, 900)):
            browser.size(width, height)
            browser.shoot(f"portal 40 attempts {width}")
            assert not (cut := browser.driver.execute_script(CUT)), f"cut at {width}: {cut}"

"""A case: one sign-in as a file without names, read as something hostile, and looked through step by step."""

import json
import re
from urllib.parse import quote, unquote

from selenium.webdriver.common.keys import Keys

from .browser import ADELE
from .columns import code, flow_heads, lit, place_of
from .kinds import CUSTOMER
from .missions import expect_in_sight
from .native import begin, paste
from .portal import MEGAN, open_portal, press_sign_in, registration, settings, sign_in, tab, through_the_provider
from .registry import registry
from .server import CLIENT_ID

tests, test = registry("cases", time="Ten failures that are replayed, hostile cases row by row, and widths. A case that is pasted, shared and replayed decides, and case.test.js.")

GOOD = {
    "case": 1, "companion": "1", "kind": "workforce", "settings": {"prompt": "login", "scopes": ["User.Read", "api://…/scope1"], "given": ["login_hint"]},
    "outcome": {"code": "consent_required", "number": "AADSTS65001"},
    "steps": [{"step": "authorize", "outcome": "ok", "to": "authorize"}, {"step": "callback", "outcome": "ok", "ms": 3},
              {"step": "token", "outcome": "consent_required", "to": "token", "status": 400, "ms": 41}],
    "claims": {"sub": "string", "claim1": "array"},
}


def changed(**more):
    return GOOD | more


HOSTILE = (
    ("no JSON", "hello", "not JSON"),
    ("another version", changed(case=2), "version 1"),
    ("more than 8 KB", changed(companion="1", claims={"sub": "s" * 9000}), "8 KB"),
    ("a setting more", changed(settings=GOOD["settings"] | {"tenant": "contoso"}), "settings.tenant"),
)


def show(browser, value):
    """As somebody's link opens it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    browser.open("/native")
    browser.open("/native/case#case=" + quote(text, safe=""))
    return browser.one("#found")


@test("nothing but a case is taken for one, and the sentence names the place that is wrong", needs="time")
def hostile(browser):
    for row, value, place in HOSTILE:
        found = show(browser, value)
        browser.wait(row, lambda: place in found.text)
        assert not browser.all(".stage")[0].is_displayed(), row
    found = show(browser, GOOD)
    browser.wait("the case", lambda: "recording of one sign-in" in found.text)


@test("without a case its page leads to the paste box, which opens one and names what is wrong with another")
def pasted(browser):
    browser.open("/native/case")
    browser.expect_page("/paste")
    begin(browser)
    paste(browser, json.dumps(changed(settings=GOOD["settings"] | {"tenant": "contoso"})))
    browser.wait("the place", lambda: "settings.tenant" in browser.one("#found").text)
    paste(browser, json.dumps(GOOD))
    browser.press("Open as a case")
    browser.wait("the case", lambda: "recording of one sign-in" in browser.one("#found").text)


# On a phone: what the story covers, what scrolls within the page, the room beside the menu, and what the bar covers at the page's end.
AS_ONE = """
const box = (selector) => document.querySelector(selector).getBoundingClientRect();
scrollTo(0, 0);
const story = box("#story").top;
const hidden = [...document.querySelectorAll("main > *, #found > *")].filter((each) => each.getBoundingClientRect().bottom > story).map((each) => each.textContent);
const inner = [...document.querySelectorAll("main, .stage, #story, .happened")].filter((each) => each.scrollHeight > each.clientHeight + 1 && getComputedStyle(each).overflowY !== "visible");
const beside = innerWidth - box(".rooms-open").right;
scrollTo(0, document.documentElement.scrollHeight);
const below = box("#timeline").bottom - box("#views").top;
scrollTo(0, 0);
return [hidden, inner.map((each) => each.id || each.className), beside, below];
"""


@test("a case is a tutorial's page without its screen: the step that failed is open, beside the Swift whose lines it lights; arrow keys go on from it, at every width", needs="time")
def scrub(browser):
    found = show(browser, GOOD)
    browser.press("The whole case as JSON")
    assert "Other settings" in browser.one("#found dl").text and '"scopes"' in browser.one("#found #json").text
    browser.press("The whole case as JSON")
    browser.wait("the step that failed", lambda: place_of(browser) == "Step 3 of 3" and "AADSTS65001" in found.text)
    assert "The application's permissions have not been granted yet. How to fix it: " in found.text, found.text
    step = browser.one("#timeline .step.now").text
    for part in ("grant_type=authorization_code", "400", "failed: consent_required", "41 ms", "were not granted"):
        assert part in step, step
    lit(browser, "Could not acquire token")
    code(browser, "parameters.promptType = .login", 'extraScopesToConsent = ["User.Read", "api://…/scope1"]')
    browser.wait("the drawing", lambda: browser.all("#wire-msal.lit.bad"))
    assert not browser.all(".screen, #accounts, #call-graph"), "there is an app to press"
    boxes = [browser.one(selector).rect for selector in ("main", "#timeline", "#code")]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[2]["y"] and boxes[1]["x"] + boxes[1]["width"] <= boxes[2]["x"], boxes
    browser.keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    browser.wait("the first", lambda: place_of(browser) == "Step 1 of 3" and "response_type=code" in browser.one("#timeline .step.now").text)
    browser.press("What each parameter means")
    browser.wait("their meaning", lambda: "PKCE" in browser.one("#timeline .parameters[open]").text)
    browser.keys(Keys.ARROW_LEFT)
    assert place_of(browser) == "Step 1 of 3"
    browser.expect_accessible("case")
    for width, height in ((1440, 900), (1024, 768), (390, 844)):
        browser.size(width, height)
        browser.settled()
        browser.shoot(f"case {width}")
        assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"it scrolls sideways at {width}"
    hidden, inner, beside, below = browser.driver.execute_script(AS_ONE)
    assert not hidden, f"the story covers {hidden}"
    assert not inner, f"{inner} scroll by themselves"
    assert beside < 24, "the menu is not at the right"
    assert below <= 0, "the bar of the views covers the end of the story"
    browser.one("#views [data-view=code]").click()
    lit(browser, "self.acquireTokenInteractively(account: nil)")
    browser.expect_accessible("case on a phone")


@test("a case of another kind has that chapter's code, and one without steps says so", needs="time")
def kinds(browser):
    for kind, part in (("external", "api://Your_API_Client_ID"), ("b2c", "MSALB2CAuthority"), ("oidc", "MSALAADAuthority")):
        show(browser, changed(kind=kind))
        code(browser, part)
    show(browser, changed(steps=[]))
    browser.wait("the sentence", lambda: "The case has no steps." in browser.one("#timeline").text)


def forget(browser):
    """Makes the browser one that has never been here."""
    browser.open("/")
    browser.cdp("Network.clearBrowserCookies")
    browser.driver.execute_script("sessionStorage.clear(); localStorage.clear()")


REPLAYED = {
    "case": 1, "companion": "1", "kind": "workforce", "settings": {"prompt": "select_account", "scopes": ["user.read"], "given": []},
    "outcome": {"code": "admin_consent_required", "number": "AADSTS90094"},
    "steps": [{"step": "authorize", "outcome": "ok", "to": "authorize", "ms": 19}, {"step": "callback", "outcome": "admin_consent_required", "ms": 1}],
    "claims": {},
}


@test("a case of somebody else's, replayed in a browser that has never been here, opens the attempt that it made")
def stranger(browser):
    forget(browser)
    browser.open("/native/case#case=" + quote(json.dumps(REPLAYED), safe=""))
    browser.wait("where it is replayed", lambda: "AADSTS90094" in (found := browser.one("#found").text) and "another one of the same kind is used" in found)
    found = browser.one("#found").text
    assert "Ask an administrator: Open the consent address and accept for everyone." in found, found
    assert "A case has no correlation ID, no time and no account. The sender has them: “Copy the error and its IDs” copies them." in found, found
    assert "Replay signs in at “Test portal” in this browser, and the sign-in fails with the same error." in found, found
    assert browser.one(".rooms [aria-current]").text == "Learn"
    browser.one("#found a.primary").click()
    browser.expect_page("/portal")
    browser.wait("the attempt", lambda: browser.all("#attempts [open]") and "AADSTS90094" in browser.one("#attempts [open]").text)
    assert "Replay of a case. Expected: AADSTS90094. Result: AADSTS90094." in browser.one("#attempts [open]").text
    browser.shoot("case replayed")
    assert "no more information" not in browser.one("main").text
    browser.expect_text("#result-title", "Test portal")


@test("a replay says that it is one above the story of a tutorial's page and in the portal, with what was expected beside what came, if that is a sign-in too; the next flow takes it away")
def said(browser):
    browser.stand_still()

    def replay(case, isLost=False):
        forget(browser)
        browser.open("/native/case#case=" + quote(json.dumps(case), safe=""))
        link = browser.one("#found a.primary")
        if isLost:
            browser.driver.execute_script("arguments[0].href = arguments[0].href.replace(/replay=[^&]*&/, '')", link)
        link.click()
    external = REPLAYED | {"kind": "external", "outcome": {"code": "access_denied", "number": "AADSTS50105"}, "replay": {"kind": "not_assigned"}}
    replay(external)
    browser.expect_page("/external")
    browser.expect_text(".replay", "Replay of a case. Expected: AADSTS50105. Result: AADSTS50105.")
    browser.wait("the explanation", lambda: "AADSTS50105" in browser.one("#timeline .step.failed .problem").text)
    browser.expect_log("Could not acquire token: ")
    expect_in_sight(browser, ".replay")
    browser.shoot("replay at a tutorial")
    browser.press("Acquire Token Interactively")
    browser.choose_account(CUSTOMER)
    browser.enter_password()
    browser.expect_log("Access token is ")
    assert not browser.all(".replay"), "another sign-in is said to be a replay"
    replay(external, isLost=True)
    browser.choose_account(CUSTOMER)
    browser.enter_password()
    browser.expect_text(".replay", "Replay of a case. Expected: AADSTS50105. Result: ok.")
    browser.shoot("replay that succeeds")
    replay(REPLAYED, isLost=True)
    through_the_provider(browser, ADELE)
    browser.expect_page("/portal")
    browser.wait("what came", lambda: "Replay of a case. Expected: AADSTS90094. Result: ok." in browser.one("#outcome").text)
    # One that was given up is said of no later sign-in.
    browser.open("/native/case#case=" + quote(json.dumps(REPLAYED), safe=""))
    browser.driver.execute_script("document.querySelector('#found').addEventListener('click', (event) => event.preventDefault())")
    browser.one("#found a.primary").click()
    browser.driver.refresh()
    browser.one("#found a.primary")
    open_portal(browser)
    assert "Replay of a case" not in browser.one("main").text


@test("a failure that stays on the provider's page is replayed in a browser that has never been here, and its way back says what came at the page that the case came from")
def on_page(browser):
    browser.stand_still()
    for number in (50011, 53003):
        forget(browser)
        if number == 50011:
            browser.server.control(authorize_platform_error=number)
        browser.open("/ios")
        browser.press("Call Microsoft Graph API")
        if number == 53003:
            browser.choose_account("blocked@contoso.example")
            browser.enter_password()
        leave_error(browser, number)
        browser.wait("the explanation", lambda: f"AADSTS{number}" in browser.one("#timeline .step.failed .problem").text)
        browser.press("Share as a case")
        browser.wait("the case", lambda: "/native/case#case=" in browser.driver.current_url)
        link = browser.driver.current_url
        forget(browser)
        browser.open("/native")
        browser.driver.get(link)
        browser.wait("where it is replayed", lambda: "Replay signs in at “iOS tutorial” in this browser" in browser.one("#found").text)
        assert "of the same kind" not in browser.one("#found").text
        browser.press("Replay in this demo")
        if number == 53003:
            browser.size(390, 844)
        leave_error(browser, number)
        browser.expect_page("/ios")
        expect_in_sight(browser, ".replay")
        browser.expect_text(".replay", f"Replay of a case. Expected: AADSTS{number}. Result: AADSTS{number}.")
        # It stays there when the error is explained below it.
        browser.settled()
        expect_in_sight(browser, ".replay")
        browser.shoot(f"case replayed {number}")


def leave_error(browser, number):
    browser.wait("the provider's error", lambda: browser.at_tenant() and f"AADSTS{number}: " in browser.one("main").text)
    # Chromium reports its status.
    browser.allowed.append(browser.driver.current_url)
    browser.press("Back to Companion")


# By number: at the provider's page, and when the code is redeemed.
FAILURES = [("authorize", number) for number in (50058, 16000, 65004, 90094, 50105, 53003)] + [("token", number) for number in (7000215, 7000222, 54005, 70008)]


@test("one's own attempt opens as a case, whose link says nothing about who and where, and another browser shows the same", needs="time")
def own(browser):
    links = []
    for place, number in FAILURES:
        browser.server.control(reset=True)
        # The provider does not know the person any more, and shows its pages.
        browser.cdp("Network.clearBrowserCookies")
        browser.server.control(**{f"{place}_platform_error": number})
        open_portal(browser)
        registration(browser, "portal")
        settings(browser)
        browser.one("#login_hint").clear()
        browser.one("#login_hint").send_keys(ADELE)
        press_sign_in(browser)
        # Some come before anybody has signed in.
        if place == "token" or number not in (50058, 16000):
            through_the_provider(browser, ADELE)
        browser.expect_page("/portal")
        browser.wait("the attempt", lambda: browser.all("#attempts [open]") and str(number) in browser.one("#attempts [open]").text)
        browser.press("Open as a case")
        browser.wait("the case", lambda: "/native/case#case=" in browser.driver.current_url)
        link = browser.driver.current_url
        text = unquote(link.split("#case=", 1)[1])
        for name in (ADELE, "adele", "contoso", "localhost", CLIENT_ID, "http", "eyJ"):
            assert name not in text, f"{name} in {text}"
        assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-", text), text
        case = json.loads(text)
        failed = next(step["step"] for step in case["steps"] if step["outcome"] not in ("ok", "cache"))
        assert failed == {"authorize": "callback", "token": "token"}[place], case
        assert case["outcome"]["number"] == f"AADSTS{number}" and "login_hint" in case["settings"]["given"], case
        assert len(text) <= 8192
        links.append((link, place, number))
    browser.server.control(reset=True)
    # In another browser the same step fails with the same number.
    for link, place, number in links:
        forget(browser)
        browser.open("/native")
        browser.driver.get(link)
        browser.wait("the case", lambda: f"AADSTS{number}" in browser.one("#found").text)
        browser.press("Replay in this demo")
        if place == "token":
            through_the_provider(browser, ADELE)
        browser.wait("the page", lambda: browser.driver.current_url.split("?")[0].endswith("/portal"))
        browser.wait("the same failure", lambda: browser.all("#attempts [open]") and str(number) in browser.one("#attempts [open]").text)


@test("a sign-in that succeeded is a case with the names and types of its claims", needs="time")
def succeeded(browser):
    open_portal(browser)
    sign_in(browser, "portal", ADELE)
    tab(browser, "attempts")
    browser.wait("the attempt", lambda: browser.all("#attempts details summary"))
    browser.one("#attempts details summary").click()
    browser.press("Open as a case")
    browser.wait("the case", lambda: "/native/case#case=" in browser.driver.current_url)
    browser.wait("the case", lambda: place_of(browser).startswith("Step 1 of"))
    browser.wait("why it is not replayed", lambda: "the sign-in succeeded" in browser.one("#found").text)
    browser.keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    browser.wait("the tokens' step", lambda: browser.one("#timeline .step.now").get_attribute("data-step") == "redeemed")
    browser.press("Claims of the ID token")
    claims = browser.wait("what is proved", lambda: browser.one("#timeline .token tbody").text)
    assert re.search(r"preferred_username\s+string\s+The username to show", claims), claims
    assert ADELE not in browser.all("#json")[0].get_attribute("textContent")


@test("a tutorial's sign-in is shared as a case, the one that failed too, which names nobody and leads back")
def shared(browser):
    browser.stand_still()
    browser.open("/ios")
    browser.expect_log("Account signed out. Updating UX")
    browser.wait("the story", lambda: browser.all("#share"))
    browser.settled()
    assert not browser.all("#share")[0].is_displayed(), "there is nothing to share"
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent("cancel")
    browser.wait("the explanation", lambda: "MSALErrorUserCanceled" in browser.one(".step .problem").text)
    browser.press("Share as a case")
    browser.expect_text("#found dl div:nth-child(2) dd", "cancelled · AADSTS65004")
    browser.wait("the step that failed", lambda: place_of(browser) == "Step 2 of 2")
    # A case has no names of hosts, and says in words which they are.
    sent = browser.driver.execute_script("return [...document.querySelectorAll('#timeline .step-request > .request')].map((each) => each.textContent)")
    assert [re.search("Host: (.*)", each)[1] for each in sent] == ["… (the identity platform)", "… (the app's redirect URI)"], sent
    browser.driver.back()
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.answer_consent()
    browser.expect_graph()
    browser.wait("the story", lambda: re.fullmatch(r"Step (\d) of \1", place_of(browser)))
    browser.press("Share as a case")
    browser.wait("the case", lambda: place_of(browser) == "Step 1 of 3")
    text = unquote(browser.driver.current_url.split("#case=", 1)[1])
    assert json.loads(text)["claims"]["preferred_username"] == "string" and "adele" not in text and "localhost" not in text, text
    code(browser, "parameters.promptType = .selectAccount")
    assert browser.all("#timeline .step[data-step=redeemed] .token"), "the step of the tokens has no claims"
    assert not browser.all("#share"), "a case is shared by its link"


@test("a sign-in that an API demanded is a case with the steps that led to it, and with the error that the provider sent; long stories say what may be missing")
def demanded(browser):
    browser.stand_still()
    browser.sign_in()
    browser.allow("/api/ios/me")
    browser.server.control(second_factor=True)
    browser.press("Call Microsoft Graph API")
    browser.one("button[name=second_factor][value=cancel]").click()
    browser.expect_log("Could not acquire token: ")
    browser.wait("the story", lambda: place_of(browser) == "Step 5 of 5")
    heads = flow_heads(browser)
    assert len(heads) == 2 and all(re.match(r"\d\d:\d\d:\d\d Sign-in", head) for head in heads) and "cancelled" in heads[0] and "done" in heads[1], heads
    browser.press("Share as a case")
    browser.one("#found dl")
    browser.wait("the step that failed", lambda: place_of(browser) == "Step 5 of 5")
    steps = [step.get_attribute("data-step") for step in browser.all("#timeline .step")]
    assert steps == ["cached", "challenge", "silent", "authorize", "callback"], steps
    assert "error=access_denied" in browser.one("#timeline .step.now").text
    assert "Earlier ones may be missing" not in browser.one("#found").text
    browser.wait("why it is not replayed", lambda: "the person pressed Cancel" in browser.one("#found").text)
    assert not browser.all("#found a.primary")
    browser.shoot("case demanded")
    found = show(browser, changed(steps=GOOD["steps"][:2] * 10))
    browser.wait("what may be missing", lambda: "at most 20 steps: the newest" in found.text)
    browser.wait("the demo cannot", lambda: "can't replay this outcome" in found.text)


@test("each of two tabs tells and shares the sign-in that it has begun, whichever ends last; one that has begun none tells the session's")
def of_two_tabs(browser):
    browser.stand_still()
    tabs = []
    for _ in range(2):
        if tabs:
            browser.driver.switch_to.new_window("tab")
        tabs.append(browser.driver.current_window_handle)
        browser.open("/ios")
        browser.expect_username("Signed out")
        browser.press("Call Microsoft Graph API")
        browser.one(f"button[name=username][value='{ADELE}']")
    # The second ends first, and is cancelled.
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent("cancel")
    browser.wait("it was cancelled", lambda: [head.split()[-1] for head in flow_heads(browser)] == ["cancelled"])
    browser.driver.switch_to.window(tabs[0])
    browser.choose_account()
    browser.wait("the next page", lambda: browser.all("input[name=password], button[name=consent]"))
    if browser.all("input[name=password]"):
        browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()
    browser.wait("it is done", lambda: [head.split()[-1] for head in flow_heads(browser)] == ["done"])
    browser.driver.switch_to.window(tabs[1])
    browser.driver.refresh()
    browser.expect_username(ADELE)
    browser.wait("it is its own", lambda: [head.split()[-1] for head in flow_heads(browser)] == ["cancelled"])
    browser.press("Share as a case")
    browser.expect_text("#found dl div:nth-child(2) dd", "cancelled · AADSTS65004")
    browser.driver.close()
    browser.driver.switch_to.window(tabs[0])
    browser.driver.switch_to.new_window("tab")
    browser.open("/ios")
    browser.expect_username(ADELE)
    browser.wait("both", lambda: [head.split()[-1] for head in flow_heads(browser)] == ["done", "cancelled"])


@test("a case has claims of its own account alone, and none of another one that is shown")
def of_another(browser):
    browser.stand_still()
    browser.sign_in()
    browser.one("#accounts summary").click()
    browser.press("Add an account")
    browser.choose_account(MEGAN)
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph(MEGAN)
    browser.wait("the end of the flow", lambda: not browser.all("button[aria-busy]"))
    for name, has_claims in ((MEGAN, True), (ADELE, False)):
        if name == ADELE:
            browser.driver.back()
            browser.one("#accounts summary").click()
            browser.click("Adele", lambda: next(each for each in browser.all("#accounts .pick") if ADELE in each.text))
        browser.expect_username(name)
        browser.press("Share as a case")
        browser.wait("the case", lambda: "#case=" in browser.driver.current_url)
        text = unquote(browser.driver.current_url.split("#case=", 1)[1])
        assert bool(json.loads(text)["claims"]) == has_claims, f"{name}: {text}"

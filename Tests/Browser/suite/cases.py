"""A case: one sign-in as a file without names, read as something hostile, and looked through step by step."""

import json
import re
from urllib.parse import unquote

from selenium.webdriver.common.keys import Keys

from .browser import ADELE
from .portal import choose, open_portal, sign_in, tab, through_the_provider
from .registry import registry
from .server import CLIENT_ID

tests, test = registry("cases")

GOOD = {
    "case": 1, "companion": "1", "kind": "workforce", "settings": {"prompt": "login", "scopes": ["User.Read", "api://…/scope1"], "given": ["login_hint"]},
    "outcome": {"code": "consent_required", "number": "AADSTS65001"},
    "steps": [{"step": "authorize", "outcome": "ok", "to": "authorize"}, {"step": "callback", "outcome": "ok", "ms": 3},
              {"step": "token", "outcome": "consent_required", "to": "token", "status": 400, "ms": 41}],
    "claims": {"sub": "string", "claim1": "array"},
}


def changed(**more):
    return GOOD | more


def step(**more):
    return changed(steps=[GOOD["steps"][0] | more])


HOSTILE = (
    ("no JSON", "hello", "not JSON"),
    ("another version", changed(case=2), "version 1"),
    ("a list", "[]", "case"),
    ("more than 8 KB", changed(companion="1", claims={"sub": "s" * 9000}), "8 KB"),
    ("one key more", changed(url="https://evil.example"), "case.url"),
    ("one key less", {name: value for name, value in GOOD.items() if name != "claims"}, "case.claims"),
    ("a version that is markup", changed(companion="<img src=x>"), "companion"),
    ("another kind", changed(kind="saml"), "kind"),
    ("another prompt", changed(settings=GOOD["settings"] | {"prompt": "always"}), "settings.prompt"),
    ("a scope with an address", changed(settings=GOOD["settings"] | {"scopes": ["https://evil.example/read"]}), "settings.scopes"),
    ("a scope with a name", changed(settings=GOOD["settings"] | {"scopes": ["api://contoso/read"]}), "settings.scopes"),
    ("given things that there are not", changed(settings=GOOD["settings"] | {"given": ["password"]}), "settings.given"),
    ("a setting more", changed(settings=GOOD["settings"] | {"tenant": "contoso"}), "settings.tenant"),
    ("an outcome that is a sentence", changed(outcome={"code": "It failed"}), "outcome.code"),
    ("a number of another form", changed(outcome={"code": "cancelled", "number": "12"}), "outcome.number"),
    ("a step that there is not", step(step="pay"), "steps.0.step"),
    ("a step with an address", step(endpoint="https://evil.example"), "steps.0.endpoint"),
    ("a status that is a text", step(status="200"), "steps.0.status"),
    ("a time below zero", step(ms=-1), "steps.0.ms"),
    ("a fraction of a millisecond", step(ms=1.5), "steps.0.ms"),
    ("21 steps", changed(steps=GOOD["steps"][:1] * 21), "steps"),
    ("a claim's value", changed(claims={"sub": "Adele"}), "claims"),
    ("a claim with a name of its own", changed(claims={"employee": "string"}), "claims"),
    ("a replay that there is not", changed(replay={"kind": "delete"}), "replay.kind"),
    ("a replay with an address", changed(replay={"kind": "cancelled", "url": "https://evil.example"}), "replay.url"),
    ("a prototype", json.dumps(GOOD)[:-1] + ', "__proto__": {"x": 1}}', "__proto__"),
)


def paste(browser, value):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    browser.driver.execute_script("const f = document.getElementById('paste'); f.value = arguments[0]; f.dispatchEvent(new Event('input'));", text)
    return browser.one("#found")


@test("nothing but a case is taken for one, and the sentence names the place that is wrong")
def hostile(browser):
    browser.open("/native/case")
    for row, value, place in HOSTILE:
        found = paste(browser, value)
        browser.wait(row, lambda: place in found.text)
        assert not browser.all(".scrubber"), row
    found = paste(browser, GOOD)
    browser.wait("the case", lambda: "somebody's recording" in found.text)


@test("arrow keys go through the steps, beginning with the one that failed, at every width")
def scrub(browser):
    browser.open("/native/case")
    found = paste(browser, GOOD)
    browser.wait("the step that failed", lambda: "Step 3 of 3" in found.text and "AADSTS65001" in found.text)
    assert "grant_type=authorization_code" in found.text and "HTTP 400" in found.text and "claim1 array" in found.text, found.text
    steps = browser.one(".scrubber")
    steps.send_keys(Keys.ARROW_LEFT)
    browser.wait("the second", lambda: "Step 2 of 3" in found.text)
    steps.send_keys(Keys.HOME)
    browser.wait("the first", lambda: "Step 1 of 3" in found.text and "response_type=code" in found.text)
    steps.send_keys(Keys.END, Keys.ARROW_RIGHT)
    browser.wait("the last", lambda: "Step 3 of 3" in found.text)
    browser.shoot("case")
    browser.expect_accessible("case")
    browser.size(360, 740)
    browser.expect_accessible("case on a phone")


# By number: at the provider's page, and when the code is redeemed.
FAILURES = [("authorize", number) for number in (50058, 16000, 65004, 90094, 50105, 53003)] + [("token", number) for number in (7000215, 7000222, 54005, 70008)]


@test("one's own attempt opens as a case, whose link says nothing about who and where, and another browser shows the same")
def own(browser):
    links = []
    for place, number in FAILURES:
        browser.server.control(reset=True)
        # The provider does not know the person any more, and shows its pages.
        browser.cdp("Network.clearBrowserCookies")
        browser.server.control(**{f"{place}_platform_error": number})
        open_portal(browser)
        choose(browser, "app", "portal")
        browser.one("#login_hint").clear()
        browser.one("#login_hint").send_keys(ADELE)
        browser.one("#sign-in").click()
        if place == "token":
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
        browser.cdp("Network.clearBrowserCookies")
        browser.open("/native")
        browser.driver.get(link)
        browser.wait("the case", lambda: f"AADSTS{number}" in browser.one("#found").text)
        browser.press("Replay in this demo")
        if place == "token":
            through_the_provider(browser, ADELE)
        browser.wait("the page", lambda: browser.driver.current_url.split("?")[0].endswith("/portal"))
        browser.wait("the same failure", lambda: browser.all("#attempts [open]") and str(number) in browser.one("#attempts [open]").text)


@test("a sign-in that succeeded is a case with the names and types of its claims")
def succeeded(browser):
    open_portal(browser)
    sign_in(browser, "portal", ADELE)
    tab(browser, "attempts")
    browser.wait("the attempt", lambda: browser.all("#attempts details summary"))
    browser.one("#attempts details summary").click()
    browser.press("Open as a case")
    browser.wait("the case", lambda: "/native/case#case=" in browser.driver.current_url)
    found = browser.one("#found")
    browser.wait("the case", lambda: "Step 1 of" in found.text)
    browser.one(".scrubber").send_keys(Keys.END)
    browser.wait("what is proved", lambda: "preferred_username string" in found.text)
    assert ADELE not in browser.one("#paste").get_attribute("value")

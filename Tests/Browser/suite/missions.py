"""Missions: what happens to an app with MSAL, for one person alone, and each with what must not count as done."""

import html
import http.cookiejar
import re
import urllib.error
import urllib.parse
import urllib.request

from .browser import ADELE
from .native import begin, paste
from .registry import registry

tests, test = registry("missions", time="A mission looks every one to three seconds, and often in vain. missions.test.js and MissionTests decide, with the forgotten permission and a stop in the browser.")

MEGAN = "megan@contoso.example"
ALL = ["A token that expires", "A second factor (claims challenge)", "Consent", "Cancel", "An administrator's approval", "Another account", "The provider is down",
       "Graph throttles", "A revoked session", "A forgotten permission", "A wrong redirect URI", "Your own app", "A missing keychain group", "A sign-in that works"]


def open_missions(browser):
    if not browser.all("#missions[open]"):
        browser.press("Things that go wrong")
    browser.wait("the missions", lambda: len(browser.all(".mission")) == len(ALL))


def entry(browser, title):
    """The mission's entry, unfolded."""
    open_missions(browser)
    def find():
        found = next(each for each in browser.all(".mission") if each.find_element("css selector", ".mission-title").text == title)
        if not found.find_elements("css selector", "details[open]"):
            found.find_element("css selector", "summary").click()
        return found.find_element("css selector", ".mission-now").is_displayed() and found
    return browser.wait(f"the mission {title!r}", find)


def start(browser, title):
    entry(browser, title).find_element("css selector", ".mission-buttons button").click()


def said(browser, title):
    """The words of the mission's card that say what to press."""
    return entry(browser, title).find_element("css selector", ".mission-now").text


def expect_under_way(browser):
    browser.wait("it is under way", lambda: browser.all(".mission.active"))


def expect_done(browser, title):
    browser.wait(f"{title} marks itself done", lambda: title in browser.driver.execute_script("return [...document.querySelectorAll('.mission.done .mission-title')].map((each) => each.textContent)"))
    assert not browser.all(".mission.active"), "it is still under way"


def expect_not_done(browser):
    """It has looked again, and goes on."""
    looks = "return performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/accounts')).length"
    before = browser.driver.execute_script(looks)
    browser.wait("it looks again", lambda: browser.driver.execute_script(looks) > before + 1)
    assert browser.all(".mission.active"), browser.one(".mission-note").text


def call(browser):
    browser.press("Call Microsoft Graph API")


def newest_steps(browser):
    """The kinds of the steps of what just happened, once all have arrived."""
    browser.wait("all steps", lambda: browser.all("#timeline .step") and not browser.all("#timeline .step.waiting"))
    return browser.driver.execute_script("return [...document.querySelector('#timeline .flow').querySelectorAll('.step')].map((e) => e.dataset.step)")


def expect_steps(browser, *steps):
    try:
        browser.wait(f"the steps {steps}", lambda: newest_steps(browser) == list(steps))
    except AssertionError as error:
        raise AssertionError(f"{error}: {newest_steps(browser)}")


@test("each mission says what to do before it starts; they are in the demo's tutorials alone", needs="time")
def missions(browser):
    browser.open("/ios")
    browser.expect_username("Signed out")
    open_missions(browser)
    assert [each.get_property("textContent") for each in browser.all(".mission-title")] == ALL
    for title in ALL:
        shown = entry(browser, title)
        assert shown.find_element("css selector", ".mission-now").text, title
        assert shown.find_element("css selector", ".mission-buttons button").text == "Start"
        assert not shown.find_elements("css selector", ".mission-remember"), f"{title} says at once what to remember"
    browser.expect_accessible("missions")
    browser.open("/external")
    browser.settled()
    assert not browser.all("#missions")


@test("a link opens the missions, or the one that it names; its Start signs in by itself and goes on, or says what to do where nobody has signed in")
def by_link(browser):
    browser.allow("/api/ios/me")
    browser.open("/ios")
    browser.expect_username("Signed out")
    browser.open("/ios#claims")
    browser.expect_text("#claims[open] .empty", "Not signed in. Your claims appear here once you have signed in with a button of the app.")
    for width in (1440, 390):
        browser.size(width, 900)
        browser.open("/kiosk")
        browser.open("/ios#missions")
        browser.wait("the list", lambda: len(browser.all("#missions[open] .mission")) == len(ALL) and browser.one(".mission").is_displayed())
        browser.open("/kiosk")
        browser.open("/ios#mission=second_factor")
        browser.wait("the mission", lambda: browser.all(".mission:nth-child(2) details[open]"))
        browser.wait("its Start in sight", lambda: browser.driver.execute_script(IN_SIGHT, browser.one(".mission details[open] .mission-buttons button")))
    # The page of failures leads to them.
    browser.size(1440, 900)
    browser.driver.get(browser.server.tenant + "/control")
    browser.press("Things that go wrong")
    browser.wait("the list from the page of failures", lambda: len(browser.all("#missions[open] .mission")) == len(ALL))
    # As long as nobody is signed in, it says who is to be, and that first.
    first = "You are not signed in yet: “Start” opens the sign-in page. Choose adele@contoso.example, password demo. Then: Press “Call Microsoft Graph API”. Graph returns 401"
    browser.wait("who signs in", lambda: said(browser, ALL[1]).startswith(first))
    assert said(browser, "An administrator's approval").startswith("Sign in as nevena@contoso.example, password demo")
    start(browser, ALL[1])
    browser.choose_account()
    browser.one("input[name=password]")
    browser.driver.back()
    browser.one("button[name=username]")
    browser.driver.back()
    browser.wait("why not", lambda: browser.all(".mission-note") and "Sign in first" in browser.one(".mission-note").text)
    start(browser, ALL[1])
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.expect_page("/ios")
    browser.wait("it is under way", lambda: browser.all(".mission-line:not([hidden])") and ALL[1] in browser.one(".mission-line").text)
    browser.wait("it is set up", lambda: browser.one("#call-graph").is_enabled())
    graph = "Press “Call Microsoft Graph API”. Graph returns 401, and the provider's page opens: press “Approve” there."
    assert browser.one(".mission-line p").text == f"{ALL[1]} {graph}", browser.one(".mission-line p").text
    call(browser)
    browser.one("button[name=second_factor][value=approve]")
    browser.driver.back()
    browser.wait("the challenge", lambda: browser.all(".mission-line") and "Graph has returned 401, and the second factor is not approved yet." in browser.one(".mission-line p").text)
    call(browser)
    browser.one("button[name=second_factor][value=approve]").click()
    expect_done(browser, ALL[1])
    # It is signed in, and signed out, where the card is.
    assert said(browser, ALL[1]) == graph, said(browser, ALL[1])
    browser.press("Sign Out")
    browser.wait("who signs in", lambda: said(browser, ALL[1]).startswith(first))


@test("a word of a sign-in leads from the paste box to a sign-in that works, which says what to press until its parameters are open, with the real values")
def first_sign_in(browser):
    for width, height in ((1440, 900), (390, 844)):
        browser.size(width, height)
        browser.open("/paste")
        begin(browser)
        paste(browser, "nonce")
        browser.press("See it happen")
        browser.wait("the mission", lambda: "password demo. Then: Under “What just happened”, open" in said(browser, ALL[13]))
        browser.shoot(f"mission of a sign-in that works {width}")
        start(browser, ALL[13])
        browser.choose_account()
        browser.enter_password()
        if width == 1440:
            browser.answer_consent()
        browser.expect_page("/ios")
        browser.wait("what to press", lambda: browser.all(".mission-line:not([hidden])") and "open the step “Sign-in page opened”" in browser.one(".mission-line").text)
        steps = browser.wait("the steps", lambda: {"authorize", "redeemed", "api"} <= set(newest_steps(browser)) and browser.one("#timeline .flow"))
        step = lambda name: steps.find_element("css selector", f".step[data-step={name}]")
        unfold = lambda name, part: browser.driver.execute_script("arguments[0].click()", step(name).find_element("css selector", part))
        unfold("authorize", ".step-name")
        sent = browser.wait("the request", lambda: "code_challenge=" in (text := step("authorize").find_element("css selector", ".request").text) and text)
        assert not re.search(r"(nonce|code_challenge)=…", sent), sent
        unfold("authorize", ".parameters summary")
        browser.wait("its meaning", lambda: "comes back in the ID token" in step("authorize").text)
        expect_done(browser, ALL[13])
        assert "code_verifier and your tokens' claims" in browser.one(".mission-line").text
        browser.shoot(f"mission of a sign-in that works, done {width}")
        unfold("redeemed", ".step-name")
        unfold("redeemed", ".access summary")
        browser.wait("the token's own claims", lambda: "user.read" in step("redeemed").find_element("css selector", ".access").get_property("textContent").lower())
        browser.cdp("Network.clearBrowserCookies")
        browser.driver.execute_script("localStorage.clear()")


@test("a token ends in the app's cache: the silent call refreshes it, Graph sees only the new one, all in one flow; and it stays done", needs="time")
def token_ends(browser):
    title = ALL[0]
    for app in ("ios", "macos"):
        browser.cdp("Network.clearBrowserCookies")
        browser.open("/")
        browser.driver.execute_script("localStorage.clear()")
        browser.server.control(require_consent=ADELE)
        browser.sign_in(app)
        start(browser, title)
        expect_under_way(browser)
        expect_not_done(browser)
        asked = browser.server.counts()
        call(browser)
        expect_done(browser, title)
        counts = browser.server.counts()
        assert (counts["token_refresh"], counts["graph_me"]) == (asked["token_refresh"] + 1, asked["graph_me"] + 1)
        expect_steps(browser, "refreshed", "api")
        browser.expect_log("Refreshed Access token is ")
        remember = entry(browser, title).find_element("css selector", ".mission-remember").text
        browser.shoot("mission done")
        assert remember == "Worth remembering: Call acquireTokenSilent before every call of the API, and leave the expiry to MSAL.", remember
        # The next call finds it in the cache.
        call(browser)
        expect_steps(browser, "cached", "api")
        browser.press(f"Next: {ALL[1]}")
        browser.wait("the next one", lambda: browser.all(".mission:nth-child(2) details[open]"))
        browser.driver.refresh()
        open_missions(browser)
        expect_done(browser, title)
        browser.wait("the count", lambda: "1 of 14" in browser.one(".mission-progress").text)


@test("a second factor is a claims challenge of Graph, which a sign-in with those claims meets; who cancels there has not done it", needs="time")
def second_factor(browser):
    browser.size(1440, 900)
    browser.sign_in()
    start(browser, ALL[1])
    expect_under_way(browser)
    browser.allow("/api/ios/me")
    call(browser)
    browser.one("button[name=second_factor][value=cancel]").click()
    browser.expect_log("Could not acquire token: ")
    expect_under_way(browser)
    expect_not_done(browser)
    call(browser)
    browser.one("button[name=second_factor][value=approve]").click()
    expect_done(browser, ALL[1])
    expect_steps(browser, "cached", "challenge", "silent", "authorize", "callback", "redeemed", "api")
    expect_folded(browser, "A 401 with claims needs a sign-in with these claims. Without them, MSAL returns the same token from its cache again.", ALL[2])
    browser.shoot("mission folded")
    heads = browser.driver.execute_script("""
        const { bottom } = document.querySelector(".happened").getBoundingClientRect(), top = document.querySelector(".way").getBoundingClientRect().bottom;
        return [...document.querySelectorAll(".flow:first-child .step-head")].map((each) => each.getBoundingClientRect()).filter((each) => each.top >= top && each.bottom <= bottom).length""")
    assert heads >= 5, f"{heads} of seven steps are in sight"
    browser.one("#timeline .flow .step[data-step=challenge] button").click()
    browser.wait("the challenge", lambda: 'error="insufficient_claims", claims="…"' in browser.one("#timeline .step[data-step=challenge]").text)
    lit = "return [...document.querySelectorAll('#code .run.lit')].map((run) => run.textContent).join('')"
    browser.wait("its lines", lambda: "func claimsChallenge(in response" in (lines := browser.driver.execute_script(lit)) and "parameters.claimsRequest = claims" in lines)
    assert 'clientApplicationCapabilities = ["CP1"]' in browser.driver.execute_script(lit)
    browser.shoot("mission challenge")
    call(browser)
    expect_steps(browser, "cached", "api")


IN_SIGHT = """
    const { left, right, top, bottom } = arguments[0].getBoundingClientRect();
    const corners = [[left + 3, top + 3], [right - 3, top + 3], [left + 3, bottom - 3], [right - 3, bottom - 3]];
    return corners.every(([x, y]) => { const hit = document.elementFromPoint(x, y); return hit && (arguments[0].contains(hit) || hit.contains(arguments[0])); })"""


def expect_in_sight(browser, selector):
    browser.wait(f"{selector} is whole and uncovered", lambda: browser.driver.execute_script(IN_SIGHT, browser.one(selector)))


def expect_folded(browser, remember, following):
    """The mission that is done is a line with what is worth remembering, which leaves the steps in sight."""
    assert not browser.all("#missions[open]"), "its list is open"
    line = browser.one(".mission-line").text.split("\n")
    share = browser.driver.execute_script("const [words] = document.querySelectorAll('.mission-line p'); return words.offsetWidth / words.parentElement.clientWidth")
    assert share > 0.3, f"its title has {share:.0%} of the line"
    assert line[0].startswith("Done: ") and line[1:] == [f"Worth remembering: {remember}", f"Next: {following}"], line
    for part in ("p:nth-child(2)", "button"):
        expect_in_sight(browser, f".mission-line {part}")
    expect_in_sight(browser, "#timeline .step .step-head")


@test("the Start of a mission that is opened is in sight, at a desk, in a low window and on a phone: no box that scrolls holds it out of sight", needs="time")
def start_in_sight(browser):
    browser.sign_in()
    for width, height in ((1440, 900), (1280, 680), (390, 844)):
        browser.size(width, height)
        if width == 390:
            browser.one("#views [data-view=story]").click()
        for title in ALL:
            entry(browser, title)
            browser.wait(f"{title} at {width}", lambda: browser.driver.execute_script(IN_SIGHT, browser.one(".mission details[open] .mission-buttons button")))
            browser.wait(f"the name of {title} at {width}, or it fills the story", lambda: browser.driver.execute_script(HEADED))
        browser.shoot(f"mission opened {width}")
        entry(browser, ALL[1])
        browser.shoot(f"mission of the second factor {width}")


# Whether the mission that is open has its heading in sight; one that is higher than its scroller need not.
HEADED = """
    const entry = document.querySelector(".mission details[open]"), scroller = entry.closest(innerWidth < 768 ? ".story" : "#missions-box");
    const head = entry.querySelector("summary").getBoundingClientRect(), room = scroller.getBoundingClientRect();
    return entry.offsetHeight > scroller.clientHeight || (head.top >= room.top - 1 && head.bottom <= room.bottom + 1)"""


@test("a mission under way is a line above the steps, which says what to press and is never cut; once done, what is worth remembering; its list is folded, and back when it is stopped")
def one_line(browser):
    browser.sign_in()
    for width, height in ((1440, 900), (1000, 640), (390, 844)):
        browser.size(width, height)
        if width == 390:
            browser.one("#views [data-view=story]").click()
        start(browser, ALL[9])
        browser.wait("its list is folded", lambda: not browser.all("#missions[open]"))
        line = browser.one(".mission-line").text
        assert line == "A forgotten permission Press “Call Microsoft Graph API”.\nStop", line
        assert browser.driver.execute_script("return document.activeElement.closest('.mission-line') !== null"), "the focus is lost"
        if width == 390:
            browser.one("#views [data-view=app]").click()
        expect_in_sight(browser, ".mission-line button")
        expect_in_sight(browser, "#call-graph")
        browser.expect_accessible(f"mission under way {width}")
        browser.size(width, height)
        # It goes on in a page that is loaded again, whose list is folded.
        browser.driver.refresh()
        browser.wait("it is under way", lambda: browser.all(".mission-line:not([hidden])"))
        assert not browser.all("#missions[open]")
        browser.allow("/api/ios/token")
        # On a phone the mission is found done before the page has the refusal, whose explanation is brought in sight.
        let_go = browser.hold("/api/ios/token") if width == 390 else None
        call(browser)
        expect_done(browser, ALL[9])
        if let_go:
            let_go()
        browser.wait("the explanation", lambda: browser.all("#timeline .step .problem"))
        assert not browser.all("#timeline .on-purpose"), "the mission's own failure is said to be somebody's"
        expect_folded(browser, "AADSTS650057 is repaired in the app registration, not in your code: add the API under API permissions.", ALL[10])
        browser.shoot(f"mission folded {width}")
        browser.expect_accessible(f"mission done {width}")
        browser.size(width, height)
        # The one after it, although nine before it are not done.
        browser.press(f"Next: {ALL[10]}")
        browser.wait("the next one", lambda: browser.all("#missions[open] [data-mission=redirect_uri][open]"))
        assert not browser.all(".mission-line:not([hidden])"), "the line stands beside its list"
        start(browser, ALL[9])
        browser.one(".mission-line button").click()
        browser.wait("it has stopped", lambda: not browser.all(".mission.active"))
        expect_in_sight(browser, "#missions [data-mission=permission] .mission-buttons button")
        browser.driver.execute_script("localStorage.clear()")
        browser.open("/ios")


@test("the provider is down: the silent call fails as the tutorial says, Graph is not asked, and nobody is signed out", needs="time")
def provider_down(browser):
    browser.sign_in("macos")
    start(browser, ALL[6])
    expect_under_way(browser)
    expect_not_done(browser)
    asked = browser.server.counts()["graph_me"]
    browser.allow("/api/macos/token")
    call(browser)
    said = browser.expect_log("Could not acquire token silently: ")
    assert "provider_unavailable" in said, said
    browser.wait("MSAL's error", lambda: "MSALErrorDomain −50000" in browser.one(".step .problem").text)
    expect_done(browser, ALL[6])
    expect_steps(browser, "silent")
    browser.expect_username(ADELE)
    assert browser.server.counts()["graph_me"] == asked, "Graph was asked without a token"
    call(browser)
    browser.expect_log("Refreshed Access token is ")
    expect_steps(browser, "refreshed", "api")


@test("a mission that is stopped leaves nothing behind, nor does one whose person signs out")
def stopped(browser):
    browser.sign_in()
    start(browser, ALL[6])
    expect_under_way(browser)
    browser.press("Stop")
    browser.wait("it has stopped", lambda: not browser.all(".mission.active") and not browser.all(".mission.done"))
    assert not browser.all(".mission-remember"), "what to remember is said before it is done"
    call(browser)
    browser.expect_log("Refreshed Access token is ")
    start(browser, ALL[6])
    expect_under_way(browser)
    browser.press("Sign Out")
    browser.wait("it has stopped", lambda: not browser.all(".mission.active") and "Sign in first" in browser.one(".mission-note").text)
    # Its Start signs in, with the same session at the provider.
    start(browser, ALL[6])
    browser.choose_account()
    browser.expect_page("/ios")
    browser.wait("it is under way", lambda: browser.all(".mission-line:not([hidden])"))
    browser.press("Stop")
    browser.wait("it has stopped", lambda: not browser.all(".mission.active"))
    call(browser)
    browser.expect_log("Refreshed Access token is ")
    refreshed = browser.driver.execute_async_script("""
        const headers = { "X-Companion": "1", "Content-Type": "application/json" };
        fetch("/api/ios/token", { method: "POST", headers, body: '{"force_refresh": true}' }).then(({ status }) => arguments[0](status))""")
    assert refreshed == 200, f"the failure outlives its mission: {refreshed}"


@test("Graph throttles: neither its pause nor a call before its end is the end, only a call after it; MSAL has no error for either", needs="time")
def graph_throttles(browser):
    browser.sign_in()
    start(browser, ALL[7])
    expect_under_way(browser)
    browser.allow("/api/ios/me")
    def expect_pause():
        box = browser.wait("the pause", lambda: "You can try again in" in (text := browser.one(".step .problem").text) and text)
        assert "The API asks for a pause" in box and "MSAL" not in box, box
    call(browser)
    expect_pause()
    expect_not_done(browser)
    call(browser)
    browser.wait("the server's own answer", lambda: "(throttled" in browser.log()[-1])
    expect_pause()
    expect_not_done(browser)
    browser.wait("half of the pause", lambda: re.search(r"try again in [1-4] s", browser.one(".step .problem").text))
    browser.wait("its end", lambda: "You can try again now." in browser.one(".step .problem").text)
    call(browser)
    expect_done(browser, ALL[7])


@test("a revoked session: the silent call asks for interaction, the provider for the password; who goes back has not done it", needs="time")
def revoked(browser):
    for app in ("ios", "macos"):
        browser.cdp("Network.clearBrowserCookies")
        browser.server.control(require_consent=ADELE)
        browser.open("/")
        browser.driver.execute_script("localStorage.clear()")
        browser.sign_in(app)
        start(browser, ALL[8])
        expect_under_way(browser)
        browser.allow(f"/api/{app}/token")
        call(browser)
        browser.one("input[name=password]")
        assert ADELE in browser.one("body").text, "the provider does not say whose password it wants"
        browser.driver.back()
        expect_under_way(browser)
        expect_not_done(browser)
        call(browser)
        browser.enter_password()
        expect_done(browser, ALL[8])
        expect_steps(browser, "silent", "authorize", "callback", "redeemed", "api")


@test("consent, cancelling, an administrator's approval and another account are led to, and marked when that has happened and nothing else", needs="time")
def led(browser):
    browser.sign_in()
    start(browser, "Consent")
    browser.answer_consent("cancel")
    expect_under_way(browser)
    expect_not_done(browser)
    start(browser, "Cancel")
    browser.answer_consent()
    expect_under_way(browser)
    expect_not_done(browser)
    browser.press("Stop")
    start(browser, "Consent")
    browser.answer_consent()
    expect_done(browser, "Consent")
    start(browser, "Cancel")
    browser.answer_consent("cancel")
    expect_done(browser, "Cancel")
    start(browser, "An administrator's approval")
    browser.enter_password()
    browser.one("button[name=consent][value=cancel]").click()
    expect_done(browser, "An administrator's approval")
    start(browser, "Another account")
    browser.choose_account(ADELE)
    expect_under_way(browser)
    expect_not_done(browser)
    start(browser, "Another account")
    browser.wait("it has stopped", lambda: not browser.all(".mission.active"))
    start(browser, "Another account")
    browser.choose_account(MEGAN)
    browser.enter_password()
    browser.answer_consent()
    expect_done(browser, "Another account")
    open_missions(browser)
    browser.wait("the count", lambda: "4 of 14" in browser.one(".mission-progress").text)


@test("an API that the registration does not list gets no new token, which no sign-in is asked to mend, and nobody is signed out")
def permission(browser):
    browser.sign_in("macos")
    start(browser, ALL[9])
    expect_under_way(browser)
    expect_not_done(browser)
    asked = browser.server.counts()["graph_me"]
    browser.allow("/api/macos/token")
    call(browser)
    said = browser.expect_log("Could not acquire token silently: ")
    assert "provider_rejected_client" in said, said
    browser.wait("its number", lambda: "AADSTS650057" in browser.one(".step .problem").text)
    expect_done(browser, ALL[9])
    browser.expect_username(ADELE)
    assert browser.server.counts()["graph_me"] == asked, "Graph was asked without a token"
    call(browser)
    browser.expect_log("Refreshed Access token is ")


@test("a wrong redirect URI is refused on the provider's own page, and the app hears nothing: that page is the end, and its way back explains the number", needs="time")
def redirect_uri(browser):
    browser.open("/ios")
    browser.expect_username("Signed out")
    browser.driver.execute_script("sessionStorage.setItem('mission:ios', JSON.stringify({ id: 'redirect_uri', since: '', request: crypto.randomUUID() }))")
    browser.driver.refresh()
    open_missions(browser)
    expect_not_done(browser)
    browser.press("Stop")
    for app in ("ios", "macos"):
        browser.driver.execute_script("localStorage.clear()")
        browser.open(f"/{app}")
        start(browser, ALL[10])
        browser.wait("the provider's page", browser.at_tenant)
        # Chromium reports its status 400.
        browser.allowed.append(browser.driver.current_url)
        page = browser.one("main").text
        assert "AADSTS50011" in page and "msauth.com.contoso.renamed://auth" in page, page
        if app == "ios":
            browser.driver.back()
        else:
            browser.press("Back to Companion")
        browser.expect_page(f"/{app}")
        expect_done(browser, ALL[10])
        expect_steps(browser, "authorize", "unreturned")
        browser.wait("the number in the last step", lambda: "AADSTS50011" in browser.one("#timeline .step[data-step=unreturned] .problem").text)


class NativeApp:
    """Signs in at the demo's tenant as MSAL does in Microsoft's sample app."""

    CLIENT = {"client_id": "66855f8a-60cd-445e-a9bb-8cd8eadbd3fa", "redirect_uri": "msauth.com.microsoft.identitysample.MSALiOS://auth"}
    VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # RFC 7636 appendix B
    CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    class Staying(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *arguments):
            return None

    def __init__(self, server):
        self.tenant = server.tenant
        self.opener = urllib.request.build_opener(self.Staying, urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))

    def ask(self, url, fields=None):
        """Status, Location and body."""
        request = urllib.request.Request(url, data=fields and urllib.parse.urlencode(fields).encode(), headers={"Origin": self.tenant} if "/login" in url else {})
        try:
            with self.opener.open(request, timeout=10) as answer:
                return answer.status, answer.headers["Location"], answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Location"], error.read().decode()

    def redeem(self, code):
        fields = {**self.CLIENT, "grant_type": "authorization_code", "code": code, "code_verifier": self.VERIFIER}
        return self.ask(f"{self.tenant}/common/oauth2/v2.0/token", fields)[0]

    def sign_in(self):
        query = {**self.CLIENT, "response_type": "code", "scope": "openid profile offline_access user.read", "login_hint": ADELE,
                 "code_challenge": self.CHALLENGE, "code_challenge_method": "S256"}
        _, location, page = self.ask(f"{self.tenant}/common/oauth2/v2.0/authorize?{urllib.parse.urlencode(query)}")
        while not (location and location.startswith("msauth.")):
            if location:
                _, location, page = self.ask(urllib.parse.urljoin(self.tenant, location))
                continue
            action = html.unescape(re.search(r'<form method="post" action="([^"]*)"', page)[1])
            fields = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page))
            fields |= {"password": "demo"} if 'name="password"' in page else {"consent": "accept"}
            _, location, page = self.ask(urllib.parse.urljoin(self.tenant, action), fields)
        return self.redeem(urllib.parse.parse_qs(urllib.parse.urlsplit(location).query)["code"][0])


@test("the reader's own app signs in at the demo's tenant: neither this page's sign-in nor a code that is refused counts", needs="time")
def native_app(browser):
    browser.open("/ios")
    browser.expect_username("Signed out")
    shown = entry(browser, ALL[11])
    assert "plain http, which MSAL refuses" in shown.text and "companion demo --https --native com.contoso.tasks" in shown.text, shown.text
    links = {link.text: link.get_attribute("href") for link in shown.find_elements("css selector", "a")}
    assert links["Watch its requests arrive"] == browser.server.tenant + "/clients", links
    browser.expect_accessible("native mission")
    browser.shoot("mission of the own app")
    start(browser, ALL[11])
    expect_under_way(browser)
    call(browser)
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()
    expect_under_way(browser)
    app = NativeApp(browser.server)
    assert app.redeem("wrong") == 400
    expect_not_done(browser)
    assert app.sign_in() == 200
    expect_done(browser, ALL[11])
    # Earlier steps do not count for the next time.
    start(browser, ALL[11])
    expect_under_way(browser)
    expect_not_done(browser)


@test("a missing keychain group: the file check says what is missing, and its corrected file is the end; a right file alone is not", needs="time")
def keychain(browser):
    for app, group in (("ios", "com.microsoft.adalcache"), ("macos", "com.microsoft.identity.universalstorage")):
        browser.open(f"/{app}")
        browser.driver.execute_script("localStorage.clear()")
        browser.driver.refresh()
        browser.expect_username("Signed out")
        start(browser, ALL[12])
        expect_under_way(browser)
        shown = entry(browser, ALL[12])
        assert "Code=-34018" in shown.text, shown.text
        file = shown.find_elements("css selector", "pre")[1].text
        # It may be below the buttons, which are always in sight.
        browser.driver.execute_script("document.querySelector('[data-mission=keychain] .mission-links a').scrollIntoView({ block: 'nearest' })")
        browser.press("Open the file check")
        browser.expect_page("/paste")
        begin(browser)
        paste(browser, file)
        said = browser.one("#found").text
        assert "keychain-access-groups is missing" in said, said
        corrected = browser.one("#found pre").text
        assert group in corrected, corrected
        # Nobody has read what is missing in a right file.
        browser.driver.execute_script("localStorage.setItem('mission:keychain', 'begun')")
        paste(browser, corrected)
        browser.wait("it is right", lambda: browser.all("#found .fine"))
        browser.open(f"/{app}")
        expect_under_way(browser)
        expect_not_done(browser)
        begin(browser)
        paste(browser, file)
        paste(browser, corrected)
        browser.wait("it is right", lambda: browser.all("#found .fine"))
        browser.open(f"/{app}")
        expect_done(browser, ALL[12])
        assert browser.driver.execute_script("return localStorage.getItem('mission:keychain')") is None


@test("what a mission has set up is undone when the page is left, and set up again when it is back", needs="time")
def left(browser):
    browser.sign_in()
    start(browser, ALL[6])
    expect_under_way(browser)
    browser.press("Companion")
    browser.expect_page("/")
    browser.open("/macos")
    browser.expect_username("Signed out")
    # The same session at the provider: no question, and no failure.
    call(browser)
    browser.choose_account()
    browser.expect_graph()
    browser.open("/ios")
    expect_under_way(browser)
    browser.wait("it is set up", lambda: browser.driver.execute_script(
        "return performance.getEntriesByType('resource').some((e) => e.name.endsWith('/api/demo/mission'))"))
    browser.allow("/api/ios/token")
    call(browser)
    expect_done(browser, ALL[6])

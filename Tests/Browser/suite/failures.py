"""Failures on the way, and the page's words about them."""

import json
import re
from urllib.parse import unquote

from selenium.webdriver.common.keys import Keys

from .browser import ADELE
from .looks import SHIFT
from .missions import expect_under_way, start
from .registry import registry
from .server import CLIENT_ID

tests, test = registry("failures", time="Countdowns, and many trips for one sentence each. A failure of each kind decides, with PlatformErrorTests, LimitTests, TripTests and branches.test.js.")

# Seconds. So short that every call has to refresh: a stored token is served in the provider's absence only while it is good.
SHORT = 5


@test("where interaction is required, the same account signs in again, by its hint, without the picker")
def interaction_required(browser):
    browser.server.control(access_token_seconds=SHORT)
    browser.sign_in()
    browser.server.control(revoke=ADELE)
    browser.allow("/api/ios/token")
    browser.press("Call Microsoft Graph API")
    browser.one("input[name=password]")
    assert browser.at_tenant(), browser.driver.current_url
    # The sign-on is revoked too, so that only the hint can say whose password the provider wants.
    assert ADELE in browser.one("body").text, "the password page does not say whose password it wants"
    browser.enter_password()
    browser.expect_log("Access token is ")
    browser.expect_graph()


@test("the page says that an account needs an administrator's consent", needs="time")
def admin_consent(browser):
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.choose_account("nevena@contoso.example")
    browser.enter_password()
    browser.answer_consent("cancel")
    browser.expect_page("/ios")
    said = browser.expect_log("Could not acquire token: ")
    assert "administrator" in said, said
    browser.expect_username("Signed out")


@test("a wrong password is refused on the password page, and the right one goes on", needs="time")
def wrong_password(browser):
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password("wrong")
    browser.wait("a message", lambda: browser.all("[role=alert]"))
    browser.expect_accessible("tenant wrong password")
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()


@test("a Graph error is shown as an error, with its request id")
def graph_error(browser):
    browser.sign_in()
    body = {"error": {"code": "Authorization_RequestDenied", "message": "Insufficient privileges to complete the operation."}}
    browser.server.control(graph_error={"status": 403, "body": body, "times": 1})
    browser.allow("/api/ios/me")
    browser.press("Call Microsoft Graph API")
    said = browser.expect_log("Couldn't get graph result: ")
    assert "Authorization_RequestDenied Insufficient privileges to complete the operation." in said, said
    assert "Request ID " in said, said
    browser.expect_username(ADELE)
    browser.press("Call Microsoft Graph API")
    browser.wait("a second result", lambda: sum(text.startswith("Result from Graph: ") for text in browser.log()) == 2)


@test("the page says to try again when Graph is out of order, and then Graph answers", needs="time")
def graph_down(browser):
    browser.sign_in()
    browser.server.control(graph_error={"status": 500, "body": {"error": {"code": "generalException", "message": "No."}}, "times": 1})
    browser.allow("/api/ios/me")
    browser.press("Call Microsoft Graph API")
    said = browser.expect_log("Couldn't get graph result: ")
    assert "generalException No. Try again in a moment. Request ID " in said, said
    browser.press("Call Microsoft Graph API")
    browser.wait("a result", lambda: sum(text.startswith("Result from Graph: ") for text in browser.log()) == 2)


@test("the page says how long a throttled Graph wants to be left alone, nobody asks it before, and then it answers", needs="time")
def throttled(browser):
    browser.sign_in()
    body = {"error": {"code": "TooManyRequests", "message": "Too many requests"}}
    browser.server.control(graph_error={"status": 429, "body": body, "headers": {"Retry-After": "4"}, "times": 1})
    browser.allow("/api/ios/me")
    browser.press("Call Microsoft Graph API")
    said = browser.expect_log("Couldn't get graph result: ")
    assert "Try again in 4 seconds." in said, said
    asked = browser.server.counts()["graph_me"]
    browser.press("Call Microsoft Graph API")
    browser.wait("the countdown", lambda: "You can try again in" in browser.one(".step .problem").text)
    assert browser.server.counts()["graph_me"] == asked, "Graph was asked although it wants to be left alone"
    browser.wait("its end", lambda: "You can try again now." in browser.one(".step .problem").text)
    browser.press("Call Microsoft Graph API")
    browser.wait("a result", lambda: sum(text.startswith("Result from Graph: ") for text in browser.log()) == 2)


@test("the page says that the provider is down, nobody is signed out, and it recovers")
def provider_down(browser):
    browser.server.control(access_token_seconds=SHORT)
    browser.sign_in()
    browser.server.control(token_error={"status": 503, "body": "Service Unavailable", "times": 20})
    browser.allow("/api/ios/token")
    browser.press("Call Microsoft Graph API")
    said = browser.expect_log("Could not acquire token silently: ")
    assert "provider_unavailable" in said, said
    browser.expect_username(ADELE)
    browser.driver.refresh()
    browser.expect_username(ADELE)
    browser.server.control(reset=True)
    browser.press("Call Microsoft Graph API")
    browser.expect_log("Refreshed Access token is ")
    browser.expect_graph()


@test("the page says that the provider is down during the sign-in")
def provider_down_at_sign_in(browser):
    browser.server.control(token_error={"status": 503, "body": "Service Unavailable", "times": 20})
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    said = browser.expect_log("Could not acquire token: ")
    assert "provider_unavailable" in said and "correlation ID" in said, said
    browser.expect_username("Signed out")


@test("a refusal, a pause and a failure of Graph are each explained: what it means, who can fix it, how", needs="time")
def graph_explained(browser):
    browser.sign_in()
    rows = {
        403: ("The API refused the call", "Ask an administrator:", "lacks the permission"),
        429: ("The API asks for a pause", "How to fix it:", "Retry-After"),
        503: ("The API cannot respond right now", "How to fix it:", "you are still signed in"),
    }
    browser.allow("/api/ios/me")
    for status, (title, who, reason) in rows.items():
        error = {"status": status, "body": {"error": {"code": "Denied", "message": "No."}}, "times": 1}
        browser.server.control(graph_error=error | ({"headers": {"Retry-After": "6"}} if status == 429 else {}))
        browser.press("Call Microsoft Graph API")
        browser.wait(f"the explanation of {status}", lambda: title in browser.one(".step .problem").text)
        panel = browser.one(".step:has(.problem)").text
        assert f"HTTP {status}" in panel and who in panel and reason in panel and "Correlation ID" in panel, panel
        if status != 429:
            browser.expect_accessible(f"graph {status}")
            continue
        # While the pause lasts the server answers by itself, and says once how long.
        browser.press("Call Microsoft Graph API")
        said = browser.wait("the server's own answer", lambda: next((text for text in browser.log()[-1:] if "(throttled" in text), None))
        assert len(re.findall(r"Try again in", said)) == 1, said
        browser.expect_accessible(f"graph {status}")
        browser.wait("the end of the pause", lambda: "You can try again now." in browser.one(".step .problem").text)


@test("cancelling is no fault: neither the log nor the step is red; nobody is signed in, and the next try works")
def calm_cancel(browser):
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent("cancel")
    browser.expect_page("/ios")
    browser.expect_log("Could not acquire token: You cancelled.")
    browser.expect_username("Signed out")
    # And the error that the app would print.
    printed = browser.expect_log("Error Domain=MSALErrorDomain Code=-50005 ")
    assert re.search(r"MSALCorrelationIDKey=[0-9a-f-]{36}", printed), printed
    assert not browser.all("#log .bad"), "the log is red"
    browser.one(".step:not(.failed) .problem")
    assert not browser.all(".problem button, .on-purpose"), "support has nothing to do with it"
    browser.expect_accessible("cancelled")
    # The error came back, and no code.
    browser.wait("the step", lambda: browser.driver.execute_script("return document.querySelector('#timeline .step[data-step=callback] .step-request')"))
    sent = browser.driver.execute_script("return document.querySelector('#timeline .step[data-step=callback] .step-request').textContent")
    assert "error=access_denied" in sent and "error_description=AADSTS65004: …" in sent and "code=" not in sent, sent
    browser.press("Call Microsoft Graph API")
    browser.wait("the tenant", browser.at_tenant)


# Keeps all that a screen reader is told from now on, beside the log: what is put into a status.
HEARD = """
window.heard = [];
const hear = ({ target }) => {
  const status = (target.closest ? target : target.parentElement)?.closest("[role=status], [role=alert], [aria-live]:not([role=log])");
  if (status) heard.push(status.textContent);
};
new MutationObserver((all) => new Set(all).forEach(hear)).observe(document.body, { childList: true, characterData: true, subtree: true });
"""
# Where the steps' list begins below the story's top, before anything in it is opened, and how many steps it has.
LIST = """
const list = document.querySelector("#timeline"), story = document.querySelector(".happened");
return [Math.round(list.getBoundingClientRect().top - story.getBoundingClientRect().top + story.scrollTop), document.querySelectorAll(".flow").length];
"""
# Whether what each explanation copies for support has the identifier of its step.
OWN = """
const copied = [];
navigator.clipboard.writeText = async (text) => copied.push(text);
return [...document.querySelectorAll(".step.failed")].map((step, place) => {
  step.querySelector(".problem > p:nth-last-child(2) button").click();
  return copied[place].includes(step.querySelector(".step-request > dl > dd:last-child").textContent);
});
"""
IN_SIGHT = """
const step = document.querySelector(".step.failed"), { top } = step.getBoundingClientRect();
return top >= step.closest(".happened").getBoundingClientRect().top - 1 && top < innerHeight - 100;
"""


@test("a failure is a red step of the same list: open when it comes, with its explanation and no box beside it, announced once, and kept for later")
def failed_step(browser):
    browser.stand_still()
    browser.sign_in()
    browser.wait("the steps", lambda: len(browser.all("#timeline .step")) == 4)
    place, flows = browser.driver.execute_script(LIST)
    browser.driver.execute_script(HEARD)
    browser.server.control(graph_error={"status": 403, "body": {"error": {"code": "Denied", "message": "No."}}, "times": 1})
    browser.allow("/api/ios/me", "/api/ios/token")
    browser.press("Call Microsoft Graph API")
    shown = browser.wait("the explanation", lambda: browser.one(".flow:first-child .step.failed[data-step=api] .problem").text)
    name = lambda flow: browser.one(f".flow:nth-child({flow}) .step.failed .step-request dd:last-of-type").text
    first = name(1)
    assert browser.driver.execute_script(LIST) == [place, flows + 1], "the list was pushed away"
    assert shown.endswith("Made on purpose? A failure that is set at Failures counts down, and may be used up by now."), shown
    leads = browser.one(".step.failed .on-purpose a").get_attribute("href")
    assert leads == browser.all(".rooms a[href*='/control?']")[0].get_attribute("href") and "/control?" in leads, leads
    assert "The API refused the call" in shown and "Ask an administrator:" in shown and "HTTP 403" in shown, shown
    assert browser.driver.execute_script(IN_SIGHT), "the step is out of sight"
    heard = browser.driver.execute_script("return heard.filter((each) => each.includes('lacks the permission'))")
    assert len(heard) == 1 and heard[0].startswith("The API refused the call"), heard
    browser.press("Copy the error and its IDs")
    browser.wait("that is said, too", lambda: browser.driver.execute_script("return heard.at(-1)") in ("Copied", "Not copied"))
    # The step folds it away, and brings it back.
    browser.one(".step.failed .step-name").click()
    browser.wait("it is closed", lambda: not browser.all(".step.failed .problem")[0].is_displayed())
    browser.server.control(graph_error={"status": 403, "body": {"error": {"code": "Denied", "message": "No."}}, "times": 1})
    browser.press("Call Microsoft Graph API")
    browser.wait("the next failure", lambda: browser.one(".flow:first-child .step.failed .problem").text == shown and name(1) != first)
    browser.one(".flow:nth-child(2) .step.failed .step-name").click()
    browser.wait("the same explanation", lambda: browser.one(".flow:nth-child(2) .step.failed .problem").text == shown and name(2) == first)
    assert browser.driver.execute_script(OWN) == [True, True], "an explanation is not of its step"
    browser.expect_accessible("a failed step")
    # Whoever comes next does not read it.
    browser.press("Sign Out")
    browser.expect_username("Signed out")
    browser.wait("it is gone", lambda: not browser.all(".problem"))


@test("where the story is another view, the app's own says in a line what failed, and a button leads to the step; the next press takes the line away")
def failed_elsewhere(browser):
    browser.stand_still()
    browser.sign_in()
    browser.allow("/api/ios/me")
    for width, height, view in ((390, 844, "app"), (390, 844, "code"), (820, 1180, "code")):
        browser.size(width, height)
        if browser.one(f"#views [data-view={view}]").get_attribute("aria-pressed") == "false":
            browser.one(f"#views [data-view={view}]").click()
        browser.server.control(graph_error={"status": 403, "body": {"error": {"code": "Denied", "message": "No."}}, "times": 1})
        browser.press("Call Microsoft Graph API")
        browser.expect_text(".failure span", "The API refused the call")
        # The story comes after the line.
        browser.wait("the news of a step that failed", lambda: browser.all("#views .news.failed"))
        # The newest attempt counts: it has not come to anything, then it has gone well.
        let_go = browser.hold("/api/ios/token")
        browser.press("Call Microsoft Graph API")
        browser.wait("no news", lambda: not browser.all("#views .news"))
        let_go()
        browser.wait("good news", lambda: browser.all("#views .news:not(.failed)"))
        browser.wait("the end", lambda: not browser.all(".action[aria-busy=true]"))
        browser.server.control(graph_error={"status": 403, "body": {"error": {"code": "Denied", "message": "No."}}, "times": 1})
        browser.press("Call Microsoft Graph API")
        browser.expect_text(".failure span", "The API refused the call")
        browser.wait("the news of a step that failed", lambda: browser.all("#views .news.failed"))
        assert not browser.all("#timeline")[0].is_displayed(), f"at {width} the view was changed"
        browser.expect_accessible(f"a line about a failure at {width}, {view}")
        browser.size(width, height)
        browser.wait(f"the line is in sight at {width} beside {view}", lambda: browser.driver.execute_script(UNCOVERED, browser.one(".failure button")))
        if view == "code":
            browser.driver.execute_script("document.querySelector('#code .listing').scrollTo(0, 1e6)")
            assert browser.driver.execute_script("return document.querySelector('#code .listing').getBoundingClientRect().bottom <= document.querySelector('.failure').getBoundingClientRect().top || innerWidth > 767"), "it lies over the code"
        browser.one(".failure button").click()
        browser.wait("the explanation", lambda: "HTTP 403" in browser.one(".flow:first-child .step.failed .problem").text)
        browser.wait("the focus is there", lambda: browser.driver.execute_script("return document.activeElement.matches('.flow:first-child .step.failed .step-name')"))
        assert browser.driver.execute_script(IN_SIGHT), f"the step is out of sight at {width}"
        assert not browser.all(".failure")[0].is_displayed() and not browser.all("#views .news"), f"at {width} the line stands beside the step"
        browser.one(f"#views [data-view={view}]").click()
        browser.one(".failure")
        browser.press("Call Microsoft Graph API")
        browser.wait("the line is gone", lambda: not browser.all(".failure")[0].is_displayed())
        browser.wait("the end", lambda: not browser.all(".action[aria-busy=true]"))


UNCOVERED = "const r = arguments[0].getBoundingClientRect(); return arguments[0].contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2))"

# The number of times that the id of a failed step stands in it, open.
IDS = """
const step = [...document.querySelectorAll(".step")].find((each) => each.querySelector(".outcome.bad"));
if (step.querySelector(".step-name").ariaExpanded === "false") step.querySelector(".step-name").click();
return step.innerText.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g).filter((id, _, all) => id === all.at(-1)).length;
"""


@test("a failed step says once by which correlation ID it is found, when it has failed and when the page is loaded again; what is copied for support has it")
def one_id(browser):
    browser.stand_still()
    browser.sign_in()
    browser.server.control(graph_error={"status": 403, "body": {"error": {"code": "Denied", "message": "No."}}, "times": 1})
    browser.allow("/api/ios/me")
    browser.press("Call Microsoft Graph API")
    browser.wait("the explanation", lambda: "HTTP 403" in browser.one(".step .problem").text)
    assert browser.driver.execute_script(IDS) == 1
    browser.driver.refresh()
    browser.wait("the steps", lambda: browser.all(".step .outcome.bad"))
    assert browser.driver.execute_script(IDS) == 1 and not browser.all(".step .problem")
    browser.server.control(token_platform_error=7000222)
    browser.open("/ios")
    browser.press("Accounts")
    browser.press("Add an account")
    browser.choose_account("megan@contoso.example")
    browser.enter_password()
    browser.answer_consent()
    browser.wait("the explanation", lambda: "AADSTS7000222" in browser.one(".step .problem").text)
    assert browser.driver.execute_script(IDS) == 1
    browser.driver.execute_script("navigator.clipboard.writeText = (text) => Promise.resolve(window.copied = text)")
    browser.press("Copy the error and its IDs")
    copied = browser.wait("the copy", lambda: browser.driver.execute_script("return window.copied"))
    assert re.search("Correlation ID: [0-9a-f-]{36}", copied), copied
    browser.driver.refresh()
    browser.wait("the steps", lambda: browser.all(".step .outcome.bad"))
    assert browser.driver.execute_script(IDS) == 1


@test("what the server does not remember is a step all the same: the end of a loop, and an address that anyone can write")
def own_step(browser):
    browser.stand_still()
    browser.sign_in()
    browser.wait("the steps", lambda: len(browser.all("#timeline .step")) == 4)
    browser.open("/ios?sign_in_error=sign_in_loop&retry_after=60")
    browser.wait("the notice", lambda: "kept starting over" in browser.one(".step.failed .problem").text)
    assert [step.get_attribute("data-step") for step in browser.all("#timeline .flow:first-child .step")][-1] == "authorize"
    assert len(browser.all("#timeline .step")) == 5 and "failed: sign_in_loop" in browser.one(".step.failed").text
    browser.wait("the countdown", lambda: "You can try again in" in browser.one(".step.failed .problem").text)


@test("where nobody answers at the provider's address, every page says so and stays, at sign-in and at sign-out", needs="time")
def no_answer(browser):
    starts = {"/ios": "#call-graph", "/macos": "#call-graph", "/external": "#acquire-interactively", "/b2c": "#authorize", "/portal": "#sign-in"}
    browser.server.control(provider_down="all")
    for page, button in starts.items():
        browser.open(page)
        browser.settled()
        browser.one(button).click()
        browser.wait(f"{page} says why", lambda: "provider_unavailable" in browser.one("body").text)
        browser.expect_page(page)
        assert browser.one("a.home").is_displayed(), f"{page} has no way back"
    browser.server.control(provider_down=None)
    browser.sign_in()
    browser.open("/portal")
    browser.one("#tab-account").click()
    browser.wait("the account", lambda: ADELE in browser.one("#account").text)
    browser.server.control(provider_down="all")
    browser.press("Sign out at the provider too")
    browser.wait("nobody", lambda: ADELE not in browser.one("#result").text)
    browser.expect_page("/portal")


@test("the provider is down before anyone has signed in: the step says why, with MSAL's code and the correlation ID, from the address alone", needs="time")
def down_before_sign_in(browser):
    starts = {"/ios": "#call-graph", "/macos": "#call-graph", "/external": "#acquire-interactively", "/b2c": "#authorize"}
    browser.server.control(provider_down="all")
    for page, button in starts.items():
        browser.open(page)
        browser.settled()
        browser.press("Sign-in options")
        browser.one("#option-prompt option[value=login]").click()
        browser.one(button).click()
        box = browser.wait(f"{page} explains it", lambda: browser.one(".step .problem").text)
        assert "The identity provider is not responding. Try again in a moment." in box, box
        assert "MSALErrorDomain −50000 (MSALErrorInternal, −42007 MSALInternalErrorUnhandledResponse)" in box, box
        said = [text for text in browser.log() if "provider_unavailable" in text][-1]
        assert browser.one(".step .step-request dl dd:last-of-type").text in said and "correlation ID" in said, f"{box}\n{said}"
        assert browser.one(".step .problem button").text == "Copy the error and its IDs"
        assert not browser.driver.get_cookies(), "something is kept of someone who has not signed in"
        browser.wait("the step", lambda: [step.get_attribute("data-step") for step in browser.all("#timeline .step:not(.waiting)")] == ["authorize"])
        browser.wait("its error", lambda: "failed: provider_unavailable" in browser.one("#timeline .step").text)
        # The trip has emptied the form.
        browser.wait("the attempt's code", lambda: "promptType = .login" in browser.one("#code .listing").get_property("textContent"))
        browser.wait("its branch", lambda: lit_lines(browser) == BRANCH)
    browser.expect_accessible("down before sign-in")
    browser.server.control(provider_down=None)
    browser.wait("the provider is back", lambda: browser.at_tenant() or browser.all("#authorize")[0].click())
    # Words that anyone can write into an address are neither shown nor believed.
    browser.open("/ios?sign_in_error=%3Cb%3Eno%3C/b%3E&correlation_id=a%20b&retry_after=-1")
    browser.wait("the box", lambda: "The identity provider refused the sign-in." in browser.one(".step .problem").text)
    assert "no</b>" not in browser.one("body").text and not browser.all(".problem dd") and not browser.all("[role=timer]")


BRANCH = ["if let error = error {", 'self.updateLogging(text: "Could not acquire token: \\(error)")', "return", "}"]


def lit_lines(browser):
    return [run.get_property("textContent").strip() for run in browser.all("#code .run.lit")]


@test("a failure lights the branch that ran, and a success none of the others", needs="time")
def branches(browser):
    browser.stand_still()
    network, refused, interactive = "Couldn't get graph result: \\(error)", "Couldn't get graph result: \\(String(", "self.acquireTokenInteractively(account: account, claims: claims)"
    silent, result = "Could not acquire token silently: ", "Result from Graph: "

    def expect(step, some, *none):
        browser.wait(f"the step {step}", lambda: browser.all(f"#timeline .step.now[data-step={step}] .outcome"))
        browser.wait(f"{some} is lit", lambda: any(some in line for line in lit_lines(browser)))
        lines = "\n".join(lit_lines(browser))
        assert not [each for each in none if each in lines], lines
    for page in ("ios", "macos"):
        browser.open(f"/{page}")
        browser.press("Call Microsoft Graph API")
        browser.choose_account()
        browser.enter_password()
        browser.answer_consent("cancel")
        browser.wait("it was cancelled", lambda: browser.all("#timeline .step.now[data-step=callback] .outcome.bad"))
        browser.wait("its branch", lambda: lit_lines(browser) == BRANCH)
        assert browser.all("#wire-platform.lit.bad") and not browser.all("#wire-msal.lit"), "there was no code"
        browser.cdp("Network.clearBrowserCookies")
    browser.sign_in()
    expect("api", result, network, refused)
    browser.server.control(graph_error={"status": 403, "body": {"error": {"code": "Denied", "message": "No."}}, "times": 1})
    browser.allow("/api/ios/me", "/api/ios/token")
    browser.press("Call Microsoft Graph API")
    browser.wait("the refusal", lambda: browser.all("#timeline .step.now[data-step=api] .outcome.bad"))
    expect("api", refused, network, result)
    browser.open("/ios")
    start(browser, "The provider is down")
    expect_under_way(browser)
    browser.press("Call Microsoft Graph API")
    expect("silent", silent, interactive)


@test("a code that could not be redeemed is a step of the sign-in, with its request and its line, and no silent call")
def not_redeemed(browser):
    browser.stand_still()
    refused = {"status": 401, "body": {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided."}, "times": 5}
    for control, code in (({"bad_id_token": "nonce"}, "nonce_mismatch"), ({"token_error": refused}, "provider_rejected_client")):
        browser.cdp("Network.clearBrowserCookies")
        browser.server.control(**control)
        for page, button in (("/ios", "#call-graph"), ("/b2c", "#authorize")):
            if page == "/b2c" and "token_error" not in control:
                continue
            browser.open(page)
            browser.settled()
            browser.one(button).click()
            browser.choose_account(ADELE if page == "/ios" else "b2cuser@fabrikamb2c.example")
            browser.enter_password()
            browser.wait("consent or the page", lambda: browser.all("button[name=consent]") or not browser.at_tenant())
            if browser.at_tenant():
                browser.answer_consent()
            # The list is drawn again when the explanation of the failure is there.
            browser.wait("the explanation", lambda: browser.all("#timeline .step:not(.waiting) .problem"))
            steps = browser.wait("the steps", lambda: [(step.get_attribute("data-step"), step.text) for step in browser.all("#timeline .step:not(.waiting)")])
            assert [name for name, _ in steps] == ["authorize", "callback", "unredeemed"]
            shown = steps[2][1]
            assert "Redeeming the code" in shown and f"failed: {code}" in shown and "acquireTokenSilent" not in shown, shown
            browser.wait("its line", lambda: [run.text.strip() for run in browser.all("#code .run.lit")] == BRANCH)
            browser.wait("its request", lambda: "grant_type=authorization_code" in browser.one("#timeline .step.now .request").get_property("textContent"))
            browser.wait("the drawing", lambda: browser.driver.execute_script("return document.getElementById('parcel-label').textContent") == code.replace("_", " "))
            assert browser.all("#wire-msal.lit.bad") and not browser.all("#wire-platform.bad"), "the app does not hear of it"
        browser.server.control(reset=True)


@test("the page says that our server is gone, and works when it is back")
def server_gone(browser):
    browser.sign_in()
    # The events and attempts of the sign-in, which the page asks for last.
    browser.wait("the steps", lambda: browser.driver.execute_script("return document.querySelector('#timeline .token')"))
    browser.settled()
    browser.server.kill()
    browser.allow("/api/ios/account")
    browser.press("Call Microsoft Graph API")
    said = browser.expect_log("Couldn't query current account with error: ")
    assert "cannot be reached" in said, said
    browser.expect_username(ADELE)
    browser.server.start()
    browser.press("Call Microsoft Graph API")
    browser.expect_log("Refreshed Access token is ")


@test("the page says that it is offline")
def offline(browser):
    browser.open("/ios")
    browser.expect_log("Account signed out. Updating UX")
    browser.one("#code .run")
    browser.settled()
    browser.allow("/api/device")
    browser.cdp("Network.enable")
    browser.cdp("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    try:
        browser.press("Get device info")
        said = browser.expect_log("Device info not returned. Error: ")
        assert "offline" in said, said
    finally:
        browser.cdp("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    browser.press("Get device info")
    browser.expect_log("Received device info. Device is in the private mode.")


@test("every error number of the platform is explained, with who can fix it and what support asks for", needs="time")
def numbers(browser):
    who = {"user": "How to fix it:", "administrator": "Ask an administrator:", "operator": "Ask the operator:"}
    table = {
        "AADSTS": {
            "user": (50058, 16000, 50076, 50079, 65001, 65004, 70008, 700082, 50173, 70043, 54005, 50020),
            "administrator": (90094, 50105, 53003),
            "operator": (500112, 7000218, 700025, 7000215, 7000222, 700027, 50194, 50196, 70011),
        },
        "AADB2C": {"user": (90118, 90091, 90077)},
    }
    of_account = {50076, 50079, 65001, 65004, 50020, 90094, 50105, 53003}
    for prefix, rows in table.items():
        for audience, numbers in rows.items():
            for number in numbers:
                # A new person each time.
                browser.cdp("Network.clearBrowserCookies")
                browser.server.control(authorize_platform_error=number)
                browser.open("/ios")
                browser.expect_log("Account signed out. Updating UX")
                browser.press("Call Microsoft Graph API")
                if number in of_account:
                    browser.choose_account()
                    browser.enter_password()
                panel = browser.wait(f"{prefix}{number}", lambda: f"{prefix}{number}" in (text := browser.one(".step:has(.problem)").text) and text)
                # B2C's errors name no trace.
                assert who[audience] in panel and "Correlation ID" in panel and ("Trace ID" in panel) == (prefix == "AADSTS"), panel
                said = browser.expect_log("Could not acquire token: ")
                assert "correlation ID" in said, said
    # The provider does not know the application or its address, and keeps the person.
    for number in (50011, 700016):
        browser.server.control(authorize_platform_error=number)
        browser.open("/ios")
        browser.press("Call Microsoft Graph API")
        browser.wait(f"AADSTS{number}", lambda: f"AADSTS{number}" in browser.one("main").text)
        assert "Sorry, but we’re having trouble signing you in" in browser.one("main").text
        browser.allowed.append(browser.driver.current_url)


@test("a number that a mission shows leads there from its explanation, on the page where it happened")
def number_to_mission(browser):
    browser.server.control(authorize_platform_error=50076)
    browser.open("/ios")
    browser.expect_username("Signed out")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.wait("the explanation", lambda: "AADSTS50076" in browser.one(".step .problem").text)
    browser.press("See it happen")
    browser.wait("the mission", lambda: browser.all("#missions[open] [data-mission=second_factor][open]"))
    browser.shoot("number to its mission")


def steps_of(browser, flow=1):
    """The kinds of a flow's steps, once all have come, and the words of what came of each."""
    browser.wait("all steps", lambda: browser.all("#timeline .step") and not browser.all("#timeline .step.waiting"))
    return browser.driver.execute_script("""
        return [...document.querySelectorAll("#timeline .flow:nth-child(" + arguments[0] + ") .step")].map((step) => [step.dataset.step, step.querySelector(".step-head > span:last-child").textContent]);
    """, flow)


CANCELLED = "MSALErrorDomain −50005 (MSALErrorUserCanceled)"


def unregistered(browser):
    """The mission's wrong redirect URI."""
    start(browser, "A wrong redirect URI")


def blocked(browser):
    """A person whom a policy blocks, although the app asks for a new sign-in."""
    browser.press("Sign-in options")
    browser.one("#option-prompt option[value=login]").click()
    browser.press("Call Microsoft Graph API")
    browser.one("input[name=username]").send_keys("blocked@contoso.example", Keys.ENTER)
    browser.enter_password()


def unknown(browser):
    browser.server.control(authorize_platform_error=700016)
    browser.press("Authorize")


@test("an error that stays on the provider's page: the way back from there leads to the page that the tab left, where the last step is red and explains the number")
def ended_at_provider(browser):
    browser.stand_still()
    rows = (("/ios", unregistered, 50011, "The redirect URI is not registered.", "The developer of the app can fix it: Add the platform iOS / macOS", "select_account", "user.read"),
            ("/macos", blocked, 53003, "A conditional access policy blocks this sign-in.", "Ask an administrator:", "login", "user.read"),
            ("/b2c", unknown, 700016, "The tenant does not know this application.", "Ask the operator:", "select_account", "api://…/scope1"))
    for page, press, number, cause, who, prompt, scope in rows:
        browser.open(page)
        browser.settled()
        press(browser)
        shown = browser.wait("the provider's error", lambda: browser.at_tenant() and f"AADSTS{number}: " in (text := browser.one("main").text) and text)
        # Chromium reports its status.
        browser.allowed.append(browser.driver.current_url)
        browser.press("Back to Companion")
        browser.expect_page(page)
        box = browser.wait("the explanation", lambda: browser.one("#timeline .step.failed[data-step=unreturned] .problem").text)
        assert box.startswith(cause) and box.count(cause) == 1, "the headline is the cause"
        assert all(each in box for each in (cause, who, f"AADSTS{number}", CANCELLED)), box
        found = re.search("Correlation ID\n([0-9a-f-]{36})", shown)[1]
        assert found in browser.one("#timeline .step.failed").text, shown
        assert steps_of(browser) == [["authorize", "done"], ["unreturned", f"not finished: AADSTS{number}"]], steps_of(browser)
        said = browser.expect_log("Could not acquire token: Nothing came back")
        assert f"AADSTS{number}" in said and found in said, said
        printed = browser.expect_log("Error Domain=MSALErrorDomain Code=-50005 ")
        assert "AADSTS" not in printed, "the app has heard of it"
        browser.wait("its branch", lambda: browser.all("#code .run.lit"))
        browser.expect_accessible(f"ended at the provider {page}")
        # The case to hand over stands first, and the other button says what it copies.
        buttons = browser.driver.execute_script("return [...document.querySelectorAll('#timeline button:is(.primary, .problem *)')].map((each) => each.textContent)")
        assert buttons == ["Share as a case", "Copy the error and its IDs"], buttons
        # The server knows nothing of it, because this browser has never signed in: the page makes the case by itself.
        browser.press("Share as a case")
        browser.wait("the case", lambda: f"unfinished · AADSTS{number}" in browser.one("#found").text)
        assert steps_of(browser) == [["authorize", "done"], ["unreturned", f"not finished: AADSTS{number}"]], steps_of(browser)
        shared = json.loads(unquote(browser.driver.current_url.split("#case=", 1)[1]))
        assert shared["settings"]["prompt"] == prompt and shared["settings"]["scopes"][0] == scope, shared
        assert shared["steps"] == [{"step": "authorize", "outcome": "ok", "to": "authorize"}], shared
    browser.open("/portal")
    browser.one("#tab-attempts").click()
    browser.expect_text("#attempts .empty", "No sign-in has come back in this session yet. One that ended on the provider's page is not listed before that.")
    # Anyone can write such an address: a tab that has not left takes nothing from it but a number that there is.
    browser.open("/?ended=1234&correlation_id=x")
    browser.settled()
    browser.expect_page("/")
    browser.open("/ios?ended=50011&correlation_id=x")
    browser.expect_page("/ios")
    browser.expect_username("Signed out")
    browser.settled()
    assert not browser.all("#timeline .step"), browser.one("#timeline").text
    # The server remembers it of somebody who has signed in; so does the case that is made of it.
    browser.server.reset()
    browser.sign_in()
    browser.server.control(authorize_platform_error=50011)
    browser.press("Accounts")
    browser.press("Add an account")
    browser.wait("the provider's error", lambda: browser.at_tenant() and "AADSTS50011: " in browser.one("main").text)
    browser.allowed.append(browser.driver.current_url)
    browser.press("Back to Companion")
    browser.expect_page("/ios")
    box = browser.wait("the explanation", lambda: "AADSTS50011" in (text := browser.one("#timeline .flow:first-child .step.failed .problem").text) and text)
    # The remedy is about an app's redirect URI, and the tenant's page has named this server's own.
    assert f"sent {browser.server.origin}/auth/callback" in box, box
    story = [["authorize", "done"], ["unreturned", "not finished: AADSTS50011"]]
    assert steps_of(browser) == story, steps_of(browser)
    browser.press("Share as a case")
    browser.wait("the case", lambda: "unfinished · AADSTS50011" in browser.one("#found").text and steps_of(browser) == story)


@test("what a sign-in on the provider's page has ended with is explained as often as this tab opens the page, and no longer when the next sign-in begins")
def ended_stays(browser):
    browser.stand_still()
    browser.server.control(authorize_platform_error=50011)
    browser.open("/")
    browser.press("Press it: sign in as Adele")
    browser.wait("the provider's error", lambda: browser.at_tenant() and "AADSTS50011: " in browser.one("main").text)
    browser.allowed.append(browser.driver.current_url)
    browser.press("Back to Companion")
    story = [["authorize", "done"], ["unreturned", "not finished: AADSTS50011"]]

    def is_explained():
        return steps_of(browser) == story and "The redirect URI is not registered." in browser.one("#timeline .step.failed .problem").text
    browser.wait("the explanation", is_explained)
    time = browser.one("#timeline .flow-head time").get_attribute("datetime")
    browser.press("Companion")
    browser.press("Learn")
    browser.expect_page("/ios")
    browser.wait("it is still explained", is_explained)
    assert browser.one("#timeline .flow-head time").get_attribute("datetime") == time, "it says another time"
    browser.server.control(reset=True)
    # Another chapter, and another tab, know nothing of it.
    browser.open("/macos")
    browser.expect_username("Signed out")
    browser.settled()
    assert not browser.all("#timeline .step"), browser.one("#timeline").text
    browser.open("/ios")
    browser.wait("it is still explained", is_explained)
    browser.press("Call Microsoft Graph API")
    browser.one("button[name=username]")
    browser.open("/ios")
    browser.wait("that one did not come back", lambda: steps_of(browser) == [["authorize", "done"], ["unreturned", "not finished"]])
    browser.driver.refresh()
    browser.expect_username("Signed out")
    browser.settled()
    assert not browser.all("#timeline .step"), browser.one("#timeline").text


@test("a sign-in that was begun at the page of failures comes back to iOS as from its button, and one that no page has begun to the number's explanation")
def begun_elsewhere(browser):
    browser.stand_still()

    def fails_as_set():
        browser.driver.get(browser.server.tenant + "/control?ui_locales=en")
        browser.wait("the group", lambda: browser.all("details[open]:has(#authorize_platform_error)") or browser.one("details:has(#authorize_platform_error) > summary").click())
        browser.one("#authorize_platform_error option[value='50011']").click()
        browser.wait("the rule", lambda: "50011" in browser.one(".rules li").text)

    def leads_back():
        browser.wait("the provider's error", lambda: browser.at_tenant() and "AADSTS50011: " in browser.one("main").text)
        # Chromium reports its status.
        browser.allowed.append(browser.driver.current_url)
        browser.press("Back to Companion")

    # Nobody is signed in, then somebody who would get another token without a page.
    for username in (ADELE, None):
        fails_as_set()
        browser.press("Sign in now in Learn for iOS")
        leads_back()
        browser.expect_page("/ios")
        browser.wait("the explanation", lambda: "The redirect URI is not registered." in browser.one("#timeline .flow:first-child .step.failed[data-step=unreturned] .problem").text)
        if username:
            browser.open("/ios")
            browser.press("Call Microsoft Graph API")
            browser.choose_account(username)
            browser.enter_password()
            browser.answer_consent()
            browser.expect_graph()
    fails_as_set()
    browser.open("/auth/ios/sign-in")
    leads_back()
    browser.expect_page("/paste#AADSTS50011")
    browser.wait("the explanation", lambda: "The redirect URI is not registered." in browser.one("#found").text)


@test("in the demo, the browser's Back button on the provider's error page brings what the way back there brings")
def left_error(browser):
    browser.stand_still()
    browser.size(390, 844)
    browser.open("/ios")
    browser.server.control(authorize_platform_error=50011)
    browser.press("Call Microsoft Graph API")
    shown = browser.wait("the provider's error", lambda: browser.at_tenant() and "AADSTS50011: " in (text := browser.one("main").text) and text)
    # Chromium reports its status.
    browser.allowed.append(browser.driver.current_url)
    assert f"'{browser.server.origin}/auth/callback'" in shown and f"'{CLIENT_ID}'" in shown, shown
    browser.driver.back()
    browser.wait("the headline", lambda: "The redirect URI is not registered." in browser.one("p.failure").text)
    browser.size(1280, 800)
    assert steps_of(browser) == [["authorize", "done"], ["unreturned", "not finished: AADSTS50011"]], steps_of(browser)
    # Of a policy that blocks the person the last of several pages tells.
    browser.open("/macos")
    blocked(browser)
    browser.size(390, 844)
    browser.wait("the provider's error", lambda: browser.at_tenant() and "AADSTS53003: " in browser.one("main").text)
    link = browser.one("a.back").rect
    assert link["y"] + link["height"] <= browser.driver.execute_script("return innerHeight"), link
    browser.shoot("blocked 390")
    while browser.at_tenant():
        browser.driver.back()
    browser.size(1280, 800)
    browser.wait("the steps", lambda: steps_of(browser) == [["authorize", "done"], ["unreturned", "not finished: AADSTS53003"]])


@test("who leaves the provider's page by the browser's Back button reads that nothing came back, calmly; what was signed in before stays, and no token is printed")
def left_at_provider(browser):
    browser.stand_still()
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.one("button[name=username]")
    browser.driver.back()
    browser.expect_page("/ios")
    box = browser.wait("what happened", lambda: browser.one("#timeline .step[data-step=unreturned] .problem").text)
    assert "did not come back" in box and "How to fix it:" not in box and CANCELLED in box and "paste it" in box, box
    assert steps_of(browser) == [["authorize", "done"], ["unreturned", "not finished"]], steps_of(browser)
    assert not browser.all("#log .bad, #timeline .step.failed, .on-purpose"), "leaving is no fault"
    assert not any("No result returned" in text for text in browser.log()), browser.log()
    assert any("Nothing came back from the sign-in page." in text and "()" not in text for text in browser.log()), browser.log()
    assert "UserInfo={MSALErrorDescriptionKey=User cancelled the authorization session.}" in browser.expect_log("Error Domain=MSALErrorDomain Code=-50005 ")
    browser.expect_accessible("left at the provider")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()
    browser.wait("the steps", lambda: [name for name, _ in steps_of(browser)] == ["authorize", "callback", "redeemed", "api"])
    # Somebody is signed in now, and another account is not added.
    tokens = lambda: sum("Access token is" in text for text in browser.log())
    before = tokens()
    browser.press("Accounts")
    browser.press("Add an account")
    browser.wait("the provider", browser.at_tenant)
    browser.driver.back()
    browser.expect_page("/ios")
    browser.wait("what happened", lambda: browser.all("#timeline .flow:first-child .step[data-step=unreturned] .problem"))
    browser.expect_username(ADELE)
    assert tokens() == before, browser.log()
    # The server remembers that sign-in, which is not said to be done; it came to nothing when it is looked at later, too.
    browser.driver.refresh()
    browser.expect_username(ADELE)
    assert steps_of(browser) == [["authorize", "not finished"]], steps_of(browser)
    browser.press("Share as a case")
    browser.wait("the case", lambda: steps_of(browser) == [["authorize", "done"], ["unreturned", "not finished"]])
    # Another tab that signs in leaves nothing to say here.
    browser.open("/ios")
    browser.press("Sign Out")
    browser.expect_username("Signed out")
    browser.press("Call Microsoft Graph API")
    browser.wait("the provider", browser.at_tenant)
    tab = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.wait("password or the page", lambda: browser.all("input[name=password]") or not browser.at_tenant())
    if browser.at_tenant():
        browser.enter_password()
    browser.expect_graph()
    browser.driver.close()
    browser.driver.switch_to.window(tab)
    browser.driver.back()
    browser.expect_username(ADELE)
    browser.settled()
    assert not browser.all("#timeline .step[data-step=unreturned]"), browser.one("#timeline").text


@test("after three times Back from the provider, the fourth press of the button just works", needs="time")
def many_trips_back(browser):
    browser.open("/ios")
    for _ in range(3):
        browser.press("Call Microsoft Graph API")
        browser.one("button[name=username]")
        browser.driver.back()
        browser.expect_page("/ios")
        browser.expect_username("Signed out")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()


@test("after three times Cancel at the provider, the fourth press of the button just works", needs="time")
def many_trips_cancelled(browser):
    browser.open("/b2c")
    for _ in range(3):
        browser.press("Authorize")
        browser.press("Cancel")
        browser.expect_log("Could not acquire token: You cancelled.")
    browser.press("Authorize")
    browser.choose_account("b2cuser@fabrikamb2c.example")
    browser.enter_password()
    browser.expect_log("Access token is ")


@test("a page that goes to the provider again and again by itself is stopped with a page that says why", needs="time")
def too_many_trips(browser):
    browser.open("/external")
    browser.press("Acquire Token Interactively")
    browser.choose_account("customer@fabrikam.example")
    browser.enter_password()
    browser.expect_log("Access token is ")
    # The API wants a scope that nobody is given: each answer asks for the next sign-in, which needs nobody.
    before = browser.server.counts()["authorize"]
    browser.server.control(missing_scope="api://fabrikam.example/tasks.write")
    browser.allow("/api/external/me")
    browser.press("API - Perform GET")
    browser.wait("the reason", lambda: "sign_in_loop" in browser.one("body").text)
    browser.allowed.append(browser.driver.current_url)
    assert not browser.at_tenant(), "the fourth trip by itself was made"
    assert browser.server.counts()["authorize"] == before + 4, "one by the press, three by the page itself"


@test("the end of a loop is explained on the application's own page, with a countdown and what to do", needs="time")
def loop_notice(browser):
    browser.open("/external")
    browser.press("Acquire Token Interactively")
    browser.choose_account("customer@fabrikam.example")
    browser.enter_password()
    browser.expect_log("Access token is ")
    browser.server.control(missing_scope="api://fabrikam.example/tasks.write")
    browser.allow("/api/external/me")
    browser.press("API - Perform GET")
    panel = browser.wait("the notice", lambda: "kept starting over" in (text := browser.one(".step .problem").text) and text)
    browser.expect_page("/external")
    assert "How to fix it:" in panel and "press the button again" in panel, panel
    timer = browser.wait("the countdown", lambda: browser.one(".step .problem [role=timer]").text)
    assert re.search(r"in \d+ s", timer) and browser.one("#acquire-interactively").is_enabled(), timer
    browser.expect_accessible("loop")


@test("a callback that nobody asked for gets an error page with a way on")
def stray_callback(browser):
    browser.allow("/auth/callback?code=stray&state=stray")
    browser.open("/auth/callback?code=stray&state=stray")
    assert browser.one("h1").text, "the error page has no title"
    assert "{{" not in browser.driver.page_source, "the error page shows a placeholder"
    browser.expect_accessible("error")
    browser.press("Back to the start")
    browser.expect_page("/")


@test("after too many sign-ins from one network the page counts down, and lets the person go on where they were", needs="time")
def too_many_sign_ins(browser):
    limited = browser.server.sibling("limited", COMPANION_LIMITS_SIGN_INS_PER_MINUTE="6", COMPANION_LIMITS_SIGN_IN_BURST="1")
    with browser.visiting(limited):
        browser.open("/auth/ios/sign-in")
        browser.wait("the tenant's page", browser.at_tenant)
        browser.allow("/auth/ios/sign-in")
        browser.open("/auth/ios/sign-in")
        assert "Too many requests came from your network. Try again in" in browser.one("main").text
        again = browser.one("#again")
        assert again.is_displayed() and not again.is_enabled(), "the button can be pressed before the wait is over"
        timer = browser.wait("the countdown", lambda: browser.one("[role=timer]").text)
        assert timer.startswith("You can try again in "), timer
        assert browser.all("main [role=status]")[0].text == "", "a screen reader hears the countdown"
        browser.expect_accessible("too many requests")
        browser.wait("the end of the countdown", lambda: browser.all("main [role=status]")[0].text == "You can try again now.")
        browser.press("Try again")
        browser.wait("the tenant's page", browser.at_tenant)


@test("SIGTERM ends the server within its 10 seconds while the browser is connected, with status 0")
def graceful_stop(browser):
    browser.open("/ios")
    browser.expect_log("Account signed out. Updating UX")
    browser.settled()
    # Its connections stay open, and nobody asks for anything.
    browser.driver.get("about:blank")
    browser.server.stop()
    status = browser.server.process.returncode
    assert status == 0, f"it ended with {status}"


@test("a failure that is set for everyone is told on Learn and Portal before it is met, in a line that moves nothing and leads to its row; what is undone is told no more")
def told(browser):
    def line():
        return [each.text for each in browser.all(".failures-set span")]

    def come_back():
        browser.driver.execute_script("document.dispatchEvent(new Event('visibilitychange'))")

    browser.server.control(claims_challenge=True, rules=[{"when": {"user": ADELE}, "graph_delay_ms": 1}])
    for path in ("/ios", "/portal"):
        for width, height in ((1440, 900), (390, 844)):
            browser.size(width, height)
            browser.open(path)
            browser.wait("the line", lambda: line() == ["A failure is set for everyone: Begin a claims challenge at Graph", "See or undo"])
            browser.settled()
            shift, nodes = browser.driver.execute_async_script(SHIFT)
            assert shift < 0.02, f"{path} at {width}: {shift:.3f} by {nodes}"
            assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"{path} at {width} scrolls sideways"
            browser.shoot(f"failure told {path[1:]} {width}")
            browser.expect_accessible(f"failure told {path} {width}")
    browser.press("See or undo")
    browser.wait("its row", lambda: browser.at_tenant() and browser.driver.execute_script(
        "const { top, bottom } = document.getElementById('claims_challenge').getBoundingClientRect(); return top >= 0 && bottom <= innerHeight && bottom > 0"))
    browser.open("/ios")
    browser.wait("the line", line)
    browser.server.control(graph_error={"status": 503})
    come_back()
    browser.wait("both", lambda: line()[:1] == ["2 failures are set for everyone: Graph, Begin a claims challenge at Graph"])
    browser.server.reset()
    come_back()
    browser.wait("none", lambda: not line())

"""The application's page: the screen, what just happened, and the code in which the lines of a flow are lit, beside each other or one gesture away."""

import base64
import hashlib
import itertools
import json
import re

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from .browser import ADELE
from .languages import ask_for
from .portal import MEGAN
from .registry import registry
from .server import Registrations

tests, test = registry("columns", time="Each tutorial at several widths, and steps that arrive one after the other. One width, the steps without motion and branches.test.js decide.")

LIT = "return [...document.querySelectorAll('#code .run.lit')].map((run) => run.textContent).join('')"
IN_SIGHT = """
const [selector, part] = arguments, l = document.querySelector(".listing").getBoundingClientRect();
return [...document.querySelectorAll(`#code ${selector}`)].some((run) => {
  const { top, bottom } = run.getBoundingClientRect();
  return run.textContent.includes(part) && top >= l.top - 1 && bottom <= l.bottom + 1;
});
"""
BOXES = """
return Object.fromEntries(['main', '#timeline', '#code'].map((selector) => {
  const { left, right, top } = document.querySelector(selector).getBoundingClientRect();
  return [selector, [left, right, top]];
}));
"""


def lit(browser, part):
    """Waits until a line with this part is lit, and in sight in the listing."""
    browser.wait(f"lit: {part}", lambda: part in browser.driver.execute_script(LIT))
    browser.wait("it is in sight", lambda: browser.driver.execute_script(IN_SIGHT, ".run.lit", part))


@test("the claims begin with the person's name and username, and leave the next press's steps in sight; the code says what its marks mean")
def claims_above_steps(browser):
    browser.size(1440, 800)
    browser.sign_in()
    assert browser.one("#code-legend").text == "≠ is not in the tutorial. Press it to see why."
    browser.press("Claims of the ID token")
    names = browser.wait("the claims", lambda: [each.text for each in browser.all("#claims-box tbody tr td:first-child")])
    assert names[:2] == ["name", "preferred_username"] and "aio" in names, names
    browser.press("Call Microsoft Graph API")
    browser.expect_log("Refreshed Access token is ")
    room = """
        const head = document.querySelector("#timeline .flow .step-head").getBoundingClientRect(), story = document.querySelector(".happened").getBoundingClientRect();
        return head.top >= story.top && head.bottom <= story.bottom"""
    browser.wait("the steps in sight", lambda: browser.driver.execute_script(room))
    browser.shoot("claims above the steps")


@test("screen, what just happened and the code stand beside each other on every application's page, and are open")
def beside(browser):
    for width in (1280, 1720):
        browser.size(width, 900)
        for page in ("ios", "macos", "external", "b2c"):
            browser.open(f"/{page}")
            browser.one("#code .run")
            boxes = sorted(browser.driver.execute_script(BOXES).values())
            assert all(a[1] <= b[0] for a, b in itertools.pairwise(boxes)), f"{page} at {width}: {boxes}"
            assert boxes[0][0] >= 0 and boxes[-1][1] <= width, f"{page} at {width}: {boxes}"
            assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"{page} at {width} scrolls sideways"


ROWS = """
const listing = document.querySelector(".listing"), lineHeight = parseFloat(getComputedStyle(listing).lineHeight);
return listing.clientHeight / lineHeight;
"""


@test("the code is a column of its own with at least 40 lines in sight at 1440 by 900; the page fills the window and does not scroll", needs="time")
def column(browser):
    browser.size(1440, 900)
    for page in ("ios", "macos", "external", "b2c"):
        browser.open(f"/{page}")
        browser.one("#code .run")
        rows = browser.driver.execute_script(ROWS)
        assert rows >= 40, f"{page}: {rows:.1f} lines"
        top, bottom, high = browser.driver.execute_script(
            "const r = document.querySelector('.code').getBoundingClientRect(); return [r.top, r.bottom, document.documentElement.scrollHeight]")
        assert top < 60 and bottom > 820 and high <= 900, f"{page}: {top} to {bottom} of {high}"
    # A step that opens in the story moves the code nowhere.
    browser.open("/ios")
    browser.one("#code .run")
    before = browser.driver.execute_script(BOXES)["#code"]
    browser.press("Things that go wrong")
    browser.wait("the missions", lambda: browser.all(".mission"))
    assert browser.driver.execute_script(BOXES)["#code"] == before and browser.driver.execute_script(ROWS) >= 40
    # Without an account there are words, and no table.
    browser.press("Claims of the ID token")
    browser.wait("the words", lambda: "an ID token says who signed in" in browser.one("#claims-box").text)
    browser.press("Claims of the ID token")
    # Nor does a long table in it make the page longer, with words for screen readers that are placed absolutely.
    browser.press("Claims of the ID token")
    browser.wait("that there are none yet", lambda: "an ID token says who signed in" in (said := browser.one("#claims-box").text) and "Not signed in." in said)
    browser.sign_in()
    browser.open("/ios")
    browser.wait("the claims", lambda: "preferred_username" in browser.one("#claims-box").text)
    assert browser.driver.execute_script("return document.documentElement.scrollHeight") <= 900, "the page scrolls beside its columns"
    # The words above the table begin where it does.
    edges = """const edge = (node) => { const range = document.createRange(); range.selectNodeContents(node); return range.getBoundingClientRect().left; };
        return [...document.querySelectorAll("#claims-box .what, #claims-box table")].map((each) => Math.round(edge(each)))"""
    words, table = browser.driver.execute_script(edges)
    assert words == table, (words, table)


HANGING = """
const [selector] = arguments;
return [...document.querySelectorAll(selector)].flatMap((line) => {
  const range = document.createRange();
  range.selectNodeContents(line);
  range.setStartAfter(line.querySelector(".margin"));
  const rows = [...range.getClientRects()].filter(({ width }) => width > 2);
  const first = rows.filter(({ top }) => top < rows[0].top + 4).map(({ left }) => left);
  const later = rows.filter(({ top }) => top > rows[0].top + 8).map(({ left }) => left);
  return later.length > 0 ? [Math.min(...later) - Math.min(...first)] : [];
});
"""


@test("a line of code or JSON that has no room goes on further to the right than it began, and copying gives what was there")
def hanging(browser):
    browser.sign_in()
    browser.one("#code .run")
    browser.wait("the JSON", lambda: browser.all(".json .line .line"))
    continued = browser.driver.execute_script(HANGING, ".listing .run")
    assert len(continued) > 10 and min(continued) > 4, continued
    continued = browser.driver.execute_script(HANGING, ".json .line .line:not(:has(.line))")
    assert continued and min(continued) > 4, continued
    # The spaces before a line are beside its words, and not over them.
    over = browser.driver.execute_script("""
      return [...document.querySelectorAll(".listing .run")].filter((run) => {
        const words = document.createRange();
        words.selectNodeContents(run.childNodes[1]);
        const [first] = words.getClientRects();
        return run.textContent.trim() && run.firstChild.getBoundingClientRect().right > first.left + 1;
      }).map((run) => run.textContent)""")
    assert over == [], over[:3]
    copied = browser.driver.execute_script(
        "const all = getSelection(); return ['.listing', '.json'].map((place) => { all.selectAllChildren(document.querySelector(place)); return all.toString(); })")
    assert copied[0].startswith("import UIKit\n@preconcurrency import MSAL\n\nclass ViewController: UIViewController {\n    let kClientID"), copied[0][:120]
    assert "\u2060" not in copied[0] and json.loads(copied[1])["userPrincipalName"] == "adele@contoso.example", copied[1]


VIEWS = {"app": "main", "story": "#timeline", "code": "#code"}


def shown(browser, name):
    return browser.driver.execute_script("return document.querySelector(arguments[0]).checkVisibility()", VIEWS[name])


def expect_views(browser, *names):
    for name in VIEWS:
        browser.wait(f"{name} is shown: {name in names}", lambda: shown(browser, name) == (name in names))


@test("on a tablet the story and the code take turns beside the screen, at one press, by keyboard too, and stay so over a trip", needs="time")
def tablet(browser):
    for width, height in ((1024, 768), (820, 1180)):
        browser.size(width, height)
        for page in ("ios", "macos", "external", "b2c"):
            browser.open(f"/{page}")
            expect_views(browser, "app", "story")
            pressed = browser.one("#views [data-view=code]")
            pressed.click()
            expect_views(browser, "app", "code")
            browser.one("#code .run")
            assert pressed.get_attribute("aria-pressed") == "true"
            assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"{page} at {width} scrolls sideways"
            browser.shoot(f"{page} {width} code")
            browser.one("#views [data-view=story]").send_keys(Keys.ENTER)
            expect_views(browser, "app", "story")
    browser.open("/ios")
    browser.one("#views [data-view=code]").click()
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()
    expect_views(browser, "app", "code")
    lit(browser, "URLSession.shared.dataTask")


@test("on a phone the story and the code rise over the log and leave the buttons to be pressed; Escape and the same press bring them down", needs="time")
def phone(browser):
    for width, height in ((390, 844), (320, 640)):
        browser.size(width, height)
        for page in ("ios", "macos", "external", "b2c"):
            browser.open(f"/{page}")
            browser.settled()
            expect_views(browser, "app")
            assert not browser.all("#code .run"), "the code is loaded before anyone looks at it"
            bar = [button.rect for button in browser.all("#views button")]
            assert len(bar) == 3 and all(each["height"] >= 44 and each["y"] + each["height"] <= height for each in bar), bar
            for view in ("story", "code"):
                browser.one(f"#views [data-view={view}]").click()
                expect_views(browser, "app", view)
            browser.one("#code .run")
            browser.shoot(f"{page} {width} code")
            # The first button of the app is not covered.
            covered = browser.driver.execute_script(
                "const e = document.querySelector('.action'), r = e.getBoundingClientRect(); return !e.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2))")
            assert not covered, f"{page} at {width}"
            browser.keys(Keys.ESCAPE)
            expect_views(browser, "app")
            assert browser.driver.execute_script("return document.activeElement.dataset.view") == "code", "the focus is lost"
            browser.keys(Keys.ENTER)
            expect_views(browser, "app", "code")
            browser.keys(Keys.ENTER)
            expect_views(browser, "app")
    browser.size(390, 844)
    browser.sign_in()
    browser.wait("something is new in the story", lambda: browser.all("#views [data-view=story].news"))
    browser.one("#views [data-view=code]").click()
    lit(browser, "URLSession.shared.dataTask")
    browser.press("Call Microsoft Graph API")
    lit_in_flow(browser, "applicationContext.acquireTokenSilent(with: parameters)")
    browser.one("#views [data-view=story]").click()
    browser.wait("the steps", lambda: len(browser.all("#timeline .step")) == 6)
    assert not browser.all("#views .news")


def lit_in_flow(browser, part):
    """Waits until a line with this part is in sight and marked as one of the flow."""
    browser.wait(f"of the flow, and in sight: {part}", lambda: browser.driver.execute_script(IN_SIGHT, ".run.passed", part))


@test("who presses again sees the lines of acquireTokenSilent without looking for them, with the number of their step, and why nothing was sent", needs="time")
def again(browser):
    browser.sign_in()
    browser.wait("the first steps", lambda: browser.all("#timeline .step.now[data-step=api]"))
    for width, height in ((1440, 900), (1280, 720), (1024, 768)):
        browser.size(width, height)
        if width < 1240:
            browser.one("#views [data-view=code]").click()
        count = len(browser.driver.find_elements("css selector", "#timeline .step"))
        browser.press("Call Microsoft Graph API")
        browser.wait("the steps", lambda: len(browser.driver.find_elements("css selector", "#timeline .step:not(.waiting)")) == count + 2)
        browser.wait("the call of Graph is lit", lambda: "URLSession.shared.dataTask" in browser.driver.execute_script(LIT))
        lit_in_flow(browser, "func acquireTokenSilently(account: MSALAccount, claims:")
        lit_in_flow(browser, "applicationContext.acquireTokenSilent(with: parameters)")
        numbers = browser.driver.execute_script(
            "return [...document.querySelectorAll('#code .run[data-number]')].map((run) => [run.dataset.number, run.textContent.trim()])")
        for number, name in (("1", "func acquireTokenSilently("), ("2", "func getContentWithToken(")):
            assert any(each == number and line.startswith(name) for each, line in numbers), numbers
    browser.size(1440, 900)
    story = browser.one("#timeline .flow").text
    assert "nothing is sent" in story and "The log still says “Refreshed”" in story, story
    assert "Token shown" not in browser.one("#timeline").text
    first = browser.one("#timeline .step[data-step=cached] .step-name")
    first.click()
    browser.wait("it opens", lambda: first.get_attribute("aria-expanded") == "true")
    lit(browser, "MSALSilentTokenParameters(scopes: kScopes, account: account)")


@test("each button lights its lines in the code when it is pressed", needs="time")
def buttons(browser):
    browser.open("/ios")
    browser.one("#code .run")
    browser.press("Get device info")
    lit(browser, "getDeviceInformation(with: parameters)")
    browser.open("/external")
    browser.one("#code .run")
    browser.press("Acquire Token Silently")
    lit(browser, "No token found, try to acquire a token interactively first")
    browser.sign_in()
    browser.one("#code .run")
    browser.press("Sign Out")
    lit(browser, "MSALSignoutParameters(webviewParameters: webViewParameters)")


# Records what was lit at each step, as it came.
RECORD = """
window.lights = [];
document.addEventListener("companion-step", ({ detail }) => setTimeout(() =>
  lights.push([detail.step, [...document.querySelectorAll("#code .run.lit")].map((run) => run.textContent).join("")])));
"""


@test("the steps arrive one after the other after the trip, each with its lines lit and its request shown", needs="time")
def arriving(browser):
    script = browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=RECORD)
    try:
        browser.sign_in()
        lights = browser.wait("the last step", lambda: (found := browser.driver.execute_script("return lights")) and found[-1][0] == "api" and found)
    finally:
        browser.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
    lights = [(step, text) for step, text in lights if step != "account"]
    assert [step for step, _ in lights] == ["authorize", "callback", "redeemed", "api"], lights
    for (step, text), part in zip(lights, ("acquireToken(with: parameters)", "handleMSALResponse", "self.accessToken = result.accessToken", "URLSession.shared.dataTask")):
        assert part in text, f"{step}: {text}"
    sent = browser.one("#timeline .step.now .request").text
    assert sent.startswith("GET /v1.0/me\nHost: ") and "Authorization: Bearer …" in sent, sent
    browser.expect_accessible("columns")


def flow_heads(browser):
    return browser.driver.execute_script("return [...document.querySelectorAll('#timeline .flow-head')].map((head) => head.innerText.replaceAll('\\n', ' '))")


def place_of(browser):
    """The present step by its number, without its name, which is for screen readers."""
    return browser.driver.execute_script("return document.querySelector('#timeline .way .place').firstChild.textContent")


@test("the arrow keys and two buttons go through the steps, of one flow into the next, each open with its lines lit; they stop at the ends", needs="time")
def scrubber(browser):
    browser.open("/ios")
    browser.expect_log("Account signed out. Updating UX")
    assert not any(each.is_displayed() for each in browser.all("#timeline .way")), "there is no step yet"
    browser.sign_in()
    browser.wait("the sign-in's steps", lambda: browser.all("#timeline .step.now[data-step=api]"))

    def place():
        return place_of(browser)

    def shown():
        return browser.driver.execute_script(
            "return [...document.querySelectorAll('#timeline .step')].filter((each) => !each.querySelector('.step-request').hidden).map((each) => each.dataset.step)")
    assert place() == "Step 4 of 4", place()
    browser.keys(Keys.ARROW_LEFT)
    browser.wait("the step before", lambda: (place(), shown()) == ("Step 3 of 4", ["redeemed"]))
    lit(browser, "self.accessToken = result.accessToken")
    browser.one("#timeline .way button:first-child").click()
    browser.keys(Keys.ARROW_LEFT)
    browser.wait("the first", lambda: (place(), shown()) == ("Step 1 of 4", ["authorize"]))
    back = browser.one("#timeline .way button:first-child")
    assert back.get_attribute("aria-disabled") == "true" and back.get_attribute("aria-label") == "Previous step"
    browser.keys(Keys.ARROW_LEFT)
    assert place() == "Step 1 of 4"
    browser.expect_accessible("on the way")
    browser.press("Call Microsoft Graph API")
    browser.wait("the next flow", lambda: place() == "Step 2 of 2")
    # The steps of both begin at 1.
    assert [head.partition(" ")[2] for head in flow_heads(browser)] == ["API call done", "Sign-in done"], flow_heads(browser)
    browser.shoot("two flows")
    browser.size(390, 844)
    browser.one("#views [data-view=story]").click()
    browser.settled()
    browser.shoot("two flows phone")
    browser.expect_accessible("two flows")
    browser.size(1440, 900)
    for want in ("Step 1 of 2", "Step 4 of 4", "Step 3 of 4"):
        browser.one("#timeline .way button:first-child").click()
        browser.wait(want, lambda want=want: place() == want)
    # In a field they move the caret.
    browser.press("Sign-in options")
    browser.one("#option-login_hint").send_keys("a", Keys.ARROW_LEFT)
    assert place() == "Step 3 of 4"


@test("on a phone three steps are in sight after a first sign-in: the drawing is low, and what folds stands below the steps", needs="time")
def steps_on_phone(browser):
    browser.size(390, 844)
    browser.sign_in()
    browser.one("#views [data-view=story]").click()
    browser.wait("all steps", lambda: len(browser.all("#timeline .step:not(.waiting)")) == 4)
    browser.settled()
    browser.shoot("steps on a phone")
    drawing, heads, below = browser.driver.execute_script("""
        const box = (each) => each.getBoundingClientRect(), [story, way] = [".story", ".way"].map((each) => box(document.querySelector(each)));
        const heads = [...document.querySelectorAll(".step-head")].filter((each) => box(each).top >= way.bottom && box(each).bottom <= story.bottom);
        return [box(document.getElementById("drawing")).height, heads.length, box(document.getElementById("panels")).top >= box(document.getElementById("timeline")).bottom]""")
    assert drawing <= 120 and heads >= 3 and below, (drawing, heads, below)


# An hour later nothing has just happened.
LATER = "const now = Date.now; Date.now = () => now() + 3600000;"


@test("before a step is chosen the line above them says how many there are; it stays in sight, and what one goes to is below it", needs="time")
def line_on_top(browser):
    browser.stand_still()
    browser.sign_in()
    browser.press("Call Microsoft Graph API")
    browser.wait("both flows", lambda: len(browser.all("#timeline .step")) == 6)
    for width, height, view in ((1440, 700, ".happened"), (390, 844, ".story")):
        browser.size(width, height)
        with browser.beginning_with(LATER):
            browser.driver.refresh()
        if width == 390:
            browser.one("#views [data-view=story]").click()
        browser.wait("how many", lambda: place_of(browser) == "2 steps")
        for want in ("Step 1 of 2", "Step 4 of 4", "Step 3 of 4"):
            browser.one("#timeline .way button:" + ("nth-of-type(2)" if want == "Step 1 of 2" else "first-child")).click()
            browser.wait(want, lambda want=want: place_of(browser) == want)
            way, top, name, bottom = browser.driver.execute_script("""
                const box = (selector) => document.querySelector(selector).getBoundingClientRect(), view = box(arguments[0]);
                return [box(".way").top - view.top, view.top, box(".step.now .step-head").top - box(".way").bottom, view.bottom - box(".step.now .step-head").bottom]""", view)
            assert 0 <= way and name >= 0 and bottom >= 0, f"{want} at {width}: {way, top, name, bottom}"
        browser.driver.execute_script("document.querySelector(arguments[0]).scrollTo(0, 10000)", view)
        way = browser.driver.execute_script("return document.querySelector('.way').getBoundingClientRect().top - document.querySelector(arguments[0]).getBoundingClientRect().top", view)
        assert abs(way) < 2, f"the line has left the top at {width}: {way}"
        browser.shoot(f"line on top {width}")
    browser.size(1440, 900)


@test("a step comes as soon as it has happened, and not only when the flow has ended", needs="time")
def as_it_happens(browser):
    browser.sign_in()
    browser.wait("the sign-in's steps", lambda: len(browser.all("#timeline .step:not(.waiting)")) == 4)
    browser.server.control(graph_delay_ms=3000)
    browser.press("Call Microsoft Graph API")
    browser.wait("the token's step", lambda: "Token from the cache" in browser.one("#timeline .flow").text)
    assert browser.one("#call-graph").get_attribute("aria-busy") == "true", "the flow had ended"
    lit(browser, "MSALSilentTokenParameters(scopes: kScopes, account: account)")
    browser.wait("the API's step", lambda: "API called" in browser.one("#timeline .flow").text)


@test("hovering a step lights its lines, the keyboard does too; pressing it shows its request, in which nothing is of use to others", needs="time")
def requests(browser):
    browser.sign_in()
    browser.wait("the steps", lambda: len(browser.all("#timeline .step:not(.waiting)")) == 4)
    steps = browser.all("#timeline .step")
    # Everything has arrived.
    browser.wait("the last", lambda: "now" in steps[3].get_attribute("class"))
    ActionChains(browser.driver).move_to_element(steps[0]).perform()
    lit(browser, "parameters.promptType = .selectAccount")
    steps[0].find_element("css selector", ".step-head").click()
    sent = browser.wait("the request", lambda: browser.all("#timeline .request")[0].text)
    for part in ("GET /common/oauth2/v2.0/authorize?", "&prompt=select_account", "&code_challenge_method=S256", "&scope=user.read"):
        assert part in sent, sent
    assert re.search(r"client_id=[0-9a-f]{8}-", sent) and f"redirect_uri={browser.server.origin}/auth/" in sent, sent
    browser.press("What each parameter means")
    meanings = browser.wait("their meaning", lambda: [row.text for row in browser.all("#timeline .parameters[open] dd")])
    assert len(meanings) == sent.count("=") and any("PKCE" in meaning for meaning in meanings), meanings
    browser.driver.execute_script("document.querySelectorAll('#timeline .step-name')[2].focus()")
    browser.keys(Keys.ENTER)
    browser.wait("the token's request", lambda: "grant_type=authorization_code" in browser.one("#timeline .step.now .request").text)
    assert len(browser.driver.find_elements("css selector", "#timeline .step-name[aria-expanded=true]")) == 3
    lit(browser, "self.updateCurrentAccount(account: result.account)")


ABOVE = """
const [drawing, step] = [".drawing", ".step.now .step-head"].map((each) => document.querySelector(each).getBoundingClientRect());
return drawing.top >= 0 && drawing.bottom <= step.top;
"""
OWN_CLAIMS = "#timeline .step[data-step=redeemed] .token"


def unfold(browser, selector):
    """As a person does, who scrolls until it is not behind the line that stays on top."""
    summary = browser.one(f"{selector} summary")
    browser.driver.execute_script("arguments[0].scrollIntoView({ block: 'center' })", summary)
    summary.click()


def open_redeemed(browser):
    """Goes from the last step back to the one that brought the tokens."""
    browser.wait("the API's step", lambda: browser.all("#timeline .step.now[data-step=api]"))
    browser.keys(Keys.ARROW_LEFT)
    browser.wait("the tokens' step", lambda: browser.one("#timeline .step.now").get_attribute("data-step") == "redeemed")


@test("in the demo the step that brought the tokens shows the ID token's claims and their meaning when its flow is over, and keeps them nowhere")
def decoded(browser):
    browser.stand_still()
    browser.server.control(hold="graph")
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.wait("the tokens' step", lambda: browser.all("#timeline .step[data-step=redeemed]:not(.waiting)"))
    assert not browser.all(OWN_CLAIMS), "the flow is not over"
    browser.server.control(hold=None)
    browser.expect_graph()
    open_redeemed(browser)
    assert browser.driver.execute_script(ABOVE), "the drawing is away, or covers the step"
    unfold(browser, OWN_CLAIMS)
    rows = browser.wait("the claims", lambda: {row.find_element("css selector", "td").text: row.text for row in browser.all(OWN_CLAIMS + " tbody tr")})
    assert ADELE in rows["preferred_username"] and "never use it as a key" in rows["preferred_username"], rows
    assert "…" in rows["nonce"] and "The tenant in which" in rows["tid"], rows
    unfold(browser, "#timeline .step[data-step=redeemed] .access")
    browser.wait("those of the access token", lambda: "User.Read" in browser.one("#timeline .step[data-step=redeemed] .access").text)
    unfold(browser, "#timeline .step[data-step=redeemed] .response")
    came = browser.wait("the response", lambda: browser.one("#timeline .step[data-step=redeemed] .response .request").text)
    meanings = browser.driver.find_elements("css selector", "#timeline .step[data-step=redeemed] .response dd")
    assert "200 OK" in came and '"access_token": "…"' in came and len(meanings) == came.count('": ') == 7 and all(each.text for each in meanings), came
    browser.expect_accessible("the claims in a step")
    kept = browser.driver.execute_script("return JSON.stringify([localStorage, sessionStorage, location.href, history.state])") + json.dumps(browser.log()[:-1])
    assert "preferred_username" not in kept, kept
    # The next flow leaves them open, and its step from the cache brings none.
    browser.server.control(hold="graph")
    browser.press("Call Microsoft Graph API")
    browser.wait("the cached token", lambda: browser.all("#timeline .step[data-step=cached]:not(.waiting)"))
    assert browser.one("#call-graph").get_attribute("aria-busy") == "true", "the flow had ended"
    assert len(browser.driver.find_elements("css selector", "#timeline .token")) == 1
    browser.server.control(hold=None)
    browser.wait("the next flow", lambda: place_of(browser) == "Step 2 of 2")
    browser.wait("its end", lambda: not browser.one("#call-graph").get_attribute("aria-busy"))
    browser.settled()
    assert len(browser.driver.find_elements("css selector", "#timeline .token")) == 1
    browser.press("Sign Out")
    browser.expect_log("Sign out completed successfully")
    browser.wait("they are gone", lambda: not browser.driver.find_elements("css selector", "#timeline .token"))


# The parameters of each step's request, as it is shown.
SENT = """
return Object.fromEntries([...document.querySelectorAll("#timeline .step")].map((step) => [
  step.dataset.step,
  Object.fromEntries([...(step.querySelector(".step-request > .request")?.textContent ?? "").matchAll(/^ *&?(\\w+)=(.*)$/gm)].map(([, ...pair]) => pair)),
]));
"""


@test("the look for secrets finds a token anywhere on a page, and takes no random value for one")
def looks_like_a_secret(browser):
    head = base64.urlsafe_b64encode(b'{"typ":"JWT","alg":"RS256"}').decode()
    entra = base64.urlsafe_b64encode(b'{"kid":"x","typ":"JWT"}').decode()
    # A verifier in which the letters eyJ are chance, as one was.
    chance = "w9eyJ2AeRrJpbIc0Zk1mQy7uVn-4sT_hLx8dPo5gFaE"
    for value, is_secret in (
            (chance, False), (head, True), (f"access_token={entra}.e30.x", True), (chance + head, True), ("a" * 119, False), ("a" * 120, True)):
        browser.open("/")
        browser.driver.execute_script("document.querySelector('main').dataset.value = arguments[0]", value)
        try:
            browser.expect_no_secret()
            found = ""
        except AssertionError as error:
            found = str(error)
        assert ("the page holds what looks like a secret" in found) == is_secret, (value, found)
        assert value not in found, found
    browser.open("/")


@test("in the demo a sign-in that is over has its real values in the requests of its steps, which says why; they are kept and copied nowhere")
def real_values(browser):
    browser.stand_still()
    browser.sign_in()
    open_redeemed(browser)
    sent = browser.driver.execute_script(SENT)
    verifier = sent["redeemed"]["code_verifier"]
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", verifier), verifier
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    assert sent["authorize"]["code_challenge"] == digest, sent
    assert sent["authorize"]["state"] == sent["callback"]["state"] != "…" and sent["callback"]["code"] == sent["redeemed"]["code"] != "…", sent
    assert "the sign-in is over" in browser.one("#timeline .step.now").text
    assert "the sign-in is over" not in browser.driver.execute_script("return document.querySelector('#timeline [data-step=api]').textContent")
    browser.expect_accessible("real values in a step")
    values = {sent["authorize"][name] for name in ("state", "nonce", "code_challenge")} | {verifier, sent["redeemed"]["code"].rstrip("…")}
    assert len(values) == 5 and all(len(each) >= 20 for each in values), values

    def expect_none():
        kept = browser.driver.execute_script("return JSON.stringify([localStorage, sessionStorage, location.href, history.state, window.name])")
        assert not any(each in kept for each in values), kept

    expect_none()
    assert not any(each in json.dumps(browser.log()) for each in values)
    browser.one("#share").click()
    browser.wait("the case", lambda: browser.driver.current_url.startswith(browser.server.origin + "/native/case#"))
    browser.settled()
    expect_none()
    page = browser.driver.execute_script("return document.documentElement.outerHTML")
    assert not any(each in page for each in values), "the case has a value"


@test("a sign-in that was cancelled is over, and has its real values too; its verifier, which nothing has sent, stays hidden")
def cancelled_values(browser):
    browser.stand_still()
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent("cancel")
    browser.wait("the step", lambda: browser.all("#timeline .step[data-step=callback]"))
    sent = browser.driver.execute_script(SENT)
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", sent["authorize"]["code_challenge"]) and sent["authorize"]["nonce"] != "…", sent
    assert sent["authorize"]["state"] == sent["callback"]["state"] != "…" and sent["callback"]["error"], sent


@test("claims in a step go when another tab has signed the account out, and belong to the account that is shown")
def decoded_of(browser):
    browser.stand_still()
    browser.sign_in()
    first = browser.driver.current_window_handle
    browser.one("#accounts summary").click()
    browser.press("Add an account")
    browser.choose_account(MEGAN)
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph(MEGAN)
    open_redeemed(browser)
    for name in (MEGAN, ADELE):
        if name == ADELE:
            browser.one("#accounts summary").click()
            browser.click("Adele", lambda: next(each for each in browser.all("#accounts .pick") if ADELE in each.text))
            browser.expect_username(ADELE)
        # The newest flow is the first.
        flows = [0 if name == MEGAN else 1]
        browser.wait(f"claims in a single step, which is {name}'s", lambda flows=flows: flows == browser.driver.execute_script(
            "return [...document.querySelectorAll('#timeline .flow')].flatMap((flow, at) => [...flow.querySelectorAll('.token')].map(() => at))"))
    browser.driver.switch_to.new_window("tab")
    browser.open("/ios")
    browser.press("Sign Out")
    browser.expect_log("Sign out completed successfully")
    browser.driver.close()
    browser.driver.switch_to.window(first)
    browser.wait("they are gone", lambda: not browser.driver.find_elements("css selector", "#timeline .token"))


@test("on a shared device, on a team's server and where tokens are hidden no step shows claims or the values of its sign-in")
def not_decoded(browser):
    browser.stand_still()
    for visit, app in ((browser.on_shared_device(), "ios"),
                       (browser.visiting(browser.server.sibling("hidden-claims", COMPANION_TOKEN_DISPLAY="hidden")), "ios"),
                       (browser.visiting(Registrations(browser.server, 2)), "expenses-ios-test")):
        with visit:
            browser.sign_in(app)
            open_redeemed(browser)
            browser.settled()
            asked = browser.driver.execute_script("return performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/tokens')).length")
            assert asked == 0 and not browser.driver.find_elements("css selector", "#timeline .token"), browser.server.settings
            sent = browser.driver.execute_script(SENT)
            shown = [sent[step][name] for step, names in (("authorize", "state nonce code_challenge"), ("callback", "code state"), ("redeemed", "code code_verifier")) for name in names.split()]
            assert shown == ["…"] * 7, shown


@test("a line that is not the tutorial's says why when asked, in its place, and what is copied has no word of that")
def not_the_tutorials(browser):
    challenge, token, queue = "meets no claims challenge", "logs the whole token", "calls back on it"
    for page, reasons in {
        "ios": {challenge, token, queue, "takes an error of Graph", "shows username"},
        "macos": {challenge, token, queue, "takes an error of Graph", "shows username"},
        "external": {token, queue, "log says nothing", "begins in viewWillAppear", "shows username"},
        "b2c": {token, queue},
    }.items():
        browser.open(f"/{page}")
        browser.one("#code .run")
        marks = browser.all("#code .run > button")
        code = browser.one("#code .listing").get_property("textContent")
        for mark in marks:
            # By keyboard, which scrolls to it.
            mark.send_keys(Keys.ENTER)
            assert mark.get_attribute("aria-expanded") == "true" and mark.accessible_name == "Not in the tutorial: why?"
        said = [why.text for why in browser.all("#code .why")]
        assert len(said) == len(marks) and all(any(reason in text for text in said) for reason in reasons), (page, said)
        assert all(any(reason in text for reason in reasons) for text in said), (page, said)
        selected = browser.driver.execute_script("const all = getSelection(); all.selectAllChildren(document.querySelector('.listing')); return all.toString();")
        assert not any(reason in selected for reason in reasons) and "prefix(8)" in selected, page
        for mark in marks:
            mark.send_keys(Keys.SPACE)
        assert browser.one("#code .listing").get_property("textContent") == code and not browser.all("#code .why"), page
        marks[0].send_keys(Keys.SPACE)
        browser.expect_accessible(f"reason-{page}")


@test("the code follows what was chosen, before the sign-in and in the steps of each attempt", needs="time")
def follows(browser):
    browser.open("/ios")
    browser.one("#code .run")
    browser.press("Sign-in options")
    browser.one("#option-prompt option[value=login]").click()
    browser.one("#option-scope").send_keys("Mail.Read")
    code(browser, "promptType = .login", 'extraScopesToConsent = ["Mail.Read"]')
    assert "MSALPromptType.login" in browser.one("#option-prompt + small").text
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()
    browser.press("Your values")
    browser.one("#code-completion option[value=async]").click()
    browser.wait("await", lambda: "try await applicationContext.acquireToken(with: parameters)" in browser.one("#code .listing").text)
    browser.wait("the steps", lambda: len(browser.all("#timeline .step")) == 4)
    ActionChains(browser.driver).move_to_element(browser.all("#timeline .step")[0]).perform()
    # The trip has emptied the form: these are the attempt's own.
    lit(browser, "parameters.promptType = .login")
    lit(browser, 'parameters.extraScopesToConsent = ["Mail.Read"]')
    # So is the code of each step, to the last.
    for number in (2, 3, 4):
        browser.one("#timeline .way button:nth-of-type(2)").click()
        browser.wait("the next step", lambda number=number: place_of(browser) == f"Step {number} of 4")
        code(browser, "parameters.promptType = .login", 'extraScopesToConsent = ["Mail.Read"]')


def choose_options(browser, **options):
    if not browser.all("#sign-in-options"):
        browser.press("Sign-in options")
    for name, value in options.items():
        if name == "prompt":
            browser.one(f"#option-prompt option[value={value}]").click()
        else:
            browser.one(f"#option-{name}").clear()
            browser.one(f"#option-{name}").send_keys(value)


def not_in_code(browser, *parts):
    browser.wait(f"not in the code: {parts}", lambda: not any(part in browser.one("#code .listing").get_property("textContent") for part in parts))


@test("the code of a step is that of its sign-in, of a silent one that of the sign-in before, whatever the form says later; the form's own has no line lit")
def of_attempt(browser):
    browser.stand_still()
    browser.open("/ios")
    browser.one("#code .run")
    browser.server.control(declined_scope="Mail.Read")
    choose_options(
        browser, prompt="login", login_hint=ADELE, domain_hint="contoso.example", scope="Mail.Read",
        claims='{"id_token":{"auth_time":{"essential":true}}}')
    code(browser, "promptType = .login", f'loginHint = "{ADELE}"')
    browser.press("Call Microsoft Graph API")
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()
    assert "Not granted: Mail.Read" in browser.log(), browser.log()
    # Who it was for is not kept.
    own = ("promptType = .login", 'extraScopesToConsent = ["Mail.Read"]', 'loginHint = "name@example.com"', '["domain_hint": "contoso.example"]', "auth_time")
    browser.wait("the API's step", lambda: browser.all("#timeline .step.now[data-step=api]"))
    code(browser, *own)
    browser.press("Call Microsoft Graph API")
    for kind in ("cached", "api"):
        browser.wait("the silent flow", lambda: place_of(browser) == "Step 2 of 2")
        code(browser, *own)
        if kind == "cached":
            browser.keys(Keys.ARROW_LEFT)
            browser.wait("its first step", lambda: place_of(browser) == "Step 1 of 2")
            lit(browser, "MSALSilentTokenParameters(scopes: kScopes, account: account)")
            code(browser, *own)
            browser.keys(Keys.ARROW_RIGHT)
    for _ in range(5):
        browser.keys(Keys.ARROW_LEFT)
    browser.wait("the first step", lambda: place_of(browser) == "Step 1 of 4")
    lit(browser, "parameters.promptType = .login")
    choose_options(browser, prompt="consent", login_hint=MEGAN)
    code(browser, "promptType = .consent", f'loginHint = "{MEGAN}"')
    assert browser.driver.execute_script(LIT) == "", "the form's lines are lit as those of a step"
    ActionChains(browser.driver).move_to_element(browser.one("#call-graph")).perform()
    ActionChains(browser.driver).move_to_element(browser.one("#timeline .step.now")).perform()
    lit(browser, "parameters.promptType = .login")
    not_in_code(browser, MEGAN)


@test("the step of a sign-out says in code and drawing where that signed out, and not what was chosen since")
def of_sign_out(browser):
    browser.stand_still()
    browser.sign_in()
    browser.wait("the end of the flow", lambda: not browser.all("button[aria-busy]"))
    browser.press("Sign Out")
    browser.wait("its step", lambda: browser.all("#timeline .step.now[data-step=sign_out]"))
    lit(browser, "signoutParameters.signoutFromBrowser = false")
    assert browser.all("#wire-msal.lit") and not browser.all("#wire-platform.lit"), "nothing was sent"
    browser.press("Sign-in options")
    browser.one("#option-sign_out option[value=browser]").click()
    code(browser, "signoutParameters.signoutFromBrowser = true")
    assert browser.driver.execute_script(LIT) == "", "the form's lines are lit as those of a step"
    ActionChains(browser.driver).move_to_element(browser.one("#call-graph")).perform()
    ActionChains(browser.driver).move_to_element(browser.one("#timeline .step.now")).perform()
    lit(browser, "signoutParameters.signoutFromBrowser = false")


def code(browser, *parts):
    """Waits until the code has all of these parts."""
    browser.wait(f"in the code: {parts}", lambda: all(part in browser.one("#code .listing").get_property("textContent") for part in parts))


CLIENT = "11111111-2222-3333-4444-555555555555"


@test("the reader's own values fill the code: typed once, kept in this browser for every page; one choice puts the demo's tenant in their place", needs="time")
def values(browser):
    browser.open("/ios")
    code(browser, '"Your_Application_Client_ID"', "https://login.microsoftonline.com/common")
    browser.press("Your values")
    browser.one("#value-client_id").send_keys(CLIENT)
    browser.one("#value-bundle_id").send_keys("com.adatum.tasks")
    browser.one("#value-authority").clear()
    browser.one("#value-authority").send_keys("https://login.microsoftonline.com/adatum.example")
    code(browser, f'"{CLIENT}"', "https://login.microsoftonline.com/adatum.example")
    browser.expect_accessible("the reader's values")
    browser.open("/external")
    code(browser, f'"{CLIENT}"', "msauth.com.adatum.tasks://auth", "ciamlogin.com")
    browser.open("/macos")
    code(browser, f'"{CLIENT}"', "adatum.example")
    browser.press("Your values")
    browser.one("#value-tenant option[value=demo]").click()
    code(browser, "https://localhost:8443/common", "knownAuthorities")
    assert CLIENT not in browser.one("#code .listing").text and not browser.one("#code-box").find_element("id", "value-client_id").is_displayed()
    assert [link.get_attribute("href") for link in browser.all(".set-up a")] == [browser.server.origin + "/native"]
    browser.one("#value-tenant option[value=mine]").click()
    code(browser, f'"{CLIENT}"')


@test("the sign-in chapter's workforce half is found: its differences and the pages that show its screen, and the chapter from these pages", needs="time")
def workforce_half(browser):
    browser.open("/external")
    browser.one("#code .run")
    browser.press("Documentation and sample")
    browser.wait("the differences", lambda: "signoutFromBrowser" in browser.one("#code").text and "workforce tenant" in browser.one("#code").text)
    dated, *pages = browser.all("#code .more a:not(.out)")
    assert dated.get_attribute("href") == browser.server.origin + "/native#dated"
    assert [link.get_attribute("href") for link in pages] == [browser.server.origin + path for path in ("/ios", "/macos")]
    browser.expect_accessible("the external code column")
    pages[0].click()
    browser.expect_page("/ios")
    for page in ("ios", "macos"):
        browser.open(f"/{page}")
        browser.one("#code .run")
        browser.press("Documentation and sample")
        chapters = [link.text for link in browser.all("#code a.out") if link.get_attribute("href").endswith("tutorial-mobile-app-ios-swift-sign-in?pivots=workforce")]
        assert chapters == ["The sign-in chapter for a workforce tenant"], f"{page}: {chapters}"


@test("the code has the reader's own values and can be copied whole; the tutorial's chapter and more open in a tab of their own, without saying from where")
def copied(browser):
    origin = browser.server.origin
    chapters = {"macos": "tutorial-v2-ios", "external": "tutorial-mobile-app-ios-swift-sign-in", "b2c": "configure-authentication-sample-ios-app", "ios": "tutorial-v2-ios"}
    for page, chapter in chapters.items():
        browser.open(f"/{page}")
        browser.one("#code .run")
        links = browser.all("#code a.out")
        assert len(links) >= 3 and chapter in links[0].get_attribute("href"), page
        is_main = page in ("ios", "macos")
        assert is_main == any(link.get_attribute("href").endswith("-sign-in?pivots=workforce") for link in links), page
        own = [link.get_attribute("href") for link in browser.all("#code .more a:not(.out)")]
        pages = ["/ios", "/macos"] if page == "external" else []
        assert own == [origin + path for path in ("/native#dated", *pages)], f"{page}: {own}"
        for link in links:
            assert link.get_attribute("target") == "_blank" and link.get_attribute("referrerpolicy") == "no-referrer", page
            assert "noreferrer" in link.get_attribute("rel") and "noopener" in link.get_attribute("rel"), page
    browser.press("Your values")
    browser.one("#value-client_id").send_keys(CLIENT)
    code(browser, f'"{CLIENT}"')
    browser.cdp("Browser.grantPermissions", origin=origin, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.press("Copy the code")
    browser.wait("the button says so", lambda: browser.one("#copy-code").text == "Copied")
    text = browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert text.startswith("import UIKit\n@preconcurrency import MSAL\n") and text.endswith("}\n") and "⟦" not in text, text[:200]
    assert CLIENT in text, text[:200]
    browser.one("#value-tenant option[value=demo]").click()
    code(browser, "https://localhost:8443/common", "knownAuthorities")
    not_in_code(browser, CLIENT)
    assert not browser.all("#value-client_id")[0].is_displayed() and browser.one("#value-bundle_id")


@test("the tutorials are linked in the page's language", needs="time")
def linked_languages(browser):
    locales = {"en": "en-us", "ja": "ja-jp", "pt-BR": "pt-br", "pt-PT": "pt-pt", "sv": "sv-se", "zh-Hans": "zh-cn"}
    try:
        for tag, locale in locales.items():
            ask_for(browser, tag)
            browser.open("/ios")
            address = browser.wait("the links", lambda: browser.all("#code a.out"))[0].get_attribute("href")
            assert address.startswith(f"https://learn.microsoft.com/{locale}/"), f"{tag}: {address}"
    finally:
        ask_for(browser, None)


@test("an error stands beside MSAL's own: its domain, its code and its name", needs="time")
def msal_codes(browser):
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent("cancel")
    browser.wait("the code", lambda: "MSALErrorDomain −50005 (MSALErrorUserCanceled)" in browser.one(".step .problem").text)
    browser.press("Sign-in options")
    browser.one("#option-prompt option[value=none]").click()
    browser.cdp("Network.clearBrowserCookies")
    browser.press("Call Microsoft Graph API")
    browser.wait("the code", lambda: "MSALErrorDomain −50002 (MSALErrorInteractionRequired)" in browser.one(".step .problem").text)
    browser.server.control(authorize_platform_error=500112)
    browser.driver.refresh()
    browser.press("Call Microsoft Graph API")
    browser.wait("the code", lambda: "MSALErrorDomain −50000 (MSALErrorInternal, −42" in browser.one(".step .problem").text)


@test("without motion the steps are all there at once")
def without_motion(browser):
    browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    browser.sign_in()
    browser.wait("the steps", lambda: len(browser.all("#timeline .step")) == 4)
    browser.wait("none waits", lambda: not browser.all("#timeline .step.waiting"))
    lit(browser, "URLSession.shared.dataTask")


@test("Sign Out signs out where the person has chosen, here only or at the provider too, and the code has MSAL's line for it")
def sign_out_choice(browser):
    browser.stand_still()
    browser.open("/b2c")
    browser.press("Sign-in options")
    browser.one("#option-prompt")
    assert not browser.all("#option-sign_out"), "the B2C sample has no such choice"
    browser.sign_in()
    logouts = browser.server.counts()["logout"]
    browser.press("Sign-in options")
    browser.one("#option-sign_out")
    assert "signoutFromBrowser = false" in browser.one("#sign-out-options small").text
    browser.press("Sign Out")
    browser.expect_log("Sign out completed successfully")
    lit(browser, "signoutParameters.signoutFromBrowser = false")
    assert browser.server.counts()["logout"] == logouts, "the provider was asked to sign out"
    browser.one("#option-sign_out option[value=browser]").click()
    browser.wait("what it means", lambda: "signoutFromBrowser = true" in browser.one("#sign-out-options small").text)
    browser.expect_accessible("sign-out choice")
    # The provider still knows the person, and the choice lasts over the trip.
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.expect_graph()
    browser.wait("the line", lambda: "signoutParameters.signoutFromBrowser = true" in browser.one(".listing").get_property("textContent"))
    browser.press("Sign Out")
    browser.expect_page("/auth/signed-out")
    browser.wait("the confirmation", lambda: "signed out there too" in browser.one("#provider").text)
    assert browser.server.counts()["logout"] == logouts + 1
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.one("input[name=password]")


@test("a provider that cannot end its session: the log says so after signing in, and again after signing out")
def kept_session(browser):
    said = "This identity provider has no sign-out page, so its session goes on"
    with browser.at_keeping_provider():
        browser.sign_in()
        browser.expect_log(said)
        browser.press("Clear")
        browser.press("Sign Out")
        browser.expect_log("Sign out completed successfully")
        assert "private window" in browser.expect_log(said)


@test("on a shared device there is no choice: Sign Out signs out at the provider too, as the tutorial's code does")
def sign_out_shared(browser):
    with browser.on_shared_device():
        browser.open("/ios")
        browser.press("Sign-in options")
        assert not browser.one("#option-sign_out").is_enabled()
        assert "signoutFromBrowser = true" in browser.one("#sign-out-options small").text
        browser.wait("the line", lambda: "signoutParameters.signoutFromBrowser = true" in browser.one(".listing").get_property("textContent"))

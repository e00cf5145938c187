"""The learner: a home page that lives, a drawing in which each step moves."""

from .browser import ADELE
from .registry import registry

tests, test = registry("learner", time="Pixels at many widths, and arrows that move. Home's first press and the drawing without motion decide.")

@test("home begins with the press itself: one click leads to the sign-in, whose result is on the app's page; then its phone says who is signed in")
def first_press(browser):
    browser.open("/")
    browser.expect_text(".user", "Signed out")
    words = browser.one(".beats").text
    assert all(word in words for word in ("PKCE", "nonce", "claims challenge")), words
    # The demo's tenant is named once, and the two rows of cards are full.
    assert browser.one("#cards").text.count("identity platform") == 0 and "identity platform" in browser.one(".apps .authority").text
    browser.size(1440, 900)
    tops = browser.driver.execute_script("return [...document.querySelectorAll('#cards > li')].map((each) => each.offsetTop)")
    assert sorted(tops.count(top) for top in set(tops)) == [4, 4], tops
    # The button says as whom: no account has to be chosen.
    browser.press("Press it: sign in as Adele")
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()
    browser.expect_page("/ios")
    browser.press("Companion")
    browser.expect_text(".user", ADELE)
    # Who is signed in is not asked to sign in.
    browser.expect_text(".go span", f"Signed in as {ADELE}")
    words = browser.one(".beats").text
    assert "acquireTokenSilent" in words and "no page opens" in words and "no token" not in words, words
    assert [each.text.split()[1] for each in browser.all(".beats s")] == ["/authorize", "/token"], words
    browser.press("Press it again: no sign-in")
    browser.expect_log("Refreshed Access token is ")
    browser.press("Companion")
    browser.expect_text(".user", ADELE)
    # The screen's own button is the same press.
    browser.press("Call Microsoft Graph API")
    browser.expect_log("Refreshed Access token is ")
    assert "#" not in browser.driver.current_url


@test("what one gets, the press and what it does, or on a phone the paste box, are on the first screen of home; its cards leave no hole where there is room for two rows", needs="time")
def opening(browser):
    for width, height in ((1440, 900), (1280, 720), (1024, 768), (820, 1180), (390, 844)):
        browser.size(width, height)
        browser.open("/")
        browser.settled()
        browser.shoot(f"home {width}")
        ring = browser.driver.execute_script("const [first, glass] = ['.do.first', '.glass'].map((e) => document.querySelector(e).getBoundingClientRect()); return [first.left - glass.left, glass.right - first.right]")
        assert width < 640 or min(ring) >= 8, f"the ring of the button is cut by the phone's edge at {width}: {ring}"
        for selector in ("h1", ".try", *((".phone", ".beats") if width >= 1280 else ()), *(("#paste",) if width < 640 else ())):
            left, right, top, bottom = browser.driver.execute_script("const r = document.querySelector(arguments[0]).getBoundingClientRect(); return [r.left, r.right, r.top, r.bottom]", selector)
            assert left >= 0 and right <= width and top >= 0 and top + min(bottom - top, 120) <= height, f"{selector} at {width}"
    authorities = browser.driver.execute_script("return [...document.querySelectorAll('.authority')].map((e) => e.textContent)")
    assert authorities and not any("localhost" in each or "://" in each for each in authorities), authorities


@test("the demo's account and its password are never broken, are whole in the window and cover no control, whatever the width", needs="time")
def account_in_one_line(browser):
    for width in (320, 390, 430, 501, 600, 768, 1000, 1240, 1440):
        browser.size(width, 844)
        for path in ("/", "/ios", "/macos", "/external", "/b2c", "/portal"):
            browser.open(path)
            browser.settled()
            browser.shoot(f"account {width} {path}")
            lines, inside, covers = browser.driver.execute_script(ACCOUNT)
            assert lines == [1, 1] and inside and not covers, f"{path} at {width}: {lines}, {inside}, {covers}"


# The lines of account and password; whether the note is within the window; and the controls that lie under it.
ACCOUNT = """
const note = document.getElementById("demo"), box = note.getBoundingClientRect();
const under = [...document.querySelectorAll("a, button, summary, select")].filter((e) => e.checkVisibility() && !e.closest("#cards, .paste")).filter((e) => {
  const { left, right, top, bottom } = e.getBoundingClientRect();
  return left < box.right && box.left < right && top < box.bottom && box.top < bottom;
});
return [[...note.querySelectorAll("b")].map((e) => e.getClientRects().length), box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight,
  under.map((e) => e.textContent.trim())];
"""


@test("with reduced motion nothing on home moves; what MSAL is stands there")
def still_home(browser):
    browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    browser.open("/")
    browser.settled()
    assert browser.driver.execute_script("return document.getAnimations().length") == 0
    assert "Microsoft Authentication Library" in browser.one(".lead").text
    browser.colours("light")


# The drawing

# Keeps each place that the parcel has from now on, because its way can be over before anybody asks.
PLACES = """
const parcel = document.getElementById("parcel");
window.places = new Set();
new MutationObserver(() => places.add(parcel.getAttribute("transform"))).observe(parcel, { attributeFilter: ["transform"] });
"""


@test("the drawing carries each step along its arrow, says it in words too, and lights the arrows of a step that is pointed at", needs="time")
def drawing(browser):
    browser.open("/ios")
    browser.expect_username("Signed out")
    assert "Press a button" in browser.one("#drawing-says").text
    alternative = browser.one("#drawing svg").get_attribute("aria-label")
    assert "MSAL" in alternative and "Microsoft Graph" in alternative, alternative
    browser.sign_in()
    browser.wait("the call to Graph", lambda: browser.one("#drawing").get_attribute("data-step") == "api")
    browser.expect_text("#drawing-says", "API called")
    lit = "return [...document.querySelectorAll('.wire.lit')].map((e) => e.id)"
    assert browser.driver.execute_script(lit) == ["wire-graph"]
    place = "return [document.getElementById('parcel').getAttribute('transform'), document.getElementById('parcel-label').textContent]"
    browser.wait("Graph's answer comes back", lambda: browser.driver.execute_script(place)[1] == "200")
    browser.driver.execute_script(PLACES)
    for step in browser.all("#timeline .step"):
        if step.get_attribute("data-step") == "redeemed":
            step.find_element("css selector", "button").click()
    browser.wait("it moves", lambda: browser.driver.execute_script("return places.size") > 3)
    browser.wait("the tokens are in the app", lambda: browser.driver.execute_script(place)[1] == "token")
    assert sorted(browser.driver.execute_script(lit)) == ["wire-msal", "wire-platform"]


@test("the drawing shows a failure in its place; with reduced motion nothing moves, and the arrows are lit all the same")
def drawn_failure(browser):
    browser.sign_in()
    browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    browser.server.control(graph_error={"status": 403, "body": {"error": {"code": "Denied", "message": "No."}}, "times": 1})
    browser.allow("/api/ios/me")
    browser.press("Call Microsoft Graph API")
    browser.wait("the failure", lambda: browser.all("#wire-graph.lit.bad"))
    label = "return document.getElementById('parcel-label').textContent"
    browser.wait("its number", lambda: browser.driver.execute_script(label) == "403")
    place = "return document.getElementById('parcel').getAttribute('transform')"
    places = {browser.driver.execute_script(place) for _ in range(8)}
    assert len(places) == 1, places
    browser.colours("light")
    browser.expect_accessible("drawing with a failure")


@test("on a phone and in a low window the boxes of the drawing have their words alone, and on a tablet the bar of the steps is one line")
def compact(browser):
    for width, height in ((390, 844), (1280, 720)):
        browser.size(width, height)
        for page in ("/ios", "/macos"):
            browser.open(page)
            browser.one("#drawing") if width > 390 else browser.one("#views [data-view=story]").click()
            browser.wait("the drawing", lambda: browser.one("#drawing").is_displayed())
            icons = browser.driver.execute_script("return [...document.querySelectorAll('.node path')].filter((each) => each.checkVisibility()).length")
            assert icons == 0, f"{icons} icons lie beside the words of {page} at {width}"
    browser.size(768, 1024)
    browser.sign_in()
    browser.wait("the steps", lambda: browser.all("#share"))
    heights = browser.driver.execute_script("return [...document.querySelectorAll('.way button')].map((each) => each.offsetHeight)")
    assert len(set(heights)) == 1, heights


# Plays a step, and in each frame of it looks at the words of the arrow: whether they touch a box, an arrow or the edge.
TOUCHES = """
const [detail, milliseconds, done] = arguments;
const label = document.getElementById("parcel-label");
const svg = document.querySelector("#drawing svg");
const found = new Set();
const crosses = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
const look = () => {
  const range = document.createRange();
  range.selectNodeContents(label);
  const words = [...range.getClientRects()].filter(({ width }) => width > 0);
  const boxes = [...svg.querySelectorAll(".node rect")].map((box) => box.getBoundingClientRect());
  const points = [...svg.querySelectorAll(".wire")].flatMap((wire) => Array.from({ length: 41 }, (_, part) => {
    const { x, y } = wire.getPointAtLength(wire.getTotalLength() * part / 40).matrixTransform(svg.getScreenCTM());
    return { left: x - 1, right: x + 1, top: y - 1, bottom: y + 1 };
  }));
  const edge = document.getElementById("drawing").getBoundingClientRect();
  const says = document.getElementById("drawing-says").getBoundingClientRect();
  for (const word of words) {
    if (boxes.some((box) => crosses(word, box))) found.add(`${label.textContent}: a box`);
    if (points.some((point) => word.left < point.right && point.left < word.right && word.top < point.bottom && point.top < word.bottom)) found.add(`${label.textContent}: an arrow`);
    if (word.left < edge.left || word.right > edge.right || word.bottom > says.top + 1) found.add(`${label.textContent}: the edge`);
  }
  if (performance.now() < end) requestAnimationFrame(look);
  else done([...found]);
};
const end = performance.now() + milliseconds;
document.dispatchEvent(new CustomEvent("companion-step", { detail }));
requestAnimationFrame(look);
"""


@test("the words in the drawing stand below their arrow, and touch neither boxes nor arrows nor the edge, at any width", needs="time")
def words_in_drawing(browser):
    # The first goes all its ways; of the others the last one, without motion.
    steps = (("refreshed", "refreshed"), ("unredeemed", "provider_rejected_client"), ("silent", "interaction_required"), ("authorize", "password_reset_requested"),
             ("challenge", "claims_challenge"))
    for width, height in ((320, 640), (390, 844), (820, 1180), (1280, 720), (1280, 1000), (1720, 1000)):
        browser.size(width, height)
        browser.colours("light")
        browser.open("/ios")
        browser.settled()
        if width < 768:
            browser.one("#views [data-view=story]").click()
            browser.settled()
        for step, outcome in steps:
            if step != "refreshed":
                browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
            touched = browser.driver.execute_async_script(TOUCHES, {"step": step, "outcome": outcome, "name": "A step"}, 450 * 4 if step == "refreshed" else 50)
            assert touched == [], f"{step} at {width} by {height}: {touched}"
    browser.colours("light")

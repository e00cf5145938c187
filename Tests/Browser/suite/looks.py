"""The looks of the pages: the apps' geometry, accessibility, size."""

import contextlib
import json
import urllib.parse
import urllib.request
from itertools import product

from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from .browser import ADELE, BOTH
from .cases import REPLAYED
from .kiosk import kiosk
from .languages import ask_for
from .portal import MEGAN, open_portal, sign_in
from .registry import registry
from .server import Registrations, Tenant

tests, test = registry("looks", time="Shifts, first paints, weights and pixels of page after page. The screens' geometry, zoom, axe and the weight of home, guide and portal decide.")

RECTANGLES = """
const origin = document.querySelector(arguments[0]).getBoundingClientRect();
return Object.fromEntries(arguments[1].map((selector) => {
  const r = document.querySelector(selector).getBoundingClientRect();
  return [selector, [r.left - origin.left, r.top - origin.top, r.width, r.height]];
}));
"""


def rectangles(browser, origin, *selectors):
    return browser.driver.execute_script(RECTANGLES, origin, list(selectors))


@test("the iOS screen at 375 by 667 has the app's geometry")
def ios_geometry(browser):
    browser.size(375, 667)
    # A phone's scroll bars take no room.
    browser.cdp("Emulation.setScrollbarsHidden", hidden=True)
    browser.open("/ios")
    browser.expect_username("Signed out")
    found = rectangles(browser, "body", "#username", "#call-graph", "#sign-out", "#device-info", ".log")
    expected = {
        "#username": [65, 50, 300, 50],
        "#call-graph": [37.5, 120, 300, 50],
        "#sign-out": [112.5, 180, 150, 50],
        "#device-info": [112.5, 240, 150, 50],
        # The bar of the views is below it.
        ".log": [10, 300, 355, 297],
    }
    assert found == expected, found
    browser.shoot("ios 375 by 667")
    browser.cdp("Emulation.setScrollbarsHidden", hidden=False)


@test("the iOS screen in a desktop window is the same, in a device frame that fills the height")
def ios_frame(browser):
    browser.size(1280, 900)
    browser.open("/ios")
    browser.expect_username("Signed out")
    frame = rectangles(browser, "body", ".screen")[".screen"]
    assert frame[0] == 16 and frame[2:] == [399, 842], frame
    found = rectangles(browser, ".screen", "#username", "#call-graph", ".log")
    assert [found["#call-graph"][1], found[".log"][1]] == [132, 312], "the positions within the frame of 12 differ from the app's"
    browser.one("#code .run")
    assert browser.driver.execute_script("return document.documentElement.scrollHeight") == 900, "the page is higher than the window"


@test("the macOS window has the app's geometry")
def macos_geometry(browser):
    browser.open("/macos")
    browser.expect_username("Signed out")
    found = rectangles(browser, ".content", ".content", "#username", "#call-graph", "#sign-out", ".log")
    assert found[".content"][2:] == [520, 448], found
    assert found["#username"][1] == 30 and round(found["#username"][0] + found["#username"][2]) == 510, found
    assert found["#call-graph"][1::2] == [50, 34] and found["#sign-out"][1::2] == [94, 34], found
    assert found[".log"] == [10, 138, 500, 300], found


@test("the columns of the applications' pages fit a window of 1280 by 900", needs="time")
def columns_fit(browser):
    browser.size(1280, 900)
    for app in ("ios", "macos", "external", "b2c"):
        browser.open(f"/{app}")
        browser.one("#code .run")
        browser.settled()
        height = browser.driver.execute_script("return document.documentElement.scrollHeight")
        assert height <= 900, f"/{app} is {height} pixels high"


@test("axe finds nothing on home, iOS, macOS, signed out; nothing is wider than 320 pixels")
def accessible_pages(browser):
    browser.open("/")
    browser.one("#cards a")
    browser.expect_accessible("home", BOTH)
    for app in ("ios", "macos"):
        browser.open(f"/{app}")
        browser.expect_username("Signed out")
        browser.expect_accessible(app, BOTH)
    browser.open("/auth/signed-out")
    browser.one("h1")
    browser.expect_accessible("signed out", BOTH)


# On paper: the scenery, the lines of the log that are cut, whether all steps are there, and whether the bar is.
PAPER = """
const log = document.getElementById("log");
return [getComputedStyle(document.body).backgroundImage, log.scrollHeight - log.clientHeight,
  [...document.querySelectorAll(".step")].every((e) => e.getBoundingClientRect().width > 300), document.querySelector(".topbar").checkVisibility()];
"""


@test("axe finds nothing on the pages with an account, a result, an error and the timeline, and paper has log and steps whole")
def accessible_states(browser):
    browser.stand_still()
    for app in ("ios", "macos"):
        browser.cdp("Network.clearBrowserCookies")
        browser.server.reset()
        browser.sign_in(app)
        browser.server.control(graph_error={"status": 403, "body": {"error": {"code": "Denied", "message": "No."}}, "times": 1})
        browser.allow(f"/api/{app}/me")
        browser.press("Call Microsoft Graph API")
        browser.expect_log("Couldn't get graph result: ")
        browser.wait("the timeline", lambda: browser.one("#timeline-box li").text)
        browser.expect_accessible(f"{app} signed in", BOTH)
        browser.wait("who can fix it", lambda: "Ask an administrator:" in browser.one(".step .problem").text)
        browser.size(390, 844)
        browser.cdp("Emulation.setEmulatedMedia", media="print")
        look = browser.driver.execute_script(PAPER)
        assert look == ["none", 0, True, False], look
        browser.cdp("Emulation.setEmulatedMedia", media="")
        browser.stand_still()
        browser.size(1280, 800)
    browser.open("/")
    browser.wait("the card says who is signed in", lambda: ADELE in browser.one("#cards").text)
    browser.expect_accessible("home signed in", BOTH)


@test("every page of the demo has one bar, its rooms are a click away, the present one is marked, and on a phone they are a menu; home and the tenant's own have theirs", needs="time")
def rooms(browser):
    names = ["Learn", "Your app", "Portal", "Failures", "Paste"]
    places = {"/": None, "/ios": "Learn", "/macos": "Learn", "/external": "Learn", "/b2c": "Learn", "/native": "Your app", "/native/map": "Your app", "/truth": "Your app",
              "/portal": "Portal", "/paste": "Paste", "/auth/signed-out": None}
    for path, present in places.items():
        browser.open(path)
        assert [each.text for each in browser.all(".rooms nav a")] == names, path
        assert [each.text for each in browser.all(".rooms [aria-current]")] == ([present] if present else []), path
    for name, path in (("Learn", "/ios"), ("Your app", "/native"), ("Portal", "/portal"), ("Paste", "/paste")):
        browser.press(name)
        browser.expect_page(path)
    browser.press("Failures")
    browser.wait("the page of failures", browser.at_tenant)
    assert [each.text for each in browser.all(".rooms [aria-current]")] == ["Failures"]
    browser.press("Your app")
    browser.expect_page("/native")
    browser.size(390, 844)
    for path in ("/", "/ios", "/portal", "/paste"):
        browser.open(path)
        assert not browser.all(".rooms")[0].is_displayed(), path
        browser.one(".rooms-open").click()
        assert all(each.is_displayed() and each.rect["height"] >= 44 for each in browser.all(".rooms nav a")), path
        browser.keys("\ue00c")
        browser.wait(f"the menu of {path} closes", lambda: not browser.all(".rooms")[0].is_displayed())
        browser.one(".rooms-open").click()
        browser.expect_accessible(f"the menu of {path}")
        browser.size(390, 844)
    browser.open("/paste")
    browser.one(".rooms-open").click()
    browser.press("Learn")
    browser.expect_page("/ios")
    browser.size(1280, 800)
    browser.driver.get(browser.server.tenant + "/outbox")
    assert [each.text for each in browser.all(".rooms nav a")] == names
    browser.open("/kiosk")
    assert not browser.all(".rooms")


@test("axe finds nothing on the demo tenant's pages", needs="time")
def accessible_tenant(browser):
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.one("button[name=username]")
    browser.expect_accessible("tenant picker")
    browser.choose_account()
    browser.one("input[name=password]")
    browser.expect_accessible("tenant password")
    browser.enter_password()
    browser.one("button[name=consent]")
    browser.expect_accessible("tenant consent")
    browser.one("button[name=consent][value=accept]").click()
    browser.wait("the account", lambda: browser.one("#timeline-box li").text)
    for context, field in (("c1", "button[name=second_factor]"), ("c2", "input[name=password]")):
        claims = json.dumps({"access_token": {"acrs": {"essential": True, "value": context}}})
        browser.open("/auth/ios/sign-in?" + urllib.parse.urlencode({"claims": claims, "login_hint": ADELE}))
        browser.one(field)
        assert f"(authentication context {context})" in browser.one("main .notice").text
        browser.expect_accessible(f"tenant context {context}")
    browser.driver.get(browser.server.tenant + "/control")
    browser.one("h1")
    browser.expect_accessible("tenant control")
    unfold(browser, "expire_tokens")
    browser.one("#expire_tokens").click()
    browser.one(".rules li")
    browser.expect_accessible("tenant control with something active")
    browser.server.control(reset=True)


@test("the tenant's page for those who are not assigned says so, axe finds nothing, and it leads to another account")
def unassigned(browser):
    client = "11111111-aaaa-4bbb-8ccc-00000000000e"
    with browser.visiting(Tenant(browser.server, [{"name": "Ledger", "client_id": client, "native": "com.contoso.ledger", "assignment_required": True}])):
        request = {"client_id": client, "redirect_uri": "msauth.com.contoso.ledger://auth", "response_type": "code", "scope": "openid"}
        browser.open("/common/oauth2/v2.0/authorize?" + urllib.parse.urlencode(request))
        browser.choose_account()
        browser.enter_password()
        browser.wait("the refusal", lambda: "AADSTS50105" in browser.one("main").text)
        assert browser.one("main strong").text == "Ledger"
        browser.expect_accessible("tenant not assigned", BOTH)
        browser.one("button[name=username]").click()
        browser.one("#username")
        browser.open("/control")


@test("every page says that it is offline, and that it is over", needs="time")
def offline(browser):
    browser.cdp("Network.enable")
    for path in ("/", "/ios", "/b2c", "/portal", "/auth/signed-out"):
        browser.open(path)
        browser.settled()
        browser.cdp("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        browser.wait(f"{path} says that it is offline", lambda: "offline" in browser.one(".offline").text)
        browser.expect_accessible(f"offline {path}")
        browser.cdp("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        browser.wait(f"{path} says that it is over", lambda: not browser.all(".offline:not(:empty)"))


# All that a browser can open in the demo; the last is an error. The kiosk has tests of its own.
EVERY_PAGE = ("/", "/ios", "/macos", "/external", "/b2c", "/portal", "/native", "/native/map", "/native/play", "/paste", "/truth", "/auth/signed-out", "/nowhere")

TENANT_PAGES = ("/control", "/clients", "/outbox", "/devicelogin")


def every_page(browser):
    """Opens each page, the tenant's and those of a sign-in there included; yields its name when it has settled."""
    for path in (*EVERY_PAGE, "/native/case#case=" + urllib.parse.quote(json.dumps(REPLAYED), safe="")):
        browser.open(path)
        browser.settled()
        yield path.partition("#")[0]
    for path in TENANT_PAGES:
        browser.driver.get(browser.server.tenant + path)
        browser.settled()
        yield f"the tenant's {path}"
    browser.cdp("Network.clearBrowserCookies")
    browser.server.control(require_consent=ADELE)
    browser.open("/auth/ios/sign-in")
    browser.one("button[name=username]")
    browser.settled()
    yield "the picker"
    browser.choose_account()
    browser.one("input[name=password]")
    browser.settled()
    yield "the password"
    browser.enter_password()
    browser.one("button[name=consent]")
    browser.settled()
    yield "the consent"


PAINT = "return Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0)"


@test("each page brings at most 70 KB over the wire in 21 answers at the first visit, home 40, and one document at the second; where the columns have no room, they are not loaded", needs="time")
def weight(browser):
    figures = []
    browser.size(390, 844)
    browser.allow("/nowhere")
    for path in EVERY_PAGE:
        size, requests = browser.expect_light(path, 40_000 if path == "/" else 70_000)
        figures.append(f"{path} {size / 1000:.1f} KB in {requests} requests, first paint {browser.driver.execute_script(PAINT)} ms")
    for path in ("/", "/ios", "/portal"):
        for _ in range(2):
            browser.open(path)
            browser.one("h1, #title")
            browser.settled()
        # Counts what came over the wire, and is no answer of the API.
        again = browser.driver.execute_script(
            "return performance.getEntriesByType('resource').filter((e) => e.transferSize > 0 && !e.name.includes('/api/')).map((e) => e.name)")
        assert not again, f"{path} loads again at a second visit: {again}"
    print("      " + "\n      ".join(figures), flush=True)


@test("only styles, three at most, hold up a page's first paint, which is measured on a page that has settled before", needs="time")
def first_paint(browser):
    browser.cdp("Network.setCacheDisabled", cacheDisabled=True)

    def median(path):
        """Of three loads of a page, in ms, and what held it up."""
        times = []
        for _ in range(3):
            browser.open(path)
            browser.settled()
            times.append(browser.driver.execute_script(PAINT))
        blocking = browser.driver.execute_script(
            "return performance.getEntriesByType('resource').filter((e) => e.renderBlockingStatus === 'blocking').map((e) => new URL(e.name).pathname)")
        return sorted(times)[1], blocking

    browser.allow("/favicon.ico")
    median("/healthz")
    figures = [f"no page, but a line of text: {median('/healthz')[0]} ms"]
    for path in ("/", "/ios", "/macos", "/external", "/b2c", "/portal", "/native/play", "/auth/signed-out"):
        time, blocking = median(path)
        figures.append(f"{path} {time} ms")
        # The look of a kiosk is decided before anything is painted.
        styles = [each for each in blocking if not (path == "/auth/signed-out" and each.startswith("/assets/scripts/base/visitor."))]
        assert time > 0 and all(each.endswith(".css") for each in styles) and 0 < len(styles) <= 3, f"{path}: {blocking}"
    browser.cdp("Network.setCacheDisabled", cacheDisabled=False)
    print("      first paint: " + ", ".join(figures), flush=True)


@test("in a wide window home brings at most 40 KB over the wire, and an application's page with all its columns 60, in 20 answers, and the icon, at the first visit", needs="time")
def weight_of_columns(browser):
    for path, width in product(("/", "/ios", "/macos", "/external", "/b2c"), (1440, 1720)):
        browser.size(width, 1000)
        total, answers = browser.expect_light(path, 40_000 if path == "/" else 60_000)
        if path != "/":
            browser.one("#code .run")
        print(f"      {path} at {width}: {total} bytes on the wire, {answers} answers, first paint {browser.driver.execute_script(PAINT)} ms")


# The application, the button that signs in, and who does.
SIGN_INS = {
    "ios": ("#call-graph", ADELE),
    "macos": ("#call-graph", ADELE),
    "external": ("#acquire-interactively", "customer@fabrikam.example"),
    "b2c": ("#authorize", "b2cuser@fabrikamb2c.example"),
}


def expect_still_return(browser, app, width, height):
    """A new visitor signs in; returns a sentence if the page to which they come back moves."""
    button, username = SIGN_INS[app]
    browser.size(width, height)
    browser.allow("/favicon.ico")
    # A line of text, which asks for nothing while it is forgotten who was here.
    browser.open("/healthz")
    browser.cdp("Network.clearBrowserCookies")
    browser.driver.execute_script("sessionStorage.clear(); localStorage.clear()")
    browser.open(f"/{app}")
    browser.settled()
    browser.one(button).click()
    browser.choose_account(username)
    browser.enter_password()
    browser.wait("consent or the page", lambda: browser.all("button[name=consent]") or not browser.at_tenant())
    if browser.at_tenant():
        browser.answer_consent()
    browser.expect_page(f"/{app}")
    browser.wait("the steps", lambda: len(browser.driver.find_elements("css selector", "#timeline .step")) > 2)
    browser.settled()
    shift, nodes = browser.driver.execute_async_script(SHIFT)
    return [f"/{app} at {width}: {shift:.3f} by {nodes}"] if shift >= 0.02 else []


@test("a page does not move for a new visitor who comes back from the sign-in: the layout shift is below 0.02")
def return_shift(browser):
    assert not (moved := expect_still_return(browser, "ios", 768, 1024)), moved


@test("nor does any page of an application, on phone, tablet and desktop", needs="time")
def return_shifts(browser):
    sizes = ((390, 844), (768, 1024), (1024, 768), (1440, 900))
    moved = [each for app, size in product(SIGN_INS, sizes) for each in expect_still_return(browser, app, *size)]
    assert not moved, moved


@test("for who is signed in, neither the story nor home moves, nor a failure that opens its explanation, nor a team's home with its summary: the layout shift is below 0.02", needs="time")
def late_shift(browser):
    sizes = ((1440, 900), (1024, 768), (768, 1024), (390, 844))
    moved = []

    def look(name):
        shift, nodes = browser.driver.execute_async_script(SHIFT)
        if shift >= 0.02:
            moved.append(f"{name}: {shift:.3f} by {nodes}")
        return shift

    browser.sign_in()
    browser.allow("/api/ios/me")
    for width, height in sizes:
        browser.size(width, height)
        for language in ("ja", "pt-PT", None):
            ask_for(browser, language)
            browser.open("/")
            browser.wait("who it is", lambda: ADELE in browser.one(".user").text)
            browser.settled()
            look(f"home in {language or 'en'} at {width}")
        browser.open("/ios")
        if width == 390:
            browser.one("#views [data-view=story]").click()
        browser.wait("the steps", lambda: browser.all("#timeline .step"))
        browser.settled()
        before = look(f"the story of who is signed in at {width}")
        browser.server.control(graph_error={"status": 403, "body": {"error": {"code": "Denied", "message": "No."}}, "times": 1})
        browser.press("Call Microsoft Graph API")
        browser.wait("the explanation", lambda: browser.one(".flow:first-child .step.failed .problem").is_displayed())
        after, nodes = browser.driver.execute_async_script(SHIFT)
        if after - before >= 0.02:
            moved.append(f"a failure at {width}: {after - before:.3f} by {nodes}")
    browser.expect_clean()
    with browser.visiting(Registrations(browser.server, 10)):
        browser.size(1280, 800)
        open_portal(browser)
        sign_in(browser, "portal", MEGAN)
        browser.press("Check all")
        browser.wait("what fails is first", lambda: "Problem" in browser.all("#registrations button")[0].text)
        for width, height in sizes:
            browser.size(width, height)
            browser.open("/")
            browser.wait("the states", lambda: len(browser.all("#cards .marks")) == 10)
            browser.settled()
            look(f"a team's home at {width}")
    assert not moved, moved


# Controls that something else lies over when they are in the middle of the window. A link's words may stand on two lines.
COVERED = """
const controls = [...document.querySelectorAll("a, button, input, select, textarea, summary")].filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest(".visually-hidden"));
return controls.filter((e) => {
  e.scrollIntoView({ block: "center", behavior: "instant" });
  const [{ x, y, width, height } = { width: 0 }] = e.getClientRects();
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  return width > 0 && top && !e.contains(top) && !top.contains(e) && !(e.labels ?? []).values().some((label) => label.contains(top));
}).map((e) => e.id || e.className || e.textContent.trim());
"""


@test("every control of every page can still be reached at 200 % zoom, and no page scrolls sideways")
def zoom(browser):
    browser.size(640, 400, 2)
    browser.allow("/nowhere")
    wrong = []

    def look(name):
        browser.shoot(f"200 percent {name}")
        wrong.extend(f"{name}: {each!r} is covered" for each in browser.driver.execute_script(COVERED))
        if browser.driver.execute_script("return document.documentElement.scrollWidth > innerWidth"):
            wrong.append(f"{name} scrolls sideways")

    for name in every_page(browser):
        look(name)
    browser.expect_clean()
    with kiosk(browser):
        browser.settled()
        look("the kiosk")
    assert not wrong, "\n".join(wrong)


# At the left edge of a page begins its heading, or its screen or window. A message is a card in the middle.
BEGINS = {"/ios": ".screen", "/macos": ".window", "/external": ".screen", "/b2c": ".screen"}
MESSAGES = ("/auth/signed-out", "/nowhere")

LEFT = "return [document.querySelector('.topbar .home'), document.querySelector(arguments[0])].map((e) => e.getBoundingClientRect().left)"


@test("the bar begins where its page begins, in a wide window, on a tablet and on a phone, where the screen of an iPhone's app is the window", needs="time")
def left_edge(browser):
    wrong = []

    def look(*paths):
        for width in (1440, 768, 390, 320):
            browser.size(width, 900)
            for path in paths:
                browser.driver.get(path if path.startswith("http") else browser.server.origin + path)
                browser.settled()
                begins = BEGINS.get(path, "h1")
                bar, page = browser.driver.execute_script(LEFT, begins)
                if abs((16 if begins == ".screen" and width < 500 and page == 0 else page) - bar) > 1:
                    wrong.append(f"{path} at {width}: the bar at {bar}, the page at {page}")

    look(*(page for page in EVERY_PAGE if page not in MESSAGES), *(browser.server.tenant + page for page in ("/control", "/clients")))
    # A team's home.
    browser.expect_clean()
    with browser.visiting(Registrations(browser.server, 4)):
        look("/")
    assert not wrong, wrong


SIZES = """
const found = {};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const { parentElement: element, data } = walker.currentNode;
  if (!data.trim() || !element.checkVisibility({ visibilityProperty: true }) || element.closest(arguments[0])) continue;
  found[getComputedStyle(element).fontSize] ??= data.trim().slice(0, 40);
}
return found;
"""


@test("the pages and the tenant's have six sizes of type, beside the screens that they reproduce and home's headline", needs="time")
def sizes(browser):
    browser.allow("/nowhere")
    wrong = []
    for width in (1440, 390):
        browser.size(width, 900)
        for path in ("/", "/ios", "/macos", "/external", "/b2c", "/portal", "/native", "/native/map", "/native/play", "/paste", "/truth", "/nowhere", "/auth/signed-out",
                     browser.server.tenant + "/control", browser.server.tenant + "/clients", browser.server.tenant + "/outbox"):
            browser.driver.get(path if path.startswith("http") else browser.server.origin + path)
            browser.settled()
            found = browser.driver.execute_script(SIZES, ".hero h1, .phone, .device, .window, svg, .visually-hidden")
            wrong += [f"{path} at {width}: {size} in {text!r}" for size, text in found.items() if size not in ("12px", "13px", "14px", "16px", "18px", "24px")]
    assert not wrong, "\n".join(wrong)


SHIFT = """
const done = arguments[0];
let sum = 0;
const moved = new Set();
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries()) {
    if (hadRecentInput) continue;
    sum += value;
    for (const { node } of sources) moved.add(node?.id ? `#${node.id}` : node?.className ? `.${node.className}` : node?.nodeName);
  }
}).observe({ type: "layout-shift", buffered: true });
setTimeout(() => done([sum, [...moved].join(", ")]), 200);
"""


@test("no page moves while it loads: the layout shift is below 0.02 on phone, tablet and desktop, at the first visit and the next", needs="time")
def layout_shift(browser):
    browser.allow("/nowhere")
    moved = []
    for width, height in ((390, 844), (768, 1024), (820, 1180), (1280, 800), (1440, 900)):
        browser.size(width, height)
        for visit in ("first", "next"):
            browser.cdp("Network.setCacheDisabled", cacheDisabled=visit == "first")
            # As on a slow device, where what comes late is seen to come.
            browser.cdp("Emulation.setCPUThrottlingRate", rate=6 if visit == "first" and width in (390, 1440) else 1)
            for name in every_page(browser):
                shift, nodes = browser.driver.execute_async_script(SHIFT)
                if shift >= 0.02:
                    moved.append(f"{name} at {width}, {visit} visit: {shift:.3f} by {nodes}")
    browser.cdp("Network.setCacheDisabled", cacheDisabled=False)
    assert not moved, moved


@test("nor does the kiosk move, at its first visit and later, while its first screen comes", needs="time")
def kiosk_shift(browser):
    with kiosk(browser, is_moving=True):
        # As on a slow device, where what comes late is seen to come.
        browser.cdp("Emulation.setCPUThrottlingRate", rate=4)
        for width, height in ((390, 844), (1080, 1920), (1280, 800), (1920, 1080)):
            browser.size(width, height)
            for visit in ("first", "second"):
                browser.cdp("Network.setCacheDisabled", cacheDisabled=visit == "first")
                browser.open("/kiosk")
                browser.one("#attract")
                browser.settled()
                shift, nodes = browser.driver.execute_async_script(SHIFT)
                assert shift < 0.02, f"the kiosk at {width}, {visit} visit: {shift:.3f} by {nodes}"
        browser.cdp("Network.setCacheDisabled", cacheDisabled=False)
        browser.cdp("Emulation.setCPUThrottlingRate", rate=1)


@test("nor does the card move when the profile comes, on a standing screen and a lying one", needs="time")
def card_shift(browser):
    with kiosk(browser, is_moving=True), browser.holding("/api/kiosk/me") as let_go:
        for width, height in ((1080, 1920), (1920, 1080), (1280, 800)):
            browser.size(width, height)
            browser.open("/kiosk")
            browser.press("Sign in")
            browser.choose_account()
            browser.enter_password()
            browser.wait("consent or the card", lambda: browser.all("button[name=consent]") or not browser.at_tenant())
            if browser.at_tenant():
                browser.answer_consent()
            browser.one("#card")
            browser.settled()
            let_go()
            browser.wait("the profile", lambda: "Retail Manager" in browser.one("#badge").text)
            shift, nodes = browser.driver.execute_async_script(SHIFT)
            assert shift < 0.02, f"the card at {width}: {shift:.3f} by {nodes}"
            browser.press("Sign out")
            browser.wait("the start", lambda: browser.driver.current_url == browser.server.origin + "/kiosk" and browser.one("#attract").is_displayed())


@test("home has its cards, the device mode and the demo's note before any script has run")
def without_script(browser):
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open("/")
        titles = [each.text for each in browser.all("#cards h3")]
        assert titles == ["iOS tutorial", "macOS tutorial", "External tenant tutorial", "Azure AD B2C tutorial", "Set up your own app", "Native authentication, step by step", "Test portal", "Demo kiosk"], titles
        assert ADELE in browser.one("#demo").text and browser.one("#mode").text == "Private"
    finally:
        browser.cdp("Emulation.setScriptExecutionDisabled", value=False)


@test("the story is a scroller of its own, in which no panel is cut; the screen and the code stay where they are", needs="time")
def panels(browser):
    browser.sign_in()
    for panel in ("options", "claims"):
        browser.one(f"#{panel} summary").click()
    browser.wait("the timeline", lambda: browser.all("#timeline .step"))
    browser.wait("the claims", lambda: browser.all("#claims td"))
    for width, height in ((1280, 800), (390, 844)):
        browser.size(width, height)
        browser.shoot(f"panels {width}")
        if width == 390:
            browser.one("#views [data-view=story]").click()
        cut = browser.driver.execute_script(
            "return [...document.querySelectorAll('.panels, .panels .panel, .panel-box, #timeline')].filter((e) => e.scrollHeight > e.clientHeight + 1).map((e) => e.id || e.className)")
        assert not cut, f"cut at {width}: {cut}"
        scroller = ".story" if width == 390 else ".happened"
        room = browser.driver.execute_script("const e = document.querySelector(arguments[0]); e.scrollTo(0, 1e6); return [e.scrollHeight > e.clientHeight, e.scrollTop > 0]", scroller)
        assert room == [True, True], f"the end of the story cannot be reached at {width}"
    browser.size(1280, 800)
    found = rectangles(browser, "body", ".screen", "#code")
    assert found[".screen"][1] == found["#code"][1] == 48, found


@test("after a sign-in the focus is back on the button that began it")
def focus(browser):
    def focused():
        return browser.driver.switch_to.active_element.get_attribute("id")
    browser.sign_in()
    assert focused() == "call-graph", focused()
    browser.press("Accounts")
    browser.press("Add an account")
    browser.choose_account("megan@contoso.example")
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph("megan@contoso.example")
    assert browser.driver.execute_script("return document.activeElement.matches('#accounts summary')"), "not the menu that it began in"
    browser.open("/portal")
    browser.one("#columns")
    browser.one("#sign-in").click()
    browser.choose_account()
    browser.expect_page("/portal")
    browser.one("#columns")
    browser.wait("the focus", lambda: focused() == "sign-in")


# The colour of a link in the page.
LINK = """
const link = document.querySelector("main").appendChild(Object.assign(document.createElement("a"), { href: "#" }));
return getComputedStyle(link).color;
"""
# The items of the bar that can be seen, and the places of bar and heading.
BAR = """
const place = (e) => { const { left, top, height } = e.getBoundingClientRect(); return [left, top, height].map(Math.round); };
const bar = document.querySelector(".topbar");
const items = [...bar.querySelectorAll("a, button")].filter((e) => e.checkVisibility());
const looks = items.map((e) => { const { fontSize } = getComputedStyle(e); return [e.textContent.trim(), ...place(e).slice(1), fontSize]; });
return [place(bar), place(items[0]), place(items[1]), place(document.querySelector("h1")).slice(0, 2), ...looks];
"""


@test("the page of failures has the bar of the companion's pages, at each width, and their colour of links, and does not lead to itself")
def control(browser):
    for width in (1440, 820, 390):
        browser.size(width, 900)
        bars = []
        for address in (browser.server.origin + "/paste", browser.server.tenant + "/control?ui_locales=en"):
            browser.driver.get(address)
            browser.settled()
            bars.append(browser.driver.execute_script(BAR))
        assert bars[0] == bars[1], f"at {width}:\n{bars[0]}\n{bars[1]}"
        links = [link.get_attribute("href") for link in browser.all("main a, footer a")]
        assert links and not [link for link in links if link.endswith("/control")], links
    colours = []
    for scheme, address in product(("dark", "light"), (browser.server.origin + "/paste", browser.server.tenant + "/control?ui_locales=en")):
        browser.colours(scheme)
        browser.driver.get(address)
        colours.append(browser.driver.execute_script(LINK))
    assert colours[0] == colours[1] != colours[2] == colours[3], colours


@test("from the page of failures its room leads back to the page that was left, after its forms too, and to nowhere else; its number fields say what they are", needs="time")
def control_returns(browser):
    browser.open("/macos")
    browser.press("Failures")
    browser.wait("the control page", browser.at_tenant)
    for place in ("token_error", "graph_error"):
        unfold(browser, place)
        row = browser.one(f"form:has(#{place}) .row")
        assert row.find_element("css selector", "label").text.startswith("Times"), row.text
    name = browser.driver.execute_script("return document.querySelector('form:has(#graph_error) .times').labels[0].textContent")
    assert name == "Times: Graph", name
    Select(browser.one("#graph_error")).select_by_value("forbidden")
    browser.wait("what was done", lambda: "Graph: 403 Authorization_RequestDenied, for everyone." in browser.one("#notice").text)
    browser.server.control(reset=True)
    browser.expect_accessible("control")
    browser.press("Learn")
    browser.expect_page("/macos")
    for left in ("//evil.example/", "https://evil.example/macos", "/nowhere", "/portal"):
        browser.driver.get(f"{browser.server.tenant}/control?return_to={left}")
        links = [link.get_attribute("href").removeprefix(browser.server.origin) for link in browser.all(".rooms a")]
        assert links[:3] == ["/ios", "/native", "/portal"] and "evil" not in links[4], links


@test("by keyboard alone, the control page makes a rule for one person, which no one else meets, and ends it; each group leads to the iOS tutorial", needs="time")
def control_rules(browser):
    browser.sign_in()
    browser.driver.get(browser.server.tenant + "/control")
    browser.tab_to("#for summary")
    if not browser.one("#for").get_attribute("open"):
        browser.keys(Keys.ENTER)
    browser.tab_to("#when_user")
    browser.keys("Megan")
    browser.tab_to("#when_times")
    browser.keys("1", Keys.ENTER)
    browser.wait("the choice", lambda: "user=megan" in browser.driver.current_url)
    assert browser.driver.execute_script("return document.activeElement.id") == "chosen"
    said = browser.one("#chosen").text
    assert said.startswith("Only for Megan Bowen\nWhat you set now becomes a rule for this choice alone."), said
    assert not browser.all("[name=revoke], [name=rotate_key]"), "no rule can have these"
    browser.expect_accessible("control for one")
    browser.tab_to("details:has(#graph_error) > summary")
    browser.keys(Keys.ENTER)
    browser.tab_to("#graph_error")
    browser.keys("503", Keys.ENTER)
    browser.wait("the rule", lambda: browser.all(".rules li"))
    said = browser.one(".rules li").text
    assert "Every app, Megan Bowen" in said and "Graph: 503" in said and "Requests left: 1." in said, said
    browser.expect_accessible("control with a rule")
    browser.press("Open Learn for iOS")
    browser.expect_page("/ios")
    browser.press("Call Microsoft Graph API")
    browser.expect_graph()
    browser.driver.get(browser.server.tenant + "/control")
    browser.tab_to(".rules button")
    browser.keys(Keys.ENTER)
    browser.wait("its end", lambda: not browser.all(".rules"))
    assert "Everything works normally." in browser.one("#now").text


def unfold(browser, key):
    """Opens the group of a failure by its title."""
    if not browser.one(f"details:has(#{key})").get_attribute("open"):
        browser.one(f"details:has(#{key}) > summary").click()


@test("on a phone and in a wide window, a choice brings into sight whom the switches are for, what was open stays open, and one press leads back to everyone", needs="time")
def control_choice(browser):
    for width, height in ((390, 844), (1440, 900)):
        browser.size(width, height)
        browser.driver.get(browser.server.tenant + "/control?ui_locales=en")
        unfold(browser, "access_token_seconds")
        browser.one("#access_token_seconds").send_keys("77", Keys.TAB)
        unfold(browser, "choice")
        browser.wait("the number is set", lambda: "77" in browser.one(".rules li").text)
        browser.press("Undo")
        browser.wait("it is undone", lambda: not browser.all(".rules li"))
        apps = Select(browser.one("#when_client"))
        apps.select_by_index(1)
        name = apps.first_selected_option.text.split(": ")[0]
        title = f"Only for {name}"
        assert browser.one("#for summary").text == "For: every app, everyone"
        browser.press("Choose for whom")
        browser.wait("the choice", lambda: browser.one("#chosen h2").text == title)
        top, bottom, first = browser.driver.execute_script(
            "return [...['top', 'bottom'].map((side) => document.getElementById('chosen').getBoundingClientRect()[side]), document.querySelector('.group summary').getBoundingClientRect().bottom]")
        assert browser.one("#for summary").text == f"For: {name}"
        assert 0 <= top and bottom < first < height, f"at {width} the choice is at {top} to {bottom}, the first group ends at {first}"
        assert not browser.one("#access_token_seconds").get_attribute("value"), "a rule begins from normal"
        browser.shoot(f"control for one app {width}")
        browser.press("Back to everyone")
        browser.wait("everyone", lambda: "client" not in browser.driver.current_url)
        assert not browser.all("#chosen > *")


# The place of a switch in the window.
PLACE = "return document.getElementById('expire_tokens').getBoundingClientRect().top"


@test("a switch acts in place and by keyboard, nothing jumps and nothing shifts at any width, and what is active on top is undone", needs="time")
def control_in_place(browser):
    for width, height in ((390, 844), (820, 1180), (1440, 900)):
        browser.size(width, height)
        browser.driver.get(browser.server.tenant + "/control?ui_locales=en")
        browser.settled()
        room = browser.driver.execute_script("return document.getElementById('now').offsetHeight")
        assert room < 110, f"at {width} nothing is active in {room} pixels"
        shift, nodes = browser.driver.execute_async_script(SHIFT)
        assert shift < 0.02, f"at {width} it moves while it loads: {shift:.3f} by {nodes}"
        assert browser.driver.execute_script("return document.querySelector('#search').getBoundingClientRect().bottom") < height, f"at {width} the search is out of sight"
        unfold(browser, "expire_tokens")
        switch = browser.one("#expire_tokens")
        assert switch.get_attribute("role") == "switch" and switch.get_attribute("aria-checked") == "false"
        browser.driver.execute_script("arguments[0].scrollIntoView({ block: 'center' }); arguments[0].focus()", switch)
        before = browser.driver.execute_script(PLACE)
        browser.keys(" ")
        browser.wait("it is on", lambda: browser.one("#expire_tokens").get_attribute("aria-checked") == "true")
        assert abs(browser.driver.execute_script(PLACE) - before) < 2, f"at {width} the page jumps"
        assert browser.driver.execute_script("return document.activeElement.id") == "expire_tokens", "the focus is lost"
        active = browser.one(".rules li").text
        assert "Every app, everyone" in active and "Graph and the APIs refuse every access token issued until now." in active, active
        shift, nodes = browser.driver.execute_async_script(SHIFT)
        assert shift < 0.02, f"at {width} it shifts: {shift:.3f} by {nodes}"
        browser.shoot(f"control {width}")
        browser.press("Undo")
        browser.wait("it is off", lambda: browser.one("#expire_tokens").get_attribute("aria-checked") == "false")
        assert not browser.all(".rules li")
        assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"at {width} it scrolls sideways"


FORM = "return document.querySelector(`form:has(#${arguments[0]})`).getBoundingClientRect().top"


@test("a list and a number act in place like a switch, with nothing to press; from key to key a list waits until it is left or for Enter; without script there is a button")
def control_chosen(browser):
    active = lambda: [each.text.split("\n")[1] for each in browser.all(".rules li")]
    browser.driver.get(browser.server.tenant + "/control?ui_locales=en")
    browser.settled()
    for key in ("bad_id_token", "graph_error", "native_failure"):
        unfold(browser, key)
    assert not [each for each in browser.all("#failures .direct button") if each.is_displayed()], "there is something to press"
    # A list by its choice.
    top = browser.driver.execute_script(FORM, "bad_id_token")
    scrolled = browser.driver.execute_script("return scrollY")
    Select(browser.one("#bad_id_token")).select_by_value("nonce")
    browser.wait("it is active", lambda: active() == ["ID token of the next code: Wrong nonce"])
    moved = browser.driver.execute_script("return scrollY") - scrolled
    assert browser.driver.execute_script(FORM, "bad_id_token") == top - moved, "it jumps"
    assert Select(browser.one("#bad_id_token")).first_selected_option.text == "Wrong nonce"
    browser.press("Undo")
    browser.wait("it is undone", lambda: not active() and Select(browser.one("#bad_id_token")).first_selected_option.text == "Normal")
    # From key to key nothing happens, until the list with its number is left.
    sent = lambda: browser.driver.execute_script("return performance.getEntriesByType('resource').filter((each) => !each.name.includes('after=')).length")
    before = sent()
    browser.driver.execute_script("document.getElementById('graph_error').focus()")
    browser.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.TAB, "3")
    assert sent() == before and not active(), "it acts from key to key"
    browser.keys(Keys.TAB)
    browser.wait("the left list is active", lambda: active() == ["Graph: 429, retry after 5 s"])
    assert "Requests left: 3." in browser.one(".rules li").text, browser.one(".rules li").text
    browser.driver.execute_script("document.getElementById('bad_id_token').focus()")
    browser.keys(Keys.ARROW_DOWN, Keys.ENTER)
    browser.wait("with Enter", lambda: active() == ["ID token of the next code: Wrong signature", "Graph: 429, retry after 5 s"])
    assert browser.driver.execute_script("return document.activeElement.id") == "bad_id_token", "the focus is lost"
    # The rest of a failure waits for the failure.
    Select(browser.one("#suberror")).select_by_index(1)
    browser.one("#code").send_keys("50126", Keys.TAB)
    Select(browser.one("#native_failure")).select_by_index(1)
    browser.wait("the whole failure", lambda: len(active()) == 3)
    assert Select(browser.one("#suberror")).first_selected_option.text != "No suberror" and browser.one("#code").get_attribute("value") == "50126"
    browser.press("Reset everything")
    browser.wait("nothing is active", lambda: not active())
    # A number with Enter, and when it is left; what cannot be is put back.
    unfold(browser, "graph_delay_ms")
    number = lambda: browser.one("#graph_delay_ms")
    for keys, expected in (("5", Keys.ENTER), ["Delay of Graph (ms): 5"]), (("7", Keys.TAB), ["Delay of Graph (ms): 7"]), ((Keys.BACK_SPACE, Keys.TAB), ["Delay of Graph (ms): 7"]), (("0", Keys.ENTER), []):
        browser.driver.execute_script("arguments[0].focus(); arguments[0].select()", number())
        browser.keys(*keys)
        browser.wait(f"the number {keys[0]!r}", lambda expected=expected: active() == expected)
    browser.expect_accessible("control with choices")
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.driver.get(browser.server.tenant + "/control?ui_locales=en&user=adele@contoso.example")
        unfold(browser, "bad_id_token")
        Select(browser.one("#bad_id_token")).select_by_value("nonce")
        browser.one("form:has(#bad_id_token) button").click()
        browser.wait("the button acts", lambda: active() == ["ID token of every code: Wrong nonce"])
    finally:
        browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
    # The next choice takes the rule's place, and none ends it.
    browser.driver.get(browser.server.tenant + "/control?ui_locales=en&user=adele@contoso.example")
    Select(browser.one("#bad_id_token")).select_by_value("issuer")
    browser.wait("the other rule", lambda: active() == ["ID token of every code: Wrong issuer"])
    Select(browser.one("#bad_id_token")).select_by_index(0)
    browser.wait("no rule", lambda: not active())


@test("a list of long sentences has the room of its card; the page and its files are compressed")
def control_room(browser):
    for width in (390, 768, 1440):
        browser.size(width, 900)
        browser.driver.get(browser.server.tenant + "/control?ui_locales=en")
        browser.settled()
        for key, needed in (("authorize_platform_error", 400), ("native_failure", 280)):
            unfold(browser, key)
            card, room = browser.driver.execute_script(
                "const e = document.getElementById(arguments[0]); return [e.closest('form').offsetWidth, e.offsetWidth]", key)
            assert room == card or width > 390 and room > needed, f"at {width} {key} has {room} of {card}"
        assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"at {width} it scrolls sideways"
    sizes = browser.driver.execute_script("""
        return [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
          .filter(({ name }) => !/svg|after=/.test(name)).map(({ name, encodedBodySize, decodedBodySize }) => [name, encodedBodySize, decodedBodySize]);
    """)
    assert len(sizes) > 3 and all(sent < whole * .7 or whole < 200 for _, sent, whole in sizes), sizes
    # The page has the requests of all checks before this one.
    assert sizes[0][1] < sizes[0][2] / 4, sizes[0]


@test("the groups of failures are folded; the search opens those that have what it finds, hides the others, and closes them again; a switch acts in place, and a used failure leaves the list by itself")
def control_search(browser):
    browser.driver.get(browser.server.tenant + "/control?ui_locales=en")
    shown = lambda: browser.driver.execute_script("return [...document.querySelectorAll('#failures .setting')].filter((e) => e.checkVisibility()).map((e) => e.dataset.key)")
    all_of_them = len(browser.all("#failures .setting"))
    for width, first in ((1440, "authorize_platform_error"), (768, None), (390, None)):
        browser.size(width, 900)
        browser.driver.get(browser.server.tenant + "/control?ui_locales=en")
        browser.settled()
        assert shown()[:1] == ([first] if first else []) and len(shown()) < 6 and all_of_them > 20, f"at {width}: {shown()}"
        places = browser.driver.execute_script("return ['#search', '#now', '#for', '.group'].map((e) => document.querySelector(e).getBoundingClientRect()).map(({ top, bottom }) => [top, bottom])")
        assert places[3][0] < 900 - 250, f"at {width} the failures begin at {places[3][0]}"
        assert first or places == sorted(places), f"at {width}: {places}"
        assert bool(browser.one("#for").get_attribute("open")) == bool(first), f"at {width} it is seen, or folded, for whom"
    unfold(browser, "expire_tokens")
    graph = shown()
    switch = browser.one("#expire_tokens")
    browser.driver.execute_script("arguments[0].scrollIntoView({ block: 'center' }); arguments[0].focus()", switch)
    before = browser.driver.execute_script(PLACE)
    browser.keys(" ")
    browser.wait("it is on", lambda: browser.one("#expire_tokens").get_attribute("aria-checked") == "true")
    assert abs(browser.driver.execute_script(PLACE) - before) < 2, "the page jumps"
    assert browser.driver.execute_script("return document.activeElement.id") == "expire_tokens", "the focus is lost"
    assert "refuse every access token issued until now." in browser.one(".rules li").text
    assert browser.one("details:has(#expire_tokens) > summary").text.endswith("On: 1")
    browser.press("Undo")
    browser.wait("it is off", lambda: browser.one("#expire_tokens").get_attribute("aria-checked") == "false" and not browser.all(".rules li"))
    for words, expected in (("Revoke", ["revoke"]), ("claims challenge", ["claims_challenge"]), ("native_failure", ["native_failure"]), ("53003", ["authorize_platform_error", "token_platform_error"]), ("second factor", ["require_mfa", "claims_challenge"]), ("conditional access", ["claims_challenge", "require_mfa", "token_platform_error"]), ("nothing like it", [])):
        browser.one("#search").clear()
        browser.one("#search").send_keys(words)
        browser.wait(f"what fits {words}", lambda: set(shown()) >= set(expected) and len(shown()) < all_of_them / 2)
        assert browser.one("#shown").text == f"Shown: {len(shown())} of {all_of_them}"
        assert len([e for e in browser.all("#failures .group") if e.is_displayed()]) <= len(shown())
    browser.one("#search").send_keys(Keys.CONTROL, "a", Keys.DELETE)
    browser.wait("only what was opened by hand", lambda: shown() == graph)
    browser.one("#search").send_keys("scope ")
    browser.server.control(close_connection="graph")
    browser.driver.refresh()
    browser.one(".rules li")
    with contextlib.suppress(OSError):
        urllib.request.urlopen(browser.server.tenant + "/v1.0/me", timeout=10)
    browser.wait("it is used up", lambda: not browser.all(".rules li"))


@test("what the search finds among the choices of a list is named in its row and chosen with one press; what is active says it in the option's words; what is said covers neither the row nor what stands at the side; on a phone the failures come first while nothing is active")
def control_hits(browser):
    words = "AADSTS50011: The redirect URI specified in the request does not match those configured for the application."
    found = "Before an account is chosen: AADSTS50011: redirect URI not registered"
    box = "const box = (e) => { const { top, bottom, left, right } = document.querySelector(e).getBoundingClientRect(); return [left, top, right, bottom]; };"
    for width, height in ((390, 844), (768, 900), (1440, 900)):
        browser.size(width, height)
        browser.driver.get(browser.server.tenant + "/control?ui_locales=en")
        browser.settled()
        assert len(browser.one(".lead").text.split(". ")) == 2, browser.one(".lead").text
        unfold(browser, "choice")
        assert "is for your own session only" in browser.one("#for").text
        assert browser.one("#for p a").get_attribute("href") == browser.server.origin + "/ios#missions"
        if width < 896:
            browser.one("#for summary").click()
        order = "return box('#search')[1] < box('#now')[1] && box('#now')[1] < box('#for')[1] && box('#for')[1] < box('#failures')[1]"
        assert width > 896 or browser.driver.execute_script(box + order), f"at {width}, what is active has no place above the failures"
        assert not browser.all(".group summary .small"), "a group in which nothing is on has a count"
        browser.one("#search").send_keys("redirect")
        hits = lambda: browser.driver.execute_script("return [...document.querySelectorAll('[data-key=authorize_platform_error] .hits button')].map((e) => e.textContent)")
        browser.wait("the hits", lambda: found in hits())
        browser.shoot(f"control found {width}")
        browser.expect_accessible(f"control with hits at {width}")
        browser.size(width, height)
        next(each for each in browser.all("[data-key=authorize_platform_error] .hits button") if each.text == found).click()
        browser.wait("it is active", lambda: browser.all(".rules li"))
        assert browser.one("[data-key=authorize_platform_error] [lang=en]").text == words.split(": ")[1]
        assert browser.one(".rules li").text.split("\n")[1] == f"The next sign-in: {words}", browser.one(".rules li").text
        assert browser.driver.execute_script("return document.activeElement.id") == "authorize_platform_error", "the focus is lost"
        assert found not in hits(), "what is chosen is offered"
        browser.wait("what was done", lambda: "The next sign-in: AADSTS50011: redirect URI not registered, for everyone." in browser.one("#notice").text)
        assert browser.one("#notice a").text == "Sign in now in Learn for iOS"
        covered = browser.driver.execute_script(box + """
            const [left, top, right, bottom] = box("#notice");
            return ["[data-key=authorize_platform_error]", ...innerWidth < 896 ? [] : ["#for", "#now", "#failures"]].filter((each) => {
              const [l, t, r, b] = box(each);
              return l < right && r > left && t < bottom && b > top;
            });
        """)
        assert not covered, f"at {width} the notice covers {covered}"
        browser.shoot(f"control hit {width}")
        assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"at {width} it scrolls sideways"
        assert width > 896 or browser.driver.execute_script(box + order), f"at {width}, what is active has jumped"
        browser.press("Undo")
        browser.wait("it is undone", lambda: not browser.all(".rules li"))


# Whether the notice is in sight and clear of each panel at the side, and where the part below the columns begins in the page.
CLEAR = """
const box = (e) => document.querySelector(e).getBoundingClientRect();
const { top, bottom } = box("#notice");
return [top >= 0 && bottom < innerHeight && [...document.querySelectorAll(".side > *")].every((each) => {
  const one = each.getBoundingClientRect();
  return one.top >= bottom || one.bottom <= top;
}), Math.round(box("#requests").top + scrollY)];
"""


@test("in a wide window, what is said stands above the panels at the side, which make room, as far as the page is scrolled before they leave; nothing below them moves")
def control_said(browser):
    for width, height in ((1440, 900), (1280, 720)):
        browser.size(width, height)
        for place in ("0", "150", "document.querySelector('.columns').getBoundingClientRect().bottom - document.querySelector('.side').offsetHeight - 16"):
            browser.driver.get(browser.server.tenant + "/control?ui_locales=en")
            browser.settled()
            begins = browser.driver.execute_script(CLEAR)[1]
            browser.driver.execute_script(f"scrollTo(0, {place}); document.getElementById('ignore_max_age').click()")
            browser.wait("what was done", lambda: "max_age: on, for everyone." in browser.one("#notice").text)
            assert browser.driver.execute_script(CLEAR) == [True, begins], f"at {width} and {place}"
            browser.server.control(reset=True)


@test("the page of failures names the demo's account and changes its language, and leads from a claims challenge to the mission that shows it whole")
def control_head(browser):
    for width in (1440, 390):
        browser.size(width, 900)
        browser.driver.get(browser.server.tenant + "/control?ui_locales=en&return_to=/macos")
        browser.settled()
        tag = "Demo" if width == 1440 else ""
        assert browser.one(".demo-note").text == f"{tag}adele@contoso.example / demo", browser.one(".demo-note").text
        assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"at {width} it scrolls sideways"
        if width == 390:
            browser.one(".rooms-open").click()
        browser.shoot(f"control head {width}")
        Select(browser.one("#language-choice")).select_by_value("sv")
        browser.wait("Swedish", lambda: browser.one("h1").text == "Framkalla fel")
        assert browser.driver.execute_script("return document.querySelector('.rooms a').href") == browser.server.origin + "/macos"
    browser.driver.get(browser.server.tenant + "/control?ui_locales=en")
    unfold(browser, "claims_challenge")
    assert "No second factor follows unless “Require a second factor” is set" in browser.one("[data-key=claims_challenge]").text
    browser.press("A second factor (claims challenge)")
    browser.wait("the mission", lambda: not browser.at_tenant() and browser.one("[data-mission=second_factor][open] .mission-now").is_displayed())


TARGETS = """
const wanted = arguments[0];
const boxes = [...document.querySelectorAll("button, select, summary, input, textarea, a")].filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled);
return boxes.flatMap((e) => {
  // A link within a sentence is as high as its line (WCAG 2.5.8); a card's covers the card; a box has its label's room.
  if (e.localName === "a" && getComputedStyle(e).display === "inline") return [];
  const { width, height } = (e.type === "checkbox" && e.closest("label") || e).getBoundingClientRect();
  return width && (Math.round(width) < wanted || Math.round(height) < wanted) ? [`${e.id || e.className || e.textContent} ${Math.round(width)}x${Math.round(height)}`] : [];
});
"""


@test("what a finger presses is at least 44 by 44 pixels, and what a mouse presses 24 by 24", needs="time")
def targets(browser):
    browser.sign_in()
    for width, height, wanted in ((390, 844, 44), (1280, 800, 24)):
        browser.size(width, height)
        for path in ("/", "/ios", "/macos", "/external", "/b2c", "/portal", "/auth/signed-out"):
            browser.open(path)
            browser.settled()
            for panel in browser.all(".panel:not([open]) > summary"):
                browser.driver.execute_script("arguments[0].click()", panel)
            for name in ("tokens", "attempts") if path == "/portal" else ():
                browser.one(f"#tab-{name}").click()
                browser.settled()
                small = browser.driver.execute_script(TARGETS, wanted)
                assert not small, f"{path} {name} at {width}: {small}"
            browser.settled()
            small = browser.driver.execute_script(TARGETS, wanted)
            assert not small, f"{path} at {width}: {small}"


@test("with forced colours, cards, screens and panels keep an edge, and who is signed in keeps its dot", needs="time")
def forced_colours(browser):
    browser.sign_in()
    edges = {"/": ".card", "/ios": ".screen", "/macos": ".window", "/external": ".panel", "/portal": ".card", "/auth/signed-out": "main"}
    browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    for path, selector in edges.items():
        browser.open(path)
        browser.settled()
        browser.shoot(f"forced colours {path}")
        width = browser.driver.execute_script("return getComputedStyle(document.querySelector(arguments[0])).borderTopWidth", selector)
        assert width != "0px", f"{selector} of {path} has no edge"
        if path == "/ios":
            browser.wait("the code", lambda: browser.all("#code .run.lit"))
            shown = browser.driver.execute_script(
                "const run = document.querySelector('#code .run:not(.lit)'), lit = document.querySelector('#code .run.lit'), side = (e) => getComputedStyle(e).borderLeftColor;"
                "return [CSS.highlights.size, side(run) !== side(lit), getComputedStyle(document.querySelector('#wire-graph')).stroke === getComputedStyle(document.body).color,"
                "getComputedStyle(document.querySelector('#call-graph')).borderTopWidth]")
            assert shown == [0, True, True, "1px"], f"highlights, the lit line, an arrow, a button: {shown}"
        if path in ("/", "/portal"):
            dots = browser.driver.execute_script(
                "return [...document.querySelectorAll('.who')].map((e) => getComputedStyle(e, '::before')).map((s) => [s.borderTopWidth, s.backgroundColor])")
            assert all(edge != "0px" for edge, _ in dots), f"a dot of {path} vanishes: {dots}"


@test("on paper stand the log and what just happened, whole, and no scenery", needs="time")
def on_paper(browser):
    browser.sign_in()
    browser.wait("the steps", lambda: len(browser.all("#timeline .step")) == 4)
    browser.cdp("Emulation.setEmulatedMedia", media="print")
    browser.shoot("print ios")
    try:
        look = browser.driver.execute_script(PAPER)
        assert look == ["none", 0, True, False], look
        browser.cdp("Emulation.setEmulatedMedia", media="")
        # On a phone the story is not shown, and on paper it is there all the same.
        browser.size(390, 844)
        browser.press("Call Microsoft Graph API")
        browser.open("/ios")
        browser.press("Call Microsoft Graph API")
        browser.wait("the steps, although nobody has opened them", lambda: len(browser.driver.find_elements("css selector", "#timeline .step")) > 4)
        steps = "return [...document.querySelectorAll('#timeline .step')].filter((e) => e.checkVisibility()).length"
        assert browser.driver.execute_script(steps) == 0
        browser.cdp("Emulation.setEmulatedMedia", media="print")
        browser.shoot("print phone")
        assert browser.driver.execute_script(steps) > 4
    finally:
        browser.cdp("Emulation.setEmulatedMedia", media="")


@test("*Share as a case* stands on one line in every window and language", needs="time")
def share_line(browser):
    for app in ("macos", "ios"):
        browser.open(f"/{app}")
        browser.press("Call Microsoft Graph API")
        browser.choose_account()
        if app == "macos":
            browser.enter_password()
            browser.answer_consent()
        browser.expect_graph()
    wrong = []
    for path, width, language in product(("/macos", "/ios"), (1440, 1280, 1024, 768, 390), (None, "ja", "pt-PT")):
        browser.size(width, 900)
        ask_for(browser, language)
        browser.open(path)
        browser.settled()
        if browser.seen("return seen('#views [data-view=story]')[0]"):
            browser.one("#views [data-view=story]").click()
        browser.wait("the steps", lambda: browser.driver.find_elements("css selector", "#timeline .step"))
        browser.driver.execute_script("document.querySelector('#timeline .step').dispatchEvent(new Event('visit'))")
        lines, over = browser.driver.execute_script(
            "const share = document.getElementById('share'), way = share.closest('.way'), range = new Range(); range.selectNodeContents(share);"
            "return [new Set([...range.getClientRects()].map(({ top }) => top)).size, way.scrollWidth - way.clientWidth]")
        if lines > 1 or over > 0:
            wrong.append(f"{path} at {width} in {language or 'en'}: {lines} lines, {over} too wide")
    ask_for(browser, None)
    assert not wrong, "\n".join(wrong)

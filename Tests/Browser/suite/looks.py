"""How the pages look: the apps' geometry, accessibility, size."""

from .browser import ADELE
from .registry import registry

tests, test = registry("looks")

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
        ".log": [10, 300, 355, 357],
    }
    assert found == expected, found
    browser.shoot("ios 375 by 667")
    browser.cdp("Emulation.setScrollbarsHidden", hidden=False)


@test("the iOS screen in a desktop window is the same, in a device frame in the middle")
def ios_frame(browser):
    browser.size(1280, 900)
    browser.open("/ios")
    browser.expect_username("Signed out")
    frame = rectangles(browser, "body", ".screen")[".screen"]
    assert abs(frame[0] + frame[2] / 2 - 640) < 1 and frame[2:] == [399, 691], frame
    found = rectangles(browser, ".screen", "#username", "#call-graph", ".log")
    assert [found["#call-graph"][1], found[".log"][1]] == [132, 312], "the positions within the frame of 12 differ from the app's"


@test("the macOS window has the app's geometry")
def macos_geometry(browser):
    browser.open("/macos")
    browser.expect_username("Signed out")
    found = rectangles(browser, ".content", ".content", "#username", "#call-graph", "#sign-out", ".log")
    assert found[".content"][2:] == [520, 448], found
    assert found["#username"][1] == 30 and round(found["#username"][0] + found["#username"][2]) == 510, found
    assert found["#call-graph"][1::2] == [50, 34] and found["#sign-out"][1::2] == [94, 34], found
    assert found[".log"] == [10, 138, 500, 300], found


@test("axe finds nothing on home, iOS, macOS, signed out; nothing is wider than 320 pixels")
def accessible_pages(browser):
    browser.open("/")
    browser.one("#cards a")
    browser.expect_accessible("home")
    for app in ("ios", "macos"):
        browser.open(f"/{app}")
        browser.expect_username("Signed out")
        browser.expect_accessible(app)
    browser.open("/auth/signed-out")
    browser.one("h1")
    browser.expect_accessible("signed out")


@test("axe finds nothing on the pages with an account, a result, an error and the timeline")
def accessible_states(browser):
    for app in ("ios", "macos"):
        browser.cdp("Network.clearBrowserCookies")
        browser.server.reset()
        browser.sign_in(app)
        browser.server.control(graph_error={"status": 403, "body": {"error": {"code": "Denied", "message": "No."}}, "times": 1})
        browser.allow(f"/api/{app}/me")
        browser.press("Call Microsoft Graph API")
        browser.expect_log("Couldn't get graph result: ")
        browser.press("What just happened")
        browser.wait("the timeline", lambda: browser.one("#timeline-box li").text)
        browser.expect_accessible(f"{app} signed in")
    browser.open("/")
    browser.wait("the card says who is signed in", lambda: ADELE in browser.one("#cards").text)
    browser.expect_accessible("home signed in")


@test("axe finds nothing on the demo tenant's pages")
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
    browser.driver.get(browser.server.tenant + "/control")
    browser.one("h1")
    browser.expect_accessible("tenant control")


@test("every page says that it is offline, and that it is over")
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


@test("each page is under 60 KB with all that it loads")
def weight(browser):
    browser.cdp("Network.setCacheDisabled", cacheDisabled=True)
    for path in ("/", "/ios", "/macos", "/external", "/b2c", "/portal", "/auth/signed-out"):
        browser.open(path)
        browser.one("h1, #username")
        browser.settled()
        browser.expect_light(path)
    browser.cdp("Network.setCacheDisabled", cacheDisabled=False)


@test("every control of the pages can still be reached at 200 % zoom")
def zoom(browser):
    browser.size(640, 400, 2)
    for app in ("ios", "macos"):
        browser.open(f"/{app}")
        browser.expect_username("Signed out")
        browser.shoot(f"{app} at 200 percent")
        for selector in ("#call-graph", "#copy-log", ".home"):
            element = browser.one(selector)
            browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
            covered = browser.driver.execute_script(
                "const r = arguments[0].getBoundingClientRect(); return !arguments[0].contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2))", element)
            assert not covered, f"{selector} is covered at 200 %"
        assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"/{app} scrolls sideways"

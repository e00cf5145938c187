"""The demo kiosk: people walk up one after the other, and nobody leaves anything to the next."""

import base64
import json
import re
import time
import urllib.request
from contextlib import contextmanager

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from .browser import ADELE
from .registry import registry
from .server import LONG

tests, test = registry("kiosk", time="Seconds that run out, sizes, and the trips of previews and tiles. One person after the other decides, with KioskTests, KioskTilesTests and kiosk.test.js.")

MEGAN = "megan@contoso.example"


@contextmanager
def kiosk(browser, is_moving=False, **settings):
    own = browser.server.sibling("kiosk", COMPANION_DEVICE_MODE="shared", **settings) if settings else None
    with browser.visiting(own) if own else browser.on_shared_device():
        browser.server.reset()
        if not is_moving:
            browser.stand_still()
        browser.open("/kiosk")
        browser.one("#attract")
        yield


def walk_up(browser, username=ADELE):
    """From the attract screen to the person's card; the password is asked for each time."""
    browser.press("Sign in")
    browser.choose_account(username)
    browser.enter_password()
    browser.wait("consent or the card", lambda: browser.all("button[name=consent]") or not browser.at_tenant())
    if browser.at_tenant():
        browser.answer_consent()
    browser.one("#card")
    browser.wait("the profile", lambda: username in browser.one("#badge").text)


def is_at_start(browser):
    return browser.driver.current_url == browser.server.origin + "/kiosk" and browser.driver.find_element(By.ID, "attract").is_displayed()


def expect_start(browser):
    browser.wait("the start", lambda: is_at_start(browser))


def sign_out(browser):
    """Signs out. The page that says so goes back to the start by itself after five seconds, which are over at once."""
    browser.press("Sign out")
    browser.wait("the goodbye", lambda: is_at_start(browser) or browser.all("#back[href$='/kiosk']"))
    browser.later(5)
    expect_start(browser)


def expect_nothing_of(browser, *names):
    # The demo's note and the home page's sample name an account for everybody.
    text = browser.driver.execute_script(
        "const page = document.documentElement.cloneNode(true); page.querySelectorAll('#demo, .hero').forEach((each) => each.remove());"
        "return page.outerHTML + JSON.stringify([sessionStorage, localStorage, history.state])")
    for name in names:
        assert name not in text, f"{name} is still at {browser.driver.current_url}: …{text[max(0, text.find(name) - 80):][:160]}…"


@test("the card has name and photo from Graph, after a reload too; signing out ends the provider's session and comes back by itself")
def journey(browser):
    with kiosk(browser):
        walk_up(browser)
        card = browser.one("#card").text
        assert "Adele" in card, card
        browser.wait("the photo", lambda: browser.all("#badge canvas"))
        assert all("expiry" not in cookie for cookie in browser.driver.get_cookies()), "the cookie outlives the browser"
        browser.driver.refresh()
        browser.wait("the card again", lambda: "Adele" in browser.one("#card").text)
        logouts = browser.server.counts()["logout"]
        sign_out(browser)
        assert browser.server.counts()["logout"] == logouts + 1, "the provider's session was not ended"
        assert browser.driver.get_cookies() == [], "a cookie is left"
        expect_nothing_of(browser, "Adele", ADELE)


@test("a provider that cannot end its session: the card says so, and the screen after signing out")
def kept_session(browser):
    said = "Please ask the staff to restart this browser."
    with kiosk(browser), browser.at_keeping_provider():
        browser.open("/kiosk")
        walk_up(browser)
        browser.wait("it is said before", lambda: said in browser.one("#kept-session").text)
        browser.press("Sign out")
        browser.wait("it is said after", lambda: "You are signed out here" in browser.one("main").text and said in browser.one("main").text)


@test("after signing out, Back leads to the start from each page of the sign-in, nothing asks to send a form again, and no reload shows anything of the person before")
def back_at_each_step(browser):
    with kiosk(browser):
        walk_up(browser)
        sign_out(browser)
        for page in ("consent", "password", "account"):
            browser.driver.back()
            browser.wait(f"the start instead of the page for the {page}", lambda: is_at_start(browser))
            expect_nothing_of(browser, "Adele", ADELE)
        browser.driver.refresh()
        expect_start(browser)
        expect_nothing_of(browser, "Adele", ADELE)
        browser.press("Sign in")
        browser.choose_account()
        browser.one("input[name=password]")


@test("on the way, Back and Forward show the pages of the sign-in as they were, and it goes on from there")
def back_on_the_way(browser):
    with kiosk(browser):
        browser.press("Sign in")
        browser.choose_account()
        browser.enter_password("wrong")
        browser.one("[role=alert]")
        browser.driver.back()
        browser.wait("the page without the mistake", lambda: browser.one("input[name=password]") and not browser.all("[role=alert]"))
        browser.driver.back()
        browser.one(f"button[name=username][value='{ADELE}']")
        browser.driver.forward()
        browser.wait("the page without what was typed", lambda: browser.one("input[name=password]").get_attribute("value") == "")
        browser.enter_password()
        browser.answer_consent()
        browser.one("#card")


@test("on a shared device, neither Back nor the tutorial's or the portal's page shows anything of the person before")
def back_on_other_pages(browser):
    with kiosk(browser):
        browser.sign_in(username=MEGAN)
        for path, place in (("/", "#signed-in"), ("/portal?app=ios", "#who"), ("/ios", "#username")):
            browser.open(path)
            browser.wait(f"the name at {path}", lambda: MEGAN in browser.one(place).text)
            browser.settled()
            # As in a browser that keeps a page for Back although it must not.
            browser.driver.execute_script("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
            expect_nothing_of(browser, "Megan", MEGAN)
            browser.driver.execute_script("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
            browser.wait("the page anew", lambda: MEGAN in browser.one(place).text)
        browser.press("Sign Out")
        browser.expect_page("/auth/signed-out")
        paths = set()
        for _ in range(8):
            browser.driver.back()
            if not browser.driver.current_url.startswith(browser.server.origin):
                continue
            expect_nothing_of(browser, "Megan", MEGAN)
            browser.settled()
            expect_nothing_of(browser, "Megan", MEGAN)
            paths.add(browser.driver.current_url.removeprefix(browser.server.origin))
        assert {"/", "/portal", "/ios"} <= paths, paths


@test("on a shared device, each page is emptied when it is left, also one that has no account, or does not yet know its applications")
def left_early(browser):
    with kiosk(browser), browser.holding("/api/apps"):
        for path in ("/", "/portal?app=ios", "/ios", "/native", "/native/map", "/auth/signed-out"):
            browser.open(path)
            browser.settled()
            browser.driver.execute_script("document.body.append('left behind'); dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
            assert browser.driver.execute_script("return document.body.childNodes.length") == 0, path
            browser.driver.execute_script("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
            browser.one("h1")


@test("on a shared device, a token that is being refreshed when another tab signs out is not waited for, and brings no error")
def signed_out_in_another_tab(browser):
    with kiosk(browser):
        browser.sign_in(username=MEGAN)
        browser.open("/portal?app=ios")
        browser.wait("the name", lambda: MEGAN in browser.one("#who").text)
        browser.one("#tab-tokens").click()
        browser.server.control(hold="token")
        browser.press("Force refresh")
        browser.wait("the tenant's wait", lambda: browser.server.control()["held"]["token"] == 1)
        first = browser.driver.current_window_handle
        browser.driver.switch_to.new_window("tab")
        browser.open("/ios")
        browser.expect_username(MEGAN)
        browser.press("Sign Out")
        browser.expect_page("/auth/signed-out")
        browser.server.control(hold=None)
        browser.driver.switch_to.window(first)
        browser.cdp("Page.bringToFront")
        browser.wait("nobody", lambda: browser.one("#who").text not in ("", "Loading…") and MEGAN not in browser.one("#who").text)
        browser.settled()
        expect_nothing_of(browser, "Megan", MEGAN)


@test("two people, one after the other, are each asked for the password and each see their own card")
def two_people(browser):
    with kiosk(browser):
        # Not everybody has a photo.
        browser.allow("/api/kiosk/me/photo")
        for username, name, other in ((ADELE, "Adele", "Megan"), (MEGAN, "Megan", "Adele")):
            walk_up(browser, username)
            browser.wait("the name", lambda: name in browser.one("#hello").text)
            expect_nothing_of(browser, other)
            sign_out(browser)


@test("a countdown asks who does not touch it, a touch goes on, and nobody's touch signs out", needs="time")
def countdown(browser):
    with kiosk(browser, COMPANION_KIOSK_COUNTDOWN_AFTER_SECONDS="2", COMPANION_KIOSK_IDLE_SECONDS="9"):
        walk_up(browser)
        browser.one("#still-there[open]")
        assert browser.one("#seconds").text in "12345678", browser.one("#seconds").text
        browser.press("I'm still here")
        browser.wait("the question is gone", lambda: not browser.all("#still-there[open]"))
        assert "Adele" in browser.one("#card").text
        browser.one("#still-there[open]")
        browser.wait("nobody has answered", lambda: not browser.all("#still-there[open]"))
        expect_start(browser)
        expect_nothing_of(browser, "Adele", ADELE)


@test("nobody's card is filled in as a sample, again and again, and stands still and whole where motion is to be reduced", needs="time")
def sample(browser):
    with kiosk(browser, is_moving=True):
        shown = "return getComputedStyle(document.querySelector('.sample .name span')).opacity"
        browser.wait("the name is written", lambda: browser.driver.execute_script(shown) == "1")
        browser.wait("it begins again", lambda: browser.driver.execute_script(shown) == "0")
        browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        browser.wait("the whole card", lambda: browser.driver.execute_script(shown) == "1" and browser.driver.execute_script(
            "return getComputedStyle(document.querySelector('.sample .filled')).clipPath") == "none")
        browser.colours("light")


@test("six languages are large buttons, and one press changes everything, the provider's pages too", needs="time")
def languages(browser):
    with kiosk(browser):
        browser.size(1080, 1920)
        sizes = [each.size for each in browser.all("#language button")]
        assert len(sizes) == 6 and all(size["height"] >= 60 and size["width"] >= 300 for size in sizes), sizes
        browser.press("Svenska")
        browser.wait("Swedish", lambda: "profilkort" in browser.one("#attract h1").text)
        browser.press("Logga in")
        browser.wait("the provider's page", lambda: browser.at_tenant() and browser.driver.execute_script("return document.documentElement.lang") == "sv")
        size = browser.driver.execute_script("return parseFloat(getComputedStyle(document.querySelector('.account .name')).fontSize)")
        assert size > 24, f"the provider's page is not as large as the kiosk: {size}"
        browser.size(1280, 800)


@test("the card has a second side with the photo and the organization, and only the side that shows can be read", needs="time")
def second_side(browser):
    with kiosk(browser):
        walk_up(browser)
        inert = "return ['front', 'reverse'].map((side) => document.getElementById(side).inert)"
        assert browser.driver.execute_script(inert) == [False, True]
        browser.press("Turn the card over")
        assert browser.driver.execute_script(inert) == [True, False]
        browser.wait("its photo", lambda: browser.all("#reverse canvas"))
        assert "contoso.example" in browser.one("#reverse").text, browser.one("#reverse").text
        browser.expect_accessible("kiosk second side")
        browser.press("Turn the card over")
        assert browser.driver.execute_script(inert) == [False, True]
        sign_out(browser)
        walk_up(browser, ADELE)
        assert browser.driver.execute_script(inert) == [False, True], "the next person begins with the front"


@test("the time that is left can always be seen, runs down, and a touch starts it again", needs="time")
def time_left(browser):
    with kiosk(browser, COMPANION_KIOSK_COUNTDOWN_AFTER_SECONDS="60", COMPANION_KIOSK_IDLE_SECONDS="90"):
        walk_up(browser)
        shown = lambda: int(browser.one("#time-left").text.split(":")[0]) * 60 + int(browser.one("#time-left").text.split(":")[1])
        assert 80 <= shown() <= 88, browser.one("#time-left").text
        browser.wait("it runs down", lambda: shown() < 86)
        browser.one("#hello").click()
        browser.wait("a touch starts it again", lambda: shown() >= 87)


LOGO = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAFCAIAAADzBuo/AAAAEUlEQVR42mPokXXAgxgGUBoA1xEtg4cpQo0AAAAASUVORK5CYII=")


@test("the organiser's picture, colour and words are the kiosk's, and it stays readable, light and dark", needs="time")
def look(browser):
    logo = browser.server.folder / "logo.png"
    logo.write_bytes(LOGO)
    with kiosk(browser, COMPANION_KIOSK_COLOR="#8c1d40", COMPANION_KIOSK_LOGO_FILE=str(logo), COMPANION_KIOSK_WELCOME_EN="Welcome to the fair!", **LONG):
        assert browser.one("#attract h1").text == "Welcome to the fair!"
        browser.wait("the picture", lambda: browser.driver.execute_script("return document.querySelector('.logo').naturalWidth") == 10)
        colour = browser.driver.execute_script("return getComputedStyle(document.getElementById('sign-in')).backgroundColor")
        assert colour == "rgb(140, 29, 64)", colour
        browser.expect_accessible("kiosk own look")
        browser.press("Svenska")
        browser.wait("the page's own words", lambda: browser.one("#attract h1").text == "Hej! Se ditt profilkort.")
        walk_up_in_swedish(browser)
        browser.press("Logga ut")
        browser.wait("the goodbye", lambda: "/auth/signed-out" in browser.driver.current_url and browser.one("#back").text)
        colour = browser.driver.execute_script("return getComputedStyle(document.getElementById('back')).backgroundColor")
        assert colour == "rgb(140, 29, 64)", colour


def walk_up_in_swedish(browser):
    browser.press("Logga in")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.one("#card")


@test("an error page that a visitor meets has a code for the staff, which is in the log, and nothing else that they cannot use")
def staff_code(browser):
    with kiosk(browser, COMPANION_LOG_REQUESTS="true", **LONG):
        browser.press("Sign in")
        browser.one("button[name=username]")
        # As after a link that somebody kept.
        browser.allow("/auth/callback?code=old&state=old")
        browser.open("/auth/callback?code=old&state=old")
        code = browser.one(".staff b").text
        assert re.fullmatch(r"[0-9A-F]{4}-[0-9A-F]{4}", code), code
        assert not browser.driver.execute_script("return document.querySelector('main dl').checkVisibility()"), "identifiers for developers are shown"
        browser.expect_accessible("kiosk error page")
        browser.wait("the log", lambda: code.replace("-", "").lower() in browser.server.log.read_text())


@test("left alone with a page that does nothing, the server signs out by itself", needs="time")
def server_expiry(browser):
    idle = 3
    with kiosk(browser, COMPANION_KIOSK_COUNTDOWN_AFTER_SECONDS="2", COMPANION_KIOSK_IDLE_SECONDS=str(idle)):
        walk_up(browser)
        cookie = browser.driver.get_cookie(f"companion-{browser.server.port}")
        # The page is gone with its timers; what is left is the cookie, and a second client that has it.
        browser.driver.get("about:blank")

        def account():
            request = urllib.request.Request(browser.server.origin + "/api/kiosk/account", headers={"Cookie": f"{cookie['name']}={cookie['value']}"})
            with urllib.request.urlopen(request, timeout=5) as answer:
                return json.load(answer)["account"]

        assert account()["username"] == ADELE
        # Asking is using, so that there is one question only, after the time has passed.
        time.sleep(idle + 0.2)
        assert account() is None, "the session outlived the idle time"


@test("a provider that is down leaves a safe screen, and the kiosk goes on when it is back")
def provider_down(browser):
    with kiosk(browser):
        walk_up(browser)
        browser.server.control(provider_down="workforce")
        browser.press("Sign out")
        browser.wait("what was done", lambda: "signed out" in browser.one("#message").text.lower())
        assert browser.driver.current_url == browser.server.origin + "/kiosk"
        expect_nothing_of(browser, "Adele", ADELE)
        # After ten seconds without a touch it would go back by itself.
        browser.driver.execute_script("window.touching = setInterval(() => dispatchEvent(new PointerEvent('pointerdown')), 1000)")
        browser.expect_accessible("kiosk provider down")
        browser.driver.execute_script("clearInterval(touching)")
        browser.press("Back to the start")
        expect_start(browser)
        browser.press("Sign in")
        browser.wait("why not", lambda: browser.driver.current_url.startswith(browser.server.origin) and "is not responding" in browser.one("#message").text)
        browser.server.control(provider_down=None)
        browser.press("Try again")
        browser.choose_account()


@test("a profile that comes after its person has signed out is not shown")
def late_profile(browser):
    with kiosk(browser), browser.holding("/api/kiosk/me") as let_go:
        walk_up(browser)
        # Without the provider the page stays.
        browser.server.control(provider_down="workforce")
        browser.press("Sign out")
        browser.wait("what was done", lambda: "signed out" in browser.one("#message").text.lower())
        let_go()
        browser.settled()
        expect_nothing_of(browser, "Adele", ADELE)


@test("a sign-in cancelled on the provider's page is reported calmly, and the kiosk goes on")
def cancelled(browser):
    with kiosk(browser):
        browser.press("Sign in")
        browser.choose_account()
        browser.enter_password()
        browser.answer_consent("cancel")
        browser.wait("a calm message", lambda: browser.one("#message").get_attribute("data-kind") == "calm")
        browser.expect_page("/kiosk")
        browser.expect_accessible("kiosk cancelled")


@test("a server that is gone says so, and the kiosk is back when it is", needs="time")
def server_down(browser):
    with kiosk(browser):
        browser.allow("/api/kiosk/account", "/api/apps", "/api/device", "/auth/kiosk/sign-out")
        browser.server.kill()
        browser.press("Sign in")
        browser.wait("the screen that says so", lambda: browser.one("#message").get_attribute("data-kind") == "caution")
        browser.shoot("kiosk server down")
        browser.server.start()
        expect_start(browser)


@test("tokens are refused, whatever asks for them")
def tokens(browser):
    with kiosk(browser):
        walk_up(browser)
        browser.allow("/api/kiosk/tokens")
        answers = browser.driver.execute_async_script(
            "const done = arguments[0], own = { method: 'POST', headers: { 'X-Companion': '1', 'Content-Type': 'application/json' }, body: '{}' };"
            "Promise.all([fetch('/api/kiosk/token', own).then((r) => r.json()), fetch('/api/kiosk/tokens').then((r) => r.status)]).then(done)")
        assert answers[0]["token"] is None and answers[1] == 403, answers


@test("a second tab says that the kiosk is open elsewhere, and can take it over", needs="time")
def second_tab(browser):
    with kiosk(browser):
        first = browser.driver.current_window_handle
        browser.driver.switch_to.new_window("tab")
        browser.open("/kiosk")
        browser.wait("the other tab is named", lambda: "Use it here" in browser.one("#message").text)
        browser.press("Use it here")
        expect_start(browser)
        browser.driver.switch_to.window(first)
        browser.cdp("Page.bringToFront")
        browser.wait("the first tab gives way", lambda: "Use it here" in browser.one("#message").text)


@test("the keyboard alone leads from the start to the card and out again", needs="time")
def keyboard(browser):
    with kiosk(browser):
        browser.tab_to("#sign-in")
        browser.keys(Keys.ENTER)
        browser.sign_in_by_keyboard()
        browser.one("#card")
        browser.tab_to("#sign-out")
        browser.keys(Keys.ENTER)
        expect_start(browser)


@test("axe finds nothing on any of its screens, reduced motion stands still, and it is light", needs="time")
def looks(browser):
    with kiosk(browser, is_moving=True, COMPANION_KIOSK_COUNTDOWN_AFTER_SECONDS="2", COMPANION_KIOSK_IDLE_SECONDS="300", COMPANION_SESSION_IDLE_MINUTES="15"):
        browser.expect_accessible("kiosk attract")
        browser.expect_light("/kiosk", 70_000)
        for width, height in ((1080, 1920), (1920, 1080), (375, 667)):
            browser.size(width, height)
            browser.shoot(f"kiosk attract {width}")
        browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
        running = browser.driver.execute_script("return document.getAnimations().filter((a) => a.playState === 'running').length")
        assert running == 0, f"{running} animations run although motion is to be reduced"
        browser.colours("light")
        browser.size(1280, 800)
        walk_up(browser)
        browser.one("#still-there[open]")
        browser.expect_accessible("kiosk countdown")
        browser.size(1080, 1920)
        browser.shoot("kiosk countdown 1080")
        browser.size(1280, 800)
        browser.press("I'm still here")
        browser.wait("the question is gone", lambda: not browser.all("#still-there[open]"))
        browser.shoot("kiosk card 1280")
        for width, height in ((1080, 1920), (1920, 1080), (375, 667)):
            browser.size(width, height)
            browser.shoot(f"kiosk card {width}")


@test("after signing out, the page speaks to the visitor, as large as the kiosk's own screens", needs="time")
def signed_out(browser):
    with kiosk(browser):
        browser.size(1080, 1920)
        walk_up(browser)
        browser.press("Sign out")
        browser.wait("the page", lambda: "/auth/signed-out" in browser.driver.current_url and browser.one("main").text)
        gone = browser.wait("all that is gone", lambda: all(texts := [each.text for each in browser.all(".gone li")]) and texts)
        text = browser.one("main").text
        assert len(gone) == 3 and "signed out where you signed in" in gone[2], gone
        assert "Your card is gone from this screen" in text and "token" not in text and "identity provider" not in text, text
        size = browser.driver.execute_script("return [parseFloat(getComputedStyle(document.querySelector('main p.for-visitor')).fontSize), document.querySelector('main').offsetWidth]")
        assert size[0] > 24 and size[1] > 600, size
        browser.shoot("kiosk signed out 1080")
        expect_start(browser)
        browser.size(1280, 800)


@test("while it asks who is there, nobody can read the card, and it says how many seconds are left")
def private_countdown(browser):
    with kiosk(browser, COMPANION_KIOSK_COUNTDOWN_AFTER_SECONDS="2", COMPANION_KIOSK_IDLE_SECONDS="60", COMPANION_SESSION_IDLE_MINUTES="15"):
        walk_up(browser)
        browser.one("#still-there[open]")
        assert "blur" in browser.driver.execute_script("return getComputedStyle(document.querySelector('main')).filter"), "the card can be read"
        said = browser.one("#still-there-text").text
        assert re.search(r"You'll be signed out in \d+ s", said), said
        browser.wait("the seconds go by", lambda: browser.one("#still-there-text").text != said)
        browser.press("I'm still here")
        browser.wait("the card is back", lambda: browser.driver.execute_script("return getComputedStyle(document.querySelector('main')).filter") == "none")


@test("a card that loses the network says so, and signing out stays possible; with the network it is well again", needs="time")
def offline_card(browser):
    with kiosk(browser):
        walk_up(browser)
        browser.allow("/api/kiosk/account")
        browser.cdp("Network.enable")
        browser.cdp("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        try:
            browser.wait("the note", lambda: "no connection" in browser.one("#trouble").text)
            assert browser.one("#sign-out").is_enabled() and "Adele" in browser.one("#badge").text
            browser.expect_accessible("kiosk card offline")
        finally:
            browser.cdp("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        browser.wait("the note is gone", lambda: not browser.one("#card").find_elements("css selector", "#trouble:not([hidden])"))


@test("where an administrator has to approve, nothing is asked that a visitor cannot do, and the way back comes first", needs="time")
def admin_consent(browser):
    with kiosk(browser):
        browser.press("Sign in")
        browser.choose_account("nevena@contoso.example")
        browser.enter_password()
        browser.one("button[name=consent][value=cancel]").click()
        browser.wait("why", lambda: "approve" in browser.one("#message").text)
        assert "address" not in browser.one("#message").text, browser.one("#message").text
        labels = [each.text for each in browser.all("#message .actions button")]
        assert labels == ["Back to the start", "Use another account"], labels
        browser.expect_accessible("kiosk admin consent")
        browser.press("Use another account")
        browser.wait("the provider", browser.at_tenant)


STRAP = """
const lanyard = document.querySelector("#attract .lanyard"), strap = getComputedStyle(lanyard, "::before");
const end = lanyard.offsetTop + lanyard.offsetHeight - parseFloat(strap.bottom) - parseFloat(strap.height);
const middle = lanyard.offsetLeft + lanyard.offsetWidth / 2;
const { right, bottom } = document.getElementById("title").getBoundingClientRect();
return bottom + scrollY <= end || right < middle - parseFloat(strap.width) / 2 ? null : [bottom, end, right, middle];
"""


@test("on a small window the card's strap does not hang over the title, in any language", needs="time")
def strap(browser):
    with kiosk(browser):
        for width, height in ((320, 568), (390, 844), (600, 900)):
            browser.size(width, height)
            for language, tag in (("English", "en"), ("Português (Brasil)", "pt-BR"), ("Svenska", "sv"), ("日本語", "ja")):
                browser.press(language)
                browser.wait(tag, lambda: browser.driver.execute_script("return document.documentElement.lang") == tag and browser.one("#attract").is_displayed())
                over = browser.driver.execute_script(STRAP)
                assert over is None, f"{language} at {width}: {over}"
        browser.size(320, 568)
        browser.shoot("kiosk strap 320")


@test("people are greeted by their given name, the languages are buttons for fingers, and the photo has soft edges", needs="time")
def details(browser):
    with kiosk(browser):
        boxes = browser.driver.execute_script("return [...document.querySelectorAll('#language button')].map((e) => [e.lang, e.offsetHeight])")
        assert [tag for tag, _ in boxes] == ["en", "pt-PT", "pt-BR", "sv", "ja", "zh-Hans"] and all(height >= 48 for _, height in boxes), boxes
        lock = browser.driver.execute_script(
            "const [lock, text] = ['.lock', '.lock + span'].map((s) => document.querySelector(s).getBoundingClientRect()); return [text.left - lock.right, Math.abs(text.top - lock.top)]")
        assert 0 < lock[0] < 40 and lock[1] < 12, f"the lock floats: {lock}"
        walk_up(browser)
        browser.expect_text("#hello", "Hello, Adele!")
        browser.wait("the photo", lambda: browser.all("#badge canvas"))
        colours = browser.driver.execute_async_script(
            "const done = arguments[0]; fetch('/api/kiosk/me/photo').then((r) => r.blob()).then(createImageBitmap).then((photo) => {"
            "const canvas = new OffscreenCanvas(photo.width, photo.height), context = canvas.getContext('2d'); context.drawImage(photo, 0, 0);"
            "const data = new Uint32Array(context.getImageData(0, 0, photo.width, photo.height).data.buffer); done([photo.width, new Set(data).size]) })")
        assert colours[0] >= 200 and colours[1] > 100, colours


@test("what a preview says is one short banner, which leaves the sign-in in sight on a phone; opened, it names the settings and what a logo is")
def short_banner(browser):
    browser.size(390, 844)
    browser.open("/kiosk")
    browser.one("#attract")
    ends = "return ['#preview', '#sign-in'].map((each) => document.querySelector(each).getBoundingClientRect().bottom)"
    banner, start = browser.driver.execute_script(ends)
    assert banner < 90 and start < 844, (banner, start)
    assert "Preview What visitors see" in browser.one("#preview").text and "demo" in browser.one("#demo").text
    browser.shoot("kiosk banner")
    browser.one("#preview summary").click()
    assert [each.text for each in browser.all("#preview code")] == ["title", "kiosk.logo_file", "kiosk.color", "companion.yaml"]
    assert "PNG" in browser.one("#preview").text and "256 KB" in browser.one("#preview").text
    browser.expect_accessible("kiosk banner")


@test("a private device has a preview, which says so, and whose sign-in, card and goodbye are those of a kiosk", needs="time")
def preview(browser):
    browser.open("/")
    browser.one("#cards h3 a[href='/kiosk']").click()
    browser.expect_page("/kiosk")
    browser.one("#attract")
    said = browser.one("#preview").get_property("textContent")
    assert "Your sign-ins on other pages stay as they are." in said and "kiosk.logo_file" in said, said
    browser.one("#preview").find_element("link text", "Back to Companion").click()
    browser.expect_page("/")
    browser.driver.back()
    browser.expect_page("/kiosk")
    browser.one("#attract")
    browser.expect_accessible("kiosk preview")
    for _ in range(2):
        logouts = browser.server.counts()["logout"]
        walk_up(browser)
        browser.wait("the photo", lambda: browser.all("#badge canvas"))
        browser.press("Sign out")
        browser.wait("the goodbye", lambda: "/auth/signed-out" in browser.driver.current_url and len([each for each in browser.all(".gone li") if each.text]) == 3)
        browser.later(5)
        expect_start(browser)
        assert browser.server.counts()["logout"] == logouts + 1, "the provider's session was not ended"
        expect_nothing_of(browser, "Adele", ADELE)
    browser.driver.back()
    browser.expect_page("/")


@test("a preview leaves the sign-ins of other pages as they are, and says that the provider's session stays for them", needs="time")
def preview_beside_others(browser):
    browser.sign_in(username=MEGAN)
    logouts = browser.server.counts()["logout"]
    browser.open("/kiosk")
    browser.one("#attract")
    walk_up(browser)
    expect_nothing_of(browser, "Megan", MEGAN)
    browser.driver.refresh()
    browser.wait("the card again", lambda: "Adele" in browser.one("#card").text)
    browser.press("Sign out")
    browser.wait("what was done", lambda: "still signed in on other pages" in browser.one("#message").text)
    browser.expect_accessible("kiosk preview goodbye")
    assert browser.server.counts()["logout"] == logouts, "the provider's session was ended"
    browser.press("Back to the start")
    expect_start(browser)
    refreshes = browser.server.counts()["authorize"]
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.expect_graph(MEGAN)
    assert browser.server.counts()["authorize"] == refreshes, "Megan had to sign in again"


@test("a preview asks who does not touch it and signs out, and the other pages' sessions do not end with it", needs="time")
def preview_countdown(browser):
    settings = {"COMPANION_KIOSK_COUNTDOWN_AFTER_SECONDS": "2", "COMPANION_KIOSK_IDLE_SECONDS": "6"}
    with browser.visiting(browser.server.sibling("preview", **settings)):
        browser.server.reset()
        browser.sign_in(username=MEGAN)
        browser.open("/kiosk")
        walk_up(browser)
        browser.one("#still-there[open]")
        browser.wait("what was done", lambda: "still signed in on other pages" in browser.one("#message").text)
        expect_nothing_of(browser, "Adele", ADELE)
        browser.open("/ios")
        browser.expect_username(MEGAN)


CUSTOMER = "customer@fabrikam.example"


@test("tiles offer several applications, each with sign-in, card and goodbye, one person after the other", needs="time")
def tiles(browser):
    with kiosk(browser, COMPANION_KIOSK_TILES="kiosk,external,macos", **LONG):
        assert [each.get_attribute("data-start") for each in browser.all(".tile")] == ["kiosk", "external", "macos"]
        browser.expect_accessible("kiosk tiles")
        for width, height in ((1080, 1920), (1920, 1080), (390, 844), (1280, 800)):
            browser.size(width, height)
            browser.shoot(f"kiosk tiles {width}")
        for tile, username, name, other in (("external", CUSTOMER, "Casey", "Adele"), ("macos", ADELE, "Adele", "Casey"), ("external", CUSTOMER, "Casey", "Adele")):
            browser.tab_to(f"#start-{tile}")
            browser.keys(Keys.ENTER)
            browser.choose_account(username)
            browser.enter_password()
            browser.wait("consent or the card", lambda: browser.all("button[name=consent]") or not browser.at_tenant())
            if browser.at_tenant():
                browser.answer_consent()
            browser.wait("the card", lambda: name in browser.one("#card").text)
            browser.driver.refresh()
            browser.wait("the card again", lambda: name in browser.one("#card").text)
            expect_nothing_of(browser, other)
            logouts = browser.server.counts()["logout"]
            sign_out(browser)
            assert browser.server.counts()["logout"] == logouts + 1, "the provider's session was not ended"
            expect_nothing_of(browser, name, username)
        browser.one("#start-external").click()
        browser.choose_account(CUSTOMER)
        browser.one("input[name=password]")
        browser.server.control(authorize_platform_error=50105)
        browser.open("/kiosk")
        browser.one("#start-external").click()
        browser.choose_account(CUSTOMER)
        browser.enter_password()
        browser.wait("why not", lambda: "not assigned" in browser.one("#message").text)
        browser.press("Try again")
        browser.choose_account(CUSTOMER)


@test("in a preview with tiles, a tutorial's own sign-in is not a visitor's, and the visitor's is the tutorial's", needs="time")
def preview_tiles(browser):
    with browser.visiting(browser.server.sibling("preview-tiles", COMPANION_KIOSK_TILES="ios,external")):
        browser.server.reset()
        browser.sign_in(username=MEGAN)
        browser.open("/kiosk")
        browser.one("#attract")
        assert "shares its sign-in with its own page" in browser.one("#preview").get_property("textContent")
        expect_nothing_of(browser, "Megan", MEGAN)
        browser.one("#start-ios").click()
        browser.choose_account()
        browser.enter_password()
        browser.answer_consent()
        browser.wait("the card", lambda: "Adele" in browser.one("#card").text)
        browser.press("Sign out")
        browser.wait("what was done", lambda: "still signed in on other pages" in browser.one("#message").text)
        browser.press("Back to the start")
        expect_start(browser)
        expect_nothing_of(browser, "Adele", "Megan")
        browser.open("/ios")
        browser.press("Accounts")
        browser.wait("Megan among the accounts", lambda: MEGAN in browser.one("#accounts").text)

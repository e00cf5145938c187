"""Chromium as a person uses it: what is on the screen, what can be pressed, and what must never happen meanwhile."""

import base64
import json
import re
import time
from contextlib import contextmanager, suppress
from importlib.resources import files
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from patience import until

ADELE = "adele@contoso.example"
AXE = files("axe_core_python").joinpath("axe.min.js").read_text()
BOTH = ("light", "dark")
# An answer that is held up waits until the page's letGo() is called; `held` counts them.
HOLD = """{
  const ask = fetch;
  const isLetGo = new Promise((resolve) => (window.letGo = resolve));
  window.fetch = async (address, request) => {
    const answer = await ask(address, request);
    if (new URL(address, location).pathname === PATH) {
      window.held = (window.held ?? 0) + 1;
      await isLetGo;
    }
    request?.signal?.throwIfAborted();
    return answer;
  };
}"""
# The demo's tenant ends its sessions: the server's answers as they are for a provider without end_session_endpoint.
KEPT = """{
  const ask = fetch;
  window.fetch = async (address, request) => {
    const answer = await ask(address, request);
    const { pathname } = new URL(address, location);
    if (answer.status !== 200 || !/^\\/(?:api\\/[^/]+\\/account|auth\\/[^/]+\\/sign-out)$/.test(pathname)) return answer;
    const body = await answer.json();
    if (pathname.endsWith("/sign-out")) Object.assign(body, { redirect: null, provider_keeps_session: true });
    else if (body.account) body.account.provider_keeps_session = true;
    return Response.json(body);
  };
}"""
# A person has filled in a field before any script of the page runs: those that are modules wait until the whole page has been read.
EARLY = """new MutationObserver((_, observer) => {
  const field = document.getElementById(FIELD);
  if (!field) return;
  observer.disconnect();
  field.value = TEXT;
}).observe(document, { childList: true, subtree: true });"""
# Of a sign-in that is over, the demo shows random values of up to 54 characters.
LONG = re.compile(r"[A-Za-z0-9_-]{120}")
# Each place counts, so that no value hides the next one.
TOKEN = re.compile(r"(?=(eyJ[A-Za-z0-9_-]{20}))")


def secret_in(text):
    """The beginning of a value that is longer than any that a page needs, or of a token, which begins with an object (RFC 7515, section 3.1).

    The letters eyJ alone show none: one random value of 43 characters in 12,500 has them, and the pages of a run have some five hundred.
    """
    if found := LONG.search(text):
        return found[0][:12]
    for beginning in TOKEN.findall(text):
        if re.match(rb'{"\w+":', base64.urlsafe_b64decode(beginning + "=")):
            return beginning[:12]
    return None


# The elements that are in sight, as the page's own engine knows. To ask WebDriver for each takes some milliseconds, and a page has a hundred.
SEEN = """
const isSeen = (element) => {
  const box = element.closest("select") ?? element;
  if (getComputedStyle(box).display === "contents") return [...box.children].some(isSeen);
  const hasSize = [...box.getClientRects()].some(({ width, height }) => width > 0 && height > 0);
  return box.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && (hasSize || [...box.children].some(isSeen));
};
const inOneLine = (text) => text.replace(/\\s+/g, " ").trim();
const seen = (selector) => [...document.querySelectorAll(selector)].filter(isSeen);
"""

COMPRESSED = """
// The pages of errors are sent as they are.
const documents = performance.getEntriesByType('navigation').filter((e) => e.responseStatus === 200);
const files = performance.getEntriesByType('resource').filter((e) => /[.](js|css)$/.test(e.name));
return [...documents, ...files].every((e) => e.encodedBodySize < e.decodedBodySize)
"""


class Browser:
    # The colours in which axe looks at a page that does not ask for others.
    schemes = BOTH

    def __init__(self, server, screenshots, *more, preferences=None):
        """more, preferences: further options and preferences of Chromium."""
        self.server, self.screenshots = server, screenshots
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
                         "--password-store=basic", "--lang=en-US", *more):
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"credentials_enable_service": False, "profile.password_manager_leak_detection": False} | (preferences or {}))
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.driver.set_page_load_timeout(60)
        # axe takes its time on a page with hundreds of controls, on a busy machine.
        self.driver.set_script_timeout(120)
        self.allowed = []
        self.is_still = False

    def quit(self):
        self.driver.quit()

    # One test

    def begin(self):
        """A browser without cookies and storage, with one new tab, 1280 by 800, light."""
        old = self.driver.window_handles
        self.driver.switch_to.new_window("tab")
        fresh = self.driver.current_window_handle
        for handle in old:
            self.driver.switch_to.window(handle)
            self.driver.close()
        self.driver.switch_to.window(fresh)
        self.cdp("Network.clearBrowserCookies")
        self.cdp("Storage.clearDataForOrigin", origin=self.server.origin, storageTypes="local_storage")
        self.size(1280, 800)
        self.is_still = False
        self.colours("light")
        self.allowed = []
        self.drain()

    def finish(self):
        """This must hold after each test, whatever it did."""
        self.expect_clean()

    def drain(self):
        self.driver.get_log("browser")
        self.driver.get_log("performance")

    def allow(self, *paths):
        """Failed answers of exactly these paths of ours are what the test provokes."""
        self.allowed += [self.server.origin + path for path in paths]

    def expect_clean(self):
        """No console message beyond the allowed ones, nothing loaded from another origin, no secret where scripts can read it."""
        for entry in self.driver.get_log("browser"):
            # That site data was cleared, as the server asked.
            if entry["level"] == "INFO":
                continue
            if not any(entry["message"].startswith(url + " ") for url in self.allowed):
                raise AssertionError(f"the console says: {entry['message']}")
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.expect_own_origin(message["params"])
        self.expect_no_secret()

    def expect_own_origin(self, request):
        url, page = request["request"]["url"], request["documentURL"]
        # Chromium's own page about a page that did not come.
        if page.startswith("chrome-error:"):
            return
        if request.get("type") == "Document":
            known = url == "about:blank" or url.startswith((self.server.origin + "/", self.server.tenant + "/"))
        else:
            known = urlsplit(url)[:2] == urlsplit(page)[:2]
        assert known, f"{page} loaded {url}"

    def expect_no_secret(self):
        if not self.driver.current_url.startswith(self.server.origin):
            return
        kept = self.driver.execute_script(
            # Blocked storage has nothing.
            "const kept = (read) => { try { return JSON.stringify(read()); } catch { return ''; } };"
            "return [document.documentElement.outerHTML, kept(() => localStorage), kept(() => sessionStorage), document.cookie, location.href, kept(() => history.state)]")
        for place, text in zip(("the page", "localStorage", "sessionStorage", "document.cookie", "the address", "the history"), kept):
            found = secret_in(text)
            assert not found, f"{place} holds what looks like a secret: {found}…"
        assert kept[3] == "", f"scripts can read a cookie: {kept[3].split('=')[0]}"

    def situation(self):
        try:
            log = " | ".join(" ".join(text.split()) for text in self.log())
            return f"        at {self.driver.current_url.split('?')[0]}: {self.driver.title}\n        log: {log[-600:]}"
        except WebDriverException as error:
            return f"        {error.msg}"

    @contextmanager
    def on_shared_device(self):
        """The server of a shared device for a while, in the state of a new one."""
        device = self.server.shared_device()
        device.ensure_running()
        device.reset()
        self.cdp("Storage.clearDataForOrigin", origin=device.origin, storageTypes="local_storage")
        with self.visiting(device):
            yield

    @contextmanager
    def visiting(self, server):
        """Another server for a while. One that runs already goes on afterwards."""
        usual, self.server = self.server, server
        is_running = server.is_running
        try:
            server.ensure_running()
            yield
            self.expect_clean()
        finally:
            self.driver.get("about:blank")
            self.drain()
            if not is_running:
                server.stop()
            self.server = usual

    @contextmanager
    def holding(self, path):
        """Pages that are opened meanwhile get the answer of this path of ours when the function that is yielded is called, and not before."""
        with self.beginning_with(HOLD.replace("PATH", json.dumps(path))):
            yield lambda: self.driver.execute_script("letGo()")

    def typing_early(self, field, text):
        """In pages that are opened meanwhile, the field of this id has the text before the page's scripts run."""
        return self.beginning_with(EARLY.replace("FIELD", json.dumps(field)).replace("TEXT", json.dumps(text)))

    def at_keeping_provider(self):
        """Pages that are opened meanwhile are told that the provider cannot end its session."""
        return self.beginning_with(KEPT)

    @contextmanager
    def beginning_with(self, source):
        script = self.cdp("Page.addScriptToEvaluateOnNewDocument", source=source)
        try:
            yield
        finally:
            self.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])

    def hold(self, path):
        """The page that is open gets no answer of this path of ours from now on, until the function that is returned is called."""
        self.driver.execute_script(HOLD.replace("PATH", json.dumps(path)))
        return lambda: self.driver.execute_script("letGo()")

    def later(self, seconds):
        """The clock of the page that is open is so many seconds ahead from now on; its timers go on as they are."""
        self.driver.execute_script("const now = Date.now, [seconds] = arguments; Date.now = () => now() + 1000 * seconds", seconds)

    # The window

    def cdp(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def size(self, width, height, scale=1):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def colours(self, scheme):
        still = [{"name": "prefers-reduced-motion", "value": "reduce"}] if self.is_still else []
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}, *still])

    def stand_still(self):
        """Motion is to be reduced until the test ends: steps are there at once, and an animation that does not end keeps a processor busy."""
        self.is_still = True
        self.colours("light")

    def shoot(self, name):
        if self.screenshots:
            self.driver.save_screenshot(str(self.screenshots / (re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() + ".png")))

    def open(self, path):
        self.driver.get(self.server.origin + path)

    # The screen's content

    def wait(self, what, condition):
        """Polls until the condition gives something true; a page that changes under it, or has not yet what the condition
        takes out of a list, is asked again."""
        def asked():
            with suppress(StaleElementReferenceException, WebDriverException, IndexError):
                return condition()
        return until(asked, what)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def seen(self, script, *arguments):
        """Runs a script that looks among the elements in sight; see SEEN."""
        return self.driver.execute_script(SEEN + script, *arguments)

    def one(self, selector):
        return self.wait(f"an element {selector}", lambda: self.seen("return seen(arguments[0])[0]", selector))

    def click(self, what, find):
        """Clicks the element. A page that replaces it in the moment between is asked again: the click has met nothing."""
        for _ in range(10):
            try:
                return self.wait(what, find).click()
            except StaleElementReferenceException:
                pass
        raise AssertionError(f"the page keeps replacing {what}")

    def press(self, text):
        """Clicks the button or link that has this text. A tutorial runs one flow at a time: its buttons are pressed when the one before is over."""
        self.click(f"a button {text!r}", lambda: self.seen("""
            const wanted = inOneLine(arguments[0]);
            const isFree = (each) => !each.disabled && (!each.matches(".action") || !document.querySelector(".action[aria-busy=true]"));
            return seen("button, a, summary, input[type=submit]").filter(isFree).find((each) => [inOneLine(each.innerText), each.value].includes(wanted));
        """, text))

    def press_in(self, selector, text):
        """Clicks the first button within the element of this kind that has the text."""
        self.click(f"{selector} with {text!r}", lambda: self.seen("""
            return seen(arguments[0]).find((each) => inOneLine(each.innerText).includes(inOneLine(arguments[1])))?.querySelector("button");
        """, selector, text))

    def tick(self, selector, count=None):
        """Ticks all boxes of this kind that can be ticked, or the first so many. Where the page puts others in their place,
        those are ticked."""
        def left():
            return [box for box in self.all(selector)[:count] if box.is_enabled() and not box.is_selected()]

        def are_ticked():
            for box in left():
                if box.is_enabled():
                    box.click()
            return self.all(selector) and not left()
        self.wait(f"ticked boxes {selector}", are_ticked)

    def expect_text(self, selector, text):
        self.wait(f"{selector} shows {text!r}", lambda: self.one(selector).text == text)

    def log(self):
        """The log's messages without their times."""
        return self.driver.execute_script(
            "return [...document.querySelectorAll('#log p')].map(e => [...e.childNodes].slice(1).map(n => n.textContent).join('').trim())")

    def expect_log(self, beginning):
        """Waits for a message that begins so; its whole text."""
        messages = self.wait(f"a log message {beginning!r}", lambda: [text for text in self.log() if text.startswith(beginning)])
        return messages[-1]

    def expect_username(self, text):
        self.expect_text("#username", text)

    def at_tenant(self):
        return self.driver.current_url.startswith(self.server.tenant + "/")

    def expect_page(self, path):
        self.wait(f"the page {path}", lambda: self.driver.current_url == self.server.origin + path)

    # The demo tenant's pages

    def choose_account(self, username=ADELE):
        self.one(f"button[name=username][value='{username}']").click()

    def enter_password(self, password="demo"):
        field = self.one("input[name=password]")
        field.send_keys(password, Keys.ENTER)

    def enter_code(self, address, wrong=None):
        """Takes the code from the outbox, to which the page leads in another tab; a wrong one is entered before."""
        if wrong:
            self.one("input[name=code]").send_keys(wrong, Keys.ENTER)
            self.wait("the refusal", lambda: "That code is incorrect. Please try again." in self.one("#notice").text)
        page = self.driver.current_window_handle
        self.one("a[target=_blank][href^='/outbox']").click()
        self.wait("the outbox", lambda: len(self.driver.window_handles) > 1)
        self.driver.switch_to.window(next(each for each in self.driver.window_handles if each != page))
        assert address in self.one(".message h2").text
        code = self.one(".message .code").text
        self.driver.close()
        self.driver.switch_to.window(page)
        self.one("input[name=code]").send_keys(code, Keys.ENTER)

    def answer_consent(self, answer="accept"):
        self.one(f"button[name=consent][value={answer}]").click()

    def sign_in(self, app="ios", username=ADELE):
        """The whole interactive journey from the application's page to Graph's answer."""
        self.open(f"/{app}")
        self.expect_log("Account signed out. Updating UX")
        self.press("Call Microsoft Graph API")
        self.choose_account(username)
        self.enter_password()
        self.answer_consent()
        self.expect_graph(username)

    def expect_graph(self, username=ADELE):
        # The log survives the trip to the provider: an earlier result may stand there already.
        self.wait(f"Graph's answer for {username}", lambda: self.last_graph_result()["userPrincipalName"] == username)
        self.expect_username(username)

    def last_graph_result(self):
        return json.loads(self.expect_log("Result from Graph: ").removeprefix("Result from Graph: "))

    # The keyboard

    def keys(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def tab_to(self, selector):
        """Presses Tab until the focus is on the element, and checks that the focus can be seen."""
        for _ in range(25):
            self.keys(Keys.TAB)
            if self.driver.execute_script("return document.activeElement.matches(arguments[0])", selector):
                outline = self.driver.execute_script(
                    "const e = document.activeElement, s = getComputedStyle(e), a = getComputedStyle(e, '::after');"
                    "return [s.outlineStyle, a.outlineStyle, s.boxShadow]")
                assert outline[0] != "none" or outline[1] != "none" or outline[2] != "none", f"the focus on {selector} cannot be seen"
                return
        raise AssertionError(f"Tab does not reach {selector}")

    def sign_in_by_keyboard(self):
        """Through the demo tenant's pages without the mouse."""
        self.one(f"button[value='{ADELE}']")
        self.tab_to(f"button[value='{ADELE}']")
        self.keys(Keys.ENTER)
        field = self.one("input[name=password]")
        if self.driver.switch_to.active_element != field:
            self.tab_to("input[name=password]")
        self.keys("demo", Keys.ENTER)
        self.one("button[name=consent][value=accept]")
        self.tab_to("button[name=consent][value=accept]")
        self.keys(Keys.ENTER)

    # Accessibility

    def expect_at_tenant_accessible(self, name):
        assert self.at_tenant(), self.driver.current_url
        self.expect_accessible(name)

    def settled(self):
        """The page has loaded, and for a moment nothing more came."""
        count = -1
        while count != (count := self.driver.execute_script("return document.readyState === 'complete' ? performance.getEntriesByType('resource').length : -2")):
            time.sleep(0.25)

    def expect_light(self, path, most_bytes, most_answers=21):
        """A first visit of the page brings no more than this over the wire, heads included; returns the bytes and the number of answers, one of which may be the icon."""
        self.cdp("Network.enable")
        self.cdp("Network.setCacheDisabled", cacheDisabled=True)
        # A page or a file that has been asked for is compressed soon afterwards.

        def is_compressed():
            self.drain()
            self.open(path)
            self.settled()
            return self.driver.execute_script(COMPRESSED)
        until(is_compressed, f"{path} is compressed")
        sizes = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.expect_own_origin(message["params"])
            elif message["method"] == "Network.loadingFinished":
                sizes.append(message["params"]["encodedDataLength"])
        self.cdp("Network.setCacheDisabled", cacheDisabled=False)
        total = round(sum(sizes))
        assert 0 < total <= most_bytes and len(sizes) <= most_answers, f"{path}: {total} bytes, {len(sizes)} answers"
        return total, len(sizes)

    def expect_accessible(self, name, schemes=None):
        """axe finds nothing on this page, light and dark; nothing is wider than a window of 320 pixels. With `BOTH` as schemes it looks at
        the dark page in every run."""
        for scheme in schemes or self.schemes:
            self.colours(scheme)
            self.shoot(f"{name} {scheme}")
            if not self.driver.execute_script("return typeof axe === 'object'"):
                self.driver.execute_script(AXE)
            # The same elements are there in the dark; their colours are others. Of what passes, axe need not write a list.
            wanted = {"resultTypes": ["violations"]} | ({} if scheme == "light" else {"runOnly": ["color-contrast"]})
            result = self.driver.execute_async_script(
                # In the middle of an animation, colours are no one's.
                "const ends = document.getAnimations().filter((each) => each.playState === 'running' && each.effect.getComputedTiming().endTime !== Infinity);"
                "Promise.all(ends.map((each) => each.finished.catch(() => {}))).then(() => axe.run(document, arguments[0])).then(arguments[arguments.length - 1])", wanted)
            found = [f"{item['id']}: {node['html'][:160]} {node['failureSummary']}" for item in result["violations"] for node in item["nodes"]]
            assert not found, f"{name}, {scheme}: " + "\n".join(found)
        self.colours("light")
        self.size(320, 568, 2)
        self.shoot(f"{name} 320 pixels")
        widest = self.driver.execute_script("return document.documentElement.scrollWidth")
        self.size(1280, 800)
        assert widest <= 320, f"{name} is {widest} pixels wide in a window of 320"

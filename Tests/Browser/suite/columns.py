"""The application's page where there is room: the screen, what just happened, and the code in which the line of the present step is lit."""

from selenium.webdriver.common.action_chains import ActionChains

from .languages import ask_for
from .registry import registry

tests, test = registry("columns")

LIT = "return [...document.querySelectorAll('#code .run.lit')].map((run) => run.textContent).join('')"
BOXES = """
return Object.fromEntries(['main', '#timeline', '#code'].map((selector) => {
  const { left, right, top } = document.querySelector(selector).getBoundingClientRect();
  return [selector, [left, right, top]];
}));
"""


def lit(browser, part):
    """Waits until lines with this part are lit, and in sight in the listing."""
    browser.wait(f"lit: {part}", lambda: part in browser.driver.execute_script(LIT))
    browser.wait("they are in sight", lambda: browser.driver.execute_script(
        "const l = document.querySelector('.listing').getBoundingClientRect(), r = document.querySelector('.run.lit').getBoundingClientRect();"
        "return r.top < l.bottom && r.bottom > l.top"))


@test("screen, what just happened and the code stand beside each other on every application's page, and are open")
def beside(browser):
    for width in (1280, 1720):
        browser.size(width, 900)
        for page in ("ios", "macos", "external", "b2c"):
            browser.open(f"/{page}")
            browser.one("#code .run")
            boxes = sorted(browser.driver.execute_script(BOXES).values())
            assert all(a[1] <= b[0] for a, b in zip(boxes, boxes[1:])), f"{page} at {width}: {boxes}"
            assert boxes[0][0] >= 0 and boxes[-1][1] <= width, f"{page} at {width}: {boxes}"
            assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"{page} at {width} scrolls sideways"
    browser.size(390, 844)
    browser.open("/ios")
    browser.settled()
    assert not browser.all("#timeline[open], #code[open]"), "they are open on a phone"


@test("each button lights its lines in the code when it is pressed")
def buttons(browser):
    browser.open("/ios")
    browser.one("#code .run")
    browser.press("Get device info")
    lit(browser, "getDeviceInformation(with: nil)")
    browser.open("/external")
    browser.one("#code .run")
    browser.press("Acquire Token Silently")
    lit(browser, "No token found, try to acquire a token interactively first")
    browser.sign_in()
    browser.one("#code .run")
    browser.press("Sign Out")
    lit(browser, "MSALSignoutParameters(webviewParameters: webViewParameters)")


# What was lit at each step, as it came.
RECORD = """
window.lights = [];
document.addEventListener("companion-step", ({ detail }) => setTimeout(() =>
  lights.push([detail.step, [...document.querySelectorAll("#code .run.lit")].map((run) => run.textContent).join("")])));
"""


@test("the steps arrive one after the other after the trip, each with its lines lit and its request shown")
def arriving(browser):
    script = browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=RECORD)
    try:
        browser.sign_in()
        lights = browser.wait("the last step", lambda: (found := browser.driver.execute_script("return lights")) and found[-1][0] == "api" and found)
    finally:
        browser.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
    lights = [(step, text) for step, text in lights if step != "account"]
    assert [step for step, _ in lights] == ["authorize", "callback", "redeemed", "shown", "api"], lights
    for (step, text), part in zip(lights, ("acquireToken(with: parameters)", "handleMSALResponse", "self.accessToken = result.accessToken", "", "URLSession.shared.dataTask")):
        assert part in text, f"{step}: {text}"
    browser.expect_text("#code .request-part h3", "Request: API called")
    sent = browser.one("#code .request").text
    assert sent.startswith("GET /v1.0/me\nHost: ") and "Authorization: Bearer …" in sent, sent
    browser.expect_accessible("columns")


@test("a step comes as soon as it has happened, and not only when the flow has ended")
def as_it_happens(browser):
    browser.sign_in()
    browser.wait("the sign-in's steps", lambda: len(browser.all("#timeline .step:not(.waiting)")) == 5)
    browser.server.control(graph_delay_ms=3000)
    browser.press("Call Microsoft Graph API")
    browser.wait("the token's step", lambda: "Token from the cache" in browser.one("#timeline .flow").text)
    assert browser.one("#call-graph").get_attribute("aria-busy") == "true", "the flow had ended"
    lit(browser, "MSALSilentTokenParameters(scopes: kScopes, account: account)")
    browser.wait("the API's step", lambda: "API called" in browser.one("#timeline .flow").text)


@test("hovering a step shows its request and lights its lines, the keyboard does too, and nothing secret is in it")
def requests(browser):
    browser.sign_in()
    browser.wait("the steps", lambda: len(browser.all("#timeline .step:not(.waiting)")) == 5)
    steps = browser.all("#timeline .step")
    # What arrives has arrived.
    browser.wait("the last", lambda: "now" in steps[4].get_attribute("class"))
    ActionChains(browser.driver).move_to_element(steps[0]).perform()
    lit(browser, "parameters.promptType = .selectAccount")
    sent = browser.one("#code .request").text
    for part in ("GET /common/oauth2/v2.0/authorize?", "&prompt=select_account", "&code_challenge=…", "&state=…", "&scope=user.read"):
        assert part in sent, sent
    browser.driver.execute_script("document.querySelectorAll('#timeline .step-name')[2].focus()")
    browser.wait("the token's request", lambda: "grant_type=authorization_code" in browser.one("#code .request").text)
    lit(browser, "self.updateCurrentAccount(account: result.account)")


@test("the code follows what was chosen, before the sign-in and in the steps of each attempt")
def follows(browser):
    browser.open("/ios")
    browser.one("#code .run")
    browser.press("Sign-in options")
    browser.one("#option-prompt option[value=login]").click()
    browser.one("#option-scope").send_keys("Mail.Read")
    code = browser.wait("the code", lambda: "promptType = .login" in (text := browser.one("#code .listing").text) and text)
    assert 'extraScopesToConsent = ["Mail.Read"]' in code
    assert "MSALPromptType.login" in browser.one("#option-prompt + small").text
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph()
    browser.one("#code-completion option[value=async]").click()
    browser.wait("await", lambda: "try await applicationContext.acquireToken(with: parameters)" in browser.one("#code .listing").text)
    browser.wait("the steps", lambda: len(browser.all("#timeline .step")) == 5)
    ActionChains(browser.driver).move_to_element(browser.all("#timeline .step")[0]).perform()
    # The trip has emptied the form: these are the attempt's own.
    lit(browser, "parameters.promptType = .login")
    lit(browser, 'parameters.extraScopesToConsent = ["Mail.Read"]')


@test("the sign-in chapter's workforce half is found: its differences and the pages that show its screen, and the chapter from these pages")
def workforce_half(browser):
    browser.open("/external")
    browser.one("#code .run")
    browser.wait("the differences", lambda: "signoutFromBrowser" in browser.one("#code").text and "workforce tenant" in browser.one("#code").text)
    pages = browser.all("#code .more a:not(.out)")
    assert [link.get_attribute("href") for link in pages] == [browser.server.origin + path for path in ("/ios", "/macos")]
    browser.expect_accessible("the external code column")
    pages[0].click()
    browser.expect_page("/ios")
    for page in ("ios", "macos"):
        browser.open(f"/{page}")
        browser.one("#code .run")
        chapters = [link.text for link in browser.all("#code a.out") if link.get_attribute("href").endswith("tutorial-mobile-app-ios-swift-sign-in?pivots=workforce")]
        assert chapters == ["The sign-in chapter for a workforce tenant"], f"{page}: {chapters}"


@test("the code can be copied whole, and the tutorial's chapter and more open in a tab of their own, without saying from where")
def copied(browser):
    origin = browser.server.origin
    chapters = {"ios": "tutorial-v2-ios", "macos": "tutorial-v2-ios", "external": "tutorial-mobile-app-ios-swift-sign-in", "b2c": "configure-authentication-sample-ios-app"}
    for page, chapter in chapters.items():
        browser.open(f"/{page}")
        browser.one("#code .run")
        links = browser.all("#code a.out")
        assert len(links) >= 3 and chapter in links[0].get_attribute("href"), page
        for link in links:
            assert link.get_attribute("target") == "_blank" and link.get_attribute("referrerpolicy") == "no-referrer", page
            assert "noreferrer" in link.get_attribute("rel") and "noopener" in link.get_attribute("rel"), page
    browser.cdp("Browser.grantPermissions", origin=origin, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.press("Copy the code")
    browser.wait("the button says so", lambda: browser.one("#copy-code").text == "Copied")
    text = browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert text.startswith("import UIKit\nimport MSAL\n") and text.endswith("}\n") and "⟦" not in text, text[:200]


@test("the tutorials are linked in the page's language")
def linked_languages(browser):
    locales = {"en": "en-us", "ja": "ja-jp", "pt-BR": "pt-br", "pt-PT": "pt-pt", "sv": "sv-se", "zh-Hans": "zh-cn"}
    try:
        for tag, locale in locales.items():
            ask_for(browser, tag)
            browser.open("/ios")
            address = browser.one("#code a.out").get_attribute("href")
            assert address.startswith(f"https://learn.microsoft.com/{locale}/"), f"{tag}: {address}"
    finally:
        ask_for(browser, None)


@test("an error stands beside MSAL's own: its domain, its code and its name")
def msal_codes(browser):
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent("cancel")
    browser.wait("the code", lambda: "MSALErrorDomain −50005 (MSALErrorUserCanceled)" in browser.one("#problem").text)
    browser.press("Sign-in options")
    browser.one("#option-prompt option[value=none]").click()
    browser.cdp("Network.clearBrowserCookies")
    browser.press("Call Microsoft Graph API")
    browser.wait("the code", lambda: "MSALErrorDomain −50002 (MSALErrorInteractionRequired)" in browser.one("#problem").text)
    browser.server.control(authorize_platform_error=500112)
    browser.driver.refresh()
    browser.press("Call Microsoft Graph API")
    browser.wait("the code", lambda: "MSALErrorDomain −50000 (MSALErrorInternal, −42" in browser.one("#problem").text)


@test("without motion the steps are all there at once")
def without_motion(browser):
    browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    browser.sign_in()
    browser.wait("the steps", lambda: len(browser.all("#timeline .step")) == 5)
    browser.wait("none waits", lambda: not browser.all("#timeline .step.waiting"))
    lit(browser, "URLSession.shared.dataTask")


@test("Sign Out signs out where the person has chosen, here only or at the provider too, and the code has MSAL's line for it")
def sign_out_choice(browser):
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


@test("on a shared device there is no choice: Sign Out signs out at the provider too, as the tutorial's code does")
def sign_out_shared(browser):
    with browser.visiting(browser.server.sibling("sign-out", COMPANION_DEVICE_MODE="shared")):
        browser.open("/ios")
        browser.press("Sign-in options")
        assert not browser.one("#option-sign_out").is_enabled()
        assert "signoutFromBrowser = true" in browser.one("#sign-out-options small").text
        browser.wait("the line", lambda: "signoutParameters.signoutFromBrowser = true" in browser.one(".listing").get_property("textContent"))

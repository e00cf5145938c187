"""The tutorials to the letter: every text, button, state and order of their apps, and what the page has of them."""

from selenium.webdriver.common.by import By

from .browser import ADELE
from .portal import open_portal, sign_in as sign_in_at_portal, tab
from .registry import registry

tests, test = registry("tutorials", time="The same sign-in at four pages again and again, and tokens that end after seconds. Each tutorial's texts in their order and B2C's failures decide.")

CUSTOMER = "customer@fabrikam.example"
CONSUMER = "b2cuser@fabrikamb2c.example"
MFA = "mfa@contoso.example"

# The screens, from top to bottom: what stands there before anybody has signed in, which buttons can be pressed then, and how the
# app looks. `said` is what its log says at the start.
SCREENS = {
    "ios": {
        "texts": ["Signed out"],
        "buttons": {"Call Microsoft Graph API": True, "Sign Out": False, "Get device info": True},
        "said": ["Account signed out. Updating UX"],
        "colours": {"#call-graph": "rgb(0, 0, 255)", "#device-info": "rgb(0, 0, 255)", "#username": "rgb(85, 85, 85)"},
    },
    "macos": {
        "texts": ["Signed out"],
        "buttons": {"Call Microsoft Graph API": True, "Sign Out": False},
        "said": ["Account signed out. Updating UX"],
        "colours": {},
    },
    "external": {
        "texts": ["Signed out"],
        "buttons": {"Acquire Token Interactively": True, "Acquire Token Silently": True, "API - Perform GET": False, "Sign out": False},
        "said": [],
        "colours": {"#acquire-interactively": "rgb(0, 0, 255)"},
    },
    "b2c": {
        "texts": ["Microsoft Authentication Library", "B2C Sample", "Logging"],
        "buttons": {"Authorize": True, "Edit Profile": False, "Refresh Token": False, "Call API": False, "Logout": False},
        "said": [],
        "colours": {"#authorize": "rgb(0, 0, 255)"},
    },
}

COLOUR = "return getComputedStyle(document.querySelector(arguments[0])).color"


@test("each tutorial's screen has its texts, buttons, states, colours and order, and says at the start what the tutorial says")
def screens(browser):
    for page, screen in SCREENS.items():
        browser.open(f"/{page}")
        browser.settled()

        def in_order():
            text = browser.one("main").text
            places = [text.find(each) for each in screen["texts"]]
            return -1 not in places and places == sorted(places)

        browser.wait(f"the texts of {page} in their order", in_order)
        found = {button.text: button.is_enabled() for button in browser.all("main .action")}
        assert found == screen["buttons"] and list(found) == list(screen["buttons"]), f"{page}: {found}"
        assert browser.log() == screen["said"], f"{page}: {browser.log()}"
        for selector, colour in screen["colours"].items():
            assert browser.driver.execute_script(COLOUR, selector) == colour, f"{page}: {selector}"


@test("on macOS, Sign Out is a textured rounded button and Call Microsoft Graph API is a rounded one")
def macos_styles(browser):
    browser.open("/macos")
    radius = "return ['#call-graph', '#sign-out'].map((id) => parseFloat(getComputedStyle(document.querySelector(id)).borderRadius))"
    rounded, textured = browser.driver.execute_script(radius)
    assert rounded > textured > 0, (rounded, textured)


def expect_said(browser, *beginnings):
    """The log's messages, all of them, each begins so, in this order."""
    def right():
        said = browser.log()
        return len(said) == len(beginnings) and all(text.startswith(beginning) for text, beginning in zip(said, beginnings))
    try:
        browser.wait("the log", right)
    except AssertionError:
        raise AssertionError(f"expected {beginnings}, found {browser.log()}") from None


def sign_in(browser, username, consent=False):
    browser.choose_account(username)
    browser.enter_password()
    if consent:
        browser.answer_consent()


# Each tutorial's output from the first press to the last, with the trip to the provider between.

@test("the main tutorial's texts stand in its order, from the first press to Sign Out, and survive the trip")
def main_texts(browser):
    for page in ("ios", "macos"):
        browser.cdp("Network.clearBrowserCookies")
        browser.server.reset()
        browser.open(f"/{page}")
        browser.press("Call Microsoft Graph API")
        sign_in(browser, ADELE, consent=True)
        said = ["Account signed out. Updating UX"] * 2 + [
            f"Found a signed in account {ADELE}. Updating data for that account...", "Access token is ", "Result from Graph: "]
        expect_said(browser, *said)
        browser.press("Call Microsoft Graph API")
        said += [f"Found a signed in account {ADELE}. Updating data for that account...", "Refreshed Access token is ", "Result from Graph: "]
        expect_said(browser, *said)
        browser.press("Sign Out")
        expect_said(browser, *without_account(said), "Sign out completed successfully")


@test("the external chapter's texts stand in its order, and it says nothing of the account at the start")
def external_texts(browser):
    browser.open("/external")
    browser.press("Acquire Token Silently")
    browser.expect_log("No token found, try to acquire a token interactively first")
    browser.press("Acquire Token Interactively")
    sign_in(browser, CUSTOMER)
    said = ["No token found, try to acquire a token interactively first", "Acquiring token interactively...", "Access token is "]
    expect_said(browser, *said)
    browser.press("Acquire Token Silently")
    said += ["Acquiring token silently...", "Refreshed Access token is "]
    expect_said(browser, *said)
    browser.press("API - Perform GET")
    said += ["Performing request...", "Accessed API successfully using access token.\nHTTP response code: 200\nHTTP response body: {"]
    expect_said(browser, *said)
    browser.press("Sign out")
    said = [*without_account(said), "Signing out...", "Sign out completed successfully"]
    expect_said(browser, *said)
    browser.press("Acquire Token Interactively")
    browser.choose_account(CUSTOMER)
    expect_said(browser, *said, "Acquiring token interactively...", "Access token is ")
    browser.open("/external")
    expect_said(browser, "Acquiring token silently...", "Refreshed Access token is ")


@test("the B2C sample's texts stand in its order, with the name in the navigation bar, and it prints nothing of the account")
def b2c_texts(browser):
    browser.open("/b2c")
    browser.press("Authorize")
    sign_in(browser, CONSUMER)
    said = ["Access token is "]
    expect_said(browser, *said)
    bar = browser.driver.execute_script(
        "const bar = document.querySelector('.navigation-bar'), r = bar.getBoundingClientRect(), s = document.querySelector('.screen').getBoundingClientRect();"
        "return [bar.textContent, Math.abs(r.left + r.width / 2 - s.left - s.width / 2) < 1, getComputedStyle(bar).textAlign]")
    assert bar == ["Bianca Pisani", True, "center"], bar
    browser.press("Refresh Token")
    said += ["Refreshing token silently", "Refreshed access token is "]
    expect_said(browser, *said)
    browser.press("Call API")
    said += ["Calling the API....", "API response: {"]
    expect_said(browser, *said)
    browser.press("Logout")
    expect_said(browser, *without_account(said), "Signed out")


# Each tutorial's output when the account was signed out elsewhere.

# These messages are about an account, and go at its sign-out.
OF_ACCOUNT = (
    "Found a signed in account", "Access token is", "Refreshed Access token is", "Refreshed access token is", "Result from Graph: ",
    "API response: ", "Accessed API successfully")


def without_account(said):
    return [text for text in said if not text.startswith(OF_ACCOUNT)]


def elsewhere(browser, act):
    """`act` in another tab, which is closed then; the first one is in the foreground again."""
    first = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    act()
    browser.driver.close()
    browser.driver.switch_to.window(first)
    browser.cdp("Page.bringToFront")


@test("an account that another tab signs out is named where the tutorial names it, once", needs="time")
def signed_out_in_a_tab(browser):
    gone = "The account with username {} has been signed out."
    rows = [("ios", "#sign-out", gone), ("macos", "#sign-out", gone), ("external", "#sign-out", gone), ("b2c", "#logout", None)]
    for page, sign_out_button, text in rows:
        browser.cdp("Network.clearBrowserCookies")
        browser.open(f"/{page}")
        browser.press(next(iter(SCREENS[page]["buttons"])))
        sign_in_somehow(browser, WHO[page])
        browser.expect_log("Result from Graph: " if page in ("ios", "macos") else "Access token is ")
        browser.wait("the end of the flow", lambda: not browser.all("button[aria-busy]"))
        before = browser.log()

        def sign_out():
            browser.open(f"/{page}")
            browser.wait("the account", lambda: browser.one(sign_out_button).is_enabled())
            browser.one(sign_out_button).click()
            browser.wait("the end of the account", lambda: not browser.one(sign_out_button).is_enabled())
        elsewhere(browser, sign_out)
        browser.wait("the button's end", lambda: not browser.one(sign_out_button).is_enabled())
        expect_said(browser, *without_account(before), *([text.format(WHO[page])] if text else []))


@test("what the page's own button signed out is not announced again: the next start prints what a start without an account prints", needs="time")
def signed_out_here(browser):
    for page, start in (("ios", ["Account signed out. Updating UX"]), ("macos", ["Account signed out. Updating UX"]), ("external", [])):
        browser.cdp("Network.clearBrowserCookies")
        gone = f"The account with username {WHO[page]} has been signed out."
        browser.open(f"/{page}")
        browser.press(next(iter(SCREENS[page]["buttons"])))
        sign_in_somehow(browser, WHO[page])
        browser.wait("the end of the flow", lambda: browser.one("#sign-out").is_enabled() and not browser.all("button[aria-busy]"))
        browser.one("#sign-out").click()
        browser.expect_log("Sign out completed successfully")
        for _ in range(2):
            browser.open(f"/{page}")
            browser.settled()
            expect_said(browser, *start)
        # Elsewhere, at the portal, which is another application's page.
        browser.press(next(iter(SCREENS[page]["buttons"])))
        sign_in_somehow(browser, WHO[page])
        browser.wait("the end of the flow", lambda: browser.one("#sign-out").is_enabled() and not browser.all("button[aria-busy]"))
        browser.open(f"/portal?app={page}")
        browser.press("Sign out of this application")
        browser.wait("the end of the account", lambda: WHO[page] not in browser.one("#who").text)
        browser.open(f"/{page}")
        browser.settled()
        expect_said(browser, gone)


@test("a page that was restored shows its log, although its account is signed out before it is known whose that is")
def signed_out_when_restored(browser):
    browser.sign_in()
    browser.wait("the end of the flow", lambda: not browser.all("button[aria-busy]"))
    let_go = browser.hold("/api/ios/account")
    browser.driver.execute_script("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    browser.wait("a hidden log", lambda: not browser.all("#log")[0].is_displayed())
    browser.press("Sign Out")
    browser.expect_log("Sign out completed successfully")
    let_go()
    browser.one("#log")


@test("an account that the provider signs out, at another application's wish, is named in the tutorial's words")
def signed_out_by_the_provider(browser):
    browser.sign_in("macos")
    browser.wait("the end of the flow", lambda: not browser.all("button[aria-busy]"))
    before = browser.log()

    def sign_out():
        browser.size(1280, 900)
        open_portal(browser)
        sign_in_at_portal(browser, "ios", ADELE)
        tab(browser, "account")
        browser.press("Sign out at the provider too")
        browser.expect_page("/auth/signed-out")
    elsewhere(browser, sign_out)
    browser.expect_username("Signed out")
    expect_said(browser, *without_account(before), f"The account with username {ADELE} has been signed out.")


# Each tutorial's output when something fails.

def expire(browser, username, page, button, signed_in="Access token is "):
    """Signed in, and the next silent call needs the person."""
    browser.open(f"/{page}")
    browser.settled()
    browser.press(button)
    sign_in(browser, username, consent=page in ("ios", "macos"))
    browser.expect_log(signed_in)
    browser.server.control(revoke=username)
    browser.server.control(access_token_seconds=1)


@test("a silent call that needs the person goes on interactively in the external chapter, and says so", needs="time")
def external_interaction(browser):
    browser.server.control(access_token_seconds=2)
    expire(browser, CUSTOMER, "external", "Acquire Token Interactively")
    browser.allow("/api/external/token")
    browser.wait("the end of the token", lambda: browser.at_tenant() or [each.click() for each in browser.all("#acquire-silently")] == [])
    sign_in_again(browser, CUSTOMER)
    browser.wait("the interactive token", lambda: [line.split(" is ")[0] for line in browser.log()[-2:]] == ["Acquiring token interactively...", "Access token"])


def sign_in_again(browser, username):
    if browser.wait("the picker or the password", lambda: browser.all(f"button[name=username][value='{username}'], input[name=password]"))[0].tag_name == "button":
        browser.choose_account(username)
    browser.enter_password()


@test("a page that only appears leaves for nowhere: what needs the person is said, with a button to sign in again")
def external_appears(browser):
    browser.server.control(access_token_seconds=2)
    expire(browser, CUSTOMER, "external", "Acquire Token Interactively")
    browser.allow("/api/external/token")
    browser.wait("the end of the token", lambda: browser.open("/external") or browser.settled() or [text for text in browser.log() if text.startswith("Could not acquire token silently: ")])
    browser.expect_page("/external")
    assert not browser.all("#missions"), "missions are those of the main tutorial"
    browser.expect_accessible("sign in again")
    browser.press("Sign in again")
    sign_in_again(browser, CUSTOMER)
    browser.expect_log("Access token is ")


@test("B2C's silent failure and the failure of the sign-in in its place have texts of their own")
def b2c_silent_failure(browser):
    browser.open("/b2c")
    browser.press("Authorize")
    sign_in(browser, CONSUMER)
    browser.expect_log("Access token is ")
    browser.server.control(token_error={"status": 503, "body": "Service Unavailable", "times": 20})
    browser.allow("/api/b2c/token")
    browser.press("Refresh Token")
    said = browser.expect_log("Could not acquire token: ")
    assert "provider_unavailable" in said, said
    browser.server.control(token_error=None)
    browser.server.control(revoke=CONSUMER)
    browser.press("Refresh Token")
    browser.press("Cancel")
    browser.expect_log("Could not acquire new token: You cancelled.")


# The texts of what fails, by page, button and cause. The page is signed in, unless the cause says otherwise.
GONE = "the account is gone"
FAILURES = {
    "ios": [
        ("Call Microsoft Graph API", "/api/ios/account", "Couldn't query current account with error: "),
        ("Call Microsoft Graph API", {"status": 403, "body": {"error": {"code": "Denied", "message": "No."}}, "times": 1}, "Couldn't get graph result: Denied No."),
        ("Call Microsoft Graph API", {"status": 200, "body": "no JSON", "headers": {"Content-Type": "application/json"}, "times": 1}, "Couldn't deserialize result JSON"),
        ("Get device info", "/api/device", "Device info not returned. Error: "),
        ("Sign Out", "/auth/ios/sign-out", "Couldn't sign out account with error: "),
        ("Call Microsoft Graph API", "/api/ios/token", "Could not acquire token silently: "),
    ],
    "macos": [
        ("Call Microsoft Graph API", "/api/macos/account", "Couldn't query current account with error: "),
        ("Sign Out", "/auth/macos/sign-out", "Couldn't sign out account with error: "),
    ],
    "external": [
        ("Acquire Token Silently", "/api/external/token", "Could not acquire token silently: "),
        ("API - Perform GET", {"status": 418, "body": {"error": "teapot"}, "times": 1}, "The API refused the request.\nHTTP response code: 418\nHTTP response body: "),
        ("Sign out", "/auth/external/sign-out", "Couldn't sign out account with error: "),
        ("Acquire Token Silently", GONE, "No token found, try to acquire a token interactively first"),
    ],
    "b2c": [
        ("Refresh Token", "/api/b2c/token", "Could not acquire token: "),
        ("Call API", {"status": 200, "body": "no JSON", "headers": {"Content-Type": "application/json"}, "times": 1}, "Nothing returned from API"),
        ("Call API", {"status": 500, "body": {"error": "tired"}, "times": 1}, "Could not call API: HTTP 500"),
        ("Logout", "/auth/b2c/sign-out", "Received error signing out: "),
        ("Refresh Token", GONE, "There is no account available!"),
        ("Call API", GONE, "Operation failed because could not find an access token!"),
        ("Logout", GONE, "There is no account to signing out!"),
    ],
}
WHO = {"ios": ADELE, "macos": ADELE, "external": CUSTOMER, "b2c": CONSUMER}


@test("every failure has its tutorial's text", needs="time")
def failure_texts(browser):
    browser.cdp("Network.enable")
    for page, rows in FAILURES.items():
        browser.cdp("Network.clearBrowserCookies")
        browser.server.reset()
        first = next(iter(SCREENS[page]["buttons"]))
        for button, cause, text in rows:
            browser.open(f"/{page}")
            browser.settled()
            if not browser.one(".action:last-of-type").is_enabled() or "Signed out" in browser.one("main").text:
                browser.press(first)
                sign_in_somehow(browser, WHO[page])
                browser.expect_log("Access token is ")
                browser.wait("the end of the flow", lambda: not browser.all("button[aria-busy]"))
            if cause is GONE:
                browser.cdp("Network.clearBrowserCookies")
            elif isinstance(cause, str):
                browser.allow(cause)
                browser.cdp("Network.setBlockedURLs", urls=[f"*{cause}"])
            else:
                browser.allow(f"/api/{page}/me")
                browser.server.control(graph_error=cause)
            try:
                browser.press(button)
                browser.expect_log(text)
            finally:
                browser.cdp("Network.setBlockedURLs", urls=[])
        # Where the story cannot be read, the page does not say where it ended.
        browser.driver.execute_script("sessionStorage.setItem('trip', JSON.stringify([arguments[0], 'sign-in']))", page)
        browser.cdp("Network.clearBrowserCookies")
        browser.allow("/events")
        browser.cdp("Network.setBlockedURLs", urls=["*/events"])
        browser.driver.refresh()
        browser.expect_log("Could not acquire token: No result returned")
        browser.cdp("Network.setBlockedURLs", urls=[])


def sign_in_somehow(browser, username):
    """Whatever the tenant asks for, each of it once: the page that was answered may still be there for a moment."""
    browser.wait("the tenant", browser.at_tenant)
    left = {
        "button[name=username]": lambda: browser.choose_account(username),
        "input[name=password]": browser.enter_password,
        "button[name=consent]": browser.answer_consent,
    }
    while browser.wait("the next page", lambda: not browser.at_tenant() or any(map(browser.all, left))) and browser.at_tenant():
        question = next((question for question in left if browser.all(question)), None)
        if question:
            left.pop(question)()


# The 30 seconds of the API's call pass in 0.3 of ours, and no other limit is shorter.
HASTE = "const real = AbortSignal.timeout; AbortSignal.timeout = (milliseconds) => real.call(AbortSignal, milliseconds === 30_000 ? 300 : milliseconds);"


@test("B2C's API call is given up after 30 seconds")
def b2c_timeout(browser):
    browser.open("/b2c")
    browser.press("Authorize")
    sign_in(browser, CONSUMER)
    browser.expect_log("Access token is ")
    browser.server.control(graph_delay_ms=1000)
    browser.driver.execute_script(HASTE)
    browser.press("Call API")
    browser.expect_log("Could not call API: The server did not respond within 30 seconds.")


# The option that MSAL can make nothing of, the button, and the tutorial's text, by page.
NOT_CONSTRUCTED = {
    "/ios": ("tenant", "contoso example", "Call Microsoft Graph API", "Unable to create authority URL"),
    "/macos": ("tenant", "a/b", "Call Microsoft Graph API", "Unable to create authority URL"),
    "/external": ("claims", "{", "Acquire Token Interactively", "Could not acquire token: Claims must be a JSON object"),
    "/b2c": ("claims", "[1]", "Authorize", "Unable to construct parameters before calling acquire token Claims must be a JSON object"),
}


def expect_not_constructed(browser, page):
    field, value, button, text = NOT_CONSTRUCTED[page]
    before = browser.server.counts()["authorize"]
    browser.press("Sign-in options")
    browser.one(f"#option-{field}").send_keys(value)
    browser.press(button)
    browser.expect_log(text)
    browser.expect_page(page)
    assert browser.server.counts()["authorize"] == before, page


@test("what MSAL could not make its objects of is said as the tutorials say it, and nothing is sent", needs="time")
def not_constructed(browser):
    for page in NOT_CONSTRUCTED:
        browser.open(page)
        browser.settled()
        expect_not_constructed(browser, page)


@test("an application that cannot be set up says so in its tutorial's words, and so does an option that MSAL can make nothing of")
def no_context(browser):
    texts = {"/ios": "Unable to create Application Context ", "/macos": "Unable to create Application Context ",
             "/external": "Unable to create Application Context ", "/b2c": "Unable to create application "}
    browser.cdp("Network.enable")
    browser.cdp("Network.setBlockedURLs", urls=["*/api/apps"])
    try:
        for page, text in texts.items():
            browser.allow("/api/apps")
            browser.open(page)
            assert len(browser.expect_log(text)) > len(text), f"{page} does not say why"
            if page in ("/ios", "/b2c"):
                expect_not_constructed(browser, page)
    finally:
        browser.cdp("Network.setBlockedURLs", urls=[])


@test("device information is what there really is, and a browser that has none says so as an older iOS does")
def device(browser):
    browser.open("/ios")
    browser.settled()
    browser.press("Get device info")
    said = browser.expect_log("Received device info. Device is in the private mode.")
    for fact in ('"secure_context": true', '"cookies": true', '"device": "private"', '"platform": "', '"quota_mb": '):
        assert fact in said, said
    fold = browser.one("#log details")
    assert not fold.get_attribute("open"), "it begins open"
    script = browser.cdp("Page.addScriptToEvaluateOnNewDocument", source="Object.defineProperty(navigator, 'storage', { value: undefined })")
    try:
        browser.open("/ios")
        browser.press("Get device info")
        browser.expect_log("Running on older iOS. GetDeviceInformation API is unavailable.")
    finally:
        browser.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


@test("JSON in the log is coloured and folds, and what is copied is JSON", needs="time")
def json_log(browser):
    import json
    browser.sign_in()
    browser.wait("its colours", lambda: browser.all("#log .json-key") and browser.all("#log .json-string"))
    browser.expect_accessible("json in the log")
    fold = browser.one("#log details")
    assert fold.get_attribute("open"), "it begins closed"
    summary = fold.find_element(By.CSS_SELECTOR, "summary")
    summary.click()
    browser.wait("it closes", lambda: not fold.get_attribute("open"))
    browser.expect_accessible("json folded")
    json.loads(browser.expect_log("Result from Graph: ").removeprefix("Result from Graph: "))


@test("after each result the log shows the latest, and the line at its top is whole", needs="time")
def whole_lines(browser):
    browser.sign_in()
    for count, (width, height) in enumerate(((1440, 900), (1280, 720), (390, 844)), 2):
        browser.size(width, height)
        browser.press("Call Microsoft Graph API")
        browser.wait("the result", lambda count=count: sum(text.startswith("Result from Graph: ") for text in browser.log()) == count)
        browser.wait("its tree", lambda: browser.all("#log p:last-child code.json"))
        cut, latest = browser.driver.execute_script("""
            const { top, bottom } = document.getElementById("log").getBoundingClientRect();
            const entries = [...document.querySelectorAll("#log p")].map((each) => each.getBoundingClientRect());
            return [entries.filter((each) => each.top < top - 1 && each.bottom > top + 1).length, entries.at(-1).top >= top - 1 && entries.at(-1).top < bottom];
        """)
        assert cut == 0 and latest, f"{width} by {height}: {cut} cut, {latest}"


@test("on a shared device, only what was said since the press survives the trip")
def kept_shared(browser):
    with browser.on_shared_device():
        browser.open("/external")
        browser.settled()
        browser.press("Acquire Token Silently")
        browser.expect_log("No token found")
        browser.press("Acquire Token Interactively")
        sign_in(browser, CUSTOMER)
        browser.expect_log("Access token is ")
        expect_said(browser, "Acquiring token interactively...", "Access token is ")

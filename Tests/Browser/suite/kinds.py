"""The external tenant's and the B2C tenant's pages, every button; and several accounts in one session."""

import json

from .browser import ADELE
from .registry import registry

tests, test = registry("kinds", time="A second provider's pages, more trips, and widths in pixels. Each kind's own way through its page decides, with SocialTests and KindMatrixTests.")

CUSTOMER = "customer@fabrikam.example"
CONSUMER = "b2cuser@fabrikamb2c.example"
MEGAN = "megan@contoso.example"
PERSONAL = "alex@outlook.example"


def disabled(browser, *ids):
    return [name for name in ids if not browser.one(f"#{name}").is_enabled()]


def sign_in_external(browser):
    browser.open("/external")
    browser.press("Acquire Token Interactively")
    browser.choose_account(CUSTOMER)
    browser.enter_password()
    browser.expect_log("Access token is ")
    browser.expect_username(CUSTOMER)


def sign_in_b2c(browser):
    browser.open("/b2c")
    browser.press("Authorize")
    browser.choose_account(CONSUMER)
    browser.enter_password()
    browser.expect_log("Access token is ")


@test("signed out of the external tenant, two buttons work and two do not; the silent call says what to do first")
def external_signed_out(browser):
    browser.open("/external")
    browser.expect_username("Signed out")
    assert disabled(browser, "acquire-interactively", "acquire-silently", "call-api", "sign-out") == ["call-api", "sign-out"]
    browser.press("Acquire Token Silently")
    browser.expect_log("No token found, try to acquire a token interactively first")
    browser.expect_accessible("external signed out")


@test("the external tenant's page has tokens interactively and silently, the API's three lines, and sign-out")
def external_journey(browser):
    sign_in_external(browser)
    assert disabled(browser, "call-api", "sign-out") == []
    browser.press("Acquire Token Silently")
    browser.expect_log("Acquiring token silently...")
    browser.expect_log("Refreshed Access token is ")
    browser.press("API - Perform GET")
    browser.expect_log("Performing request...")
    lines = browser.expect_log("Accessed API successfully using access token.").split("\n")
    assert lines[1] == "HTTP response code: 200" and lines[2].startswith("HTTP response body: {"), lines
    assert json.loads(lines[2].removeprefix("HTTP response body: "))["owner"] == CUSTOMER
    browser.expect_accessible("external signed in")
    browser.driver.refresh()
    browser.expect_log("Refreshed Access token is ")
    browser.press("Sign out")
    browser.expect_log("Signing out...")
    browser.expect_log("Sign out completed successfully")
    browser.expect_username("Signed out")
    assert disabled(browser, "call-api", "sign-out") == ["call-api", "sign-out"]


@test("prompt create leads to the external tenant's sign-up page, and the new account is signed in")
def external_sign_up(browser):
    browser.open("/external")
    browser.press("Sign-in options")
    browser.one("#option-prompt option[value=create]").click()
    browser.press("Acquire Token Interactively")
    browser.one("input[name=new_username]").send_keys("new.customer@fabrikam.example")
    browser.one("input[name=display_name]").send_keys("Noor Customer")
    browser.expect_at_tenant_accessible("sign up")
    browser.press("Create the account")
    browser.enter_code("new.customer@fabrikam.example", wrong="12345678")
    browser.expect_log("Access token is ")
    browser.expect_username("new.customer@fabrikam.example")
    browser.press("API - Perform GET")
    assert "Noor Customer" in browser.expect_log("Accessed API successfully using access token.")


@test("an API that refuses is shown with its code and body")
def external_api_refuses(browser):
    sign_in_external(browser)
    browser.server.control(graph_error={"status": 418, "body": {"error": "teapot"}, "times": 1})
    browser.allow("/api/external/me")
    browser.press("API - Perform GET")
    lines = browser.expect_log("The API refused the request.").split("\n")
    assert lines[1:] == ["HTTP response code: 418", 'HTTP response body: {"error":"teapot"}'], lines
    browser.server.control(graph_error={"status": 503, "body": {"error": "tired"}, "times": 1})
    browser.press("API - Perform GET")
    browser.wait("what to do", lambda: any(
        text.endswith('HTTP response code: 503\nHTTP response body: {"error":"tired"}\nTry again in a moment.') for text in browser.log()))


@test("somebody of another tenant is not known to the external tenant", needs="time")
def external_stranger(browser):
    browser.open("/external")
    browser.press("Acquire Token Interactively")
    browser.one("input[name=username]").send_keys(ADELE)
    browser.press("Next")
    browser.wait("the refusal", lambda: "AADSTS50020" in browser.one("main").text)
    browser.allowed.append(browser.driver.current_url)


def at_provider(browser, page, button):
    """Begins at the tutorial's page, and goes on to the provider's pages."""
    browser.open(page)
    browser.press(button)
    browser.one("button[name=provider]")
    browser.expect_at_tenant_accessible(f"{page} with a second provider")
    browser.one("button[name=provider]").click()
    browser.wait("the provider's page", lambda: "/consumers/" in browser.driver.current_url)
    assert "Contoso Social" in browser.one("main").text
    browser.expect_at_tenant_accessible(f"{page} at the provider")


@test("a customer of either tenant signs in with Contoso Social, and the page has the person's address", needs="time")
def social_journey(browser):
    for page, button in (("/external", "Acquire Token Interactively"), ("/b2c", "Authorize")):
        browser.server.control(require_consent=PERSONAL)
        at_provider(browser, page, button)
        if browser.all(f"button[name=username][value='{PERSONAL}']"):
            browser.choose_account(PERSONAL)
        browser.enter_password()
        browser.answer_consent()
        browser.expect_log("Access token is ")
        claims = browser.driver.execute_async_script(f"fetch('/api{page}/claims').then((answer) => answer.json()).then(arguments[0])")
        assert claims["idp"] == "social.contoso.example" and claims["name"] == "Alex Wilber", claims
        assert claims.get("email", claims.get("emails")) in (PERSONAL, [PERSONAL]), claims
        browser.cdp("Network.clearBrowserCookies")


@test("who cancels at Contoso Social is back at the external tenant, and is told so by B2C's page", needs="time")
def social_cancel(browser):
    at_provider(browser, "/external", "Acquire Token Interactively")
    browser.one("button[name=cancel]").click()
    assert "You cancelled" in browser.one("#notice").text
    browser.choose_account(CUSTOMER)
    browser.enter_password()
    browser.expect_log("Access token is ")
    at_provider(browser, "/b2c", "Authorize")
    browser.one("button[name=cancel]").click()
    assert "(access_denied, " in browser.expect_log("Could not acquire token: ")


@test("while Contoso Social is down, the tutorials' pages say so", needs="time")
def social_down(browser):
    browser.server.control(provider_down="social")
    for page, button in (("/external", "Acquire Token Interactively"), ("/b2c", "Authorize")):
        browser.open(page)
        browser.press(button)
        browser.one("button[name=provider]").click()
        assert "(provider_unavailable, " in browser.expect_log("Could not acquire token: ")


@test("signed out of B2C, only Authorize works")
def b2c_signed_out(browser):
    browser.open("/b2c")
    browser.settled()
    assert disabled(browser, "authorize", "edit-profile", "refresh-token", "call-api", "logout") == ["edit-profile", "refresh-token", "call-api", "logout"]
    text = browser.one(".screen").text
    for label in ("Microsoft Authentication Library", "B2C Sample", "Logging"):
        assert label in text, f"{label} is missing"
    browser.expect_accessible("b2c signed out")


@test("the B2C page authorizes, refreshes, calls the API and logs out, with the display name in the bar")
def b2c_journey(browser):
    sign_in_b2c(browser)
    browser.expect_username("Bianca Pisani")
    browser.press("Refresh Token")
    browser.expect_log("Refreshing token silently")
    browser.expect_log("Refreshed access token is ")
    browser.press("Call API")
    browser.expect_log("Calling the API....")
    answer = json.loads(browser.expect_log("API response: ").removeprefix("API response: "))
    assert answer["message"] == "Hello Bianca Pisani", answer
    browser.expect_accessible("b2c signed in")
    browser.press("Logout")
    browser.expect_log("Signed out")
    assert disabled(browser, "edit-profile", "refresh-token", "call-api", "logout") == ["edit-profile", "refresh-token", "call-api", "logout"]


@test("editing the B2C profile changes the name and does not disturb the sign-in account")
def b2c_edit_profile(browser):
    sign_in_b2c(browser)
    browser.press("Edit Profile")
    field = browser.one("input[name=display_name]")
    field.clear()
    field.send_keys("Bianca P.")
    browser.press("Continue")
    browser.expect_log("Successfully edited profile")
    browser.expect_log("Refreshed access token is ")
    browser.expect_username("Bianca P.")
    browser.press("Call API")
    browser.expect_log("API response: ")
    browser.press("Edit Profile")
    field = browser.one("input[name=display_name]")
    field.clear()
    field.send_keys("Bianca Pisani")
    browser.press("Continue")
    browser.expect_username("Bianca Pisani")


@test("a cancelled B2C page is shown as cancelled, at edit profile and at sign-in")
def b2c_cancel(browser):
    browser.open("/b2c")
    browser.press("Authorize")
    browser.press("Cancel")
    browser.expect_log("Could not acquire token: You cancelled.")
    assert "AADB2C90091" in browser.one(".step .problem").text
    browser.expect_accessible("b2c cancelled")
    sign_in_b2c(browser)
    browser.press("Edit Profile")
    browser.press("Cancel")
    browser.expect_log("Could not edit profile: You cancelled.")
    browser.expect_username("Bianca Pisani")


@test("a forgotten B2C password leads to the reset page at once, and then on to being signed in")
def b2c_forgot(browser):
    browser.open("/b2c")
    browser.press("Authorize")
    browser.choose_account(CONSUMER)
    browser.press("Forgot your password?")
    browser.choose_account(CONSUMER)
    browser.expect_at_tenant_accessible("b2c code")
    browser.enter_code(CONSUMER)
    browser.one("input[name=new_password]").send_keys("something new")
    browser.expect_at_tenant_accessible("b2c new password")
    browser.press("Continue")
    browser.expect_log("Access token is ")
    browser.expect_username("Bianca Pisani")


def switch(browser, username):
    """Chooses an account in the open menu. Until the switch is over, the app's buttons are busy."""
    browser.press_in("#accounts li", username)
    browser.expect_username(username)
    browser.wait("the end of the switch", lambda: not browser.all(".action[aria-busy=true]"))


@test("two accounts of one session are added, switched, and signed out one by one; what the log says survives the trip without the token")
def two_accounts(browser):
    browser.sign_in()
    browser.press("Accounts")
    browser.press("Add an account")
    browser.choose_account(MEGAN)
    browser.enter_password()
    browser.answer_consent()
    browser.expect_graph(MEGAN)
    assert "Access token is …" in browser.log(), browser.log()
    browser.press("Accounts (2)")
    browser.expect_accessible("account menu")
    switch(browser, ADELE)
    browser.press("Call Microsoft Graph API")
    browser.expect_graph()
    browser.press("Sign Out")
    browser.expect_log("Sign out completed successfully")
    browser.expect_username("Signed out")
    browser.wait("the end of the sign-out", lambda: not browser.all(".action[aria-busy=true]"))
    browser.press("Accounts")
    switch(browser, MEGAN)
    browser.press("Call Microsoft Graph API")
    browser.wait("Graph answers for Megan", lambda: MEGAN in browser.expect_log("Result from Graph: "))
    browser.press("Accounts")
    browser.press("Remove")
    browser.expect_username("Signed out")


@test("the claims are shown with their meaning, and the sign-in options reach the provider", needs="time")
def claims_and_options(browser):
    browser.sign_in()
    browser.press("Claims of the ID token")
    text = browser.wait("the claims", lambda: (found := browser.one("#claims-box").text) and "preferred_username" in found and found)
    assert "It can change, so never use it as a key." in text and "nonce" not in text, text
    browser.expect_accessible("claims")
    browser.press("Sign-in options")
    browser.one("#option-prompt option[value=none]").click()
    browser.expect_accessible("options")
    browser.press("Accounts")
    browser.press("Add an account")
    browser.wait("another token", lambda: sum(text.startswith("Access token is ") for text in browser.log()) == 2)


@test("single sign-on is probed without a page, which reports that nobody is signed in there")
def probe(browser):
    browser.open("/external")
    browser.press("Sign-in options")
    browser.one("#option-prompt option[value=none]").click()
    browser.press("Acquire Token Interactively")
    browser.expect_log("Could not acquire token: The identity provider needs you to sign in again.")
    panel = browser.one(".step:has(.problem)").text
    assert "AADSTS50058" in panel and "Correlation ID" in panel, panel


@test("an administrator's consent is offered, with the address to open, and given there")
def admin_consent(browser):
    browser.open("/ios")
    browser.press("Call Microsoft Graph API")
    browser.choose_account("nevena@contoso.example")
    browser.enter_password()
    browser.one("button[name=consent][value=cancel]").click()
    browser.expect_log("Could not acquire token: Only an administrator")
    link = browser.one(".step .problem a")
    assert link.text == browser.server.origin + "/auth/ios/admin-consent", link.text
    assert "MSALErrorDomain −50000 (MSALErrorInternal, −42104 " in browser.one(".step .problem").text, browser.one(".step .problem").text
    browser.expect_accessible("admin consent needed")
    browser.open("/auth/ios/admin-consent")
    browser.press("Sign in with another account")
    browser.choose_account(ADELE)
    browser.enter_password()
    browser.answer_consent()
    browser.expect_log("An administrator has approved this application for the organization.")


@test("what was not granted stands beside the token", needs="time")
def declined(browser):
    browser.server.control(declined_scope="Mail.Read")
    browser.open("/ios")
    browser.press("Sign-in options")
    browser.one("#option-scope").send_keys("Mail.Read")
    browser.press("Call Microsoft Graph API")
    browser.choose_account()
    browser.enter_password()
    browser.answer_consent()
    browser.expect_log("Not granted: Mail.Read")


@test("a claims challenge of the API is met without a page", needs="time")
def continuous_access(browser):
    browser.sign_in()
    before = browser.server.counts()["authorize"]
    browser.server.control(claims_challenge=True)
    browser.press("Call Microsoft Graph API")
    browser.wait("a second result", lambda: sum(text.startswith("Result from Graph: ") for text in browser.log()) == 2)
    assert browser.server.counts()["authorize"] == before, "somebody had to sign in again"


@test("a missing permission of the API is asked for, and then there")
def incremental_consent(browser):
    browser.sign_in()
    browser.server.control(missing_scope="Mail.Read")
    browser.allow("/api/ios/me")
    browser.press("Call Microsoft Graph API")
    browser.wait("the consent page", lambda: "Read your mail" in browser.one("main").text)


@test("a sign-out at the provider ends the other application's session by the front channel")
def front_channel(browser):
    with browser.on_shared_device():
        browser.sign_in()
        browser.open("/macos")
        browser.press("Call Microsoft Graph API")
        browser.choose_account()
        browser.expect_graph()
        browser.open("/ios")
        browser.expect_username(ADELE)
        browser.press("Sign Out")
        browser.wait("the signed-out page", lambda: "/auth/signed-out" in browser.driver.current_url)
        browser.open("/macos")
        browser.expect_log("Account signed out. Updating UX")


@test("signing out of a shared device's browser comes back and says that the provider confirmed")
def confirmed_sign_out(browser):
    with browser.on_shared_device():
        browser.sign_in()
        browser.press("Sign Out")
        browser.wait("the signed-out page", lambda: "/auth/signed-out" in browser.driver.current_url)
        browser.expect_text("#provider", "The identity provider has confirmed that this browser is signed out there too.")
        browser.open("/auth/signed-out")
        browser.expect_text("#provider", "We could not confirm that you are signed out at the identity provider.")
        browser.expect_accessible("signed out")


CLAIMS = """
const box = document.querySelector(".claims").getBoundingClientRect();
const lines = (cell) => Math.round(cell.getBoundingClientRect().height / parseFloat(getComputedStyle(cell).lineHeight));
return [...document.querySelectorAll(".claims tbody tr")].map((row) => {
  const [name, value, meaning] = row.cells;
  const edges = [...row.cells].map((cell) => cell.getBoundingClientRect());
  return [name.textContent, lines(value), edges.every(({ left, right }) => left >= box.left - 1 && right <= Math.min(box.right, innerWidth) + 1),
    edges.every(({ top }, index) => index === 0 || top >= edges[index - 1].bottom - 1)];
});
"""


@test("claim, value and meaning stand below each other where there is little room, and nothing of them is cut", needs="time")
def narrow_claims(browser):
    browser.sign_in()
    browser.press("Claims of the ID token")
    for width, height in ((1280, 800), (390, 844), (320, 568)):
        browser.size(width, height)
        rows = browser.wait("the claims", lambda: browser.driver.execute_script(CLAIMS))
        for name, lines, fits, stacked in rows:
            assert fits and stacked, f"{name} at {width}"
            assert lines <= 2 or name not in ("aud", "oid", "tid"), f"the GUID of {name} takes {lines} lines at {width}"
    browser.size(1280, 800)
    browser.open("/paste")
    browser.press("eyJ…")
    browser.wait("the claims side by side", lambda: browser.all(".claims td") and not any(row[3] for row in browser.driver.execute_script(CLAIMS)))
    browser.size(390, 844)
    assert all(row[2] and row[3] for row in browser.driver.execute_script(CLAIMS)), "a pasted token's claims on a phone"
    browser.expect_accessible("pasted claims")

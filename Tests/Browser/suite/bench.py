"""The team's bench: who may, calls of other APIs, step-up, checks, cases."""

import datetime

from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from .browser import ADELE
from .portal import MEGAN, open_portal, press_sign_in, registration, settings, sign_in, tab, through_the_provider, titles
from .registry import registry
from .server import CLIENT_ID, FABRIKAM, Registrations, Tenant

tests, test = registry("bench", time="Tenants of their own, forty checks, and a long trip to an API. MembershipTests, CallTests, DirectoryTests and CheckRoundsTests decide.")

CONTOSO = "5c7d0b28-bdf8-410c-aa93-4df372b16203"


class Bench(Registrations):
    """A portal whose operators and readers are named by app roles, at the tenant of another process."""

    def __init__(self, usual, **portal):
        super().__init__(usual, 3)
        self.portal = portal

    def applications(self):
        apps = super().applications()
        # Groups and app roles count only where the tenants are listed.
        apps["portal"] |= {"allowed_tenants": [CONTOSO]} | self.portal
        return apps


def claims(browser, **claims):
    browser.server.control(id_token_claims=claims)


@test("the account's tab says which rule let the person in, and where groups and app roles came from")
def admission(browser):
    open_portal(browser)
    sign_in(browser, "portal", ADELE)
    shown = tab(browser, "account")
    browser.wait("the rule", lambda: "Why you may sign in here" in shown.text)
    assert "Everyone at the configured authority" in shown.text and "the ID token, which lists" in shown.text, shown.text
    assert "Shop.Manage" in shown.text and "Operator" in shown.text, shown.text
    browser.expect_accessible("bench admission")


@test("a person whom no group lets in reads that there are groups, and a reader sees sessions and cannot end one")
def groups_and_roles(browser):
    group = "0d4c1e5a-8f0e-4bb1-93a5-0b6f6a2f7c11"
    with browser.visiting(Bench(browser.server, allowed_groups=[group], operators={"roles": ["Operator"]}, readers={"roles": ["Reader"]})):
        claims(browser, groups=["1e5d2f6b-9a1f-4cc2-84b6-1c7a7b3a8d22"])
        open_portal(browser)
        sign_in(browser, "portal", ADELE)
        browser.wait("the refusal", lambda: "admits members of certain groups" in browser.one("#result").text)
        assert group not in browser.one("#result").text
        claims(browser, groups=[group], roles=["Reader"])
        registration(browser, "portal")
        browser.one("#sign-in").click()
        through_the_provider(browser, MEGAN)
        shown = tab(browser, "account")
        browser.wait("the rule", lambda: f"You are a member of the group {group}" in shown.text)
        assert "Reader: can view health and sessions" in shown.text, shown.text
        shown = tab(browser, "sessions")
        browser.wait("the sessions", lambda: MEGAN in shown.text)
        assert browser.all("#sessions li.session") and not browser.all("#sessions li.session button"), shown.text
        browser.expect_accessible("bench reader")


@test("while Graph is away a person with too many groups is not let in, and may try again", needs="time")
def too_many_groups(browser):
    with browser.visiting(Bench(browser.server, allowed_groups=["0d4c1e5a-8f0e-4bb1-93a5-0b6f6a2f7c11"])):
        claims(browser, groups=None, _claim_names={"groups": "src1"})
        browser.server.control(graph_error={"status": 503, "body": {}, "times": 3})
        open_portal(browser)
        sign_in(browser, "portal", ADELE)
        browser.wait("the refusal", lambda: "Microsoft Graph cannot be asked right now" in browser.one("#result").text)


@test("another API of the list is called, its permission is granted on the way, and its pages follow", needs="time")
def calls(browser):
    open_portal(browser)
    sign_in(browser, "portal", ADELE)
    shown = tab(browser, "api")
    browser.wait("the form", lambda: browser.all("#call-path"))
    path = Select(browser.one("#call-path"))
    assert "graph /users/*" in [option.text for option in path.options]
    path.select_by_visible_text("graph /me")
    browser.one("#call-select").send_keys("displayName,mail")
    browser.press("Call the API")
    browser.wait("the answer", lambda: "Properties returned" in shown.text and "displayName, mail" in shown.text)
    browser.press("As curl")
    assert "Bearer $TOKEN" in shown.text and "/v1.0/me?$select=displayName%2Cmail" in shown.text, shown.text
    browser.press("As Swift")
    assert "URLSession.shared.data(for: request)" in shown.text, shown.text
    browser.expect_accessible("bench call")
    path = Select(browser.one("#call-path"))
    path.select_by_visible_text("graph /me/messages")
    browser.one("#call-select").clear()
    browser.one("#call-top").send_keys("5")
    browser.allow("/api/portal/call?api=graph&path=%2Fme%2Fmessages&top=5", "/api/portal/call?api=graph&path=%2Fusers%2F..%2Fme&top=5")
    browser.press("Call the API")
    browser.wait("the offer", lambda: "Grant this permission" in shown.text)
    browser.press("Grant this permission")
    through_the_provider(browser, ADELE)
    shown = browser.one("#api")
    browser.wait("the same call is at hand", lambda: browser.all("#call-top") and browser.one("#call-top").get_attribute("value") == "5")
    browser.press("Call the API")
    browser.wait("the first page", lambda: "200" in shown.text and "Next page" in shown.text)
    browser.press("Next page")
    browser.wait("the second page", lambda: "skip" in shown.text)
    browser.size(360, 740)
    browser.expect_accessible("bench call on a phone")
    Select(browser.one("#call-path")).select_by_visible_text("graph /users/*")
    browser.one("#call-segment-0").send_keys("../me")
    browser.press("Call the API")
    browser.wait("the refusal", lambda: "plain path" in shown.text)


class Registered(Registrations):
    """A portal and an application that may read their registration, at a tenant of their own."""

    def __init__(self, usual, secret_expires, roles=("Application.Read.All",)):
        super().__init__(usual, 2)
        (self.folder / "tenant-secret").write_text(self.secret)
        urls = [f"{self.origin}/auth/{name}" for name in ("callback", "signed-out")]
        granted = {"granted": {"https://graph.microsoft.com": list(roles)}} if roles else {}
        self.provider = Tenant(self, [{
            "name": "Bench", "client_id": CLIENT_ID, "web": urls, "secret_file": str(self.folder / "tenant-secret"), "secret_expires": secret_expires,
            "group_claims": "security", **granted}])

    def start(self):
        self.provider.start()
        self.tenant = self.provider.tenant
        self.provider.start = lambda: None
        super().start()

    def applications(self):
        own = {"client_id": CLIENT_ID, "client_secret_file": str(self.folder / "secret"), "authority": f"{self.tenant}/contoso.example",
               "api": f"{self.tenant}/v1.0/me", "app_only": True}
        return {"portal": own | {"page": "portal", "title": "Test portal"}, "ios": own | {"title": "iOS"}}


def in_days(days):
    return str(datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=days))


@test("an operator reads from the tenant when a secret ends, and sees what an application's own token says")
def directory(browser):
    with browser.visiting(Registered(browser.server, in_days(12))):
        open_portal(browser)
        sign_in(browser, "portal", ADELE)
        shown = tab(browser, "health")
        browser.press("Check now")
        browser.wait("the secret", lambda: "The secret “Secret” ends on" in shown.text)
        browser.wait("the list", lambda: "Client secret expires" in browser.one("#registrations").text)
        Select(browser.one("#app-only-call")).select_by_value("application")
        browser.press("Get the token")
        browser.wait("its roles", lambda: "Application.Read.All" in shown.text and "passwordCredentials" in shown.text)
        browser.expect_accessible("bench app only")


@test("an application that may not read its registration says which permission it needs", needs="time")
def forbidden(browser):
    with browser.visiting(Registered(browser.server, in_days(90), roles=())):
        open_portal(browser)
        sign_in(browser, "portal", ADELE)
        shown = tab(browser, "health")
        browser.press("Check now")
        browser.wait("the permission", lambda: "Application.Read.All" in shown.text)
        assert "Not known" in shown.text, shown.text
        Select(browser.one("#app-only-call")).select_by_value("application")
        browser.press("Get the token")
        browser.wait("no role", lambda: "an administrator has granted none" in shown.text and "403" in shown.text)


@test("forty registrations are checked with progress, found by words, checked again one by one, and changes are named", needs="time")
def forty(browser):
    with browser.visiting(Registrations(browser.server, 40)):
        open_portal(browser)
        sign_in(browser, "portal", MEGAN)
        shown = browser.one("#list")
        browser.press("Check all")
        browser.wait("progress or the result", lambda: "of 40 checked" in shown.text or "Problem: " in shown.text)
        browser.wait("the summary", lambda: "Problem: " in shown.text)
        field = browser.one("#list input[type=search]")
        field.send_keys("problem localhost:1/")
        browser.wait("the problem", lambda: len(titles(browser)) == 1)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(FABRIKAM)
        browser.wait("those of a tenant", lambda: len(titles(browser)) > 1 and all("Travel" in title for title in titles(browser)[1:]))
        browser.expect_accessible("bench filters")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(Keys.BACKSPACE)
        browser.server.control(provider_down="workforce")
        browser.press("Check all")
        browser.wait("what is new", lambda: "Since the last check" in shown.text and "New:" in shown.text)
        browser.server.control(provider_down=None)
        registration(browser, "payroll-self-service-ios-test")
        shown = tab(browser, "health")
        browser.press("Check now")
        browser.wait("it is well again", lambda: "Gone:" in shown.text)
        browser.size(360, 740)
        browser.expect_accessible("bench filters on a phone")


@test("a context is asked for with one press, and then the portal says what the tokens prove and what an API answers")
def step_up(browser):
    # An address asks for classes, which no field does.
    browser.open("/portal?app=portal&acr_values=phr")
    browser.wait("the sign-in's settings", lambda: "acr_values" in browser.one("#with").text)
    settings(browser)
    assert not browser.all("label[for=acr_values]") and "ignores" not in browser.one("#more").get_attribute("textContent")
    browser.one("#more > summary").click()
    browser.one("#context").send_keys("c100")
    browser.press("Request in the ID token")
    assert "c1 to c99" in browser.one("#claims-error").text
    browser.one("#context").clear()
    browser.one("#context").send_keys("c1")
    browser.press("Request in the ID token")
    assert '"acrs":{"essential":true,"value":"c1"}' in browser.one("#claims").get_attribute("value")
    browser.one("#max_age").send_keys("60")
    browser.expect_accessible("bench step-up form")
    press_sign_in(browser)
    browser.wait("the provider", browser.at_tenant)
    browser.choose_account(ADELE)
    browser.enter_password()
    browser.wait("the second factor or what follows", lambda: browser.all("button[name=second_factor], button[name=consent]") or not browser.at_tenant())
    if browser.all("button[name=second_factor]"):
        browser.one("button[name=second_factor][value=approve]").click()
        browser.wait("consent or back", lambda: browser.all("button[name=consent]") or not browser.at_tenant())
    if browser.at_tenant():
        browser.answer_consent("accept")
    browser.expect_page("/portal")
    shown = browser.one("#account")
    browser.wait("what is proved", lambda: "what the tokens prove" in shown.text)
    assert "acrs: c1" in shown.text and "Proved" in shown.text and "max_age=60" in shown.text, shown.text
    assert "no acr: v2 ID tokens" in shown.text and "returns 401" in shown.text, shown.text
    browser.expect_accessible("bench step-up")
    # A call that is listed is at hand again when its tab is.
    shown = tab(browser, "api")
    Select(browser.one("#call-path")).select_by_visible_text("graph /me")
    browser.press("Call the API")
    browser.wait("the answer", lambda: "Properties returned" in shown.text)
    tab(browser, "account")
    tab(browser, "api")
    browser.wait("the same call", lambda: Select(browser.one("#call-path")).first_selected_option.text == "graph /me")


@test("a context whose policy blocks the person ends in an explanation")
def step_up_blocked(browser):
    browser.server.control(authorize_platform_error=53003)
    open_portal(browser)
    registration(browser, "portal")
    settings(browser)
    browser.one("#more > summary").click()
    browser.press("Request in the access token")
    press_sign_in(browser)
    through_the_provider(browser, ADELE)
    browser.wait("the explanation", lambda: "53003" in browser.one("#result").text)

"""The Swift that the pages show, generated in the page. `Tests/Projects` type-checks it."""

from .registry import registry

tests, test = registry("Swift lines")

PAGES = ["ios", "macos", "external", "b2c"]
AUTHORITIES = {
    "workforce": "https://login.microsoftonline.com/common", "external": "https://fabrikam.ciamlogin.com/",
    "b2c": "https://fabrikamb2c.b2clogin.com/tfp/fabrikamb2c.onmicrosoft.com/b2c_1_susi",
}


def generated(browser, page, choices):
    script = """
      const [page, choices, done] = arguments;
      import("/assets/scripts/base/project.js")
        .then(({ loadProgram, wholeText }) => loadProgram(page).then((program) => choices.map((choice) => wholeText(program(choice)))))
        .then(done, (error) => done(String(error.stack)));"""
    return browser.driver.execute_async_script(script, page, choices)


@test("every setting of a sign-in stands in the Swift as MSAL names it, and what was not chosen does not")
def settings(browser):
    browser.open("/ios")
    chosen = {
        "prompt": ("login", "parameters.promptType = .login"),
        "loginHint": ("adele@contoso.example", 'parameters.loginHint = "adele@contoso.example"'),
        "extraScopes": (["Mail.Read"], 'parameters.extraScopesToConsent = ["Mail.Read"]'),
        "claims": ('{"id_token":{}}', 'MSALClaimsRequest(jsonString: "{\\"id_token\\":{}}", error: &claimsError)'),
        "domainHint": ("contoso.com", 'parameters.extraQueryParameters = ["domain_hint": "contoso.com"]'),
        "webView": ("ephemeral", "prefersEphemeralWebBrowserSession = true"),
        "completion": ("async", "try await applicationContext.acquireToken(with: parameters)"),
    }
    for page in PAGES:
        kind = {"external": "external", "b2c": "b2c"}.get(page, "workforce")
        usual = {"kind": kind, "authority": AUTHORITIES[kind], "scopes": ["user.read"]}
        before = generated(browser, page, [usual])[0]
        for name, (value, line) in chosen.items():
            after = generated(browser, page, [usual | {name: value}])[0]
            assert line not in before and line in after, f"{page}: {name}"
        # The B2C sample removes its account without parameters.
        for value in (False, True):
            line = f"signoutParameters.signoutFromBrowser = {str(value).lower()}"
            assert (line in generated(browser, page, [usual | {"signoutFromBrowser": value}])[0]) == (page != "b2c"), f"{page}: {line}"
    tenant = generated(browser, "ios", [{"kind": "workforce", "authority": AUTHORITIES["workforce"], "scopes": [], "tenant": "contoso.com"}])[0]
    assert 'URL(string: "https://login.microsoftonline.com/contoso.com")' in tenant


@test("every step of a flow has lines of each tutorial that has them")
def steps(browser):
    browser.open("/ios")
    script = """
      const [page, choice, done] = arguments;
      import("/assets/scripts/base/project.js").then(({ loadProgram }) => loadProgram(page))
        .then((program) => done([...new Set(program(choice).flatMap(({ steps }) => steps))]));"""
    common = {"init", "web_view", "account", "authorize", "redeemed", "unredeemed", "cached", "refreshed", "silent", "api", "sign_out", "claims"}
    more = {"ios": {"callback", "device-info", "call-graph", "sign-out"}, "macos": {"call-graph", "sign-out"},
            "external": {"callback", "acquire-interactively", "acquire-silently", "call-api", "sign-out"},
            "b2c": {"callback", "edit_profile", "edit-profile", "refresh-token", "call-api", "logout"}}
    for page in PAGES:
        kind = {"external": "external", "b2c": "b2c"}.get(page, "workforce")
        found = set(browser.driver.execute_async_script(script, page, {"kind": kind, "authority": AUTHORITIES[kind], "scopes": []}))
        assert (common | more[page]) - found == set(), f"{page}: {(common | more[page]) - found}"
    assert "callback" not in set(browser.driver.execute_async_script(script, "macos", {"kind": "workforce", "authority": AUTHORITIES["workforce"], "scopes": []}))

"""The home page's paste box: what it recognizes, what it finds wrong, how it verifies a token, and that a paste stays in the page."""

import base64
import json
from urllib.parse import quote

from .native import BUNDLE, paste, plist, requests
from .registry import registry

tests, test = registry("paste", time="Six languages, and a log of 8 MB whose reading is timed. Each kind of paste decides, with LanguageTests and long.test.js.")

HASH = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # RFC 7636, appendix B
ERROR = "Error Domain=MSALErrorDomain Code=-50000 UserInfo={MSALInternalErrorCodeKey=-42011}"
GUID = "00001111-aaaa-2222-bbbb-3333cccc4444"


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


UNSIGNED = f"{part({'alg': 'none', 'typ': 'JWT'})}.{part({'sub': 'somebody', 'aud': 'api', 'jku': 'https://keys.example/'})}."
FOREIGN = f"{part({'alg': 'RS256', 'kid': 'https://keys.example/1', 'jku': 'https://keys.example/', 'x5u': 'https://keys.example/x'})}.{part({'iss': 'https://issuer.example/', 'exp': 4000000000})}.c2ln"


def address(**changes):
    """A right request of a native app, with what differs; None takes a parameter out."""
    values = {"client_id": GUID, "response_type": "code", "redirect_uri": f"msauth.{BUNDLE}://auth", "scope": "User.Read openid profile offline_access",
              "state": "c3RhdGU", "code_challenge": HASH, "code_challenge_method": "S256"} | changes
    host = values.pop("at", "https://login.microsoftonline.com/common/oauth2/v2.0/authorize")
    return host + "?" + "&".join(f"{name}={quote(value)}" for name, value in values.items() if value is not None)


def configuration(**changes):
    at = "https://login.microsoftonline.com/common"
    values = {"issuer": "https://login.microsoftonline.com/contoso/v2.0", "authorization_endpoint": f"{at}/oauth2/v2.0/authorize", "token_endpoint": f"{at}/oauth2/v2.0/token",
              "end_session_endpoint": f"{at}/oauth2/v2.0/logout", "jwks_uri": f"{at}/discovery/v2.0/keys", "response_types_supported": ["code"]} | changes
    return json.dumps({name: value for name, value in values.items() if value is not None})


def instance(aliases, **changes):
    return json.dumps({"tenant_discovery_endpoint": "https://localhost:8443/common/v2.0/.well-known/openid-configuration",
                       "metadata": [{"preferred_network": "localhost:8443", "preferred_cache": "localhost:8443", "aliases": aliases} | changes]})


def ready(browser):
    browser.open("/")
    browser.one("#paste").click()
    browser.wait("the box is ready", lambda: browser.one("#paste").get_attribute("data-ready") == "true")
    browser.settled()


def found(browser):
    return [each.text for each in browser.all("#found .finding p")]


def levels(browser):
    return browser.driver.execute_script("return [...document.querySelectorAll('#found .finding')].map((e) => e.className.split(' ')[1])")


def look(browser, name, width=1280):
    browser.size(width, 1500)
    browser.driver.execute_script("document.getElementById('paste').scrollIntoView()")
    browser.shoot(name)
    browser.size(1280, 800)


def run(browser, script, *arguments):
    """The value of an asynchronous function's body, in which `load` imports a script of the pages."""
    made = browser.driver.execute_async_script(
        "const done = arguments[arguments.length - 1], given = [...arguments]; const load = (name) => import(`/assets/scripts/${name}.js`);"
        f"(async () => {{ {script} }})().then((value) => done({{ value }}), (error) => done({{ error: String(error) }}));", *arguments)
    assert "error" not in made, made
    return made["value"]


@test("what is pasted into the home page is recognized by itself, and can be read as something else")
def kinds(browser):
    ready(browser)
    paste(browser, ERROR)
    assert browser.one("#paste-kind").get_attribute("value") == "error" and "-42011" in browser.one("#found").text
    assert browser.one("#said").get_attribute("textContent") == "Recognized as: Error or log"
    for kind, said in (("token", "not a JWT"), ("address", "not an address"), ("discovery", "not a JSON object"), ("file", "not XML")):
        browser.one(f"#paste-kind option[value={kind}]").click()
        if kind == "file":
            browser.one("#paste-bundle").send_keys(BUNDLE)
        assert said in browser.one("#found").text, f"{kind}: {browser.one('#found').text}"
    # The choice holds for this text, until the box is empty.
    browser.press("Clear")
    assert not browser.all("#found .card") and not browser.all("#paste-taken")[0].is_displayed()
    paste(browser, "AADSTS50011")
    assert browser.one("#paste-kind").get_attribute("value") == "error"


@test("of an authority the page says which class of MSAL takes it, what to know about it, and what MSAL requests")
def authorities(browser):
    ready(browser)
    paste(browser, "https://localhost:8443/common")
    assert browser.one("#paste-kind").get_attribute("value") == "authority"
    assert "MSALAADAuthority accepts this authority once knownAuthorities lists it" in found(browser)[0], found(browser)
    assert levels(browser)[0] == "info" and "/common/discovery/instance" in browser.one(".asked").text
    paste(browser, "https://login.fabrikam.com/tfp/fabrikam.com/b2c_1_susi")
    assert "MSALB2CAuthority accepts" in found(browser)[0], found(browser)
    paste(browser, "https://fabrikam.b2clogin.com/fabrikam.onmicrosoft.com")
    assert "MSALB2CAuthority refuses" in found(browser)[0] and "user flow" in found(browser)[1], found(browser)
    assert not browser.all(".asked")
    paste(browser, "https://login.microsoftonline.com/organizations")
    assert (found(browser), levels(browser)) == (["MSALAADAuthority accepts this authority."], ["fine"])
    browser.open("/paste")
    browser.press("https://…/common")
    browser.wait("the example", lambda: "accepts" in found(browser)[0])
    look(browser, "paste an authority")
    # On home the box stands low: what it says comes into sight.
    browser.size(1440, 757)
    browser.open("/")
    browser.press("AADSTS50011")
    top = "const e = document.querySelector('#found .card'); return e ? e.getBoundingClientRect().top : 9999"
    browser.wait("the answer in sight", lambda: browser.driver.execute_script(top) < 500)


@test("a term that is typed is explained, the box and what it says in sight")
def terms(browser):
    browser.size(1440, 757)
    ready(browser)
    browser.one("#paste").send_keys("nonce")
    browser.wait("the term", lambda: "comes back in the ID token" in browser.one("#found").text)
    assert browser.one("#paste-kind").get_attribute("value") == "term"
    tops = "return ['#paste', '#found .card'].map((each) => document.querySelector(each).getBoundingClientRect().top)"
    browser.wait("the box and the answer in sight", lambda: all(0 <= top < 500 for top in browser.driver.execute_script(tops)))
    for typed, part in (("PKCE", "code_verifier"), ("tokens", "opens an API"), ("access token", "does not read it"), ("acquireTokenSilent", "interaction_required")):
        paste(browser, typed)
        browser.wait(typed, lambda part=part: part in browser.one("#found").text)
    # A question is looked up without its words, and nothing is said twice.
    for typed, part in (("what is silent", "interaction_required"), ("What is a token?", "opens an API"), ("nonce?", "comes back in the ID token"), ("claims challenge", "WWW-Authenticate")):
        paste(browser, typed)
        browser.wait(typed, lambda part=part: part in browser.one("#found").text)
        assert len(browser.all("#found .card p:not(:has(a))")) == 1, browser.one("#found").text
    for typed in ("refresh token", "scope", "login_hint", "MFA"):
        paste(browser, typed)
        assert len(browser.all("#found .card p:not(:has(a))")) == 1, browser.one("#found").text
    # One that happens in a mission leads there, and a word of the product's own to its page.
    for typed, path in (("second factor", "/ios#mission=second_factor"), ("token", "/ios#claims"), ("PKCE", "/ios#mission=first_sign_in"), ("code_challenge", "/ios#mission=first_sign_in"), ("nonce", "/ios#mission=first_sign_in"), ("logo", "/kiosk"), ("case", "/portal")):
        paste(browser, typed)
        browser.wait(path, lambda path=path: [each.get_attribute("href") for each in browser.all("#found .card a")] == [browser.server.origin + path])
    # The chips are named as what they put into the box, not as a term that has another answer.
    chips = [each.text for each in browser.all("#examples button")]
    assert not {"claims challenge", "case", "JWT"} & set(chips), chips
    for typed in ("hello", "同意"):
        paste(browser, typed)
        said = browser.one("#found").text
        assert f"“{typed}” is not a word that this box knows" in said and "Discovery document" in said and "NSError" not in said, said
    browser.shoot("paste an unknown word")
    browser.press("nonce")
    browser.wait("the word that was pressed", lambda: "comes back in the ID token" in browser.one("#found").text)
    paste(browser, "a sentence that is longer than any term could be, and tells of nothing that this box could explain")
    assert "NSError" in browser.one("#found").text


@test("a number alone is said once, and leads to the mission that shows it, where one does")
def numbers(browser):
    ready(browser)
    for number, mission in ((50076, "second_factor"), (50079, "second_factor"), (50011, "redirect_uri"), (65001, "consent"), (90094, "administrator"), (700082, "revoked"), (650057, "permission"), (53003, None), (50105, None)):
        paste(browser, f"AADSTS{number}")
        browser.wait(f"{number}", lambda number=number: browser.one("#found").text.count(f"AADSTS{number}") == 1)
        links = [each.get_attribute("href") for each in browser.all("#found a") if each.text == "See it happen"]
        assert links == ([f"{browser.server.origin}/ios#mission={mission}"] if mission else []), (number, links)
    paste(browser, "AADSTS50076: a second factor. Correlation ID: 11112222-bbbb-3333-cccc-4444dddd5555")
    browser.wait("what else was found", lambda: "11112222-bbbb-3333-cccc-4444dddd5555" in browser.one("#found .facts").text)


@test("the box's own page begins in its box; a fragment, a text and a screen that is touched keep the keyboard away")
def begins_in_the_box(browser):
    focus = "return document.activeElement?.id ?? ''"
    browser.open("/paste")
    browser.wait("the box has the focus", lambda: browser.driver.execute_script(focus) == "paste")
    for path in ("/", "/paste#AADSTS50011"):
        browser.open(path)
        browser.wait("the explanation", lambda: path == "/" or "AADSTS50011" in browser.one("#found").text)
        browser.settled()
        assert browser.driver.execute_script(focus) != "paste", path
    browser.cdp("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        browser.open("/paste")
        browser.settled()
        assert browser.driver.execute_script("return matchMedia('(pointer: coarse)').matches") and browser.driver.execute_script(focus) != "paste"
    finally:
        browser.cdp("Emulation.setTouchEmulationEnabled", enabled=False)


@test("a case that is pasted shows its outcome, kind and steps, and what its error means, beside the link to all of it")
def case_in_short(browser):
    ready(browser)
    browser.one("[data-example=case]").click()
    browser.wait("the case", lambda: "Open as a case" in browser.one("#found").text)
    facts = dict(zip([each.text for each in browser.all("#found .facts dt")], [each.text for each in browser.all("#found .facts dd")]))
    assert facts["Outcome"] == "access_denied · AADSTS50105" and facts["Kind"] == "workforce" and facts["Steps"] == "authorize: ok → callback: access_denied", facts
    assert "is not assigned" in browser.one("#found").text, browser.one("#found").text
    look(browser, "paste a case")


@test("a pasted file is checked for the bundle ID that it names, or for the one that is typed")
def files(browser):
    ready(browser)
    paste(browser, plist({"CFBundleURLTypes": [{"CFBundleURLSchemes": [f"msauth.{BUNDLE}"]}]}))
    assert browser.one("#paste-bundle").get_attribute("value") == BUNDLE
    assert found(browser) == ["The key LSApplicationQueriesSchemes is missing."], found(browser)
    assert "msauthv2" in browser.one("#found pre").text
    browser.one("#paste-platform option[value=macos]").click()
    assert levels(browser) == ["fine"]
    browser.one("#paste-platform option[value=ios]").click()
    browser.one("#paste-bundle").clear()
    browser.one("#paste-bundle").send_keys("com.fabrikam.other")
    assert "another bundle ID" in found(browser)[0], found(browser)
    paste(browser, plist({"CFBundleName": "Tasks"}))
    assert found(browser) == ["Enter the bundle ID to have the file checked."]
    look(browser, "paste a file")


@test("a token of the demo tenant is verified, and nothing of it is sent, kept, logged or in the address")
def own_token(browser):
    server = browser.server.sibling("paste", COMPANION_TOKEN_DISPLAY="full")
    with browser.visiting(server):
        browser.sign_in()
        ask = """const answer = await fetch("/api/%s/token", { method: "POST", headers: { "X-Companion": "1", "Content-Type": "application/json" }, body: "{}" }); return (await answer.json()).token;"""
        for_graph = run(browser, ask % "ios")
        browser.open("/external")
        browser.press("Acquire Token Interactively")
        browser.choose_account("customer@fabrikam.example")
        browser.enter_password()
        browser.expect_log("Access token is")
        text = run(browser, ask % "external")
        assert text.count(".") == 2
        ready(browser)
        requests(browser)
        verdict = lambda: browser.driver.execute_script("return [...document.querySelectorAll('#found .finding[data-result]')].map((e) => e.dataset.result)")
        # As at Entra ID, nobody but Graph can check a token for it.
        paste(browser, for_graph)
        browser.wait("Graph's own", lambda: verdict() == ["unchecked", "verified"])
        requests(browser)
        paste(browser, text)
        browser.wait("the results", lambda: verdict() == ["verified", "verified"])
        assert not [each for each in requests(browser) if each != server.origin + "/api/demo/keys"]
        assert "tasks.read" in browser.one("#found").text and "customer@fabrikam.example" in browser.one("#found").text
        look(browser, "paste a token")
        head, body, signature = text.split(".")
        claims = json.loads(base64.urlsafe_b64decode(body + "=="))
        paste(browser, f"{head}.{part(claims | {'scp': 'Directory.ReadWrite.All'})}.{signature}")
        browser.wait("the change is noticed", lambda: verdict() == ["wrong", "verified"])
        # Whether it has expired is said apart from its signature.
        browser.driver.execute_script("Date.now = () => arguments[0]", (claims["exp"] + 1) * 1000)
        paste(browser, text)
        browser.wait("the end is noticed", lambda: verdict() == ["verified", "wrong"])
        assert "expired" in found(browser)[1]
        kept = browser.driver.execute_async_script("""const done = arguments[0];
Promise.all([indexedDB.databases(), caches.keys()]).then((more) => done(JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state, more])))""")
        for piece in (head, body, signature):
            assert piece not in kept, kept
            assert piece not in server.log.read_text(), "the log has a part of the token"
            assert all(piece not in entry["message"] for entry in browser.driver.get_log("performance")), "a request has a part of the token"
        browser.driver.refresh()
        assert browser.one("#paste").get_attribute("value") == ""


@test("what is pasted before the page's script has come is read when it has")
def pasted_early(browser):
    for path in ("/", "/paste"):
        with browser.typing_early("paste", ERROR):
            browser.open(path)
            browser.wait("what was found", lambda: "-42011" in browser.one("#found").text)
        assert browser.one("#paste").get_attribute("value") == ERROR


@test("no other issuer's keys are fetched, whatever a token says about them, and a paste of another kind brings no request")
def nothing_is_fetched(browser):
    ready(browser)
    requests(browser)
    for text, said in ((FOREIGN, "another issuer"), (UNSIGNED, "not signed"), (f"{part({'alg': 'RS256', 'kid': 'a', 'nonce': 'n'})}.{part({'iss': 'https://sts.windows.net/'})}.c2ln", "Microsoft Graph"),
                       (f"{part({'alg': 'RSA-OAEP', 'enc': 'A256GCM'})}.a.b.c.d", "encrypted")):
        paste(browser, text)
        browser.wait(said, lambda: said in found(browser)[0])
    assert set(requests(browser)) == {browser.server.origin + "/api/demo/keys"}
    for text in (ERROR, plist({"CFBundleName": "Tasks"}), address(), configuration()):
        paste(browser, text)
        assert browser.one("#found").text
    browser.settled()
    assert requests(browser) == []


@test("an authorization request and a discovery document are taken apart, and their mistakes are named")
def documents(browser):
    ready(browser)
    paste(browser, address(code_challenge=None, prompt="<b>always</b>"))
    assert levels(browser) == ["bad", "bad"] and "PKCE" in found(browser)[0] and "<b>always</b>" in found(browser)[1], found(browser)
    rows = browser.driver.execute_script("return [...document.querySelectorAll('#found tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))")
    assert [name for name, _, _ in rows] == ["client_id", "response_type", "redirect_uri", "scope", "state", "code_challenge_method", "prompt"] and all(meaning for _, _, meaning in rows), rows
    look(browser, "paste an authorization request")
    paste(browser, instance(["localhost:8443"]))
    assert "-50002" in found(browser)[0]


@test("the paste box costs little until it is used, works without a mouse, fits a phone, and axe finds nothing")
def by_keyboard(browser):
    browser.expect_light("/", 70_000)
    assert not browser.driver.execute_script("return performance.getEntriesByType('resource').some((e) => e.name.includes('/paste.') && e.name.endsWith('.js'))"), "what reads a paste is loaded at once"
    browser.one("#paste").send_keys("AADSTS50011")
    browser.wait("the explanation", lambda: "AADSTS50011" in browser.one("#found").text)
    browser.tab_to("#paste-kind")
    browser.keys("\ue015")
    browser.wait("another reading", lambda: browser.one("#paste-kind").get_attribute("value") == "file")
    assert browser.driver.switch_to.active_element.get_attribute("id") == "paste-kind", "the focus is lost"
    browser.tab_to("#paste-taken button")
    browser.keys("\ue007")
    assert browser.driver.switch_to.active_element.get_attribute("id") == "paste"
    for name, text in (("error", ERROR), ("token", FOREIGN), ("file", plist({"CFBundleURLTypes": [{"CFBundleURLSchemes": [f"msauth.{BUNDLE}"]}]})), ("address", address(prompt="always")), ("discovery", configuration())):
        paste(browser, text)
        browser.wait("what was found", lambda: browser.all("#found p"))
        browser.expect_accessible(f"paste {name}")
        look(browser, f"paste {name} phone", 390)


@test("the paste box speaks each language, without a key in place of a text", needs="time")
def languages(browser):
    from .languages import TAGS, TEXTS, ask_for, expect_language
    for tag in TAGS:
        ask_for(browser, tag)
        try:
            ready(browser)
            assert browser.one("#paste-title").text == TEXTS[tag]["paste_page.title"]
            for text in (FOREIGN, address(code_challenge=None), configuration(jwks_uri=None)):
                paste(browser, text)
                browser.wait("what was found", lambda: found(browser))
                expect_language(browser, tag)
        finally:
            ask_for(browser, None)


LONG = """
const done = arguments[0];
(async () => {
const line = (at) => `TID=${1000 + at % 97} MSAL 2.13.0 iOS 18.6 [2026-01-05 10:11:12] [MSAL] Looking for a token, tenant (null), scopes user.read ${at}\\n`;
const log = Array.from({ length: 80_000 }, (_, at) => line(at));
log.splice(79_990, 0, "Error Domain=MSALErrorDomain Code=-50000 UserInfo={MSALInternalErrorCodeKey=-42001}\\n");
const box = document.getElementById("paste");
box.value = log.join("");
// The browser's own work with the text is not the page's.
await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 200))));
const began = performance.now();
let [last, block, scrolls] = [began, 0, 0];
const shares = new Set();
addEventListener("scroll", () => scrolls++);
const channel = new MessageChannel();
channel.port1.onmessage = () => {
  const now = performance.now();
  [block, last] = [Math.max(block, now - last), now];
  shares.add(document.querySelector("#found progress")?.value ?? 0);
  if (document.getElementById("found").textContent.includes("-42001")) return done([box.value.length, now - began, block, shares.size, scrolls]);
  channel.port2.postMessage(0);
};
channel.port2.postMessage(0);
box.dispatchEvent(new InputEvent("input", { bubbles: true }));
})();
"""


@test("a log of 8 MB is read while the page goes on, and shows how much is read", needs="time")
def long_log(browser):
    ready(browser)
    browser.driver.set_script_timeout(60)
    length, whole, block, shares, scrolls = browser.driver.execute_async_script(LONG)
    print(f"      {length / 1e6:.1f} MB in {whole / 1000:.2f} s, the longest block {block:.0f} ms")
    assert length > 8_000_000 and shares > 3, (length, shares)
    # Each step of a glide draws the page with all of the text.
    assert scrolls <= 1, scrolls
    # On a busy machine all of it takes longer. The longest block is the page as it is drawn with the box's text, no piece of the log.
    assert block < whole / 2, (whole, block)
    # Another text takes its place at once.
    browser.driver.execute_script("document.getElementById('paste').dispatchEvent(new InputEvent('input'))")
    paste(browser, "AADSTS50011")
    browser.wait("the other text", lambda: "AADSTS50011" in browser.one("#found").text and not browser.all("#found progress"))

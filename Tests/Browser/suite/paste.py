"""The home page's paste box: what it recognizes, what it finds wrong, how it verifies a token, and that a paste stays in the page."""

import base64
import json
from urllib.parse import quote

from .native import BUNDLE, HEAD, expect_linear, paste, plist, requests
from .registry import registry

tests, test = registry("paste")

HASH = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # RFC 7636, appendix B
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
        "const done = arguments[arguments.length - 1], given = [...arguments]; const load = (name) => import(`/assets/${name}.js`);"
        f"(async () => {{ {script} }})().then((value) => done({{ value }}), (error) => done({{ error: String(error) }}));", *arguments)
    assert "error" not in made, made
    return made["value"]


# What is pasted, and what it is taken for.
KINDS = [
    ("Error Domain=MSALErrorDomain Code=-50000 UserInfo={MSALInternalErrorCodeKey=-42011}", "error"), ("AADSTS50011", "error"), ("hello", "error"),
    ("TID=1 MSAL 2.2.0 iOS 18.1 [2026-01-05 10:11:12] error: -51118 error domain: MSIDErrorDomain", "error"),
    ('{"error":"invalid_client","error_codes":[7000218]}', "error"), ("msauth.com.contoso.tasks://auth?error=access_denied", "error"),
    ("https://login.microsoftonline.com/error?code=50011", "error"), ("{not json", "error"), ("eyJ.not.a token, and more", "error"), ("{}", "error"),
    (plist({"CFBundleName": "Tasks"}), "file"), ("\ufeff" + plist({"CFBundleName": "Tasks"}), "file"), ("<key>keychain-access-groups</key><array/>", "file"), ("bplist00\x01", "file"),
    ("<!-- entitlements -->" + HEAD + "<dict/></plist>", "file"),
    (UNSIGNED, "token"), ("Bearer " + FOREIGN, "token"), ("Authorization: Bearer " + FOREIGN, "token"), (f'"{FOREIGN}",', "token"), (FOREIGN[:40] + "\n" + FOREIGN[40:], "token"),
    (json.dumps({"token_type": "Bearer", "id_token": FOREIGN}), "token"), ("eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d", "token"),
    (address(), "address"), ("  " + address() + "\n", "address"), ("https://issuer.example/authorize?client_id=a", "address"), ("http://localhost/login?response_type=code", "address"),
    (configuration(), "discovery"), (instance(["a"]), "discovery"),
]


@test("what is pasted into the home page is recognized by itself, and can be read as something else")
def kinds(browser):
    ready(browser)
    found_kinds = run(browser, "const { kindOf } = await load('paste-kinds'); return given[0].map(kindOf);", [text for text, _ in KINDS])
    for (text, kind), made in zip(KINDS, found_kinds):
        assert made == kind, f"{text[:80]}: {made}"
    paste(browser, KINDS[0][0])
    assert browser.one("#paste-kind").get_attribute("value") == "error" and "-42011" in browser.one("#found").text
    assert browser.one("#said").get_attribute("textContent") == "Recognized as: Error or log"
    for kind, said in (("token", "not a JWT"), ("address", "not an address"), ("discovery", "not a JSON object"), ("file", "not XML")):
        browser.one(f"#paste-kind option[value={kind}]").click()
        if kind == "file":
            browser.one("#paste-bundle").send_keys(BUNDLE)
        assert said in browser.one("#found").text, f"{kind}: {browser.one('#found').text}"
    # What was chosen holds for this text, until the box is empty.
    browser.press("Clear")
    assert not browser.all("#found .card") and not browser.all("#paste-taken")[0].is_displayed()
    paste(browser, "AADSTS50011")
    assert browser.one("#paste-kind").get_attribute("value") == "error"


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


# What a token is, its keys, and the result. The keys are made in the page: "rsa" and "ec" are their own, "other" is another RSA key.
SIGNATURES = [
    ({"alg": "RS256", "kid": "rsa"}, "rsa", {}, "verified", "verified"), ({"alg": "ES256", "kid": "ec"}, "ec", {}, "verified", "verified"),
    ({"alg": "RS256", "kid": "rsa"}, "other", {}, "wrong", "signature"), ({"alg": "ES256", "kid": "ec"}, "ec2", {}, "wrong", "signature"),
    ({"alg": "RS256", "kid": "rsa"}, "rsa", {"changed": True}, "wrong", "signature"),
    # The key decides how it is used, whatever the token says.
    ({"alg": "HS256", "kid": "rsa"}, "rsa", {}, "wrong", "algorithm"), ({"alg": "ES256", "kid": "rsa"}, "rsa", {}, "wrong", "algorithm"), ({"alg": "RS512", "kid": "rsa"}, "rsa", {}, "wrong", "algorithm"),
    ({"alg": "none", "kid": "rsa"}, "rsa", {}, "wrong", "not_signed"), ({"alg": "NoNe", "kid": "rsa"}, "rsa", {}, "wrong", "not_signed"), ({"kid": "rsa"}, "rsa", {}, "wrong", "not_signed"),
    ({"alg": ["RS256"], "kid": "rsa"}, "rsa", {}, "wrong", "not_signed"),
    ({"alg": "RS256", "kid": "rsa", "nonce": "n"}, "rsa", {}, "unchecked", "graph"),
    ({"alg": "RS256", "kid": "gone"}, "rsa", {}, "wrong", "unknown_key"), ({"alg": "RS256"}, "rsa", {}, "wrong", "unknown_key"), ({"alg": "RS256", "kid": ["rsa"]}, "rsa", {}, "wrong", "unknown_key"),
    ({"alg": "RS256", "kid": "gone"}, "rsa", {"iss": "https://issuer.example/"}, "unchecked", "other_issuer"), ({"alg": "RS256", "kid": "gone"}, "rsa", {"iss": 7}, "unchecked", "other_issuer"),
    ({"alg": "RS256", "kid": "rsa"}, "rsa", {"iss": "https://issuer.example/"}, "wrong", "issuer"), ({"alg": "RS256", "kid": "rsa"}, "rsa", {"iss": "https://demo.example.evil.example/"}, "wrong", "issuer"),
    ({"alg": "RS256", "kid": "rsa"}, "rsa", {"keys": None}, "unchecked", "no_keys"), ({"alg": "RS256", "kid": "rsa"}, "rsa", {"keys": "none"}, "unchecked", "no_demo"),
    ({"alg": "RS256", "kid": "odd"}, "rsa", {}, "unchecked", "key_type"), ({"alg": "PS256", "kid": "ps"}, "rsa", {}, "unchecked", "key_type"),
    # A key that the token brings itself changes nothing.
    ({"alg": "RS256", "kid": "gone", "jwk": "own", "jku": "https://demo.example/keys"}, "rsa", {}, "wrong", "unknown_key"),
]
SIGN = """const { checkSignature, readToken } = await load("token-text");
const rsa = { name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" };
const ec = { name: "ECDSA", namedCurve: "P-256" };
const pairs = Object.fromEntries(await Promise.all(Object.entries({ rsa, other: rsa, ec, ec2: ec }).map(async ([name, kind]) => [name, await crypto.subtle.generateKey(kind, true, ["sign", "verify"])])));
const published = async (name) => { const { kty, n, e, crv, x, y } = await crypto.subtle.exportKey("jwk", pairs[name].publicKey); return { kty, n, e, crv, x, y, kid: name, issuer: "https://demo.example/{tenantid}/v2.0" }; };
const own = [await published("rsa"), await published("ec")];
own.push({ ...own[0], kid: "ps", alg: "PS256" }, { kid: "odd", kty: "AKP", issuer: own[0].issuer });
const encode = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=+$/, "");
const part = (value) => encode(new TextEncoder().encode(JSON.stringify(value)));
const results = [];
for (const [header, signer, { changed, keys = own, ...claims }] of given[0]) {
  const made = { ...header, ...(header.jwk ? { jwk: own[0] } : {}) };
  const body = { iss: "https://demo.example/t/v2.0", ...claims };
  const input = `${part(made)}.${part(body)}`;
  const { privateKey } = pairs[signer];
  const signature = await crypto.subtle.sign(privateKey.algorithm.name === "ECDSA" ? { name: "ECDSA", hash: "SHA-256" } : privateKey.algorithm.name, privateKey, new TextEncoder().encode(input));
  const token = `${changed ? `${part(made)}.${part({ ...body, roles: ["admin"] })}` : input}.${encode(new Uint8Array(signature))}`;
  const { result, reason } = await checkSignature(readToken(token), keys === "none" ? undefined : keys);
  results.push([result, reason]);
}
return results;"""


@test("a token's signature is checked as its key says, and nothing in the token changes that")
def signatures(browser):
    browser.open("/")
    made = run(browser, SIGN, [row[:3] for row in SIGNATURES])
    for (header, signer, more, *expected), result in zip(SIGNATURES, made):
        assert result == expected, f"{header} by {signer} {more}: {result}"
    # Text that is no token, from the first part to the last.
    broken = ["", "a.b.c", "eyJhbGciOiJub25lIn0", "eyJhbGciOiJub25lIn0.e30", "eyJhbGciOiJub25lIn0.W10.", "bnVsbA.e30.", "eyJhbGciOiJub25lIn0.e30.*", "eyJhbGciOiJub25lIn0.e30.a", "eyJhbGciOiJub25lIn0._w.", "eyJ.eyJ."]
    assert run(browser, "const { readToken } = await load('token-text'); return given[0].map((text) => readToken(text) === undefined);", broken) == [True] * len(broken)
    times = run(browser, "const { checkTimes } = await load('token-text'); return given[0].map((claims) => checkTimes(claims, 1000)?.reason ?? null);",
                [{"exp": 1001}, {"exp": 1000}, {"exp": 999}, {"exp": 2000, "nbf": 1001}, {"exp": 2000, "nbf": 1000}, {}, {"exp": "2000"}, {"nbf": 1}])
    assert times == ["valid", "expired", "expired", "not_yet", "valid", None, None, None], times


@test("a token of the demo tenant is verified, and nothing of it is sent, kept, logged or in the address")
def own_token(browser):
    server = browser.server.sibling("paste", COMPANION_TOKEN_DISPLAY="full")
    with browser.visiting(server):
        browser.sign_in()
        text = run(browser, """const answer = await fetch("/api/ios/token", { method: "POST", headers: { "X-Companion": "1", "Content-Type": "application/json" }, body: "{}" }); return (await answer.json()).token;""")
        assert text.count(".") == 2
        ready(browser)
        requests(browser)
        paste(browser, text)
        verdict = lambda: browser.driver.execute_script("return [...document.querySelectorAll('#found .finding')].map((e) => e.dataset.result)")
        browser.wait("the results", lambda: verdict() == ["verified", "verified"])
        assert requests(browser) == [server.origin + "/api/demo/keys"]
        assert "User.Read" in browser.one("#found").text and "adele@contoso.example" in browser.one("#found").text
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


@test("no other issuer's keys are fetched, whatever a token says about them, and a paste of another kind brings no request")
def nothing_is_fetched(browser):
    ready(browser)
    requests(browser)
    for text, said in ((FOREIGN, "another issuer"), (UNSIGNED, "not signed"), (f"{part({'alg': 'RS256', 'kid': 'a', 'nonce': 'n'})}.{part({'iss': 'https://sts.windows.net/'})}.c2ln", "Microsoft Graph"),
                       ("eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d", "encrypted")):
        paste(browser, text)
        browser.wait(said, lambda: said in found(browser)[0])
    assert set(requests(browser)) == {browser.server.origin + "/api/demo/keys"}
    for text in (KINDS[0][0], plist({"CFBundleName": "Tasks"}), address(), configuration()):
        paste(browser, text)
        assert browser.one("#found").text
    browser.settled()
    assert requests(browser) == []


NONE = []
# The request, the bundle ID of the reader, and what is found.
ADDRESSES = [
    (address(), "", NONE), (address(), BUNDLE, NONE), (address(), "com.fabrikam.other", ["redirect_bundle"]), (address(prompt="select_account"), "", NONE),
    (address(code_challenge=None), "", ["pkce"]), (address(code_challenge_method="plain"), "", ["pkce_method"]), (address(code_challenge_method=None), "", ["pkce_method"]),
    (address(code_challenge="abc"), "", ["pkce_length"]), (address(client_id="Your_Client_ID"), "", ["client_id"]), (address(client_id=None), "", ["missing"]),
    (address(client_secret="abc"), "", ["client_secret"]), (address(response_type="code id_token"), "", ["response_type"]), (address(response_type=None), "", ["missing"]),
    (address(redirect_uri=f"msauth.{BUNDLE}"), "", ["redirect_form"]), (address(redirect_uri=f"MSAUTH.{BUNDLE}://auth"), BUNDLE, NONE), (address(redirect_uri="https://contoso.example/"), "", ["redirect_web"]),
    (address(redirect_uri=f"msal{GUID}://auth"), "", ["redirect_old"]), (address(redirect_uri="x-app://back"), "", ["redirect_form"]), (address(redirect_uri=None), "", ["missing"]),
    (address(scope="User.Read"), "", ["openid", "offline_access"]), (address(scope="openid offline_access User.Read https://graph.microsoft.com/Mail.Read"), "", NONE),
    (address(scope="openid offline_access User.Read api://tasks/read"), "", ["resources"]), (address(scope=""), "", ["missing"]), (address(state=None), "", ["missing"]),
    (address(prompt="always"), "", ["prompt"]), (address(prompt="select_account", login_hint="a"), "", ["hint"]), (address(at="http://localhost/common/oauth2/v2.0/authorize"), "", ["https"]),
    (address(at="https://login.microsoftonline.com/common/oauth2/authorize"), "", ["version_1"]), (address() + "&state=b", "", ["twice"]), ("not an address", "", None), ("ftp://a/authorize", "", None),
]
DOCUMENTS = [
    (configuration(), NONE), (configuration(issuer=None), ["missing"]), (configuration(token_endpoint=7), ["missing"]), (configuration(authorization_endpoint="http://a/"), ["https"]),
    (configuration(end_session_endpoint=None), ["no_sign_out"]), (configuration(jwks_uri=None), ["no_keys"]), (configuration(issuer="https://login.microsoftonline.com/{tenantid}/v2.0"), ["template"]),
    (configuration(response_types_supported=["id_token"]), ["no_code"]), (instance(["localhost:8443", "localhost"]), NONE), (instance(["localhost"]), NONE), (instance(["localhost:8443"]), ["port"]),
    (instance("localhost"), ["missing"]), (instance(["localhost"], preferred_cache=None), ["missing"]), ('{"tenant_discovery_endpoint":"https://a/"}', ["missing"]),
    ('{"tenant_discovery_endpoint":"https://a/","metadata":[null]}', ["missing", "missing", "missing"]), ("[]", None),
]


@test("an authorization request and a discovery document are taken apart, and each mistake is named")
def documents(browser):
    ready(browser)
    made = run(browser, "const { readAuthorization } = await load('authorize-text'); return given[0].map(([text, id]) => readAuthorization(text, id)?.found.map(({ rule }) => rule) ?? null);", [row[:2] for row in ADDRESSES])
    for (text, bundle, rules), result in zip(ADDRESSES, made):
        assert result == rules, f"{text} for {bundle!r}: {result}"
    made = run(browser, "const { readDiscovery } = await load('discovery-text'); return given[0].map((text) => readDiscovery(text)?.found.map(({ rule }) => rule) ?? null);", [row[0] for row in DOCUMENTS])
    for (text, rules), result in zip(DOCUMENTS, made):
        assert result == rules, f"{text}: {result}"
    paste(browser, address(code_challenge=None, prompt="<b>always</b>"))
    assert levels(browser) == ["bad", "bad"] and "PKCE" in found(browser)[0] and "<b>always</b>" in found(browser)[1], found(browser)
    rows = browser.driver.execute_script("return [...document.querySelectorAll('#found tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))")
    assert [name for name, _, _ in rows] == ["client_id", "response_type", "redirect_uri", "scope", "state", "code_challenge_method", "prompt"] and all(meaning for _, _, meaning in rows), rows
    look(browser, "paste an authorization request")
    paste(browser, instance(["localhost:8443"]))
    assert "-50002" in found(browser)[0]
    from .languages import TEXTS
    rules = {f"paste.address.{rule}" for _, _, found_rules in ADDRESSES for rule in found_rules or []} | {f"paste.discovery.{rule}" for _, found_rules in DOCUMENTS for rule in found_rules or []}
    rules |= {f"paste.token.{row[4]}" for row in SIGNATURES}
    for tag, texts in TEXTS.items():
        assert not [rule for rule in rules if not texts.get(rule)], tag


LONG = ["eyJ", "eyJhIjoi", "a.", "https://a/authorize?", "&a=b", "{", '{"a":', "<key>", " ", "\n", "Bearer ", "Authorization:", "msauth.", "\"'", "%", "?response_type=", "&scope=a+b/c"]


@test("what recognizing a paste costs grows with its length and not with its square")
def linear(browser):
    browser.open("/")
    measure = lambda: run(browser, """const [{ kindOf }, { readAuthorization }, { readToken }, { readDiscovery }] = await Promise.all(["paste-kinds", "authorize-text", "token-text", "discovery-text"].map(load));
const all = (text) => { kindOf(text); readAuthorization(text, "a.b"); readToken(text); readDiscovery(text); };
const begin = (part) => (part.startsWith("&") ? "https://a/authorize?a" : "");
const least = (text) => Math.min(...Array.from({ length: 3 }, () => { const start = performance.now(); all(text); return performance.now() - start; }));
return given[0].map((part) => [0.25, 1].map((share) => least(begin(part) + part.repeat(1_000_000 * share / part.length))));""", LONG)
    expect_linear(LONG, measure)


@test("the paste box costs little until it is used, works without a mouse, fits a phone, and axe finds nothing")
def by_keyboard(browser):
    browser.cdp("Network.enable")
    browser.cdp("Network.setCacheDisabled", cacheDisabled=True)
    browser.open("/")
    browser.settled()
    browser.expect_light("/")
    assert not browser.driver.execute_script("return performance.getEntriesByType('resource').some((e) => e.name.includes('/paste.') && e.name.endsWith('.js'))"), "what reads a paste is loaded at once"
    browser.cdp("Network.setCacheDisabled", cacheDisabled=False)
    browser.one("#paste").send_keys("AADSTS50011")
    browser.wait("the explanation", lambda: "AADSTS50011" in browser.one("#found").text)
    browser.tab_to("#paste-kind")
    browser.keys("\ue015")
    browser.wait("another reading", lambda: browser.one("#paste-kind").get_attribute("value") == "file")
    assert browser.driver.switch_to.active_element.get_attribute("id") == "paste-kind", "the focus is lost"
    browser.tab_to("#paste-taken button")
    browser.keys("\ue007")
    assert browser.driver.switch_to.active_element.get_attribute("id") == "paste"
    for name, text in (("error", KINDS[0][0]), ("token", FOREIGN), ("file", plist({"CFBundleURLTypes": [{"CFBundleURLSchemes": [f"msauth.{BUNDLE}"]}]})), ("address", address(prompt="always")), ("discovery", configuration())):
        paste(browser, text)
        browser.wait("what was found", lambda: browser.all("#found p"))
        browser.expect_accessible(f"paste {name}")
        look(browser, f"paste {name} phone", 390)


@test("the paste box speaks each language, without a key in place of a text")
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

"""The pages about the reader's own app: what they give, what they find in a pasted file or error, and that nothing pasted goes out."""

import json
import plistlib
import tempfile
from pathlib import Path

from .registry import registry

tests, test = registry("native")

BUNDLE, CLIENT = "com.contoso.tasks", "00001111-aaaa-2222-bbbb-3333cccc4444"
PAGES = ("/native", "/native/lint", "/native/explain", "/native/map")
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0">\n'


def fill(browser, bundle=BUNDLE, client=CLIENT, platform="ios"):
    for name, value in (("bundle_id", bundle), ("client_id", client)):
        field = browser.one(f"#{name}")
        field.clear()
        field.send_keys(value)
    browser.one(f"input[value={platform}]").click()


def paste(browser, text):
    """As the browser does it: the whole text at once."""
    browser.driver.execute_script(
        "const e = document.getElementById('paste'); e.focus(); e.value = arguments[0]; e.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertFromPaste' }))", text)


def plist(value):
    return plistlib.dumps(value).decode()


def requests(browser):
    return [message["params"]["request"]["url"] for entry in browser.driver.get_log("performance")
            if (message := json.loads(entry["message"])["message"])["method"] == "Network.requestWillBeSent"]


def blocks(browser):
    """The text of each block by its title."""
    return browser.driver.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('.block-head')].map((e) => [e.querySelector('h2, h3').firstChild.textContent, e.parentElement.querySelector('pre').textContent]))")


def buttons(browser):
    """The buttons of the blocks that have one of the ids in them."""
    return browser.all("#files .block-head button, #code .block-head button")


def findings(browser):
    return [each.text for each in browser.all("#findings .finding p")]


@test("what an app needs is made from the two ids, for iOS and macOS, and the property lists are property lists")
def everything(browser):
    browser.open("/native")
    assert all(not each.is_enabled() for each in buttons(browser)), "there is something to copy before the ids are known"
    fill(browser)
    made = blocks(browser)
    assert made["Redirect URI"] == f"msauth.{BUNDLE}://auth", made
    info = plistlib.loads(made["URL schemes"].encode())
    assert info == {"CFBundleURLTypes": [{"CFBundleURLSchemes": [f"msauth.{BUNDLE}"]}], "LSApplicationQueriesSchemes": ["msauthv2", "msauthv3"]}, info
    assert plistlib.loads(made["Entitlements"].encode()) == {"keychain-access-groups": ["$(AppIdentifierPrefix)com.microsoft.adalcache"]}
    assert f'let kClientID = "{CLIENT}"' in made["Constants"] and f"msauth.{BUNDLE}://auth" in made["Constants"]
    assert BUNDLE in browser.one("#register .steps").text and CLIENT in browser.one("#register .steps").text
    browser.one("input[value=macos]").click()
    mac = plistlib.loads(blocks(browser)["Entitlements"].encode())
    assert mac == {"com.apple.security.app-sandbox": True, "com.apple.security.network.client": True,
                   "keychain-access-groups": ["$(AppIdentifierPrefix)com.microsoft.identity.universalstorage"]}, mac
    assert "URL schemes" not in blocks(browser), "a Mac needs none"
    browser.size(1000, 2600)
    browser.shoot("native whole")
    browser.size(1280, 800)


@test("a value that cannot be right is called by its mistake while it is typed, and nothing can be copied meanwhile")
def mistakes(browser):
    browser.open("/native")
    fill(browser)
    for name, value, said in (
        ("bundle_id", f"msauth.{BUNDLE}://auth", "This is the redirect URI"), ("bundle_id", "com.contoso my app", "no spaces"),
        ("bundle_id", "com.contoso.my_app", "no underscores"), ("bundle_id", "Your_Bundle_Id", "placeholder"),
        ("client_id", "{" + CLIENT + "}", "braces"), ("client_id", "Your_Application_Id_Here", "placeholder"),
    ):
        fill(browser, **{"bundle" if name == "bundle_id" else "client": value})
        assert said in browser.one(f"#{name}-mistake").text, browser.one(f"#{name}-mistake").text
        assert browser.one(f"#{name}").get_attribute("aria-invalid") == "true"
        assert not any(each.is_enabled() for each in buttons(browser)), value
    fill(browser)
    assert not [each for each in browser.all(".bad") if each.text]
    assert all(each.is_enabled() for each in buttons(browser))


@test("a file is downloaded as it is shown, and made in the page")
def download(browser):
    with tempfile.TemporaryDirectory() as folder:
        browser.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
        browser.open("/native")
        fill(browser)
        browser.settled()
        requests(browser)
        browser.one("button[aria-label='Download: Entitlements']").click()
        file = Path(folder) / "App.entitlements"
        browser.wait("the file", file.exists)
        assert file.read_text() == blocks(browser)["Entitlements"] + "\n"
        assert [url for url in requests(browser) if not url.startswith("blob:")] == []
        browser.cdp("Browser.setDownloadBehavior", behavior="default")


@test("a block is copied as it is shown")
def copied(browser):
    browser.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], origin=browser.server.origin)
    browser.open("/native")
    fill(browser)
    browser.one("button[aria-label='Copy: Redirect URI']").click()
    text = browser.wait("the clipboard", lambda: browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])"))
    assert text == f"msauth.{BUNDLE}://auth", text


GOOD_INFO = {"CFBundleName": "Tasks", "CFBundleURLTypes": [{"CFBundleURLSchemes": ["tasks", "msauth.$(PRODUCT_BUNDLE_IDENTIFIER)"]}], "LSApplicationQueriesSchemes": ["msauthv3", "msauthv2", "mailto"]}
GROUP = "$(AppIdentifierPrefix)com.microsoft.adalcache"


def info(**more):
    return plist({**GOOD_INFO, **more})


def schemes(*names):
    return info(CFBundleURLTypes=[{"CFBundleURLSchemes": list(names)}])


def plain(**more):
    """The good Info.plist with what differs, as the corrected text has it."""
    return {**GOOD_INFO, **more}


def types(*names):
    return plain(CFBundleURLTypes=[{"CFBundleURLSchemes": list(names)}])


SCHEME = f"msauth.{BUNDLE}"
QUERIES = ["msauthv2", "msauthv3"]
GROUPS = "keychain-access-groups"
MAC_GROUP = "$(AppIdentifierPrefix)com.microsoft.identity.universalstorage"
SANDBOX, CLIENT_KEY = "com.apple.security.app-sandbox", "com.apple.security.network.client"
BLANKS = f"spaces or line breaks in or around {SCHEME}"

# What is pasted, the platform, what is said, and the whole of the corrected file; None where there is nothing to correct.
ROWS = [
    (info(), "ios", ["Info.plist has everything"], None),
    (plist({"CFBundleName": "Tasks"}), "ios", ["CFBundleURLTypes is missing", "LSApplicationQueriesSchemes is missing"],
     {"CFBundleName": "Tasks", "CFBundleURLTypes": [{"CFBundleURLSchemes": [SCHEME]}], "LSApplicationQueriesSchemes": QUERIES}),
    (info(LSApplicationQueriesSchemes=["msauthv2"]), "ios", ["lacks msauthv3"], plain(LSApplicationQueriesSchemes=QUERIES)),
    (info(LSApplicationQueriesSchemes=["msauthv2://", "msauthv3"]), "ios", ["msauthv2:// should be msauthv2"], plain(LSApplicationQueriesSchemes=QUERIES)),
    (info(LSApplicationQueriesSchemes=["MSAuthV2", "msauthv3"]), "ios", ["MSAuthV2 should be msauthv2"], plain(LSApplicationQueriesSchemes=QUERIES)),
    (info(LSApplicationQueriesSchemes=["msauthv2 ", "\nmsauthv3"]), "ios", ["around msauthv2", "around msauthv3"], plain(LSApplicationQueriesSchemes=QUERIES)),
    (info(LSApplicationQueriesSchemes=["msauthv2://", *QUERIES]), "ios", ["has everything"], None),
    (info(LSApplicationQueriesSchemes="msauthv2"), "ios", ["must be <array>, not <string>"], plain(LSApplicationQueriesSchemes=QUERIES)),
    (schemes(f"{SCHEME}://auth"), "ios", ["is a redirect URI"], types(SCHEME)),
    (schemes("msauth.com.fabrikam.other"), "ios", ["scheme of another bundle ID"], types(SCHEME)),
    (schemes("msauth.Com.Contoso.Tasks"), "ios", ["capital letters only"], types(SCHEME)),
    (schemes("msauth.[Your_Bundle_Id]"), "ios", ["placeholder"], types(SCHEME)),
    # What is the app's own stays, however much it looks like MSAL's.
    (schemes(BUNDLE, SCHEME), "ios", ["has everything"], None),
    (schemes(BUNDLE), "ios", [f"{BUNDLE} lacks the prefix “msauth.”"], types(BUNDLE, SCHEME)),
    (schemes(f"{BUNDLE}.pay", SCHEME), "ios", ["has everything"], None),
    (schemes(f"{BUNDLE}.pay"), "ios", [f"CFBundleURLTypes lacks {SCHEME}"],
     plain(CFBundleURLTypes=[{"CFBundleURLSchemes": [f"{BUNDLE}.pay"]}, {"CFBundleURLSchemes": [SCHEME]}])),
    (schemes(f"{SCHEME}Beta", SCHEME), "ios", ["has everything"], None),
    (schemes("msauth.com.fabrikam.other", SCHEME, f"{SCHEME} "), "ios", ["has everything"], None),
    (schemes("msauthenticator.contoso", SCHEME), "ios", ["has everything"], None),
    # Of two that are almost right, the nearer one is meant.
    (schemes(f"{SCHEME}Beta", "msauth.com.contoso.Tasks"), "ios", ["capital letters only"], types(f"{SCHEME}Beta", SCHEME)),
    # MSAL does not take blanks away.
    (schemes(f"{SCHEME} "), "ios", [BLANKS], types(SCHEME)),
    (schemes(f"\n\t{SCHEME}\n"), "ios", [BLANKS], types(SCHEME)),
    (schemes("msauth. com.contoso.tasks"), "ios", [BLANKS], types(SCHEME)),
    (schemes("msauth.$(PRODUCT_BUNDLE_IDENTIFIER) "), "ios", [BLANKS], types(SCHEME)),
    (schemes("msauth.${PRODUCT_BUNDLE_IDENTIFIER}"), "ios", ["has everything"], None),
    (plist({**GOOD_INFO, "CFBundleURLTypes": [{"CFBundleURLSchemes ": [SCHEME]}]}), "ios", ["around CFBundleURLSchemes"], types(SCHEME)),
    (plist({"LSApplicationQueriesSchemes ": QUERIES, "CFBundleURLTypes": [{"CFBundleURLSchemes": [SCHEME]}]}), "ios", ["around LSApplicationQueriesSchemes"],
     {"LSApplicationQueriesSchemes": QUERIES, "CFBundleURLTypes": [{"CFBundleURLSchemes": [SCHEME]}]}),
    (info(CFBundleIdentifier=f"{BUNDLE} "), "ios", [f"around {BUNDLE}"], plain(CFBundleIdentifier=BUNDLE)),
    (schemes(SCHEME, "msauthv2"), "ios", ["Authenticator's scheme"], types(SCHEME)),
    (schemes(SCHEME, f"msal{CLIENT}"), "ios", ["older MSAL"], None),
    (schemes(SCHEME, "msal99999999-aaaa-2222-bbbb-3333cccc4444"), "ios", ["another client ID"], None),
    (info(CFBundleIdentifier="com.contoso.other"), "ios", ["but the form says com.contoso.tasks"], None),
    (info(**{GROUPS: [GROUP]}), "ios", ["does not belong in Info.plist"], plain()),
    # A Mac needs no scheme, neither its own nor the broker's.
    (plist({"CFBundleName": "Tasks"}), "macos", ["Info.plist has everything"], None),
    (plist({"CFBundleURLTypes": [{"CFBundleURLSchemes": ["msauth.com.fabrikam.other", "msauthv2"]}]}), "macos", ["Info.plist has everything"], None),
    (info(**{GROUPS: [MAC_GROUP]}), "macos", ["does not belong in Info.plist"], plain()),
    (plist({}), "ios", ["keychain-access-groups is missing"], {GROUPS: [GROUP]}),
    (plist({GROUPS: ["com.microsoft.adalcache"]}), "ios", ["lacks the prefix"], {GROUPS: [GROUP]}),
    (plist({GROUPS: [GROUP + " "]}), "ios", [f"around {GROUP}"], {GROUPS: [GROUP]}),
    (plist({GROUPS: [MAC_GROUP]}), "ios", ["group of the other platform", "keychain-access-groups lacks"], {GROUPS: [MAC_GROUP, GROUP]}),
    (plist({GROUPS: [GROUP, "$(AppIdentifierPrefix)com.contoso.tasks"]}), "ios", ["App.entitlements has everything"], None),
    (plist({GROUPS: ["ABCDE12345.com.microsoft.adalcache"]}), "ios", ["App.entitlements has everything"], None),
    (plist({SANDBOX: True, CLIENT_KEY: True, GROUPS: [MAC_GROUP]}), "macos", ["App.entitlements has everything"], None),
    (plist({SANDBOX: True, "com.apple.security.network.server": True}), "macos", [f"{CLIENT_KEY} is missing", "keychain-access-groups is missing"],
     {SANDBOX: True, "com.apple.security.network.server": True, CLIENT_KEY: True, GROUPS: [MAC_GROUP]}),
    (plist({SANDBOX: True, CLIENT_KEY: False, GROUPS: [MAC_GROUP]}), "macos", ["must be <true/>, not <false/>"], {SANDBOX: True, CLIENT_KEY: True, GROUPS: [MAC_GROUP]}),
    (plist({SANDBOX: "YES", GROUPS: [MAC_GROUP]}), "macos", ["must be <true/>, not <string>", f"{CLIENT_KEY} is missing"], {SANDBOX: True, CLIENT_KEY: True, GROUPS: [MAC_GROUP]}),
    # Whether there is a sandbox is the developer's choice; without one nothing has to be allowed.
    (plist({GROUPS: [MAC_GROUP]}), "macos", ["App Sandbox is off"], None),
    (plist({SANDBOX: False, GROUPS: ["ABCDE12345.com.microsoft.identity.universalstorage"]}), "macos", ["App Sandbox is off"], None),
    (plist({SANDBOX: False}), "macos", ["App Sandbox is off", "keychain-access-groups is missing"], {SANDBOX: False, GROUPS: [MAC_GROUP]}),
    (HEAD + "<dict><key>CFBundleName</key><string>A &amp; B</string><!-- keep me --><key>CFBundleName</key><string>C</string></dict></plist>", "macos", ["appears twice"], {"CFBundleName": "A & B"}),
    ("<key>LSApplicationQueriesSchemes</key><array><string>msauthv2</string></array>", "ios", ["CFBundleURLTypes is missing", "lacks msauthv3"],
     {"LSApplicationQueriesSchemes": QUERIES, "CFBundleURLTypes": [{"CFBundleURLSchemes": [SCHEME]}]}),
    ("bplist00\x01", "ios", ["binary property list"], None),
    ('{ "CFBundleName" = Tasks; }', "ios", ["This is not XML"], None),
    (HEAD + "<dict><key>a</key>", "ios", ["not complete or has a fault"], None),
    (HEAD + "<dict><key>a</key></dict></plist>", "ios", ["a key without a value"], None),
    (HEAD + "<array/></plist>", "ios", ["A property list is expected"], None),
    ("<html><body/></html>", "ios", ["A property list is expected"], None),
    (HEAD + "<dict><key>a</key>" + "<array>" * 20_000 + "</array>" * 20_000 + "</dict></plist>", "ios", ["more than 100 levels"], None),
]


@test("a pasted file's mistakes are named one by one, and the corrected file has none of them and keeps all else")
def lint(browser):
    browser.open("/native/lint")
    fill(browser)
    for text, platform, said, wanted in ROWS:
        if not browser.one(f"input[value={platform}]").is_selected():
            browser.one(f"input[value={platform}]").click()
        paste(browser, text)
        found = findings(browser)
        shown = text[:2000]
        assert len(found) == len(said) and all(part in sentence for part, sentence in zip(said, found)), f"{shown}\n{found}"
        corrected = list(blocks(browser).values())
        assert bool(corrected) == bool(wanted), f"{shown}: {corrected}"
        if not wanted:
            continue
        assert plistlib.loads(corrected[0].encode()) == wanted, corrected[0]
        assert ("keep me" in text) == ("keep me" in corrected[0]), corrected[0]
        paste(browser, corrected[0])
        assert not browser.all("#findings .finding.bad"), f"{corrected[0]}\n{findings(browser)}"
    browser.one("input[value=ios]").click()
    paste(browser, ROWS[1][0])
    browser.size(1000, 2000)
    browser.shoot("lint with findings")
    browser.size(1280, 800)


# Pastes that make an expression begin at each of its places, as parts that are repeated.
LONG = [
    ("findings", "12:34:56 "), ("findings", "timestamp" + " " * 40), ("findings", "timestamp="), ("findings", "Domain=a.b "), ("findings", "(a.b "), ("findings", "a_b1"),
    ("findings", "MSALErrorDescriptionKey="), ("findings", "MSALErrorDescriptionKey=" + "a" * 90), ("findings", "AADSTS1234: "), ("findings", "status: -1"), ("findings", "msauth.a-"),
    ("findings", "msauth.a."), ("findings", "Domain"), ("findings", "(Domain"), ("findings", "error: -1, error domain "), ("findings", "+%"), ("findings", "Correlation ID:"), ("findings", "eyJ"),
    ("findings", ' error"'), ("findings", "error_codes ["), ("findings", "2026-01-05 10:11:12"), ("findings", "-42001 "), ("findings", "AADSTS50011 "),
    ("lint", "<key>a</key><true/>"), ("lint", "<key>com.apple.a</key><true/>"), ("lint", "<key>a</key><!-- "), ("lint", "<key>a</key><string>&amp;&</string>"), ("lint", "<key>a</key><array/><b "),
]
# One blank text, which no part makes when it is repeated.
BLANK = "timestamp" + " " * 1_000_000


@test("what a paste costs grows with its length and not with its square")
def linear(browser):
    browser.open("/native/lint")
    browser.settled()
    # The least of several runs, for what 1 and 4 parts of the length take: four times as long, sixteen for a square.
    script = """const [rows, blank, head, values, done] = arguments;
Promise.all([import("/assets/error-text.js"), import("/assets/lint-rules.js")]).then(([{ findings }, { lint }]) => {
  const run = { findings, lint: (text) => { try { lint(head + "<dict>" + text + "</dict></plist>", { platform: "ios", values }); } catch (fault) { if (!fault.kind) throw fault; } } };
  const least = (kind, text) => Math.min(...Array.from({ length: 3 }, () => { const start = performance.now(); run[kind](text); return performance.now() - start; }));
  const many = rows.map(([kind, part]) => [kind, (share) => part.repeat((kind === "lint" ? 180_000 : 1_000_000) * share / part.length)]);
  done([...many, ["findings", (share) => blank.slice(0, blank.length * share)]].map(([kind, text]) => [least(kind, text(1 / 4)), least(kind, text(1))]));
}).catch((error) => done(String(error)));"""
    expect_linear([*LONG, ("findings", "blanks")], lambda: browser.driver.execute_async_script(script, LONG, BLANK, HEAD, {"bundle_id": BUNDLE, "client_id": CLIENT}))


def expect_linear(rows, measure):
    """`measure` returns for each row the milliseconds of a quarter and of the whole. Other processes only add to them, so the least of all rounds counts."""
    times = measure()
    for _ in range(5):
        # What takes less than 5 ms is as short as the clock can tell.
        slow = {str(row): pair for row, pair in zip(rows, times) if pair[1] >= 9 * max(pair[0], 5)}
        if not slow:
            return
        times = [[min(pair) for pair in zip(*rounds)] for rounds in zip(times, measure())]
    raise AssertionError(f"milliseconds for a quarter and for the whole: {slow}")


@test("no request follows a paste into the check, nor into the explanation")
def nothing_is_sent(browser):
    for path, text in (("/native/lint", plist({"CFBundleName": "Tasks"})), ("/native/explain", "Error Domain=MSALErrorDomain Code=-50000 AADSTS50011 MSALInternalErrorCodeKey=-42003")):
        browser.open(path)
        browser.settled()
        if path.endswith("lint"):
            fill(browser)
        requests(browser)
        paste(browser, text)
        browser.wait("what was found", lambda: browser.all("#findings .finding, #found .card"))
        browser.settled()
        assert requests(browser) == [], path


# What is pasted, the facts found, and the titles of the explanations in their order.
ERRORS = [
    ('Error Domain=MSALErrorDomain Code=-50002 "(null)" UserInfo={MSALOAuthErrorKey=invalid_grant, MSALOAuthSubErrorKey=consent_required, MSALCorrelationIDKey=11112222-bbbb-3333-cccc-4444dddd5555, '
     'MSALErrorDescriptionKey=AADSTS65001: The user or administrator has not consented. Trace ID: 99998888-7777-6666-5555-444433332222 Correlation ID: 11112222-bbbb-3333-cccc-4444dddd5555 Timestamp: 2026-01-05 10:11:12Z}',
     ["MSALErrorDomain", "-50002 MSALErrorInteractionRequired", "invalid_grant", "consent_required", "AADSTS65001", "11112222-bbbb-3333-cccc-4444dddd5555", "99998888-7777-6666-5555-444433332222", "2026-01-05 10:11:12Z"],
     ["AADSTS65001", "-50002 MSALErrorInteractionRequired", "invalid_grant"]),
    ("Optional(Error Domain=MSALErrorDomain Code=-50000 UserInfo={MSALInternalErrorCodeKey=-42001})", ["MSALErrorDomain", "-50000 MSALErrorInternal", "-42001 MSALInternalErrorRedirectSchemeNotRegistered"],
     ["-42001 MSALInternalErrorRedirectSchemeNotRegistered"]),
    ("The operation couldn’t be completed. (MSALErrorDomain error -50005.)", ["MSALErrorDomain", "-50005 MSALErrorUserCanceled"], ["-50005 MSALErrorUserCanceled"]),
    ("TID=1234 MSAL 2.2.0 iOS 18.1 [2026-01-05 10:11:12 - 11112222-bbbb-3333-cccc-4444dddd5555] Error -42008", ["MSALErrorDomain", "-42008 MSALInternalErrorUnexpected", "11112222-bbbb-3333-cccc-4444dddd5555", "2026-01-05 10:11:12"],
     ["-42008 MSALInternalErrorUnexpected"]),
    ("Sorry, but we’re having trouble signing you in.\nAADSTS50011: The redirect URI does not match.\nRequest Id: 99998888-7777-6666-5555-444433332222\nCorrelation Id: 11112222-bbbb-3333-cccc-4444dddd5555\nTimestamp: 2026-01-05T10:11:12Z",
     ["AADSTS50011", "11112222-bbbb-3333-cccc-4444dddd5555", "99998888-7777-6666-5555-444433332222", "2026-01-05T10:11:12Z"], ["AADSTS50011"]),
    ('{"error":"invalid_client","error_description":"…","error_codes":[7000218],"correlation_id":"11112222-bbbb-3333-cccc-4444dddd5555"}', ["invalid_client", "AADSTS7000218", "11112222-bbbb-3333-cccc-4444dddd5555"], ["AADSTS7000218", "invalid_client"]),
    ("53003", ["AADSTS53003"], ["AADSTS53003"]),
    ("AADSTS1234567", ["AADSTS1234567"], ["AADSTS1234567"]),
    ("AADB2C90118", ["AADB2C90118"], ["AADB2C90118"]),
    ("−50003", ["MSALErrorDomain", "-50003 MSALErrorServerDeclinedScopes"], ["-50003 MSALErrorServerDeclinedScopes"]),
    ('Error Domain=NSURLErrorDomain Code=-1009 "offline"', ["NSURLErrorDomain", "-1009"], ["NSURLErrorDomain -1009 notConnectedToInternet"]),
    # The last of these is another kind of error than the first, so both are explained.
    ("Error Domain=NSURLErrorDomain Code=-1202 Error Domain=NSURLErrorDomain Code=-1200 Error Domain=NSURLErrorDomain Code=-1205",
     ["NSURLErrorDomain", "-1202"], ["NSURLErrorDomain -1202 serverCertificateUntrusted", "NSURLErrorDomain -1205 clientCertificateRejected"]),
    ("Error Domain=NSOSStatusErrorDomain Code=-34018", ["NSOSStatusErrorDomain", "-34018"], ["NSOSStatusErrorDomain -34018 errSecMissingEntitlement"]),
    ("The identity provider does not accept this application\nCode\nprovider_rejected_client", [], ["provider_rejected_client"]),
    # A number that no table has is said to be unknown, beside what the error says itself.
    ('Error Domain=MSALErrorDomain Code=-42999 UserInfo={MSALErrorDescriptionKey=Something new., MSALHTTPResponseCodeKey=418}', ["MSALErrorDomain", "-42999", "-42999", "418"], ["-42999"]),
    ("Error Domain=com.contoso.errors Code=7", ["com.contoso.errors", "7"], ["com.contoso.errors 7"]),
    ("-25308", ["OSStatus", "-25308"], ["OSStatus -25308 errSecInteractionNotAllowed"]),
    ("hello", [], None),
]
THREADS = json.loads((Path(__file__).parent.parent / "data" / "threads.json").read_text())


@test("an error's parts are found in what people paste, and each is explained with who can fix it")
def explain(browser):
    browser.open("/native/explain")
    browser.settled()
    for text, facts, titles in ERRORS:
        paste(browser, text)
        found = browser.driver.execute_script("return [...document.querySelectorAll('#found dd')].map((e) => e.textContent)")
        assert found == facts, f"{text}\n{found}"
        cards = browser.driver.execute_script("return [...document.querySelectorAll('#found h2.mono')].map((e) => [e.textContent, e.parentElement.querySelectorAll('p').length])")
        assert [title for title, _ in cards] == (titles or []), f"{text}\n{cards}"
        assert all(paragraphs >= 2 for _, paragraphs in cards), f"{text}\n{cards}"
        if titles is None:
            assert "No error code" in browser.one("#found").text
    paste(browser, ERRORS[5][0])
    browser.size(1000, 1400)
    browser.shoot("explain an error")
    browser.size(1280, 800)


@test("what people pasted into issues is explained by its cause, or has none that is known")
def threads(browser):
    browser.open("/native/explain")
    browser.settled()
    script = """const [texts, done] = arguments;
import("/assets/error-text.js").then(({ findings }) => done(texts.map((text) => {
  const { numbers, errors, bundleID, descriptions } = findings(text);
  return { found: [...numbers, ...errors.map(({ about }) => about)], bundle: bundleID ?? null, descriptions };
})));"""
    rows = [row for row in THREADS if row["text"] is not None]
    assert sum("twelve" in row["of"] for row in THREADS) == 12 and sum("twenty-two" in row["of"] for row in THREADS) == 22
    assert all(row.get("part") for row in THREADS if row["text"] is None), "a text that is not known says so"
    for row, made in zip(rows, browser.driver.execute_async_script(script, [row["text"] for row in rows])):
        assert made["found"] == row["expect"], f"{row['thread']}: {made}"
        assert made["bundle"] == row.get("bundle_id", made["bundle"]), f"{row['thread']}: {made}"
        if "DescriptionKey=" in row["text"]:
            assert made["descriptions"], row["thread"]


@test("the error's own description comes first, and the file check opens with the bundle ID of the error")
def description(browser):
    row = next(each for each in THREADS if each["thread"].endswith("#1431"))
    browser.open("/native/explain")
    browser.settled()
    paste(browser, row["text"])
    titles = [each.text for each in browser.all("#found h2")]
    assert titles[0] == "What the error says", titles
    assert browser.one("#found .says").text.startswith('The required app scheme "msauth.com.arby.MSAL-SwiftUI" is not registered')
    browser.press("Check the file")
    browser.wait("the file check", lambda: "/native/lint#" in browser.driver.current_url)
    assert "?" not in browser.driver.current_url
    browser.wait("the bundle ID", lambda: browser.one("#bundle_id").get_attribute("value") == "com.arby.MSAL-SwiftUI")
    browser.driver.back()
    browser.settled()
    paste(browser, "TID=1 MSAL 2.2.0 iOS 18.1 [2026-01-05 10:11:12] Creating Error with description: Something that nobody has seen.")
    said = [each.text for each in browser.all("#found .card")]
    assert "Something that nobody has seen." in said[0] and said[1].startswith("This text names no cause that is known here."), said
    # What an address names is no more than a text.
    browser.open("/native/lint#bundle_id=%3Cb%3E%22&bundle_id=x")
    browser.driver.refresh()
    browser.wait("the text", lambda: browser.one("#bundle_id").get_attribute("value") == '<b>"')


@test("a user flow's number is explained to the developer of a native app, without this product's own remedies")
def user_flow_numbers(browser):
    browser.open("/native/explain")
    browser.settled()
    for number, said in (("AADB2C90118", "start the reset"), ("AADB2C90091", "Sign in again"), ("AADB2C90077", "acquireToken(with:)"), ("AADB2C90006", "iOS / macOS"), ("AADB2C90205", "API permissions"),
                         ("AADB2C90273", "Apple or Google"), ("AADB2C99999", "not in our table")):
        paste(browser, number)
        text = browser.one("#found").text
        assert said in text and "companion" not in text.lower() and "next page" not in text, text


@test("every code of MSAL, and every one that stands for a problem of ours, has a cause and a remedy in every language")
def every_code(browser):
    from .languages import TEXTS
    browser.open("/native/explain")
    browser.settled()
    script = """const [codes, done] = arguments;
Promise.all([import("/assets/msal-errors.js"), import("/assets/msid-errors.js")]).then(([{ msalError, nativeError }, { msidError }]) => {
  const ours = ["interaction_required", "cancelled", "provider_rejected_client", "state_mismatch", "api_unavailable"].map((code) => [code, nativeError(code) ?? null]);
  const numbers = [...Array(600_000).keys()].map((number) => -number);
  done([codes.map((code) => msalError(code) ?? msidError(code) ?? null), numbers.filter((code) => msalError(code) || msidError(code)), ours]);
});"""
    rows = [line.split(",") for line in (Path(__file__).parent.parent / "data" / "msal-error-codes.csv").read_text().split()[1:]]
    names = {}
    for code, name in rows:
        names.setdefault(int(code), []).append(name)
    codes, numbers, ours = browser.driver.execute_async_script(script, list(names))
    assert [each and each["name"].split(" / ") for each in codes] == list(names.values()), codes
    assert sorted(numbers) == sorted(names), "the tables have codes that MSAL does not have"
    for tag, texts in TEXTS.items():
        lacking = [each for each in codes if not (texts.get(f"explain.cause.{each['about']}") and texts.get(f"explain.remedy.{each['about']}"))]
        assert not lacking, f"{tag}: {lacking}"
    assert dict(ours)["interaction_required"]["code"] == -50002 and dict(ours)["cancelled"]["code"] == -50005
    assert dict(ours)["state_mismatch"] == {"domain": "MSALErrorDomain", "code": -50000, "name": "MSALErrorInternal", "internal": {"code": -42501, "name": "MSALInternalErrorInvalidState"}}
    assert dict(ours)["api_unavailable"] is None


@test("the pages lead to each other, axe finds nothing, the text fits a phone, and the page is light")
def looks(browser):
    browser.cdp("Network.enable")
    browser.cdp("Network.setCacheDisabled", cacheDisabled=True)
    for path in PAGES:
        browser.open(path)
        browser.settled()
        browser.expect_light(path)
    browser.cdp("Network.setCacheDisabled", cacheDisabled=False)
    browser.open("/")
    browser.press("Set up your own app")
    browser.expect_page("/native")
    for path, name in zip(PAGES, ("Set up", "Check a file", "Explain an error", "Comparison")):
        browser.press(name)
        browser.expect_page(path)
        browser.settled()
        if path in ("/native", "/native/lint"):
            fill(browser)
        if path == "/native/lint":
            paste(browser, ROWS[1][0])
        if path == "/native/explain":
            paste(browser, ERRORS[0][0])
        browser.expect_accessible(f"native {path}")
        browser.size(390, 844, 2)
        browser.colours("dark")
        browser.shoot(f"native {path} phone dark")
        browser.colours("light")
        browser.size(1280, 800)
        current = browser.all(".pages [aria-current]")
        assert [each.text for each in current] == [name]


@test("on a phone the pages have no note of the demo, a radio button is round and small, and the four pages stand in even places")
def on_a_phone(browser):
    for width in (320, 390):
        browser.size(width, 844)
        for path in PAGES:
            browser.open(path)
            assert not browser.all(".demo-note"), f"{path} has the demo's note, which is of no use there"
            assert browser.one(".topbar").rect["height"] <= 48, f"{path} at {width}"
            links = [each.rect for each in browser.all(".pages a")]
            assert len({link["width"] for link in links}) == 1 and len({link["y"] for link in links}) == 2 and all(link["height"] >= 44 for link in links), f"{path} at {width}: {links}"
            for radio in browser.all("input[type=radio]"):
                assert (radio.rect["width"], radio.rect["height"]) == (20, 20), f"{path}: {radio.rect}"
                assert radio.find_element("xpath", "..").rect["height"] >= 44, "the label is too small for a finger"
            browser.shoot(f"native {path} at {width}")
    browser.size(1280, 800)


@test("without a mouse an app is set up: the fields, the platform, and the copy button")
def keyboard(browser):
    browser.open("/native")
    browser.settled()
    browser.tab_to("input[value=ios]")
    browser.keys("\ue015")
    assert browser.one("input[value=macos]").is_selected()
    browser.tab_to("#bundle_id")
    browser.keys(BUNDLE)
    browser.tab_to("#client_id")
    browser.keys(CLIENT)
    browser.driver.execute_script("document.querySelector('#files input').focus()")
    browser.tab_to("button[aria-label='Copy: Redirect URI']")
    browser.keys("\ue007")
    browser.wait("the copy", lambda: browser.one("button[aria-label='Copy: Redirect URI']").text in ("Copied", "Not copied"))


@test("each page is there in each language, without a key in place of a text")
def languages(browser):
    from .languages import TAGS, TEXTS, ask_for, expect_language
    for tag in TAGS:
        ask_for(browser, tag)
        try:
            for path, key in zip(PAGES, ("native", "lint", "explain", "map")):
                browser.open(path)
                assert browser.one("h1").text == TEXTS[tag][f"native_page.{key}_title"]
                browser.settled()
                if path == "/native":
                    fill(browser)
                if path == "/native/explain":
                    paste(browser, ERRORS[0][0])
                expect_language(browser, tag)
                browser.expect_accessible(f"native {tag} {path}")
        finally:
            ask_for(browser, None)

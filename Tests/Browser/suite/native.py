"""The pages about the reader's own app: what they give, what they find in a pasted file or error, and that nothing pasted goes out."""

import json
import plistlib
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from selenium.webdriver.common.keys import Keys
from tally import ROOT

from .registry import registry

tests, test = registry("native", time="Each page in each language and at two widths, files row by row, flows step by step. lint.test.js, setup.test.js, NativePlayTests and LanguageTests decide.")

BUNDLE, CLIENT = "com.contoso.tasks", "00001111-aaaa-2222-bbbb-3333cccc4444"
PAGES = ("/native", "/native/map", "/native/play", "/paste")
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0">\n'


def fill(browser, bundle=BUNDLE, client=CLIENT, platform="ios"):
    for name, value in (("bundle_id", bundle), ("client_id", client)):
        field = browser.one(f"#{name}")
        field.clear()
        field.send_keys(value)
    browser.one(f"input[value={platform}]").click()


def unfold(browser):
    """The steps by hand, which the guide has folded below the project."""
    if not browser.one("#by-hand").get_attribute("open"):
        browser.one("#by-hand > summary").click()


def paste(browser, text):
    """As the browser does it: the whole text at once."""
    browser.driver.execute_script(
        "const e = document.getElementById('paste'); e.focus(); e.value = arguments[0]; e.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertFromPaste' }))", text)


def begin(browser):
    """The box's own page; what reads a paste is there."""
    browser.open("/paste")
    browser.one("#paste").click()
    browser.wait("the box is ready", lambda: browser.one("#paste").get_attribute("data-ready") == "true")
    browser.settled()


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
    return [each.text for each in browser.all("#found .finding p")]


@test("what an app needs is made from the two ids, for iOS and macOS, and the property lists are property lists")
def everything(browser):
    browser.open("/native")
    unfold(browser)
    assert all(not each.is_enabled() for each in buttons(browser)), "there is something to copy before the ids are known"
    fill(browser, client="{" + CLIENT + "}")
    assert "braces" in browser.one("#client_id-mistake").text and browser.one("#client_id").get_attribute("aria-invalid") == "true"
    assert not any(each.is_enabled() for each in buttons(browser)), "there is something to copy although an ID is wrong"
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


@test("the page of facts shows each of them with its source and whether it is the same here, and how many there are of each area")
def truth(browser):
    facts = json.loads((ROOT / "Public/data/truth.json").read_text())
    browser.open("/")
    browser.press("Your app")
    browser.press("Demo and platform")
    browser.expect_page("/truth")
    browser.wait("the facts", lambda: len(browser.all("#facts tbody tr")) == len(facts))
    shown = browser.driver.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('#facts tbody tr')].map((row) => [row.id, "
        "[row.closest('.card').previousElementSibling, ...row.cells].map((each) => each.textContent)]))")
    for fact in facts:
        here = next((fact[name] for name in ("on_purpose", "not_yet", "not_applicable") if name in fact), "✓ The same")
        wanted = [fact["answer"], fact["fact"], here, f"{fact['source']} ({fact['certainty']})"]
        assert shown.get(fact["id"]) == wanted, (wanted, shown.get(fact["id"]))
    purpose, still, absent = (sum(name in fact for fact in facts) for name in ("on_purpose", "not_yet", "not_applicable"))
    browser.expect_text(
        "#counts", f"{len(facts) - purpose - still - absent} facts are the same here. {purpose} differ on purpose, {still} differ still, "
        f"{absent} are about what is not here.")
    heads, said, areas = browser.driver.execute_script(
        "const all = (selector) => [...document.querySelectorAll(selector)]; return [all('#facts h2').map((head) => [head.textContent, '#' + head.id]), "
        "all('#areas li').map((item) => [item.firstChild.textContent, item.firstChild.getAttribute('href'), item.lastChild.textContent]), "
        "all('#facts section').map((area) => [...area.querySelectorAll('tbody tr')].map((row) => row.id))]")
    assert len(heads) > 5 and [each[:2] for each in said] == heads, (said, heads)
    for (_, _, counts), ids in zip(said, areas, strict=True):
        own = [fact for fact in facts if fact["id"] in ids]
        purpose, still, absent = (sum(name in fact for fact in own) for name in ("on_purpose", "not_yet", "not_applicable"))
        assert own and counts == (
            f": {len(own) - purpose - still - absent} facts are the same here. {purpose} differ on purpose, {still} differ still, "
            f"{absent} are about what is not here."), (counts, ids)
    colours = browser.driver.execute_script(
        "return ['tr.same strong', 'tr.differs td'].map((each) => getComputedStyle(document.querySelector(each)).color)")
    assert colours[0] != colours[1], colours


@test("a value that cannot be right is called by its mistake while it is typed, and nothing can be copied meanwhile", needs="time")
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
        unfold(browser)
        fill(browser)
        browser.settled()
        requests(browser)
        browser.one("button[aria-label='Download: Entitlements']").click()
        file = Path(folder) / "App.entitlements"
        browser.wait("the file", file.exists)
        assert file.read_text() == blocks(browser)["Entitlements"] + "\n"
        assert [url for url in requests(browser) if not url.startswith("blob:")] == []
        browser.cdp("Browser.setDownloadBehavior", behavior="default")


@test("a block is copied as it is shown", needs="time")
def copied(browser):
    browser.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], origin=browser.server.origin)
    browser.open("/native")
    unfold(browser)
    fill(browser)
    browser.one("button[aria-label='Copy: Redirect URI']").click()
    text = browser.wait("the clipboard", lambda: browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])"))
    assert text == f"msauth.{BUNDLE}://auth", text


SCHEME = f"msauth.{BUNDLE}"
QUERIES = ["msauthv2", "msauthv3"]
GROUPS = "keychain-access-groups"
MAC_GROUP = "$(AppIdentifierPrefix)com.microsoft.identity.universalstorage"

# The pasted text, the platform, the sentences, and the whole of the corrected file; None where there is nothing to correct.
ROWS = [
    (plist({"CFBundleName": "Tasks"}), "ios", ["CFBundleURLTypes is missing", "LSApplicationQueriesSchemes is missing"],
     {"CFBundleName": "Tasks", "CFBundleURLTypes": [{"CFBundleURLSchemes": [SCHEME]}], "LSApplicationQueriesSchemes": QUERIES}),
    # Whether there is a sandbox is the developer's choice; without one nothing has to be allowed.
    (plist({GROUPS: [MAC_GROUP]}), "macos", ["App Sandbox is off"], None),
    (HEAD + "<dict><key>CFBundleName</key><string>A &amp; B</string><!-- keep me --><key>CFBundleName</key><string>C</string></dict></plist>", "macos", ["appears twice"], None),
    (HEAD + "<dict><key>CFBundleName</key><string>A &amp; B</string><!-- keep me --></dict></plist>", "ios", ["CFBundleURLTypes is missing", "LSApplicationQueriesSchemes is missing"],
     {"CFBundleName": "A & B", "CFBundleURLTypes": [{"CFBundleURLSchemes": [SCHEME]}], "LSApplicationQueriesSchemes": QUERIES}),
    ("bplist00\x01", "ios", ["binary property list"], None),
]


@test("a pasted file's mistakes are named one by one, and the corrected file has none of them and keeps all else", needs="time")
def lint(browser):
    browser.open("/native")
    fill(browser)
    browser.wait("what was typed is kept", lambda: not browser.all("main[data-loading]"))
    for text, platform, said, wanted in ROWS:
        browser.open("/native")
        browser.one(f"input[value={platform}]").click()
        browser.wait("the choice is kept", lambda platform=platform: not browser.all("main[data-loading]") and browser.one(f"input[value={platform}]").is_selected())
        begin(browser)
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
        assert not browser.all("#found .finding.bad"), f"{corrected[0]}\n{findings(browser)}"
    paste(browser, ROWS[0][0])
    browser.size(1000, 2000)
    browser.shoot("lint with findings")
    browser.size(1280, 800)


@test("no request follows a paste into the check, nor into the explanation")
def nothing_is_sent(browser):
    for path, text in (("/paste", plist({"CFBundleName": "Tasks"})), ("/", "Error Domain=MSALErrorDomain Code=-50000 AADSTS50011 MSALInternalErrorCodeKey=-42003")):
        browser.open(path)
        browser.one("#paste").click()
        browser.wait("the box is ready", lambda: browser.one("#paste").get_attribute("data-ready") == "true")
        browser.settled()
        requests(browser)
        paste(browser, text)
        browser.wait("what was found", lambda: browser.all("#found .card"))
        browser.settled()
        assert requests(browser) == [], path


# The pasted text, the facts found, and the titles of the explanations in their order.
ERRORS = [
    (('Error Domain=MSALErrorDomain Code=-50002 "(null)" UserInfo={MSALOAuthErrorKey=invalid_grant, MSALOAuthSubErrorKey=consent_required, MSALCorrelationIDKey=11112222-bbbb-3333-cccc-4444dddd5555, '
      'MSALErrorDescriptionKey=AADSTS65001: The user or administrator has not consented. Trace ID: 99998888-7777-6666-5555-444433332222 Correlation ID: 11112222-bbbb-3333-cccc-4444dddd5555 Timestamp: 2026-01-05 10:11:12Z}'),
     ["MSALErrorDomain", "-50002 MSALErrorInteractionRequired", "invalid_grant", "consent_required", "AADSTS65001", "11112222-bbbb-3333-cccc-4444dddd5555", "99998888-7777-6666-5555-444433332222", "2026-01-05 10:11:12Z"],
     ["AADSTS65001", "-50002 MSALErrorInteractionRequired"]),
    # A number that no table has is said to be unknown, beside what the error says itself.
    ('Error Domain=MSALErrorDomain Code=-42999 UserInfo={MSALErrorDescriptionKey=Something new., MSALHTTPResponseCodeKey=418}', ["MSALErrorDomain", "-42999", "-42999", "418"], ["-42999"]),
    ("Sign-in failed, and the log said nothing.\nhello", [], None),
]
THREADS = json.loads((Path(__file__).parents[2] / "scripts" / "threads.json").read_text())
CORPUS = json.loads((Path(__file__).parents[2] / "scripts" / "corpus.json").read_text())
ENGLISH = json.loads((ROOT / "Public/languages/en.json").read_text())["page"]


@test("an error's parts are found in what people paste, and each is explained with who can fix it")
def explain(browser):
    begin(browser)
    for text, facts, titles in ERRORS:
        paste(browser, text)
        found = browser.driver.execute_script("return [...document.querySelectorAll('#found dd')].map((e) => e.textContent)")
        assert found == facts, f"{text}\n{found}"
        cards = browser.driver.execute_script("return [...document.querySelectorAll('#found h2.mono')].map((e) => [e.textContent, e.parentElement.querySelectorAll('p').length])")
        assert [title for title, _ in cards] == (titles or []), f"{text}\n{cards}"
        assert all(paragraphs >= 2 for _, paragraphs in cards), f"{text}\n{cards}"
        if titles is None:
            assert "No error code" in browser.one("#found").text
    # The first card of a text is that of the finding that comes first.
    for row in CORPUS[::20]:
        paste(browser, row["text"])
        title, said = browser.driver.execute_script("const e = document.querySelector('#found h2.mono'); return [e?.textContent ?? null, e?.parentElement.textContent ?? '']")
        assert (title is None) == (row["first"] is None), row
        if title:
            keys = (f"platform.{title}.cause", f"explain.cause.{row['first']}", f"explain.{row['first']}")
            assert any(key in ENGLISH and ENGLISH[key] in said for key in keys), f"{row}\n{said}"
    paste(browser, ERRORS[0][0])
    browser.size(1000, 1400)
    browser.shoot("explain an error")
    browser.size(1280, 800)


@test("the error's own description comes first, and the file check opens with the bundle ID of the error")
def description(browser):
    row = next(each for each in THREADS if each["thread"].endswith("#1431"))
    begin(browser)
    paste(browser, row["text"])
    titles = [each.text for each in browser.all("#found h2:not(.visually-hidden)")]
    assert titles[0] == "What the error says", titles
    assert browser.one("#found .says").text.startswith('The required app scheme "msauth.com.arby.MSAL-SwiftUI" is not registered')
    browser.press("Check the file")
    browser.wait("the empty box", lambda: "/paste#" in browser.driver.current_url and browser.one("#paste").get_attribute("value") == "")
    assert "?" not in browser.driver.current_url
    paste(browser, ROWS[0][0])
    assert browser.one("#paste-bundle").get_attribute("value") == "com.arby.MSAL-SwiftUI"
    paste(browser, "TID=1 MSAL 2.2.0 iOS 18.1 [2026-01-05 10:11:12] Creating Error with description: Something that nobody has seen.")
    said = [each.text for each in browser.all("#found .card")]
    assert "Something that nobody has seen." in said[0] and said[1].startswith("This text names no cause that is known here."), said
    # A name in an address is no more than a text.
    browser.open("/native/lint#bundle_id=%3Cb%3E%22&bundle_id=x")
    browser.wait("the box is ready", lambda: browser.one("#paste").get_attribute("data-ready") == "true")
    assert browser.driver.current_url.startswith(browser.server.origin + "/paste#")
    paste(browser, ROWS[0][0])
    assert browser.one("#paste-bundle").get_attribute("value") == '<b>"'


# The placeholders of the form: the text, and whether it looks as a typed value does.
PLACEHOLDERS = """
return [...document.querySelectorAll("#form input[placeholder]")].map((each) => {
  const { fontFamily, fontStyle } = getComputedStyle(each, "::placeholder");
  return [each.placeholder, fontFamily === getComputedStyle(each).fontFamily || fontStyle !== "italic"];
})"""


@test("the examples in the form look like examples; that nobody has opened the project in Xcode is said beside its button, and its checks with its files")
def examples_in_form(browser):
    browser.open("/native")
    browser.wait("the project", lambda: browser.all("#download .primary"))
    shown = browser.driver.execute_script(PLACEHOLDERS)
    assert len(shown) > 5 and all(text.startswith("e.g. ") and not same for text, same in shown), shown
    assert "It was not opened in Xcode." in browser.one("#download > .note").text
    browser.one("#download summary").click()
    browser.wait("what was checked", lambda: "the Swift compiles" in browser.one("#download details").text)


@test("one table says where each of the reader's values is in the admin center and in Xcode")
def where_each_is(browser):
    browser.open("/native")
    browser.wait("the project", lambda: browser.all("#download .primary"))
    browser.one("#bundle_id").send_keys(BUNDLE)
    browser.press("Where each value is")
    rows = browser.driver.execute_script("return [...document.querySelectorAll('#where tbody tr')].map((row) => [...row.children].map((cell) => cell.innerText.trim()))")
    assert [row[0].split("\n")[0] for row in rows] == ["Bundle ID", "Client ID", "Redirect URI", "Authority", "Scopes"], rows
    assert rows[2] == [f"Redirect URI\nmsauth.{BUNDLE}://auth", "Authentication › Redirect URI configuration", "Info › URL Types kRedirectUri"], rows
    assert all(all(row) for row in rows), rows
    # No tenant's ID is in common.
    entra = lambda: browser.driver.execute_script("return document.querySelector('#where tbody tr:nth-child(4) td').textContent.trim()")
    assert entra() == "Overview › Supported account types", entra()
    for authority, said in (("9c8b7a60-1234-4abc-8def-001122334455", "Overview › Directory (tenant) ID"), ("Consumers", "Overview › Supported account types"), ("contoso.onmicrosoft.com", "Overview › Directory (tenant) ID")):
        browser.one("#authority").clear()
        browser.one("#authority").send_keys(f"https://login.microsoftonline.com/{authority}")
        browser.wait(f"the place of {authority}", lambda said=said: entra() == said)
    browser.expect_accessible("native where")
    browser.one("#form [name=tenant][value=demo]").click()
    browser.wait("none for the demo", lambda: not browser.all("#where:not([hidden])"))


# Whether a fold stands open with its title at the window's top, and whether the text in it lies within its border.
OPENED = """
const fold = document.querySelector(arguments[0]), { left, right, bottom } = fold.getBoundingClientRect();
const inner = [...fold.querySelectorAll("td, .steps li, h2, .note")].filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect());
const { top } = fold.firstElementChild.getBoundingClientRect();
return [fold.open, top >= 0 && top < innerHeight - 100, inner.length > 0 && parseFloat(getComputedStyle(fold).borderTopWidth) > 0
  && inner.every((each) => each.left > left && each.right < right && each.bottom < bottom)];
"""


@test("both answers that people come for are named in the first screen, and a press opens each within its card, again too when it was closed; for the demo's tenant one is left")
def answers(browser):
    for width, height in ((1440, 900), (390, 844), (320, 640)):
        browser.size(width, height)
        browser.open("/native")
        browser.wait("the project", lambda: browser.all("#download .primary"))
        for name, fold in (("Register it and set up Xcode, step by step", "#by-hand"), ("Where each value is", "#where")):
            for _ in range(2):
                browser.driver.execute_script("scrollTo(0, 0)")
                link = next(each for each in browser.all(".answers a") if each.text == name)
                assert link.rect["y"] + link.rect["height"] < height, f"at {width} {name} is out of sight"
                link.click()
                browser.wait(f"at {width} {name}", lambda fold=fold: browser.driver.execute_script(OPENED, fold) == [True, True, True])
                assert len(browser.all(".by-hand[open]")) == 1, "another is opened, too"
                browser.one(f"{fold} > summary").click()
        assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"at {width} it scrolls sideways"
    browser.one("#form [name=tenant][value=demo]").click()
    browser.wait("one answer", lambda: [each.text for each in browser.all(".answers a") if each.is_displayed()] == ["Register it and set up Xcode, step by step"])


@test("an address of the explanations that somebody has kept leads to the box with the number in it")
def kept_address(browser):
    browser.open("/native/explain#AADSTS50011")
    browser.wait("the explanation", lambda: "AADSTS50011" in browser.one("#found").text)
    assert browser.driver.current_url == browser.server.origin + "/paste#AADSTS50011"


@test("an example is a press away, on home and on the box's own page, and is recognized as what it is")
def examples(browser):
    for path in ("/", "/paste"):
        browser.open(path)
        for name, kind, said in (("error", "error", "AADSTS50011"), ("log", "error", "-42011"), ("address", "address", "PKCE"), ("token", "token", "nonce"), ("file", "file", "LSApplicationQueriesSchemes"),
                                 ("challenge", "error", "A claims challenge:"), ("case", "case", "Open as a case")):
            browser.one(f"[data-example={name}]").click()
            browser.wait(f"{name} on {path}", lambda: browser.all("#paste-kind") and browser.one("#paste-kind").get_attribute("value") == kind and said in browser.one("#found").text)
    browser.expect_accessible("paste with an example")


@test("while the steps by hand are read, the contents mark the section that is in sight")
def reading(browser):
    browser.open("/native")
    browser.wait("the sections", lambda: browser.all("#rest .contents a"))
    unfold(browser)
    for section in ("register", "files", "code"):
        browser.driver.execute_script("document.getElementById(arguments[0]).scrollIntoView()", section)
        browser.wait(f"{section} is marked", lambda: [each.get_attribute("hash") for each in browser.all(".contents [aria-current]")] == [f"#{section}"])


@test("a user flow's number is explained to the developer of a native app, without this product's own remedies")
def user_flow_numbers(browser):
    begin(browser)
    for number, said in (("AADB2C90118", "start the reset"), ("AADB2C90091", "Sign in again"), ("AADB2C90077", "acquireToken(with:)"), ("AADB2C90006", "iOS / macOS"), ("AADB2C90205", "API permissions"),
                         ("AADB2C90273", "Apple or Google"), ("AADB2C99999", "not in our table")):
        paste(browser, number)
        text = browser.one("#found").text
        assert said in text and "companion" not in text.lower() and "next page" not in text, text


@test("the pages are light", needs="time")
def light(browser):
    for path in PAGES:
        browser.expect_light(path, 70_000)


@test("the pages lead to each other, the guide is light, axe finds nothing, and the text fits a phone")
def looks(browser):
    browser.expect_light("/native", 70_000)
    browser.open("/")
    browser.press("Set up your own app")
    browser.expect_page("/native")
    for path, name in zip(PAGES, ("Set up", "App and companion", "Native authentication", "Paste")):
        browser.press(name)
        browser.expect_page(path)
        browser.settled()
        if path == "/native":
            fill(browser)
        if path == "/paste":
            paste(browser, ERRORS[0][0])
        browser.expect_accessible(f"native {path}")
        browser.size(390, 844, 2)
        browser.colours("dark")
        browser.shoot(f"native {path} phone dark")
        browser.colours("light")
        browser.size(1280, 800)
        current = browser.all(".pages [aria-current]")
        assert [each.text for each in current] == ([name] if path != "/paste" else [])


@test("on a phone the pages have no note of the demo, a radio button is round and small, and the two pages stand in even places", needs="time")
def on_a_phone(browser):
    for width in (320, 390):
        browser.size(width, 844)
        for path in PAGES:
            browser.open(path)
            assert not browser.all(".demo-note"), f"{path} has the demo's note, which is of no use there"
            assert browser.one(".topbar").rect["height"] <= 48, f"{path} at {width}"
            links = [each.rect for each in browser.all(".pages a")]
            assert path == "/paste" or len({link["width"] for link in links}) == 1 and all(link["height"] >= 44 for link in links), f"{path} at {width}: {links}"
            for radio in browser.all("input[type=radio]"):
                assert (radio.rect["width"], radio.rect["height"]) == (20, 20), f"{path}: {radio.rect}"
                assert radio.find_element("xpath", "..").rect["height"] >= 44, "the label is too small for a finger"
            browser.shoot(f"native {path} at {width}")
    browser.size(1280, 800)


@test("without a mouse an app is set up: the fields, the platform, the copy buttons, and the tabs")
def keyboard(browser):
    browser.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], origin=browser.server.origin)
    browser.open("/native")
    browser.settled()
    browser.tab_to("input[value=ios]")
    browser.keys("\ue015")
    assert browser.one("input[value=macos]").is_selected()
    browser.tab_to("#bundle_id")
    browser.keys(BUNDLE)
    browser.tab_to("#client_id")
    browser.keys(CLIENT)
    unfold(browser)
    browser.driver.execute_script("document.querySelector('#files input').focus()")
    browser.tab_to("button[aria-label='Copy: Redirect URI']")
    browser.keys("\ue007")
    clipboard = lambda: browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    browser.wait("the copy", lambda: browser.one("button[aria-label='Copy: Redirect URI']").text == "Copied")
    assert clipboard() == f"msauth.{BUNDLE}://auth", clipboard()
    browser.one("button[aria-label='Copy keys: Entitlements']").send_keys(Keys.ENTER)
    browser.wait("the keys", lambda: clipboard() == "\n".join(line.removeprefix("\t") for line in blocks(browser)["Entitlements"].split("\n")[4:-2]))
    browser.one("#tab-package-swift").send_keys(Keys.ARROW_RIGHT)
    assert browser.driver.execute_script("return document.activeElement.textContent") == "CocoaPods"
    browser.one("input[value=ios]").click()
    assert "pod install" in browser.one("#panel-package-pods").text, "the tab stays when a value changes"


@test("each page is there in each language, without a key in place of a text", needs="time")
def languages(browser):
    from .languages import TAGS, TEXTS, ask_for, expect_language
    for tag in TAGS:
        ask_for(browser, tag)
        try:
            for path, key in zip(PAGES, ("native_page.native_title", "native_page.map_title", "play_page.title", "paste_page.title")):
                browser.open(path)
                assert browser.one("h1").text == TEXTS[tag][key]
                browser.settled()
                if path == "/native":
                    fill(browser)
                if path == "/paste":
                    paste(browser, ERRORS[0][0])
                expect_language(browser, tag)
                browser.expect_accessible(f"native {tag} {path}")
        finally:
            ask_for(browser, None)


def requests_drawn(browser):
    return [each.text.split("\n") for each in browser.all("#requests li")]


@test("a flow of native authentication that is chosen while a step is under way is the one that is shown")
def chosen_while_played(browser):
    browser.open("/native/play")
    browser.wait("the drawing", lambda: len(requests_drawn(browser)) == 6)
    nothing = browser.one("#reading").text
    let_go = browser.hold("/api/demo/native")
    browser.press("Next step")
    browser.one("#flows input[value=sign_in]").click()
    let_go()
    browser.settled()
    assert len(requests_drawn(browser)) == 3 and not browser.all("#requests .done"), requests_drawn(browser)
    assert browser.one("#reading").text == nothing and not browser.one("#again").is_enabled()
    browser.press("Next step")
    browser.wait("the first step", lambda: browser.all("#requests .done"))
    assert requests_drawn(browser)[0][0].startswith("oauth2/v2.0/initiate"), requests_drawn(browser)


@test("an app with native authentication is played step by step, by button and by key, with wrong codes, in every flow", needs="time")
def play(browser):
    browser.open("/")
    browser.press("Native authentication, step by step")
    browser.expect_page("/native/play")
    browser.wait("the drawing", lambda: len(requests_drawn(browser)) == 6)
    assert requests_drawn(browser)[0] == ["signup/v1.0/start"], requests_drawn(browser)
    assert not browser.one("#wrong").is_enabled() and not browser.one("#again").is_enabled()
    browser.expect_accessible("native play")

    def when_free():
        """A press while the step before is under way is none."""
        browser.wait("the end of the step before", lambda: browser.one("#step").get_attribute("aria-busy") != "true")

    def press(what):
        when_free()
        browser.press(what)

    press("Next step")
    browser.expect_text("#reading", "MSAL itself sends signup/v1.0/challenge next.")
    browser.one("h1").click()
    when_free()
    browser.keys(Keys.ARROW_RIGHT)
    browser.expect_text("#reading", "MSAL calls onSignUpCodeRequired.\nThe app now has SignUpCodeRequiredState.")
    assert browser.one("#swift").text.startswith("func onSignUpCodeRequired("), browser.one("#swift").text
    press("Try a wrong code")
    browser.expect_text("#reading", "MSAL calls onSignUpVerifyCodeError.\nisInvalidCode is true.\nThe app now has SignUpCodeRequiredState.")
    assert "oob=00000000" in browser.one("#request").text and "invalid_oob_value" in browser.one("#answer").text
    assert requests_drawn(browser)[2] == ["signup/v1.0/continue", "400 · onSignUpVerifyCodeError"], requests_drawn(browser)
    browser.expect_accessible("native play wrong code")
    press("Next step")
    browser.expect_text("#reading", "MSAL itself sends signup/v1.0/challenge next.")
    assert "oob=…" in browser.one("#request").text and '"continuation_token": "…"' in browser.one("#answer").text
    press("Start again")
    assert requests_drawn(browser)[0] == ["signup/v1.0/start"] and browser.one("#request").text == ""
    for name, steps in (("password_reset", 6), ("second_factor", 6), ("sign_in", 3)):
        browser.one(f"#flows input[value={name}]").click()
        browser.wait(name, lambda: len(requests_drawn(browser)) == steps)
        for _ in range(60):
            before = browser.one("#request").text + browser.one("#answer").text
            if not browser.one("#step").is_enabled():
                break
            press("Next step")
            # A new password takes a second, and then the same question has another answer.
            time.sleep(0.2)
            browser.wait("the answer", lambda: "in_progress" in before or browser.one("#request").text + browser.one("#answer").text != before)
        assert browser.one("#reading").text.endswith("The flow is over."), browser.one("#reading").text
        assert "onSignInCompleted" in requests_drawn(browser)[-1][1], requests_drawn(browser)
    for width, height in ((390, 844), (1440, 900)):
        browser.size(width, height)
        browser.shoot(f"native play {width}")
        assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), width
    browser.size(1280, 800)


NATIVE = "7f1c5d0e-2b96-4a83-9e47-d05b8c3f6a12"
NUMBER = "+46 70 555 0199"


def app(browser):
    """An app with native authentication: the function that sends its requests, each with the newest continuation token."""
    token = {}

    def send(path, **fields):
        asked = {"client_id": NATIVE, "challenge_type": "oob password redirect", "capabilities": "mfa_required"} | token | fields
        request = urllib.request.Request(f"{browser.server.tenant}/fabrikam.example/{path}", urllib.parse.urlencode(asked).encode())
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                found = json.load(answer)
        except urllib.error.HTTPError as refused:
            found = json.load(refused)
        token["continuation_token"] = found["continuation_token"]
        return found

    return send


@test("the outbox, with mails and a text message, speaks each language; axe finds nothing, and it fits a phone", needs="time")
def outbox(browser):
    from .languages import FOLDER, TAGS, ask_for, expect_language
    browser.server.reset()
    person = {"username": "sam@fabrikam.example", "password": "Vinter-2027", "second_factor": "sms", "mobile_phone": NUMBER}
    registered = urllib.request.Request(browser.server.tenant + "/control/users", json.dumps(person).encode())
    urllib.request.urlopen(registered, timeout=10).close()
    send = app(browser)
    send("oauth2/v2.0/initiate", username=person["username"])
    send("oauth2/v2.0/challenge")
    send("oauth2/v2.0/token", grant_type="password", password=person["password"], scope="openid")
    send("oauth2/v2.0/challenge", id=send("oauth2/v2.0/introspect")["methods"][0]["id"])
    send = app(browser)
    send("signup/v1.0/start", username="casey@customer.example")
    # The second code voids the first.
    for _ in range(2):
        send("signup/v1.0/challenge")
    for tag in TAGS:
        texts = json.loads((FOLDER / "demo" / f"{tag}.json").read_text())["server"]
        ask_for(browser, tag)
        try:
            browser.driver.get(browser.server.tenant + "/outbox")
            assert browser.one("h1").text == texts.get("Outbox", "Outbox")
            headings = [each.text for each in browser.all(".message h2")]
            kinds = ("Mail to %@", "casey@customer.example"), ("Mail to %@", "casey@customer.example"), ("Text message to %@", NUMBER)
            assert headings == [texts.get(kind, kind).replace("%@", to) for kind, to in kinds], headings
            assert texts.get("No longer valid", "No longer valid") in browser.all(".message")[1].text
            browser.one("details summary").click()
            expect_language(browser, tag)
            browser.expect_accessible(f"outbox {tag}")
        finally:
            ask_for(browser, None)
    browser.server.reset()

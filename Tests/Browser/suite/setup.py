"""The guide for the reader's own app: one set of values, the steps of each kind of tenant, and what is out of date in the tutorials."""

import json
import subprocess
import tempfile
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

from patience import next_line

from .languages import TEXTS
from .looks import SHIFT
from .native import BUNDLE, CLIENT, blocks, fill, unfold
from .registry import registry
from .server import SecureServer

tests, test = registry("setup", time="Each kind of guide at five widths, and the clipboard. The values, the steps and the download decide, with setup.test.js and dated.test.js.")

KINDS = ("workforce", "external", "b2c")
OWN = {"workforce": {}, "external": {"authority": "https://fabrikam.ciamlogin.com/"}, "b2c": {"host": "fabrikam.b2clogin.com", "tenant_name": "fabrikam.onmicrosoft.com"}}


def visit(browser):
    """The guide, whose sections are there: from then on it hears what is typed."""
    browser.open("/native")
    browser.wait("the sections", lambda: browser.all("#rest .contents a"))
    unfold(browser)


def choose(browser, **values):
    for name, value in values.items():
        browser.one(f"input[name={name}][value={value}]").click()


def enter(browser, **values):
    for name, value in values.items():
        field = browser.one(f"#{name}")
        field.clear()
        field.send_keys(value)


def values_of(browser, name):
    """The values of the page's own values.js, which has the hash of its content in its name."""
    return browser.driver.execute_async_script(
        "const [name, done] = arguments; import(performance.getEntriesByType('resource').find((each) => /values\\.[0-9a-f]+\\.js$/.test(each.name)).name).then((values) => done(values[name]()))", name)


def filled(browser):
    return values_of(browser, "filled")


def shown(browser, selector):
    return [each.text for each in browser.all(selector) if each.is_displayed()]


@test("the values are typed once: they are there after a visit elsewhere, for each kind of tenant its own")
def kept(browser):
    visit(browser)
    fill(browser)
    for kind in KINDS:
        choose(browser, kind=kind)
        enter(browser, **OWN[kind])
    browser.open("/native/map")
    browser.open("/native")
    browser.wait("the values", lambda: browser.one("#bundle_id").get_attribute("value") == BUNDLE and browser.one("#client_id").get_attribute("value") == CLIENT)
    visit(browser)
    assert browser.one("input[name=kind][value=b2c]").is_selected() and browser.one("#host").get_attribute("value") == "fabrikam.b2clogin.com"
    choose(browser, kind="external")
    assert browser.one("#authority").get_attribute("value") == "https://fabrikam.ciamlogin.com/"
    values = filled(browser)
    assert values["isComplete"] and values["redirect_uri"] == f"msauth.{BUNDLE}://auth" and values["authority"] == "https://fabrikam.ciamlogin.com/", values
    enter(browser, authority="http://fabrikam.ciamlogin.com/")
    assert not filled(browser)["isComplete"] and "https" in browser.one("#authority-verdict").text
    assert not any(each.is_enabled() for each in browser.all("#code .block-head button")), "the code can be copied although its authority is wrong"
    assert browser.one("#authority").get_attribute("aria-invalid") == "true"


@test("a choice that is made before the page's script has come is taken, and what was not touched is as it was kept")
def chosen_early(browser):
    visit(browser)
    fill(browser, platform="macos")
    data = browser.driver.execute_script(
        "return performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).find((each) => /\\/data\\/native\\b.*json$/.test(each))")
    with browser.holding(data) as let_go:
        browser.open("/native")
        choose(browser, platform="ios")
        browser.one("#bundle_id").send_keys("com.contoso.other")
        assert browser.all("main[data-loading]")
        let_go()
        browser.wait("the sections", lambda: browser.all("#rest .contents a"))
    # Twice: as the script has found it, and as it has kept it.
    for _ in range(2):
        values = filled(browser)
        assert (values["platform"], values["bundle_id"], values["client_id"]) == ("ios", "com.contoso.other", CLIENT), values
        assert browser.one("input[value=ios]").is_selected() and browser.one("#bundle_id").get_attribute("value") == "com.contoso.other"
        visit(browser)


@test("what an older page has kept, and what is no value at all, does no harm")
def damaged(browser):
    visit(browser)
    for text in ("null", "[]", "7", "{", '{"kind":"adfs","bundle_id":7,"of":{"workforce":{"scopes":"user.read"},"b2c":null}}'):
        browser.driver.execute_script("localStorage.setItem('values', arguments[0])", text)
        visit(browser)
        values = filled(browser)
        assert (values["kind"], values["bundle_id"], values["scopes"]) == ("workforce", "Your_Bundle_ID", ["user.read"]), f"{text}: {values}"


@test("on a shared device neither the values nor the progress outlast the page")
def shared(browser):
    with browser.on_shared_device():
        visit(browser)
        fill(browser)
        browser.one("#register input[type=checkbox]").click()
        assert BUNDLE in blocks(browser)["Redirect URI"]
        assert browser.driver.execute_script("return localStorage.length") == 0
        visit(browser)
        assert browser.one("#bundle_id").get_attribute("value") == "" and not browser.one("#register input[type=checkbox]").is_selected()


@test("the demo's values are those that the command companion tenant announces")
def demo(browser):
    command = [browser.server.binary, "tenant", "--json", "--plain", "--listen", "localhost:0", "--native", BUNDLE, "--public", browser.server.public, "--exit-with-parent"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        announced = json.loads(next_line(process, "the tenant announces itself"))
    finally:
        process.terminate()
        process.wait(15)
    # Without --plain it is https, as MSAL demands.
    secure = lambda text: text.replace("http://", "https://")
    visit(browser)
    enter(browser, bundle_id=BUNDLE)
    choose(browser, tenant="demo")
    assert not [each for each in browser.all("#client_id, #authority, #configuration") if each.is_displayed()]
    enter(browser, demo_url=secure(announced["base_url"]))
    for kind, name in zip(KINDS, ("authority", "external_authority", "b2c_authority")):
        choose(browser, kind=kind)
        values = filled(browser)
        assert values["isComplete"] and values["client_id"] == announced["clients"][0]["client_id"], values
        assert values["authority"] == secure(announced[name]) and values["graph"] + "v1.0/me/" == secure(announced["graph"]), values
        assert f" companion tenant --state /var/lib/companion/tenant.json --native {BUNDLE}" in blocks(browser)["Start the tenant"]
        port = int(announced["base_url"].rsplit(":", 1)[1]) + 1
        assert f"http://localhost:{port}/root.pem" in blocks(browser)["Trust its certificate in the simulator"]
    assert "knownAuthorities" in blocks(browser)["MSAL configuration"]


@test("the demo's values are those of the tenant that runs; of one over plain http the page says that MSAL refuses it, and what to start")
def own_demo(browser):
    visit(browser)
    enter(browser, bundle_id=BUNDLE)
    choose(browser, tenant="demo")
    note = browser.one("#demo_url-note").text
    assert f"({browser.server.tenant}) uses plain HTTP, which MSAL does not accept" in note and "companion demo --https" in note, note
    assert filled(browser)["authority"] == "https://localhost:8443/common"
    browser.expect_clean()
    browser.cdp("Security.setIgnoreCertificateErrors", ignore=True)
    server = SecureServer(browser.server)
    try:
        with browser.visiting(server):
            visit(browser)
            enter(browser, bundle_id=BUNDLE)
            choose(browser, tenant="demo")
            assert browser.one("#demo_url").get_attribute("value") == server.tenant
            assert browser.one("#demo_url-note").text.startswith("This demo's own tenant.")
            assert filled(browser)["authority"] == f"{server.tenant}/common"
            assert blocks(browser)["Start the tenant"].strip() == f"companion demo --https --native {BUNDLE}"
            browser.shoot("native with the demo's own tenant")
    finally:
        browser.cdp("Security.setIgnoreCertificateErrors", ignore=False)


GIVEN = {"client_id": CLIENT, "bundle_id": BUNDLE}
# The pasted text, and the form's content then.
CONFIGURATIONS = [
    (f'let kClientID = "{CLIENT}"\nlet kRedirectUri = "msauth.{BUNDLE}://auth"\nlet kAuthority = "https://login.microsoftonline.com/organizations"\nlet kScopes: [String] = ["user.read", "mail.read"]',
     {**GIVEN, "kind": "workforce", "authority": "https://login.microsoftonline.com/organizations", "scopes": ["user.read", "mail.read"]}),
    ('let kClientID = "Your_Application_Id_Here"\nlet kAuthority = "https://login.microsoftonline.com/<tenant>"', {}),
]


@test("a pasted MSAL configuration fills the form, whatever language it is written in; placeholders do not")
def pasted(browser):
    for text, wanted in CONFIGURATIONS:
        browser.driver.execute_script("localStorage.clear()") if browser.driver.current_url.startswith(browser.server.origin) else None
        visit(browser)
        browser.one("#form summary").click()
        browser.driver.execute_script(
            "const e = document.getElementById('configuration'); e.value = arguments[0]; e.dispatchEvent(new InputEvent('input', { bubbles: true }))", text)
        said = browser.wait("what was taken", lambda: browser.one("#taken").text)
        assert said.startswith("Filled in: ") == bool(wanted), f"{text}\n{said}"
        kept = values_of(browser, "own")
        assert {name: kept[name] for name in wanted} == wanted, f"{text}\n{kept}"
        if not wanted:
            assert (kept["client_id"], kept["authority"]) == ("", "https://login.microsoftonline.com/common"), kept


# Kind, platform, tenant; MSAL's class, whether knownAuthorities is set, and steps that must be there.
PATHS = [
    ("workforce", "ios", "mine", "MSALAADAuthority", False, ["Application Developer", "Directories + subscriptions", "MSAL configuration", "Grant admin consent", "client secret", "Single View App", "iOS 17", "team"]),
    ("workforce", "macos", "mine", "MSALAADAuthority", False, ["Cocoa App", "macOS 14", "Outgoing Connections"]),
    ("workforce", "ios", "demo", "MSALAADAuthority", True, ["adele@contoso.example", "https://localhost:8443/control"]),
    ("external", "ios", "mine", "MSALCIAMAuthority", False, ["Tenant Creator", "User flows, New user flow", "Add application", "Require multifactor authentication", "Expose an API", "My APIs", "Grant admin consent", "this organizational directory only"]),
    ("external", "ios", "demo", "MSALCIAMAuthority", False, ["customer@fabrikam.example"]),
    ("b2c", "ios", "mine", "MSALB2CAuthority", True, ["1 May 2025", "b2c_1_edit_profile", "b2c_1_reset", "Display Name", "any identity provider", "Expose an API", "Grant admin consent"]),
    ("b2c", "ios", "demo", "MSALB2CAuthority", True, ["b2cuser@fabrikamb2c.example"]),
]


@test("each kind of tenant has its steps from the tenant to the first run, its constants, class and known authorities, with the values in them", needs="time")
def kinds(browser):
    visit(browser)
    fill(browser)
    for kind, platform, tenant, type, is_known, steps in PATHS:
        choose(browser, tenant="mine", platform=platform, kind=kind)
        enter(browser, **OWN[kind])
        choose(browser, tenant=tenant)
        said = "\n".join(shown(browser, "#rest .steps li"))
        lacking = [each for each in steps if each not in said]
        assert not lacking, f"{kind} {platform} {tenant}: {lacking}\n{said}"
        assert ("New registration" in said) == (tenant == "mine") and "{" not in said, said
        made = blocks(browser)
        assert type in made["MSAL configuration"] and ("knownAuthorities" in made["MSAL configuration"]) == is_known, made["MSAL configuration"]
        client = CLIENT if tenant == "mine" else filled(browser)["client_id"]
        assert client in made["Constants"] and "{" not in made["Constants"].replace("{\n", ""), made["Constants"]
        assert all(each.is_enabled() for each in browser.all("#files button, #code .block-head button")), f"{kind} {tenant}"
        targets = [each.get_attribute("href").split("#")[1] for each in browser.all(".contents a")]
        assert targets == [each.get_attribute("id") for each in browser.all("#rest .blocks > section")], targets


@test("without an authority of one's own the code of an external tenant cannot be copied, and a value in it is a literal of Swift whatever it is", needs="time")
def literal(browser):
    visit(browser)
    fill(browser)
    choose(browser, kind="external")
    assert not any(each.is_enabled() for each in browser.all("#code .block-head button")) and browser.one("button[aria-label='Copy: Redirect URI']").is_enabled()
    enter(browser, authority="https://fabrikam.ciamlogin.com/", scopes='api://x/a"b\\(c)', api='https://api.example.com/"')
    assert r'["api://x/a\"b\\(c)"]' in blocks(browser)["Constants"] and r'"https://api.example.com/\""' in blocks(browser)["Constants"], blocks(browser)["Constants"]


@test("package managers are tabs that the keyboard reaches, and a package's address and a plist's keys are copied by themselves", needs="time")
def packages(browser):
    browser.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], origin=browser.server.origin)
    visit(browser)
    fill(browser)
    def copied(name):
        browser.driver.execute_script("navigator.clipboard.writeText('')")
        browser.one(f"button[aria-label='{name}']").click()
        return browser.wait("the clipboard", lambda: browser.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0])"))
    address = "https://github.com/AzureAD/microsoft-authentication-library-for-objc"
    assert copied("Copy: Address of the package") == address
    assert copied("Copy: Swift package") == f'.package(url: "{address}", from: "{MSAL}")'
    keys = copied("Copy keys: URL schemes")
    assert keys.startswith("<key>CFBundleURLTypes</key>") and keys.endswith("</array>") and "plist" not in keys, keys
    assert copied("Copy file: URL schemes").startswith("<?xml")
    seen = []
    browser.one("#tab-package-swift").click()
    for _ in range(3):
        seen.append((browser.driver.execute_script("return document.activeElement.textContent"), shown(browser, "#package pre")))
        browser.keys("\ue014")
    assert [name for name, _ in seen] == ["Swift package", "CocoaPods", "Carthage"]
    assert "pod install" in seen[1][1] and any('"main"' in each for each in seen[2][1]) and "carthage update --use-xcframeworks --platform iOS" in seen[2][1], seen
    assert browser.driver.execute_script("return document.activeElement.textContent") == "Swift package"
    browser.keys("\ue010")
    choose(browser, platform="macos")
    assert "--platform macOS" in " ".join(shown(browser, "#package pre")), "the tab stays when a value changes"


@test("steps are ticked off, counted in the contents, and still ticked after a visit elsewhere, for each kind of tenant by itself")
def progress(browser):
    visit(browser)
    count = lambda: browser.one(".contents a[href='#register'] + small").text
    assert count() == "0 of 11"
    browser.tick("#register input[type=checkbox]", 2)
    assert count() == "2 of 11"
    visit(browser)
    assert count() == "2 of 11" and [each.is_selected() for each in browser.all("#register input[type=checkbox]")][:3] == [True, True, False]
    choose(browser, kind="external")
    assert count().startswith("0 of ")
    choose(browser, kind="workforce")
    browser.all("#register input[type=checkbox]")[0].click()
    assert count() == "1 of 11"
    browser.tick("#run input[type=checkbox]")
    assert browser.one(".contents .done a").text == "First run"


FACTS = json.loads((Path(__file__).parents[3] / "Public" / "data" / "dated.json").read_text())["facts"]
DATED = [row for row in FACTS if "tutorials" in row]
MSAL = next(row["values"]["msal"] for row in FACTS if row["id"] == "msal")


def dated(browser):
    browser.driver.execute_script("document.getElementById('dated').scrollIntoView()")
    browser.wait("the table", lambda: browser.all(".dated li"))
    return len(browser.all(".dated li"))


@test("what is out of date is said per tutorial, in six languages, with its source; a row without a first-hand source is not shown")
def out_of_date(browser):
    visit(browser)
    for kind, platform, tutorial in (("workforce", "ios", "ios"), ("workforce", "macos", "macos"), ("external", "ios", "external"), ("b2c", "ios", "b2c")):
        choose(browser, kind=kind, platform=platform)
        assert dated(browser) == sum(tutorial in row["tutorials"] for row in DATED) > 0, tutorial
    assert f"MSAL {MSAL}, Aug 2026" in browser.one("#dated").text and "not run on a Mac" in browser.one("#dated").text
    for row in DATED:
        assert row["source"]["url"].startswith("https://") and row["said"]["url"].startswith("https://") and row["since"], row
        for texts in TEXTS.values():
            assert all(texts.get(f"dated.{key}") for key in (f"{row['id']}.section", f"{row['id']}.says", f"{row.get('holds', row['id'])}.holds")), row["id"]
    # Rows whose source is missing, has no day or commit, or is no address.
    broken = [{**DATED[0], "source": source} for source in (None, {}, {"url": DATED[0]["source"]["url"]}, {"url": "Apple", "of": "2023-07-18"}, {"url": "https://a.example", "of": "recently"})]
    others = [row for row in FACTS if row not in DATED]
    script = browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=f"""{{ const ask = fetch; window.fetch = async (address, request) =>
      String(address).includes('/data/dated') ? new Response({json.dumps(json.dumps({'facts': [*others, *broken, DATED[0]]}))}) : ask(address, request); }}""")
    try:
        choose(browser, kind="workforce")
        visit(browser)
        assert dated(browser) == 1
    finally:
        browser.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
    browser.open("/native#dated")
    browser.wait("the table in sight", lambda: browser.driver.execute_script("return Math.abs(document.getElementById('dated').getBoundingClientRect().top) < 200"))


@test("the tutorial's project is read part by part and downloaded with the values in it, made in the page")
def project(browser):
    visit(browser)
    fill(browser)
    browser.driver.execute_script("document.querySelector('.whole').scrollIntoView()")
    browser.one(".project summary").click()
    browser.wait("the view controller", lambda: browser.one(".project [role=tabpanel] pre").text.count("\n") > 200)
    assert f'let kClientID = "{CLIENT}"' in browser.one(".project [role=tabpanel] pre").text
    with tempfile.TemporaryDirectory() as folder:
        browser.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
        browser.press("Download the project")
        file = Path(folder) / "TasksApp.zip"
        browser.wait("the archive", file.exists)
        assert "TasksApp.zip was made." in browser.one("#download [role=status]").text
        with zipfile.ZipFile(file) as archive:
            assert archive.testzip() is None
            made = [datetime(*entry.date_time) for entry in archive.infolist()]
            assert all(timedelta(seconds=-2) <= datetime.now() - each < timedelta(minutes=5) for each in made), made
            text = {name: archive.read(name).decode() for name in archive.namelist()}
        assert any(f"msauth.{BUNDLE}" in each for name, each in text.items() if name.endswith("Info.plist")) and any(CLIENT in each for each in text.values())
        browser.cdp("Browser.setDownloadBehavior", behavior="default")
    # Who has it begins at another step than who makes one.
    steps = lambda: browser.driver.execute_script("return document.getElementById('with-project').textContent")
    assert "Under “Xcode project”, only step 3 is left for you: the team." in steps(), steps()
    marks = "return ['#by-hand', '.project details'].map((each) => getComputedStyle(document.querySelector(each).firstElementChild, '::before').content.slice(1, 2))"
    assert browser.driver.execute_script(marks) == ["▾", "▾"]
    browser.one("#by-hand > summary").click()
    assert browser.driver.execute_script(marks) == ["▸", "▾"]
    browser.one("#by-hand > summary").click()
    # The project needs one thing that is not in it.
    assert f"enter the bundle ID {BUNDLE}. The redirect URI is then:\nmsauth.{BUNDLE}://auth Copy" in browser.one("#download").text, browser.one("#download").text
    browser.one("#style").find_element("css selector", "option[value=swiftui]").click()
    browser.wait("the other style", lambda: any("struct ContentView: View" in each.get_attribute("textContent") for each in browser.all(".project pre")))
    choose(browser, kind="b2c", platform="macos")
    browser.wait("that there is none", lambda: "no app of this kind" in browser.one(".project").text)
    assert steps() == ""


@test("axe finds nothing in any kind's guide, no page is wider than a phone of 320 pixels, and what was kept moves nothing at the next visit", needs="time")
def looks(browser):
    visit(browser)
    fill(browser)
    for tenant, kind in (("mine", "external"), ("mine", "b2c"), ("demo", "workforce")):
        choose(browser, tenant=tenant, kind=kind)
        dated(browser)
        browser.expect_accessible(f"setup {tenant} {kind}")
        for width, height in ((320, 640), (390, 844), (820, 1180), (1280, 800), (1440, 900)):
            browser.size(width, height)
            visit(browser)
            browser.settled()
            shift, nodes = browser.driver.execute_async_script(SHIFT)
            assert shift < 0.02, f"{tenant} {kind} at {width}: {shift:.3f} by {nodes}"
            assert browser.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), f"{tenant} {kind} is wider than {width}"
        browser.size(1280, 800)

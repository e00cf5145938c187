"""The Swift that the pages show: generated in the page, type-checked by the compiler against small stand-ins of MSAL, UIKit and AppKit."""

import itertools
import pathlib
import re
import shutil
import subprocess
import tempfile

from .registry import registry

tests, test = registry("Swift lines")

STUBS = pathlib.Path(__file__).resolve().parents[1] / "stubs"
KITS = {"ios": "UIKit", "macos": "AppKit", "external": "UIKit", "b2c": "UIKit"}
AUTHORITIES = {
    "workforce": "https://login.microsoftonline.com/common", "external": "https://fabrikam.ciamlogin.com/",
    "b2c": "https://fabrikamb2c.b2clogin.com/tfp/fabrikamb2c.onmicrosoft.com/b2c_1_susi",
}
# Each option with the values that change the text. A value that ends a string, a line or an interpolation must not end it here.
NASTY = 'a"b\\(c) \n⟦x⟧ \u2028 \u0007 å'
OPTIONS = {
    "kind": ["workforce", "external", "b2c"],
    "prompt": [None, "if_necessary", "select_account", "login", "consent", "create", "none"],
    "loginHint": [None, NASTY],
    "extraScopes": [[], ["Mail.Read", NASTY]],
    "claims": [None, '{"id_token":{"auth_time":{"essential":true}}}', NASTY],
    "tenant": [None, "contoso.com", NASTY],
    "domainHint": [None, NASTY],
    "api": [None, "https://api.example.com/tasks?a=b"],
    "webView": [None, "ephemeral", "authentication_session", "safari", "wk_web_view"],
    "completion": ["block", "async"],
    "signoutFromBrowser": [False, True],
}


def pairwise(options):
    """Choices of a value for each option such that every two values of two options stand together in one of them."""
    missing = {((a, i), (b, j)) for a, b in itertools.combinations(options, 2) for i in range(len(options[a])) for j in range(len(options[b]))}
    choices = []
    while missing:
        chosen = dict(min(missing, key=str))
        for name in options:
            if name in chosen:
                continue
            def found(index):
                return sum(tuple(sorted([(name, index), each], key=lambda pair: list(options).index(pair[0]))) in missing for each in chosen.items())
            chosen[name] = max(range(len(options[name])), key=found)
        pairs = set(itertools.combinations([(name, chosen[name]) for name in options], 2))
        missing -= pairs
        choices.append({name: options[name][index] for name, index in chosen.items()})
    return choices


def generated(browser, page, choices):
    script = """
      const [page, choices, done] = arguments;
      Promise.all([import("/assets/msal-lines.js").then(({ loadProgram }) => loadProgram(page)), import("/assets/template.js")])
        .then(([program, { wholeText }]) => done(choices.map((choice) => wholeText(program(choice)))), (error) => done(String(error.stack)));"""
    return browser.driver.execute_async_script(script, page, choices)


def compiler(*arguments):
    done = subprocess.run(["swiftc", "-swift-version", "5", "-Xfrontend", "-enable-objc-interop", *map(str, arguments)], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def stand_ins(folder, kit):
    """The modules MSAL and UIKit, with SwiftUI, or AppKit, in a folder."""
    folder.mkdir()
    for name in ("ObjectiveC", kit, "MSAL", *(["SwiftUI"] if kit == "UIKit" else [])):
        flags = ["-D", "APPKIT"] if kit == "AppKit" else []
        status, said = compiler("-emit-module", "-parse-as-library", "-module-name", name, "-I", folder, "-o", folder / f"{name}.swiftmodule", *flags, STUBS / f"{name}.swift")
        assert status == 0, said


def checked(folder, modules, programs):
    """What the compiler says of programs. Each is a file of its own, within an enum, because all have the same names."""
    files = []
    for index, text in enumerate(programs):
        imports = sorted(set(re.findall(r"^import \w+$", text, re.MULTILINE)))
        rest = re.sub(r"^import \w+$", "", text, flags=re.MULTILINE)
        files.append(folder / f"Program{index}.swift")
        files[-1].write_text("\n".join(imports) + f"\nenum Program{index} {{\n{rest}\n}}\n")
    return compiler("-typecheck", "-parse-as-library", "-warnings-as-errors", "-I", modules, *files)


@test("the generated Swift type-checks for every pair of options, in all four tutorials")
def type_checks(browser):
    assert shutil.which("swiftc"), "swiftc is missing"
    browser.open("/ios")
    choices = pairwise(OPTIONS)
    for choice in choices:
        choice["authority"], choice["scopes"] = AUTHORITIES[choice["kind"]], ["user.read"]
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for page, kit in KITS.items():
            modules = root / kit
            if not modules.exists():
                stand_ins(modules, kit)
            folder = root / page
            folder.mkdir()
            programs = generated(browser, page, [choice | ({"kind": "b2c", "authority": AUTHORITIES["b2c"]} if page == "b2c" else {}) for choice in choices])
            assert isinstance(programs, list), programs
            status, said = checked(folder, modules, programs)
            assert status == 0, f"{page}: {said[:3000]}"
            # The check itself can fail.
            wrong = programs[0].replace("acquireTokenSilent(with: parameters)", "acquireTokenSilent(of: parameters)")
            assert wrong != programs[0] and checked(folder, modules, [wrong])[0] != 0, f"{page}: a wrong name passes"


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
    for page in KITS:
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
      import("/assets/msal-lines.js").then(({ loadProgram }) => loadProgram(page))
        .then((program) => done([...new Set(program(choice).flatMap(({ steps }) => steps))]));"""
    common = {"init", "web_view", "account", "authorize", "redeemed", "unredeemed", "cached", "refreshed", "silent", "api", "sign_out", "claims"}
    more = {"ios": {"callback", "device-info", "call-graph", "sign-out"}, "macos": {"call-graph", "sign-out"},
            "external": {"callback", "acquire-interactively", "acquire-silently", "call-api", "sign-out"},
            "b2c": {"callback", "edit_profile", "edit-profile", "refresh-token", "call-api", "logout"}}
    for page in KITS:
        kind = {"external": "external", "b2c": "b2c"}.get(page, "workforce")
        found = set(browser.driver.execute_async_script(script, page, {"kind": kind, "authority": AUTHORITIES[kind], "scopes": []}))
        assert (common | more[page]) - found == set(), f"{page}: {(common | more[page]) - found}"
    assert "callback" not in set(browser.driver.execute_async_script(script, "macos", {"kind": "workforce", "authority": AUTHORITIES["workforce"], "scopes": []}))

"""Type-checks all Swift that the pages make against stand-ins of MSAL and of Apple's frameworks, and reads the projects.

Needs swiftc, and the tools that Tests/scripts/run installs. The stand-ins of MSAL come from msal.csv, whose rows name MSAL's
headers; --headers compares them with a checkout. Those of UIKit, AppKit and SwiftUI are from Apple's documentation. Ends with one
line "N passed, M failed"."""

import argparse
import concurrent.futures
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

from made import made
from structure import faults

HERE = pathlib.Path(__file__).resolve().parent
BUNDLE, CLIENT = "com.contoso.tasks", "00001111-aaaa-2222-bbbb-3333cccc4444"

# Each is a way in which Xcode compiles a target. The last is what Xcode 26 sets for a new project.
MODES = {
    "Swift 5": ["-swift-version", "5"],
    "Swift 6": ["-swift-version", "6"],
    "Xcode 26's defaults": ["-swift-version", "5", "-default-isolation", "MainActor", *(part for name in (
        "DisableOutwardActorInference", "GlobalActorIsolatedTypesUsability", "InferIsolatedConformances",
        "InferSendableFromCaptures", "NonisolatedNonsendingByDefault") for part in ("-enable-upcoming-feature", name))],
}
# A piece does not use all of its values; the app that it is copied into does.
PIECES = {"as lines of a function": ["-swift-version", "5"]}
KITS = {"ios": "UIKit", "macos": "AppKit", "external": "UIKit", "b2c": "UIKit"}
AUTHORITIES = {
    "workforce": "https://login.microsoftonline.com/common", "external": "https://contoso.ciamlogin.com/contoso.onmicrosoft.com",
    "b2c": "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_susi",
}
# A value that ends a string, a line or an interpolation must not end it here.
NASTY = 'a"b\\(c) \n⟦x⟧ \u2028 \u0007 å'
# Each option with the values that change the text of a program.
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


def values(kind, platform="ios", **more):
    of_kind = {
        "workforce": {"scopes": ["user.read"], "api": ""},
        "external": {"scopes": ["api://contoso/tasks.read"], "api": "https://api.example.com/tasks?a=b&c"},
        "b2c": {"scopes": ["https://contoso.onmicrosoft.com/api/demo.read"], "api": "https://api.example.com/hello", "host": "contoso.b2clogin.com",
                "tenant_name": "contoso.onmicrosoft.com", "sign_in_policy": "b2c_1_susi", "edit_policy": "b2c_1_edit_profile"},
    }[kind]
    return {"kind": kind, "platform": platform, "authority": AUTHORITIES[kind], "graph": "https://graph.microsoft.com/", "bundle_id": BUNDLE,
            "client_id": CLIENT, "redirect_uri": f"msauth.{BUNDLE}://auth", "tenant": "mine", **of_kind, **more}


def pairwise(options):
    """Choices of a value for each option such that every two values of two options stand together in one of them."""
    missing = {((a, i), (b, j)) for a, b in itertools.combinations(options, 2) for i in range(len(options[a])) for j in range(len(options[b]))}
    choices = []
    while missing:
        chosen = dict(min(missing, key=str))
        for name in options:
            if name in chosen:
                continue

            def found(index, name=name):
                return sum(tuple(sorted([(name, index), each], key=lambda pair: list(options).index(pair[0]))) in missing for each in chosen.items())

            chosen[name] = max(range(len(options[name])), key=found)
        missing -= set(itertools.combinations([(name, chosen[name]) for name in options], 2))
        choices.append({name: options[name][index] for name, index in chosen.items()})
    return choices


def compiler(*arguments):
    done = subprocess.run(["swiftc", "-Xfrontend", "-enable-objc-interop", *map(str, arguments)], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + done.stderr


def stand_ins(folder):
    """The modules of both kits, each in a folder."""
    msal = subprocess.run([sys.executable, HERE / "stand_ins.py"], capture_output=True, text=True, timeout=60)
    if msal.returncode != 0:
        sys.exit(msal.stderr)
    (folder / "MSAL.swift").write_text(msal.stdout)
    for kit in ("UIKit", "AppKit"):
        modules = folder / kit
        modules.mkdir()
        for name in ("ObjectiveC", kit, "MSAL", *(["SwiftUI"] if kit == "UIKit" else [])):
            source = folder / "MSAL.swift" if name == "MSAL" else HERE / f"{name}.swift"
            flags = ["-D", "APPKIT"] if kit == "AppKit" else []
            status, said = compiler(
                "-swift-version", "5", "-emit-module", "-parse-as-library", "-module-name", name, "-I", modules, "-o", modules / f"{name}.swiftmodule", *flags, source)
            if status != 0:
                sys.exit(said)


def units(folder, say):
    """Everything that is compiled: its name, its kit, its files, and the modes for it. Says of each project whether it can be read."""
    rows = made({})["rows"]
    wanted = [(row, tenant) for row in rows for tenant in ("mine", "demo")]
    # No identifier has this, and a careless paste may.
    odd = 'com."contoso".\\.t\u00e5sks{{client_id}}\u27e6x\u27e7\n%end'
    nasty = [row for row in rows if row["id"] in ("workforce-ios", "b2c-ios", "workforce-ios-swiftui")]
    choices = [choice | {"authority": AUTHORITIES[choice["kind"]], "scopes": ["user.read"]} for choice in pairwise(OPTIONS)]
    programs = [(page, choice | ({"kind": "b2c", "authority": AUTHORITIES["b2c"]} if page == "b2c" else {})) for page in KITS for choice in choices]
    pieces = [values(kind, platform, known_authority=known) for kind, platform, known in itertools.product(AUTHORITIES, ("ios", "macos"), (False, True))]
    answer = made({
        "projects": [{"id": row["id"], "tenant": tenant, "values": values(row["kind"])} for row, tenant in wanted]
        + [{"id": row["id"], "tenant": "mine", "values": values(row["kind"], bundle_id=odd, client_id=odd, api=odd)} for row in nasty],
        "programs": [{"page": page, "choice": choice} for page, choice in programs],
        "blocks": pieces,
    })

    named = [(f"{row['id']}, {tenant}", row) for row, tenant in wanted] + [(f"{row['id']}, odd values", row) for row in nasty]
    for (name, row), files in zip(named, answer["projects"], strict=True):
        bundle = BUNDLE if "odd" not in name else odd.replace("\n", " ")
        say(f"{name}: Xcode can read the project", faults(row, files, folder, bundle))

    def place(name, texts):
        where = folder / re.sub(r"\W+", "-", name)
        where.mkdir()
        files = [where / path for path in texts]
        for file, text in zip(files, texts.values()):
            file.write_text(text)
        return files

    for (name, row), files in zip(named, answer["projects"], strict=True):
        sources = {pathlib.Path(path).name: text for path, text in files.items() if path.endswith(".swift")}
        # The demo's values and odd ones are literals in the same program, which no mode reads in another way.
        yield name, KITS[row["platform"]], place(name, sources), MODES if name.endswith(", mine") else ["Swift 6"]
    for page, kit in KITS.items():
        texts = [text for (of, _), text in zip(programs, answer["programs"], strict=True) if of == page]
        sources = {f"Program{index}.swift": within(text, f"enum Program{index} {{", "}") for index, text in enumerate(texts)}
        yield f"programs of /{page}", kit, place(f"programs of {page}", sources), ["Swift 5"]
    for platform in ("ios", "macos"):
        texts = [text for chosen, text in zip(pieces, answer["blocks"], strict=True) if chosen["platform"] == platform]
        begin = "import Foundation\nimport MSAL\n"
        sources = {f"Piece{index}.swift": within(begin + text, f"@MainActor func piece{index}() throws {{", "}") for index, text in enumerate(texts)}
        yield f"pieces of /native, {platform}", KITS[platform], place(f"pieces {platform}", sources), PIECES


def within(text, begin, end):
    """A file whose declarations are those of a type or function, because all have the same names."""
    imports = re.findall(r"^(?:@\w+ )?import \w+$", text, re.MULTILINE)
    rest = re.sub(r"^(?:@\w+ )?import \w+$", "", text, flags=re.MULTILINE)
    return "\n".join([*sorted(set(imports)), begin, rest, end, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="check only the parts whose names contain this")
    parser.add_argument("--headers", type=pathlib.Path, help="MSAL/src/public of a checkout of microsoft-authentication-library-for-objc")
    arguments = parser.parse_args()
    good = bad = 0

    def say(sentence, said):
        nonlocal good, bad
        good, bad = (good, bad + 1) if said else (good + 1, bad)
        print(f"{'FAIL ' if said else 'ok   '} {sentence}{chr(10) + said[:3000] if said else ''}", flush=True)

    if arguments.headers:
        compared = subprocess.run([sys.executable, HERE / "stand_ins.py", "--headers", arguments.headers], capture_output=True, text=True, timeout=60)
        say("the facts about MSAL are those of its headers", compared.stderr if compared.returncode else "")
    else:
        print("not compared with MSAL's headers")
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as two:
        folder = pathlib.Path(name)
        stand_ins(folder)
        found = list(units(folder, say))

        def check(kit, files, mode):
            status, said = compiler(*(["-warnings-as-errors"] if mode in MODES else []), *(MODES | PIECES)[mode], "-typecheck", "-parse-as-library", "-I", folder / kit, *files)
            return said or "" if status else ""

        checks = [(f"{name}: {mode}", two.submit(check, kit, files, mode)) for name, kit, files, modes in found if arguments.only in name for mode in modes]
        for sentence, done in checks:
            say(sentence, done.result())
        # The check itself can fail.
        _, kit, files, _ = found[0]
        controller = next(file for file in files if file.name == "ViewController.swift")
        controller.write_text(controller.read_text().replace("acquireTokenSilent(with: parameters)", "acquireTokenSilent(of: parameters)"))
        say("a name that MSAL does not have is found", "" if check(kit, files, "Swift 5") else "it passes")
    print(f"{good} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

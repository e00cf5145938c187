"""Swift stand-ins for MSAL, from the facts in msal.csv and msal-native-auth.csv: stand_ins.py prints the module, stand_ins.py
--headers FOLDER compares the facts with MSAL's public headers and sources. Ends with 1 if a fact is wrong. Needs nothing but Python.

Native authentication is written in Swift: its facts are the declarations of its sources, without attributes for Objective-C and bodies."""

import argparse
import collections
import csv
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PLATFORMS = {"ios": "!APPKIT", "macos": "APPKIT"}
BEGIN = """// Made by stand_ins.py from msal.csv, to type-check Swift where there is no MSAL. The bodies are never run.

import Dispatch
import Foundation

#if APPKIT
    import AppKit
#else
    import UIKit
#endif

"""


def facts():
    found = []
    for name, folder in (("msal.csv", ""), ("msal-native-auth.csv", "../")):
        with open(HERE / name, newline="") as file:
            found += [{"async": "", "platform": ""} | fact | {"header": folder + fact["header"]} for fact in csv.DictReader(file)]
    return found


def written(swift):
    """A declaration with a body, as far as it needs one."""
    # The pointer to an error is one of Objective-C.
    swift = swift.replace("error: NSErrorPointer", "error: inout NSError?")
    if swift.startswith("init(clientId: String, authority: MSALAuthority, challengeTypes:"):
        return f"public {swift} {{ super.init(clientId: clientId, redirectUri: nil, authority: authority) }}"
    if swift.startswith("init(clientId: String, tenantSubdomain:"):
        return f"public {swift} {{ super.init(clientId: clientId, redirectUri: nil, authority: nil) }}"
    if swift.startswith("init(nativeAuthConfiguration:"):
        return f"public {swift} {{ try super.init(configuration: nativeAuthConfiguration) }}"
    if swift.startswith(("typealias ", "case ")):
        return swift if swift.startswith("case ") else f"public {swift}"
    if swift.endswith(" { get }"):
        return f"public {swift.removesuffix(' { get }')} {{ fatalError() }}"
    if swift.startswith("var "):
        return f"public {swift} {{ get {{ fatalError() }} set {{}} }}"
    if swift.endswith("init()"):
        # Classes below it have to call another one.
        return f"{swift.replace('init()', 'override public init()')} {{ fatalError() }}; fileprivate init(inherited: Void) {{ super.init() }}"
    if swift.startswith("init(url: URL)"):
        return f"public {swift} {{ super.init(inherited: ()) }}"
    if swift.startswith("init(scopes: [String], "):
        # The one initializer that is above them is unavailable.
        return f"public {swift} {{ super.init(scopes: scopes) }}"
    discardable = "@discardableResult " if "->" in swift else ""
    return f"{discardable}public {swift} {{ fatalError() }}"


def module():
    lines = [BEGIN]
    members = collections.defaultdict(list)
    for fact in facts():
        members[fact["owner"]].append(fact)

    def add(swift, fact, indent=""):
        text = f"{indent}{swift}  // {fact['header'].split('/')[-1]}:{fact['line']}"
        only = PLATFORMS.get(fact["platform"])
        lines.extend([f"#if {only}", text, "#endif"] if only else [text])

    for fact in members[""]:
        word, name = re.match(r"(?:final )?(\w+) (\w+)", fact["swift"]).groups()
        if word == "enum":
            lines.append(f"public {fact['swift']} {{  // {fact['header']}:{fact['line']}")
            for each in members[name]:
                value = re.search(r"-?\d+$", each["objective_c"])
                add(f"case `{each['swift']}`" + (f" = {value[0]}" if value else ""), each, "    ")
            lines.append("}")
        elif word == "struct":
            lines.append(f"public {fact['swift']}, Sendable {{ public let rawValue: Int; public init(rawValue: Int) {{ self.rawValue = rawValue }}")
            for each in members[name]:
                add(f"public static let {each['swift']} = {name}(rawValue: {each['objective_c'].split(' = ')[1]})", each, "    ")
            lines.append("}")
        elif word == "protocol":
            lines.append(f"public {fact['swift']} {{  // {fact['header'].split('/')[-1]}:{fact['line']}")
            for each in members[name]:
                # Nothing is optional here: the delegates of the projects are whole.
                add(each["swift"].replace("@objc optional ", ""), each, "    ")
            lines.append("}")
        elif word == "class":
            access = "public" if fact["header"].endswith(".swift") else "open"
            lines.append(f"{access} {fact['swift']} {{  // {fact['header'].split('/')[-1]}:{fact['line']}")
            if access == "public" and fact["swift"].split(": ")[1].startswith("NSObject") and not name.endswith("Parameters"):
                # No app makes one.
                lines.append("    fileprivate init(inherited: Void) { super.init() }")
            for each in members[name]:
                add(written(each["swift"]), each, "    ")
                if each["async"]:
                    add(written(each["async"]), each, "    ")
            lines.append("}")
        elif word == "var":
            # The import of a global that C may change.
            add(f"public {fact['swift']}", fact)
        else:
            add(written(fact["swift"]), fact)
    return "\n".join(lines) + "\n"


def nullability(fact):
    """Swift has a question mark for each thing that may be null, and no other. Errors of methods that throw have none."""
    if not fact["objective_c"]:
        return []
    said = re.sub(r"\(NSError \*[^)]*\)error", "", fact["objective_c"])
    if " throws" in fact["swift"]:
        said = said.replace("(nullable ", "(", 1)
    wanted = len(re.findall(r"\bnullable\b|_Nullable(?:_result)?\b", said))
    found = fact["swift"].count("?")
    return [] if wanted == found else [f"{fact['swift']}: {found} of {wanted} may be nil"]


def declaration(lines):
    """The declaration that begins in the first of these lines of Swift, as the table has it."""
    text = lines[0].strip()
    for line in lines[1:]:
        if text.count("(") <= text.count(")"):
            break
        text += f" {line.strip()}"
    text = re.sub(r"\s+", " ", text).replace("( ", "(").replace(" )", ")")
    text = re.sub(r"^(@objcMembers |@objc )*", "", text).replace("public ", "")
    variable = re.match(r"(var|let) ([^={]+?)\s*(\{.*|=.*)?$", text)
    if not variable:
        return re.sub(r"\s*\{.*$", "", text)
    isFixed = variable[1] == "let" or (variable[3] or "").startswith("{")
    return f"var {variable[2]}" + (" { get }" if isFixed else "")


def differences(fact, headers):
    """The differences of a fact from its header: its words, its line, its platform, and that a pointer without a word is never null."""
    try:
        lines = (headers / fact["header"]).read_text().splitlines()
    except OSError:
        return [f"{fact['header']} is missing"]
    index = int(fact["line"]) - 1
    if not fact["objective_c"]:
        there = declaration(lines[index:])
        return [] if there == fact["swift"] else [f"{fact['header']}:{fact['line']} is not “{fact['swift']}” but “{there[:120]}”"]
    text = re.sub(r"\s+", " ", " ".join(lines[index:index + 12])).strip()
    found = []
    if not re.match(re.escape(fact["objective_c"]) + r"(?!\w)", text):
        found.append(f"{fact['header']}:{fact['line']} is not “{fact['objective_c']}” but “{text[:120]}”")
    before = lines[:index]
    open_conditions = []
    for line in before:
        if line.startswith(("#if ", "#ifdef ", "#ifndef ")):
            open_conditions.append(line.split(None, 1)[1].strip())
        elif line.startswith("#else"):
            open_conditions.append(f"not {open_conditions.pop()}")
        elif line.startswith("#endif"):
            open_conditions.pop()
    platform = {"TARGET_OS_IPHONE": "ios", "not TARGET_OS_IPHONE": "macos", "TARGET_OS_OSX": "macos"}
    there = next((platform[each] for each in open_conditions if each in platform), "")
    if there != fact["platform"]:
        found.append(f"{fact['header']}:{fact['line']} is for “{there}”, not for “{fact['platform']}”")
    assumed = sum(line.startswith("NS_ASSUME_NONNULL_BEGIN") - line.startswith("NS_ASSUME_NONNULL_END") for line in before)
    unsaid = re.search(r"\*", fact["objective_c"]) and not assumed and not re.search(r"(?i)non_?null\b|_?nullable", fact["objective_c"])
    if bool(unsaid) != ("!" in fact["swift"]):
        found.append(f"{fact['swift']}: the header says nothing of null" if unsaid else f"{fact['swift']}: the header says whether it may be null")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--headers", type=pathlib.Path, help="MSAL/src/public of a checkout of microsoft-authentication-library-for-objc")
    arguments = parser.parse_args()
    found = [each for fact in facts() for each in nullability(fact)]
    if arguments.headers:
        found += [each for fact in facts() for each in differences(fact, arguments.headers)]
        print(f"{len(facts())} facts compared, {len(found)} differences", file=sys.stderr)
    else:
        print(module(), end="")
        print("not compared with MSAL's headers", file=sys.stderr)
    print("\n".join(found), file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

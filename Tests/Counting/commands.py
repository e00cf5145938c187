"""The commands of the program, read from its sources, and those that a line of a document runs."""

import itertools
import re

# After these, `companion` is a user, a group, a unit or an image's name.
NOT_BEFORE = {"-u", "-g", "-o", "-t", "--user", "--group", "exec", "ROLE", "DATABASE"}
NO_PROGRAM = ("docker build", "systemctl", "journalctl", "apt", "kubectl", "open ", "export ")
DECLARED = re.compile(r"^( *)(?:package |public |private )*(?:struct|enum) (\w+)(?:: [^{]*)?\{", re.MULTILINE)
OPTION = re.compile(r"@(Option|Flag|Argument)\b(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?\s*(?:private )?var `?(\w+)`?")


def kebab(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda letter: f"-{letter[0]}", name).lower()


class Command:
    """One command or group of options: its name, options, groups and subcommands."""

    def __init__(self, name, body):
        named = re.search(r'commandName: "([\w-]+)"', body)
        self.name = named[1] if named else kebab(name)
        found = OPTION.findall(body)
        self.options = {f"--{kebab(variable)}" for kind, variable in found if kind != "Argument"}
        self.groups = re.findall(r"@OptionGroup var \w+: (\w+)", body)
        listed = re.search(r"subcommands: \[(.*?)\]", body, re.DOTALL)
        self.children = re.findall(r"(\w+)\.self", listed[1]) if listed else []
        self.options |= set(re.findall(r'guard words != \["(--\w+)"\]', body))
        # The cases of such an enumeration are flags of their own.
        for cases in re.findall(r"EnumerableFlag \{ case ([\w, ]+) \}", body):
            self.options |= {f"--{case}" for case in cases.split(", ")}


class Commands:
    def __init__(self, folder):
        self.all = {}
        for path in sorted(folder.rglob("*.swift")):
            self.read(path.read_text(), ())

    def read(self, source, outer):
        """Keeps the declarations of a text, and of each what is inside without those of its own."""
        lines = source.split("\n")
        place = 0
        own = []
        while place < len(lines):
            match = DECLARED.match(lines[place] + "\n")
            if not match or lines[place].rstrip().endswith("}"):
                own.append(lines[place])
                place += 1
                continue
            end = next(number for number in range(place + 1, len(lines)) if lines[number] == match[1] + "}")
            body = lines[place + 1:end]
            inner = self.read("\n".join(body), (*outer, match[2]))
            self.all[*outer, match[2]] = Command(match[2], inner)
            place = end + 1
        return "\n".join(own)

    def child(self, place, name):
        """The place of a subcommand that a declaration lists by this name."""
        for child in self.all[place].children:
            inner = (*place, child) if (*place, child) in self.all else (child,)
            if self.all[inner].name == name:
                return inner
        return None

    def names(self, place=("CompanionCommand",), before=""):
        """All commands that have no subcommands, or can do without."""
        for child in self.all[place].children:
            inner = (*place, child) if (*place, child) in self.all else (child,)
            name = f"{before}{self.all[inner].name}"
            if self.all[inner].options or not self.all[inner].children:
                yield name
            yield from self.names(inner, f"{name} ")

    def options(self, place):
        command = self.all[place]
        return command.options.union({"--help", "--version"}, *(self.options((group,)) for group in command.groups))

    def mistakes(self, words):
        """The commands and options of a line, behind the program's name, that there are not."""
        for line in itertools.product(*(word.split("|") if re.fullmatch(r"[a-z]+(\|[a-z]+)+", word) else [word] for word in words)):
            yield from self.mistakes_of(line)

    def mistakes_of(self, words):
        place, spoken, before = ("CompanionCommand",), "companion", ""
        for word in words:
            if word.startswith("--"):
                known = self.options(place) | (self.options(("Serve",)) if place == ("CompanionCommand",) else set())
                if word.split("=")[0] not in known:
                    yield f"{spoken} has no {word}"
            elif re.fullmatch(r"[a-z][a-z-]*", word) and not before.startswith("--") and self.all[place].children:
                place = self.child(place, word)
                spoken += f" {word}"
                if place is None:
                    yield f"there is no {spoken}"
                    return
            before = word


def words_of(line):
    """The words of each run of the program or of deploy/test in a line, with the program first."""
    for part in re.split(r" && |; | \|\| ", re.sub(r"\s# .*", "", line)):
        part = part.strip()
        words = [word for word in re.sub(r"[\[\]]", " ", part.replace(" | ", " ")).split() if word not in {"…", "sudo"}]
        if part.startswith(NO_PROGRAM) or not words:
            continue
        programs = [
            number for number, word in enumerate(words)
            if re.fullmatch(r"([\w./]*/bin/)?companion|deploy/(run|test)", word) and (number == 0 or words[number - 1] not in NOT_BEFORE)]
        if programs and not (programs[-1] == 0 and len(words) == 1):
            found = words[programs[-1]:]
            for stop in (">", "2>&1", "#", "|"):
                found = found[:found.index(stop)] if stop in found else found
            yield found

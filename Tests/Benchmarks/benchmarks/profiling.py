"""Records a loaded server with perf, or runs it under callgrind, and prints the symbols that take most."""
import collections
import re
import shutil
import signal
import subprocess
import time

from .servers import Missing, need

PATHS = {"page": "/ios", "account": "/api/ios/account", "me": "/api/ios/me"}

# Symbols have these in common where no library has them; the first that fits counts.
KINDS = {
    "reference counting": r"swift_(?:nonatomic_)?(?:retain|release)|RefCount|bridgeObject(?:Retain|Release)",
    "generic metadata, witnesses, casts":
        r"[Mm]etadata|GenericCacheEntry|getCache|tryCast|dynamicCast|[Ww]itnessTable|AssociatedType|instantiateConcrete",
    "allocation": r"malloc|calloc|realloc|cfree|_int_free|unlink_chunk|swift_slow|allocObject|dealloc",
    "copies of values": r"initializeWithCopy|assignWithCopy|outlined|\bdestroy for|memmove|memcpy|_copy",
    "exclusivity checks": r"swift_(?:begin|end)Access|AccessSet",
    "tasks": r"swift_task|AsyncTask|swift_job|StatusRecord|StackAllocator|runJob",
    "strings": r"_string|String\.|_StringGuts|Character|Unicode",
    "JSONEncoder": r"JSON",
}


def run(bench, options):
    if shutil.which("perf") and not options.valgrind:
        perf(bench, options)
    else:
        try:
            need("valgrind", "valgrind")
        except Missing:
            raise Missing("perf", "linux-perf (or valgrind)") from None
        callgrind(bench, options)


def store_command(bench, options):
    """The program that does the row without a server; None for the others."""
    if options.row == "read":
        return [bench.store_binary, "read", bench.sessions(options.sessions), options.seconds, 1]
    if options.row == "sign-ins":
        return [bench.store_binary, "sign-in", bench.sub("sign-ins"), options.seconds]
    return None


def target_of(bench, options, launcher=(), binary=None):
    """Measures what is asked for; the server is run by `launcher`."""
    bench.launcher, bench.served = launcher, binary
    return bench.many(options.sessions) if options.row == "uncached" else bench.ours(PATHS[options.row])


# perf

def perf(bench, options):
    data = bench.folder / "perf.data"
    record = ["perf", "record", "-q", "-F", "1999", "--call-graph", "fp", "-o", data]
    command = store_command(bench, options)
    if command:
        checked([*record, "--", *command])
        summary = ""
    else:
        target = target_of(bench, options)
        target.load(options.connections, 2)
        recorder = subprocess.Popen(list(map(str, [*record, "-p", target.server.process.pid])))
        time.sleep(0.5)
        rate, cpu, _ = target.load(options.connections, options.seconds)
        recorder.send_signal(signal.SIGINT)
        recorder.wait()
        summary = f", {rate:,.0f} requests/s, {cpu:.1f} us of CPU for each (perf's own included)"
    shares = []
    for line in report(data, "--no-children", "-g", "none", "--sort", "dso,symbol").splitlines():
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) >= 3 and fields[0].endswith("%"):
            shares.append((float(fields[0][:-1]), fields[1], re.sub(r"^\[.\] ", "", fields[2])))
    libraries = collections.Counter()
    for share, library, _ in shares:
        libraries["the kernel" if library.startswith("[") else library] += share
    print(f"{options.row}{summary}")
    kinds = collections.Counter()
    for share, library, symbol in shares:
        if not library.startswith("["):
            kinds[next((kind for kind, pattern in KINDS.items() if re.search(pattern, symbol)), "other")] += share
    everything = report(data, "--children", "-g", "none", "-F", "overhead_children,symbol").splitlines()
    calls = [(line.split()[0], line.split()[-1]) for line in everything if re.search(r"__\w+_sys_\w+", line)]
    for title, parts in (("by library", libraries), ("outside the kernel", kinds)):
        print(f"{title}: " + ", ".join(f"{name} {share:.1f} %" for name, share in parts.most_common(10)))
    print("inside: " + ", ".join(f"{re.sub('__.*?_sys_', '', name)} {share.rstrip('%')} %" for share, name in calls[:12]))
    show([(share, library, symbol) for share, library, symbol in shares if not library.startswith("[")][:options.top],
         "our process's symbols")
    show([(share, library, symbol) for share, library, symbol in shares if library.startswith("[")][:10], "the kernel's")
    for share, library, symbol in [entry for entry in shares if not entry[1].startswith("[")][:options.callers]:
        print(f"\ncallers of {demangled(symbol).strip()} ({share:.1f} %)")
        print(demangled(callers(data, symbol)))


def report(data, *arguments):
    return checked(["perf", "report", "--stdio", "-q", "-t", "\t", "-i", data, *arguments])


def callers(data, symbol):
    """The chains of callers, the nearest first, by their part of the whole time."""
    text = checked(["perf", "report", "--stdio", "-q", "-i", data, "--no-children", "--sort", "symbol", "--symbols", symbol,
                    "--max-stack", "5", "-g", "folded,0.1,callee,function,percent"])
    lines = [line.split(None, 1) for line in text.splitlines() if ";" in line]
    return "\n".join(f"{share:>8}  " + chain.replace(";", " < ") for share, chain in lines[:12])


# callgrind

# Valgrind before 3.20 writes into the mask that `sigsuspend` is given, and libdispatch's cannot be written.
SIGSUSPEND = """
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
int sigsuspend(const sigset_t *mask) { sigset_t own = *mask; return syscall(SYS_rt_sigsuspend, &own, 8); }
"""


def callgrind(bench, options):
    # Valgrind 3.19 cannot read the debugging information of this compiler; the functions' names stay.
    command = store_command(bench, options)
    binary, shim, out = bench.folder / "stripped", bench.folder / "sigsuspend.so", bench.folder / "callgrind.out"
    checked(["strip", "--strip-debug", "-o", binary, command[0] if command else bench.binary])
    checked(["clang", "-shared", "-fPIC", "-x", "c", "-", "-o", shim], input=SIGSUSPEND)
    launcher = ["env", f"LD_PRELOAD={shim}", "valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}"]
    if command:
        checked([*launcher, binary, *command[1:]])
    else:
        target = target_of(bench, options, [*launcher, "--instr-atstart=no"], binary)
        checked(["callgrind_control", "-i", "on", target.server.process.pid])
        target.load(4, options.seconds)
        checked(["callgrind_control", "-i", "off", target.server.process.pid])
        target.server.stop()
    shares = []
    for line in checked(["callgrind_annotate", "--threshold=99", out]).splitlines():
        found = re.match(r"\s*[\d,]+ \(\s*([\d.]+)%\)\s+\S*?:(.+?)(?: \[(.*)\])?$", line)
        if found:
            shares.append((float(found[1]), (found[3] or "").rsplit("/", 1)[-1], found[2]))
    print(f"{options.row}: by instructions, without the kernel")
    show(shares[:options.top], "our process's symbols")


def show(shares, title):
    print(f"\n{title}")
    names = demangled("\n".join(symbol for _, _, symbol in shares)).splitlines()
    for (share, library, _), name in zip(shares, names):
        print(f"{share:6.2f} %  {library[:24]:<24}  {name[:150]}")


def demangled(text):
    return checked(["swift", "demangle", "--simplified"], input=text) if text else ""


def checked(command, **how):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **how)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr[-1000:]}")
    return done.stdout

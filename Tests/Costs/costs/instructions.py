"""Instructions of each function at two sizes of its input, counted by callgrind."""
import concurrent.futures
import itertools
import os
import subprocess

# Four times the input may take five times the instructions: an n log n passes, a square takes sixteen times as many.
LIMIT = 5
PARTS = 2
# From 2 KB on memcpy and memset are one instruction that callgrind counts once for each byte.
COPIES = "glibc.cpu.x86_rep_movsb_threshold=1000000000:glibc.cpu.x86_rep_stosb_threshold=1000000000"


def count(binary, folder, part, word):
    """The calls of one process: (function, size, input, instructions)."""
    folder = folder / str(part)
    folder.mkdir()
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--vgdb=no", "--collect-atstart=no", "--toggle-collect=costs_measured", "--dump-after=costs_measured",
         f"--callgrind-out-file={folder}/out", binary, str(part), str(PARTS), word],
        capture_output=True, text=True, env=os.environ | {"SWIFT_DETERMINISTIC_HASHING": "1", "GLIBC_TUNABLES": COPIES})
    assert done.returncode == 0, done.stderr[-2000:]
    calls = [line.split("\t") for line in done.stdout.splitlines()]
    return [(name, int(size), text, instructions(folder / f"out.{number}")) for number, (name, size, text) in enumerate(calls, 1)]


def instructions(path):
    for line in path.read_text().splitlines():
        if line.startswith("totals:"):
            return int(line.split()[1])
    raise AssertionError(f"{path} has no totals")


def ratios(binary, folder, word=""):
    """By function, the greatest growth and the input that has it."""
    stripped = folder / "Costs"
    # Valgrind 3.19 cannot read the debugging information of this compiler; the functions' names stay.
    subprocess.run(["strip", "--strip-debug", "-o", stripped, binary], check=True)
    with concurrent.futures.ThreadPoolExecutor(PARTS) as pool:
        calls = list(itertools.chain.from_iterable(pool.map(lambda part: count(stripped, folder, part, word), range(PARTS))))
    worst = {}
    for small, large in zip(calls[::2], calls[1::2]):
        assert small[0] == large[0] and small[1] < large[1], (small, large)
        ratio = large[3] / small[3]
        if ratio >= worst.get(small[0], (0,))[0]:
            worst[small[0]] = (ratio, small[2], large[3])
    return worst

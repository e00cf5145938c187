"""The commands that operators run, as processes, on the database that several companions share."""
import concurrent.futures
import contextlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import time

import patience
from machines.database import BINARIES, PASSWORD
from patience import true_after, until

# A companion trusts what it has read for a second, and reports itself each second.
STALENESS = 5


def succeeded(done):
    assert done.returncode == 0, f"{done.args[1:3]} ended with {done.returncode}: {done.stdout[-300:]}{done.stderr[-600:]}"
    return done.stdout


def refused(done, why):
    """It has failed, and its sentence says why."""
    assert done.returncode == 1 and why in done.stderr, f"{done.args[1:3]}: {done.returncode} {done.stdout[-300:]}{done.stderr[-600:]}"
    return done.stderr


def listed(node):
    """Key and accounts of each session, as `sessions list` prints them."""
    lines = [line.split() for line in succeeded(node.run("sessions", "list")).splitlines()]
    for line in lines:
        assert re.fullmatch(r"\d+", line[0]) and all(re.fullmatch(r"[\dT:-]+Z", time) for time in line[1:3]), line
    return {line[0]: line[3:] for line in lines}


def newcomer(site, username):
    """A browser that has just signed in, and its session's key."""
    before = listed(site.nodes[0]).keys()
    visitor = site.visitor().signed_in(username=username)
    after = listed(site.nodes[1])
    (key,) = after.keys() - before
    assert after[key] == [f"ios:{username}"], after[key]
    return visitor, key


def until_signed_out(site, visitor):
    true_after(STALENESS, lambda: all(site.at(node, visitor).account() is None for node in site.nodes), "signed out everywhere")


def ended(site, *arguments):
    """The number of sessions that `sessions revoke` has ended, as it says; run beside any companion."""
    return int(re.fullmatch(r"(\d+) ended\n", succeeded(site.nodes[2].run("sessions", "revoke", *arguments)))[1])


def sessions_are_ended(site):
    """By key, by username, and all: each companion follows."""
    adele, key = newcomer(site, "adele@contoso.example")
    megan, _ = newcomer(site, "megan@contoso.example")
    alex, _ = newcomer(site, "alex@outlook.example")
    assert ended(site, key) == 1
    until_signed_out(site, adele)
    site.assert_all_signed_in([megan, alex])
    assert ended(site, key) == 0
    assert ended(site, "--username", "MEGAN@contoso.example") >= 1
    until_signed_out(site, megan)
    site.assert_all_signed_in([alex])
    assert ended(site, "--all") >= 1
    until_signed_out(site, alex)
    assert listed(site.nodes[0]) == {}


@contextlib.contextmanager
def nobody_purges(site):
    """No companion does it by itself meanwhile."""
    def set_until(value):
        site.primary.ask(f"UPDATE chore SET by_process = 'a test', until = {value} WHERE name = 'purge'", "companion")
    set_until("9e15")
    try:
        yield
    finally:
        set_until(0)


def sessions_are_purged(site):
    """Deletes what is over, and nothing else."""
    with nobody_purges(site):
        unused, first = newcomer(site, "adele@contoso.example")
        old, second = newcomer(site, "megan@contoso.example")
        kept, third = newcomer(site, "alex@outlook.example")
        succeeded(site.nodes[1].run("sessions", "purge"))
        deleted = 0

        def are_deleted():
            nonlocal deleted
            # Who has used a session within the last half hour may be at the provider: it would be emptied, and deleted later.
            for change, key in (("last_seen_at = 1000", first), ("created_at = 1000, last_seen_at = last_seen_at - 2000000", second)):
                site.primary.ask(f"UPDATE session SET {change}, version = version + 1 WHERE key = {key}", "companion")
            said = succeeded(site.nodes[1].run("sessions", "purge"))
            deleted += int(re.fullmatch(r"(\d+) deleted\n", said)[1])
            # Once a minute a companion writes what it remembers, which is the uses from before these changes.
            used = site.primary.ask(
                f"SELECT count(*) FROM session WHERE key IN ({first}, {second}) AND last_seen_at > 1000 * extract(epoch FROM now()) - 1800000", "companion")
            assert deleted + int(used) == 2, f"{said.strip()}, {deleted} in all, {used} used meanwhile"
            return deleted == 2

        until(are_deleted, "both are deleted")
        keys = listed(site.nodes[0]).keys()
        assert third in keys and not keys & {first, second}, keys
        for visitor in (unused, old):
            until_signed_out(site, visitor)
        site.assert_all_signed_in([kept])


def restart(node, key):
    """With this key file."""
    if node.is_running():
        node.stop()
    node.seal_with(key)
    node.start()


def key_uses(node):
    """Duty and count of values of each key."""
    lines = [line.split() for line in succeeded(node.run("keys", "list")).splitlines()]
    return {key: (duty, int(values)) for key, duty, values in lines}


def keys_are_rotated(site):
    """A new key waits until every companion has it; one that lacks it does not start when it is in use."""
    near, _, far = site.nodes
    own = far.folder / "own.key"
    shutil.copy(site.key, own)
    restart(far, own)
    began = time.monotonic()
    (old,) = key_uses(near)
    usual = time.monotonic() - began
    first = site.visitor().signed_in()
    began = time.monotonic()
    printed = succeeded(near.run("keys", "rotate"))
    took = time.monotonic() - began
    new = re.search(r"The new key is (\w+)\.", printed)[1]
    assert f"does not seal yet: copy {site.key} to {socket.gethostname()}." in printed, printed
    # It waits for the others for five seconds, and no longer.
    assert took < 5 + 10 * usual + 1, f"{took:.1f} s, and keys list takes {usual:.2f} s"
    second = site.visitor().signed_in()
    uses = key_uses(near)
    assert uses[new] == ("waits", 0) and uses[old][0] == "seals" and uses[old][1] > 0, uses
    refused(near.run("keys", "retire"), f"The key {new} does not seal yet: give it first to the servers on")
    assert key_uses(near).keys() == {old, new}

    outdated = own.read_bytes()
    shutil.copy(site.key, own)
    until(lambda: key_uses(near)[old] == ("opens", 0) and key_uses(near)[new][0] == "seals", "all is sealed anew")
    third = site.visitor().signed_in()
    refused(near.run("keys", "retire"), "browsers may bring back sign-ins that an older key has sealed")
    os.utime(site.key, (time.time() - 1811,) * 2)
    printed = succeeded(near.run("keys", "retire"))
    assert f"{old} was removed from {site.key}." in printed, printed
    assert key_uses(near).keys() == {new}
    site.assert_all_signed_in([first, second, third])
    for visitor in (first, second, third):
        assert visitor.get("/api/ios/me").status == 200

    far.stop()
    own.write_bytes(outdated)
    far.launch()
    assert far.process.wait(patience.SECONDS) == 1
    assert new in far.log.read_text().splitlines()[-1], far.log.read_text()[-600:]
    restart(far, site.key)
    site.front.until_up()
    site.assert_all_signed_in([first, second, third])


def a_backup_is_restored(site):
    """The command that `backup` prints copies all that a companion needs."""
    people = site.people(3)
    folder = site.folder / "backup"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    sentence = refused(site.nodes[0].run("backup", str(folder / "copy")), "is a PostgreSQL database")
    assert f"the key (file {site.key})" in sentence, sentence
    command = next(line.strip() for line in sentence.splitlines() if "pg_dump" in line)
    environment = os.environ | {"PGPASSWORD": PASSWORD, "PATH": f"{BINARIES}:{os.environ['PATH']}"}
    subprocess.run(shlex.split(command), env=environment, check=True, timeout=2 * patience.SECONDS)
    site.primary.make("restored")
    restored = site.address("restored")
    subprocess.run([BINARIES / "pg_restore", "--no-owner", "--exit-on-error", "-d", restored, folder / "copy"], env=environment,
                   check=True, timeout=2 * patience.SECONDS)
    with site.one_on(restored) as node:
        assert all(site.at(node, person).get("/api/ios/me").status == 200 for person in people)


def moved_to_a_file_and_back(site):
    """People stay signed in, and nothing moves while a companion works."""
    people = site.people(3)
    for left in site.folder.glob("moved.sqlite*"):
        left.unlink()
    file = str(site.folder / "moved.sqlite")
    runner = site.nodes[0]
    refused(runner.run("migrate", "--to", file), "stop all servers")
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda node: node.stop(), site.nodes))
    count = int(site.primary.ask("SELECT count(*) FROM session", "companion"))
    try:
        assert f"{count} sessions were copied" in succeeded(runner.run("migrate", "--to", file))
        refused(runner.run("migrate", "--to", file), "sessions already, and nothing was copied")
        with site.one_on(file) as node:
            assert all(site.at(node, person).get("/api/ios/me").status == 200 for person in people)
            refused(runner.run("migrate", "--database", file, "--to", site.address("back")), "stop all servers")
        site.primary.make("back")
        back = site.address("back")
        assert f"{count} sessions were copied" in succeeded(runner.run("migrate", "--database", file, "--to", back))
        assert "is already up to date" in succeeded(runner.run("migrate", "--database", back))
        with site.one_on(back) as node:
            assert all(site.at(node, person).get("/api/ios/me").status == 200 for person in people)
    finally:
        for node in site.nodes:
            node.start()
        site.front.until_up()
    site.assert_all_signed_in(people)


def companions_at_work(site):
    """The number of companions that `check` names."""
    return findings(site)["database_servers"]["what"].count(f"{socket.gethostname()} (")


def findings(site):
    """The findings of `check` about each subject."""
    return {finding["subject"]: finding for finding in json.loads(site.nodes[1].run("check", "--json").stdout)["findings"]}


def checked(site):
    """`check` has a line for each thing, and names the companions that work with the database."""
    until(lambda: companions_at_work(site) == 3, "those that were killed are forgotten")
    site.nodes[0].stop()
    try:
        assert companions_at_work(site) == 2, "the one that stopped is named"
    finally:
        site.nodes[0].start()
        site.front.until_up()
    true_after(STALENESS, lambda: companions_at_work(site) == 3, "the one that started is named")
    found = findings(site)
    for subject in ("database", "database_connection", "database_schema", "database_writable", "database_clock", "database_servers"):
        assert found[subject]["severity"] == "good", found[subject]
    # On which side of the boundary a busy machine is, PostgresCheckTests says.
    assert found["database_latency"]["severity"] in ("good", "advice"), found["database_latency"]
    assert found["database_timeouts"]["severity"] == "advice"
    site.primary.ask("ALTER ROLE companion SET statement_timeout = '10s'")
    site.primary.ask("ALTER ROLE companion SET idle_in_transaction_session_timeout = '30s'")
    assert findings(site)["database_timeouts"]["severity"] == "good"


TESTS = [
    ("check reports each thing about the database, and which companions share it", checked),
    ("sessions list and revoke: by key, by username and all, and every companion follows", sessions_are_ended),
    ("sessions purge deletes what is over, and nothing else", sessions_are_purged),
    ("keys rotate: a key waits until every companion has it; keys retire", keys_are_rotated),
    ("backup: what pg_dump copies as it says serves a companion", a_backup_is_restored),
    ("migrate --to a file and back: people stay signed in", moved_to_a_file_and_back),
]

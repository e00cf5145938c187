"""The row that measures sessions on PostgreSQL beside the same ones on SQLite, on this machine."""
import concurrent.futures
import functools
import statistics

from .load import Target, in_turn, median, median_ratio
from .report import Result
from .rows import row
from .servers import free_ports, processor_seconds


class OnPostgreSQL(Target):
    """Also measures the CPU time that the database takes for each request, in microseconds."""

    def __init__(self, bench, *arguments, **more):
        super().__init__(*arguments, **more)
        self.bench = bench

    def load(self, connections, seconds):
        before = processor_seconds(self.bench.postgresql.process.pid)
        rate, *others = super().load(connections, seconds)
        used = processor_seconds(self.bench.postgresql.process.pid) - before
        return rate, *others, used / max(1, rate * seconds) * 1e6


class Together:
    """Several servers under one load."""

    def __init__(self, targets):
        self.targets = targets

    def load(self, connections, seconds):
        with concurrent.futures.ThreadPoolExecutor(len(self.targets)) as pool:
            runs = list(pool.map(lambda target: target.load(connections // len(self.targets), seconds), self.targets))
        total = sum(run[0] for run in runs)
        return total, sum(run[0] * run[1] for run in runs) / total, max(run[2] for run in runs)


def beside_sqlite(bench, case, ours, theirs):
    runs = in_turn([ours, theirs], 64, bench.options.rounds, bench.options.seconds)
    yield Result("postgres", case, "/s", median(runs[0]), "SQLite", median(runs[1]), median_ratio(*runs), median(runs[0], 1),
                 median(runs[1], 1))
    yield Result("postgres", f"{case}: CPU of the database", "us", median(runs[0], 3))


@row("postgres")
def postgres(bench):
    """Sessions on PostgreSQL beside SQLite: cached, revalidated, uncached, whole sign-ins, two companions, a purge."""
    yield from one_session(bench)
    yield from uncached(bench)
    yield from sign_ins(bench)


def one_session(bench):
    """Trusted in memory for a second; revalidated by its version at each request, by one companion and by two."""
    count = bench.options.sessions[0]
    # Sessions move while no server works with them.
    source, (address, folder) = bench.sessions(count), bench.moved(count)
    cookie = (source / "cookies").read_text().split()[0]

    def target(kind, name, **settings):
        server = bench.serve(name, free_ports(), **settings)
        return kind(server, "/api/ios/account", [f"Cookie: companion-{server.port}={cookie}"])

    theirs = target(Target, "sqlite-one-session", database=str(source / "companion.sqlite"))
    common = {"database": address, "encryption_key_file": str(folder / "companion.key")}
    on_postgresql = functools.partial(OnPostgreSQL, bench)
    cached = target(on_postgresql, "postgresql-cached", **common)
    strict = [target(on_postgresql, f"postgresql-strict-{number}", staleness_seconds=0, **common) for number in (1, 2)]
    yield from beside_sqlite(bench, "cached session", cached, theirs)
    yield from beside_sqlite(bench, "revalidated session", strict[0], theirs)
    one, two = in_turn([strict[0], Together(strict)], 64, bench.options.rounds, bench.options.seconds)
    yield Result("postgres", "revalidated, two companions", "/s", median(two), "one", median(one), median_ratio(two, one),
                 median(two, 1), median(one, 1))
    for one in (theirs, cached, *strict):
        one.server.stop()


def stored(bench, mine, others, verb, *arguments):
    """Runs of the program for the store on both, in turn."""
    runs = [(bench.store(verb, mine, *arguments), bench.store(verb, others, *arguments)) for _ in range(bench.options.rounds)]
    return [run[0] for run in runs], [run[1] for run in runs]


def compared(case, unit, ours, theirs, value):
    """One result of such runs; `value` takes a run's number."""
    pairs = [(value(one), value(other)) for one, other in zip(ours, theirs)]
    return Result("postgres", case, unit, statistics.median(pair[0] for pair in pairs), "SQLite",
                  statistics.median(pair[1] for pair in pairs), statistics.median(one / other for one, other in pairs),
                  statistics.median(run["cpu_us"] for run in ours), statistics.median(run["cpu_us"] for run in theirs))


def uncached(bench):
    """The store's API without a cache, then any of very many at the server, with the growth of both."""
    seconds, least = bench.options.seconds, None
    for count in bench.options.sessions:
        address, folder = bench.moved(count)
        runs = stored(bench, folder, bench.sessions(count), "read", seconds, 1)
        time = compared(f"{count:,} sessions, one at a time", "us", *runs, lambda run: 1e6 / run["rate"])
        yield time
        runs = stored(bench, folder, bench.sessions(count), "read", seconds, 64)
        several = compared(f"{count:,} sessions, 64 at once", "/s", *runs, lambda run: run["rate"])
        yield several
        least = least or several.ours
        if count > bench.options.sessions[0]:
            yield Result("postgres", f"{count:,} sessions, 64 at once", "/s", several.ours, f"{bench.options.sessions[0]:,} sessions",
                         least, several.ours / least)
        # The first deletes what there is to delete.
        for place in (folder, bench.sessions(count)):
            bench.store("purge", place, 1)
        runs = stored(bench, folder, bench.sessions(count), "purge", 30)
        yield compared(f"{count:,} sessions, a purge of none", "ms", *runs, lambda run: 1e3 / run["rate"])
    count = bench.options.sessions[-1]
    server = bench.serve(f"postgresql-of-{count}", free_ports(), database=address,
                         encryption_key_file=str(folder / "companion.key"))
    many = OnPostgreSQL(bench, server, "/api/ios/account", script=bench.random_cookies, cookies=folder / "cookies")
    other = bench.many(count)
    yield from beside_sqlite(bench, f"account, any of {count:,}", many, other)
    for one in (server, other.server):
        one.stop()
    size = int(bench.postgresql.ask(f"SELECT pg_database_size('sessions-{count}')"))
    yield Result("postgres", f"on the disk, each of {count:,}", "KB", size / count / 1024)


def sign_ins(bench):
    """Whole sign-ins at the store, 64 at a time, each of them durable."""
    mine = bench.postgresql_folder(bench.new_database("sign-ins"), "postgresql-sign-ins")
    runs = stored(bench, mine, bench.sub("sqlite-sign-ins"), "sign-in", bench.options.seconds)
    yield compared("sign-ins at the store, 64 at once", "/s", *runs, lambda run: run["rate"])

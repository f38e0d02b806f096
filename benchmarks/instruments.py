#!/usr/bin/env python3
"""What it costs a MariaDB server to time commits and to show current waits, by the order-entry load on the same data."""

import json
import subprocess

from bench import repeats, report
from oltp_mariadb import WAY, MariaDb

# Transactions are counted, too: without that the server reports statements only.
FILES = ["--performance-schema=ON", "--performance-schema-instrument=wait/io/file/%=ON", "--innodb-monitor-enable=trx_%commits"]
COMMITS = ["--performance-schema-instrument=stage/sql/Commit=ON", "--performance-schema-consumer-events-waits-current=ON"]
KEPT = "instruments"


def load(given, *more):
    """The rungs of one load."""
    command = [given.assay, "bench", "oltp", WAY.assay, "--warehouses", given.warehouses, "--schema", "assay_instruments", "--keep", "--json",
               "--quiet", "--store", given.store, "--sessions", given.users, *more]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["load"]["steps"]


def measured(given, settings):
    """Commits a second and CPU of the server a commit, by users."""
    with MariaDb(given.bindir, given.directory, KEPT, settings):
        rungs = load(given, "--time", f"{given.seconds}s", "--warm-up", "4s")
    return {"users": {str(rung["sessions"]): figures(rung) for rung in rungs}}


def figures(rung):
    """What one rung gave."""
    commits = rung["database"]["commits"]
    return {"commits_per_s": commits / (rung["measurement"]["elapsed_ns"] / 1e9), "server_cpu_ms": rung["server_cpu_s"] * 1e3 / commits}


def row(done, users):
    """Medians of both sides and the ratios of the pairs."""
    def of(name):
        return lambda side: side["users"][users][name]

    cells = [users]
    for name, digits in (("commits_per_s", 0), ("server_cpu_ms", 3)):
        cells += [f"{repeats.median(done, side, of(name)):.{digits}f}" for side in ("files", "commits")]
        cells.append(str(repeats.Ratio(done, "commits", "files", of(name))))
    return cells


def main():
    parser = report.options(__doc__, repeats=3, seconds=10.0)
    parser.add_argument("--bindir", default="/usr/sbin", help="where mariadbd lies")
    parser.add_argument("--store", default="instruments-runs", help="where the runs are kept")
    parser.add_argument("--warehouses", default="4")
    parser.add_argument("--users", default="1,16")
    given = parser.parse_args()
    with MariaDb(given.bindir, given.directory, KEPT):
        load(given, "--time", "1s")
    done = repeats.alternate(repeats.Plan(given), {"files": lambda: measured(given, FILES), "commits": lambda: measured(given, FILES + COMMITS)})
    report.keep(given, "instruments", {"repeats": done})
    used, how = repeats.chosen(done)
    report.table(["users", "commits/s, files timed", "commits, too", "ratio", "server's CPU a commit, ms", "commits, too", "ratio", "repeats"],
                 [[*row(used, users), how] for users in given.users.split(",")])


if __name__ == "__main__":
    main()

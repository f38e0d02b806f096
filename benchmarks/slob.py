#!/usr/bin/env python3
"""The SLOB method and `pgbench -M prepared` with an equal statement on one server; a server that Assay creates: ready, loaded, and its reads against the device's."""

import json
import operator
import os
import pwd
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import machine, repeats, report

BAR_LOAD_S, BAR_RATE, BAR_CPU, BAR_READS, BAR_READY_S = 20.0, 1.0, 1.0, 0.02, 3.0
LOAD_BYTES = 2 << 30
SESSIONS = (1, 8)
# Small enough for the server's cache: what is compared is the client and not the disk.
CACHED = "128MiB"
ROWS = 128 * 128
SETTINGS = {
    "listen_addresses": "", "unix_socket_directories": ".", "shared_buffers": "512MB", "autovacuum": "off", "jit": "off",
    "max_connections": "100", "track_io_timing": "on",
}
PLAN = "-c enable_bitmapscan=off -c enable_seqscan=off -c enable_indexonlyscan=off -c plan_cache_mode=force_generic_plan " \
       "-c jit=off -c max_parallel_workers_per_gather=0 -c track_io_timing=on"


class Server:
    """A server of the script's own, as an unprivileged user; gone with its directory, unless that was named to be kept."""

    def __init__(self, bindir, directory, kept=None):
        self.bindir, self.kept = Path(bindir), kept
        if kept:
            self.path = Path(directory, kept)
            self.path.mkdir(exist_ok=True)
        else:
            self.path = Path(tempfile.mkdtemp(prefix="slob-", dir=directory))
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            entry = pwd.getpwnam(self.user)
            os.chown(self.path, entry.pw_uid, entry.pw_gid)
        if not (self.path / "data").exists():
            self._run("initdb", "-D", self.path / "data", "-U", "postgres", "--auth=trust", "--locale=C", "--no-sync")
        words = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        log = open(self.path / "log", "w", encoding="utf-8")
        self.process = subprocess.Popen([self.bindir / "postgres", "-D", self.path / "data", *words],
                                        user=self.user, cwd=self.path, stdout=log, stderr=log, process_group=0)
        self.address = f"postgresql:///postgres?host={self.path / 'data'}&user=postgres"
        self._wait()

    def _run(self, name, *words):
        subprocess.run([self.bindir / name, *words], user=self.user, cwd=self.path, check=True, stdout=subprocess.DEVNULL)

    def _wait(self):
        for _ in range(500):
            ready = subprocess.run([self.bindir / "pg_isready", "-h", self.path / "data", "-t", "1", "-q"], check=False)
            if ready.returncode == 0:
                return
        raise SystemExit("the server did not start")

    def sql(self, text):
        """The first column of all rows."""
        done = subprocess.run([self.bindir / "psql", "-XAtq", "-c", text, self.address], check=True, capture_output=True, text=True)
        return done.stdout.split()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # What is kept is closed in order, so that the next start has nothing to recover.
        self.process.send_signal(signal.SIGINT if self.kept else signal.SIGQUIT)
        self.process.wait()
        if not self.kept:
            shutil.rmtree(self.path)


def assay(given, target, *words):
    """One ladder; the document of the load."""
    command = [given.assay, "bench", "slob", target, *words, "--json", "--quiet", "--store", given.store]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["load"]


def by_assay(given, server, sessions):
    """Statements a second and client CPU of a statement."""
    load = assay(given, server.address, "--scale", CACHED, "--work-unit", "1", "--sessions", str(sessions), "--time", f"{given.seconds:g}s")
    rung = load["steps"][0]
    ios = sum(found["ios"] for stream in rung["measurement"]["streams"] for found in stream["operations"].values())
    rate = ios / (rung["measurement"]["elapsed_ns"] / 1e9)
    return {"rate": rate, "cpu_s": rung["client_cpu_s"] / ios, "statements": ios}


def by_pgbench(given, server, table, sessions):
    """The same by pgbench, a thread a session as there."""
    script = server.path / "script.sql"
    script.write_text(f"\\set k random(1, {ROWS})\nSELECT count(c2) FROM {table} WHERE custid BETWEEN :k AND :k;\n", encoding="utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [server.bindir / "pgbench", "-n", "-M", "prepared", "-f", script, "-c", str(sessions), "-j", str(given.threads or sessions),
               "-T", str(round(given.seconds)), server.address]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "PGOPTIONS": PLAN})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    number = {line.split(":")[0].split(" = ")[0]: line for line in done.stdout.splitlines()}
    statements = int(number["number of transactions actually processed"].split(":")[1].split("/")[0])
    rate = float(number["tps"].split(" = ")[1].split()[0])
    return {"rate": rate, "cpu_s": cpu_s / statements, "statements": statements}


def by_bare_client(given, server, table, sessions):
    """The same by the least client there is: a write and a read a statement."""
    words = [server.path / "data" / ".s.PGSQL.5432", table, str(ROWS), str(sessions), f"{given.seconds:g}"]
    found = json.loads(subprocess.run([given.bare, *words], capture_output=True, text=True, check=True).stdout)
    return {"rate": found["rate"], "cpu_s": found["cpu_us"] / 1e6, "statements": found["statements"]}


def against_pgbench(given, raw, lines):
    """Alternating repeats on one server with all rows in its cache."""
    with Server(given.bindir, given.directory) as server:
        assay(given, server.address, "--scale", CACHED, "--work-unit", "1", "--sessions", "1", "--work", "1", "--keep")
        table = server.sql("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'assay_kept%'")[0] + ".cf1"
        server.sql(f"SELECT count(c2) FROM {table}")
        for sessions in SESSIONS:
            name = f"{sessions} sessions"
            if given.only not in name:
                continue
            print(name, file=sys.stderr, flush=True)
            sides = {"assay": lambda: by_assay(given, server, sessions), "pgbench": lambda: by_pgbench(given, server, table, sessions)}
            if given.bare:
                sides["bare client"] = lambda: by_bare_client(given, server, table, sessions)
            raw[name] = repeats.alternate(repeats.Plan(given), sides)
            lines.append(row(name, raw[name]))


def row(name, done):
    """All sides of one case."""
    used, count = repeats.chosen(done)
    others = [side for side in ("pgbench", "bare client") if side in done[0]["sides"]]
    return [name, *compared(used, others, "rate", 1, lambda ratio: report.bar(ratio >= BAR_RATE, "≥ 1.0")),
            *compared(used, others, "cpu_s", 1e6, lambda ratio: report.bar(ratio <= BAR_CPU, "≤ 1.0")), count]


def compared(used, others, what, unit, judge):
    """The medians of all sides, and the ratios to the others; the bar is that to pgbench."""
    value = operator.itemgetter(what)
    medians = [f"{unit * repeats.median(used, side, value):,.{0 if unit == 1 else 1}f}" for side in ("assay", *others)]
    ratios = [repeats.Ratio(used, "assay", other, value) for other in others]
    return [" / ".join(medians), f"{ratios[0]} {judge(ratios[0].median)}", *(str(ratio) for ratio in ratios[1:])]


def on_disk(given, raw):
    """Loading 2 GiB, and reads of the database against those of the device, with a server past the page cache."""
    load = assay(given, given.directory, "--bindir", given.bindir, "--scale", str(LOAD_BYTES >> 30) + "GiB", "--sessions", "1,4,8", "--time", f"{given.seconds:g}s")
    for rung in load["steps"]:
        # What is on the page of the run; the figures of the table stay.
        rung.pop("profile", None)
    raw["disk"] = load
    filled_s, ready_s = load["filled"]["elapsed_s"], load["server"]["ready_s"]
    print(f"\nA server was ready in {ready_s:.2f} s: {report.bar(ready_s < BAR_READY_S, '< 3 s')}; "
          f"2 GiB were loaded in {filled_s:.1f} s: {report.bar(filled_s < BAR_LOAD_S, '< 20 s')}\n")
    rows = []
    for rung in load["steps"]:
        database, device = rung["database"]["reads"], rung["device"]["counters"]["read_ios"]
        elapsed_s, off = rung["measurement"]["elapsed_ns"] / 1e9, abs(database / device - 1)
        rows.append([str(rung["sessions"]), f"{database / elapsed_s:,.0f}", f"{device / elapsed_s:,.0f}",
                     f"{100 * off:.2f}% {report.bar(off <= BAR_READS, '≤ 2%')}"])
    report.table(["sessions", "database reads/s", "device reads/s", "apart"], rows)


def heads(given):
    """Of the table against other clients."""
    sides = "Assay / pgbench" + (" / bare client" if given.bare else "")
    ratios = ["to pgbench", *(["to the bare client"] if given.bare else [])]
    return ["load", f"SQL/s {sides}", *ratios, f"client CPU a statement, µs: {sides}", *ratios, "repeats"]


def main():
    parser = report.options(__doc__, repeats=3, extra=0, seconds=8.0)
    parser.add_argument("--bindir", required=True, help="programs of a PostgreSQL server, pgbench and psql among them")
    parser.add_argument("--threads", type=int, default=0, help="threads of pgbench; one a session without it")
    parser.add_argument("--bare", help="the example `bare_client` of assay-postgres, release build: the least that a client does")
    given = parser.parse_args()
    given.directory = os.path.abspath(given.directory)
    given.store = tempfile.mkdtemp(prefix="slob-store-")
    raw, lines = {}, []
    if any(given.only in f"{sessions} sessions" for sessions in SESSIONS):
        against_pgbench(given, raw, lines)
        report.table(heads(given), lines)
    if given.only in "disk":
        on_disk(given, raw)
    shutil.rmtree(given.store)
    report.keep(given, "slob", {"cases": raw, "device": machine.device_of(given.directory)})


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The order-entry load on one server: loading, new orders a minute by users and client CPU of them, compared with HammerDB and go-tpc.

`--kept NAME --only prepare` loads the tables of all sides into a server that stays in the directory; runs with the same name use it.
HammerDB wants Tcl and a Pgtcl that is safe in threads (3.1 or newer, found by TCLLIBPATH). It measures whole minutes; its source says
how long one is, so a minute may be made shorter there, and --hammerdb-minute says how long it is here.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

from bench import machine, repeats, report
from slob import SETTINGS, Server

BAR_LOAD_S, BAR_MIB, MANY = 20.0, 200, 500
# Which way to call is held against which peer, with the least ratio of rates and the largest of client CPU.
PEERS = {"HammerDB": ("proc", 1.0, 0.5), "go-tpc": ("stmt", 1.2, 0.3)}
# A cache that holds all data: what is compared is client and statements, not the disk.
SETTINGS.update({"shared_buffers": "2GB", "autovacuum": "on", "checkpoint_timeout": "15min", "max_wal_size": "8GB",
                 "listen_addresses": "127.0.0.1", "port": "54190", "max_connections": "600"})
PORT = SETTINGS["port"]
# All programs of the server look there for it.
os.environ["PGPORT"] = PORT


class Postgres(Server):
    """The server that all sides use."""

    def has(self, database):
        """Whether there is a database of this name."""
        return bool(self.sql(f"SELECT 1 FROM pg_database WHERE datname = '{database}'"))


@dataclass
class Way:
    """How each side reaches the same server, over loopback TCP."""

    assay: str
    # Options of the peer behind its command.
    go_tpc: list
    # Scripts of the peer: what stands before each, what builds its tables, and a run.
    hammerdb: str
    hammerdb_build: str
    hammerdb_run: str


def assay(given, target, *words):
    """One ladder; the document of the load."""
    command = [given.assay, "bench", "oltp", target, "--warehouses", str(given.warehouses), *words, "--json", "--quiet", "--store", given.store]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["load"]


def stream_ios(rung, name):
    """Transactions of a stream."""
    found = [stream for stream in rung["measurement"]["streams"] if stream["name"] == name]
    return sum(result["ios"] for stream in found for result in stream["operations"].values())


def figures(rung):
    """New orders a minute, and CPU seconds of a thousand of them."""
    orders = stream_ios(rung, "new order")
    return {"rate": 60e9 * orders / rung["measurement"]["elapsed_ns"], "cpu_s": 1000 * rung["client_cpu_s"] / orders,
            "server_cpu_s": rung["server_cpu_s"] and 1000 * rung["server_cpu_s"] / orders, "orders": orders}


def by_assay(given, way, calls, users):
    """One rung of Assay."""
    load = assay(given, way.assay, "--calls", calls, "--sessions", str(users), "--time", f"{given.seconds:g}s", "--warm-up", "2s")
    return figures(load["steps"][0])


def go_tpc(given, way, *words):
    """One command of the peer, its output and its CPU seconds."""
    command = [given.go_tpc, "tpcc", *words, *way.go_tpc, "-H", "127.0.0.1", "-D", "gotpc", "--warehouses", str(given.warehouses)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def by_go_tpc(given, way, users):
    """One run of the peer: its last summary counts new orders a minute."""
    output, cpu_s = go_tpc(given, way, "run", "-T", str(users), "--time", f"{round(given.seconds)}s")
    found = re.findall(r"\[Summary\] NEW_ORDER - Takes\(s\): ([0-9.]+), Count: (\d+)", output)
    elapsed_s, orders = float(found[-1][0]), int(found[-1][1])
    return {"rate": 60 * orders / elapsed_s, "cpu_s": 1000 * cpu_s / orders, "orders": orders}


HAMMERDB_ALWAYS = """
dbset db pg
dbset bm TPC-C
diset connection pg_host 127.0.0.1
diset connection pg_port {port}
diset connection pg_sslmode disable
diset tpcc pg_superuser postgres
diset tpcc pg_superuserpass x
diset tpcc pg_defaultdbase postgres
diset tpcc pg_user tpcc
diset tpcc pg_pass tpcc
diset tpcc pg_dbase tpcc
diset tpcc pg_count_ware {warehouses}
diset tpcc pg_storedprocs true
"""
HAMMERDB_BUILD = "diset tpcc pg_num_vu 2\nbuildschema\n"
HAMMERDB_RUN = """
diset tpcc pg_driver timed
diset tpcc pg_rampup 0
diset tpcc pg_duration 1
diset tpcc pg_allwarehouse true
loadscript
vuset vu {users}
vuset logtotemp 0
vucreate
vurun
vudestroy
"""


def hammerdb(given, way, script):
    """One script of the peer, its output and its CPU seconds."""
    path = os.path.join(given.store, "hammerdb.tcl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(way.hammerdb.format(warehouses=given.warehouses) + script)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["tclsh8.6", "./hammerdbcli", "tcl", "auto", path], cwd=given.hammerdb, capture_output=True, text=True, check=False,
                          timeout=600, env={**os.environ, "TMP": given.store})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout + done.stderr, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def by_hammerdb(given, way, users):
    """One run of the peer: it counts the new orders of a minute, ever so long."""
    output, cpu_s = hammerdb(given, way, way.hammerdb_run.format(users=users))
    found = re.findall(r"System achieved (\d+) NOPM", output)
    if not found:
        raise SystemExit(output)
    orders = int(found[-1])
    return {"rate": 60 * orders / given.hammerdb_minute, "cpu_s": 1000 * cpu_s / orders, "orders": orders}


def prepare(given, server, way):
    """The tables of all sides; those of Assay stay because they are kept."""
    assay(given, way.assay, "--sessions", "1", "--time", "1s", "--warm-up", "5s", "--keep")
    if given.go_tpc and not server.has("gotpc"):
        server.sql("CREATE DATABASE gotpc")
        go_tpc(given, way, "prepare", "-T", "2", "--no-check")
    if given.hammerdb and not server.has("tpcc"):
        output, _ = hammerdb(given, way, way.hammerdb_build)
        if "SCHEMA COMPLETE" not in output.upper():
            raise SystemExit(output)


def loading(given, server, way, raw, bar_s=BAR_LOAD_S):
    """Seconds to load, key and analyse."""
    times = []
    for _ in range(given.loads):
        load = assay(given, way.assay, "--sessions", "1", "--time", "1s", "--warm-up", "0s")
        times.append(load["filled"]["elapsed_s"])
    raw["load_s"] = times
    best, bytes_all = min(times), load["filled"]["table_bytes"] + load["filled"]["index_bytes"]
    print(f"\n{given.warehouses} warehouses ({bytes_all / 1e6:,.0f} MB with keys) loaded, keyed and analysed in "
          f"{', '.join(f'{one:.1f}' for one in times)} s: {report.bar(best < bar_s, f'< {bar_s:g} s')}\n")
    if given.go_tpc:
        server.sql("CREATE DATABASE gotpc")
        begun = time.monotonic()
        go_tpc(given, way, "prepare", "-T", "2", "--no-check")
        raw["go_tpc_load_s"] = time.monotonic() - begun
        print(f"go-tpc: {raw['go_tpc_load_s']:.1f} s\n")


def many_sessions(given, way, raw):
    """Memory of one client process with many sessions."""
    command = [given.assay, "bench", "oltp", way.assay, "--warehouses", str(given.warehouses), "--sessions", str(MANY),
               "--time", f"{given.seconds:g}s", "--json", "--quiet", "--store", given.store]
    with open(os.path.join(given.store, "many.json"), "w+", encoding="utf-8") as kept:
        process = subprocess.Popen(command, stdout=kept)
        _, status, usage = os.wait4(process.pid, 0)
        kept.seek(0)
        rung = json.load(kept)["load"]["steps"][0]
    raw["many"] = {"sessions": MANY, "resident_kib": usage.ru_maxrss, "status": status, **figures(rung)}
    mib = usage.ru_maxrss / 1024
    print(f"\n{MANY} sessions in one process: {mib:.0f} MiB at most, {report.bar(mib < BAR_MIB, f'< {BAR_MIB} MiB')}; "
          f"{raw['many']['rate']:,.0f} new orders/min\n")


def running(given, server, way, raw, lines):
    """Users by users, sides alternating."""
    prepare(given, server, way)
    for users in given.users:
        name = f"{users} users"
        if given.only and given.only not in name:
            continue
        print(name, file=sys.stderr, flush=True)
        sides = {"proc": lambda: by_assay(given, way, "proc", users), "stmt": lambda: by_assay(given, way, "stmt", users)}
        if given.go_tpc:
            sides["go-tpc"] = lambda: by_go_tpc(given, way, users)
        if given.hammerdb:
            sides["HammerDB"] = lambda: by_hammerdb(given, way, users)
        raw[name] = repeats.alternate(repeats.Plan(given), sides)
        lines.append(row(name, raw[name]))


def row(name, done):
    """All sides of one case."""
    used, count = repeats.chosen(done)
    sides = [side for side in ("proc", "HammerDB", "stmt", "go-tpc") if side in used[0]["sides"]]
    rates = [f"{repeats.median(used, side, lambda result: result['rate']):,.0f}" for side in sides]
    costs = [f"{repeats.median(used, side, lambda result: result['cpu_s']):.3f}" for side in sides]
    cells = [name, " / ".join(rates), " / ".join(costs)]
    for peer, (side, rate_bar, cpu_bar) in PEERS.items():
        if peer not in sides:
            cells += ["not measured", ""]
            continue
        rate = repeats.Ratio(used, side, peer, lambda result: result["rate"])
        cpu = repeats.Ratio(used, side, peer, lambda result: result["cpu_s"])
        cells += [f"{rate} {report.bar(rate.median >= rate_bar, f'≥ {rate_bar}')}", f"{cpu} {report.bar(cpu.median <= cpu_bar, f'≤ {cpu_bar}')}"]
    return [*cells, count]


def options(text):
    """Those of this comparison on any product."""
    parser = report.options(text, repeats=3, extra=0, seconds=10.0)
    parser.add_argument("--bindir", required=True, help="programs of the server and its client")
    parser.add_argument("--go-tpc", help="the program go-tpc; without it Assay is measured alone")
    parser.add_argument("--hammerdb", help="directory of HammerDB 4 with Tcl 8.6")
    parser.add_argument("--hammerdb-minute", type=float, default=60.0, help="seconds of a minute in its sources")
    parser.add_argument("--kept", help="name of a server in the directory that stays there")
    parser.add_argument("--warehouses", type=int, default=10)
    parser.add_argument("--users", type=lambda text: [int(one) for one in text.split(",")], default=[1, 4, 8, 16])
    parser.add_argument("--loads", type=int, default=1, help="how often loading is measured")
    given = parser.parse_args()
    given.directory = os.path.abspath(given.directory)
    given.store = tempfile.mkdtemp(prefix="oltp-store-")
    return given


def tell(given, name, raw, lines, settings):
    """The table of all cases, and their raw results."""
    columns = ["load", "new orders/min of all sides", "client CPU s a 1,000 new orders", "proc to HammerDB", "its CPU", "stmt to go-tpc", "its CPU"]
    report.table([*columns, "repeats"], lines)
    shutil.rmtree(given.store)
    if raw.keys() > {"server"}:
        report.keep(given, name, {"cases": raw, "settings": settings, "device": machine.device_of(given.directory)})


WAY = Way(f"postgresql://postgres@127.0.0.1:{PORT}/postgres",
          ["-d", "postgres", "-U", "postgres", "-p", "x", "-P", PORT, "--conn-params", "sslmode=disable"],
          HAMMERDB_ALWAYS.replace("{port}", PORT), HAMMERDB_BUILD, HAMMERDB_RUN)


def main():
    given = options(__doc__)
    raw, lines = {}, []
    with Postgres(given.bindir, given.directory, given.kept) as server:
        raw["server"] = server.sql("SHOW server_version")[0]
        if given.only in "loading":
            loading(given, server, WAY, raw)
        if given.only == "prepare":
            prepare(given, server, WAY)
        if "users" in given.only or not given.only:
            running(given, server, WAY, raw, lines)
        if given.only in "many":
            many_sessions(given, WAY, raw)
    tell(given, "oltp", raw, lines, SETTINGS)


if __name__ == "__main__":
    main()

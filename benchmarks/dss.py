#!/usr/bin/env python3
"""The load of decision support at scale 1 on a server that Assay creates: loading against the bar, the power run, the throughput run.

The peer is go-tpc, which loads scale 1 by INSERT with primary keys only: 207 s on this kind of machine and server, without the
secondary indexes and statistics that are part of the time here. Each part is a run of its own of two or three minutes: --only load-power,
--only throughput.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from bench import machine, report

BAR_LOAD_S, PEER_LOAD_S = 60.0, 207.1
PARTS = {
    "load-power": ["--streams", "0"],
    "throughput": ["--no-power", "--streams", "2"],
}


def run(given, words):
    """One run of the program; its document."""
    command = [given.assay, "bench", "dss", given.directory, "--server", given.product, "--scale", given.scale, "--query-limit", "60s",
               "--json", "--quiet", "--store", given.store, *words]
    if given.product == "postgres":
        command += ["--parallel", given.parallel]
    if given.cache:
        command += ["--buffer-pool", given.cache]
    if given.bindir:
        command += ["--bindir", given.bindir]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["dss"]


def loading(dss):
    """A row of the table of loads."""
    seconds, data = dss["data"]["loading"]["elapsed_s"], dss["data"]
    return [f"{dss['scale']:g}", f"{data['rows']:,}", f"{(data['table_bytes'] + data['index_bytes']) / 1e6:,.0f} MB",
            str(data["loading"]["loaders"]), f"{seconds:.1f} s {report.bar(seconds < BAR_LOAD_S, '< 60 s')}", f"{PEER_LOAD_S / seconds:.1f}"]


def mean(run_):
    """The geometric mean of the 22 queries of all streams, s."""
    times = [query["elapsed_ns"] / 1e9 for query in run_["queries"] if query["name"].startswith("Q")]
    product = 1.0
    for time in times:
        product *= time ** (1.0 / len(times))
    return product


def measured(dss):
    """A row for each run."""
    for run_ in dss["runs"]:
        elapsed_s = run_["elapsed_ns"] / 1e9
        over = sum(query["outcome"]["kind"] != "complete" for query in run_["queries"])
        device = (run_.get("device") or {}).get("counters", {}).get("read_bytes")
        read = "–" if device is None else f"{device / 1e6:,.0f} MB"
        yield [run_["kind"], str(run_["streams"]), str(run_["parallel"]), f"{elapsed_s:.1f} s", f"{mean(run_):.3f} s",
               f"{run_['streams'] * 22 * 3600 * dss['scale'] / elapsed_s:,.0f}/h", f"{run_['database']['read_bytes'] / 1e6:,.0f} MB", read,
               str(over)]


def main():
    parser = report.options(__doc__)
    parser.add_argument("--bindir", help="programs of a PostgreSQL server")
    parser.add_argument("--product", choices=["postgres", "mariadb"], default="postgres")
    parser.add_argument("--cache", help="the server's own cache, for example 2GiB; that of the product without it")
    parser.add_argument("--scale", default="1")
    parser.add_argument("--parallel", default="2")
    given = parser.parse_args()
    given.directory = os.path.abspath(given.directory)
    given.store = tempfile.mkdtemp(prefix="dss-store-")
    raw = {}
    for name, words in PARTS.items():
        if given.only in name:
            print(name, file=sys.stderr, flush=True)
            raw[name] = run(given, words)
    shutil.rmtree(given.store)
    report.table(["scale", "rows", "tables and indexes", "sessions", "loaded, indexed, analysed", "times as fast as go-tpc"],
                 [loading(dss) for dss in raw.values()])
    print()
    report.table(["run", "streams", "parallel", "elapsed", "geometric mean", "queries/h", "database reads", "device reads", "over limit or failed"],
                 [row for dss in raw.values() for row in measured(dss)])
    report.keep(given, f"dss-{given.product}" if given.product != "postgres" else "dss", {"cases": raw, "device": machine.device_of(given.directory)})


if __name__ == "__main__":
    main()

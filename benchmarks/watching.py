#!/usr/bin/env python3
"""What watching costs: `assay watch` alone, and `assay profile` with the sessions of the server that serve it, in cores."""

import json
import os
import resource
import subprocess

from bench import report

BAR_CORES = 0.01


def used_s(command):
    """CPU time of a program and its children, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def watch(given, every, seconds):
    """Cores that looking at the machine takes; what starting and the page take is told apart by two lengths."""
    command = [given.assay, "watch", given.directory, "--interval", every, "--store", given.store, "--json", "--quiet", "--time"]
    short, _ = used_s([*command, "2s"])
    long, _ = used_s([*command, f"{seconds:.0f}s"])
    return (long - short) / (seconds - 2)


def profile(given, seconds):
    """Cores of the program and of its sessions on the server, by the server's host's own count."""
    command = [given.assay, "profile", given.server, "--json", "--quiet", "--time"]
    short, _ = used_s([*command, "3s"])
    long, done = used_s([*command, f"{seconds:.0f}s"])
    sampling = json.loads(done.stdout)["server"]["sampling"]
    program = (long - short) / (seconds - 3)
    whole = sampling.get("own_cpu_s")
    return {"program": program, "whole": whole / seconds if whole is not None else None, "sampling": sampling}


def main():
    parser = report.options(__doc__, seconds=30.0)
    parser.add_argument("--server", help="address of a PostgreSQL server; without it only the machine is watched")
    parser.add_argument("--store", default="watching-runs", help="where the runs of `assay watch` are kept")
    given = parser.parse_args()
    os.makedirs(given.store, exist_ok=True)
    cores = {every: watch(given, every, given.seconds) for every in ("1s", "100ms")}
    server = profile(given, given.seconds) if given.server else None
    report.keep(given, "watching", {"watch_cores": cores, "profile": server})
    rows = [[f"assay watch --interval {every}", f"{value * 100:.2f}",
             report.bar(value <= BAR_CORES, "≤ 1%") if every == "1s" else ""] for every, value in cores.items()]
    if server:
        rows.append(["assay profile, the program", f"{server['program'] * 100:.2f}", ""])
        if server["whole"] is not None:
            rows.append(["assay profile, with its sessions and both snapshots", f"{server['whole'] * 100:.2f}",
                         report.bar(server["whole"] <= BAR_CORES, "≤ 1%")])
    report.table(["", "% of a core", "bar"], rows)


if __name__ == "__main__":
    main()

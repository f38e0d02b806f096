#!/usr/bin/env python3
"""How long `assay --help` takes, compared with an empty program, and how large the program is."""

import os
import statistics
import subprocess
import time

from bench import report

BAR_S, STARTS = 0.020, 100


def started_s(command):
    """Wall time from before the start of a program to after its end, s."""
    begin = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def main():
    given = report.options(__doc__).parse_args()
    commands = {"assay --help": [given.assay, "--help"], "assay --version": [given.assay, "--version"], "true": ["true"]}
    times = {name: [] for name in commands}
    for _ in range(STARTS):
        for name, command in commands.items():
            times[name].append(started_s(command))
    size = os.path.getsize(given.assay)
    report.keep(given, "startup", {"times_s": times, "program_bytes": size})
    rows = []
    for name, values in times.items():
        median, tail = statistics.median(values), sorted(values)[int(len(values) * 0.95)]
        met = report.bar(median < BAR_S, "< 20 ms") if name == "assay --help" else ""
        rows.append([name, f"{median * 1000:.2f}", f"{tail * 1000:.2f}", f"{min(values) * 1000:.2f}", met])
    report.table(["command", "median, ms", "q 0.95, ms", "fastest, ms", "bar"], rows)
    print(f"\nThe program has {size / 1e6:.2f} MB.")


if __name__ == "__main__":
    main()

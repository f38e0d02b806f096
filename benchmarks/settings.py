#!/usr/bin/env python3
"""What the two settings of the ring do: I/Os handed over in one entry, and when completions are worked off."""

import sys

from bench import files, machine, repeats, report, sides
from bench.sides import cpu_s_per_million

BATCHES = (1, 4, 8, 32)
TASK_RUNS = ("cooperative", "deferred")
DEPTHS = (1, 32, 128)
CHOSEN = "as chosen"


def compared(programs, load):
    """One side a setting, first what Assay chooses itself; batches above the depth say nothing and are left out."""
    def side(*options):
        return lambda: sides.assay(programs, load, *options)
    wanted = [batch for batch in BATCHES if batch <= load.outstanding]
    fixed = {f"{run}, {batch}": side("--task-run", run, "--submit-batch", str(batch)) for run in TASK_RUNS for batch in wanted}
    return {CHOSEN: side(), **fixed}


def rows(name, done):
    """One row a setting with its ratios to what Assay chooses."""
    used, count = repeats.chosen(done)
    for side in used[0]["sides"]:
        iops = repeats.Ratio(used, side, CHOSEN, lambda result: result["iops"])
        cpu = repeats.Ratio(used, side, CHOSEN, cpu_s_per_million)
        middle = lambda quantile: report.micro(repeats.median(used, side, lambda result: result["latency_ns"][str(quantile)]))
        yield [
            name, side, report.kilo(repeats.median(used, side, lambda result: result["iops"])), iops,
            f"{repeats.median(used, side, cpu_s_per_million):.2f}", cpu,
            " / ".join(middle(quantile) for quantile in sides.QUANTILES),
            f"{repeats.median(used, side, lambda result: result['ios'] / max(1, result['enters'])):.1f}", count,
        ]


def main():
    given = report.options(__doc__, seconds=3.0).parse_args()
    given.hot = files.made(given.hot or f"{given.directory}/hot.dat", 1 << 30)
    given.disk = files.made(given.disk or f"{given.directory}/disk.dat", 8 << 30)
    programs, raw, lines = report.programs(given), {}, []
    lock = files.Locked(given.hot)
    for path, direct, place in ((given.hot, False, "page cache"), (given.disk, True, "disk")):
        for outstanding in DEPTHS:
            name = f"{place}, {outstanding} outstanding"
            if given.only not in name:
                continue
            print(name, file=sys.stderr, flush=True)
            load = sides.Load(path, direct, outstanding, given.seconds)
            device = machine.device_of(path)["name"] if direct else None
            raw[name] = repeats.alternate(repeats.Plan(given, device), compared(programs, load))
            lines += rows(name, raw[name])
    del lock
    report.keep(given, "settings", {"cases": raw})
    columns = ["case", "completions, batch", "IOPS", f"IOPS over `{CHOSEN}`", "CPU-s a million", f"CPU over `{CHOSEN}`",
               "q 0.5 / 0.99 / 0.999, µs", "I/Os an entry", "repeats"]
    report.table(columns, lines)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""IOPS per CPU-second against fio, default and tuned, and against the floor that the kernel sets."""

import sys

from bench import files, machine, repeats, report, sides
from bench.sides import cpu_s_per_million, user_s_per_million

BAR_DEFAULT, BAR_TUNED, BAR_FLOOR, BAR_USER_S = 1.6, 1.1, 1.08, 0.1


def cases(given):
    """Name, file and whether it is read past the page cache, at each depth."""
    for outstanding in (32, 128):
        yield f"page cache, {outstanding} outstanding", given.hot, False, outstanding
    for outstanding in (32, 128):
        yield f"disk, {outstanding} outstanding", given.disk, True, outstanding


def measure(given, programs, path, direct, outstanding):
    """Repeats of all sides on one case."""
    load = sides.Load(path, direct, outstanding, given.seconds)
    compared = {
        "assay": lambda: sides.assay(programs, load),
        "fio": lambda: sides.fio(programs, load),
        "fio tuned": lambda: sides.fio_tuned(programs, load),
    }
    if given.floor:
        compared["floor"] = lambda: sides.floor(programs, load)
    device = machine.device_of(path)["name"] if direct else None
    return repeats.alternate(repeats.Plan(given, device), compared)


def rows(name, done):
    """One row a side: CPU, IOPS, and the ratio of IOPS per CPU-second with its bar."""
    used, count = repeats.chosen(done)
    user_s = repeats.median(used, "assay", user_s_per_million)
    for side in used[0]["sides"]:
        cpu_s = repeats.median(used, side, cpu_s_per_million)
        row = [
            name, side, f"{cpu_s:.2f}", f"{repeats.median(used, side, user_s_per_million):.3f}",
            report.kilo(repeats.median(used, side, lambda result: result["iops"])),
        ]
        ratio = None if side == "assay" else repeats.Ratio(used, side, "assay", cpu_s_per_million)
        yield [*row, *verdict(side, ratio, user_s), count]


def verdict(side, ratio, user_s):
    """How many times more IOPS a CPU-second we give than this side, and what was asked."""
    if side == "assay":
        return "1", report.bar(user_s <= BAR_USER_S, f"user ≤ {BAR_USER_S}")
    asked = {"fio": BAR_DEFAULT, "fio tuned": BAR_TUNED, "floor": 1 / BAR_FLOOR}[side]
    text = f"within 8% (≥ {asked:.3f})" if side == "floor" else f"≥ {asked}"
    return str(ratio), report.bar(ratio.median >= asked, text)


def main():
    given = report.options(__doc__).parse_args()
    given.hot = files.made(given.hot or f"{given.directory}/hot.dat", 1 << 30)
    given.disk = files.made(given.disk or f"{given.directory}/disk.dat", 8 << 30)
    programs, raw, lines = report.programs(given), {}, []
    lock = files.Locked(given.hot)
    for name, path, direct, outstanding in cases(given):
        if given.only in name:
            print(name, file=sys.stderr, flush=True)
            raw[name] = measure(given, programs, path, direct, outstanding)
            lines += rows(name, raw[name])
    del lock
    report.keep(given, "efficiency", {"cases": raw})
    columns = ["case", "side", "CPU-s a million I/Os", "of it user", "IOPS", "Assay's IOPS per CPU-s over this side's",
               "bar", "repeats"]
    report.table(columns, lines)


if __name__ == "__main__":
    main()

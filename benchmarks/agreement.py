#!/usr/bin/env python3
"""Whether Assay measures what fio measures: IOPS at equal depth, latency at equal IOPS, on the disk with direct I/O."""

import sys

from bench import files, machine, repeats, report, sides

BAR_IOPS, BAR_LATENCY = 0.97, 0.05
DEPTHS = (1, 32, 128)
# At a rate below the device's limit both sides issue the same load, whatever their loops cost.
SHARE_OF_LIMIT = 0.6


def closed(given, programs, outstanding):
    """Both sides with the same number outstanding, as fast as they can."""
    load = sides.Load(given.disk, True, outstanding, given.seconds)
    return alternate(given, {
        "assay": lambda: sides.assay(programs, load),
        "fio": lambda: sides.fio(programs, load),
        "fio tuned": lambda: sides.fio_tuned(programs, load),
    })


def limited(given, programs, outstanding, rate):
    """Both sides at the same constant rate, with at most the same number outstanding."""
    load = sides.Load(given.disk, True, outstanding, given.seconds, rate=rate, process="constant")
    return alternate(given, {
        "assay": lambda: sides.assay(programs, load),
        "fio": lambda: sides.fio(programs, load),
    })


def alternate(given, compared):
    """Repeats on the device of the file."""
    return repeats.alternate(repeats.Plan(given, machine.device_of(given.disk)["name"]), compared)


def latency(quantile):
    """The figure of one quantile of service time."""
    return lambda result: result["latency_ns"][str(quantile)]


def rows(name, done, other):
    """IOPS and quantiles of both sides with the ratios of the repeats."""
    used, count = repeats.chosen(done)
    iops = repeats.Ratio(used, "assay", other, lambda result: result["iops"])
    cells = [name, other, *(report.kilo(repeats.median(used, side, lambda result: result["iops"])) for side in ("assay", other))]
    cells.append(f"{iops} {'' if iops.median >= BAR_IOPS else '**missed**'}".strip())
    for quantile in sides.QUANTILES:
        figure = latency(quantile)
        ratio = repeats.Ratio(used, "assay", other, figure)
        both = " / ".join(report.micro(repeats.median(used, side, figure)) for side in ("assay", other))
        met = abs(ratio.median - 1) <= BAR_LATENCY
        cells.append(f"{both}: {ratio}{'' if met else ' **off**'}")
    return [*cells, count]


def main():
    given = report.options(__doc__).parse_args()
    given.disk = files.made(given.disk or f"{given.directory}/disk.dat", 8 << 30)
    programs, raw, lines = report.programs(given), {}, []
    for outstanding in DEPTHS:
        name = f"{outstanding} outstanding"
        if given.only not in name:
            continue
        print(name, file=sys.stderr, flush=True)
        raw[name] = closed(given, programs, outstanding)
        lines += [rows(name, raw[name], "fio"), rows(name, raw[name], "fio tuned")]
        used, _ = repeats.chosen(raw[name])
        rate = round(SHARE_OF_LIMIT * min(repeats.median(used, side, lambda result: result["iops"])
                                          for side in ("assay", "fio")), -2)
        name = f"{rate:.0f}/s, at most {outstanding} outstanding"
        print(name, file=sys.stderr, flush=True)
        raw[name] = limited(given, programs, outstanding, rate)
        lines.append(rows(name, raw[name], "fio"))
    report.keep(given, "agreement", {"cases": raw, "device": machine.device_of(given.disk)})
    columns = ["load", "peer", "IOPS Assay", "IOPS fio", "IOPS ratio (bar ≥ 0.97)",
               *(f"q {quantile}, µs: Assay / fio: ratio (bar ± 5%)" for quantile in sides.QUANTILES), "repeats"]
    report.table(columns, lines)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Open arrivals: whether 20,000 starts a second happen when they should, and what a stall of a second looks like."""

import math
import os
import subprocess
import sys

from bench import files, machine, repeats, report, sides

RATE, WORKERS, BAR_START_NS, BAR_CORES, BAR_QUANTILE = 20_000, 2, 5_000, 1.0, 0.02
STALL_EVERY_S, STALL_S = 20, 1.0
QUANTILES = (0.5, 0.96, 0.97, 0.99, 0.999)

SCRIPT = """max_background = 65535
[[file]]
name = "data"
size = "256MiB"
[latency]
read = {{ fixed = "{service_ms}ms" }}
[[stall]]
at = "{at}s"
every = "{every}s"
duration = "{length}s"
"""


def standard_errors(result):
    """How far the count of I/Os is from rate times time, in standard deviations of a Poisson count."""
    expected = RATE * result["elapsed_s"]
    return (result["ios"] + result.get("missed_arrivals", 0) - expected) / math.sqrt(expected)


def cores(result):
    """CPU time of the tool over measured time."""
    return (result["cpu_user_s"] + result["cpu_system_s"]) / result["elapsed_s"]


def arrivals(given, programs, path, direct):
    """Both tools at the rate; every repeat has a seed of its own."""
    seeds = iter(range(1, 1000))

    def load():
        return sides.Load(path, direct, 256, given.seconds, rate=RATE, workers=WORKERS, seed=next(seeds))

    device = machine.device_of(path)["name"] if direct else None
    return repeats.alternate(repeats.Plan(given, device), {
        "assay": lambda: sides.assay(programs, load()), "fio": lambda: sides.fio(programs, load())})


def arrival_rows(name, done):
    """Rate, start error, CPU and latency of both tools."""
    used, count = repeats.chosen(done)
    for side in ("assay", "fio"):
        deviations = [standard_errors(repeat["sides"][side]) for repeat in used]
        worst = max(deviations, key=abs)
        load = repeats.median(used, side, cores)
        start = [None] * 3
        if side == "assay":
            start = [repeats.median(used, side, lambda result, q=q: result["start_error_ns"][str(q)]) for q in sides.QUANTILES]
        shown = "not reported" if side == "fio" else " / ".join(report.micro(value) for value in start)
        bars = "" if side == "fio" else ", ".join([
            report.bar(abs(worst) <= 3, "rate"), report.bar(start[0] <= BAR_START_NS, "start ≤ 5 µs"),
            report.bar(load < BAR_CORES, "< 1 core")])
        yield [
            name, side, f"{repeats.median(used, side, lambda result: result['iops']):.0f}", f"{worst:+.1f}", shown, f"{load:.2f}",
            " / ".join(report.micro(repeats.median(used, side, lambda result, q=q: result["latency_ns"][str(q)]))
                       for q in sides.QUANTILES), bars, count]


def expected_s(quantile, service_s):
    """Even arrivals; one second of every twenty nothing completes: a twentieth waits, uniformly up to a second."""
    share = STALL_S / STALL_EVERY_S
    return service_s + max(0.0, (quantile - (1 - share)) / share * STALL_S)


def stall_row(name, result, key, service_s):
    """Quantiles against what arithmetic says."""
    cells = []
    for quantile in QUANTILES:
        got = result[key].get(str(quantile))
        want = expected_s(quantile, service_s)
        cells.append("–" if got is None else f"{got / 1e6:.2f} ({got / 1e9 / want - 1:+.1%})")
    errors = [abs(result[key][str(q)] / 1e9 / expected_s(q, service_s) - 1) for q in QUANTILES if str(q) in result[key]]
    return [name, *cells, report.bar(max(errors) <= BAR_QUANTILE, f"largest {max(errors):.1%}")]


def simulated_stall(given, programs):
    """200 s of virtual time at the full rate."""
    device = f"sim:constant?count=32768&service=100us+stall?every={STALL_EVERY_S}s&length={STALL_S:g}s"
    load = sides.Load(device, True, 32_768, 200, rate=RATE, process="constant", workers=WORKERS)
    return sides.assay(programs, load)


class Mounted:
    """A scripted file system for as long as the block lasts."""

    def __init__(self, given, scratch, service_s):
        self.directory = os.path.join(scratch, "mount")
        os.makedirs(self.directory, exist_ok=True)
        script = os.path.join(scratch, "stall.toml")
        with open(script, "w", encoding="utf-8") as file:
            file.write(SCRIPT.format(service_ms=round(service_s * 1000), at=STALL_EVERY_S // 2, every=STALL_EVERY_S, length=f"{STALL_S:g}"))
        self.command = [given.rig, "mount", self.directory, "--script", script, "--log", os.path.join(scratch, "rig.jsonl")]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        if not line.startswith("mounted"):
            raise sides.Failed(f"assay-rig: {line}")
        return os.path.join(self.directory, "data")

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def mounted_stalls(given, programs, rate, service_s, seconds):
    """Assay and fio on a fresh mount each; the first I/O of a mount starts the clock of its stalls."""
    results = {}
    compared = {
        "Assay": (sides.assay, 4 * round(rate)),
        "fio, depth 32": (sides.fio, 32),
        f"fio, depth {4 * round(rate)}": (sides.fio, 4 * round(rate)),
    }
    for name, (side, outstanding) in compared.items():
        with Mounted(given, programs.scratch, service_s) as path:
            load = sides.Load(path, True, outstanding, seconds, rate=rate, process="constant")
            look = machine.Others()
            results[name] = side(programs, load)
            results[name]["others"] = look.since()
    return results


def main():
    parser = report.options(__doc__)
    parser.add_argument("--stall-seconds", type=float, default=100.0, help="measured time on the mount, a multiple of 20")
    given = parser.parse_args()
    given.hot = files.made(given.hot or f"{given.directory}/hot.dat", 1 << 30)
    given.disk = files.made(given.disk or f"{given.directory}/disk.dat", 8 << 30)
    programs, raw, lines, stalls = report.programs(given), {}, [], []
    lock = files.Locked(given.hot)
    for name, path, direct in (("page cache", given.hot, False), ("disk", given.disk, True)):
        if given.only in name:
            print(name, file=sys.stderr, flush=True)
            raw[name] = arrivals(given, programs, path, direct)
            lines += arrival_rows(name, raw[name])
    del lock
    if given.only in "stall":
        print("stall", file=sys.stderr, flush=True)
        raw["stall, simulated"] = simulated_stall(given, programs)
        stalls.append(stall_row(f"Assay, simulated, {RATE}/s", raw["stall, simulated"], "response_ns", 100e-6))
        if given.rig:
            rate, service_s = 500, 0.01
            raw["stall, mounted"] = mounted_stalls(given, programs, rate, service_s, given.stall_seconds)
            for name, result in raw["stall, mounted"].items():
                key = "response_ns" if name == "Assay" else "latency_ns"
                stalls.append(stall_row(f"{name}, FUSE, {rate}/s", result, key, service_s))
        else:
            print("skipped: the stall on a file system: no --rig given", file=sys.stderr)
    report.keep(given, "open_arrival", {"cases": raw})
    report.table(["case", "tool", "IOPS", "rate error, standard deviations (worst)", "start error q 0.5 / 0.99 / 0.999, µs",
                  "cores", "service time (fio: slat + clat) q 0.5 / 0.99 / 0.999, µs", "bars", "repeats"], lines)
    print()
    report.table(["response time with a stall of 1 s every 20 s, ms", *(f"q {quantile}" for quantile in QUANTILES), "bar ± 2%"], stalls)


if __name__ == "__main__":
    main()

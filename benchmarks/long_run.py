#!/usr/bin/env python3
"""A day in one-second intervals: resident memory over time, bytes on disk, and the page made of it."""

import json
import os
import statistics
import sys
import time

from bench import files, processes, report, sides

BAR_RESIDENT_MIB, BAR_KEPT_MIB, BAR_PAGE_S, BAR_PAGE_BYTES = 150, 200, 3.0, 1_000_000
DEVICE = "sim:servers?count=8&service=2ms+bandwidth?rate=400MB/s+stall?every=607s&length=300ms"

WORKLOAD = """format = 1
name = "day"
duration = "{duration}"
interval = "{interval}"
direct = true
[[stream]]
name = "reads"
block_size = "8KiB"
read_share = "{reads}"
workers = {workers}
[stream.arrival]
{arrival}
"""


def kept_bytes(folder):
    """Bytes of all files under a folder."""
    return sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(folder) for name in names)


def run(given, programs, name, target, text):
    """Runs a workload under watch, then makes its page twice, to text and to a file."""
    path, store = os.path.join(programs.scratch, f"{name}.toml"), os.path.join(programs.scratch, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    seen = processes.watched([given.assay, "run", path, target, "--quiet", "--store", store])
    if seen["code"] not in (0, 1, 3):
        raise sides.Failed(seen["err"])
    del seen["out"], seen["err"]
    seen["kept_bytes"] = kept_bytes(store)
    page = os.path.join(programs.scratch, f"{name}.html")
    begin = time.perf_counter()
    made = processes.watched([given.assay, "report", "latest", "--html", page, "--store", store], every_s=0.05)
    seen["page_s"], seen["page_bytes"] = time.perf_counter() - begin, os.path.getsize(page)
    seen["page_resident_max_mib"] = made["resident_max_mib"]
    listed = processes.watched([given.assay, "report", "latest", "--json", "--store", store], every_s=0.05)
    measurement = json.loads(listed["out"])["runs"][0]["measurement"]
    seen["ios"], seen["elapsed_s"] = measurement["streams"][0]["operations"]["read"]["ios"], measurement["elapsed_ns"] / 1e9
    return seen


def growth_mib(seen):
    """Median resident memory of the last tenth less that of the second tenth of the run."""
    values = [resident for _, resident, _ in seen["resident_mib"]]
    tenth = max(1, len(values) // 10)
    return statistics.median(values[-tenth:]) - statistics.median(values[tenth:2 * tenth] or values)


def row(name, seen):
    """Figures and bars of one run."""
    kept = seen["kept_bytes"] / 2**20
    return [
        name, f"{seen['ios'] / seen['elapsed_s'] / 1000:.1f}k IOPS for {seen['elapsed_s']:.0f} s in {seen['wall_s']:.0f} s",
        f"{report.bar(seen['resident_max_mib'] < BAR_RESIDENT_MIB, str(seen['resident_max_mib']))}",
        f"{growth_mib(seen):+.1f}",
        report.bar(kept < BAR_KEPT_MIB, f"{kept:.1f}"),
        report.bar(seen["page_s"] < BAR_PAGE_S, f"{seen['page_s']:.2f}"),
        report.bar(seen["page_bytes"] < BAR_PAGE_BYTES, f"{seen['page_bytes'] / 1000:.0f}"),
        seen["page_resident_max_mib"],
    ]


def main():
    parser = report.options(__doc__)
    parser.add_argument("--day", default="24h", help="length of the simulated run")
    parser.add_argument("--real", default="10min", help="length of the real run, in intervals of 100 ms")
    given = parser.parse_args()
    programs, raw = report.programs(given), {}
    closed = 'closed = { queue_depth = 32 }'
    opened = 'open = { rate = "2000/s" }'
    day = {
        "a simulated day, closed, 32 outstanding": WORKLOAD.format(
            duration=given.day, interval="1s", reads="70%", workers=1, arrival=closed),
        "a simulated day, open, 2,000/s": WORKLOAD.format(
            duration=given.day, interval="1s", reads="70%", workers=2, arrival=opened),
    }
    for name, text in day.items():
        if given.only in name:
            print(name, file=sys.stderr, flush=True)
            raw[name] = run(given, programs, f"day{len(raw)}", DEVICE, text)
    name = "a real run, 100 ms intervals"
    if given.only in name:
        print(name, file=sys.stderr, flush=True)
        given.disk = files.made(given.disk or f"{given.directory}/disk.dat", 8 << 30)
        text = WORKLOAD.format(duration=given.real, interval="100ms", reads="100%", workers=1, arrival=closed)
        raw[name] = run(given, programs, "real", given.disk, text)
    report.keep(given, "long_run", {"device": DEVICE, "workloads": day, "runs": raw})
    columns = ["run", "load", "resident at most, MiB (< 150)", "growth, MiB", "kept, MiB (< 200)", "page in, s (< 3)",
               "page, kB (< 1000)", "resident while making it, MiB"]
    report.table(columns, [row(name, seen) for name, seen in raw.items()])


if __name__ == "__main__":
    main()

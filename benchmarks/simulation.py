#!/usr/bin/env python3
"""How fast arrays are simulated: I/Os a second on one core through the whole engine and with a database above, and memory over the length of a run."""

import argparse
import json
import pathlib
import re
import resource
import subprocess
import tempfile
import time

BAR_MILLIONS = 5.0
BAR_EIGHT_HOURS_S = 600
SIMULATED_S = (5, 20, 40)
SUSTAINED = pathlib.Path(__file__).parent.parent / "studies" / "emc-sustained.toml"


def run(given, target, simulated_s, read_share):
    """One simulation: millions of I/Os a second, and the largest memory of any so far, MiB."""
    done = subprocess.run([given.example, target, str(simulated_s), str(read_share)],
                          capture_output=True, text=True, check=True)
    rate = float(re.search(r"([0-9.]+) million", done.stdout).group(1))
    return rate, largest_mib()


def largest_mib():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def sustained(given, array, minutes):
    """A slice of the eight hours of the EMC paper, every I/O of it, with everything kept in the store."""
    with tempfile.TemporaryDirectory() as place:
        study = pathlib.Path(place) / "slice.toml"
        study.write_text(SUSTAINED.read_text().replace('measure = "8h"', f'measure = "{minutes}min"'))
        begun = time.monotonic()
        done = subprocess.run([given.assay, "study", str(study), f"array:{array}", "--json", "--quiet", "--store", place],
                              capture_output=True, text=True, check=True)
        wall_s = time.monotonic() - begun
    cell = json.loads(done.stdout)["study"]["cells"][0]
    iops = next(one["estimate"]["value"] for one in cell["measures"] if one["quantity"] == "iops" and not one.get("subject"))
    millions = iops * minutes * 60 / wall_s / 1e6
    return {"array": array, "simulated_min": minutes, "wall_s": round(wall_s, 1), "millions_a_second": round(millions, 2),
            "eight_hours_would_take_s": round(480 / minutes * wall_s), "memory_mib": round(largest_mib(), 1)}


def plain(given):
    rows = []
    for read_share in (1.0, 0.7):
        rates = sorted(run(given, given.array, 10, read_share)[0] for _ in range(given.repeats))
        rows.append({"read_share": read_share, "best": rates[-1], "median": rates[len(rates) // 2],
                     "meets": rates[len(rates) // 2] >= BAR_MILLIONS})
    memory = [run(given, given.array, simulated_s, 0.7)[1] for simulated_s in SIMULATED_S]
    return {"millions_a_second": rows, "bar": BAR_MILLIONS, "memory_mib": dict(zip(map(str, SIMULATED_S), memory))}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--example", help="the example `simulation` of assay-methods, release build")
    parser.add_argument("--assay", help="the program, release build, for slices of the eight hours")
    parser.add_argument("--array", default="array:benchmarks/plain-ssd.array.toml", help="a plain SSD array")
    parser.add_argument("--slices", default="2,8", help="minutes of the eight hours, one slice each")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    result = {}
    if given.example:
        result["plain"] = plain(given)
    if given.assay:
        result["eight_hours"] = [sustained(given, "xtremio-1", int(minutes)) for minutes in given.slices.split(",")]
        result["bar_eight_hours_s"] = BAR_EIGHT_HOURS_S
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()

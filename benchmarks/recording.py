#!/usr/bin/env python3
"""What it costs to stamp and record every I/O: the parts by themselves, and all work of the tool on a device of no work."""

import json
import subprocess

from bench import files, report, repeats, sides

BAR_NS, DEPTHS = 50, (1, 2, 8, 32, 128)


def parts(given):
    """The parts, from the engine's example."""
    done = subprocess.run([given.example], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def all_work_ns(result):
    """CPU time an I/O of everything that the tool does: address, submission, stamps, histogram."""
    return (result["cpu_user_s"] + result["cpu_system_s"]) / result["ios"] * 1e9


def main():
    parser = report.options(__doc__, seconds=2.0)
    parser.add_argument("--example", required=True, help="the engine's example `recording`, release build")
    given = parser.parse_args()
    given.disk = files.made(given.disk or f"{given.directory}/disk.dat", 8 << 30)
    programs = report.programs(given)

    def side(outstanding):
        load = sides.Load(given.disk, True, outstanding, given.seconds)
        return lambda: sides.assay(programs, load, "--backend", "null")

    done = repeats.alternate(repeats.Plan(given), {str(outstanding): side(outstanding) for outstanding in DEPTHS})
    measured = parts(given)
    report.keep(given, "recording", {"parts": measured, "null": done})
    used, count = repeats.chosen(done)
    rows = []
    for outstanding in DEPTHS:
        # A turn of the loop reads the clock twice and handles as many I/Os as completed.
        recording = measured["record_ns"] + 2 * measured["clock_ns"] / outstanding
        whole = repeats.median(used, str(outstanding), all_work_ns)
        rows.append([outstanding, f"{recording:.1f}", report.bar(recording <= BAR_NS, f"≤ {BAR_NS}"), f"{whole:.1f}", count])
    print(f"One reading of the clock takes {measured['clock_ns']:.1f} ns, one count in the histogram {measured['record_ns']:.1f} ns.\n")
    report.table(["I/Os that share a turn", "stamps and histogram, ns an I/O", "bar",
                  "all work of the tool, null backend, ns of CPU an I/O", "repeats"], rows)


if __name__ == "__main__":
    main()

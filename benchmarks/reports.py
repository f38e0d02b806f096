#!/usr/bin/env python3
"""Time, memory and rightness of reading AWR and Statspack reports, compared with grep and awk and with lxml.

The reports are not part of the repository: `--reports DIR` names a folder of real ones. A thousand made-up text reports
are copies of one of them, each of about 200 KB.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import report

BAR_ALL_S, BAR_THOUSAND_S, BAR_BYTES = 0.3, 2.0, 200 << 20
THOUSAND, TEXT_BYTES = 1000, 200_000
# What scripts of the field take from a text report: requests and redo of the counters, and the mean of one wait.
AWK = r"""
/^physical read total IO requests|^physical read IO requests/ { reads = $(NF-1) }
/^physical write total IO requests|^physical write IO requests/ { writes = $(NF-1) }
/^redo size / { redo = $(NF-1) }
/^db file sequential read/ && !latency { latency = $(NF-2) }
ENDFILE { gsub(",", "", reads); gsub(",", "", writes); gsub(",", "", redo);
          print FILENAME, reads + writes, reads, latency, writes, redo / 1048576; reads = writes = redo = latency = "" }
"""
LXML = "import sys\nfrom lxml import html\nfor path in sys.argv[1:]:\n    for cell in html.parse(path).iter('td', 'th'):\n        cell.text_content()\n"


def timed(command):
    """Wall time, CPU time and most memory of one run of a command."""
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, used = os.wait4(child.pid, 0)
    return {"wall_s": time.perf_counter() - begin, "cpu_s": used.ru_utime + used.ru_stime, "bytes": used.ru_maxrss * 1024}


def alternate(commands, repeats):
    """All commands in turn, so that what else the machine does meets all of them."""
    results = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            results[name].append(timed(command))
    return results


def copies(source, folder):
    """A thousand files like one text report, cut or repeated to about 200 KB."""
    text = source.read_bytes()
    text = (text * (TEXT_BYTES // len(text) + 1))[:TEXT_BYTES] if len(text) < TEXT_BYTES else text
    paths = []
    for number in range(THOUSAND):
        path = folder / f"awr-{number:04}.txt"
        path.write_bytes(text)
        paths.append(str(path))
    return paths


def row(name, runs, bar_s=None):
    """Medians of one side, and its bars where it has any."""
    wall, memory = statistics.median(run["wall_s"] for run in runs), max(run["bytes"] for run in runs)
    met = report.bar(wall < bar_s and memory < BAR_BYTES, f"< {bar_s} s, < 200 MiB") if bar_s else ""
    cpu = statistics.median(run["cpu_s"] for run in runs)
    return [name, f"{wall:.3f}", f"{cpu:.3f}", f"{memory / 2**20:.0f}", met, len(runs)]


def main():
    parser = report.options(__doc__, repeats=9)
    parser.add_argument("--reports", type=Path, required=True, help="folder of real reports, *.txt and *.html")
    given = parser.parse_args()
    files = sorted(path for path in given.reports.iterdir() if path.suffix in {".txt", ".html"} and path.name.startswith(("awr", "statspack")) and "companion" not in path.name)
    pages, texts = [str(path) for path in files if path.suffix == ".html"], [str(path) for path in files if path.suffix == ".txt"]
    largest = max((Path(path) for path in texts), key=lambda path: path.stat().st_size)
    with tempfile.TemporaryDirectory(dir=given.directory) as folder:
        thousand = copies(largest, Path(folder))
        total = sum(os.path.getsize(path) for path in thousand)
        results = {
            f"assay profile, {len(files)} reports": ([given.assay, "profile", "--table", *map(str, files)], BAR_ALL_S),
            f"lxml, {len(pages)} of them": ([sys.executable, "-c", LXML, *pages], None),
            f"awk, {len(texts)} of them": (["gawk", AWK, *texts], None),
            f"assay profile, {THOUSAND} text reports of {total / THOUSAND / 1000:.0f} KB": ([given.assay, "profile", "--table", *thousand], BAR_THOUSAND_S),
            "awk, the same": (["gawk", AWK, *thousand], None),
        }
        runs = alternate({name: command for name, (command, _) in results.items()}, given.repeats)
    report.keep(given, "reports", {"runs": runs})
    report.table(
        ["what", "wall, s", "CPU, s", "memory, MiB", "bar", "n"],
        [row(name, runs[name], bar) for name, (_, bar) in results.items()],
    )


if __name__ == "__main__":
    main()

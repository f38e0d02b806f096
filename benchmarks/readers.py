#!/usr/bin/env python3
"""How many facts of real reports each reader reports correctly, compared with JAS-MIN and flashdba's awr-parser.sh, and how long each takes.

The reports are not part of the repository: each `--reports DIR` names a folder of them with an INDEX.md that says what
each report prints. A fact is right within the last printed digit or 0.5%; what a reader does not tell is absent; what
it reports otherwise is wrong.
"""

import csv
import io
import json
import re
import subprocess
import time
from collections import Counter
from datetime import datetime
from pathlib import Path

from bench import report

FACTS = ("elapsed_min", "db_time_min", "redo_bytes_per_s", "blocks_read_per_s", "blocks_written_per_s", "read_ios_per_s")
NUMBER = r"([\d,]*\.?\d+)"
PATTERNS = {
    "elapsed_min": rf"elapsed {NUMBER} min",
    "db_time_min": rf"DB [Tt]ime {NUMBER} min",
    "redo_bytes_per_s": rf"(?:Redo size {NUMBER}/s|redo {NUMBER} B/s)",
    "blocks_read_per_s": rf"(?:Physical reads? (?:\(blocks\) )?{NUMBER}/s|blocks read/written {NUMBER}/)",
    "blocks_written_per_s": rf"(?:Physical writes? (?:\(blocks\) )?{NUMBER}/s|blocks read/written [^/]*/{NUMBER} per)",
    "read_ios_per_s": rf"(?:physical read total IO requests (?:[\d,]+ = )?{NUMBER}/s|total requests {NUMBER}/)",
}


def number(text):
    """A printed number; nothing where none is printed."""
    try:
        return float(str(text).replace(",", ""))
    except ValueError:
        return None


def printed(line):
    """What a line of the index says the report prints."""
    facts = {}
    for name, pattern in PATTERNS.items():
        found = re.search(pattern, line)
        value = number(next(group for group in found.groups() if group)) if found else None
        if value is not None:
            facts[name] = value
    return facts


def truths(folders):
    """Reports with what they print."""
    known = {}
    for folder in folders:
        for line in (folder / "INDEX.md").read_text().splitlines():
            name = re.match(r"- \*\*([^*]+)\*\*", line)
            path = folder / name.group(1) if name else None
            if path and path.is_file() and (facts := printed(line)):
                known[path] = facts
    return known


def output(command, folder):
    """Standard output and wall time of a command; nothing said where it fails or hangs."""
    begin = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, timeout=120, cwd=folder, check=False)
        text = done.stdout.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        text = ""
    return text, time.perf_counter() - begin


def of_assay(text):
    """The facts of a profile document."""
    try:
        profile = json.loads(text)
    except ValueError:
        return {}
    value = lambda figure, factor=1.0: figure["value"] * factor if figure else None
    rates = {rate["kind"]: rate for rate in profile["rates"]}
    blocks, total = rates.get("blocks", {}), rates.get("total", {})
    return {
        "elapsed_min": value(profile.get("elapsed_s"), 1 / 60),
        "db_time_min": value(profile["time"].get("db_time_s"), 1 / 60),
        "redo_bytes_per_s": value(profile["redo"].get("redo_bytes_per_s")),
        "blocks_read_per_s": value(blocks.get("read_per_s")),
        "blocks_written_per_s": value(blocks.get("write_per_s")),
        "read_ios_per_s": value(total.get("read_per_s")),
    }


def of_jas_min(text):
    """The facts of JAS-MIN's document, which log lines precede; zero is what it says of what it did not find."""
    begin = text.find("{")
    try:
        document, _ = json.JSONDecoder().raw_decode(text[begin:]) if begin >= 0 else ({}, 0)
    except ValueError:
        document = {}
    awr = (document.get("awrs") or [document])[0]
    loads = {load["stat_name"].rstrip(":"): load["per_second"] for load in awr.get("load_profile", [])}
    load = lambda *starts: next((value for name, value in loads.items() if name.startswith(starts)), None)
    stats = {stat["statname"]: stat for stat in awr.get("instance_stats", [])}
    times = {stat["stat_name"]: stat["time_s"] for stat in awr.get("time_model_stats", [])}
    reads = stats.get("physical read total IO requests", {})
    elapsed = minutes(awr.get("snap_info", {}))
    return {
        "elapsed_min": elapsed,
        "db_time_min": times["DB time"] / 60 if times.get("DB time") else None,
        "redo_bytes_per_s": load("Redo size"),
        "blocks_read_per_s": load("Physical read"),
        "blocks_written_per_s": load("Physical write"),
        "read_ios_per_s": reads["total"] / elapsed / 60 if reads.get("total") and elapsed else None,
    }


def minutes(snapshots):
    """The interval between the times of two snapshots, which JAS-MIN leaves to its reader."""
    try:
        ends = [datetime.strptime(snapshots[name], "%d-%b-%y %H:%M:%S") for name in ("begin_snap_time", "end_snap_time")]
    except (KeyError, ValueError):
        return None
    return (ends[1] - ends[0]).total_seconds() / 60 or None


def of_awr_parser(text):
    """The facts of a row of awr-parser.sh; it rounds to a tenth and reports no blocks."""
    rows = list(csv.DictReader(io.StringIO(text)))
    row = rows[0] if rows else {}
    redo = number(row.get("Redo Throughput (MiB/sec)", ""))
    return {
        "elapsed_min": number(row.get("Elapsed Time (mins)", "")),
        "db_time_min": number(row.get("DB Time (mins)", "")),
        "redo_bytes_per_s": redo * 2**20 if redo is not None else None,
        "read_ios_per_s": number(row.get("Read IOPS", "")),
    }


def outcome(truth, reported, rounding):
    """Whether a reported fact is the printed one."""
    if reported is None:
        return "absent"
    return "right" if abs(reported - truth) <= max(0.005 * abs(truth), rounding) else "wrong"


def judged(known, command, facts_of, roundings):
    """Outcomes of all facts, reports of which nothing was reported, and the time of all."""
    outcomes, silent, wall_s = Counter(), 0, 0.0
    for path, facts in known.items():
        text, took_s = output([*command, str(path)], "/tmp")
        reported = facts_of(text)
        wall_s += took_s
        silent += all(value is None for value in reported.values())
        for name, truth in facts.items():
            outcomes[outcome(truth, reported.get(name), roundings.get(name, 0.06))] += 1
    return {"outcomes": outcomes, "silent": silent, "wall_s": wall_s, "reports": len(known)}


def main():
    parser = report.options(__doc__, repeats=1)
    parser.add_argument("--reports", type=Path, action="append", required=True, help="folder of reports with INDEX.md")
    parser.add_argument("--jas-min", help="the program; without it the side is left out")
    parser.add_argument("--awr-parser", help="the script; without it the side is left out")
    given = parser.parse_args()
    known = truths(given.reports)
    sides = {"assay profile": ([given.assay, "profile", "--json"], of_assay, {"db_time_min": 0.02})}
    if given.jas_min:
        sides["JAS-MIN"] = ([given.jas_min, "--file"], of_jas_min, {"db_time_min": 0.02})
    if given.awr_parser:
        sides["awr-parser.sh"] = (["bash", given.awr_parser, "-s"], of_awr_parser, {"redo_bytes_per_s": 5300.0})
    results = {name: judged(known, *side) for name, side in sides.items()}
    report.keep(given, "readers", {"facts": FACTS, "results": results})
    report.table(
        ["reader", "reports", "facts right", "wrong", "absent", "reports without any", "wall, s"],
        [[name, one["reports"], one["outcomes"]["right"], one["outcomes"]["wrong"], one["outcomes"]["absent"],
          one["silent"], f"{one['wall_s']:.2f}"] for name, one in results.items()],
    )


if __name__ == "__main__":
    main()

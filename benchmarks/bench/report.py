"""Command-line options of the scripts, Markdown tables, and the JSON files under runs/."""

import argparse
import json
import os
import re
import sys
from pathlib import Path

from . import machine
from .sides import Programs

RUNS = Path(__file__).parent.parent / "runs"


def options(description, **defaults):
    """The options that all scripts share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--directory", default=".", help="where test files are made if they are not given")
    parser.add_argument("--hot", help="file to hold in the page cache; made (1 GiB) if missing")
    parser.add_argument("--disk", help="file to read with direct I/O; made (8 GiB) if missing")
    parser.add_argument("--assay", default="assay", help="the program, release build")
    parser.add_argument("--fio", default="fio")
    parser.add_argument("--floor", help="t/io_uring of fio's sources; without it the floor is left out")
    parser.add_argument("--rig", help="assay-rig, release build")
    parser.add_argument("--repeats", type=int, default=defaults.get("repeats", 5))
    parser.add_argument("--extra", type=int, default=defaults.get("extra", 5), help="further repeats for disturbed ones")
    parser.add_argument("--seconds", type=float, default=defaults.get("seconds", 10.0), help="measured time of one side")
    parser.add_argument("--quiet", type=float, default=0.25, help="cores that others may use")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds to wait for a quiet machine")
    parser.add_argument("--realtime", action="store_true",
                        help="all measured programs in the real-time class, so that others do not delay their wake-ups")
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--runs", type=Path, default=RUNS, help="where raw results are kept")
    return parser


def programs(given):
    """The programs of the options."""
    return Programs(assay=given.assay, fio=given.fio, floor=given.floor, realtime=given.realtime)


def hidden(text, given):
    """A command without the places of this machine."""
    names = {"assay": "assay", "fio": "fio", "floor": "t/io_uring", "rig": "assay-rig", "hot": "hot.dat", "disk": "disk.dat", "runs": "runs"}
    for option, name in names.items():
        if place := getattr(given, option, None):
            text = text.replace(str(place), name)
    return text


def write(given, name, document):
    """Writes raw results, versions and commands first, into the folder of this day and kind of machine; gives what stands first.

    A part of the cases has a file of its own, so that no part overwrites another.
    """
    facts = machine.facts(given.assay, getattr(given, "fio", "fio"))
    folder = given.runs / f"{facts['date']}-{machine.kind(facts)}"
    folder.mkdir(parents=True, exist_ok=True)
    command = hidden(" ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]), given)
    whole = {"machine": facts, "command": command, **document}
    part = re.sub(r"[^a-z0-9]+", "-", getattr(given, "only", "").lower()).strip("-")
    (folder / f"{'-'.join(filter(None, (name, part)))}.json").write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    return facts, command


def keep(given, name, document):
    """Writes raw results, and prints what stands above a table of them."""
    facts, command = write(given, name, document)
    print(f"\n{heading(facts)}\n\n`{command}`\n")


def heading(facts):
    """The machine in one line."""
    return (
        f"{facts['date']}: {facts['cpu']} (family/model/stepping {facts['cpu_family_model_stepping']}, "
        f"{facts['cpu_mhz']} MHz), {facts['logical_cpus']} logical CPUs"
        f"{', virtual machine' if facts['virtual_machine'] else ''}, {facts['memory_gib']} GiB, kernel {facts['kernel']}, "
        f"{facts['distribution']}, clock {facts['clock_source']}; {facts['assay']}, {facts['fio']}, {facts['rustc']}"
    )


def table(columns, rows):
    """Prints a Markdown table."""
    print("| " + " | ".join(columns) + " |")
    print("|" + "|".join(" --- " for _ in columns) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def bar(met, text):
    """A bar and whether it is met."""
    return f"{text}: {'met' if met else '**missed**'}"


def kilo(value):
    """A rate in thousands."""
    return f"{value / 1000:.1f}k"


def micro(value_ns):
    """A time in µs."""
    return "–" if value_ns is None else f"{value_ns / 1000:.1f}"

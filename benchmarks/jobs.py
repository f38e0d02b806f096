#!/usr/bin/env python3
"""Whether Assay does what a job file of fio says: places, sizes, reads and rate of both on the same file, by the log of the file
system below; and whether fio's own JSON of it, imported, agrees with Assay's run."""

import contextlib
import csv
import fcntl
import io
import json
import math
import os
import re
import statistics
import subprocess
import sys
import time
from collections import Counter

from bench import machine, report, sides

# The device is the limit, however busy the machine is: 8 servers of 4 ms are 2,000 IOPS.
SCRIPT = """format = 1
seed = 7
servers = 8
max_background = 256
capacity = "1GiB"
log = "all"
[latency]
read = { fixed = "4ms" }
write = { fixed = "4ms" }
"""
SPACE_BYTES = 256 << 20
# Assay leaves the first MiB of its test file for its mark; places are counted from where each side begins.
BEGIN_BYTES = {"assay": 1 << 20, "fio": 0}
GLOBAL = f"""[global]
filename=FILE
size={SPACE_BYTES}
direct=1
ioengine=io_uring
time_based
"""
JOBS = {
    "random reads": "[reads]\nrw=randread\nbs=8k\niodepth=16\nnorandommap=1\nrandom_generator=tausworthe64\n",
    "70% reads": "[mix]\nrw=randrw\nrwmixread=70\nbs=8k\niodepth=16\n",
    "three sizes": "[split]\nrw=randread\nbssplit=4k/60:8k/30:64k/10\niodepth=16\nnorandommap=1\n",
    "Zipf 0.9": "[zipf]\nrw=randread\nbs=8k\niodepth=16\nnorandommap=1\nrandom_distribution=zipf:0.9\n",
    "sequential writes": "[log]\nrw=write\nbs=64k\niodepth=8\n",
    "1000 a second": "[paced]\nrw=randread\nbs=8k\niodepth=32\nrate_iops=1000\nrate_process=poisson\n",
}
PARTS = 64
SIGNIFICANT = 0.05
BAR_SHARE, BAR_RATE = 0.01, 0.05


class Mounted:
    """A scripted file system, its log, and the test file that both sides use."""

    def __init__(self, given, scratch):
        self.directory, self.log = os.path.join(scratch, "mount"), os.path.join(scratch, "rig.jsonl")
        os.makedirs(self.directory, exist_ok=True)
        script = os.path.join(scratch, "limit.toml")
        with open(script, "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        self.command = [*urgent(given), given.rig, "mount", self.directory, "--script", script, "--log", self.log]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        if not line.startswith("mounted"):
            raise sides.Failed(f"assay-rig: {line}")
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def file(self):
        """The test file."""
        names = [name for name in os.listdir(self.directory) if name.endswith(".dat")]
        return os.path.join(self.directory, names[0])


def urgent(given):
    """What puts a program before others that use the machine; the same for both sides and the file system."""
    return ["chrt", "--fifo", "1"] if given.realtime else []


def called(command, **more):
    """The output of a program that has to succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode not in (0, 1, 3):
        raise sides.Failed(f"{' '.join(map(str, command))}: {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def timed(work):
    """What a side gives, with when it began and ended on the clock of the log."""
    began = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    result = work()
    return {**result, "from_ns": began, "to_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC)}


def by_assay(given, store, job, directory):
    """The job file by Assay."""
    text = called([*urgent(given), given.assay, "run", job, directory, "--keep", "--store", store, "--json", "--quiet"])
    run = json.loads(text)["runs"][0]
    measurement = run["measurement"]
    operations = [stream["operations"] for stream in measurement["streams"]]
    ios = {kind: sum(each.get(kind, {}).get("ios", 0) for each in operations) for kind in ("read", "write")}
    run_id = called([given.assay, "runs", "--store", store, "--json"])
    return {"ios": sum(ios.values()), "kinds": ios, "elapsed_s": measurement["elapsed_ns"] / 1e9, "run": newest(run_id)}


def newest(text):
    """The id of the newest run in a list of runs."""
    return max(run["id"] for run in json.loads(text)["runs"])


def by_fio(given, store, job, scratch):
    """The job file by fio, and what it says of it imported."""
    text = called([*urgent(given), given.fio, job, "--output-format=json+", "--allow_file_create=0"], cwd=scratch)
    text = text[text.index("{"):]
    done = json.loads(text)["jobs"][0]
    kept = os.path.join(scratch, "fio.json")
    with open(kept, "w", encoding="utf-8") as file:
        file.write(text)
    called([given.assay, "runs", "import", kept, "--store", store, "--quiet"])
    ios = {kind: done[kind]["total_ios"] for kind in ("read", "write")}
    elapsed_s = max(done[kind]["runtime"] for kind in ("read", "write")) / 1000
    return {"ios": sum(ios.values()), "kinds": ios, "elapsed_s": elapsed_s,
            "run": newest(called([given.assay, "runs", "--store", store, "--json"]))}


def compared(given, store, one, other):
    """Every common quantity of two runs and its ratio."""
    text = called([given.assay, "compare", one, other, "--store", store, "--csv"])
    rows = csv.DictReader(io.StringIO(text))
    return [(row["quantity"], row["subject"], float(row["ratio"])) for row in rows if row["ratio"]]


def entries(log):
    """Reads and writes of the log: begin, kind, offset, bytes."""
    found = []
    with open(log, encoding="utf-8") as file:
        for line in file:
            one = json.loads(line)
            if one.get("operation") in ("read", "write"):
                found.append((one["arrival_ns"], one["operation"], one["offset"], one["length"]))
    return found


def chi_square(one, other):
    """How likely two counts of the same law differ as much: a test of homogeneity."""
    keys = sorted(set(one) | set(other))
    sums = sum(one.values()), sum(other.values())
    whole, value, cells = sum(sums), 0.0, 0
    for key in keys:
        both = one.get(key, 0) + other.get(key, 0)
        if both * min(sums) / whole < 5:
            continue
        cells += 1
        for count, total in ((one.get(key, 0), sums[0]), (other.get(key, 0), sums[1])):
            expected = both * total / whole
            value += (count - expected) ** 2 / expected
    return upper_tail(value, cells - 1)


def upper_tail(value, degrees):
    """The upper tail of a chi-square law (the incomplete gamma function by its series and its continued fraction; Abramowitz and
    Stegun 6.5.29 and 6.5.31)."""
    if degrees < 1:
        return 1.0
    shape, at = degrees / 2, value / 2
    if at <= 0:
        return 1.0
    front = math.exp(-at + shape * math.log(at) - math.lgamma(shape))
    if at < shape + 1:
        term = total = 1 / shape
        for step in range(1, 1000):
            term *= at / (shape + step)
            total += term
        return max(0.0, 1 - total * front)
    below = 1e-300
    divisor, ratio = at + 1 - shape, 1 / below
    inverse = 1 / divisor
    result = inverse
    for step in range(1, 1000):
        factor = -step * (step - shape)
        divisor += 2
        inverse = 1 / ((factor * inverse + divisor) or below)
        ratio = (divisor + factor / ratio) or below
        result *= inverse * ratio
    return front * result


def places(found, begin_bytes, name):
    """The law of the places: parts of the file; for a skewed law, how often the most popular places were met, since where they lie is
    a matter of the seed; for a sequence, whether each follows the one before."""
    if name.startswith("Zipf"):
        ranked = sorted(Counter(offset for _, _, offset, _ in found).values(), reverse=True)
        edges = [0, 1, 3, 10, 30, 100, 300, 1000, 3000, len(ranked)]
        return {place: sum(ranked[begin:end]) for place, (begin, end) in enumerate(zip(edges, edges[1:]))}
    if name.startswith("sequential"):
        ordered = [offset for _, _, offset, _ in found]
        behind = Counter(offset - 65536 in set(ordered[max(0, at - 32):at]) for at, offset in enumerate(ordered) if offset)
        return {"follows": behind[True], "leaps": behind[False]}
    return Counter((offset - begin_bytes) * PARTS // SPACE_BYTES for _, _, offset, _ in found)


@contextlib.contextmanager
def locked(path):
    """The machine to itself, as far as others take the lock, too."""
    if not path:
        yield
        return
    with open(path, "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def irregular(found):
    """The standard deviation of the times between arrivals over their mean: 1 for random arrivals at a rate, above it for bunches."""
    times = [at for at, *_ in found]
    gaps = [after - before for before, after in zip(times, times[1:])]
    return statistics.pstdev(gaps) / statistics.fmean(gaps)


def once(given, scratch, name, store):
    """Both sides once, in turn; what the log says of each."""
    job = os.path.join(scratch, "job.fio")
    with Mounted(given, scratch) as mounted:
        make = [given.assay, "run", "randread", mounted.directory, "--size", f"{SPACE_BYTES + BEGIN_BYTES['assay']}B", "--keep", "--time", "200ms",
                "--store", os.path.join(scratch, "filled"), "--quiet"]
        called(make)
        text = GLOBAL.replace("FILE", mounted.file()) + f"runtime={given.seconds:g}\n" + JOBS[name]
        with open(job, "w", encoding="utf-8") as file:
            file.write(text)
        work = {
            "fio": lambda: by_fio(given, store, job, scratch),
            "assay": lambda: by_assay(given, store, job, mounted.directory),
        }
        turn = sorted(work, reverse=once.turn)
        once.turn = not once.turn
        results = {side: timed(work[side]) for side in turn}
    logged = entries(mounted.log)
    for result in results.values():
        span = [one for one in logged if result["from_ns"] <= one[0] < result["to_ns"]]
        # Before it measures, Assay looks at the content of its test file.
        result["entries"] = span[-result["ios"]:]
    return results


once.turn = False


def judged(name, results):
    """Figures of a repeat: the tests of places and sizes, the difference of the read shares, the ratio of the rates."""
    assay, fio = results["assay"], results["fio"]
    share = {side: results[side]["kinds"]["read"] / results[side]["ios"] for side in results}
    sizes = [Counter(length for *_, length in side["entries"]) for side in (assay, fio)]
    where = [places(results[side]["entries"], BEGIN_BYTES[side], name) for side in ("assay", "fio")]
    return {
        "gaps": [irregular(results[side]["entries"]) for side in ("assay", "fio")],
        "places": chi_square(*where), "sizes": chi_square(*sizes), "read_share": share["assay"] - share["fio"],
        "iops": (assay["ios"] / assay["elapsed_s"]) / (fio["ios"] / fio["elapsed_s"]), "where": [dict(each) for each in where],
        "assay_iops": assay["ios"] / assay["elapsed_s"], "fio_iops": fio["ios"] / fio["elapsed_s"],
    }


def main():
    parser = report.options(__doc__, repeats=3, seconds=10.0)
    parser.add_argument("--lock", help="file that is locked during each repeat")
    given = parser.parse_args()
    programs, raw, lines, common = report.programs(given), {}, [], []
    for name in filter(lambda name: given.only in name, JOBS):
        store = os.path.join(programs.scratch, re.sub(r"\W+", "-", name))
        raw[name] = []
        for number in range(given.repeats):
            print(f"{name}, {number + 1} of {given.repeats}", file=sys.stderr, flush=True)
            look = machine.Others()
            with locked(given.lock):
                results = once(given, programs.scratch, name, store)
            found = judged(name, results)
            found["others"] = look.since()
            found["common"] = compared(given, store, results["assay"]["run"], results["fio"]["run"])
            raw[name].append(found)
        lines.append(row(name, raw[name]))
        common += common_rows(name, raw[name])
    report.keep(given, "jobs", {"cases": raw})
    report.table(["job", "places, p", "sizes, p", "read share, difference", "IOPS Assay / fio", "ratio", "irregularity of arrivals Assay / fio", "bars"], lines)
    print()
    report.table(["job", "quantity", "fio's JSON over Assay's run", "bar ± 5%"], common)


def middle(values):
    return sorted(values)[len(values) // 2]


def row(name, found):
    """Medians over the repeats, and what they miss."""
    places_p, sizes_p, share, ratio = (
        middle([each[figure] for each in found]) for figure in ("places", "sizes", "read_share", "iops"))
    missed = [word for word, is_met in (
        ("places", places_p >= SIGNIFICANT), ("sizes", sizes_p >= SIGNIFICANT),
        ("read share", abs(share) <= BAR_SHARE), ("IOPS", abs(ratio - 1) <= BAR_RATE)) if not is_met]
    rates = " / ".join(f"{middle([each[side] for each in found]):.0f}" for side in ("assay_iops", "fio_iops"))
    spread = [each["iops"] for each in found]
    gaps = " / ".join(f"{middle([each['gaps'][side] for each in found]):.1f}" for side in (0, 1))
    return [name, f"{places_p:.2f}", f"{sizes_p:.2f}", f"{100 * share:+.2f} points", rates,
            f"{ratio:.3f} ({min(spread):.3f} … {max(spread):.3f})", gaps, f"**missed**: {', '.join(missed)}" if missed else "met"]


def common_rows(name, found):
    """The median ratio of each quantity that both runs have."""
    quantities = {(quantity, subject) for each in found for quantity, subject, _ in each["common"]}
    rows = []
    for quantity, subject in sorted(quantities):
        ratios = [ratio for each in found for key, of, ratio in each["common"] if (key, of) == (quantity, subject)]
        ratio = middle(ratios)
        rows.append([name, f"{quantity} {subject}".strip(), f"{ratio:.3f}", report.bar(abs(ratio - 1) <= BAR_RATE, "± 5%")])
    return rows


if __name__ == "__main__":
    main()

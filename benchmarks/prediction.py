#!/usr/bin/env python3
"""Predictions of real databases on other storage, compared with what they then do there: `assay predict --verify` on scripted storage.

Each storage is an ext4 file system on a loop device over a file of the rig, whose times a script gives. Needs root, FUSE and loop devices.
Steps may be run apart, because all of a step's results are in the store: `measure STORAGE`, `calibrate STORAGE`, then `verify`.

What is measured runs before everything else on the machine: in a control group of its own with many times the usual share of the processors, where
there is one, and at a nice value of -15; the rig is a real-time process, and workers of the kernel have a nice value of -20. Two gates decide what
counts, fixed before what they are applied to was measured: sessions waited for a processor for at most 5% of their time (`assay` itself decides that), and
the rig was late by at most 3% of what its script asked for. What reads spend on the way to the rig and back is a part of the storage: flushes of the loop
device hold them up, and a calibration measures that as it measures the rig. It is printed next to the share of the processors that others had."""

import argparse
import atexit
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

# Times of a read, a write and a sync, servers, and a limit of the kernel on reads a second. All times are ten times what a rig is late or more.
STORAGES = {
    "few": ("exponential", "8ms", "4ms", "8ms", 4, None),
    "fast": ("exponential", "4ms", "3ms", "4ms", 8, None),
    "wide": ("fixed", "6ms", "4ms", "15ms", 32, None),
    "slow": ("fixed", "15ms", "6ms", "6ms", 32, None),
    "capped": ("fixed", "3ms", "3ms", "5ms", 32, 400),
    "humps": ("fixed", "3ms", "3ms", "5ms", 32, None),
}
# One read in ten takes that much longer.
SECOND_HUMP = """[[fault]]
effect = { delay = "12ms" }
operations = ["read"]
select = { probability = 0.1 }
"""
LOADS = {
    "reads": ["--work-unit", "8"],
    "single": ["--work-unit", "1"],
    "light": ["--work-unit", "8", "--update-work-unit", "2", "--update-pct", "25"],
    "mixed": ["--work-unit", "8", "--update-work-unit", "2", "--update-pct", "50"],
    "updates": ["--update-work-unit", "2", "--update-pct", "100"],
}
SESSIONS = "4,12"
SCRIPT = """format = 1
seed = 7
servers = {servers}
log = "all"
[latency]
read = {{ {law} = "{read}" }}
write = {{ {law} = "{write}" }}
sync = {{ fixed = "{sync}" }}
[[file]]
name = "disk"
size = "3GiB"
content = "zeros"
"""
THROTTLE = Path("/sys/fs/cgroup/blkio")
PROCESSORS = Path("/sys/fs/cgroup/cpu")
SHARE = 200_000
LATE_MAX = 0.03
# Bytes of an I/O as databases make them; a calibration has larger ones, too, whose copying takes the rig's time.
SMALL, LARGE = 32768, 1 << 30
# Of their time sessions may wait for a processor; `assay` has the same limit.
QUEUE_MAX = 0.05


def favour_workers(favoured):
    """Workers of the kernel carry I/O from a loop device to the rig: they come first, too, for as long as this process lives."""
    while True:
        for process in Path("/proc").glob("[0-9]*"):
            try:
                number = int(process.name)
                if (process / "comm").read_text().startswith("kworker/") and os.getpriority(os.PRIO_PROCESS, number) == 0:
                    os.setpriority(os.PRIO_PROCESS, number, -20)
                    favoured.add(number)
            except OSError:
                pass
        time.sleep(1)


def favour_no_longer(favoured):
    """Those workers as they were."""
    for number in favoured:
        try:
            os.setpriority(os.PRIO_PROCESS, number, 0)
        except OSError:
            pass


def favour():
    """This process and all its children come first on the machine's processors."""
    favoured = set()
    threading.Thread(target=favour_workers, args=(favoured,), daemon=True).start()
    atexit.register(favour_no_longer, favoured)
    os.nice(-15)
    group = PROCESSORS / "assay-prediction"
    if PROCESSORS.is_dir():
        group.mkdir(exist_ok=True)
        (group / "cpu.shares").write_text(str(SHARE))
        (group / "cpu.rt_runtime_us").write_text("900000")
        (group / "tasks").write_text(str(os.getpid()))


def in_real_time():
    """The rig sleeps until an operation is due: nothing may keep it from waking up."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    except PermissionError:
        print("the rig has no real-time priority here", file=sys.stderr)


class Storage:
    """A mounted storage; gone at the end."""

    def __init__(self, name, given):
        self.name, self.rig, self.product, self.group = name, given.rig, given.product, None
        self.results = Path(given.store) / "lateness.jsonl"
        self.steps = []
        self.base = Path(tempfile.mkdtemp(prefix=f"prediction-{name}-"))

    def __enter__(self):
        law, read, write, sync, servers, most = STORAGES[self.name]
        self.base.chmod(0o755)
        script, self.below, self.path = self.base / "rig.toml", self.base / "rig", self.base / "fs"
        humps = SECOND_HUMP if self.name == "humps" else ""
        script.write_text(SCRIPT.format(law=law, read=read, write=write, sync=sync, servers=servers) + humps)
        self.below.mkdir()
        self.path.mkdir()
        command = [self.rig, "mount", self.below, "--script", script, "--log", self.base / "log"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=in_real_time)
        assert "mounted" in self.process.stderr.readline()
        loop = ["losetup", "--find", "--show", "--direct-io=on", self.below / "disk"]
        self.loop = subprocess.run(loop, check=True, capture_output=True, text=True).stdout.strip()
        subprocess.run(["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1,nodiscard", "-O", "^has_journal", self.loop], check=True)
        subprocess.run(["mount", "-o", "noatime", self.loop, self.path], check=True)
        self.path.chmod(0o777)
        if most:
            self._throttle(most)
        return self

    def _throttle(self, most):
        self.group = THROTTLE / f"assay-prediction-{os.getpid()}"
        self.group.mkdir()
        number = os.stat(self.loop).st_rdev
        limit = f"{os.major(number)}:{os.minor(number)} {most}"
        (self.group / "blkio.throttle.read_iops_device").write_text(limit)

    def enter(self):
        """Called in a child before it becomes another program."""
        if self.group:
            (self.group / "tasks").write_text(str(os.getpid()))

    def step(self, name, begin_s):
        """A step of the benchmark is over: how late the rig was while it lasted is said at the end."""
        self.steps.append((name, begin_s, time.monotonic()))

    def __exit__(self, *_):
        for _ in range(50):
            if subprocess.run(["umount", self.path], check=False, stderr=subprocess.DEVNULL).returncode == 0:
                break
            time.sleep(0.2)
        subprocess.run(["losetup", "--detach", self.loop], check=False)
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.say_lateness()
        if self.group:
            self.group.rmdir()
        subprocess.run(["rm", "-rf", "--one-file-system", self.base], check=False)

    def say_lateness(self):
        """What the rig's own log says: the time beyond what was due, as a share of the scripted times without any queue."""
        times_ms = dict(zip(("read", "write", "sync"), (float(time.removesuffix("ms")) for time in STORAGES[self.name][1:4])))
        with open(self.base / "log", encoding="utf-8") as lines:
            entries = [entry for entry in map(json.loads, lines) if entry.get("length", LARGE) <= SMALL]
        with open(self.results, "a", encoding="utf-8") as results:
            for name, begin_s, end_s in self.steps:
                during = [one for one in entries if begin_s * 1e9 <= one["arrival_ns"] <= end_s * 1e9]
                asked = sum(1e6 * times_ms[one["operation"]] for one in during)
                late = sum(one["completion_ns"] - one["due_ns"] for one in during)
                share = late / asked if asked else 0.0
                reads = [one["completion_ns"] - one["arrival_ns"] for one in during if one["operation"] == "read"]
                found = {"product": self.product, "storage": self.name, "step": name, "ios": len(during), "late_share": share,
                         "read_ms": sum(reads) / len(reads) / 1e6 if reads else None}
                results.write(json.dumps(found) + "\n")
                print(f"{self.product} {self.name} {name}: rig late by {100 * share:.2f}% of {len(during)} operations"
                      f"{'' if share <= LATE_MAX else ': noisy'}", flush=True)


def assay(given, *words, storage=None):
    """The program's standard output; its errors are shown."""
    command = [given.assay, *map(str, words), "--store", given.store]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=storage.enter if storage else None, check=False)
    if done.returncode not in (0, 3):
        print(f"{' '.join(map(str, command))}\n{done.stderr}", file=sys.stderr)
    return done


def server(given):
    """Options of the server that is made."""
    if given.product == "mariadb":
        return ["--server", "mariadb", "--buffer-pool", "8MiB"]
    return ["--bindir", given.bindir, "--buffer-pool", "4MiB", "--io-method", "sync"]


def measure(given, name, loads):
    """Each load on one storage, the rungs of its ladder after each other."""
    with Storage(name, given) as storage:
        for load in loads:
            begin = time.monotonic()
            assay(given, "bench", "slob", storage.path, *server(given), "--sessions", SESSIONS, "--time", f"{given.seconds}s",
                  "--scale", "40MiB", *LOADS[load], "--name", f"{given.product}-{name}-{load}", "--quiet", storage=storage)
            storage.step(load, begin)
            print(f"{given.product} {name} {load}: {time.monotonic() - begin:.0f} s", flush=True)


def calibrate(given, name):
    """One storage, as the mixed load of the product asks for it on the first one."""
    with Storage(name, given) as storage:
        profile = storage.base / "database.profile.json"
        profile.write_text(json.dumps(rung(given, f"{given.product}-few-mixed")["profile"]))
        begin = time.monotonic()
        assay(given, "calibrate", storage.path, "--for", profile, "--time", f"{given.calibration}s", "--size", "64MiB", "--queue-depth-max", "64",
              "--max-latency", "50ms", "--name", f"{given.product}-{name}-{given.label}", "--quiet", storage=storage)
        storage.step("calibration", begin)
        print(f"{given.product} {name} calibration: {time.monotonic() - begin:.0f} s", flush=True)


def rung(given, run):
    """The last rung of a load."""
    return load_document(given, run)["steps"][-1]


def load_document(given, run):
    """The newest load of that name."""
    listed = json.loads(assay(given, "runs", "list", "--json").stdout)
    found = [one for one in listed["runs"] if one.get("label") == run or one.get("name") == run]
    return json.loads((Path(given.store) / found[-1]["id"] / "load.json").read_text())


def verify(given):
    """All ordered pairs; those whose places in the list are together even are held out, and come last."""
    names, cells = [name for name in STORAGES if name in (given.storages or STORAGES)], []
    late = lateness(given)
    for held_out in (False, True):
        for before in names:
            for after in names:
                places = list(STORAGES).index(before) + list(STORAGES).index(after)
                if before != after and places % 2 == (0 if held_out else 1):
                    for load in given.loads.split(","):
                        cells += pair(given, before, after, load, held_out, late)
    for held_out in (False, True):
        summarize(given, [cell for cell in cells if cell["held_out"] == held_out], "held out" if held_out else "learnt from")
    if given.output:
        Path(given.output).write_text(json.dumps({"product": given.product, "closure": given.closure, "cells": cells}, indent=1) + "\n")


def lateness(given):
    """How late the rig was in each step that was measured, the last time."""
    steps = map(json.loads, (Path(given.store) / "lateness.jsonl").read_text().splitlines())
    return {(step["storage"], step["step"]): step for step in steps}


def noise(given, storage, load, late):
    """How late the rig was for one load on one storage, and what reads spent on the way to it, as shares."""
    step = late[storage, load]
    counters = [rung["device"]["counters"] for rung in load_document(given, f"{given.product}-{storage}-{load}")["steps"]]
    device_ms = sum(one["read_time_ns"] for one in counters) / sum(one["read_ios"] for one in counters) / 1e6
    way = max(0.0, 1 - step["read_ms"] / device_ms) if STORAGES[storage][-1] is None else 0.0
    return step["late_share"], way


def pair(given, before, after, load, held_out, late):
    """One load moved from one storage to another: a cell for each number of sessions."""
    run = f"{given.product}-{{}}-{load}"
    calibration = f"{given.calibrated or given.product}-{{}}-calibration"
    words = ["predict", "--verify", run.format(before), run.format(after), "--on", calibration.format(after)]
    words += ["--from", calibration.format(before)] if given.closure else []
    done = assay(given, *words, *(["--held-out"] if held_out else []), "--draws", "200", "--json")
    (late_share, way_share) = map(max, zip(noise(given, before, load, late), noise(given, after, load, late)))
    cases = json.loads(done.stdout)["pairs"][0]["cases"] if done.stdout else []
    cells = []
    for sessions in map(int, SESSIONS.split(",")):
        if sessions not in [case["sessions"] for case in cases]:
            cells.append({"before": before, "after": after, "load": load, "held_out": held_out, "sessions": sessions, "answer": "refused", "noisy": False})
            print(f"{given.product:9} {'held out' if held_out else 'learnt':8} {load:8} {before:6} -> {after:6} {sessions:3} refused", flush=True)
    for case in cases:
        cell = {"before": before, "after": after, "load": load, "held_out": held_out, "late_share": late_share, "way_share": way_share} | case
        cell["noisy"] = late_share > LATE_MAX or case.get("cpu_queue_share", 0) > QUEUE_MAX
        cells.append(cell)
        print(f"{given.product:9} {'held out' if held_out else 'learnt':8} {load:8} {before:6} -> {after:6} {case['sessions']:3} {case['answer']:9}"
              f"{'noisy' if cell['noisy'] else '':6} {100 * off(cell, 'predicted'):+6.1f}%  amdahl {100 * off(cell, 'amdahl'):+6.1f}% "
              f"look-up {100 * off(cell, 'lookup'):+6.1f}%  reads {case['predicted_read_share']:.2f} {case['measured_read_share']:.2f} "
              f"queue {case.get('cpu_queue_share', 0):.3f} late {late_share:.3f} way {way_share:.3f} others {case.get('others_busy_share', 0):.2f}", flush=True)
    return cells


def off(cell, what):
    """An answer over what was measured, less 1."""
    value = cell["predicted_per_s"]["value"] if what == "predicted" else cell[f"{what}_per_s"]
    return value / cell["measured_per_s"] - 1


def summarize(given, cells, name):
    """What the bars ask, of the cells that were answered on a quiet host."""
    for load in [*given.loads.split(","), "all"]:
        of = [cell for cell in cells if load in (cell["load"], "all")]
        counted = [cell for cell in of if cell["answer"] == "answered" and not cell["noisy"]]
        if not counted:
            print(f"{given.product} {name} {load}: {len(of)} cells, none counted")
            continue
        errors = [abs(off(cell, "predicted")) for cell in counted]
        share = lambda holds: 100 * sum(map(holds, counted)) / len(counted)
        closer = lambda other: share(lambda cell: abs(off(cell, "predicted")) <= abs(off(cell, other)))
        covered = share(lambda cell: cell["predicted_per_s"]["low"] <= cell["measured_per_s"] <= cell["predicted_per_s"]["high"])
        print(f"{given.product} {name} {load}: {len(of)} cells, {sum(cell['noisy'] for cell in of)} noisy, "
              f"{sum(cell['answer'] != 'answered' and not cell['noisy'] for cell in of)} not answered, {len(counted)} counted: "
              f"median {100 * statistics.median(errors):.1f}%, within 15% {share(lambda cell: abs(off(cell, 'predicted')) <= 0.15):.1f}%, "
              f"worst {100 * max(errors):.0f}%, reads within 0.10 "
              f"{share(lambda cell: abs(cell['predicted_read_share'] - cell['measured_read_share']) <= 0.1):.1f}%, covered {covered:.1f}%, "
              f"closer than Amdahl {closer('amdahl'):.1f}%, than a look-up {closer('lookup'):.1f}%")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("measure", "calibrate", "both", "verify"))
    parser.add_argument("storages", nargs="*", help=", ".join(STORAGES))
    parser.add_argument("--product", choices=("postgres", "mariadb"), default="postgres")
    parser.add_argument("--assay", default="assay")
    parser.add_argument("--rig", default="assay-rig")
    parser.add_argument("--bindir", help="programs of PostgreSQL 18")
    parser.add_argument("--store", required=True)
    parser.add_argument("--loads", default=",".join(LOADS))
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--calibration", type=int, default=40)
    parser.add_argument("--calibrated", help="the product whose profile the storages were calibrated for, if another")
    parser.add_argument("--output", help="file of the raw cells")
    parser.add_argument("--label", default="calibration", help="the end of a calibration's name")
    parser.add_argument("--closure", action="store_true", help="check the model on the storage before, too")
    given = parser.parse_args()
    Path(given.store).mkdir(exist_ok=True)
    if given.step != "verify":
        favour()
    for name in given.storages:
        if given.step in ("measure", "both"):
            measure(given, name, given.loads.split(","))
        if given.step in ("calibrate", "both"):
            calibrate(given, name)
    if given.step == "verify":
        verify(given)


if __name__ == "__main__":
    main()

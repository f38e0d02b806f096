#!/usr/bin/env python3
"""Predictions of real databases on other storage, compared with what they then do there: `assay predict --verify` on scripted storage.

Each storage is an ext4 file system on a loop device over a file of the rig, whose times a script gives. Needs root, FUSE and loop devices.
Steps may be run apart, because all of a step's results are in the store: `measure STORAGE`, `calibrate STORAGE`, then `verify`."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Times of a read, a write and a sync, servers, and a limit of the kernel on reads a second. All times are ten times what a rig is late or more.
STORAGES = {
    "few": ("exponential", "8ms", "4ms", "8ms", 4, None),
    "fast": ("exponential", "4ms", "3ms", "4ms", 8, None),
    "wide": ("fixed", "6ms", "4ms", "15ms", 32, None),
    "slow": ("fixed", "15ms", "6ms", "6ms", 32, None),
    "capped": ("fixed", "3ms", "3ms", "5ms", 32, 400),
}
LOADS = {
    "reads": ["--work-unit", "8"],
    "mixed": ["--work-unit", "8", "--update-work-unit", "2", "--update-pct", "50"],
    "updates": ["--update-work-unit", "2", "--update-pct", "100"],
}
SESSIONS = "4,12"
SCRIPT = """format = 1
seed = 7
servers = {servers}
log = "nothing"
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


class Storage:
    """A mounted storage; gone at the end."""

    def __init__(self, name, rig):
        self.name, self.rig, self.group = name, rig, None
        self.base = Path(tempfile.mkdtemp(prefix=f"prediction-{name}-"))

    def __enter__(self):
        law, read, write, sync, servers, most = STORAGES[self.name]
        self.base.chmod(0o755)
        script, self.below, self.path = self.base / "rig.toml", self.base / "rig", self.base / "fs"
        script.write_text(SCRIPT.format(law=law, read=read, write=write, sync=sync, servers=servers))
        self.below.mkdir()
        self.path.mkdir()
        self.process = subprocess.Popen([self.rig, "mount", self.below, "--script", script], stdin=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
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

    def __exit__(self, *_):
        subprocess.run(["umount", self.path], check=False)
        subprocess.run(["losetup", "--detach", self.loop], check=False)
        self.process.stdin.close()
        self.process.wait(timeout=20)
        if self.group:
            self.group.rmdir()
        subprocess.run(["rm", "-rf", "--one-file-system", self.base], check=False)


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
    with Storage(name, given.rig) as storage:
        for load in loads:
            begin = time.monotonic()
            assay(given, "load", "slob", storage.path, *server(given), "--sessions", SESSIONS, "--time", f"{given.seconds}s",
                  "--scale", "40MiB", *LOADS[load], "--name", f"{given.product}-{name}-{load}", "--quiet", storage=storage)
            print(f"{given.product} {name} {load}: {time.monotonic() - begin:.0f} s", flush=True)


def calibrate(given, name):
    """One storage, as the mixed load of the product asks for it on the first one."""
    with Storage(name, given.rig) as storage:
        profile = storage.base / "database.profile.json"
        profile.write_text(json.dumps(rung(given, f"{given.product}-few-mixed")["profile"]))
        begin = time.monotonic()
        assay(given, "calibrate", storage.path, "--database", profile, "--time", f"{given.calibration}s", "--size", "64MiB", "--outstanding-max", "64",
              "--max-latency", "50ms", "--name", f"{given.product}-{name}-calibration", "--quiet", storage=storage)
        print(f"{given.product} {name} calibration: {time.monotonic() - begin:.0f} s", flush=True)


def rung(given, run):
    """The last rung of a load."""
    listed = json.loads(assay(given, "runs", "list", "--json").stdout)
    found = [one for one in listed["runs"] if one.get("label") == run or one.get("name") == run]
    return json.loads((Path(given.store) / found[-1]["id"] / "load.json").read_text())["rungs"][-1]


def verify(given):
    """All ordered pairs; those whose places in the list are together even are held out."""
    names = list(STORAGES)
    for held_out in (False, True):
        for before in names:
            for after in names:
                if before != after and (names.index(before) + names.index(after)) % 2 == (0 if held_out else 1):
                    for load in LOADS:
                        pair(given, before, after, load, held_out)


def pair(given, before, after, load, held_out):
    """One load moved from one storage to another."""
    run = f"{given.product}-{{}}-{load}"
    words = ["predict", "--verify", run.format(before), run.format(after), "--on", f"{given.product}-{after}-calibration"]
    words += ["--from", f"{given.product}-{before}-calibration"] if given.closure else []
    done = assay(given, *words, *(["--held-out"] if held_out else []), "--draws", "200", "--json")
    if not done.stdout:
        return
    for case in json.loads(done.stdout)["pairs"][0]["cases"]:
        error = 100 * (case["predicted_per_s"]["value"] / case["measured_per_s"] - 1)
        amdahl, lookup = (100 * (case[name] / case["measured_per_s"] - 1) for name in ("amdahl_per_s", "lookup_per_s"))
        print(f"{given.product:9} {'held out' if held_out else 'learnt':8} {load:8} {before:6} -> {after:6} {case['sessions']:3} {case['answer']:9} "
              f"{error:+6.1f} %  amdahl {amdahl:+6.1f} % look-up {lookup:+6.1f} %  reads {case['predicted_read_share']:.2f} {case['measured_read_share']:.2f} "
              f"others {case.get('others_busy_share', 0):.2f}", flush=True)


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
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--calibration", type=int, default=8)
    parser.add_argument("--closure", action="store_true", help="check the model on the storage before, too")
    given = parser.parse_args()
    for name in given.storages:
        if given.step in ("measure", "both"):
            measure(given, name, given.loads.split(","))
        if given.step in ("calibrate", "both"):
            calibrate(given, name)
    if given.step == "verify":
        verify(given)


if __name__ == "__main__":
    main()

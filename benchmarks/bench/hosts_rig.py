"""A device of the rig that several hosts share in real time, whose most I/Os a second are known: a number of servers, each busy for a fixed time."""

import contextlib
import json
import pathlib
import subprocess
import tempfile
import time

from bench import power

SERVERS, SERVICE_MS = 4, 2
TRUTH_IOPS = 1000 * SERVERS / SERVICE_MS
SCRIPT = f'servers = {SERVERS}\nmax_background = 1024\n[latency]\nread = {{ fixed = "{SERVICE_MS}ms" }}\n'
BAR_OFF, BAR_HELD, BAR_TOOK_S = 0.05, 0.93, 75.0


@contextlib.contextmanager
def directory(program):
    """A directory on such a device."""
    with tempfile.TemporaryDirectory() as place:
        rig = power.Rig(program, pathlib.Path(place), SCRIPT)
        try:
            yield rig.directory
        finally:
            rig.end()


def calibrations(given):
    """Calibrations over two hosts: what each found, and how long it took, s."""
    found = []
    with directory(given.rig) as place:
        for seed in range(1, given.calibrations + 1):
            begun_s = time.monotonic()
            command = [given.assay, "calibrate", place, "--size", "64MiB", "--time", f"{given.seconds:.0f}s", "--read-share", "100%", "--queue-depth-max", "64",
                       "--seed", str(seed), "--hosts", "local:2", "--json", "--quiet", "--store", given.store]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
            took_s = time.monotonic() - begun_s
            run = json.loads(done.stdout)
            rate = run["calibration"]["mixes"][0]["iops_max"]["rate"]
            found.append({"iops": rate["value"], "low": rate["low"], "high": rate["high"], "took_s": took_s, "code": done.returncode,
                          "sharing": run["cluster"].get("sharing")})
    return found


def rows(found, report):
    """Rows of the table for them."""
    off = max(abs(one["iops"] / TRUTH_IOPS - 1) for one in found)
    held = sum(one["low"] <= TRUTH_IOPS <= one["high"] for one in found)
    took_s = max(one["took_s"] for one in found)
    shared = sum((one["sharing"] or {}).get("limit") == "shared" for one in found)
    return [[f"most IOPS of {TRUTH_IOPS:.0f}, off at most in {len(found)} calibrations", f"{100 * off:.1f}%", report.bar(off <= BAR_OFF, "≤ 5%")],
            ["the interval holds the truth", f"{held} of {len(found)}", report.bar(held >= BAR_HELD * len(found), "≥ 93 of 100")],
            ["took, s, most", f"{took_s:.1f}", report.bar(took_s <= BAR_TOOK_S, "≤ 75")],
            ["what hosts share is named as the limit", f"{shared} of {len(found)}", "none"]]

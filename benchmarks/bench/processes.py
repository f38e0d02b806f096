"""Watches a program's memory while it runs."""

import re
import subprocess
import time
from pathlib import Path


def watched(command, every_s=0.5, **more):
    """Runs a program to its end: exit code, output, wall time, and resident memory in MiB over time."""
    began, samples = time.monotonic(), []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more) as process:
        while True:
            seen = _resident_mib(process.pid)
            if seen:
                samples.append((round(time.monotonic() - began, 2), *seen))
            try:
                out, err = process.communicate(timeout=every_s)
                break
            except subprocess.TimeoutExpired:
                continue
    return {
        "code": process.returncode, "out": out, "err": err, "wall_s": time.monotonic() - began,
        "resident_mib": samples, "resident_max_mib": max((peak for _, _, peak in samples), default=None),
    }


def _resident_mib(pid):
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    found = [re.search(rf"^{key}:\s*(\d+)", status, re.MULTILINE) for key in ("VmRSS", "VmHWM")]
    return tuple(round(int(match.group(1)) / 1024, 2) for match in found) if all(found) else None

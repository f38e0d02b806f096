"""What a result depends on: processor, kernel, versions, and how much others use the machine meanwhile."""

import datetime
import os
import platform
import re
import subprocess
import time
from pathlib import Path


def _first(path, pattern, default="unknown"):
    try:
        found = re.search(pattern, Path(path).read_text(), re.MULTILINE)
    except OSError:
        return default
    return found.group(1).strip() if found else default


def _output(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "not found"
    return (done.stdout or done.stderr).strip().splitlines()[0] if done.stdout or done.stderr else "unknown"


def _commit():
    here = Path(__file__).parent
    commit = _output("git", "-C", str(here), "rev-parse", "--short", "HEAD")
    dirty = subprocess.run(
        ["git", "-C", str(here), "status", "--porcelain", "--untracked-files=no"],
        capture_output=True, text=True, check=False,
    ).stdout
    return commit + (" with changes" if dirty else "")


def facts(assay, fio):
    """Everything that belongs above a table of results; nothing that names the machine or its owner."""
    virtual = "hypervisor" in _first("/proc/cpuinfo", r"^flags\s*:(.*)$", "")
    memory_kib = int(_first("/proc/meminfo", r"^MemTotal:\s*(\d+)", "0"))
    return {
        "date": datetime.date.today().isoformat(),
        "cpu": _first("/proc/cpuinfo", r"^model name\s*:\s*(.*)$"),
        "cpu_family_model_stepping": "/".join(
            _first("/proc/cpuinfo", rf"^{key}\s*:\s*(.*)$") for key in ("cpu family", "model", "stepping")
        ),
        "cpu_mhz": _first("/proc/cpuinfo", r"^cpu MHz\s*:\s*(.*)$"),
        "logical_cpus": os.cpu_count(),
        "virtual_machine": virtual,
        "memory_gib": round(memory_kib / 2**20),
        "kernel": platform.release(),
        "clock_source": _first("/sys/devices/system/clocksource/clocksource0/current_clocksource", r"(\S+)"),
        "distribution": _first("/etc/os-release", r'^PRETTY_NAME="(.*)"$'),
        "assay": f"{_output(assay, '--version')} ({_commit()})",
        "fio": _output(fio, "--version"),
        "python": platform.python_version(),
        "rustc": _output("rustc", "--version"),
    }


def kind(found):
    """A name for this kind of machine that says nothing about whose it is."""
    what = "virtual" if found["virtual_machine"] else "metal"
    return f"{found['logical_cpus']}cpu-{platform.machine()}-{what}"


def device_of(path):
    """Kernel name of the device under a file, its scheduler, or None where there is no block device."""
    number = os.stat(path).st_dev
    link = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not link.exists():
        return None
    device = link.resolve()
    disk = device if (device / "queue").exists() else device.parent
    scheduler = _first(disk / "queue/scheduler", r"\[(.*?)\]")
    mount = next(
        (line.split()[2] for line in reversed(Path("/proc/mounts").read_text().splitlines())
         if os.path.realpath(path).startswith(line.split()[1])), "unknown")
    return {"name": disk.name, "scheduler": scheduler, "file_system": mount}


def _jiffies():
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    user, nice, system, _idle, _wait, irq, softirq, steal = fields
    return user + nice + system + irq + softirq, steal


def _device_ios(name):
    for line in Path("/proc/diskstats").read_text().splitlines():
        fields = line.split()
        if fields[2] == name:
            return int(fields[3]) + int(fields[7])
    return 0


class Others:
    """How much of the machine others used between two looks: CPU cores, and I/Os a second on the device."""

    def __init__(self, device=None):
        self.device = device
        self.at = time.monotonic()
        self.busy, self.stolen = _jiffies()
        self.children = os.times()
        self.ios = _device_ios(device) if device else 0

    def since(self, own_ios=0):
        """Own work is what child processes of this one used and `own_ios` on the device."""
        now = Others(self.device)
        elapsed_s = max(now.at - self.at, 1e-3)
        ticks = os.sysconf("SC_CLK_TCK")
        own_s = sum(now.children[:4]) - sum(self.children[:4])
        used_s = (now.busy - self.busy) / ticks - own_s
        return {
            "cores": round(max(0.0, used_s / elapsed_s), 3),
            "stolen_cores": round((now.stolen - self.stolen) / ticks / elapsed_s, 3),
            "device_iops": round(max(0.0, (now.ios - self.ios - own_ios) / elapsed_s)),
            "load_average": os.getloadavg()[0],
        }


def wait_for_quiet(limit_cores, patience_s, device=None):
    """Waits until others use little of the machine; gives what was seen last."""
    until = time.monotonic() + patience_s
    while True:
        look = Others(device)
        time.sleep(1.0)
        seen = look.since()
        if seen["cores"] <= limit_cores or time.monotonic() >= until:
            return seen
        time.sleep(2.0)

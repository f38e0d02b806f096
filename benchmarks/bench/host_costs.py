"""What being a host costs it: processor time and memory of everything that runs on it for the driver, before and while a node rests between two loads."""

import os
import signal
import subprocess
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(process):
    """Processor time of a process so far."""
    stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    fields = stat.rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def pss_mb(process):
    """Its memory, with its part of what it shares."""
    for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def name_of(process):
    """A word for a process."""
    words = Path(f"/proc/{process}/cmdline").read_bytes().decode(errors="replace").split("\0")
    line = " ".join(words)
    if len(words) > 1 and words[1] == "node":
        return "assay node"
    for part, name in (("raylet/raylet", "raylet"), ("dashboard/agent", "agents"), ("runtime_env/agent", "agents"), ("ray::", "actor"), ("far_shell", "shell")):
        if part in line:
            return name
    return "others"


def used(hosts, name, seconds):
    """Of each kind of process of a host: share of one processor, and memory, MB."""
    found = {}
    before = {}
    for process in hosts.processes(name):
        try:
            before[process] = cpu_s(process)
        except OSError:
            continue
    begin_s = time.monotonic()
    time.sleep(seconds)
    for process, earlier in before.items():
        try:
            kind, cpu, memory = name_of(process), cpu_s(process) - earlier, pss_mb(process)
        except OSError:
            continue
        share, all_mb = found.get(kind, (0.0, 0.0))
        found[kind] = (share + cpu / (time.monotonic() - begin_s), all_mb + memory)
    return found


def rows(given, hosts, seconds=20):
    """The table, and the raw numbers."""
    name = hosts.names[-1]
    raw = {"idle": used(hosts, name, seconds)}
    command = [given.assay, "soak", given.directory, "--size", "64MiB", "--workload", "oltp", "--work", "1s", "--rest", "10min", "--cycles", "2", "--quiet",
               "--hosts", hosts.option(), "--store", given.store]
    driver = subprocess.Popen(command, env=hosts.environment(given.assay), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            if hosts.nodes(name):
                break
            time.sleep(0.1)
        # The cycle is over by then, and the node rests.
        time.sleep(12)
        raw["node rests"] = used(hosts, name, seconds)
    finally:
        driver.send_signal(signal.SIGINT)
        driver.wait()
    table = []
    for when, found in raw.items():
        for kind, (share, memory) in sorted(found.items()):
            table.append([when, kind, f"{100 * share:.2f} %", f"{memory:.0f} MB"])
        table.append([when, "all", f"{100 * sum(share for share, _ in found.values()):.2f} %", f"{sum(memory for _, memory in found.values()):.0f} MB"])
    return table, raw

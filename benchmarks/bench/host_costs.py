"""What being a host costs it: processor time and memory of everything that runs on it for the driver, before, while a node rests, and while it measures."""

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
    kinds = (("raylet/raylet", "raylet"), ("dashboard/agent", "agents"), ("Agent", "agents"), ("ray::", "actor"), ("log_monitor", "monitor of logs"),
             ("--block", "ray start --block"), ("far_shell", "shell"))
    for part, name in kinds:
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


def while_it(given, hosts, name, words, settle_s, seconds):
    """What a host uses while a driver does something with all hosts, from a while after its node is there."""
    command = [given.assay, *words, "--size", "64MiB", "--quiet", "--hosts", hosts.option(), "--store", given.store]
    driver = subprocess.Popen(command, env=hosts.environment(given.assay), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            if hosts.nodes(name):
                break
            time.sleep(0.1)
        time.sleep(settle_s)
        return used(hosts, name, seconds)
    finally:
        driver.send_signal(signal.SIGINT)
        driver.wait()


def rows(given, hosts, seconds=15):
    """The table, and the raw numbers."""
    name = hosts.names[-1]
    rests = ["soak", given.directory, "--workload", "oltp", "--work", "1s", "--rest", "10min", "--cycles", "2"]
    measures = ["run", "randread", given.directory, "--time", "10min", "--warm-up", "0s", "--queue-depth", "1"]
    raw = {"idle": used(hosts, name, seconds)}
    # The cycle is over by then, and the node rests.
    raw["node rests"] = while_it(given, hosts, name, rests, 8, seconds)
    raw["node measures"] = while_it(given, hosts, name, measures, 5, seconds)
    table = []
    for when, found in raw.items():
        for kind, (share, memory) in sorted(found.items()):
            table.append([when, kind, f"{100 * share:.2f}%", f"{memory:.0f} MB"])
        table.append([when, "all", f"{100 * sum(share for share, _ in found.values()):.2f}%", f"{sum(memory for _, memory in found.values()):.0f} MB"])
    return table, raw

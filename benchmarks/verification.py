#!/usr/bin/env python3
"""What verification and a witness cost, next to the same load without them, and next to fio with and without verify=crc32c.

    python3 benchmarks/verification.py --assay target/release/assay --directory DIR --seconds 3 --repeats 5

The page cache is that of a file system in memory at /dev/shm; DIR lies on the disk.
"""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from bench import repeats, report

BLOCK_BYTES = 8192
CACHED_BYTES = 64 << 20
DISK_BYTES = 1 << 30
TOKEN = "a token of this benchmark"


def workload(place, seconds, outstanding):
    """Reads and writes of 8 KiB, half each."""
    path = place / f"mixed-{outstanding}.workload.toml"
    path.write_text(
        f'format = 1\nname = "mixed"\nduration = "{round(seconds * 1000)}ms"\nwarm_up = "500ms"\n[[stream]]\nname = "mixed"\n'
        f'block_size = "8KiB"\nread_share = "50%"\n[stream.arrival]\nclosed = {{ queue_depth = {outstanding} }}\n',
        encoding="utf-8",
    )
    return path


def ran(command, **more):
    """The documents that a command prints."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{command}: {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout[done.stdout.index("{"):])


def figures(document):
    """I/Os, their rate and CPU of the measured time."""
    measurement = document["runs"][0]["measurement"]
    ios = sum(stream["operations"][kind]["ios"] for stream in measurement["streams"] for kind in ("read", "write")
              if stream["operations"].get(kind))
    conduct, elapsed_s = measurement["conduct"], measurement["elapsed_ns"] / 1e9
    integrity = document.get("integrity") or {}
    return {
        "ios": ios, "iops": ios / elapsed_s, "cpu_ns": 1e9 * (conduct["cpu_user_s"] + conduct["cpu_system_s"]) / ios,
        "user_ns": 1e9 * conduct["cpu_user_s"] / ios,
        "cost": integrity.get("cost"), "coverage": integrity.get("coverage"),
        "acknowledgements": (integrity.get("durability") or {}).get("acknowledgements"), "elapsed_s": elapsed_s,
    }


def assay_run(given, place, target, outstanding, size, *options):
    """`assay run` of the mixed load on a directory."""
    command = [given.assay, "run", workload(place, given.seconds, outstanding), target, "--size", f"{size}B", "--json", "--quiet",
               "--store", place / "runs", *options]
    return figures(ran(command))


def fio(given, kind, *options):
    """fio on a file in memory; CPU of its measured phase a block."""
    path = f"/dev/shm/assay-benchmark-fio-{os.getpid()}"
    command = [given.fio, "--name=benchmark", f"--filename={path}", f"--size={CACHED_BYTES}", "--bs=8192", f"--rw={kind}",
               "--ioengine=io_uring", "--iodepth=1", f"--runtime={given.seconds}", "--time_based", "--output-format=json",
               "--verify_state_save=0", *options]
    try:
        # Content to be read is laid out with its checksums first.
        if kind == "randread":
            laid_out = [word for word in command if not word.startswith(("--rw", "--runtime", "--time_based"))]
            ran([*laid_out, "--rw=write", "--do_verify=0"], cwd=tempfile.gettempdir())
        job = ran(command, cwd=tempfile.gettempdir())["jobs"][0]
        side = job["read" if kind == "randread" else "write"]
        cpu_s = (job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1000
        user_ns = job["usr_cpu"] / 100 * job["job_runtime"] * 1e6 / side["total_ios"]
        return {"ios": side["total_ios"], "cpu_ns": cpu_s * 1e9 / side["total_ios"], "user_ns": user_ns, "iops": side["iops"]}
    finally:
        Path(path).unlink(missing_ok=True)


def in_memory():
    """A directory in memory."""
    return tempfile.mkdtemp(prefix="assay-benchmark-", dir="/dev/shm")


def verify_run(given, place, kind, *options):
    """`assay verify` in memory or on the disk; with a ledger it is ended by its time."""
    target = tempfile.mkdtemp(prefix="assay-benchmark-", dir=given.directory) if kind == "disk" else in_memory()
    caching = [] if kind == "disk" else ["--buffered"]
    command = [given.assay, "verify", target, "--size", "64MiB", "--time", f"{given.seconds}s", "--json", "--quiet",
               "--store", place / "runs", *caching, *options]
    try:
        return figures(ran(command))
    finally:
        subprocess.run(["rm", "-rf", target], check=True)


class Witness:
    """A witness on loopback."""

    def __init__(self, given, place):
        self.token = place / "token"
        self.token.write_text(TOKEN, encoding="utf-8")
        self.token.chmod(0o600)
        command = [given.assay, "verify", "witness", "--listen", "127.0.0.1:0", "--token-file", self.token, "--store", place / "ledgers"]
        self.process = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for line in self.process.stderr:
            found = re.match(r"listening at (\S+)", line)
            if found:
                self.address = found[1].rstrip(".,")
                return
        raise SystemExit("the witness ended")

    def end(self):
        """Ends it."""
        self.process.terminate()
        self.process.wait(timeout=30)


def cases(given, place):
    """Sides by case."""
    memory = in_memory()
    yield "CPU a block, page cache", {
        "plain": lambda: assay_run(given, place, memory, 1, CACHED_BYTES, "--buffered"),
        "verified": lambda: assay_run(given, place, memory, 1, CACHED_BYTES, "--buffered", "--verify"),
        "fio writes": lambda: fio(given, "randwrite"),
        "fio writes, crc32c": lambda: fio(given, "randwrite", "--verify=crc32c", "--do_verify=0"),
        "fio reads": lambda: fio(given, "randread"),
        "fio reads, crc32c": lambda: fio(given, "randread", "--verify=crc32c"),
    }
    subprocess.run(["rm", "-rf", memory], check=True)
    disk = tempfile.mkdtemp(prefix="assay-benchmark-", dir=given.directory)
    yield "IOPS, disk, 32 outstanding", {
        "plain": lambda: assay_run(given, place, disk, 32, DISK_BYTES),
        "verified": lambda: assay_run(given, place, disk, 32, DISK_BYTES, "--verify"),
    }
    subprocess.run(["rm", "-rf", disk], check=True)
    witness = Witness(given, place)
    try:
        ledger = ["--witness", witness.address, "--token-file", witness.token]
        for kind in ("disk", "memory"):
            yield f"IOPS, witness on loopback, {kind}", {
                "plain": lambda kind=kind: verify_run(given, place, kind),
                "witness": lambda kind=kind: verify_run(given, place, kind, *ledger),
            }
    finally:
        witness.end()


def middle(done, side, figure):
    """The median of a figure."""
    return repeats.median(done, side, lambda result: result[figure])


def rows(name, done):
    """What a case comes to against its bar."""
    if name.startswith("CPU"):
        half = len(done) // 2
        # Half of the I/Os are writes and half are reads: a write and a read cost twice the mean.
        added_us = lambda figure: sorted(2 * (one["sides"]["verified"][figure] - one["sides"]["plain"][figure]) / 1000 for one in done)
        added = added_us("cpu_ns")
        of_fio = [sorted((one["sides"][f"{kind}, crc32c"][figure] - one["sides"][kind][figure]) / 1000 for one in done)
                  for figure in ("cpu_ns", "user_ns") for kind in ("fio writes", "fio reads")]
        shown = lambda ordered: f"{ordered[half]:.2f} ({ordered[0]:.2f} … {ordered[-1]:.2f})"
        cost = done[half]["sides"]["verified"]["cost"]
        timed = (cost["stamp_mean_ns"] + cost["check_mean_ns"]) / 1000
        coverage = done[half]["sides"]["verified"]["coverage"]
        yield ["CPU that verification adds to a write and a read of 8 KiB, µs",
               f"{shown(added)}, of it in user mode {shown(added_us('user_ns'))}; stamping and checking alone {timed:.2f}",
               report.bar(added[half] <= 1.0, "≤ 1.0")]
        yield ["the same of fio with verify=crc32c, write + read, µs",
               f"{shown(of_fio[0])} + {shown(of_fio[1])}, of it in user mode {shown(of_fio[2])} + {shown(of_fio[3])}", ""]
        yield ["memory for a block, bytes", f"{cost['table_bytes'] / coverage['blocks']:.3f}",
               report.bar(cost["table_bytes"] / coverage["blocks"] <= 4.1, "≤ 4.1")]
        return
    side, limit = ("witness", 0.97) if "witness" in name else ("verified", 0.95)
    ratio = repeats.Ratio(done, side, "plain", lambda result: result["iops"])
    rate = middle(done, "plain", "iops")
    yield [f"{name}: over plain, which had {report.kilo(rate)}", ratio, report.bar(ratio.median >= limit, f"≥ {limit}")]
    if side == "witness":
        acknowledged = [one["sides"]["witness"]["acknowledgements"] / one["sides"]["witness"]["elapsed_s"] for one in done]
        cpu = sorted(one["sides"]["witness"]["cpu_ns"] - one["sides"]["plain"]["cpu_ns"] for one in done)
        yield [f"{name}: acknowledged writes a second", report.kilo(sorted(acknowledged)[len(acknowledged) // 2]), "50k for the bar"]
        yield [f"{name}: CPU added to an I/O, ns", f"{cpu[len(cpu) // 2]:.0f} ({cpu[0]:.0f} … {cpu[-1]:.0f})", ""]


def main():
    """Runs all cases and prints a table."""
    given = report.options(__doc__.split("\n", maxsplit=1)[0], seconds=3.0).parse_args()
    place = Path(tempfile.mkdtemp(prefix="assay-benchmark-"))
    lines, raw = [], {}
    for name, sides in cases(given, place):
        if given.only in name:
            raw[name] = repeats.alternate(repeats.Plan(given), sides)
            lines += rows(name, repeats.chosen(raw[name])[0])
    subprocess.run(["rm", "-rf", place], check=True)
    report.keep(given, "verification", {"cases": raw})
    report.table(["what", "measured", "bar"], lines)


if __name__ == "__main__":
    main()

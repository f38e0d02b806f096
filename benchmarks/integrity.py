"""Power cuts on devices that keep their promises and on devices that lie: how often `assay verify` refutes each.

A campaign is a device of the rig (a file system in user space with a volatile cache), a ledger elsewhere, and up to five cuts under
load: the tool is killed, the cache loses what chance takes, and what is left is judged. Nothing here is timed.

    python3 benchmarks/integrity.py --assay target/release/assay --rig target/release/assay-rig --campaigns 100

Needs root and FUSE.
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

from bench import power

CUTS_MAX = 5
ENOUGH_BYTES = 60_000
DEVICES = {
    "conforming, units of 512 B": ("512B", '"none"'),
    "conforming, units of 4 KiB": ("4KiB", '"none"'),
    "conforming, units of 8 KiB": ("8KiB", '"none"'),
    "ignores flush, cache of 1 MiB": ("512B", '{ ignores_flush = "1MiB" }'),
    "flushes one of two queues": ("512B", '"flushes_one_queue"'),
    "zeroes units on their way": ("512B", '"zeroes"'),
    "garbles units on their way": ("512B", '"garbles"'),
}


class Campaign:
    """One device, cut until it is refuted."""

    def __init__(self, options, place, device, seed):
        self.assay, self.place, self.random = options.assay, place, random.Random(seed)
        self.rig = power.Rig(options.rig, place, power.cache(*DEVICES[device]) + power.latency("200us", "2ms"))
        self.ledger = place / "data.ledger"

    def command(self, *rest):
        """A command line of `assay verify` on the device."""
        fixed = ["--size", "8MiB", "--backend", "posix", "--ledger", self.ledger, "--store", self.place / "runs"]
        return [self.assay, "verify", self.rig.directory, *fixed, *rest]

    def length(self):
        """Bytes of the ledger."""
        return self.ledger.stat().st_size if self.ledger.exists() else 0

    def cut(self, *rest):
        """Writes until enough is acknowledged, then loses its power."""
        begun, deadline = self.length(), time.monotonic() + power.PATIENCE_S
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        writing = subprocess.Popen(self.command(*rest), **silent)
        while self.length() < begun + ENOUGH_BYTES:
            if writing.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"nothing was acknowledged in {self.place}")
            time.sleep(0.002)
        time.sleep(self.random.random() * 0.02)
        self.rig.cut(self.random.getrandbits(63))
        writing.kill()
        writing.wait()
        self.rig.restore()

    def judge(self):
        """What the last cut came to."""
        judged = subprocess.run(
            self.command("--after", "--cut", "power", "--json", "--quiet"), capture_output=True, text=True, check=False
        )
        if judged.returncode not in (0, 1):
            raise SystemExit(judged.stderr)
        return json.loads(judged.stdout)["integrity"]["durability"]

    def run(self):
        """Cuts after which it was refuted, none where it was not; the last judgement."""
        try:
            self.cut()
            for number in range(1, CUTS_MAX + 1):
                found = self.judge()
                if found["evidence"] == "refuted":
                    return number, found
                if number < CUTS_MAX:
                    self.cut("--after", "--resume", "--cut", "power")
            return None, found
        finally:
            self.rig.end()


def units_named(judgements, device):
    """Campaigns in which a tear was seen, and those of them that named the unit of the device."""
    unit = {"512B": 512, "4KiB": 4096, "8KiB": 8192}[DEVICES[device][0]]
    seen = []
    for found in judgements:
        units = [cut["atomic_unit_bytes"] for cut in found["cuts"] if "atomic_unit_bytes" in cut]
        seen += [min(units)] if units else []
    return len(seen), sum(one == unit for one in seen)


def main():
    """Runs all campaigns and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--assay", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--rig", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--campaigns", type=int, default=100)
    parser.add_argument("--only", default="", help="devices whose names hold this")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("| device | campaigns | refuted | cuts | acknowledgements | tears seen, unit named right |\n| --- | --- | --- | --- | --- | --- |")
    for device in [device for device in DEVICES if options.only in device]:
        refuted, cuts, acknowledged, judgements = 0, 0, 0, []
        for number in range(options.campaigns):
            place = pathlib.Path(tempfile.mkdtemp(prefix="assay-benchmark-"))
            number_of_cuts, found = Campaign(options, place, device, f"{options.seed} {device} {number}").run()
            refuted += number_of_cuts is not None
            cuts += len(found["cuts"])
            acknowledged += sum(cut["acknowledgements"] for cut in found["cuts"])
            judgements.append(found)
            shutil.rmtree(place)
        seen, right = units_named(judgements, device)
        print(f"| {device} | {options.campaigns} | {refuted} | {cuts} | {acknowledged:,} | {seen}, {right} |", flush=True)


if __name__ == "__main__":
    main()

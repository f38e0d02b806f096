#!/usr/bin/env python3
"""Which faults of storage `assay run --verify`, fio and elbencho find, and what they call them, on the same faults of the rig.

    python3 benchmarks/fault_kinds.py --assay target/debug/assay --rig target/debug/assay-rig --elbencho elbencho --repeats 5

Every run has a file of 4 MiB on a device of its own, on which ten writes (or reads) to its second MiB go wrong in one way. fio and elbencho
write each block once and then read it, or overwrite some before that; the faults are among the last writes. Nothing is timed. Needs root, FUSE and fio.
"""

import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from bench import power

FILE_BYTES = 4 << 20
PATIENCE_S = 120
# Name, effect, operation.
FAULTS = {
    "lost": ('"lost"', "write"),
    "torn after 4 KiB": ('{ torn = "4KiB" }', "write"),
    "torn within a sector": ('{ torn = "4296B" }', "write"),
    "misdirected by 1 MiB": ('{ misdirected = "1MiB" }', "write"),
    "one bit inverted": ("{ bit_flip = 12345 }", "write"),
    "zeroed from 1 KiB on": ('{ zeroed = "1KiB" }', "write"),
    "garbled from 2 KiB on": ('{ garbled = "2KiB" }', "write"),
    "old data, read once": ('"stale_read"', "read"),
    "one bit inverted, read once": ("{ bit_flip = 12345 }", "read"),
}
WORKLOAD = """format = 1
name = "permuted"
duration = "1500ms"
interval = "500ms"
[[stream]]
name = "permuted"
read_share = 0.5
block_size = "64KiB"
access = "permutation"
arrival = { closed = { queue_depth = 4 } }
"""


class Device(power.Rig):
    """A mounted device on which something goes wrong."""

    def __init__(self, program, fault, first, seed):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="assay-benchmark-"))
        effect, operation = fault
        script = (
            f'seed = {seed}\n[[fault]]\neffect = {effect}\noperations = ["{operation}"]\nfrom = "1MiB"\nto = "2MiB"\n'
            f"select = {{ from = {first} }}\nat_most = 10\n"
        )
        super().__init__(program, self.place, script, self.place / "log")

    def end(self):
        """Unmounts; gives how often something went wrong."""
        super().end()
        lines = (self.place / "log").read_text(encoding="utf-8").splitlines()
        happened = sum('"fault":' in line and '"fault":null' not in line for line in lines)
        shutil.rmtree(self.place)
        return happened


def ran(command, **more):
    """What a command says, in one text, with its exit code."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=PATIENCE_S, **more)
    return done.returncode, done.stdout, done.stdout + done.stderr


def by_assay(options, device):
    """Kinds that `assay run --verify` names."""
    (device.place / "permuted.toml").write_text(WORKLOAD, encoding="utf-8")
    command = [options.assay, "run", device.place / "permuted.toml", device.directory, "--size", f"{FILE_BYTES}B", "--verify",
               "--backend", "posix", "--json", "--quiet", "--store", device.place / "runs"]
    code, said, whole = ran(command)
    if code not in (0, 1):
        raise SystemExit(whole)
    return sorted({count["kind"].replace("_", " ") for count in json.loads(said)["integrity"]["counts"]})


def by_fio(options, device, check, overwrites):
    """The words with which fio complains."""
    more = {
        "once": ["--bs=64k"],
        "overwritten": ["--bs=64k", "--norandommap", "--io_size=8m"],
        "mixed sizes": ["--bssplit=32k/50:64k/50", "--norandommap", "--io_size=8m"],
    }[overwrites]
    command = [options.fio, "--name=faults", f"--filename={device.directory}/data", f"--size={FILE_BYTES}", "--direct=1",
               "--ioengine=psync", f"--verify={check}", "--rw=randwrite", "--do_verify=1", "--verify_fatal=0", f"--randseed={options.seed}", *more]
    # It leaves a file of its state where it runs.
    code, _, whole = ran(command, cwd=device.place)
    words = {"bad magic header": "bad magic header", "verify failed": "verify failed", "bad header": "bad header",
             "invalid sequence": "sequence"}
    found = sorted({name for pattern, name in words.items() if pattern in whole})
    return found or (["failed"] if code else [])


def by_elbencho(options, device, overwrites):
    """The words with which elbencho complains."""
    common = [options.elbencho, "--direct", "-b", "64k", "-s", str(FILE_BYTES), "--verify", "1", "--nolive", device.directory / "data"]
    for _ in range(2 if overwrites else 1):
        code, _, whole = ran([*common, "-w"])
        if code:
            raise SystemExit(whole)
    code, _, whole = ran([*common, "-r"])
    if code == 0:
        return []
    return ["verification failed" if re.search("verif", whole, re.IGNORECASE) else "failed"]


def tools(options):
    """Name of each way to look, what does it, and after how many writes to the second MiB faults begin."""
    all_of = {"assay run --verify": (by_assay, (), 60)}
    for check in ("crc32c", "md5"):
        all_of[f"fio {check}, written once"] = (by_fio, (check, "once"), 1)
        all_of[f"fio {check}, overwritten"] = (by_fio, (check, "overwritten"), 20)
        all_of[f"fio {check}, overwritten in two sizes"] = (by_fio, (check, "mixed sizes"), 28)
    if options.elbencho:
        all_of["elbencho, written once"] = (by_elbencho, (False,), 1)
        all_of["elbencho, written twice"] = (by_elbencho, (True,), 17)
    return all_of


def cell(options, fault, tool):
    """How many runs find a fault, and what it is called."""
    look, more, first = tool
    found, names, without = 0, collections.Counter(), 0
    for number in range(options.repeats):
        # fio and elbencho read in their checking phase alone, Assay from the beginning.
        first = first if fault[1] == "write" or look is by_assay else 1
        device = Device(options.rig, fault, first, options.seed + number)
        try:
            said = look(options, device, *more)
        finally:
            happened = device.end()
        without += happened == 0
        found += bool(said)
        names.update(said)
    named = ", ".join(name for name, _ in names.most_common())
    if without:
        named += f" ({without} runs without the fault)"
    return f"{found} of {options.repeats}" + (f": {named}" if named else "")


def main():
    """Prints a row for each fault and a column for each tool."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--assay", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--rig", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--fio", default="fio")
    parser.add_argument("--elbencho", help="left out where there is none")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    looked = tools(options)
    print("| fault | " + " | ".join(looked) + " |\n| --- |" + " --- |" * len(looked))
    for name, fault in FAULTS.items():
        cells = [cell(options, fault, tool) for tool in looked.values()]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

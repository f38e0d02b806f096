#!/usr/bin/env python3
"""Where the time of the engine, of a driver, of a loader and of a simulation goes: flame graphs of samples of the processor's clock.

Needs `perf`, and `inferno-collapse-perf` and `inferno-flamegraph` of the crate inferno; `assay` with its symbols (`CARGO_PROFILE_RELEASE_STRIP=none`)."""

import argparse
import collections
import os
import pathlib
import subprocess
import tempfile

# Samples a second, and the share of all samples below which a frame is not drawn.
FREQUENCY, LEAST_PERCENT = 1999, 0.4
WORKLOAD = """format = 1
name = "reads"
duration = "4s"
warm_up = "1s"
[[stream]]
name = "reads"
read_share = {share}
block_size = "8KiB"
arrival = {{ closed = {{ queue_depth = {outstanding} }} }}
"""


def recorded(command, data, everybody=False):
    """Runs a command under `perf`; of everybody where the work is done by servers."""
    who = ["-a"] if everybody else []
    words = ["perf", "record", "-e", "cpu-clock", "-F", str(FREQUENCY), "-g", *who, "-o", str(data), "--", *map(str, command)]
    subprocess.run(words, check=True, capture_output=True)


def collapsed(data, programs):
    """Stacks with their samples, of these programs only."""
    script = subprocess.run(["perf", "script", "-i", str(data)], check=True, capture_output=True).stdout
    stacks = subprocess.run(["inferno-collapse-perf"], input=script, check=True, capture_output=True).stdout.decode()
    return [line for line in stacks.splitlines() if line.startswith(programs)]


def drawn(lines, title, path):
    """The picture, without the paths of this machine."""
    words = ["inferno-flamegraph", "--title", title, "--minwidth", str(LEAST_PERCENT), "--deterministic", "--width", "1200"]
    picture = subprocess.run(words, input="\n".join(lines).encode(), check=True, capture_output=True).stdout
    path.write_bytes(picture)


def shares(lines, most=12):
    """The share of samples whose innermost frame it is, the largest first."""
    counts = collections.Counter()
    for line in lines:
        stack, count = line.rsplit(" ", 1)
        counts[stack.split(";")[-1]] += int(count)
    total = sum(counts.values())
    return [(name, count / total) for name, count in counts.most_common(most)]


def cases(given, place):
    """Name, title, command, and whose samples are kept."""
    store = ["--store", place / "store", "--quiet"]
    for outstanding in (32, 128):
        workload = place / f"reads-{outstanding}.toml"
        workload.write_text(WORKLOAD.format(share=1, queue_depth=outstanding))
        command = [given.assay, "run", workload, given.file, *store]
        yield f"disk-{outstanding}", f"reads of 8 KiB, {outstanding} outstanding, a disk", command, ("worker",)
    mixed = place / "mixed.toml"
    mixed.write_text(WORKLOAD.format(share=0.7, queue_depth=64).replace('"4s"', '"200s"'))
    array = pathlib.Path(__file__).parent / "plain-ssd.array.toml"
    yield "simulation", "a simulated array of flash, 70% reads, 64 outstanding", [given.assay, "run", mixed, f"array:{array}", *store], ("assay",)
    server = ["--bindir", given.bindir] if given.bindir else []
    load = [given.assay, "bench", "oltp", given.directory, *server, "--warehouses", "10", "--sessions", "8", "--time", "8s", *store]
    yield "order-entry", "ten warehouses loaded, then eight sessions of order entry", load, ("assay", "postgres", "loader", "session")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", required=True)
    parser.add_argument("--file", required=True, help="a file on the disk to read, larger than the cache of its device")
    parser.add_argument("--directory", required=True, help="where a server of PostgreSQL may be made")
    parser.add_argument("--bindir", help="programs of PostgreSQL")
    parser.add_argument("--pictures", default=".", help="where the flame graphs go; the shares of the innermost frames are printed")
    parser.add_argument("--only", default="", help="cases whose names hold this")
    given = parser.parse_args()
    pictures = pathlib.Path(given.pictures)
    with tempfile.TemporaryDirectory() as temporary:
        place = pathlib.Path(temporary)
        for name, title, command, programs in cases(given, place):
            if given.only not in name:
                continue
            data = place / "perf.data"
            recorded(command, data, everybody=name == "order-entry")
            lines = collapsed(data, programs)
            drawn(lines, title, pictures / f"{name}.svg")
            print(f"{name}: " + ", ".join(f"{frame} {share:.1%}" for frame, share in shares(lines)))
    os.sync()


if __name__ == "__main__":
    main()

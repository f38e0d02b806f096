#!/usr/bin/env python3
"""Power cuts under a database: whether a protected server keeps every acknowledged commit, and how surely a control is caught.

    python3 benchmarks/database_cuts.py --assay target/debug/assay --rig target/debug/assay-rig --product postgres --campaigns 10 --cuts 10 --control commits
    python3 benchmarks/database_cuts.py --assay target/debug/assay --rig target/debug/assay-rig --product mariadb --campaigns 20 --cuts 1 --control pages

A campaign is an ext4 on a loop device over a file of the rig with a volatile cache that keeps or loses each 4 KiB by itself, a server of its own on
it with its defaults, some cuts, and then up to five with the control. Nothing is timed. Needs root, FUSE, loop devices and the server.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

from bench import power, report

CONTROL_CUTS_MAX = 5


class Broken(Exception):
    """A protected server lost something."""


class Campaign:
    """One server, cut with its protection and then without."""

    def __init__(self, options, place, seed):
        self.options, self.place, self.random = options, place, random.Random(seed)
        script = power.cache(options.unit) + power.latency(options.write, options.sync)
        self.disk = power.Disk(options.rig, place, script)
        self.ledger = place / "commits.ledger"
        self.found = {"seed": seed, "cuts": [], "control": []}

    def command(self, *rest):
        """The load on the directory, or on the server that was kept there."""
        kept = [path for path in self.disk.directory.iterdir() if (path / "data").is_dir()]
        target = kept[0] if kept else self.disk.directory
        fixed = ["--server", self.options.product, "--sessions", self.options.sessions, "--time", "10min", "--warm-up", "0s", "--buffer-pool",
                 self.options.buffer_pool, "--quiet", "--ledger", self.ledger, "--store", self.place / "runs"]
        return [str(word) for word in [self.options.assay, "bench", "oltp", target, *fixed, *rest]]

    def length(self):
        """Bytes of the ledger."""
        return self.ledger.stat().st_size if self.ledger.exists() else 0

    def cut(self, *rest):
        """Lets it commit until enough is acknowledged, and cuts the power."""
        begun, deadline = self.length(), time.monotonic() + power.PATIENCE_S
        said = self.place / "said"
        with said.open("w", encoding="utf-8") as file:
            writing = subprocess.Popen(self.command(*rest), stdout=file, stderr=file)
        while self.length() < begun + self.options.enough:
            if writing.poll() is not None or time.monotonic() > deadline:
                writing.kill()
                raise SystemExit(f"nothing was acknowledged: {said.read_text(encoding='utf-8')}")
            time.sleep(0.002)
        time.sleep(self.random.random() * 0.5)
        self.disk.cut(self.random.getrandbits(63), writing)

    def judge(self):
        """What the last cut came to, and what saw it."""
        judged = subprocess.run(self.command("--after", "--cut", "power", "--json"), capture_output=True, text=True, check=False)
        if not judged.stdout:
            raise SystemExit(judged.stderr)
        commits = json.loads(judged.stdout)["load"]["durability"]["cuts"][-1]["commits"]
        seen = [name for name in ("lost", "doubled", "broken_conditions") if commits.get(name)]
        seen += [check["checker"] for check in commits.get("pages") or [] if check.get("damaged")]
        seen += ["the server did not come back"] if commits.get("refusal") else []
        return {"acknowledged": commits.get("acknowledged"), "kept": commits.get("kept"), "seen": seen, "exit": judged.returncode,
                **({"commits": commits} if seen else {})}

    def run(self):
        """Cuts that must lose nothing, and cuts with the control until one is caught."""
        try:
            self.cut()
            for number in range(self.options.cuts):
                if number:
                    self.cut("--after", "--resume", "--cut", "power")
                self.found["cuts"].append(self.judge())
                if self.found["cuts"][-1]["seen"]:
                    raise Broken(self.found["cuts"][-1])
            # A slow device has more on its way when the cut comes.
            self.disk.rig.take(self.options.control_write, self.options.control_sync)
            while len(self.found["control"]) < CONTROL_CUTS_MAX and not self.is_caught():
                self.cut("--after", "--resume", "--cut", "power", "--control", self.options.control)
                self.found["control"].append(self.judge())
        finally:
            self.disk.end()

    def is_caught(self):
        """Whether the last cut with the control is seen to have broken something."""
        return bool(self.found["control"] and self.found["control"][-1]["seen"])


def line(number, campaign, took_s):
    """A campaign in one line."""
    found = campaign.found
    acknowledged = sum(cut["acknowledged"] or 0 for cut in found["cuts"])
    caught = f"caught at cut {len(found['control'])} by {', '.join(found['control'][-1]['seen'])}" if campaign.is_caught() else "not caught"
    return f"campaign {number}: {len(found['cuts'])} cuts, {acknowledged:,} acknowledged, control {caught}, {took_s:.0f} s"


def summary(options, campaigns, failures):
    """What all campaigns come to."""
    cuts = [cut for campaign in campaigns for cut in campaign.found["cuts"]]
    broken = sum(bool(cut["seen"]) for cut in cuts)
    acknowledged = sum(cut["acknowledged"] or 0 for cut in cuts)
    whole = [campaign for campaign in campaigns if campaign.found["control"]]
    caught = sum(campaign.is_caught() for campaign in whole)
    yield (f"{options.product}: {broken} of {len(cuts)} cuts lost or damaged anything of {acknowledged:,} acknowledged commits"
           + (f", at most {1 - 0.05 ** (1 / len(cuts)):.1%} a cut (95%)" if cuts and not broken else ""))
    yield f"control {options.control}: caught within {CONTROL_CUTS_MAX} cuts in {caught} of {len(whole)} campaigns"
    yield from failures


def campaigns_of(options):
    """Runs all campaigns; those that were begun, and why some ended early."""
    campaigns, failures = [], []
    for number in range(1, options.campaigns + 1):
        place = pathlib.Path(tempfile.mkdtemp(prefix="assay-benchmark-"))
        # The server runs as a user of its own, who must get through.
        place.chmod(0o711)
        begun = time.monotonic()
        campaign = Campaign(options, place, f"{options.seed} {options.product} {number}")
        campaigns.append(campaign)
        try:
            campaign.run()
            print(line(number, campaign, time.monotonic() - begun), flush=True)
        except (Broken, SystemExit, subprocess.CalledProcessError) as end:
            failures.append(f"campaign {number} ended early: {end}")
            print(failures[-1], flush=True)
        finally:
            if not os.path.ismount(place / "mount") and not os.path.ismount(place / "rig"):
                shutil.rmtree(place)
        # After each, so that nothing is lost with a later one.
        report.write(options, f"database_cuts-{options.product}-{options.control}-{options.seed}",
                     {"campaigns": [one.found for one in campaigns], "failures": failures})
    return campaigns, failures


def main():
    """Runs all campaigns and prints a line for each, and what they come to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--assay", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--rig", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--product", choices=["postgres", "mariadb"], required=True)
    parser.add_argument("--control", choices=["commits", "pages"], required=True)
    parser.add_argument("--campaigns", type=int, default=20)
    parser.add_argument("--cuts", type=int, default=1, help="cuts of the protected server in each campaign")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unit", default="4KiB", help="what the device keeps or loses by itself; a torn superblock of ext4 does not mount")
    parser.add_argument("--write", default="50us", help="time of a write of the device")
    parser.add_argument("--sync", default="2ms", help="time of a flush of the device")
    parser.add_argument("--control-write", default="2ms", help="time of a write with the control")
    parser.add_argument("--control-sync", default="400ms", help="time of a flush with the control")
    parser.add_argument("--sessions", default="16")
    parser.add_argument("--buffer-pool", default="6MiB")
    parser.add_argument("--enough", type=int, default=6_000, help="bytes of the ledger that a cut is to find")
    parser.add_argument("--runs", type=pathlib.Path, default=report.RUNS, help="where raw results are kept")
    options = parser.parse_args()
    for sentence in summary(options, *campaigns_of(options)):
        print(sentence)


if __name__ == "__main__":
    main()

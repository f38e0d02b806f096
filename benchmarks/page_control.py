#!/usr/bin/env python3
"""How surely `--control pages` is caught where a device tears pages: cuts until a server without protected pages is found damaged.

    python3 benchmarks/page_control.py --assay target/debug/assay --rig target/debug/assay-rig --product postgres --campaigns 20

A campaign is an ext4 on a loop device over a file of the rig with a volatile cache that keeps or loses each sector by itself, a server of its own on
it, and up to five cuts with the control. Nothing is timed. Needs root, FUSE, loop devices and the server.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

CUTS_MAX = 5
PATIENCE_S = 180
DISK_BYTES = 2 << 30


def command(*words):
    """Runs a program that must succeed; what it says."""
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout.strip()


class Disk:
    """A mounted ext4 whose device can lose its power."""

    def __init__(self, options, place):
        script = place / "rig.toml"
        script.write_text(
            f'[cache]\nunit = "512B"\nlie = "none"\n[latency]\nwrite = {{ fixed = "{options.write}" }}\nsync = {{ fixed = "{options.sync}" }}\n'
            f'[[file]]\nname = "disk"\nsize = "{DISK_BYTES}B"\ncontent = "zeros"\n',
            encoding="utf-8",
        )
        self.rig, self.directory = place / "rig", place / "mount"
        self.rig.mkdir()
        self.directory.mkdir()
        served = [options.rig, "mount", self.rig, "--script", script, "--log", "/dev/null"]
        self.process = subprocess.Popen(served, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.hear("mounted")
        self.device = command("losetup", "--find", "--show", "--direct-io=on", self.rig / "disk")
        calm = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
        command("mkfs.ext4", "-q", "-F", "-m", "0", "-E", calm, self.device)
        command("mount", "-o", "noatime", self.device, self.directory)

    def hear(self, word):
        """Waits until the rig says it."""
        for line in self.process.stderr:
            if line.startswith(word):
                return
        raise SystemExit("the rig ended")

    def say(self, word):
        """Says something and waits until it is done."""
        print(word, file=self.process.stdin, flush=True)
        self.hear(word)

    def release(self):
        """Unmounts the file system as soon as nobody holds it any more."""
        for _ in range(100):
            if subprocess.run(["umount", self.directory], check=False, capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        command("losetup", "--detach", self.device)

    def restore(self):
        """Gives the power back and mounts what is left."""
        self.release()
        self.say("on")
        self.device = command("losetup", "--find", "--show", "--direct-io=on", self.rig / "disk")
        command("mount", "-o", "noatime", self.device, self.directory)

    def end(self):
        """Takes all of it away."""
        self.release()
        self.process.stdin.close()
        self.process.wait(timeout=PATIENCE_S)


class Campaign:
    """One server, cut until the control is caught."""

    def __init__(self, options, place, seed):
        self.options, self.place, self.random = options, place, random.Random(seed)
        self.disk = Disk(options, place)
        self.ledger = place / "commits.ledger"

    def command(self, *rest):
        """The load on the directory, or on the server that was kept there."""
        kept = [path for path in self.disk.directory.iterdir() if (path / "data").is_dir()]
        target = kept[0] if kept else self.disk.directory
        fixed = ["--server", self.options.product, "--sessions", self.options.sessions, "--time", "10min", "--warm-up", "0s", "--buffer-pool",
                 self.options.buffer_pool, "--quiet", "--ledger", self.ledger, "--store", self.place / "runs"]
        return [str(word) for word in [self.options.assay, "load", "oltp", target, *fixed, *rest]]

    def cut(self, *rest):
        """Lets it commit until enough is acknowledged, and cuts the power."""
        length = lambda: self.ledger.stat().st_size if self.ledger.exists() else 0
        begun, deadline = length(), time.monotonic() + PATIENCE_S
        said = self.place / "said"
        with said.open("w", encoding="utf-8") as file:
            writing = subprocess.Popen(self.command(*rest), stdout=file, stderr=file)
        while length() < begun + self.options.enough:
            if writing.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"nothing was acknowledged: {said.read_text(encoding='utf-8')}")
            time.sleep(0.002)
        time.sleep(self.random.random() * 0.5)
        # Nobody starts the server again meanwhile.
        writing.send_signal(signal.SIGSTOP)
        self.disk.say(f"cut {self.random.getrandbits(63)}")
        writing.kill()
        writing.wait()
        self.kill_servers()
        self.disk.restore()

    def kill_servers(self):
        """No process survives a power cut: those with files on the device are ended by their numbers."""
        while holders := self.holders():
            for number in holders:
                try:
                    os.kill(number, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            # Their numbers are in the server's files, and it does not start while they are taken.
            while any(pathlib.Path(f"/proc/{number}").exists() for number in holders):
                time.sleep(0.02)

    def holders(self):
        """Processes whose working directory lies on the device."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (process / "cwd").readlink().is_relative_to(self.disk.directory):
                    found.append(int(process.name))
            except (OSError, ValueError):
                continue
        return found

    def judge(self):
        """Whether the last cut is seen to have broken something, and what saw it."""
        judged = subprocess.run(self.command("--after", "--cut", "power", "--json"), capture_output=True, text=True, check=False)
        if not judged.stdout:
            raise SystemExit(judged.stderr)
        commits = json.loads(judged.stdout)["load"]["durability"]["cuts"][-1]["commits"]
        seen = [name for name in ("lost", "broken_conditions") if commits.get(name)]
        seen += [check["checker"] for check in commits.get("pages") or [] if check.get("damaged")]
        return seen + (["the server did not come back"] if commits.get("refusal") else [])

    def run(self):
        """The number of cuts until the control was caught, none where it was not; what saw it."""
        try:
            self.cut()
            if seen := self.judge():
                raise SystemExit(f"the protected server lost: {seen}")
            for number in range(1, CUTS_MAX + 1):
                self.cut("--after", "--resume", "--cut", "power", "--control", "pages")
                if seen := self.judge():
                    return number, seen
            return None, []
        finally:
            self.disk.end()


def main():
    """Runs all campaigns and prints a line for each, and what they come to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--assay", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--rig", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--product", choices=["postgres", "mariadb"], required=True)
    parser.add_argument("--campaigns", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", default="50us", help="time of a write of the device")
    parser.add_argument("--sync", default="50ms", help="time of a flush of the device")
    parser.add_argument("--sessions", default="16")
    parser.add_argument("--buffer-pool", default="6MiB")
    parser.add_argument("--enough", type=int, default=15_000, help="bytes of the ledger that a cut is to find")
    options = parser.parse_args()
    cuts, caught = 0, 0
    for number in range(options.campaigns):
        place = pathlib.Path(tempfile.mkdtemp(prefix="assay-benchmark-"))
        # The server runs as a user of its own, who must get through.
        place.chmod(0o711)
        begun = time.monotonic()
        try:
            found, seen = Campaign(options, place, f"{options.seed} {options.product} {number}").run()
        finally:
            if not os.path.ismount(place / "mount") and not os.path.ismount(place / "rig"):
                shutil.rmtree(place)
        cuts += found or CUTS_MAX
        caught += found is not None
        print(f"campaign {number + 1}: cuts {found}, {', '.join(seen)}, {time.monotonic() - begun:.0f} s", flush=True)
    print(f"{options.product}: {caught} of {options.campaigns} campaigns caught within {CUTS_MAX} cuts, {caught} catches in {cuts} cuts")


if __name__ == "__main__":
    main()

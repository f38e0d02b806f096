"""Devices of the rig whose power can be cut: a file system in user space, and an ext4 on a loop device over a file of one."""

import os
import pathlib
import signal
import subprocess
import time

PATIENCE_S = 600
DISK_BYTES = 2 << 30


def command(*words):
    """Runs a program that must succeed; what it says."""
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout.strip()


def cache(unit, lie='"none"'):
    """The part of a script that makes a volatile cache."""
    return f'[cache]\nunit = "{unit}"\nlie = {lie}\n'


def latency(write, sync):
    """The part of a script that says how long writes and flushes take."""
    return f'[latency]\nwrite = {{ fixed = "{write}" }}\nsync = {{ fixed = "{sync}" }}\n'


class Rig:
    """A mounted file system of the rig."""

    def __init__(self, program, place, script, log="/dev/null"):
        file = place / "rig.toml"
        file.write_text(script, encoding="utf-8")
        self.directory = place / "rig"
        self.directory.mkdir()
        served = [program, "mount", self.directory, "--script", file, "--log", log]
        self.process = subprocess.Popen(served, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.hear("mounted")

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

    def cut(self, seed):
        """Cuts the power: of the cache is left what follows from the seed."""
        self.say(f"cut {seed}")

    def restore(self):
        """Gives the power back."""
        self.say("on")

    def take(self, write, sync):
        """Changes how long writes and flushes take from now on."""
        for operation, time_of in (("write", write), ("sync", sync)):
            self.say(f'latency {operation} = {{ fixed = "{time_of}" }}')

    def end(self):
        """Unmounts."""
        self.process.stdin.close()
        self.process.wait(timeout=PATIENCE_S)


class Disk:
    """A mounted ext4 whose device can lose its power."""

    def __init__(self, program, place, script):
        content = f'[[file]]\nname = "disk"\nsize = "{DISK_BYTES}B"\ncontent = "zeros"\n'
        self.rig = Rig(program, place, script + content)
        self.directory = place / "mount"
        self.directory.mkdir()
        self.device = self.attach()
        calm = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
        command("mkfs.ext4", "-q", "-F", "-m", "0", "-E", calm, self.device)
        self.mount()

    def attach(self):
        """A loop device over the file."""
        return command("losetup", "--find", "--show", "--direct-io=on", self.rig.directory / "disk")

    def mount(self):
        """Mounts what the device holds."""
        command("mount", "-o", "noatime", self.device, self.directory)

    def cut(self, seed, program):
        """Cuts the power under a program and all servers on the device, and gives it back."""
        # Nobody starts a server again meanwhile.
        program.send_signal(signal.SIGSTOP)
        # One that ends by itself when its storage goes has no directory any more, and is still there until somebody has heard of its end.
        holders = self.holders()
        self.rig.cut(seed)
        program.kill()
        program.wait()
        self.kill_holders(holders)
        self.release()
        self.rig.restore()
        self.device = self.attach()
        self.mount()

    def kill_holders(self, holders):
        """No process survives a power cut: those with files on the device are ended by their numbers."""
        while holders or (holders := self.holders()):
            for number in holders:
                try:
                    os.kill(number, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            # Their numbers are in the server's files, and it does not start while they are taken.
            while any(pathlib.Path(f"/proc/{number}").exists() for number in holders):
                time.sleep(0.02)
            holders = []

    def holders(self):
        """Processes whose working directory lies on the device."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (process / "cwd").readlink().is_relative_to(self.directory):
                    found.append(int(process.name))
            except (OSError, ValueError):
                continue
        return found

    def release(self):
        """Unmounts the file system as soon as nobody holds it any more."""
        for _ in range(100):
            if subprocess.run(["umount", self.directory], check=False, capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        command("losetup", "--detach", self.device)

    def end(self):
        """Takes all of it away."""
        self.release()
        self.rig.end()

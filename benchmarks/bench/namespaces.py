"""Hosts of one machine that have an address, a name and a monotonic clock of their own: network, UTS and time namespaces."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SHELL = Path(__file__).with_name("far_shell.py")
BRIDGE = "assaybr0"
NET = "10.213.77"


def missing():
    """Why there are no such hosts here; nothing where there can be."""
    if os.geteuid() != 0:
        return "namespaces need root"
    for program in ("ip", "unshare"):
        if not shutil.which(program):
            return f"there is no {program}"
    return None


def run(*words):
    """Runs a command that must work."""
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Hosts:
    """Hosts with known offsets of their clocks, as `ssh:` reaches them; they end with the context."""

    def __init__(self, offsets_s):
        self.offsets_s = offsets_s
        self.names = [f"h{chr(ord('A') + number)}" for number in range(len(offsets_s))]
        self.agents = []

    def __enter__(self):
        self.clear()
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "addr", "add", f"{NET}.1/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for number, (name, offset_s) in enumerate(zip(self.names, self.offsets_s)):
            self.add(number, name, offset_s)
        self.await_agents()
        return self

    def __exit__(self, *_):
        self.clear()
        for agent in self.agents:
            agent.kill()
            agent.wait()

    def clear(self):
        """Removes what an earlier one left."""
        for name in self.names:
            for process in self.processes(name):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", f"assay-{name}"], stderr=subprocess.DEVNULL, check=False)
            subprocess.run(["ip", "link", "del", f"assay{name}"], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["ip", "link", "del", BRIDGE], stderr=subprocess.DEVNULL, check=False)

    def processes(self, name):
        """All processes of a host."""
        done = subprocess.run(["ip", "netns", "pids", f"assay-{name}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        return [int(word) for word in done.stdout.split()]

    def add(self, number, name, offset_s):
        """A namespace with its end of a cable, and the agent in it."""
        space, cable = f"assay-{name}", f"assay{name}"
        run("ip", "netns", "add", space)
        run("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
        run("ip", "link", "set", cable, "master", BRIDGE)
        run("ip", "link", "set", cable, "up")
        for words in (("addr", "add", f"{NET}.{10 + number}/24", "dev", "eth0"), ("link", "set", "eth0", "up"), ("link", "set", "lo", "up")):
            run("ip", "-n", space, *words)
        self.agents.append(self.agent(name, offset_s))

    def agent(self, name, offset_s):
        """Starts what serves the driver on a host."""
        line = f"hostname {name}; exec {sys.executable} {SHELL} serve"
        words = ["ip", "netns", "exec", f"assay-{name}", "unshare", "--uts", "--time", "--monotonic", str(offset_s), "--fork", "sh", "-c", line]
        return subprocess.Popen(words, start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def address(self, name):
        """Where a host is reached."""
        return f"{NET}.{10 + self.names.index(name)}"

    def await_agents(self):
        """Waits until every agent answers."""
        for name in self.names:
            self.await_port(self.address(name), 7722)

    @staticmethod
    def await_port(address, port):
        """Waits until somebody answers there."""
        for _ in range(600):
            try:
                socket.create_connection((address, port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError(f"nobody answers at {address}:{port}")

    def environment(self, assay):
        """What lets `assay --hosts ssh:…` reach them."""
        addresses = json.dumps({name: self.address(name) for name in self.names})
        return {**os.environ, "ADDRESSES": addresses, "ASSAY_SSH": f"{sys.executable} {SHELL}", "ASSAY_NODE_PROGRAM": os.path.abspath(assay)}

    def state(self):
        """Where nodes keep what they measure, with the environment that says so to them."""
        folder = tempfile.mkdtemp(prefix="assay-state-")
        return Path(folder) / "assay" / "nodes", {"XDG_STATE_HOME": folder}

    def option(self):
        """As they are named."""
        return "ssh:" + ",".join(self.names)

    def nodes(self, name):
        """Processes of a host that measure."""
        found = []
        for process in self.processes(name):
            try:
                words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if len(words) > 1 and words[1] == b"node":
                found.append(process)
        return found

    def cut(self, name):
        """Pulls the cable."""
        run("ip", "link", "set", f"assay{name}", "down")

    def mend(self, name):
        """Puts it in again."""
        run("ip", "link", "set", f"assay{name}", "up")

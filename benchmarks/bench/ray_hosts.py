"""Hosts of namespaces that are nodes of a real Ray cluster, with a head next to the driver that is not measured."""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import namespaces

PORT = "6391"
RAY = Path(sys.executable).parent / "ray"
TOGETHER = ("--num-cpus=0", "--object-store-memory=80000000", "--include-log-monitor=false", "--block")
HEAD = ("--head", f"--port={PORT}", "--include-dashboard=false", "--disable-usage-stats")


def missing():
    """Why there are no such hosts here; nothing where there can be."""
    reason = namespaces.missing()
    if reason:
        return reason
    return None if RAY.exists() else f"there is no {RAY}: pip install ray"


class Hosts(namespaces.Hosts):
    """Hosts with known offsets of their clocks, as nodes of a Ray cluster call them; they end with the context."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="assay-ray-", dir="/tmp", ignore_cleanup_errors=True)
        token = Path(self.folder.name) / "token"
        token.write_text(secrets.token_hex(32), encoding="utf-8")
        self.own = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token), "RAY_USAGE_STATS_ENABLED": "0",
                    "RAY_enable_worker_prestart": "0", "RAY_memory_monitor_refresh_ms": "0",
                    "ASSAY_NODE_STATE": str(Path(self.folder.name) / "nodes")}
        self.head = None
        return super().__enter__()

    def __exit__(self, *_):
        super().__exit__()
        if self.head is not None:
            os.killpg(self.head.pid, signal.SIGTERM)
            try:
                self.head.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(self.head.pid, signal.SIGKILL)
                self.head.wait()
        self.folder.cleanup()

    def start(self, words):
        """A program of Ray, in a session of its own."""
        return subprocess.Popen(words, env={**os.environ, **self.own}, start_new_session=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def agent(self, name, offset_s):
        """Makes a host a node of the cluster, with a directory of its own for Ray; the first one comes behind the head."""
        if self.head is None:
            self.head = self.start([RAY, "start", *HEAD, *TOGETHER, f"--node-ip-address={namespaces.NET}.1", "--temp-dir=/tmp/ray",
                                    "--labels=assay.io/host=head"])
            self.await_port(f"{namespaces.NET}.1", int(PORT))
        own = Path(self.folder.name) / name
        own.mkdir(exist_ok=True)
        line = (f"hostname {name}; mkdir -p /tmp/ray; mount --bind {own} /tmp/ray; exec {RAY} start --address={namespaces.NET}.1:{PORT} {' '.join(TOGETHER)} "
                f"--node-ip-address={self.address(name)} --labels=assay.io/host={name}")
        return self.start(["ip", "netns", "exec", f"assay-{name}", "unshare", "--uts", "--mount", "--time", "--monotonic", str(offset_s),
                           "--fork", "sh", "-c", line])

    def await_agents(self):
        """Waits until the cluster has every host."""
        for _ in range(90):
            if all(self.raylets(name) for name in self.names):
                # A raylet that runs is a node a moment later.
                time.sleep(8)
                return
            time.sleep(1)
        raise RuntimeError("the nodes of Ray do not start")

    def raylets(self, name):
        """The processes of Ray's own on a host, by the names of their programs."""
        found = {}
        for process in self.processes(name):
            try:
                words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            program = os.path.basename(words[0])
            if program == b"raylet":
                found[process] = program.decode()
        return found

    def environment(self, assay):
        """What lets `assay --hosts …` reach them."""
        return {**os.environ, **self.own, "RAY_ADDRESS": f"{namespaces.NET}.1:{PORT}", "ASSAY_PYTHON": sys.executable,
                "ASSAY_NODE_PROGRAM": os.path.abspath(assay)}

    def state(self):
        """Where nodes keep what they measure: their environment is that of their raylet."""
        folder = Path(self.own["ASSAY_NODE_STATE"])
        for kept in folder.glob("*.jsonl"):
            kept.unlink()
        return folder, {}

    def option(self):
        """As they are named."""
        return ",".join(self.names)

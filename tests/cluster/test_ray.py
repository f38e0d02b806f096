"""Two nodes of a real Ray cluster on this machine: they measure together, and one that is killed or silent is named."""

import contextlib
import importlib.util
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
ASSAY = Path(os.environ.get("ASSAY", ROOT / "target" / "debug" / "assay"))
RAY = Path(sys.executable).parent / "ray"
PORT = "6397"


class Cluster(unittest.TestCase):
    """Commands on a cluster of two hosts that are this machine."""

    @classmethod
    def setUpClass(cls) -> None:
        if not ASSAY.exists():
            raise unittest.SkipTest("the program is not built")
        if importlib.util.find_spec("ray") is None or not RAY.exists():
            raise unittest.SkipTest("Ray is not installed")
        # Sockets of Ray lie below it, and names of sockets are short.
        cls.folder = tempfile.TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True)
        cls.addClassCleanup(cls.folder.cleanup)
        cls.place = Path(cls.folder.name)
        (cls.place / "d").mkdir()
        (cls.place / "token").write_text(secrets.token_hex(32), encoding="utf-8")
        cls.environment = {
            **os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(cls.place / "token"), "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_enable_worker_prestart": "0", "RAY_memory_monitor_refresh_ms": "0", "RAY_ADDRESS": f"127.0.0.1:{PORT}",
            "ASSAY_PYTHON": sys.executable, "ASSAY_NODE_PROGRAM": str(ASSAY), "ASSAY_STORE": str(cls.place / "runs"),
        }
        cls.raylets: list[subprocess.Popen] = []
        cls.addClassCleanup(cls.end)
        cls.start("hA", "--head", "--port", PORT, "--include-dashboard=false", "--disable-usage-stats", "--temp-dir", str(cls.place / "r"))
        cls.await_hosts("hA")
        cls.start("hB", "--address", f"127.0.0.1:{PORT}")
        cls.await_hosts("hA,hB")

    @classmethod
    def start(cls, host: str, *words: str) -> None:
        """Starts a node of Ray, which ends with the process that is kept."""
        command = [RAY, "start", "--block", "--node-ip-address=127.0.0.1", "--num-cpus=0", f"--labels=assay.io/host={host}",
                   "--object-store-memory=80000000", "--include-log-monitor=false", *words]
        cls.raylets.append(subprocess.Popen(command, env=cls.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    @classmethod
    def await_hosts(cls, hosts: str) -> None:
        """Waits until the cluster has them."""
        command = [ASSAY, "hosts", "nodes", "--hosts", hosts]
        for _ in range(60):
            if subprocess.run(command, env=cls.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
                return
            time.sleep(1)
        raise RuntimeError(f"{hosts} do not become hosts")

    @classmethod
    def end(cls) -> None:
        for raylet in reversed(cls.raylets):
            raylet.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                raylet.wait(20)
            raylet.kill()
            raylet.wait()

    def command(self, *words: str, **more: str) -> subprocess.Popen:
        command = [ASSAY, "run", "randread", self.place / "d", "--size", "4MiB", "--json", "--quiet", "--hosts", *words]
        return subprocess.Popen(command, env={**self.environment, **more}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def result(self, run: subprocess.Popen, code: int) -> dict:
        out, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, code, err)
        return json.loads(out)

    def refusal(self, *words: str, **more: str) -> str:
        run = self.command(*words, **more)
        out, err = run.communicate(timeout=90)
        self.assertEqual((run.returncode, out), (4, ""), err)
        self.assertEqual([line.partition(":")[0] for line in err.splitlines()], ["error", "hint"])
        return err

    def nodes(self) -> list[int]:
        done = subprocess.run(["pgrep", "-f", f"^{ASSAY} node$"], stdout=subprocess.PIPE, text=True, check=False)
        return [int(word) for word in done.stdout.split()]

    def measuring(self) -> tuple[subprocess.Popen, list[int]]:
        """A long run whose hosts measure, and their nodes."""
        before = set(self.nodes())
        run = self.command("hA,hB", "--time", "10min")
        for _ in range(600):
            (newest,) = sorted((self.place / "runs").glob("*"))[-1:] or [self.place]
            kept = [path.read_text(encoding="utf-8").count("\n") for path in newest.glob("cells/*/intervals.jsonl")]
            mine = sorted(set(self.nodes()) - before)
            if len(mine) == 2 and sum(kept) >= 2:
                return run, mine
            time.sleep(0.1)
        run.kill()
        run.communicate()
        raise RuntimeError("the hosts do not measure")

    def together(self, *words: str) -> dict:
        """A run of hosts that began together: on a busy machine they may not, which decides nothing."""
        for _ in range(3):
            run = self.command(*words)
            out, err = run.communicate(timeout=60)
            if run.returncode != 3:
                break
        self.assertEqual(run.returncode, 0, err)
        return json.loads(out)

    def test_two_hosts_measure_together(self) -> None:
        run = self.together("hA,hB", "--time", "2s")
        cluster = run["cluster"]
        self.assertEqual(cluster["transport"], "ray")
        self.assertEqual([host["name"] for host in cluster["hosts"]], ["hA", "hB"])
        streams = run["runs"][0]["measurement"]["streams"]
        self.assertEqual(sum(host["ios"] for host in cluster["hosts"]), sum(one["operations"]["read"]["ios"] for one in streams))
        for host in cluster["hosts"]:
            # One clock: the truth is 0.
            self.assertLessEqual(abs(host["clock"]["offset_ns"]), host["clock"]["uncertainty_ns"])
        self.assertEqual(list((self.place / "d").iterdir()), [])

    def test_a_host_that_is_killed_or_silent_is_named(self) -> None:
        for how, said in ((signal.SIGKILL, "its program was ended by signal 9"), (signal.SIGSTOP, "it sent nothing for ")):
            run, mine = self.measuring()
            os.kill(mine[0], how)
            lost = [host["lost"]["reason"] for host in self.result(run, 3)["cluster"]["hosts"] if "lost" in host]
            self.assertEqual(len(lost), 1)
            self.assertTrue(lost[0].startswith(said), lost)

    def test_hosts_end_with_their_driver(self) -> None:
        run, mine = self.measuring()
        run.kill()
        run.communicate()
        for _ in range(100):
            if not set(mine) & set(self.nodes()):
                return
            time.sleep(0.1)
        self.fail("nodes are left")

    def test_what_is_not_there_or_not_asked_for_its_token_is_refused(self) -> None:
        self.assertIn("the host hC is not there", self.refusal("hA,hC"))
        self.assertIn("not asked for its token", self.refusal("hA,hB", RAY_AUTH_MODE="disabled"))
        for name, text, said in (("another", "f" * 64, "the Ray cluster refuses the token"), ("empty", "", "there is no token for the Ray cluster")):
            (self.place / name).write_text(text, encoding="utf-8")
            self.assertIn(said, self.refusal("hA,hB", RAY_AUTH_TOKEN_PATH=str(self.place / name)))

    def test_other_versions_of_ray_and_of_python_are_refused(self) -> None:
        other = self.place / "other"
        for ray, python in (("2.0.0", "3.11.7"), (metadata.version("ray"), "3.9.1")):
            change = f"utils.compute_version_info = lambda: ('{ray}', '{python}')"
            code = f"import sys; import ray._private.utils as utils; {change}; at = sys.argv.index('-c'); text = sys.argv[at + 1]; sys.argv[: at + 2] = ['-c']; exec(text)"
            other.write_text(f"#!{sys.executable}\n{code}\n", encoding="utf-8")
            other.chmod(0o755)
            self.assertIn(f"this machine Ray {ray} and Python {python}", self.refusal("hA,hB", ASSAY_PYTHON=str(other)))


if __name__ == "__main__":
    unittest.main()

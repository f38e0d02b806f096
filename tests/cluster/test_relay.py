"""Whom the relay takes for the hosts that are named, of what a cluster says of its nodes; no Ray is needed."""

import importlib.util
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).parents[2]


class Ended(Exception):
    """In the place of the end of the process."""


def relay():
    """The program as a module, which leaves the environment and the path of modules as they are."""
    found = importlib.util.spec_from_file_location("relay", ROOT / "python" / "assay_ray" / "relay.py")
    module = importlib.util.module_from_spec(found)
    with mock.patch.dict(os.environ), mock.patch.object(sys, "path", list(sys.path)):
        found.loader.exec_module(module)
    return module


def node(number: int, label: str | None = None, alive: bool = True) -> dict:
    """What Ray says of a node."""
    return {"NodeID": f"id-{number}", "Alive": alive, "NodeManagerHostname": f"host-{number}", "NodeManagerAddress": f"10.0.0.{number}",
            "Labels": {"assay.io/host": label} if label else {}}


class Names(unittest.TestCase):
    """Names of hosts as nodes of a cluster."""

    def found(self, nodes: list[dict], names: list[str]) -> list[str]:
        return relay().find(mock.Mock(nodes=lambda: nodes), names)

    def refused(self, nodes: list[dict], names: list[str]) -> tuple[str, str]:
        said = io.StringIO()
        with mock.patch.object(os, "_exit", side_effect=Ended), redirect_stdout(said), self.assertRaises(Ended):
            self.found(nodes, names)
        refused = json.loads(said.getvalue())["refused"]
        return refused["message"], refused["hint"]

    def test_a_host_is_called_by_its_label_its_name_or_its_address(self) -> None:
        nodes = [node(1, "hA"), node(2), node(3), node(4, alive=False)]
        self.assertEqual(self.found(nodes, ["10.0.0.3", "hA", "host-2"]), ["id-3", "id-1", "id-2"])

    def test_of_a_hundred_hosts_the_one_that_is_not_there_is_named(self) -> None:
        names = [f"h{number:03}" for number in range(100)]
        nodes = [node(number, name, alive=number != 57) for number, name in enumerate(names)]
        message, hint = self.refused(nodes, names)
        self.assertEqual(message, "the host h057 is not there in the Ray cluster")
        self.assertTrue(hint.startswith("hosts that are there: h000, h001, h002, h003, h004, h005, h006, h007 and 91 more; "), hint)

    def test_one_host_that_is_named_twice_and_two_of_one_name_are_refused(self) -> None:
        nodes = [node(1, "hA"), node(2, "hB"), node(3, "hB")]
        self.assertEqual(self.refused(nodes, ["hA", "10.0.0.1"])[0], "hA and 10.0.0.1 are one host")
        self.assertEqual(self.refused(nodes, ["hA", "hB"])[0], "the host hB is there more than once in the Ray cluster")


class Addresses(unittest.TestCase):
    """Which cluster is meant, and whether another user may have said so."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "ray" / "ray_current_cluster"
        self.file.parent.mkdir()
        # As Ray makes it.
        self.file.parent.chmod(0o777)

    def address(self, **environment: str) -> str:
        with mock.patch.dict(os.environ, {"RAY_TMPDIR": str(self.folder), **environment}):
            if "RAY_ADDRESS" not in environment:
                os.environ.pop("RAY_ADDRESS", None)
            return relay().address()

    def refused(self) -> tuple[str, str]:
        said = io.StringIO()
        with mock.patch.object(os, "_exit", side_effect=Ended), redirect_stdout(said), self.assertRaises(Ended):
            self.address()
        refused = json.loads(said.getvalue())["refused"]
        return refused["message"], refused["hint"]

    def test_what_is_named_is_meant_and_else_an_own_file(self) -> None:
        self.assertEqual(self.address(RAY_ADDRESS="head:6379"), "head:6379")
        self.file.write_text("127.0.0.1:1\n", encoding="utf-8")
        self.assertEqual(self.address(RAY_ADDRESS="auto"), "127.0.0.1:1")

    def test_without_either_an_address_is_demanded(self) -> None:
        message, hint = self.refused()
        self.assertIn("no Ray cluster is named", message)
        self.assertIn("RAY_ADDRESS", hint)

    def test_a_link_a_pipe_or_a_file_that_others_can_write_is_refused(self) -> None:
        other = self.folder / "other"
        other.write_text("127.0.0.1:1", encoding="utf-8")
        self.file.symlink_to(other)
        self.assertIn("no Ray cluster is named", self.refused()[0])
        self.file.unlink()
        os.mkfifo(self.file)
        self.assertIn("another user may have written", self.refused()[0])
        self.file.unlink()
        self.file.write_text("127.0.0.1:1", encoding="utf-8")
        self.file.chmod(0o666)
        self.assertIn("another user may have written", self.refused()[0])

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file to another user")
    def test_a_file_of_another_user_is_refused(self) -> None:
        self.file.write_text("127.0.0.1:1", encoding="utf-8")
        os.chown(self.file, 65534, 65534)
        self.assertIn("another user may have written", self.refused()[0])

    @unittest.skipUnless(os.geteuid() == 0, "only root can start a program as another user")
    def test_a_server_of_another_user_gets_no_token(self) -> None:
        code = "import os, socket, sys; os.setuid(65534); s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); print(s.getsockname()[1], flush=True); sys.stdin.read()"
        with subprocess.Popen([sys.executable, "-c", code], cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            try:
                self.file.write_text(f"127.0.0.1:{int(server.stdout.readline())}", encoding="utf-8")
                self.assertIn("another user listens at", self.refused()[0])
            finally:
                server.stdin.close()

    def test_an_own_server_is_one(self) -> None:
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            port = server.getsockname()[1]
            self.assertEqual(relay().listeners(port), {os.geteuid()})
            self.file.write_text(f"127.0.0.1:{port}", encoding="utf-8")
            self.assertEqual(self.address(), f"127.0.0.1:{port}")


class Envelopes(unittest.TestCase):
    """What Ray prints does not come between envelopes."""

    def test_standard_output_is_kept_for_envelopes(self) -> None:
        code = (f"import importlib.util; found = importlib.util.spec_from_file_location('relay', {str(ROOT / 'python/assay_ray/relay.py')!r}); "
                "relay = importlib.util.module_from_spec(found); found.loader.exec_module(relay); relay.keep_envelopes_apart(); "
                "print('printed by Ray', flush=True); relay.os.system('echo printed by a child'); relay.say({'said': 1})")
        ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True, text=True, cwd="/")
        self.assertEqual(ran.stdout, '{"said":1}\n')
        self.assertIn("printed by Ray", ran.stderr)


if __name__ == "__main__":
    unittest.main()

"""Whom the relay takes for the hosts that are named, of what a cluster says of its nodes; no Ray is needed."""

import importlib.util
import io
import json
import os
import sys
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


if __name__ == "__main__":
    unittest.main()

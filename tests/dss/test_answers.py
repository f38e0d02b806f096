"""All 22 answers of `assay bench dss` at the values of validation, on each product, row by row against those of DuckDB.

ASSAY       the program; else the newest of target/release and target/debug, where the example dss_rows lies, too
DSS_SCALE   the scale, 0.01 by itself; 1 takes some minutes
"""

import csv
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.dss import oracle

ROOT = Path(__file__).parents[2]
# What the program says where there is no server of a product.
NO_SERVER = {"postgres": "no postgres", "mariadb": "no mariadbd"}


def _newest(name: str) -> "Path | None":
    built = [ROOT / "target" / profile / name for profile in ("release", "debug")]
    there = [path for path in built if path.exists()]
    return max(there, key=lambda path: path.stat().st_mtime, default=None)


def _program() -> "Path | None":
    named = os.environ.get("ASSAY")
    return Path(named) if named else _newest("assay")


def _writer() -> "Path | None":
    return _newest("examples/dss_rows")


class Answers(unittest.TestCase):
    def setUp(self) -> None:
        self.program = _program()
        self.writer = _writer()
        reason = oracle.missing() or ("" if self.program else "assay is not built")
        reason = reason or ("" if self.writer else "the example dss_rows is not built")
        if reason:
            self.skipTest(reason)
        self.scale = float(os.environ.get("DSS_SCALE", "0.01"))

    def ours(self, folder: Path, product: str) -> "dict[int, list[list[str]]]":
        """The answers of our queries on our rows."""
        target, answers = folder / "d", folder / "answers"
        target.mkdir(mode=0o755)
        words = ["bench", "dss", target, "--server", product, "--scale", f"{self.scale:g}", "--streams", "0",
                 "--parameters", "validation", "--no-refresh", "--answers", answers, "--store", folder / "runs", "--quiet"]
        done = subprocess.run([self.program, *words], capture_output=True, text=True, check=False)
        if NO_SERVER[product] in done.stderr:
            self.skipTest(f"{NO_SERVER[product]} here")
        # 3: the reads came from the page cache, which does not matter here.
        self.assertIn(done.returncode, (0, 3), done.stderr)
        return {number: _read(answers / f"q{number:02}.csv") for number in range(1, 23)}

    def other(self, folder: Path) -> oracle.Oracle:
        """The other engine with our rows."""
        rows = folder / "rows"
        rows.mkdir()
        subprocess.run([self.writer, f"{self.scale:g}", rows], check=True)
        return oracle.Oracle(self.scale, rows)

    def test_rows_are_those_of_another_generator(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            other = self.other(Path(name))
        self.assertEqual(other.other_rows(), dict.fromkeys(oracle.TABLES, 0))

    def test_every_answer_of_postgresql_is_that_of_another_engine(self) -> None:
        self.compare("postgres")

    def test_every_answer_of_mariadb_is_that_of_another_engine(self) -> None:
        self.compare("mariadb")

    def compare(self, product: str) -> None:
        """Every answer of a product next to that of the other engine."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            folder.chmod(0o755)
            ours = self.ours(folder, product)
            other = self.other(folder)
        empty = 0
        for number, rows in ours.items():
            with self.subTest(query=number):
                self.assertEqual(oracle.differences(rows, other.answer(number)), [])
            empty += not rows
        # A few queries find nothing in small tables; most must find something.
        self.assertLess(empty, 6)


def _read(path: Path) -> "list[list[str]]":
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


class Comparing(unittest.TestCase):
    """What the other tests rely on can fail."""

    def test_a_difference_is_seen(self) -> None:
        self.assertEqual(oracle.differences([["1.0", "a"]], [["1.00", "a"]]), [])
        self.assertEqual(len(oracle.differences([["1.0001", "a"]], [["1.00", "a"]])), 1)
        self.assertEqual(len(oracle.differences([["b"]], [["a"]])), 1)
        self.assertEqual(len(oracle.differences([], [["a"]])), 1)


if __name__ == "__main__":
    unittest.main()

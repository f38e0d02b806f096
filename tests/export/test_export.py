"""What Assay hands to other programs, opened by them: tables by DuckDB and pandas, metrics by a parser of OpenMetrics, fio's JSON by
fio's own tool."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import duckdb  # noqa: F401 - the lines of the documentation import them again
import pandas  # noqa: F401
from prometheus_client.openmetrics.parser import text_string_to_metric_families

ROOT = Path(__file__).parents[2]
ASSAY = Path(os.environ.get("ASSAY", ROOT / "target" / "debug" / "assay"))


def block(language: str, first: str) -> str:
    """The block of docs/tables.md in this language that begins so."""
    text = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return next(found for found in blocks if found.startswith(first))


class Export(unittest.TestCase):
    """One run, handed out in every form."""

    @classmethod
    def setUpClass(cls) -> None:
        if not ASSAY.exists():
            raise unittest.SkipTest("the program is not built")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.place = Path(cls.folder.name)
        cls.assay("run", "randrw", "sim:servers?count=8&service=200us", "--time", "5s", "--openmetrics", "assay.prom", "--quiet")

    @classmethod
    def assay(cls, *words: str) -> str:
        ran = subprocess.run([ASSAY, *words], cwd=cls.place, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise AssertionError(ran.stderr)
        return ran.stdout

    def ios(self, operation: str) -> int:
        report = json.loads(self.assay("report", "latest", "--json"))
        return report["runs"][0]["measurement"]["streams"][0]["operations"][operation]["ios"]

    def run_lines(self, first: str) -> str:
        """Runs a block of the documentation in the place of the run; what it prints."""
        path = f"{ASSAY.parent}{os.pathsep}{os.environ['PATH']}"
        env = {**os.environ, "PATH": path}
        subprocess.run(["sh", "-ec", block("sh", "assay report")], cwd=self.place, env=env, check=True)
        lines = block("python", first)
        self.assertLessEqual(len(lines.strip().splitlines()), 4, "three lines below their title")
        said, before = io.StringIO(), Path.cwd()
        os.chdir(self.place)
        try:
            with contextlib.redirect_stdout(said):
                exec(lines, {})  # noqa: S102 - these are the lines of the documentation
        finally:
            os.chdir(before)
        return said.getvalue()

    def test_duckdb_opens_tables_by_the_lines_of_the_documentation(self) -> None:
        said = self.run_lines("# DuckDB")
        for operation in ("read", "write"):
            self.assertEqual(said.count(str(self.ios(operation))), 2, said)

    def test_pandas_opens_tables_by_the_lines_of_the_documentation(self) -> None:
        said = self.run_lines("# pandas")
        for operation in ("read", "write"):
            self.assertEqual(said.count(str(self.ios(operation))), 2, said)

    def test_a_parser_of_openmetrics_reads_what_is_exposed(self) -> None:
        text = (self.place / "assay.prom").read_text(encoding="utf-8")
        families = {family.name: family for family in text_string_to_metric_families(text)}
        ios = {sample.labels["operation"]: sample.value for sample in families["assay_ios"].samples}
        self.assertEqual(ios, {"read": self.ios("read"), "write": self.ios("write")})
        self.assertEqual(families["assay_service_time_seconds"].type, "histogram")
        self.assertEqual(families["assay_transferred_bytes"].unit, "bytes")

    def test_the_tool_of_fio_reads_its_json(self) -> None:
        tool = shutil.which("fio_jsonplus_clat2csv")
        if not tool:
            self.skipTest("fio_jsonplus_clat2csv is missing")
        (self.place / "fio.json").write_text(self.assay("report", "latest", "--as", "fio-json"), encoding="utf-8")
        subprocess.run([tool, "fio.json", "fio.csv"], cwd=self.place, check=True, capture_output=True)
        tables = list(self.place.glob("fio*.csv"))
        self.assertTrue(tables)
        rows = tables[0].read_text(encoding="utf-8").splitlines()
        self.assertGreater(len(rows), 10)


if __name__ == "__main__":
    unittest.main()

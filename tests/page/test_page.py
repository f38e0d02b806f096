"""The page in a real browser, and the harness on pages made to break each of its rules."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.page import harness

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Made up</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>body {{ margin: 8px }} @media (prefers-color-scheme: dark) {{ body {{ background: #111; color: #eee }} }}</style>
</head><body><h1>PASS</h1>{body}</body></html>"""
TABLE = '<section id="answer"><table><tr><th>what</th></tr><tr><td>1.2 ms</td></tr></table></section>'
CHART = '<svg viewBox="0 0 10 10" width="100"><title>Latency over load</title><svg></svg></svg>'


class InBrowser(unittest.TestCase):
    """Tests that share one browser."""

    @classmethod
    def setUpClass(cls) -> None:
        reason = harness.missing()
        if reason:
            raise unittest.SkipTest(reason)
        cls.opened = cls.enter(harness.browser())

    @classmethod
    def enter(cls, context):
        """What `enterClassContext` does since Python 3.11."""
        cls.addClassCleanup(context.__exit__, None, None, None)
        return context.__enter__()


class Harness(InBrowser):
    """Every rule can be broken."""

    def problems(self, body: str, views: "list[harness.View]" = harness.VIEWS[:1]) -> "list[str]":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "made-up.html"
            path.write_text(PAGE.format(body=body), encoding="utf-8")
            return harness.problems(self.opened, path, views)

    def assert_problem(self, body: str, expected: str, view: harness.View = harness.VIEWS[0]) -> None:
        found = self.problems(body, [view])
        self.assertTrue(any(expected in problem for problem in found), found)

    def test_a_sound_page_passes_in_every_view(self) -> None:
        script = "<script>document.body.append('drawn')</script>"
        self.assertEqual(self.problems(TABLE + CHART + script, harness.VIEWS), [])
        for view in harness.VIEWS:
            self.assertTrue((harness.SCREENSHOTS / f"made-up-{view}.png").exists(), view)

    def test_an_error_on_the_console(self) -> None:
        self.assert_problem(TABLE + "<script>console.error('bad')</script>", "console: bad")
        self.assert_problem(TABLE + "<script>nowhere()</script>", "script: nowhere is not defined")

    def test_a_request(self) -> None:
        self.assert_problem(TABLE + '<img src="http://127.0.0.1:9/a.png">', "asks for http://127.0.0.1:9/a.png")
        self.assert_problem(TABLE + '<img src="neighbour.png">', "asks for file:")
        self.assert_problem(TABLE + "<script>fetch('http://127.0.0.1:9/')</script>", "asks for http://127.0.0.1:9/")

    def test_sideways_scrolling_on_a_phone(self) -> None:
        wide = TABLE + '<div class="chart" style="width: 600px">wide</div>'
        self.assert_problem(wide, "scrolls sideways: 608 px in 390 px: div.chart", harness.VIEWS[2])
        self.assertEqual(self.problems(wide), [], "a desktop has room for it")

    def test_the_verdict_is_missing_hidden_empty_or_far_down(self) -> None:
        self.assert_problem("", "no visible #answer table")
        self.assert_problem(f"<div hidden>{TABLE}</div>", "no visible #answer table")
        self.assert_problem(TABLE.replace("<tr><td>1.2 ms</td></tr>", ""), "no row besides its heading")
        space = '<div style="height: 1000px"></div>'
        self.assert_problem(space + TABLE, "#answer begins at")
        self.assert_problem(space + TABLE, "#answer begins at", harness.VIEWS[2])
        below = TABLE.replace("<table>", f"FAIL{space * 2}<table>")
        self.assert_problem(below, "table:not(details table) begins at")
        self.assertEqual(self.problems(below, harness.VIEWS[2:3]), [], "a phone shows the sentence first")

    def test_a_verdict_that_only_a_script_draws(self) -> None:
        drawn = f"<script>document.body.innerHTML += '{TABLE}'</script>"
        self.assertEqual(self.problems(drawn), [])
        self.assert_problem(drawn, "no visible #answer table", harness.VIEWS[-1])

    def labelled(self, marks: str, width: int = 100) -> str:
        chart = f'<svg role="img" viewBox="0 0 100 60" width="{width}"><title>Latency</title>{marks}</svg>'
        return TABLE + f'<div style="font-size: 12px">{chart}</div>'

    def test_a_label_over_another(self) -> None:
        labels = '<text x="10" y="20">knee at 16</text><text x="14" y="22">limit</text>'
        self.assert_problem(self.labelled(labels), "“knee at 16” lies over “limit” in “Latency”")
        apart = '<text x="10" y="20">knee</text><text x="10" y="50">limit</text>'
        self.assertEqual(self.problems(self.labelled(apart)), [])

    def test_a_line_through_a_label(self) -> None:
        label = '<text x="10" y="30">knee</text>'
        self.assert_problem(self.labelled(label + '<path class="l" d="M0 26L90 26"/>'), "a line runs through “knee”")
        self.assertEqual(self.problems(self.labelled(label + '<path class="l hair" d="M0 26L90 26"/>')), [])

    def test_a_label_beyond_its_chart_and_a_chart_that_is_too_small(self) -> None:
        self.assert_problem(self.labelled('<text x="60" y="30">service time</text>'), "runs out of “Latency”")
        self.assert_problem(self.labelled("", width=50), "“Latency” is drawn at 50% of its size")

    def test_a_manager_reads_no_more_than_four_screens(self) -> None:
        long = TABLE.replace("</table>", '</table><div style="height: 4000px"></div>')
        self.assert_problem(long, "after 4 screens")

    def test_a_page_without_a_verdict_needs_no_table(self) -> None:
        body = '<section id="answer"><p>41,100 reads/s</p></section>'
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "made-up.html"
            path.write_text(PAGE.format(body=body), encoding="utf-8")
            self.assertFalse(harness.is_judged(path))
            self.assertEqual(harness.problems(self.opened, path, harness.VIEWS[:1], is_judged=False), [])

    @unittest.skipUnless(harness.has_axe(), "axe-playwright-python is not installed")
    def test_what_keeps_people_out(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "made-up.html"
            path.write_text(PAGE.format(body=TABLE + '<img src="data:,"><button></button>'), encoding="utf-8")
            found = harness.barriers(self.opened, path)
            self.assertTrue(any("image-alt" in one for one in found) and any("button-name" in one for one in found), found)

    def test_a_picture_without_a_title(self) -> None:
        self.assert_problem(TABLE + "<svg></svg>", "1 svg without a title")
        self.assert_problem(TABLE + "<svg><title> </title></svg>", "1 svg without a title")
        self.assertEqual(self.problems(TABLE + '<svg aria-hidden="true"></svg>'), [], "decoration needs none")

    def test_a_page_that_is_too_large(self) -> None:
        self.assert_problem(TABLE + "<!--" + "x" * harness.LARGEST_BYTES + "-->", "bytes, over 1000000")


EXAMPLE = harness.ROOT / "target" / "debug" / "examples" / "page"


class Page(InBrowser):
    """The page that ASSAY_PAGE names, or else the example page that the reports' own program prints."""

    def page(self) -> Path:
        named = os.environ.get("ASSAY_PAGE")
        if named:
            return Path(named)
        if not EXAMPLE.exists():
            self.skipTest(f"ASSAY_PAGE names no page and {EXAMPLE.relative_to(harness.ROOT)} is not built")
        harness.SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page = harness.SCREENSHOTS / "example.html"
        page.write_bytes(subprocess.run([EXAMPLE], capture_output=True, check=True).stdout)
        return page

    def test_campaigns_of_cuts_serve_their_reader_well(self) -> None:
        if not EXAMPLE.exists():
            self.skipTest(f"ASSAY_PAGE names no page and {EXAMPLE.relative_to(harness.ROOT)} is not built")
        harness.SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        for kind in ("cuts", "lost"):
            page = harness.SCREENSHOTS / f"{kind}.html"
            page.write_bytes(subprocess.run([EXAMPLE, kind], capture_output=True, check=True).stdout)
            self.assertEqual(harness.problems(self.opened, page, harness.VIEWS, False), [], kind)
            if harness.has_axe():
                for view in harness.VIEWS[:2]:
                    self.assertEqual(harness.barriers(self.opened, page, view), [], kind)

    def test_a_reader_is_served_well(self) -> None:
        page = self.page()
        self.assertEqual(harness.problems(self.opened, page, harness.VIEWS, harness.is_judged(page)), [])

    @unittest.skipUnless(harness.has_axe(), "axe-playwright-python is not installed")
    def test_nobody_is_kept_out(self) -> None:
        page = self.page()
        for view in harness.VIEWS[:2]:
            self.assertEqual(harness.barriers(self.opened, page, view), [])


PROGRAM = harness.ROOT / "target" / "debug" / "assay"
SERVERS = "sim:servers?count=16&service=1ms"
# What makes a page of each kind within seconds, on simulated storage in virtual time, from a folder of its own; the last
# command writes `page.html`, or else the latest run is reported.
KINDS = {
    "calibrate": ["calibrate array:xtremio-1 --time 5s"],
    "check": ["check sim:servers?count=8&service=200us --time 20s"],
    "run": ["run oltp array:ps6010xv --time 20s --criteria oltp-default"],
    "soak": ["soak array:xtremio-1 --time 10m"],
    "cycles": ["soak array:xtremio-1 --time 1min --rest 30s --cycles 4"],
    "locality": [
        "locality sim:tiers?sizes=6MiB,90MiB&latencies=60us,300us,4ms --largest 256MiB --time 1s --warm-up 500ms"
    ],
    "study": ["study orion-simple array:ps6010xv --scale 1/1000"],
    "watch": ["watch . --time 2s --interval 200ms"],
    "hosts": ["calibrate . --size 16MiB --time 5s --read-share 100% --hosts local:3"],
    "watched hosts": ["watch . --hosts local:2 --time 2s --interval 200ms"],
    "integrity": ["run randrw . --size 32MiB --time 2s --verify"],
    "sizing": [
        "size --iops 20000/s --throughput 600MiB/s --capacity 4TiB --only gp3,io2 --headroom 0% --fill 100% --html page.html"
    ],
    "projection": [
        "list arrays xtremio-1 --profile slob-1h > slob.profile.json",
        f"predict slob.profile.json --on slow={SERVERS} --on fast=array:xtremio-2 --time 5s --draws 20 --html page.html",
    ],
    "comparison of runs": [
        "run randread sim:servers?count=8&service=200us --time 10s --name one",
        "run randread sim:servers?count=8&service=150us --time 10s --name two",
        "compare one two --html page.html",
    ],
    "comparison of calibrations": [
        "calibrate array:xtremio-1 --time 5s --name one",
        "calibrate array:ps6010xv --time 5s --name two",
        "compare one two --html page.html",
    ],
}
# What needs a server: `assay` starts one of its own, bounded in time, in the folder.
SERVED = {
    "load": ["bench oltp . --warehouses 1 --sessions 1,2 --time 3s"],
    "queries": ["bench dss . --scale 0.01 --streams 2"],
}
HAS_POSTGRES = any(Path("/usr/lib/postgresql").glob("*/bin/postgres"))


@unittest.skipUnless(PROGRAM.exists(), "target/debug/assay is not built")
class EveryKind(InBrowser):
    """A page of every kind that a command makes."""

    def assay(self, folder: Path, command: str) -> None:
        line, _, file = command.partition(" > ")
        done = subprocess.run([PROGRAM, *line.split()], capture_output=True, cwd=folder, check=False)
        # A verdict that is not PASS is an answer, too.
        self.assertIn(done.returncode, (0, 1, 3), f"{command}: {done.stderr.decode()}")
        if file:
            (folder / file).write_bytes(done.stdout)

    def made(self, folder: Path, commands: "list[str]") -> Path:
        folder.mkdir()
        for command in commands:
            self.assay(folder, command)
        page = folder / "page.html"
        if not page.exists():
            self.assay(folder, "report latest --html page.html")
        return page.rename(folder / f"{folder.name.replace(' ', '-')}.html")

    def test_each_serves_its_reader(self) -> None:
        self.serve(KINDS)

    @unittest.skipUnless(HAS_POSTGRES, "PostgreSQL is not installed")
    def test_each_of_a_server_serves_its_reader(self) -> None:
        self.serve(SERVED)

    def serve(self, kinds: "dict[str, list[str]]") -> None:
        with tempfile.TemporaryDirectory() as folder:
            # The server is another user, who has to reach its data.
            Path(folder).chmod(0o755)
            for kind, commands in kinds.items():
                with self.subTest(kind):
                    page = self.made(Path(folder) / kind, commands)
                    # Colours are the style sheet's: those who cannot tell them apart are asked for once a kind.
                    views = [harness.VIEWS[0], harness.VIEWS[2]]
                    found = harness.problems(self.opened, page, views, harness.is_judged(page))
                    if harness.has_axe():
                        found += harness.barriers(self.opened, page, harness.VIEWS[1])
                    self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()

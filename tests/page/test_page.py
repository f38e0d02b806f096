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
        self.assert_problem(space + TABLE, "px, below the first screen")
        self.assert_problem(space + TABLE, "#answer begins at", harness.VIEWS[2])
        below = TABLE.replace("<table>", f"FAIL{space}<table>")
        self.assert_problem(below, "#answer table begins at")
        self.assertEqual(self.problems(below, harness.VIEWS[2:3]), [], "a phone shows the sentence first")

    def test_a_verdict_that_only_a_script_draws(self) -> None:
        drawn = f"<script>document.body.innerHTML += '{TABLE}'</script>"
        self.assertEqual(self.problems(drawn), [])
        self.assert_problem(drawn, "no visible #answer table", harness.VIEWS[-1])

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

    def test_a_reader_is_served_well(self) -> None:
        self.assertEqual(harness.problems(self.opened, self.page()), [])


if __name__ == "__main__":
    unittest.main()

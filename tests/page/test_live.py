"""The live page in a real browser: what a reader sees while a run is measured, and what is left when it has ended."""

import json
import math
import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.page import harness
from tests.page.test_page import InBrowser

ASSAY = Path(os.environ.get("ASSAY", harness.ROOT / "target" / "debug" / "assay"))
PACED = "array:ramsan-300?pace=real"
FIRST_PAINT_MS = 300
MEMORY_BYTES = 100_000_000
HOUR = 3600
# A browser on a busy machine takes its time.
PATIENCE_S = 300


def event(second: int) -> str:
    """What the program says of a second."""
    iops = 40_000 + 5_000 * math.sin(second / 50)
    times = [90_000, 350_000 + 1000 * (second % 97), 1_200_000]
    point = {
        "at_s": second + 1.0,
        "queue_depth_mean": 16.0,
        "cpu_busy_share": 0.4 + 0.1 * math.sin(second / 20),
        "operations": [
            {"operation": kind, "iops": iops * share, "bytes_per_s": iops * share * 8192, "errors": 0, "service_time_ns": times}
            for kind, share in (("read", 0.7), ("write", 0.3))
        ],
    }
    said = {
        "subject": "soak of /mnt/data",
        "doing": "oltp: 40,000 IOPS, 312 MiB/s",
        "share": (second + 1) / HOUR,
        "left_s": HOUR - second - 1.0,
        "measured_s": second + 1.0,
        "runnable": 3,
        "cost": 0.0012,
        "points": [point],
        "notes": [f"note: the rate fell at {second} s"] if second % 600 == 0 else [],
    }
    return f"data: {json.dumps(said)}\n\n"


class LivePage(InBrowser):
    """A run in virtual time at the pace of the clock, and a browser that looks at it."""

    def setUp(self) -> None:
        if not ASSAY.exists():
            self.skipTest("the program is not built")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)

    def start(self, measured: str) -> str:
        """Starts a run and gives the address of its page."""
        words = [ASSAY, "run", "randrw", PACED, "--time", measured, "--interval", "200ms", "--live"]
        self.running = subprocess.Popen(
            words, cwd=self.place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        self.addCleanup(self.end)
        for line in self.running.stderr:
            if line.startswith("live: "):
                return line.removeprefix("live: ").strip()
        self.fail("no address was said")

    def end(self) -> None:
        self.running.terminate()
        self.running.wait()
        self.running.stderr.close()

    def open(self, address: str, view: harness.View, events: "str | None" = None):
        context = self.opened.new_context(
            viewport={"width": view.width, "height": view.height}, color_scheme=view.scheme, bypass_csp=events is not None
        )
        self.addCleanup(context.close)
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE_S)
        self.said = []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        if events is not None:
            page.route("**/events", lambda route: route.fulfill(content_type="text/event-stream", body=events))
        page.goto(address, wait_until="load")
        return page

    def test_it_grows_and_becomes_the_file_of_the_run(self) -> None:
        address = self.start("1h")
        page = self.open(address, harness.DESKTOP_LIGHT)
        # The browser notes a paint a while after it.
        page.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length > 0")
        paint = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime")
        page.wait_for_selector("#now tr")
        first = page.text_content("#span")
        page.wait_for_function("before => document.getElementById('span').textContent !== before", arg=first)
        self.assertEqual(page.locator("#rate polyline").count(), 2, "reads and writes")
        page.wait_for_selector("#so-far:not([hidden])", state="attached")
        # The run is ended, the program with it, and the page of the run stays.
        self.running.send_signal(signal.SIGINT)
        page.wait_for_selector("#answer")
        self.assertEqual(self.running.wait(timeout=PATIENCE_S), 130)
        kept = next(self.place.glob("assay-runs/*/report.html"))
        other = self.opened.new_page()
        other.goto(kept.as_uri())
        self.assertEqual(page.content(), other.content())
        other.close()
        self.assertEqual([line for line in self.said if "ERR_" not in line], [])
        # On a machine that does something else the time says nothing.
        if os.environ.get("QUIET"):
            self.assertLessEqual(paint, FIRST_PAINT_MS)

    def test_an_hour_of_seconds_in_every_view(self) -> None:
        address = self.start("1h")
        hour = "".join(map(event, range(HOUR)))
        for view in harness.VIEWS[:4]:
            page = self.open(address, view, hour)
            page.wait_for_function("() => document.getElementById('left').textContent === '0 s left'")
            wide, room = page.evaluate("() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
            self.assertLessEqual(wide, room, str(view))
            harness.SCREENSHOTS.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=harness.SCREENSHOTS / f"live-{view}.png", full_page=True)
            session = page.context.new_cdp_session(page)
            session.send("HeapProfiler.collectGarbage")
            session.send("Performance.enable")
            figures = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
            self.assertLess(figures["JSHeapUsedSize"], MEMORY_BYTES, str(view))
            self.assertLess(figures["Nodes"], 20_000, str(view))
            if harness.has_axe():
                self.assertEqual(self.barriers(page), [], str(view))
            self.assertEqual(self.said, [], str(view))
            page.context.close()

    def barriers(self, page) -> "list[str]":
        page.evaluate(harness._axe())
        answer = page.evaluate("async () => await axe.run(document, {resultTypes: ['violations']})")
        grave = [found for found in answer["violations"] if found["impact"] in harness.GRAVE]
        return [f"{found['id']}: {found['nodes'][0]['html'][:160]}" for found in grave]

    def test_without_its_address_there_is_nothing(self) -> None:
        address = self.start("1h")
        page = self.opened.new_page()
        self.addCleanup(page.close)
        root = address.split("/")[2]
        self.assertEqual(page.goto(f"http://{root}/").status, 404)
        self.assertEqual(page.goto(f"http://{root}/{'0' * 32}/").status, 404)
        self.assertEqual(page.goto(address).status, 200)
        # A name of another site that points here is refused.
        answer = page.request.get(address, headers={"Host": "evil.example"})
        self.assertEqual(answer.status, 403)


if __name__ == "__main__":
    unittest.main()

"""Opens a page of Assay in a real browser and judges what a reader would see.

A page is one HTML file that must work offline, without scripts, on a desktop and on a phone, in light and dark:
no message on the console, no request, no sideways scrolling, the answer on the first screen and all that a manager
reads on four, a title for every picture that is not mere decoration, no label over another or over a line, no chart
drawn smaller than its neighbours, nothing serious found by axe. Screenshots of the first screen and of all go to
target/pages.

    python -m tests.page.harness PAGE.html ...
"""

import importlib.util
import os
import shutil
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "target" / "pages"
LARGEST_BYTES = 1_000_000
# The part that answers the question, and its table with a row for each criterion.
ANSWER = "#answer"
VERDICT = f"{ANSWER} table:not(details table)"
# The part for a manager: everything before the evidence.
SCREENS_MAX = 4
# Where the table of criteria begins at the latest.
VERDICT_SCREENS_MAX = 1.5
# What axe calls grave; the lesser ones are matters of taste.
GRAVE = ("serious", "critical")
# Faults of one kind that are listed for one page.
LISTED_MAX = 5
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass(frozen=True)
class View:
    """One way to look at a page."""

    width: int
    height: int
    scheme: str
    scripts: bool = True

    def __str__(self) -> str:
        return f"{self.width}x{self.height}-{self.scheme}{'' if self.scripts else '-noscript'}"


DESKTOP, PHONE = (1400, 900), (390, 844)
DESKTOP_LIGHT = View(*DESKTOP, "light")
VIEWS = [View(*size, scheme) for size in (DESKTOP, PHONE) for scheme in ("light", "dark")]
VIEWS.append(View(*DESKTOP, "light", scripts=False))

# What the page says of itself: asked in the browser.
QUESTIONS = """([answer, verdict]) => {
  const top = selector => {
    const part = document.querySelector(selector);
    return part && part.checkVisibility() ? part.getBoundingClientRect().top : null;
  };
  const outer = [...document.querySelectorAll('svg')].filter(
    svg => !svg.parentElement.closest('svg') && !svg.closest('[aria-hidden=true]'));
  const title = svg => svg.querySelector(':scope > title')?.textContent.trim();
  const wide = [...document.querySelectorAll('body *')].filter(
    each => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
  return {
    answerTop: top(answer),
    answerBottom: document.querySelector(answer)?.getBoundingClientRect().bottom ?? 0,
    verdictTop: top(verdict),
    verdictRows: document.querySelector(verdict)?.rows.length ?? 0,
    untitled: outer.filter(svg => !title(svg)).length,
    scrollWidth: document.documentElement.scrollWidth,
    clientWidth: document.documentElement.clientWidth,
    widest: wide.slice(0, 3).map(each => each.tagName.toLowerCase() + '.' + each.getAttribute('class')),
  };
}"""


# Labels of charts that lie over one another, over a line of data or beyond their chart, and charts that are drawn smaller
# than they are meant to be: text of less than nine tenths of its size is hard to read.
LABELS = """() => {
  const found = [];
  const inside = (box, x, y) => x > box.left && x < box.right && y > box.top && y < box.bottom;
  // The box of a line of text has room above and below its letters.
  const core = text => {
    const box = text.getBoundingClientRect(), high = box.height * 0.22;
    return {text: text.textContent, left: box.left + 1, right: box.right - 1, top: box.top + high, bottom: box.bottom - high};
  };
  const shown = part => part.checkVisibility() && part.getBoundingClientRect().width > 0;
  const charts = [...document.querySelectorAll('svg[role=img]')].filter(shown);
  for (const chart of charts) {
    const name = chart.querySelector(':scope > title')?.textContent;
    const frame = chart.getBoundingClientRect(), scale = frame.width / chart.viewBox.baseVal.width;
    if (scale < 0.9) found.push(`“${name}” is drawn at ${Math.round(scale * 100)}% of its size`);
    const labels = [...chart.querySelectorAll('text')].filter(shown).map(core);
    labels.forEach((one, place) => {
      if (one.left < frame.left - 3 || one.right > frame.right + 3) found.push(`“${one.text}” runs out of “${name}”`);
      for (const other of labels.slice(place + 1)) {
        const apart = one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top;
        if (!apart) found.push(`“${one.text}” lies over “${other.text}” in “${name}”`);
      }
    });
    for (const line of chart.querySelectorAll('path.l:not(.hair)')) {
      // Lines are drawn from corner to corner: their corners are read, because asking for points along them takes minutes.
      const place = line.getScreenCTM(), numbers = (line.getAttribute('d').match(/-?[0-9.]+/g) ?? []).map(Number);
      const corners = [];
      for (let at = 0; at + 1 < numbers.length; at += 2) {
        corners.push([place.a * numbers[at] + place.e, place.d * numbers[at + 1] + place.f]);
      }
      const hit = labels.findIndex(label => corners.slice(1).some((to, number) => {
        const from = corners[number], steps = Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / 3) || 1;
        if (Math.max(from[0], to[0]) < label.left || Math.min(from[0], to[0]) > label.right) return false;
        for (let step = 0; step <= steps; step++) {
          const share = step / steps;
          if (inside(label, from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1]))) return true;
        }
        return false;
      }));
      if (hit >= 0) found.push(`a line runs through “${labels[hit].text}” in “${name}”`);
    }
  }
  return found;
}"""


def missing() -> "str | None":
    """Why no page can be opened here, or None."""
    if _chromium() is None:
        return "chromium is not installed"
    try:
        import playwright.sync_api  # noqa: F401
    except ModuleNotFoundError:
        return "playwright is not installed"
    return None


def _chromium() -> "str | None":
    named = os.environ.get("CHROMIUM")
    return named or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def browser():
    """A browser that is closed in the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=_chromium(), headless=True, args=SWITCHES)
        try:
            yield opened
        finally:
            opened.close()


def problems(opened, path: Path, views: "list[View]" = VIEWS, is_judged: bool = True) -> "list[str]":
    """Everything that is wrong with a page, in every view; nothing if a reader is served well. One that judges has a table
    with a row for each criterion."""
    size = path.stat().st_size
    found = [f"{path.name}: {size} bytes, over {LARGEST_BYTES}"] if size > LARGEST_BYTES else []
    for view in views:
        found += [f"{path.name} at {view}: {problem}" for problem in _look(opened, path, view, is_judged)]
    return found


def is_judged(path: Path) -> bool:
    """Whether a page holds a verdict by criteria."""
    return 'data-name="Criterion"' in path.read_text(encoding="utf-8")


def barriers(opened, path: Path, view: View = VIEWS[0]) -> "list[str]":
    """What axe finds serious for those who cannot see, point or tell colours apart."""
    # The page's policy lets no script in but its own.
    context = opened.new_context(
        viewport={"width": view.width, "height": view.height}, color_scheme=view.scheme, bypass_csp=True
    )
    try:
        page = context.new_page()
        page.goto(path.resolve().as_uri(), wait_until="load")
        page.evaluate("() => document.querySelectorAll('details').forEach(each => each.open = true)")
        page.evaluate(_axe())
        answer = page.evaluate("async () => await axe.run(document, {resultTypes: ['violations']})")
    finally:
        context.close()
    return [
        f"{path.name} at {view}: {found['id']}: {found['help']}: {found['nodes'][0]['html'][:160]}"
        for found in answer["violations"]
        if found["impact"] in GRAVE
    ]


def _axe() -> str:
    import axe_playwright_python

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def has_axe() -> bool:
    """Whether `barriers` can look."""
    return importlib.util.find_spec("axe_playwright_python") is not None


def _look(opened, path: Path, view: View, is_judged: bool) -> "list[str]":
    context = opened.new_context(
        viewport={"width": view.width, "height": view.height},
        color_scheme=view.scheme,
        java_script_enabled=view.scripts,
    )
    page, found = context.new_page(), []
    address = path.resolve().as_uri()
    _listen(page, address, found)
    try:
        page.goto(address, wait_until="load")
        found += _judge(page.evaluate(QUESTIONS, [ANSWER, VERDICT]), view, is_judged)
        # Labels lie where they lie, whatever the colours are.
        if view.scripts and view.scheme == "light":
            found += page.evaluate(LABELS)[:LISTED_MAX]
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"{path.stem}-{view}-top.png")
        page.screenshot(path=SCREENSHOTS / f"{path.stem}-{view}.png", full_page=True)
    finally:
        context.close()
    return found


def _listen(page, address: str, found: "list[str]") -> None:
    """Notes errors and requests; what is inlined (data:, blob:) is not a request."""

    def on_request(request) -> None:
        if request.url != address and not request.url.startswith(("data:", "blob:")):
            found.append(f"asks for {request.url}")

    def on_console(message) -> None:
        found.append(f"console: {message.text}")

    page.on("request", on_request)
    page.on("console", on_console)
    page.on("pageerror", lambda error: found.append(f"script: {error}"))
    page.route("**/*", lambda route: route.continue_() if route.request.url == address else route.abort())


def _judge(answers: dict, view: View, is_judged: bool) -> "list[str]":
    found = _judge_place(ANSWER, answers["answerTop"], view)
    if is_judged:
        # The sentence says what decided; the table with every criterion follows the manager's screen.
        on_desktop = view.width >= DESKTOP[0] and answers["verdictTop"] is not None
        found += _judge_place(VERDICT, answers["verdictTop"], None)
        if on_desktop and answers["verdictTop"] > VERDICT_SCREENS_MAX * view.height:
            found.append(f"{VERDICT} begins at {answers['verdictTop']:.0f} px, after {VERDICT_SCREENS_MAX} screens")
    if is_judged and answers["verdictTop"] is not None and answers["verdictRows"] < 2:
        found.append(f"{VERDICT} has no row besides its heading")
    if view.width >= DESKTOP[0] and answers["answerBottom"] > SCREENS_MAX * view.height:
        found.append(f"{ANSWER} ends at {answers['answerBottom']:.0f} px, after {SCREENS_MAX} screens")
    if answers["untitled"]:
        found.append(f"{answers['untitled']} svg without a title")
    if answers["scrollWidth"] > answers["clientWidth"]:
        found.append(
            f"scrolls sideways: {answers['scrollWidth']} px in {answers['clientWidth']} px: {', '.join(answers['widest'])}"
        )
    return found


def _judge_place(selector: str, top: "float | None", first_screen: "View | None") -> "list[str]":
    """Complains of a part that is not shown, or not on the first screen where it must be."""
    if top is None:
        return [f"no visible {selector}"]
    if first_screen and top >= first_screen.height:
        return [f"{selector} begins at {top:.0f} px, below the first screen"]
    return []


def main(paths: "list[str]") -> int:
    reason = missing()
    if reason:
        print(f"skipped: {reason}")
        return 0
    with browser() as opened:
        found = [problem for path in map(Path, paths) for problem in problems(opened, path, VIEWS, is_judged(path))]
        if has_axe():
            found += [barrier for path in paths for view in VIEWS[:2] for barrier in barriers(opened, Path(path), view)]
        else:
            print("skipped: axe-playwright-python is not installed, so axe did not look")
    print("\n".join(found) or f"nothing found; screenshots in {SCREENSHOTS.relative_to(ROOT)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

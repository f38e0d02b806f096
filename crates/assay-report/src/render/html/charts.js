// Reading and enlarging every other chart, unfolding what a link leads to, and saying which tables go on sideways.
(() => {
  "use strict";
  const digits = (value) => Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });
  const scaled = (value, steps) => {
    const [unit, size] = steps.find((step) => Math.abs(value) >= step[1]) || steps[steps.length - 1];
    return `${digits(value / size)} ${unit}`;
  };
  const TIMES = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
  const BYTES = [["GB/s", 1e9], ["MB/s", 1e6], ["kB/s", 1e3], ["B/s", 1]];
  const SHOWN = {
    ns: (value) => scaled(value, TIMES),
    "B/s": (value) => scaled(value, BYTES),
    s: (value) => scaled(value * 1e9, TIMES),
    share: (value) => `${digits(value * 100)}%`,
    "": digits,
  };
  const shown = (value, unit) => (SHOWN[unit] ? SHOWN[unit](value) : `${digits(value)}${unit}`);

  // An axis as the page carries it: law, both ends in numbers, both ends in places, unit, name.
  const axis = (text) => {
    const [law, low, high, from, to, unit, ...name] = text.split("|");
    const [a, b, begin, end] = [low, high, from, to].map(Number);
    const value = (place) => {
      const share = (place - begin) / (end - begin);
      return law === "log" ? a * Math.pow(b / a, share) : a + share * (b - a);
    };
    return { begin, end, say: (place) => `${name.join("|")} ${shown(value(place), unit)}` };
  };

  const NEAR = 16;
  function readable(svg, say, hide) {
    const [x, y] = [axis(svg.dataset.x), axis(svg.dataset.y)];
    const dots = [...svg.querySelectorAll(".d")].map((dot) => {
      const box = dot.getBBox();
      // The browser's own hint would stand beside ours; the words stay for the copy in the dialog.
      const title = dot.querySelector("title");
      if (title) { dot.dataset.says = title.textContent; title.remove(); }
      return { x: box.x + box.width / 2, y: box.y + box.height / 2, says: dot.dataset.says };
    });
    svg.addEventListener("pointermove", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const inside = (line, place) => place >= Math.min(line.begin, line.end) - 6 && place <= Math.max(line.begin, line.end) + 6;
      if (!inside(x, at.x) || !inside(y, at.y)) return hide();
      const far = (dot) => Math.hypot(dot.x - at.x, dot.y - at.y);
      const dot = dots.reduce((best, one) => (far(one) < (best ? far(best) : NEAR) ? one : best), null);
      say(dot ? dot.says : `${x.say(at.x)}, ${y.say(at.y)}`, event);
    });
    svg.addEventListener("pointerleave", hide);
  }

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const hide = () => { tip.hidden = true; };
  const say = (words, event) => {
    tip.textContent = words;
    tip.hidden = false;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(left, 4)}px`;
    tip.style.top = `${Math.max(event.clientY - tip.offsetHeight - 10, 4)}px`;
  };

  const dialog = document.createElement("dialog");
  const bar = document.createElement("form");
  bar.method = "dialog";
  const output = document.createElement("output");
  const HINT = "Point at the chart to read it; turn the wheel to enlarge, drag to move.";
  const button = (name, action) => {
    const made = document.createElement("button");
    made.textContent = name;
    if (action) { made.type = "button"; made.addEventListener("click", action); }
    return made;
  };
  let drawn = null, whole = null;
  const show = (box) => drawn.setAttribute("viewBox", box.join(" "));
  const box = () => drawn.getAttribute("viewBox").split(" ").map(Number);
  const zoom = (by, x, y) => {
    const [left, top, width, height] = box();
    const wide = Math.min(width * by, whole[2]), high = Math.min(height * by, whole[3]);
    show([x - ((x - left) * wide) / width, y - ((y - top) * high) / height, wide, high]);
  };
  const middle = (by) => { const [left, top, width, height] = box(); zoom(by, left + width / 2, top + height / 2); };
  bar.append(output, button("Enlarge", () => middle(0.7)), button("Reduce", () => middle(1 / 0.7)), button("Whole chart", () => show(whole)), button("Close"));
  dialog.append(bar);
  document.body.append(dialog);

  function open(svg, title) {
    drawn?.remove();
    drawn = svg.cloneNode(true);
    drawn.removeAttribute("aria-labelledby");
    drawn.setAttribute("aria-label", title);
    drawn.querySelectorAll("[id]").forEach((part) => part.removeAttribute("id"));
    whole = svg.getAttribute("viewBox").split(" ").map(Number);
    dialog.append(drawn);
    dialog.setAttribute("aria-label", title);
    output.textContent = HINT;
    drawn.addEventListener("wheel", (event) => {
      event.preventDefault();
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawn.getScreenCTM().inverse());
      zoom(event.deltaY < 0 ? 0.8 : 1.25, at.x, at.y);
    });
    drawn.addEventListener("pointermove", (event) => {
      if (event.buttons !== 1) return;
      const [left, top, width, height] = box(), scale = width / drawn.getBoundingClientRect().width;
      show([left - event.movementX * scale, top - event.movementY * scale, width, height]);
    });
    dialog.showModal();
    if (drawn.dataset.y) readable(drawn, (words) => { output.textContent = words; }, () => { output.textContent = HINT; });
  }

  for (const figure of document.querySelectorAll("figure")) {
    if (figure.closest("[data-timeline]")) continue;
    const charts = [...figure.querySelectorAll("svg[role=img]")];
    const title = charts[0].querySelector("title").textContent;
    const enlarge = button("⤢", () => open(charts.find((chart) => chart.checkVisibility()) || charts[0], title));
    enlarge.className = "enlarge";
    enlarge.title = "Enlarge";
    enlarge.setAttribute("aria-label", `Enlarge: ${title}`);
    figure.append(enlarge);
    for (const chart of charts) if (chart.dataset.y) readable(chart, say, hide);
  }

  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    target.querySelector(":scope > details, :scope > h3 + details")?.setAttribute("open", "");
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  const boxes = [...document.querySelectorAll(".scroll")].map((box) => {
    const more = document.createElement("p");
    more.className = "more";
    more.textContent = "This table goes on to the right: scroll it sideways.";
    box.before(more);
    return { box, more };
  });
  const look = () => boxes.forEach(({ box, more }) => { more.hidden = box.scrollWidth <= box.clientWidth + 1; });
  addEventListener("resize", look);
  document.addEventListener("toggle", look, true);
  look();
})();

// Reading and enlarging the charts over time; without it the page is complete, only still.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

  const element = (name, attributes, parent) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  };
  const digits = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));
  const clock = (seconds) => {
    const two = (number) => String(Math.floor(number)).padStart(2, "0");
    const whole = `${two((seconds / 60) % 60)}:${two(seconds % 60)}`;
    if (seconds >= 3600) return `${Math.floor(seconds / 3600)}:${whole} h`;
    return seconds >= 60 ? `${whole} min` : `${Number(seconds.toFixed(2))} s`;
  };
  const time = (value, relative) => {
    if (value === null) return "–";
    if (relative) return `${digits(value)}×`;
    for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) if (value >= size) return `${digits(value / size)} ${unit}`;
    return `${Math.round(value)} ns`;
  };
  const rate = (value, relative) => (relative ? `${digits(value * 100)}%` : `${Math.round(value).toLocaleString("en")}/s`);

  function start(group) {
    const data = JSON.parse(document.getElementById(group.dataset.timeline).textContent);
    const charts = [...group.querySelectorAll("svg[role=img]")].map((svg) => {
      const plot = svg.querySelector("svg.plot");
      const [left, top, width, height] = plot.getAttribute("viewBox").split(" ").map(Number);
      const cross = element("line", { class: "cross", y1: top, y2: top + height, visibility: "hidden" }, svg);
      const picked = element("rect", { class: "picked", y: top, height, visibility: "hidden" }, svg);
      const ticks = element("g", {}, svg);
      return { svg, plot, left, top, width, height, cross, picked, ticks };
    });
    const bar = document.createElement("div");
    bar.className = "bar";
    const output = document.createElement("output");
    const HINT = "Point at a chart to read it; drag across it to enlarge that time.";
    output.textContent = HINT;
    bar.append(output);
    const button = (name, action) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = name;
      made.addEventListener("click", action);
      bar.append(made);
      return made;
    };
    let view = [0, data.end];
    const narrowest = data.end / Math.max(data.start.length, 1) * 4;
    const span = () => view[1] - view[0];
    const move = (share) => show(view[0] + span() * share, view[1] + span() * share);
    const buttons = [
      button("Enlarge", () => show(view[0] + span() / 4, view[1] - span() / 4)),
      button("Earlier", () => move(-0.5)),
      button("Later", () => move(0.5)),
      button("Whole run", () => show(0, data.end)),
    ];
    group.prepend(bar);

    function show(from, to) {
      const length = Math.min(Math.max(to - from, narrowest), data.end);
      const begin = Math.min(Math.max(from, 0), data.end - length);
      view = [begin, begin + length];
      const whole = length >= data.end * 0.999;
      buttons[0].disabled = length <= narrowest * 1.001;
      buttons[1].disabled = begin <= 0;
      buttons[2].disabled = view[1] >= data.end * 0.999;
      buttons[3].disabled = whole;
      for (const chart of charts) stretch(chart, whole);
    }

    function stretch(chart, whole) {
      const scale = chart.width / data.end;
      chart.plot.setAttribute("viewBox", `${chart.left + view[0] * scale} ${chart.top} ${span() * scale} ${chart.height}`);
      chart.svg.classList.toggle("zoomed", !whole);
      chart.ticks.replaceChildren();
      chart.cross.setAttribute("visibility", "hidden");
      if (whole) return;
      const step = STEPS.find((size) => span() / size <= chart.width / 90) || 86400;
      for (let at = Math.ceil(view[0] / step) * step; at <= view[1]; at += step) {
        const x = chart.left + ((at - view[0]) / span()) * chart.width;
        const label = element("text", { class: "axis mid", x, y: chart.top + chart.height + 17 }, chart.ticks);
        label.textContent = clock(at);
      }
    }

    const moment = (chart, event) => {
      const box = chart.svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * chart.svg.viewBox.baseVal.width;
      const share = Math.min(Math.max((x - chart.left) / chart.width, 0), 1);
      return view[0] + share * span();
    };
    const place = (chart, at) => chart.left + ((at - view[0]) / span()) * chart.width;

    function read(at) {
      let column = data.start.findLastIndex((from) => from <= at);
      if (column < 0) column = 0;
      const parts = data.operations.map((one) => `${one.name} ${rate(one.iops[column], data.relative)}, p50 ${time(one.p50[column], data.relative)}, ` +
        `p99 ${time(one.p99[column], data.relative)}, longest ${time(one.max[column], data.relative)}`);
      output.textContent = `At ${clock(at)}: ${parts.join(" · ")}`;
      for (const chart of charts) {
        const x = place(chart, at);
        chart.cross.setAttribute("x1", x);
        chart.cross.setAttribute("x2", x);
        chart.cross.setAttribute("visibility", "visible");
      }
    }

    for (const chart of charts) {
      let from = null;
      chart.svg.addEventListener("pointerdown", (event) => {
        if (event.pointerType === "mouse" && event.button === 0) from = moment(chart, event);
      });
      chart.svg.addEventListener("pointermove", (event) => {
        const at = moment(chart, event);
        read(at);
        if (from === null) return;
        const [left, right] = [place(chart, Math.min(from, at)), place(chart, Math.max(from, at))];
        chart.picked.setAttribute("x", left);
        chart.picked.setAttribute("width", right - left);
        chart.picked.setAttribute("visibility", "visible");
      });
      const end = (event) => {
        chart.picked.setAttribute("visibility", "hidden");
        if (from === null) return;
        const at = moment(chart, event);
        if (Math.abs(place(chart, at) - place(chart, from)) > 8) show(Math.min(from, at), Math.max(from, at));
        from = null;
      };
      chart.svg.addEventListener("pointerup", end);
      chart.svg.addEventListener("pointerleave", (event) => {
        end(event);
        output.textContent = HINT;
        for (const other of charts) other.cross.setAttribute("visibility", "hidden");
      });
      chart.svg.addEventListener("dblclick", () => show(0, data.end));
      chart.svg.addEventListener("mousedown", (event) => event.preventDefault());
    }
    show(0, data.end);
  }

  for (const group of document.querySelectorAll("[data-timeline]")) start(group);
})();

"use strict";
// Lines over the last minutes. A gap is null.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 240;
// Between marks of time, in seconds.
const STEPS = [10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400, 21_600, 86_400];
const UNITS = [[86_400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
const MARGIN = { left: 56, right: 12, top: 12, bottom: 26 };

function drawn(kind, attributes, text) {
  const element = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Four significant digits at most, without trailing zeros.
function shortNumber(value) {
  return String(Number(value.toPrecision(4)));
}

// Round values of an axis that begins at zero, a few of them.
function linear(top) {
  const raw = (top || 1) / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((nice) => nice * power >= raw) * power;
  const count = Math.max(1, Math.ceil((top || 1) / step - 1e-9));
  const ticks = Array.from({ length: count + 1 }, (_, at) => at * step);
  return { ticks, text: shortNumber, place: (value) => value / (count * step) };
}

// Powers of ten around what there is, told in a unit of so many times theirs.
function logarithmic(values, unit) {
  const there = values.length ? values : [unit];
  const least = Math.floor(Math.log10(Math.min(...there)));
  const most = Math.max(Math.ceil(Math.log10(Math.max(...there))), least + 1);
  const ticks = Array.from({ length: most - least + 1 }, (_, at) => 10 ** (least + at));
  return { ticks, text: (tick) => shortNumber(tick / unit), place: (value) => (Math.log10(value) - least) / (most - least) };
}

// A drawing of lines: [{ subject, kind, points: [[seconds, value | null]] }], seconds being before now.
// Lines of kind "bound" or "link" may be levels: { level }.
function chart(box, { label, unit, seconds, scale, lines }) {
  const width = Math.max(box.clientWidth, 280);
  const [right, bottom] = [width - MARGIN.right, HEIGHT - MARGIN.bottom];
  const svg = drawn("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label });
  const x = (second) => right - (second / seconds) * (right - MARGIN.left);
  const y = (value) => bottom - Math.min(1, Math.max(0, scale.place(value))) * (bottom - MARGIN.top);
  for (const tick of scale.ticks) {
    svg.append(drawn("line", { class: "grid", x1: MARGIN.left, x2: right, y1: y(tick), y2: y(tick) }));
    svg.append(drawn("text", { x: MARGIN.left - 8, y: y(tick) + 4, "text-anchor": "end" }, scale.text(tick)));
  }
  // As many as have room.
  const step = STEPS.find((step) => (step / seconds) * (right - MARGIN.left) >= 70) ?? seconds;
  for (let second = 0; second <= seconds; second += step) {
    const [size, name] = UNITS.find(([size]) => second % size === 0);
    const text = second === 0 ? "now" : `−${second / size} ${name}`;
    const anchor = second === 0 ? "end" : second === seconds ? "start" : "middle";
    svg.append(drawn("text", { x: x(second), y: HEIGHT - 8, "text-anchor": anchor }, text));
  }
  svg.append(drawn("text", { x: 4, y: HEIGHT - 8 }, unit));
  for (const line of lines) {
    if (line.level !== undefined) {
      const path = `M${MARGIN.left} ${y(line.level)}H${right}`;
      svg.append(drawn("path", { class: line.kind === "link" ? "link" : `bound subject-${line.subject}`, d: path }));
      continue;
    }
    let path = "";
    let joined = false;
    for (const [second, value] of line.points) {
      if (value === null) {
        joined = false;
        continue;
      }
      const place = `${x(second).toFixed(1)} ${y(value).toFixed(1)}`;
      // A point alone is drawn, too.
      path += joined ? `L${place}` : `M${place}h0`;
      joined = true;
    }
    svg.append(drawn("path", { class: `${line.kind ?? "series"} subject-${line.subject}`, d: path }));
  }
  box.replaceChildren(svg);
}

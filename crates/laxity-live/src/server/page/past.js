"use strict";
// The last hour, day and week, where a history is kept, and when promises were in danger.

// How often each is asked for, in ms.
const PAST_EVERY = { hour: 10_000, day: 60_000, week: 60_000 };
const SPAN_SECONDS = { hour: 3600, day: 86_400, week: 604_800 };
// As many moments are shown.
const MOST_MOMENTS = 12;

// The span that is looked at, what was heard of it, and when it was asked for.
let pastSpan = "hour";
let past = null;
let pastAsked = -Infinity;

async function lookBack() {
  if (performance.now() - pastAsked < PAST_EVERY[pastSpan]) return;
  pastAsked = performance.now();
  const span = pastSpan;
  try {
    const answer = await fetch(`past?${span}`, { signal: AbortSignal.timeout(8000) });
    const heard = answer.ok ? await answer.json() : null;
    if (span === pastSpan) past = heard;
  } catch {
    // What was heard last stays.
  }
}

function choosePast(span) {
  [pastSpan, past, pastAsked] = [span, null, -Infinity];
  lookBack().then(show);
}

// Lines of values over the past; a gap where nothing was recorded.
function pastPoints(found, of) {
  const lines = [];
  for (const [index, point] of found.points.entries()) {
    const before = found.points[index - 1];
    if (before && point.at_s - before.at_s > 1.5 * past.width_s) lines.push([past.until_s - before.at_s - past.width_s, null]);
    lines.push([Math.max(0, past.until_s - point.at_s), of(point)]);
  }
  return lines;
}

function showPast(figure, way) {
  const classes = past?.classes.filter((it) => it.way === way.way) ?? [];
  figure.hidden = !classes.length;
  if (figure.hidden) return;
  for (const button of figure.querySelectorAll("button")) {
    button.ariaPressed = String(button.value === pastSpan);
    button.onclick = () => choosePast(button.value);
  }
  const shown = way.classes.slice(0, MOST_LINES).map(({ name }) => classes.find((it) => it.name === name) ?? { points: [] });
  const seconds = SPAN_SECONDS[past.span];
  const delays = shown.flatMap((found, subject) => {
    const line = (of) => pastPoints(found, (point) => of(point) || null);
    const bounds = { subject, kind: "bound", points: line((point) => point.bound_ns) };
    return [bounds, { subject, points: line((point) => point.max_ns) }];
  });
  const times = delays.flatMap((line) => line.points.map(([, value]) => value)).filter((value) => value !== null);
  const unit = timeUnit(times);
  chart(figure.querySelector(".past-delays"), { label: "Largest delay against bound", unit: unit.name, seconds, scale: logarithmic(times, unit.nanos), lines: delays });
  const rates = shown.map((found, subject) => ({ subject, points: pastPoints(found, (point) => point.rate_bps / 1e6) }));
  rates.push({ kind: "link", level: way.rate_bps / 1e6 });
  chart(figure.querySelector(".past-rates"), { label: "Throughput", unit: "Mbit/s", seconds, scale: linear(way.rate_bps / 1e6), lines: rates });
}

function causeText(name, cause) {
  const share = `for ${cause.percent} % of its waiting`;
  switch (cause.kind) {
    case "contract": return "it sent more than its arrival curve";
    case "late": return `the link was ${time(cause.late_ns)} late`;
    case "class": return cause.class === name ? `its own packets were sent ${share}` : `${cause.class} was sent ${share}`;
    case "idle": return `nothing was sent ${share}`;
    default: return "what delayed it was not counted";
  }
}

function lasting(seconds) {
  const [size, unit] = [[86_400, "days"], [3600, "h"], [60, "min"], [1, "s"]].find(([size]) => seconds >= 2 * size) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${unit}`;
}

function momentText({ class: name, from_s: from, until_s: until, max_ns: max, bound_ns: bound, cause }) {
  const share = `${Math.round((100 * max) / bound)} % of ${time(bound)}`;
  const used = max > bound ? "took longer than its bound" : "came close to its bound";
  return `for ${lasting(Math.max(1, until - from))}: ${name} ${used}, ${share}: ${causeText(name, cause)}.`;
}

function showDanger(figure, way) {
  const moments = past ? past.moments.filter((it) => it.way === way.way) : (way.moments ?? []);
  figure.hidden = !moments.length;
  const rows = moments.slice(0, MOST_MOMENTS).map((moment) => {
    const row = document.createElement("li");
    row.classList.toggle("alarm", moment.max_ns > moment.bound_ns);
    const at = new Date(moment.from_s * 1000);
    const when = Object.assign(document.createElement("time"), { dateTime: at.toISOString(), textContent: at.toLocaleString() });
    row.append(when, `, ${momentText(moment)}`);
    return row;
  });
  const more = moments.length - rows.length;
  if (more > 0) rows.push(Object.assign(document.createElement("li"), { textContent: `And ${more} more before.` }));
  figure.querySelector("ol").replaceChildren(...rows);
}

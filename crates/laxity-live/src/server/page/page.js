"use strict";
// What a link is like, asked for once a second.

// What they show at least.
const LEAST_SPAN = 60;
// More remarks on single classes are too many to read.
const MOST_FATES = 8;
const NOTHING = "—";
// Whose shares are said in words; the others are little each.
const MOST_DELAYERS = 4;

// What was heard, oldest first: { at: seconds, status }. Of what the server remembers a status has only what charts draw.
let heard = [];

const TIMES = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]].map(([name, nanos]) => ({ name, nanos }));

// The unit of all times of a table or a chart: milliseconds, unless all are shorter or none is below a second.
function timeUnit(times) {
  const there = times.filter((nanos) => nanos > 0);
  const [least, most] = [Math.min(...there), Math.max(...there, 0)];
  const [seconds, millis] = TIMES;
  if (there.length && least >= seconds.nanos) return seconds;
  return (most && TIMES.slice(1).find(({ nanos }) => most >= nanos)) || millis;
}

// A time as a number of a unit: four digits, at most four of them behind the point unless there are fewer than two then.
function cellTime(nanos, unit) {
  if (nanos === null || nanos === undefined) return NOTHING;
  const value = nanos / unit.nanos;
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(value || 1000)));
  return value.toFixed(Math.min(decimals, Math.max(4, decimals - 2)));
}

// A time with a unit of its own.
function time(nanos) {
  const unit = TIMES.find((unit) => nanos >= unit.nanos) ?? TIMES.at(-1);
  return `${shortNumber(nanos / unit.nanos)} ${unit.name}`;
}

function rate(bits) {
  const [name, size] = [["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3], ["bit/s", 1]].find(([, size]) => bits >= size) || ["bit/s", 1];
  return `${shortNumber(bits / size)} ${name}`;
}

function uptime(nanos) {
  const seconds = Math.floor(nanos / 1e9);
  const two = (value) => String(value).padStart(2, "0");
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

const sum = (counts) => Object.values(counts).reduce((all, count) => all + count, 0);

const misses = (it) => (it.deadline_ns || it.bound_ns ? Math.max(it.deadline_misses, it.bound_misses) : null);

// Whether some of those broke a promise: a proved one that its sender has not forfeited and that no lateness excuses, or one that is not proved.
const isBroken = (it) => it.broken > 0 || (!it.bound_ns && !it.forfeit && misses(it) > 0);

// Whether packets were dropped for another reason than that their sender broke its contract.
const hasLost = (it) => Object.keys(it.dropped).some((reason) => reason !== "contract");

// The class of that name in an earlier status, unless it counts anew since.
function same(status, way, it) {
  const found = status.ways.find((other) => other.way === way.way)?.classes.find((other) => other.name === it.name);
  return found && found.sent <= it.sent ? found : null;
}

// How many were at most as long as an edge; behind the last that is told all are.
const countBelow = (delay, at) => delay?.at_most[at] ?? delay?.count ?? 0;

// What 99 of 100 packets were delayed at most that are in one distribution and not in an earlier one:
// between the edges of buckets they are taken for evenly spread.
function recentP99(before, now) {
  const all = now ? now.count - (before?.count ?? 0) : 0;
  if (all <= 0) return null;
  const rank = Math.ceil(0.99 * all);
  let [from, counted] = [0, 0];
  for (const [at, edge] of EDGES.entries()) {
    const below = countBelow(now, at) - countBelow(before, at);
    if (below >= rank) return from + (Math.max(0, Math.min(edge, now.max) - from) * (rank - counted)) / (below - counted);
    [from, counted] = [edge, below];
  }
  return now.max;
}

function cell(row, text, alarm) {
  const made = row.insertCell();
  made.textContent = text;
  if (alarm) made.className = "alarm";
  return made;
}

// The dashes of a class over its part of a bar, however wide that is.
function dashes() {
  const line = drawn("svg", { width: "100%", height: 14 });
  line.append(drawn("path", { class: "series", d: "M4 7H9999" }));
  return line;
}

// The line by which charts draw a class, in its colour and its dashes.
function swatch(at) {
  const line = drawn("svg", { class: "swatch", width: 40, height: 10, viewBox: "0 0 40 10", "aria-hidden": "true" });
  if (at < MOST_LINES) line.append(drawn("path", { class: `series subject-${at}`, d: "M2 5H38" }));
  return line;
}

function fillTable(table, way, before, seconds) {
  const body = table.querySelector("tbody");
  const unit = timeUnit(way.classes.flatMap((it) => [it.delay_ns?.max, it.bound_ns]));
  table.querySelector(".unit").textContent = unit.name;
  body.replaceChildren();
  way.classes.forEach((it, at) => {
    const row = body.insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.append(swatch(at), it.name);
    row.append(head);
    const { delay_ns: delay, bound_ns: bound } = it;
    const time = (field) => cell(row, cellTime(delay?.[field], unit), isBroken(it) && bound && delay?.[field] > bound);
    cell(row, misses(it) ?? NOTHING, isBroken(it)).title = it.forfeit ? "it broke its arrival curve" : misses(it) && !isBroken(it) ? "no later than the link was" : "";
    for (const field of ["p99", "max"]) time(field);
    cell(row, cellTime(bound, unit));
    for (const field of ["p50", "p99_9"]) time(field);
    const bytes = it.bytes_sent - ((before && same(before, way, it)?.bytes_sent) || 0);
    cell(row, before ? shortNumber((bytes * 8e-6) / seconds) : NOTHING);
    cell(row, sum(it.dropped), bound && hasLost(it)).title = reasons(it.dropped);
    cell(row, it.queued ?? NOTHING);
    cell(row, it.arrived);
    cell(row, it.sent);
  });
}

// Who delayed a class between two statuses, the greatest share first: [class or null, share]. Null if that is not counted.
function delayers(it, old) {
  if (!it.waits || !old?.waits) return null;
  const sent = Object.entries(it.waits.sent_ns).map(([name, nanos]) => [name, nanos - (old.waits.sent_ns[name] ?? 0)]);
  const times = [...sent, [null, it.waits.idle_ns - old.waits.idle_ns]].filter(([, nanos]) => nanos > 0).sort((a, b) => b[1] - a[1]);
  const all = times.reduce((sum, [, nanos]) => sum + nanos, 0);
  return times.map(([name, nanos]) => [name, nanos / all]);
}

function showDelayers(figure, way, before) {
  const counted = way.classes.map((it) => [it, before && delayers(it, same(before, way, it))]).filter(([, found]) => found);
  figure.hidden = !counted.length;
  const waited = counted.filter(([, found]) => found.length).slice(0, MOST_LINES);
  const rows = waited.map(([it, found]) => {
    const row = document.createElement("li");
    const bar = document.createElement("span");
    bar.className = "bar";
    bar.ariaHidden = "true";
    for (const [name, share] of found) {
      const subject = way.classes.findIndex((other) => other.name === name);
      const part = bar.appendChild(document.createElement("span"));
      part.className = name === null ? "part idle" : subject < MOST_LINES ? `part subject-${subject}` : "part";
      part.style.flexGrow = share;
      if (0 <= subject && subject < MOST_LINES) part.append(dashes());
    }
    const shares = found.slice(0, MOST_DELAYERS).map(([name, share]) => `${name ?? "nothing sent"} ${Math.round(share * 100)} %`);
    const parts = [["b", it.name], ["span", shares.join(", ")]].map(([kind, text]) => Object.assign(document.createElement(kind), { textContent: text }));
    row.append(parts[0], bar, parts[1]);
    return row;
  });
  if (!rows.length) rows.push(Object.assign(document.createElement("li"), { textContent: "No packet waited." }));
  figure.querySelector("ol").replaceChildren(...rows);
}

// The points of a line: what `of` says of each two statuses that follow one another.
function points(way, name, of) {
  const now = heard.at(-1).at;
  return heard.slice(1).map(({ at, status }, index) => {
    const before = heard[index];
    const find = (it) => it.ways.find((other) => other.way === way.way)?.classes.find((other) => other.name === name);
    const [last, old] = [find(status), find(before.status)];
    const near = now - before.at > FINE - SPARSE ? 2.5 * SPARSE : 5;
    const value = last && old && at - before.at < near ? of(old.sent <= last.sent ? old : null, last, at - before.at) : null;
    return [now - at, value];
  });
}

// How far back charts go now: whole minutes.
function span() {
  const since = heard.at(-1).at - heard[0].at;
  return Math.min(SPAN, Math.max(LEAST_SPAN, Math.ceil(since / 60) * 60));
}

function drawDelays(box, way) {
  const shown = way.classes.slice(0, MOST_LINES);
  const lines = shown.flatMap(({ name, bound_ns: bound }, subject) => {
    const of = (old, last) => {
      const p99 = recentP99(old?.delay_ns, last.delay_ns);
      return p99 === null ? null : Math.max(p99, 1);
    };
    const line = { subject, points: points(way, name, of) };
    return bound ? [{ subject, kind: "bound", level: bound }, line] : [line];
  });
  const values = lines.flatMap((line) => (line.level ? [line.level] : line.points.map(([, value]) => value))).filter((value) => value !== null);
  const unit = timeUnit(values);
  chart(box, { label: "Delay against bound", unit: unit.name, seconds: span(), scale: logarithmic(values, unit.nanos), lines });
}

function drawRates(box, way, network) {
  const lines = way.classes.slice(0, MOST_LINES).map(({ name }, subject) => {
    const of = (old, last, seconds) => ((last.bytes_sent - (old?.bytes_sent ?? 0)) * 8e-6) / seconds;
    return { subject, points: points(way, name, of) };
  });
  const most = Math.max(...lines.flatMap((line) => line.points.map(([, value]) => value ?? 0)));
  // Routers have many links.
  const link = network ? most : way.rate_bps / 1e6;
  if (!network) lines.push({ kind: "link", level: link });
  chart(box, { label: "Throughput", unit: "Mbit/s", seconds: span(), scale: linear(link), lines });
}

const packets = (count) => (count === 1 ? "1 packet" : `${count} packets`);

// What there is to say of packets that are late.
function lateness(way) {
  const broken = `${packets(way.broken)} took longer than ${way.broken === 1 ? "its" : "their"} bound`;
  const isBound = way.classes.some((it) => it.bound_ns);
  if (way.watched) return [isBound && (way.broken ? `${broken}.` : "No packet took longer than its bound.")];
  if (!way.late) return [];
  const kept = !isBound ? null : way.held_up ? "Every packet was handed over within its bound and that, but took longer." : "Every packet kept its bound and that.";
  const held = way.held_ns >= 1e6 && `Frames waited up to ${time(way.held_ns)} in the interface's own queue, where no bound holds.`;
  return [`Waking up was at most ${time(way.late.max)} late.`, way.broken ? `${broken} and that.` : kept, held];
}

// What is no longer what it was when it came: demoted packets, and dropped ones by reason.
function fates(way) {
  const broke = way.watched ? [] : way.classes.filter((it) => it.nonconforming).map((it) => `${packets(it.nonconforming)} of ${it.name} broke its arrival curve.`);
  for (const it of way.classes.filter((it) => it.forfeit)) {
    const late = misses(it) ? `: ${packets(misses(it))} beyond its bound ${misses(it) === 1 ? "is" : "are"} no broken promise` : "";
    broke.push(`${it.name} is promised nothing any more, as what broke its curve is only counted${late}.`);
  }
  const demoted = way.classes.filter((it) => it.demoted).map((it) => `${packets(it.demoted)} of ${it.name} demoted to best effort.`);
  if (way.watched) return demoted;
  const dropped = way.classes.filter((it) => sum(it.dropped)).map((it) => `${it.name}: ${reasons(it.dropped)} dropped.`);
  const said = [...dropped, ...broke, ...demoted];
  const more = said.length - MOST_FATES;
  return more > 0 ? [...said.slice(0, MOST_FATES), `And ${more} more.`] : said;
}

const reasons = (counts) => Object.entries(counts).map(([why, count]) => `${count} ${why}`).join(", ");

// The state of routers: frames that were skipped, and whether packets in the others kept what is promised.
function ofFrames(network) {
  if (!network?.frames) return [];
  const { frames, kept } = network;
  const of = `Of ${frames.passed} frames ${frames.skipped} were skipped at some port.`;
  return [of, kept ? "Every packet that met none of them kept its bound and its jitter." : "Packets that met none of them broke their bound or their jitter."];
}

// What there is to know of figures that were measured from outside.
function remarks(way) {
  if (!way.watched) return [];
  const { busiest_bps: busiest, unclassed, unpaired, alike } = way.watched;
  const all = (field) => way.classes.reduce((sum, it) => sum + (it.watched?.[field] ?? 0), 0);
  const counted = [
    [all("pending"), "not left yet"],
    [way.classes.reduce((sum, it) => sum + it.nonconforming, 0), "beyond the arrival curve of their class"],
    [unclassed, "of no class"],
    [unpaired, "left and not seen to arrive"],
    [alike, "left while another of the same content waited"],
  ];
  const shown = counted.filter(([count]) => count > 0).map(([count, what]) => `${packets(count)} ${what}.`);
  return [`At the busiest, ${rate(busiest)} left for 100 ms.`, ...shown];
}

// A sentence in which a plan's words stand between backticks.
function withCode(text) {
  return text.split("`").map((part, at) => (at % 2 ? Object.assign(document.createElement("code"), { textContent: part }) : part));
}

function showWay(section, way, before, seconds, { network, promised }) {
  const at = network ? "" : ` at ${rate(way.rate_bps)}`;
  section.querySelector("h2").textContent = `${way.way}: ${way.scheduler}${at}`;
  const isNamed = way.title && way.title !== document.querySelector("h1").textContent;
  const state = [isNamed && `${way.title}.`, ...lateness(way), ...ofFrames(network), ...remarks(way), ...fates(way)];
  if (way.classes.length > MOST_LINES) state.push(`Charts show the first ${MOST_LINES} of ${way.classes.length} classes.`);
  const note = section.querySelector(".state");
  note.textContent = state.filter(Boolean).join(" ");
  note.classList.toggle("alarm", way.broken > 0 || way.held_up || network?.kept === false);
  const advice = section.querySelector(".advice");
  advice.replaceChildren(...withCode(way.advice ?? ""));
  advice.hidden = !way.advice;
  if (way.watched) {
    section.querySelector(".gone").textContent = "Lost";
    section.querySelector(".measure").textContent = "from one tap to the other";
  }
  fillTable(section.querySelector("table.classes"), way, before, seconds);
  showDelayers(section.querySelector(".delayers"), way, before);
  showPromised(section.querySelector(".promised"), way, promised);
  showTalkers(section.querySelector(".talkers"), way);
  drawDelays(section.querySelector(".delays .wide"), way);
  drawRates(section.querySelector(".rates .wide"), way, network);
  showDanger(section.querySelector(".danger"), way);
  showPast(section.querySelector(".past"), way);
}

function showFacts(status) {
  const reloads = status.reloads_refused ? `${status.reloads}, ${status.reloads_refused} refused` : status.reloads;
  const facts = {
    Interfaces: status.interfaces.map((it) => (it.up === false ? `${it.name} (down)` : it.name)).join(status.network ? ", " : " → "),
    "At work for": uptime(status.uptime_ns),
    "Real-time priority": status.real_time === undefined ? undefined : status.real_time ? "yes" : "no",
    Reloads: reloads,
    Laxity: status.version,
  };
  const list = document.querySelector(".facts");
  list.replaceChildren();
  for (const [name, value] of Object.entries(facts).filter(([, value]) => value !== undefined)) {
    const pair = document.createElement("div");
    for (const [kind, text] of [["dt", name], ["dd", value]]) pair.appendChild(document.createElement(kind)).textContent = text;
    list.append(pair);
  }
  const lost = status.interfaces.filter((it) => sum(it.lost) > 0);
  const losses = lost.map((it) => `Lost at ${it.name}: ${reasons(it.lost)}.`);
  for (const { name, unseen } of status.interfaces) if (unseen) losses.push(`${unseen} frames at ${name} passed unseen.`);
  if (status.events_lost) losses.push(`${status.events_lost} events came too fast to be counted.`);
  if (status.connections_unheard) losses.push(`Connections changed faster than was heard (${status.connections_unheard} times): they were read anew.`);
  document.querySelector("#losses").textContent = losses.join(" ");
}

function show() {
  const { at, status } = heard.at(-1);
  const last = heard.at(-2);
  const before = last?.status.isPart ? undefined : last;
  const name = status.network ? status.network.nodes.join(", ") : status.interfaces.map((it) => it.name).join(" → ");
  document.title = `${name} – Laxity`;
  document.querySelector("h1").textContent = status.ways[0]?.title || "Laxity";
  showFacts(status);
  const ways = document.querySelector("#ways");
  while (ways.children.length > status.ways.length) ways.lastChild.remove();
  while (ways.children.length < status.ways.length) ways.append(document.querySelector("#way").content.firstElementChild.cloneNode(true));
  status.ways.forEach((way, index) => showWay(ways.children[index], way, before?.status, before && at - before.at, status));
}

// What there was to see before this page.
async function remember() {
  try {
    const answer = await fetch("history", { signal: AbortSignal.timeout(8000) });
    if (answer.ok) heard = (await answer.json()).map((status) => ({ at: status.uptime_ns / 1e9, status: { ...status, isPart: true } }));
  } catch {
    // It is as if there was nothing before.
  }
}

// Keeps every status of the last minutes, and few of those before.
function thin(now) {
  const kept = [];
  for (const it of heard.filter((it) => it.at >= now - SPAN)) {
    if (it.at >= now - FINE || !kept.length || it.at - kept.at(-1).at >= SPARSE) kept.push(it);
  }
  heard = kept;
}

async function look() {
  try {
    const answer = await fetch("status", { signal: AbortSignal.timeout(8000) });
    if (!answer.ok) throw new Error(await answer.text());
    const status = await answer.json();
    const at = status.uptime_ns / 1e9;
    // Another process, or the same answer once more.
    if (heard.length && at < heard.at(-1).at) heard = [];
    if (!heard.length || at > heard.at(-1).at) heard.push({ at, status });
    thin(at);
    document.body.classList.remove("gone");
    await lookBack();
    show();
    document.body.dataset.seen = heard.length;
  } catch (error) {
    document.body.classList.add("gone");
    document.querySelector("#losses").textContent = `Nothing is heard any more: ${error.message}`;
  }
  setTimeout(look, EVERY);
}

addEventListener("resize", () => heard.length && show());
remember().then(look);

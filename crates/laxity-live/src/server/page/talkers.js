"use strict";
// Hosts and flows that fill a link.

// As many of each are shown; the status has more.
const MOST_TALKERS = 10;

const percent = (share) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

// An address and port, or the name of the address if that is known.
function end(names, address, port) {
  const name = names?.[address] ?? (port !== undefined && address.includes(":") ? `[${address}]` : address);
  return port === undefined ? name : `${name}:${port}`;
}

// A flow's ends, which a small screen shows below one another.
function flowLabel(names, flow) {
  if (!flow.protocol) return ["not IP"];
  const to = Object.assign(document.createElement("span"), { className: "to", textContent: `→ ${end(names, flow.destination, flow.destination_port)}` });
  return [`${flow.protocol} ${end(names, flow.source, flow.source_port)} `, to];
}

function fillTalkers(body, way, talkers, rows) {
  body.replaceChildren();
  for (const [label, { class: name, bytes, packets, flows }] of rows.slice(0, MOST_TALKERS)) {
    const row = body.insertRow();
    const head = Object.assign(document.createElement("th"), { scope: "row" });
    head.append(...label);
    row.append(head);
    const bits = (bytes * 8e9) / talkers.over_ns;
    const subject = way.classes.findIndex((it) => it.name === name);
    const belongs = cell(row, name);
    belongs.className = "class";
    const swatch = document.createElement("span");
    swatch.className = subject >= 0 && subject < MOST_LINES ? `swatch subject-${subject}` : "swatch";
    belongs.prepend(swatch);
    cell(row, shortNumber(bits / 1e6));
    cell(row, percent(bits / way.rate_bps));
    cell(row, packets);
    if (flows !== undefined) cell(row, flows);
  }
}

function showTalkers(figure, way) {
  const { talkers } = way;
  figure.hidden = !talkers?.flows.length;
  if (figure.hidden) return;
  const { names } = talkers;
  fillTalkers(figure.querySelector(".hosts tbody"), way, talkers, talkers.hosts.map((it) => [[end(names, it.address)], it]));
  fillTalkers(figure.querySelector(".flows tbody"), way, talkers, talkers.flows.map((it) => [flowLabel(names, it), it]));
  figure.querySelector(".hosts").hidden = !talkers.hosts.length;
  const short = [
    [talkers.unknown_bytes, "was sent of flows that are not known any more"],
    [talkers.missing_bytes, "may be missing at each, as there are so many"],
  ];
  const said = short.filter(([bytes]) => bytes > 0).map(([bytes, what]) => `${rate((bytes * 8e9) / talkers.over_ns)} ${what}.`);
  figure.querySelector(".short").textContent = said.join(" ");
}

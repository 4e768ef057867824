"use strict";
// Reservations of a link, or along the paths of a network.

// A time of the day, with the date unless it is today.
function clock(nanos, otherwise) {
  if (nanos === null || nanos === undefined) return otherwise;
  const [then, now] = [new Date(nanos / 1e6), new Date()];
  const time = then.toLocaleTimeString();
  return then.toDateString() === now.toDateString() ? time : `${then.toLocaleDateString()} ${time}`;
}

// Reservations are of the way out, or of routers.
function showPromised(figure, way, promised) {
  figure.hidden = !promised || !["out", "network"].includes(way.way);
  if (figure.hidden) return;
  const body = figure.querySelector("tbody");
  body.replaceChildren();
  for (const it of promised.reservations) {
    const row = body.insertRow();
    const head = Object.assign(document.createElement("th"), { scope: "row", textContent: it.name });
    row.append(head);
    cell(row, it.state);
    cell(row, it.state === "ahead" ? clock(it.from_ns) : NOTHING);
    cell(row, clock(it.held_until_ns ?? it.until_ns, NOTHING));
  }
  figure.querySelector(".wide").hidden = !promised.reservations.length;
  const all = sum(promised.stages);
  const more = all > promised.reservations.length ? ` The first ${promised.reservations.length} of ${all} are shown.` : "";
  const at = promised.at ? ` at ${promised.at}, where the least is left` : "";
  const left = Math.max(0, promised.rate_bps - promised.promised_bps);
  figure.querySelector("figcaption").textContent =
    `${rate(promised.promised_bps)} of ${rate(promised.rate_bps)} are promised in the long run${at}; ${rate(left)} are left.${more}`;
}

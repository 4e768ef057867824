// Draws a timeline and moves over it. Nothing here grows with the number of packets: what is
// narrower than a pixel is drawn as the share of time that it takes (ClassIndex).

const OVERVIEW = 14;
const AXIS = 46;
const LANE = { label: 18, flags: 12, band: 30, bar: 20, queue: 56, gap: 10 };
const LANE_HEIGHT = Object.values(LANE).reduce((sum, part) => sum + part);
// More lanes are shown on the path of a packet only.
const MOST_LANES = 6;
// In nanoseconds; a view is never shorter.
const SHORTEST = 100;
// Names and deadlines are drawn where packets are this many pixels apart.
const ROOM = 6;

class View {
  constructor(root, data) {
    Object.assign(this, { root, data, from: data.begin, to: data.end });
    this.canvas = root.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.overview = document.createElement("canvas");
    this.path = [];
    this.readColours();
    this.showLanes();
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.readColours();
      this.resize();
    });
  }

  readColours() {
    const style = getComputedStyle(this.root);
    const colour = (name) => style.getPropertyValue(name).trim();
    [this.paper, this.ink, this.soft, this.line, this.tint, this.good, this.bad] =
      ["--paper", "--ink", "--soft", "--line", "--tint", "--good", "--bad"].map(colour);
    this.colours = this.data.classes.map(() => this.soft);
    for (const patch of this.root.querySelectorAll(".legend .patch")) this.colours[patch.dataset.cls] = getComputedStyle(patch).backgroundColor;
    const light = (colour) => colour.match(/\d+/g).slice(0, 3).reduce((sum, part, at) => sum + part * [0.3, 0.59, 0.11][at], 0);
    this.inks = this.colours.map((colour) => (colour.startsWith("rgb") && light(colour) > 110 ? "#000" : "#fff"));
    this.hatch = this.pattern();
  }

  // Oblique lines, for stretches of time that were left out.
  pattern() {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const context = tile.getContext("2d");
    context.fillStyle = this.tint;
    context.fillRect(0, 0, 8, 8);
    context.strokeStyle = this.soft;
    context.lineWidth = 0.7;
    context.stroke(new Path2D("M0 8L8 0M-2 2L2 -2M6 10L10 6"));
    return this.context.createPattern(tile, "repeat");
  }

  // The lanes of the selected packet's path, else the busiest ones.
  showLanes() {
    const { lanes, sent } = this.data;
    const onPath = this.path.map((row) => lanes[sent.output[row]]);
    if (lanes.length <= MOST_LANES && !onPath.length) this.lanes = lanes;
    else if (onPath.length) this.lanes = [...new Set(onPath)];
    else this.lanes = [...lanes].sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, MOST_LANES);
    this.canvas.style.height = `${AXIS + this.lanes.length * LANE_HEIGHT}px`;
  }

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (width < 1) return;
    [this.width, this.scale] = [Math.floor(width), devicePixelRatio];
    this.canvas.width = Math.round(width * this.scale);
    this.canvas.height = Math.round(height * this.scale);
    this.columns = new Float32Array(this.width * this.data.classes.length);
    this.base = new Float32Array(this.width);
    this.context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    this.context.font = "12px system-ui, sans-serif";
    this.drawOverview();
    this.draw();
  }

  invalidate() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw();
    });
  }

  x(time) {
    return ((time - this.from) / (this.to - this.from)) * this.width;
  }

  time(x) {
    return this.from + (x / this.width) * (this.to - this.from);
  }

  // Shows a stretch of time, or as much of it as there is.
  show(from, to) {
    const { begin, end } = this.data;
    const length = Math.min(Math.max(to - from, SHORTEST), end - begin);
    this.from = Math.min(Math.max(from, begin), end - length);
    this.to = this.from + length;
    this.invalidate();
  }

  zoom(factor, x = this.width / 2) {
    const time = this.time(x);
    this.show(time - (time - this.from) * factor, time + (this.to - time) * factor);
  }

  pan(share) {
    const way = (this.to - this.from) * share;
    this.show(this.from + way, this.to + way);
  }

  // The time of all lanes together, drawn once: what is shown is marked on it.
  drawOverview() {
    const { context, from, to, overview } = this;
    [overview.width, overview.height] = [this.canvas.width, OVERVIEW * this.scale];
    this.context = overview.getContext("2d");
    this.context.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    [this.from, this.to] = [this.data.begin, this.data.end];
    const lanes = this.data.lanes;
    const busiest = lanes.reduce((a, b) => (b.to - b.from > a.to - a.from ? b : a));
    this.drawStack(busiest, 0, OVERVIEW, "busyBefore", 1);
    this.drawGaps(0, OVERVIEW);
    Object.assign(this, { context, from, to });
  }

  draw() {
    if (!this.width) return;
    const { context, data, width } = this;
    context.clearRect(0, 0, width, this.canvas.height);
    context.drawImage(this.overview, 0, 0, width, OVERVIEW);
    this.drawWindow();
    this.drawAxis();
    this.lanes.forEach((lane, place) => {
      const top = AXIS + place * LANE_HEIGHT;
      const band = top + LANE.label + LANE.flags;
      const queue = band + LANE.band + LANE.bar;
      this.text(data.outputs[lane.output], 0, top + 13, data.is_network ? this.ink : this.soft);
      const [first, last] = lane.rows(this.from, this.to);
      context.fillStyle = this.tint;
      context.fillRect(0, band, width, LANE.band);
      if (last - first > width) this.drawStack(lane, band, LANE.band, "busyBefore", 1);
      else this.drawBlocks(lane, first, last, band);
      this.drawQueue(lane, queue);
      this.drawDrops(lane, band - 7);
      this.drawGaps(band, LANE.band + LANE.bar + LANE.queue);
    });
    this.drawSelected();
  }

  drawWindow() {
    const { context, data, width } = this;
    const x = (time) => ((time - data.begin) / (data.end - data.begin)) * width;
    const [left, right] = [x(this.from), x(this.to)];
    context.strokeStyle = this.ink;
    context.lineWidth = 2;
    context.strokeRect(left + 1, 1, Math.max(3, right - left) - 2, OVERVIEW - 2);
  }

  drawAxis() {
    const { context } = this;
    const least = ((this.to - this.from) * 110) / this.width;
    let step = 10 ** Math.floor(Math.log10(least));
    step *= [1, 2, 5, 10].find((factor) => step * factor >= least);
    const digits = Math.max(0, 9 - Math.floor(Math.log10(step)));
    for (let time = Math.ceil(this.from / step) * step; time <= this.to; time += step) {
      const x = Math.round(this.x(time));
      context.fillStyle = this.line;
      context.fillRect(x, AXIS - 10, 1, this.lanes.length * LANE_HEIGHT);
      if (x < this.width - 70) this.text(`${(time / 1e9).toFixed(digits)} s`, x + 4, AXIS - 14, this.soft);
    }
  }

  text(text, x, y, colour) {
    this.context.fillStyle = colour;
    this.context.fillText(text, x, y);
  }

  // Transmissions one by one. Those that the selected packet did not wait for stay in the back.
  drawBlocks(lane, first, last, top) {
    const { context, colours, data } = this;
    const { sent, classes } = data;
    const chosen = this.path.find((row) => row >= lane.from && row < lane.to);
    const isFew = (last - first) * ROOM < this.width;
    for (let row = first; row < last; row++) {
      const [left, right] = [this.x(sent.start[row]), this.x(sent.end[row])];
      const cls = sent.cls[row];
      const isFar = chosen !== undefined && (sent.end[row] <= sent.arrival[chosen] || row > chosen);
      context.globalAlpha = isFar ? 0.35 : 1;
      context.fillStyle = colours[cls];
      const gap = right - left > 4 ? 1 : 0;
      context.fillRect(left, top, Math.max(right - left - gap, 0.6), LANE.band);
      const room = Math.min(right, this.width) - Math.max(left, 0);
      if (isFew && room > 40 && !isFar) this.label(classes[cls].name, Math.max(left, 0) + 5, top + 19, room - 10, this.inks[cls]);
      if (isFew && !Number.isNaN(sent.due[row])) this.drawFlag(row, top);
    }
    context.globalAlpha = 1;
  }

  // A text, if there is room for it or for most of it.
  label(text, x, y, room, colour) {
    const width = this.context.measureText(text).width;
    if (width <= room) this.text(text, x, y, colour);
    else if (room > 50) this.text(`${text.slice(0, Math.floor((text.length * room) / width) - 1)}…`, x, y, colour);
  }

  // When a packet is due, as a flag above what is sent; a filled one if it was late.
  drawFlag(row, top) {
    const { context, data, colours } = this;
    const { sent } = data;
    const x = this.x(sent.due[row]);
    context.beginPath();
    context.moveTo(x - 4, top - 10);
    context.lineTo(x + 4, top - 10);
    context.lineTo(x, top - 2);
    context.closePath();
    const isLate = data.arrivalAtEnd([row]) > sent.due[row];
    context.fillStyle = isLate ? this.bad : colours[sent.cls[row]];
    context.fill();
  }

  // The shares of classes in each column of pixels, one above the other. `most` is as high as the
  // lane; else the largest sum of a column is. Returns that sum.
  drawStack(lane, top, height, measure, most) {
    const { context, width, base, columns } = this;
    const total = this.sum(lane, measure);
    const scale = height / (most ?? Math.max(total, 1));
    base.fill(top + height);
    lane.classes.forEach((_, cls) => {
      if (!this.isPresent[cls]) return;
      context.fillStyle = this.colours[cls];
      for (let x = 0; x < width; x++) {
        const part = Math.min(columns[cls * width + x] * scale, base[x] - top);
        if (part < 0.05) continue;
        base[x] -= part;
        context.fillRect(x, base[x], 1, part);
      }
    });
    return total;
  }

  // Fills `columns` with the mean of a measure over each column of pixels, class by class, and
  // returns the largest sum of a column.
  sum(lane, measure) {
    const { width, base, columns, from, to } = this;
    const step = (to - from) / width;
    base.fill(0);
    this.isPresent ??= new Uint8Array(this.data.classes.length);
    lane.classes.forEach((index, cls) => {
      let before = index[measure](from);
      this.isPresent[cls] = index[measure](to) > before ? 1 : 0;
      if (!this.isPresent[cls]) return;
      for (let x = 0; x < width; x++) {
        const now = index[measure](from + (x + 1) * step);
        columns[cls * width + x] = (now - before) / step;
        base[x] += columns[cls * width + x];
        before = now;
      }
    });
    return base.reduce((most, value) => Math.max(most, value), 0);
  }

  drawQueue(lane, top) {
    const { context, width } = this;
    const most = this.drawStack(lane, top, LANE.queue, "waitedBefore");
    context.fillStyle = this.line;
    context.fillRect(0, top + LANE.queue, width, 1);
    if (most > 0) this.note(`${Number(most.toPrecision(2))} waiting`, 2, top + 11);
  }

  // A text that can be read over anything.
  note(text, x, y, colour = this.soft) {
    const { context } = this;
    context.globalAlpha = 0.8;
    context.fillStyle = this.paper;
    context.fillRect(x - 2, y - 11, context.measureText(text).width + 4, 15);
    context.globalAlpha = 1;
    this.text(text, x, y, colour);
  }

  // A cross for each packet that was dropped, or for all that would be on top of each other.
  drawDrops(lane, y) {
    const { context, data } = this;
    const { unsent } = data;
    context.lineWidth = 2;
    let beyond = -Infinity;
    for (let row = lane.unsentFrom; row < lane.unsentTo; row++) {
      const x = this.x(unsent.end[row]);
      if (!unsent.reason[row] || x < 0 || x > this.width || Math.abs(x - beyond) < 4) continue;
      beyond = x;
      context.strokeStyle = this.colours[unsent.cls[row]];
      context.beginPath();
      context.moveTo(x - 4, y - 4);
      context.lineTo(x + 4, y + 4);
      context.moveTo(x - 4, y + 4);
      context.lineTo(x + 4, y - 4);
      context.stroke();
    }
  }

  drawGaps(top, height) {
    for (const [from, to] of this.data.gaps) {
      if (to < this.from || from > this.to) continue;
      const [left, right] = [Math.max(0, this.x(from)), Math.min(this.width, this.x(to))];
      this.context.fillStyle = this.hatch;
      this.context.fillRect(left, top, right - left, height);
      if (right - left > 130 && height > OVERVIEW) this.note("packets left out", left + 8, top + 20);
    }
  }

  // The selected packet on each lane: what was sent while it waited, and its own transmission.
  drawSelected() {
    const { context } = this;
    const { sent, lanes, outputs } = this.data;
    this.path.forEach((row, at) => {
      const lane = lanes[sent.output[row]];
      const top = AXIS + this.lanes.indexOf(lane) * LANE_HEIGHT + LANE.label;
      this.drawWait(lane, row, top + LANE.flags + LANE.band + 3);
      if (at > 0) this.drawWay(this.path[at - 1], row, top + LANE.flags + LANE.band + 3);
      this.drawEnds(row, top, at === this.path.length - 1, context.measureText(outputs[lane.output]).width);
    });
  }

  drawWait(lane, row, top) {
    const { context, colours } = this;
    const { sent } = this.data;
    const [left, start, right] = [sent.arrival[row], sent.start[row], sent.end[row]].map((time) => this.x(time));
    const height = LANE.bar - 6;
    const [first] = lane.rows(Math.max(sent.arrival[row], this.from), this.to);
    const last = Math.min(row, lane.rows(this.from, this.to)[1]);
    const piece = (other) => {
      const from = Math.max(this.x(sent.start[other]), left);
      const to = Math.min(this.x(sent.end[other]), start);
      context.fillStyle = colours[sent.cls[other]];
      if (to > from) context.fillRect(from, top, Math.max(to - from, 1), height);
    };
    if (last - first > 2 * this.width) {
      // One of those in each column of pixels stands for all.
      for (let x = Math.max(0, left); x < Math.min(start, this.width); x++) piece(lane.nearest(this.time(x)));
    } else {
      for (let other = first; other < last; other++) piece(other);
    }
    context.strokeStyle = this.ink;
    context.lineWidth = 1;
    context.strokeRect(left, top, Math.max(start - left, 0), height);
    context.fillStyle = colours[sent.cls[row]];
    context.fillRect(start, top, Math.max(right - start, 1.5), height);
    context.lineWidth = 2;
    context.strokeRect(start, top, Math.max(right - start, 1.5), height);
    context.strokeRect(start, top - LANE.band - 3, Math.max(right - start, 1.5), LANE.band);
    const wait = sent.start[row] - sent.arrival[row];
    const text = wait > 0 ? `waited ${quantity(wait)}` : "did not wait";
    const width = context.measureText(text).width;
    // Without room beside the bar, the sentence below the lanes has to do.
    const x = right + 8 + width < this.width ? right + 8 : left - width - 8;
    if (x >= 4 && right > 0) this.note(text, x, top + 11, this.ink);
  }

  // The way from the output before, and how long a regulator or the wire held the packet there.
  drawWay(before, row, top) {
    const { context, data } = this;
    const [left, right] = [this.x(data.sent.end[before]), this.x(data.sent.arrival[row])];
    context.fillStyle = this.soft;
    context.fillRect(left, top + 6, right - left, 3);
    const held = data.others(before, 2) + data.others(before, 3);
    const text = `held for ${quantity(held)}`;
    const place = Math.max(left, 0) + 6;
    if (held > 0 && right - place > context.measureText(text).width) this.note(text, place, top + 22);
  }

  // When the packet came and is due. The name of the lane takes some room at the left.
  drawEnds(row, top, isLast, taken) {
    const { context, data } = this;
    const { sent } = data;
    const hasRoom = this.x(sent.end[row]) - this.x(sent.arrival[row]) > 60;
    const line = (time, colour, dashes, text, isLeft) => {
      const x = Math.round(this.x(time)) + 0.5;
      if (x < 0 || x > this.width) return;
      context.strokeStyle = colour;
      context.lineWidth = 1.5;
      context.setLineDash(dashes);
      context.beginPath();
      context.moveTo(x, top - 2);
      context.lineTo(x, top + LANE_HEIGHT - LANE.label - LANE.gap);
      context.stroke();
      context.setLineDash([]);
      if (!hasRoom) return;
      const width = context.measureText(text).width;
      const place = isLeft && x - width - 5 > taken + 6 ? x - width - 5 : x + 5;
      this.note(text, Math.min(Math.max(place, 2), this.width - width - 2), top - 4, colour);
    };
    line(sent.arrival[row], this.ink, [], "came", true);
    if (isLast && !Number.isNaN(sent.due[row])) {
      const isLate = data.arrivalAtEnd(this.path) > sent.due[row];
      line(sent.due[row], isLate ? this.bad : this.good, [5, 3], "deadline", false);
    }
  }
}

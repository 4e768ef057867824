// Moves over a timeline by pointer, keyboard and buttons, and says what a packet waited for.

// A packet that takes less of the view than this is zoomed to.
const LEAST_SHARE = 0.08;
// Pixels: a pointer that moves further drags.
const STILL = 5;

const UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];

// A time with four significant digits and its unit.
function quantity(nanos) {
  const [name, size] = UNITS.find(([, size]) => nanos >= size) ?? UNITS[3];
  return `${Number((nanos / size).toPrecision(4))} ${name}`;
}

function moment(nanos) {
  const seconds = Math.floor(nanos / 1e9);
  return `${seconds}.${String(nanos - seconds * 1e9).padStart(9, "0")} s`;
}

class Control {
  constructor(view) {
    Object.assign(this, { view, root: view.root, data: view.data, pointers: new Map() });
    this.find = (selector) => this.root.querySelector(selector);
    this.listClasses();
    const { canvas } = view;
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => (this.find(".hover").textContent = ""));
    for (const button of this.root.querySelectorAll("[data-does]")) {
      button.addEventListener("click", () => this.does[button.dataset.does]());
    }
    this.open();
  }

  does = {
    previous: () => this.step(-1),
    next: () => this.step(1),
    in: () => this.view.zoom(0.5),
    out: () => this.view.zoom(2),
    whole: () => this.view.show(this.data.begin, this.data.end),
    left: () => this.view.pan(-0.2),
    right: () => this.view.pan(0.2),
    middle: () => this.select(this.longest(this.view.lanes[0], this.view.width / 2)),
  };

  key(event) {
    const { ctrlKey, metaKey, altKey, key } = event;
    if (ctrlKey || metaKey || altKey) return;
    const keys = {
      ArrowLeft: "left", ArrowRight: "right", ArrowUp: "in", ArrowDown: "out", "+": "in", "=": "in",
      "-": "out", n: "next", p: "previous", Home: "whole", Enter: "middle",
    };
    if (!(key in keys)) return;
    event.preventDefault();
    this.does[keys[key]]();
  }

  // The wheel zooms; where there is nothing more to show, the page scrolls.
  wheel(event) {
    const { view, data } = this;
    const isWhole = view.from <= data.begin && view.to >= data.end;
    if (isWhole && event.deltaY > 0 && !event.ctrlKey) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.pan(event.deltaX / view.width);
    else view.zoom(Math.exp(event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), event.offsetX);
  }

  press(event) {
    this.view.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event.offsetX);
    this.moved = this.pointers.size > 1 ? Infinity : 0;
  }

  // One pointer drags, two zoom.
  move(event) {
    const { pointers, view } = this;
    const x = event.offsetX;
    const before = pointers.get(event.pointerId);
    if (before === undefined) return this.hover(x, event.offsetY);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.moved += Math.abs(x - before);
    if (other === undefined && this.moved <= STILL) return;
    pointers.set(event.pointerId, x);
    if (other === undefined) view.pan((before - x) / view.width);
    else view.zoom((Math.abs(before - other) + 8) / (Math.abs(x - other) + 8), (x + other) / 2);
  }

  release(event) {
    if (!this.pointers.delete(event.pointerId) || this.moved > STILL) return;
    const { view, data } = this;
    const { offsetX: x, offsetY: y } = event;
    if (y < OVERVIEW + 6) {
      const middle = data.begin + (x / view.width) * (data.end - data.begin);
      const half = (view.to - view.from) / 2;
      return view.show(middle - half, middle + half);
    }
    const lane = this.laneAt(y);
    const dropped = this.droppedAt(lane, x, y);
    if (dropped !== undefined) this.selectDropped(dropped);
    else this.select(this.longest(lane, x));
  }

  laneAt(y) {
    const { lanes } = this.view;
    const place = Math.floor((y - AXIS) / LANE_HEIGHT);
    return lanes[Math.min(Math.max(place, 0), lanes.length - 1)];
  }

  // The packet that is sent at a place; where packets are not drawn one by one, the one near there
  // that waited longest.
  longest(lane, x) {
    const { view, data } = this;
    const { start, arrival } = data.sent;
    const [begin, end] = lane.rows(view.from, view.to);
    let longest = lane.nearest(view.time(x));
    if (end - begin <= view.width) return longest;
    const [first, last] = lane.rows(view.time(x - 1), view.time(x + 1));
    for (let row = first; row < last; row++) {
      if (start[row] - arrival[row] > start[longest] - arrival[longest]) longest = row;
    }
    return longest;
  }

  // The dropped packet whose cross is at a place, if there is one.
  droppedAt(lane, x, y) {
    const { view, data } = this;
    const { unsent } = data;
    const within = (y - AXIS) % LANE_HEIGHT;
    if (within > LANE.label + LANE.flags) return undefined;
    for (let row = lane.unsentFrom; row < lane.unsentTo; row++) {
      if (unsent.reason[row] && Math.abs(view.x(unsent.end[row]) - x) < 7) return row;
    }
    return undefined;
  }

  hover(x, y) {
    const { view, data } = this;
    if (y < AXIS) return;
    const { sent, classes } = data;
    const row = this.longest(this.laneAt(y), x);
    const is = view.x(sent.start[row]) <= x + 2 && x - 2 <= view.x(sent.end[row]);
    const says = () => `${classes[sent.cls[row]].name}, ${sent.length[row]} bytes: waited ${quantity(sent.start[row] - sent.arrival[row])}, sent in ${quantity(sent.end[row] - sent.start[row])}`;
    this.find(".hover").textContent = is ? says() : `nothing is sent at ${moment(Math.round(view.time(x)))}`;
  }

  listClasses() {
    const { classes, sent, slowest } = this.data;
    const select = this.find(".classes");
    classes.forEach((each, cls) => {
      if (slowest[cls]?.length || sent.cls.includes(cls)) select.add(new Option(each.name, cls));
    });
    select.addEventListener("change", () => {
      this.listSlowest();
      this.find(".slowest button")?.click();
    });
  }

  // A button for each of the slowest packets of the class.
  listSlowest() {
    const { data } = this;
    const rows = (data.slowest[this.find(".classes").value] ?? []).map((number) => data.find(number));
    const button = (row, at) => {
      const button = document.createElement("button");
      button.type = "button";
      const path = data.path(row);
      button.textContent = quantity(data.arrivalAtEnd(path) - data.sent.arrival[path[0]]);
      button.title = `Number ${at + 1} of the slowest packets`;
      button.dataset.packet = data.sent.packet[row];
      button.addEventListener("click", () => this.select(row));
      return button;
    };
    const buttons = rows.filter((row) => row !== undefined).map(button);
    this.find(".slowest").replaceChildren(...(buttons.length ? ["slowest: ", ...buttons] : []));
  }

  // Opens at the first packet that is listed, else at the slowest one of those that were late, or
  // of all.
  open() {
    const { data } = this;
    const { sent } = data;
    const candidates = [...data.listed, ...data.slowest.flatMap(([first]) => first ?? [])];
    const rows = candidates.map((number) => data.find(number)).filter((row) => row !== undefined);
    const slack = (row) => {
      const path = data.path(row);
      const due = sent.due[path[path.length - 1]];
      const end = data.arrivalAtEnd(path);
      return Number.isNaN(due) ? 1e18 - (end - sent.arrival[path[0]]) : due - end;
    };
    const first = data.listed.length ? rows[0] : rows.sort((a, b) => slack(a) - slack(b))[0];
    this.select(first ?? 0);
  }

  // The next packet of the class on the same lane, or the one before.
  step(way) {
    const { data, view } = this;
    const { cls } = data.sent;
    const now = this.row ?? view.lanes[0].from;
    const lane = data.lanes[data.sent.output[now]];
    for (let row = now + way; row >= lane.from && row < lane.to; row += way) {
      if (cls[row] === cls[now]) return this.select(row);
    }
  }

  select(row) {
    const { view, data } = this;
    const { sent } = data;
    this.row = row;
    view.path = data.path(row);
    view.showLanes();
    view.resize();
    const [from, to] = [sent.arrival[view.path[0]], data.arrivalAtEnd(view.path)];
    const whole = view.to - view.from;
    if (from < view.from || to > view.to || to - from < LEAST_SHARE * whole) {
      // Alone, a packet that did not wait would look like any other.
      const around = Math.max(0.45 * (to - from), 4 * (sent.end[row] - sent.start[row]));
      view.show(from - around, to + around);
    } else view.invalidate();
    if (this.find(".classes").value !== String(sent.cls[row])) this.find(".classes").value = sent.cls[row];
    this.listSlowest();
    for (const button of this.find(".slowest").querySelectorAll("button")) {
      button.setAttribute("aria-pressed", Number(button.dataset.packet) === sent.packet[row]);
    }
    this.say(row);
  }

  selectDropped(row) {
    const { view, data } = this;
    const { unsent } = data;
    view.path = [];
    view.invalidate();
    const waited = quantity(unsent.end[row] - unsent.arrival[row]);
    const reason = data.reasons[unsent.reason[row] - 1];
    this.find(".selected").replaceChildren(
      element("p", "sentence", `${this.name(unsent, row)}, came at ${moment(unsent.arrival[row])} and was dropped after ${waited}: ${reason}.`),
    );
  }

  name({ packet, cls, length }, row) {
    const name = this.data.classes[cls[row]].name;
    const number = this.data.is_network ? `A packet of ${name}` : `Packet ${packet[row]} of ${name}`;
    return `${number}, ${length[row]} bytes`;
  }

  // The delay of a packet as a sum, in a sentence, as a bar and as a table.
  say(row) {
    const { data } = this;
    const { sent } = data;
    const path = data.path(row);
    const [first, last] = [path[0], path[path.length - 1]];
    const delay = data.arrivalAtEnd(path) - sent.arrival[first];
    const slack = sent.due[last] - sent.arrival[first] - delay;
    const judged = Number.isNaN(slack) ? "" : `, ${quantity(Math.abs(slack))} ${slack < 0 ? "after" : "before"} its deadline`;
    const end = sent.isLast[last] ? "" : "; it did not come to its end";
    const parts = path.flatMap((row) => data.parts(row).map(([cause, time]) => ({ row, cause, time })));
    const sentence = `${this.name(sent, row)}, at ${moment(sent.arrival[first])}: ${quantity(delay)}${judged}${end}`;
    const bar = element("div", "sum");
    bar.setAttribute("aria-hidden", "true");
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const name of [...(data.is_network ? ["link"] : []), "cause", "time", "share"]) head.append(element("th", name === "time" || name === "share" ? "number" : "", name));
    const body = table.createTBody();
    for (const part of parts) {
      bar.append(this.piece(part, delay));
      body.append(this.cells(part, delay));
    }
    const box = element("div", "wide");
    box.append(table);
    this.find(".selected").replaceChildren(element("p", "sentence", sentence), bar, box);
    this.find(".selected").dataset.delay = delay;
  }

  // What is in the way of a packet: its number among classes, and whether it is the packet itself.
  source({ row, cause }) {
    const isOwn = cause <= 1;
    return { isOwn, cls: isOwn ? this.data.sent.cls[row] : this.data.causes[cause].of };
  }

  piece(part, delay) {
    const { isOwn, cls } = this.source(part);
    const piece = element("span", isOwn ? "own" : "");
    this.paint(piece, cls);
    piece.style.width = `${(100 * part.time) / delay}%`;
    return piece;
  }

  // Gives an element the colour of a class.
  paint(element, cls) {
    const subject = this.data.classes[cls]?.subject ?? null;
    if (subject !== null) element.classList.add(`subject-${subject % 7}`);
  }

  cells({ row, cause, time }, delay) {
    const { data } = this;
    const { cls } = this.source({ row, cause });
    const { text, own, of } = data.causes[cause];
    const line = document.createElement("tr");
    if (data.is_network) line.append(element("td", "place", data.outputs[data.sent.output[row]]));
    const words = element("td", "");
    const patch = element("span", "patch");
    this.paint(patch, cls);
    words.append(patch, of === data.sent.cls[row] ? own : text);
    const nanos = element("td", "number", quantity(time));
    nanos.dataset.ns = time;
    line.append(words, nanos, element("td", "number", `${((100 * time) / delay).toFixed(1)} %`));
    return line;
  }
}

function element(name, className, text = "") {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
}

const root = document.querySelector(".timeline");
if (!("DecompressionStream" in window)) {
  root.querySelector(".hover").textContent = "This browser cannot unpack the timeline: open the page in a newer one.";
}
const [legend, columns] = root.querySelectorAll("script");
const data = new Data(JSON.parse(legend.textContent), await decompress(columns.textContent));
// Tests and the console of a browser reach the view here.
root.control = new Control(new View(root, data));

// The packets of a timeline, decoded from compressed columns (timeline/encoding.rs says how), and
// indices by which any stretch of time is summed up without a look at each packet. Times are whole
// nanoseconds, which a number holds exactly up to 104 days.

// The number of the cause of a packet's own transmission. Those of `others` follow.
const TRANSMISSION = 0;

async function decompress(base64) {
  const packed = Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Reads numbers one after another.
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  value() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  difference() {
    const folded = this.value();
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
  }

  column(type, rows, read = () => this.value()) {
    const column = new type(rows);
    for (let row = 0; row < rows; row++) column[row] = read(row);
    return column;
  }

  // A column of differences to the row before.
  sums(rows) {
    let sum = 0;
    return this.column(Float64Array, rows, () => (sum += this.difference()));
  }
}

// Packets at outputs, sorted by output and by the start of their transmission.
function decode(bytes, { passages: rows, unsent }) {
  const reader = new Reader(bytes);
  const output = reader.column(Uint32Array, rows);
  const packet = reader.sums(rows);
  const cls = reader.column(Uint32Array, rows);
  const length = reader.column(Uint32Array, rows);
  // Idle times for now: transmissions come next.
  const start = reader.column(Float64Array, rows, () => reader.difference());
  const end = reader.column(Float64Array, rows);
  for (let row = 0; row < rows; row++) {
    const isFirst = row === 0 || output[row] !== output[row - 1];
    start[row] += isFirst ? 0 : end[row - 1];
    end[row] += start[row];
  }
  const arrival = reader.column(Float64Array, rows, (row) => start[row] - reader.value());
  const due = reader.column(Float64Array, rows, (row) => {
    const folded = reader.value() - 1;
    if (folded < 0) return NaN;
    return end[row] + (folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2);
  });
  const isLast = reader.column(Uint8Array, rows);
  const firstWait = new Uint32Array(rows + 1);
  for (let row = 0; row < rows; row++) firstWait[row + 1] = firstWait[row] + reader.value();
  const waits = firstWait[rows];
  const cause = reader.column(Uint32Array, waits);
  const time = new Float64Array(waits);
  for (let row = 0; row < rows; row++) {
    let rest = start[row] - arrival[row];
    const last = firstWait[row + 1] - 1;
    for (let wait = firstWait[row]; wait <= last; wait++) {
      time[wait] = wait < last ? reader.value() : rest;
      rest -= time[wait];
    }
  }
  const others = [1, 2, 3, 4].map(() => reader.column(Float64Array, rows));
  const sent = { rows, output, packet, cls, length, start, end, arrival, due, isLast, firstWait, cause, time, others };
  return { sent, unsent: decodeUnsent(reader, unsent) };
}

function decodeUnsent(reader, rows) {
  const output = reader.column(Uint32Array, rows);
  const packet = reader.sums(rows);
  const cls = reader.column(Uint32Array, rows);
  const length = reader.column(Uint32Array, rows);
  const arrival = reader.sums(rows);
  // Numbers of reasons from 1; 0 for those that still waited at the end.
  const reason = reader.column(Uint32Array, rows);
  const end = reader.column(Float64Array, rows, (row) => arrival[row] + reader.value());
  return { rows, output, packet, cls, length, arrival, reason, end };
}

// The first place from `low` on whose time is after `time`; the search begins at `hint`, which is
// near where places are asked for in their order.
function after(times, time, low, high, hint) {
  let from = low;
  let to = high;
  if (hint > low && hint <= high && times[hint - 1] <= time) {
    from = hint;
    let step = 1;
    while (from + step < high && times[from + step - 1] <= time) {
      from += step;
      step *= 2;
    }
    to = Math.min(high, from + step);
  }
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (times[middle] <= time) from = middle + 1;
    else to = middle;
  }
  return from;
}

// How long an output has sent a class by some time, and how much of it has waited.
class ClassIndex {
  constructor(sent, unsent, rows, unsentRows, end) {
    this.starts = rows.map((row) => sent.start[row]);
    this.ends = rows.map((row) => sent.end[row]);
    this.busy = new Float64Array(rows.length + 1);
    for (let at = 0; at < rows.length; at++) {
      this.busy[at + 1] = this.busy[at] + this.ends[at] - this.starts[at];
    }
    const comes = new Float64Array(rows.length + unsentRows.length);
    const goes = new Float64Array(comes.length);
    for (let at = 0; at < rows.length; at++) {
      comes[at] = sent.arrival[rows[at]];
      goes[at] = sent.start[rows[at]];
    }
    for (let at = 0; at < unsentRows.length; at++) {
      const row = unsentRows[at];
      comes[rows.length + at] = unsent.arrival[row];
      goes[rows.length + at] = unsent.reason[row] ? unsent.end[row] : end;
    }
    this.merge(comes.sort(), goes.sort());
  }

  // The number of waiting packets as a step function, and its integral.
  merge(comes, goes) {
    const steps = 2 * comes.length;
    this.times = new Float64Array(steps);
    this.counts = new Float64Array(steps);
    this.waited = new Float64Array(steps);
    for (let at = 0, come = 0, go = 0; at < steps; at++) {
      const isCome = come < comes.length && comes[come] <= goes[go];
      this.times[at] = isCome ? comes[come++] : goes[go++];
      this.counts[at] = come - go;
      if (at > 0) {
        this.waited[at] = this.waited[at - 1] + this.counts[at - 1] * (this.times[at] - this.times[at - 1]);
      }
    }
    this.hints = [0, 0];
  }

  // Nanoseconds of transmissions before `time`.
  busyBefore(time) {
    const place = (this.hints[0] = after(this.starts, time, 0, this.starts.length, this.hints[0]));
    if (place === 0) return 0;
    return this.busy[place - 1] + Math.min(time, this.ends[place - 1]) - this.starts[place - 1];
  }

  // The integral of the number of waiting packets up to `time`.
  waitedBefore(time) {
    const place = (this.hints[1] = after(this.times, time, 0, this.times.length, this.hints[1]));
    if (place === 0) return 0;
    return this.waited[place - 1] + this.counts[place - 1] * (time - this.times[place - 1]);
  }
}

// The packets of one output. Its indices are made when it is first drawn.
class Lane {
  constructor(data, output) {
    const { sent, unsent } = data;
    Object.assign(this, { data, output });
    [this.from, this.to] = range(sent.output, output, sent.rows);
    [this.unsentFrom, this.unsentTo] = range(unsent.output, output, unsent.rows);
    this.longest = 0;
    for (let row = this.from; row < this.to; row++) {
      this.longest = Math.max(this.longest, sent.end[row] - sent.start[row]);
    }
  }

  get classes() {
    return (this.indices ??= this.index());
  }

  index() {
    const { sent, unsent, classes, end } = this.data;
    const counts = new Uint32Array(classes.length);
    for (let row = this.from; row < this.to; row++) counts[sent.cls[row]]++;
    const rows = Array.from(counts, (count) => new Float64Array(count));
    counts.fill(0);
    for (let row = this.from; row < this.to; row++) rows[sent.cls[row]][counts[sent.cls[row]]++] = row;
    const dropped = classes.map(() => []);
    for (let row = this.unsentFrom; row < this.unsentTo; row++) dropped[unsent.cls[row]].push(row);
    return classes.map((_, cls) => new ClassIndex(sent, unsent, rows[cls], dropped[cls], end));
  }

  // The first and the last row of transmissions within a stretch of time.
  rows(from, to) {
    const { start } = this.data.sent;
    const first = after(start, from - this.longest - 1, this.from, this.to, 0);
    return [first, after(start, to, this.from, this.to, 0)];
  }

  // The row that is sent at a time, or else the nearest.
  nearest(time) {
    const { start, end } = this.data.sent;
    const next = after(start, time, this.from, this.to, 0);
    if (next === this.from) return next;
    if (next === this.to) return next - 1;
    return time - end[next - 1] <= start[next] - time ? next - 1 : next;
  }
}

// The rows of an output, of rows that are sorted by it.
function range(outputs, output, rows) {
  const first = after(outputs, output - 1, 0, rows, 0);
  return [first, after(outputs, output, first, rows, 0)];
}

class Data {
  constructor(legend, bytes) {
    Object.assign(this, legend, decode(bytes, legend));
    const { start, end, arrival, rows } = this.sent;
    this.begin = Infinity;
    this.end = 0;
    for (let row = 0; row < rows; row++) {
      this.begin = Math.min(this.begin, arrival[row], start[row]);
      this.end = Math.max(this.end, end[row]);
    }
    this.lanes = this.outputs.map((_, output) => new Lane(this, output));
    if (this.is_network) this.indexPackets();
  }

  // The rows of each packet of a network, in the order of their arrival.
  indexPackets() {
    const { packet, arrival, rows } = this.sent;
    this.paths = new Map();
    for (let row = 0; row < rows; row++) {
      const path = this.paths.get(packet[row]);
      if (path) path.push(row);
      else this.paths.set(packet[row], [row]);
    }
    for (const path of this.paths.values()) path.sort((a, b) => arrival[a] - arrival[b]);
  }

  // The rows of the packet of a row, along its path.
  path(row) {
    return this.is_network ? this.paths.get(this.sent.packet[row]) : [row];
  }

  // The first row of a packet; undefined if it is not there.
  find(number) {
    if (this.is_network) return this.paths.get(number)?.[0];
    const row = this.sent.packet.indexOf(number);
    return row < 0 ? undefined : row;
  }

  // When the packet of a path came to its end.
  arrivalAtEnd(path) {
    const last = path[path.length - 1];
    return this.others(last, 1) + this.others(last, 2) + this.others(last, 3) + this.sent.end[last];
  }

  others(row, kind) {
    return this.sent.others[kind][row];
  }

  // What a row's time consists of: numbers of causes and nanoseconds, the longest first.
  parts(row) {
    const { firstWait, cause, time, start, end, others } = this.sent;
    const parts = [];
    for (let wait = firstWait[row]; wait < firstWait[row + 1]; wait++) parts.push([cause[wait], time[wait]]);
    parts.push([TRANSMISSION, end[row] - start[row] - others[0][row]]);
    others.forEach((column, at) => parts.push([at + 1, column[row]]));
    return parts.filter(([, time]) => time > 0).sort((a, b) => b[1] - a[1]);
  }
}

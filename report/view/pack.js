// What is packed: base64 of DEFLATE, of JSON or of columns of numbers.

// A Feed is what is packed and comes in pieces while a page is still being read. It has one
// reader, who may come late.
export class Feed {
  #pieces = []; #whole = false; #wake = null;

  push(piece) { this.#pieces.push(piece); this.#wake?.(); }
  close() { this.#whole = true; this.#wake?.(); }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.#pieces.length) yield this.#pieces.shift();
      if (this.#whole) return;
      await new Promise(wake => { this.#wake = wake; });
    }
  }
}

// bytesOf serves browsers that do not read base64 into bytes themselves.
function bytesOf(raw) {
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// inflate hands on the bytes of a text or a Feed as they come. It writes to the stream
// itself: through a Blob, all bytes would go to another process of the browser and back.
async function inflate(packed, take) {
  const stream = new DecompressionStream("deflate-raw"), to = stream.writable.getWriter(), from = stream.readable.getReader();
  const write = async () => {
    for await (const piece of typeof packed === "string" ? [packed] : packed) await to.write(Uint8Array.fromBase64?.(piece) ?? bytesOf(atob(piece)));
    await to.close();
  };
  const read = async () => { for (let next; !(next = await from.read()).done;) take(next.value); };
  await Promise.all([write(), read()]);
}

// unpack gives a field of a document, which may be packed.
export async function unpack(field) {
  if (!field?.packed) return field;
  const decoder = new TextDecoder();
  let text = "";
  await inflate(field.packed, bytes => { text += decoder.decode(bytes, { stream: true }); });
  return JSON.parse(text + decoder.decode());
}

// unpackJobs gives the jobs of a document, which may be packed by columns.
export async function unpackJobs(field) {
  const c = await unpack(field);
  if (!c?.words) return c ?? [];
  const { words } = c, some = v => v ?? undefined, word = i => words[i] || undefined;
  return c.name.map((name, i) => ({
    id: c.id ? c.id[i] : `${words[c.vo[i]]}/${name}`, vo: word(c.vo[i]), user: word(c.user[i]), name, state: words[c.state[i]], submit: c.submit[i], start: some(c.start[i]), end: some(c.end[i]),
    nodes: c.nodes[i], sites: c.sites[i].map(s => words[s]), cost: some(c.cost[i]), price: c.price[i] || undefined, why: word(c.why[i]),
  }));
}

// The kinds of bars. From leg on they are of VOs.
export const kinds = { immediate: 0, backfilled: 1, reserved: 2, shared: 3, leg: 4, sharedLeg: 5, held: 6 };

const hop = 256; // bars between two marks of how far a row reaches

// Bars are the blocks by columns: those of row r lie from first[r] to first[r + 1].
export class Bars {
  #reach = []; #number = null;

  // constructor has room for n bars whose times are of Times.
  constructor(n, rows, Times = Float64Array, unit = 1) {
    Object.assign(this, { n, unit, first: new Int32Array(rows + 1), starts: new Times(n), ends: new Times(n),
      kinds: new Uint8Array(rows), // of each row: bit k, that it has bars of kind k
      parts: { job: [], window: [], part: [], parts: [], cost: [], extra: [] } });
  }

  start(i) { return this.starts[i] * this.unit; }
  end(i) { return this.ends[i] * this.unit; }

  // number is of a local job its own, of a leg its place among the parts.
  get number() { return this.#number ??= this.numbers(); }

  // index notes of a row what kinds it has and, every few bars, how far it reaches.
  index(row) {
    const { kind, ends } = this, marks = this.#reach[row] = [], to = this.first[row + 1];
    let has = 0, reach = -Infinity;
    for (let i = this.first[row], next = i + hop; i < to; i++) {
      if (i === next) { marks.push(reach); next += hop; }
      has |= 1 << kind[i];
      if (ends[i] > reach) reach = ends[i];
    }
    this.kinds[row] = has;
  }

  // within are the first and the last bar of a row, exclusive, that may touch a span.
  within(row, from, to) {
    const [a, b] = [from / this.unit, to / this.unit], { starts, ends } = this, last = this.first[row + 1], marks = this.#reach[row] ?? [];
    let first = this.first[row] + hop * search(marks, a, 0, marks.length);
    while (first < last && ends[first] < a) first++;
    return [first, search(starts, b, this.first[row], last)];
  }
}

// search is the first place of a sorted list whose number is no less than v.
function search(list, v, low, high) {
  while (low < high) {
    const middle = low + high >> 1;
    if (list[middle] < v) low = middle + 1; else high = middle;
  }
  return low;
}

// unpackBars gives the bars of a document that are packed. A million of them take short
// passes, in little memory, which a browser has to get first: no object and no call is
// made for a bar, the bytes go where they stay as they come, and the numbers, which no
// overview has, are worked out when they are asked for.
export async function unpackBars(packed) {
  const n = packed.rows.reduce((a, b) => a + b, 0), bars = new Bars(n, packed.rows.length, Uint32Array, packed.unit);
  const lists = [bars.starts, bars.ends], planes = packed.planes.map(k => k < 8 ? null : new Uint8Array(n));
  let at = 0;
  const columns = inflate(packed.columns.packed, bytes => {
    for (let some; bytes.length; bytes = bytes.subarray(some.length), at += some.length) {
      const k = Math.floor(at / n), i = at - k * n, plane = packed.planes[k];
      some = bytes.subarray(0, n - i);
      if (plane < 8) lift(lists[plane >> 2], i, some, plane % 4); else planes[k].set(some, i);
    }
  });
  [bars.parts] = await Promise.all([unpack(packed.parts), columns]);
  // column is a column's numbers: what is of one byte as it lies there, else a list.
  const column = (c, none) => {
    const there = packed.planes.flatMap((k, i) => k >> 2 === c ? [[k % 4, planes[i]]] : []);
    if (!there.length) return none;
    if (there.length === 1 && !there[0][0]) return there[0][1];
    const list = new Uint32Array(n);
    for (const [k, plane] of there) lift(list, 0, plane, k);
    return list;
  };
  const zeros = new Uint8Array(n), used = column(5);
  bars.nodes = column(2, zeros);
  bars.kind = column(3, zeros);
  bars.used = used ? Float32Array.from(used, (u, i) => u ? u / 1000 : bars.nodes[i]) : bars.nodes;
  bars.numbers = () => numbersOf(bars, column(4, zeros));
  packed.rows.forEach((m, row) => {
    bars.first[row + 1] = bars.first[row] + m;
    times(bars, bars.first[row], bars.first[row + 1]);
    bars.index(row);
  });
  return bars;
}

// lift adds bytes to the numbers of a list: byte k of those from i on.
function lift(list, i, bytes, k) {
  for (let j = 0; j < bytes.length; j++) list[i + j] |= bytes[j] << 8 * k;
}

// times makes starts and ends of what is packed: how long after the one before each bar of
// a row starts, and how long it is.
function times({ starts, ends }, from, to) {
  for (let i = from, at = 0; i < to; i++) {
    starts[i] = at += starts[i];
    ends[i] += at;
  }
}

// numbersOf takes of local jobs the difference to the one before.
function numbersOf({ n, first, kind }, by) {
  const list = new Int32Array(n), { leg } = kinds;
  for (let row = 0, legs = 0; row + 1 < first.length; row++) {
    for (let i = first[row], before = 0; i < first[row + 1]; i++) list[i] = kind[i] >= leg ? legs++ : before = before + (by[i] >>> 1 ^ -(by[i] & 1)) | 0;
  }
  return list;
}

// What is packed: base64 of DEFLATE, of JSON or of columns of numbers.

// bytesOf serves browsers that do not read base64 into bytes themselves.
function bytesOf(raw) {
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// inflate writes to the stream itself: through a Blob, all bytes would go to another
// process of the browser and back.
async function inflate(text) {
  const stream = new DecompressionStream("deflate-raw"), to = stream.writable.getWriter(), from = stream.readable.getReader(), chunks = [];
  const written = to.write(Uint8Array.fromBase64?.(text) ?? bytesOf(atob(text))).then(() => to.close());
  let size = 0;
  for (let next; !(next = await from.read()).done; size += next.value.length) chunks.push(next.value);
  await written;
  const bytes = new Uint8Array(size);
  size = 0;
  for (const c of chunks) { bytes.set(c, size); size += c.length; }
  return bytes;
}

// unpack gives a field of a document, which may be packed.
export async function unpack(field) {
  if (!field?.packed) return field;
  return JSON.parse(new TextDecoder().decode(await inflate(field.packed)));
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

// newBars has room for n bars: those of row r lie from first[r] to first[r + 1].
export function newBars(n, rows) {
  return {
    n, first: new Int32Array(rows + 1), start: new Float64Array(n), end: new Float64Array(n), nodes: new Int32Array(n), kind: new Uint8Array(n),
    reach: new Float64Array(n), // the latest end in the row so far
    kinds: new Uint8Array(rows), // of each row: bit k, that it has bars of kind k
    number: new Int32Array(n), // of a local job; of a leg its place among the parts
    used: new Float32Array(n), parts: { job: [], window: [], part: [], parts: [], cost: [], extra: [] },
  };
}

// unpackBars gives the bars of a document that are packed. A million of them take one
// pass: no object and no call is made for a bar.
export async function unpackBars(packed) {
  const [bytes, parts] = await Promise.all([inflate(packed.columns), unpack(packed.parts)]);
  const n = packed.rows.reduce((a, b) => a + b, 0), bars = newBars(n, packed.rows.length), { unit } = packed;
  bars.parts = parts;
  const zeros = new Uint8Array(n), plane = k => {
    const at = packed.planes.indexOf(k);
    return at < 0 ? zeros : bytes.subarray(at * n, (at + 1) * n);
  };
  const [s0, s1, s2, s3, l0, l1, l2, l3, n0, n1, n2, n3, kind, , , , i0, i1, i2, i3, u0, u1, u2, u3] = Array.from({ length: 24 }, (_, k) => plane(k));
  const { leg } = kinds;
  let i = 0, legs = 0;
  for (let row = 0; row < packed.rows.length; row++) {
    const last = i + packed.rows[row];
    let at = 0, before = 0, reach = 0, has = 0;
    for (; i < last; i++) {
      at += (s0[i] | s1[i] << 8 | s2[i] << 16 | s3[i] << 24) >>> 0;
      const end = (at + ((l0[i] | l1[i] << 8 | l2[i] << 16 | l3[i] << 24) >>> 0)) * unit, k = kind[i];
      const nodes = n0[i] | n1[i] << 8 | n2[i] << 16 | n3[i] << 24, used = (u0[i] | u1[i] << 8 | u2[i] << 16 | u3[i] << 24) >>> 0;
      if (end > reach) reach = end;
      bars.start[i] = at * unit;
      bars.end[i] = end;
      bars.reach[i] = reach;
      bars.nodes[i] = nodes;
      bars.kind[i] = k;
      bars.used[i] = used ? used / 1000 : nodes;
      has |= 1 << k;
      if (k >= leg) {
        bars.number[i] = legs++;
        continue;
      }
      const by = i0[i] | i1[i] << 8 | i2[i] << 16 | i3[i] << 24;
      bars.number[i] = before = before + (by >>> 1 ^ -(by & 1)) | 0;
    }
    bars.kinds[row] = has;
    bars.first[row + 1] = i;
  }
  return bars;
}

// What is packed: base64 of DEFLATE, of JSON or of columns of numbers.

async function inflate(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// unpack gives a field of a document, which may be packed.
export async function unpack(field) {
  if (!field?.packed) return field;
  return JSON.parse(new TextDecoder().decode(await inflate(field.packed)));
}

// The kinds of bars. From leg on they are of VOs.
export const kinds = { immediate: 0, backfilled: 1, reserved: 2, shared: 3, leg: 4, sharedLeg: 5, held: 6 };

// newBars has room for n bars: those of row r lie from first[r] to first[r + 1].
export function newBars(n, rows) {
  return {
    n, first: new Int32Array(rows + 1), start: new Float64Array(n), end: new Float64Array(n), nodes: new Int32Array(n), kind: new Uint8Array(n),
    number: new Int32Array(n), // of a local job; of a leg its place among the parts
    used: new Float32Array(n), parts: { job: [], window: [], part: [], parts: [], cost: [], extra: [] },
  };
}

// unpackBars gives the bars of a document that are packed.
export async function unpackBars(packed) {
  const [bytes, parts] = await Promise.all([inflate(packed.columns), unpack(packed.parts)]);
  const n = packed.rows.reduce((a, b) => a + b, 0), bars = newBars(n, packed.rows.length);
  const column = k => {
    const p = [0, 1, 2, 3].map(i => bytes.subarray((4 * k + i) * n, (4 * k + i + 1) * n));
    const list = new Uint32Array(n), [a, b, c, d] = p;
    for (let i = 0; i < n; i++) list[i] = a[i] | b[i] << 8 | c[i] << 16 | d[i] << 24;
    return list;
  };
  const start = column(0), length = column(1), nodes = column(2), kind = column(3), number = column(4), used = column(5);
  let i = 0, legs = 0;
  packed.rows.forEach((count, row) => {
    let at = 0, before = 0;
    for (const last = i + count; i < last; i++) {
      at += start[i];
      bars.start[i] = at * packed.unit;
      bars.end[i] = (at + length[i]) * packed.unit;
      bars.nodes[i] = nodes[i];
      bars.kind[i] = kind[i];
      bars.used[i] = used[i] ? used[i] / 1000 : nodes[i];
      if (kind[i] >= kinds.leg) bars.number[i] = legs++;
      else bars.number[i] = before = before + (number[i] >>> 1 ^ -(number[i] & 1)) | 0;
    }
    bars.first[row + 1] = i;
  });
  bars.parts = parts;
  return bars;
}

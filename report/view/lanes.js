// Lanes: nodes of a group are alike, so that any free ones will do, and a picture is
// clearer where a job lies in one piece. Package report lays the figures that are files
// by the same rule: a bar takes the first gap that is high enough, local jobs from the
// last lane up and legs from the first lane down, and is cut over several if none is.

import { kinds } from "./pack.js";

// lay gives the bars from first to last their lanes. It returns, for each of them and one
// more, where its pieces begin in pieces: a lane and a height each. What was held has
// none. Bars of more nodes than are free lie over others.
export function lay(bars, first, last, nodes) {
  const n = last - first, begin = new Int32Array(n + 1), pieces = [], gaps = [[0, nodes]];
  const lasts = i => bars.end(first + i) > bars.start(first + i); // not rounded to nothing
  const byEnd = new Int32Array(n).map((_, i) => i).filter(lasts).sort((a, b) => bars.end(first + a) - bars.end(first + b) || a - b);
  let over = 0;
  const give = i => {
    for (let k = begin[i]; k < begin[i + 1]; k += 2) free(gaps, pieces[k], pieces[k + 1]);
  };
  for (let i = 0; i < n; i++) {
    const at = bars.start(first + i), vo = bars.kind[first + i] >= kinds.leg;
    for (; over < byEnd.length && bars.end(first + byEnd[over]) <= at; over++) give(byEnd[over]);
    begin[i] = pieces.length;
    begin[i + 1] = begin[i];
    if (bars.kind[first + i] === kinds.held) continue;
    take(gaps, Math.min(bars.nodes[first + i], nodes), vo, pieces);
    begin[i + 1] = pieces.length;
    if (!lasts(i)) give(i);
  }
  return { begin, pieces: Int32Array.from(pieces) };
}

// take takes lanes, from the first gap that is high enough or else from as many as it
// needs, counted from the top or from the bottom.
function take(gaps, n, top, pieces) {
  let k = top ? gaps.findIndex(g => g[1] >= n) : gaps.findLastIndex(g => g[1] >= n);
  while (n > 0) {
    if (k < 0) {
      if (!gaps.length) return;
      k = top ? 0 : gaps.length - 1;
    }
    const g = gaps[k], h = Math.min(n, g[1]);
    pieces.push(top ? g[0] : g[0] + g[1] - h, h);
    if (top) g[0] += h;
    if ((g[1] -= h) === 0) gaps.splice(k, 1);
    n -= h;
    k = -1;
  }
}

// free puts lanes back and joins them with the gaps beside.
function free(gaps, lane, height) {
  let low = 0, high = gaps.length;
  while (low < high) {
    const middle = low + high >> 1;
    if (gaps[middle][0] < lane) low = middle + 1; else high = middle;
  }
  gaps.splice(low, 0, [lane, height]);
  if (low + 1 < gaps.length && gaps[low + 1][0] === lane + height) {
    gaps[low][1] += gaps[low + 1][1];
    gaps.splice(low + 1, 1);
  }
  if (low > 0 && gaps[low - 1][0] + gaps[low - 1][1] === lane) {
    gaps[low - 1][1] += gaps[low][1];
    gaps.splice(low, 1);
  }
}

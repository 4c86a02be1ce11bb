// Where sites and groups lie in the picture of what ran where: a closed site is a strip
// that shows how full it was, an open one a band for each of its groups.

export const top = 24; // of the rows: the ruler is above

const strip = 18, gap = 4, head = 24, least = 16, most = 300, shared = 720, thickest = 16;

// mostOpen is how many groups are open at first; above, all sites are strips.
export const mostOpen = 12;

// place gives sites and rows their places, for the sites that are shown, in their order.
// It returns the list and the height of all.
export function place(store, shown, open, narrow) {
  const nodes = shown.reduce((n, s) => n + (open.has(store.sites[s].name) ? store.sites[s].nodes : 0), 0);
  const lane = Math.min(thickest, shared / Math.max(nodes, 1)), items = [];
  let y = top + 4;
  for (const s of shown) {
    const site = store.sites[s];
    if (!open.has(site.name)) {
      const words = narrow ? 15 : 0;
      items.push({ site: s, y, h: strip + words, band: { y: y + words, h: strip } });
      y += strip + words + gap;
      continue;
    }
    items.push({ site: s, y, h: head, open: true });
    y += head;
    site.groups.forEach((g, k) => {
      const h = Math.min(most, Math.max(least, Math.round(lane * g.nodes))), words = narrow ? 15 : 0; // beside it there is no room
      items.push({ site: s, row: site.first + k, y, h: h + words, band: { y: y + words, h } });
      y += h + words + gap;
    });
    y += gap;
  }
  return { items, height: y + 4 };
}

// density is how many nodes of rows were in use, by whom: means over n steps of a span.
// It takes one pass over the bars and one over the steps.
export function density(store, first, last, from, to, n) {
  const { bars } = store, vo = new Float64Array(n + 1), local = new Float64Array(n + 1);
  const voWhole = new Float64Array(n + 1), localWhole = new Float64Array(n + 1), scale = n / (to - from);
  for (let row = first; row < last; row++) {
    const [a, b] = store.within(row, from, to);
    for (let i = a; i < b; i++) {
      const kind = bars.kind[i];
      if (kind === 6) continue; // held, and not run
      const left = Math.max(0, (bars.start(i) - from) * scale), right = Math.min(n, (bars.end(i) - from) * scale);
      if (right <= left) continue;
      const mean = kind >= 4 ? vo : local, whole = kind >= 4 ? voWhole : localWhole, used = bars.used[i];
      const l = left | 0, r = right | 0;
      if (l === r) {
        mean[l] += used * (right - left);
        continue;
      }
      mean[l] += used * (l + 1 - left);
      mean[r] += used * (right - r);
      whole[l + 1] += used;
      whole[r] -= used;
    }
  }
  let a = 0, b = 0;
  for (let k = 0; k < n; k++) {
    vo[k] += a += voWhole[k];
    local[k] += b += localWhole[k];
  }
  return { vo, local };
}

// The painter of what ran where. It paints the rows that are in sight, a group's bars one
// by one where they have the room, else how full it was.

import { kinds } from "./pack.js";
import { density, top } from "./rows.js";
import { lay } from "./lanes.js";
import { tick, ticks } from "./words.js";

// roomy is how many square pixels a bar needs in the mean to be painted by itself.
const roomy = 24;
export const colours = 8;

// inks are the colours of the page as it is now, and the patterns made of them.
export function inksOf(element, g) {
  const style = getComputedStyle(element), read = name => style.getPropertyValue(name).trim();
  const inks = { palette: [], label: [] };
  for (const name of ["ink", "faint", "ground", "panel", "line", "mark", "band", "local", "vo"]) inks[name] = read("--" + name);
  for (let k = 0; k < colours; k++) { inks.palette.push(read(`--v${k}`)); inks.label.push(read(`--n${k}`)); }
  const pattern = (under, over, draw) => {
    const c = document.createElement("canvas");
    c.width = c.height = 6;
    const p = c.getContext("2d");
    if (under) { p.fillStyle = read(under); p.fillRect(0, 0, 6, 6); }
    p.strokeStyle = p.fillStyle = read(over);
    draw(p);
    return g.createPattern(c, "repeat");
  };
  const hatch = p => { p.lineWidth = 1.2; p.beginPath(); for (const d of [-6, 0, 6]) { p.moveTo(d - 1, 7); p.lineTo(d + 7, -1); } p.stroke(); };
  inks.fills = [inks.local, pattern("--backfilled", "--hatch", hatch), pattern("--reserved", "--dots", p => p.fillRect(2, 2, 1.6, 1.6))];
  inks.outs = Object.fromEntries(["faint", "wait", "bad"].map(name => [name, { pattern: pattern(null, "--" + name, hatch), edge: read("--" + name) }]));
  inks.plain = [inks.local, read("--backfilled"), read("--reserved")];
  return inks;
}

// Painter paints into one canvas context, in CSS pixels.
export class Painter {
  constructor(g, inks, store, span, size) {
    Object.assign(this, { g, inks, store, span, ...size }); // left, width, height, scroll, narrow, held
    this.knots = new Map();
    g.textBaseline = "alphabetic";
  }

  x(t) { return this.left + (t - this.span.from) / (this.span.to - this.span.from) * (this.width - this.left); }

  // paint paints all items in sight and returns the rows whose bars are painted.
  paint(items, lit) {
    const { g, inks, width, height } = this, painted = new Set();
    g.fillStyle = inks.ground;
    g.fillRect(0, 0, width, height);
    const seen = items.filter(i => i.y + i.h >= this.scroll + top && i.y <= this.scroll + height);
    for (const i of seen) if (i.band) { g.fillStyle = inks.band; g.fillRect(this.left, i.band.y - this.scroll, width - this.left, i.band.h); }
    this.#grid();
    g.save();
    g.beginPath();
    g.rect(this.left, top, width - this.left, height - top);
    g.clip();
    for (const i of seen) if (i.band && this.#band(i)) painted.add(i.row);
    for (const i of seen) if (i.band) this.#outs(i);
    this.#joins();
    if (lit) this.#light(seen, lit);
    g.restore();
    for (const i of seen) this.#name(i);
    this.#ruler();
    return painted;
  }

  #band(item) {
    const { store, span, width, left } = this, site = store.sites[item.site], y = item.band.y - this.scroll, { h } = item.band;
    if (item.row !== undefined) {
      const [a, b] = store.within(item.row, span.from, span.to);
      const mixed = store.bars.kinds[item.row] & (1 << kinds.shared | 1 << kinds.sharedLeg); // nodes are shared
      if (!mixed && (b - a) * roomy <= (width - left) * h) {
        this.#bars(item, a, b, y, h);
        return true;
      }
    }
    const [first, last] = item.row === undefined ? [site.first, site.first + site.groups.length] : [item.row, item.row + 1];
    const n = Math.max(1, Math.round(width - left)), d = density(store, first, last, span.from, span.to, n);
    const nodes = item.row === undefined ? site.nodes : store.rows[item.row].nodes;
    this.#stairs(d.vo, d.local, n, nodes, y, h);
    return false;
  }

  // outs hatches when a site, or nodes of a group, took nothing new: from the top, as many.
  #outs(item) {
    const { g, inks, store, span, width, left } = this, row = store.rows[item.row], y = item.band.y - this.scroll;
    for (const o of store.sites[item.site].outs ?? []) {
      if (o.group && row && o.group !== row.name || o.group && !row || (o.end ?? Infinity) <= span.from || o.start >= span.to) continue;
      const ink = inks.outs[{ maintenance: "faint", drained: "wait" }[o.what] ?? "bad"], x = Math.max(left, this.x(o.start)), w = Math.min(width, o.end === undefined ? width : this.x(o.end)) - x;
      const h = o.nodes && row ? item.band.h * Math.min(1, o.nodes / row.nodes) : item.band.h;
      g.globalAlpha = 0.55;
      g.fillStyle = ink.pattern;
      g.fillRect(x, y, w, h);
      g.globalAlpha = 1;
      g.strokeStyle = ink.edge;
      g.lineWidth = 1;
      g.strokeRect(x + 0.5, y + 0.5, Math.max(w - 1, 0.5), Math.max(h - 1, 0.5));
      g.font = "600 10.5px system-ui, sans-serif";
      const room = g.measureText(o.what).width + 8;
      if (w < room || h < 12) continue;
      g.fillStyle = inks.ground;
      g.fillRect(x + 1, y + 1, room, 12);
      g.fillStyle = ink.edge;
      g.fillText(o.what, x + 5, y + 10.5);
    }
  }

  // stairs paints nodes of legs at the bottom, those of local jobs on top of them.
  #stairs(vo, local, n, nodes, y, h) {
    const { g, inks, left } = this, bottom = y + h, scale = h / nodes;
    for (const [ink, of] of [[inks.local, k => vo[k] + local[k]], [inks.vo, k => vo[k]]]) {
      g.fillStyle = ink;
      g.beginPath();
      g.moveTo(left, bottom);
      for (let k = 0; k < n; k++) {
        const at = bottom - Math.min(h, of(k) * scale);
        g.lineTo(left + k, at);
        g.lineTo(left + k + 1, at);
      }
      g.lineTo(left + n, bottom);
      g.fill();
    }
  }

  // boxes calls each with the rectangles of a bar.
  boxes(item, bar, each) {
    const { store } = this, first = store.bars.first[item.row], nodes = store.rows[item.row].nodes;
    const laid = store.laid[item.row] ??= lay(store.bars, first, store.bars.first[item.row + 1], nodes);
    const x = this.x(store.bars.start(bar)), w = Math.max(0.6, this.x(store.bars.end(bar)) - x), y = item.band.y - this.scroll, scale = item.band.h / nodes;
    if (store.bars.kind[bar] === kinds.held) return each(x, y, w, Math.min(store.bars.nodes[bar], nodes) * scale);
    for (let p = laid.begin[bar - first]; p < laid.begin[bar - first + 1]; p += 2) each(x, y + laid.pieces[p] * scale, w, laid.pieces[p + 1] * scale);
  }

  #bars(item, a, b, y, h) {
    const { g, inks, store, span } = this, { bars } = store, fine = h / store.rows[item.row].nodes < 4 ? 0.25 : 0.6;
    const layers = new Map(), faint = new Map(), labels = [], held = [], tint = this.tint ?? (i => bars.parts.window[bars.number[i]] % colours);
    for (let i = a; i < b; i++) {
      if (bars.end(i) <= span.from) continue;
      const kind = bars.kind[i], leg = kind === kinds.leg, part = bars.number[i];
      if (kind === kinds.held) { if (this.held) held.push(i); continue; }
      let best = null;
      this.boxes(item, i, (x, y, w, h) => {
        const ink = leg ? inks.palette[tint(i)] : w < 4 ? inks.plain[kind] : inks.fills[kind];
        const layer = this.keep && !this.keep(i) ? faint : layers, gapX = w > 3 ? fine : 0;
        if (!layer.has(ink)) layer.set(ink, []);
        layer.get(ink).push(x, y, w - gapX, Math.max(h - (h > 2 ? fine : 0), 0.5));
        if (!best || h > best.h) best = { x, y, w, h };
      });
      if (leg && best && !(this.keep && !this.keep(i))) {
        const window = bars.parts.window[part];
        best.tint = tint(i);
        if (bars.parts.parts[part] > 1) this.knots.has(window) ? this.knots.get(window).push(best) : this.knots.set(window, [best]);
        if (best.h >= 11 && best.w >= 38) labels.push([best, best.tint, this.store.job(i)?.name]);
      }
    }
    for (const [some, alpha] of [[faint, 0.18], [layers, 1]]) for (const [ink, list] of some) {
      g.globalAlpha = alpha;
      g.fillStyle = ink;
      g.beginPath();
      for (let k = 0; k < list.length; k += 4) g.rect(list[k], list[k + 1], list[k + 2], list[k + 3]);
      g.fill();
    }
    g.globalAlpha = 1;
    g.strokeStyle = inks.ink;
    g.lineWidth = 1.2;
    g.setLineDash([4, 3]);
    for (const i of held) this.boxes(item, i, (x, y, w, h) => g.strokeRect(x + 0.6, y + 0.6, Math.max(w - 1.2, 0.5), Math.max(h - 1.2, 0.5)));
    g.setLineDash([]);
    g.font = "10.5px system-ui, sans-serif";
    for (const [box, tint, name] of labels) {
      if (!name) continue;
      const from = Math.max(box.x, this.left), room = Math.floor((Math.min(box.x + box.w, this.width) - from - 6) / 6.2);
      if (room < Math.min(5, name.length)) continue;
      g.fillStyle = inks.label[tint];
      g.fillText(name.length > room ? name.slice(0, room - 1) + "…" : name, from + 4, box.y + box.h / 2 + 3.5);
    }
  }

  // joins paints a line through the legs of each window that has several.
  #joins() {
    const { g, inks } = this;
    for (const list of this.knots.values()) {
      if (list.length < 2) continue;
      list.sort((a, b) => a.y - b.y);
      for (const [ink, w, alpha] of [[inks.ground, 3, 0.7], [inks.palette[list[0].tint], 1.3, 1]]) {
        g.globalAlpha = alpha;
        g.strokeStyle = ink;
        g.lineWidth = w;
        g.beginPath();
        list.forEach((k, i) => i ? g.lineTo(k.x, k.y + k.h / 2) : g.moveTo(k.x, k.y + k.h / 2));
        g.stroke();
      }
      g.fillStyle = inks.palette[list[0].tint];
      for (const k of list) { g.beginPath(); g.arc(k.x, k.y + k.h / 2, 2.2, 0, 7); g.fill(); }
    }
    g.globalAlpha = 1;
  }

  // light outlines a bar, and the others of its job.
  #light(seen, lit) {
    const { g, inks, store } = this, job = store.job(lit), of = job ? store.barsOf(job) : [lit];
    for (const bar of of) {
      const item = seen.find(i => i.row === store.row(bar));
      if (!item) continue;
      this.boxes(item, bar, (x, y, w, h) => {
        for (const [ink, by, width] of [[inks.ground, 1, 4], [bar === lit ? inks.mark : inks.ink, 1, 2]]) {
          g.strokeStyle = ink;
          g.lineWidth = width;
          g.strokeRect(x - by, y - by, w + 2 * by, h + 2 * by);
        }
      });
    }
  }

  #grid() {
    const { g, inks, span } = this;
    this.ticks = ticks(span.from, span.to, Math.max(2, Math.min(14, (this.width - this.left) / 76)), this.store.doc.epoch);
    g.strokeStyle = inks.line;
    g.lineWidth = 1;
    g.beginPath();
    for (const t of this.ticks.list) { const x = Math.round(this.x(t)) + 0.5; g.moveTo(x, top); g.lineTo(x, this.height); }
    g.stroke();
  }

  #ruler() {
    const { g, inks, span, store } = this;
    g.fillStyle = inks.ground;
    g.fillRect(0, 0, this.width, top);
    g.fillStyle = inks.faint;
    g.font = "11px system-ui, sans-serif";
    g.textAlign = "center";
    let free = -Infinity;
    for (const t of this.ticks.list) {
      const words = tick(t, this.ticks.step, store.doc.epoch), half = g.measureText(words).width / 2;
      const x = Math.min(this.width - half, Math.max(half, this.x(t)));
      if (x - half > free + 6) { g.fillText(words, x, 15); free = x + half; }
    }
    g.textAlign = "start";
    const { now } = store.doc;
    if (now > span.from && now < span.to) {
      g.strokeStyle = inks.mark;
      g.lineWidth = 1.5;
      g.beginPath();
      g.moveTo(this.x(now), top - 4);
      g.lineTo(this.x(now), this.height);
      g.stroke();
    }
  }

  #name(item) {
    const { g, inks, store, narrow, width, left } = this, site = store.sites[item.site], y = item.y - this.scroll;
    const fit = (words, room) => {
      while (words.length > 1 && g.measureText(words).width > room) words = words.slice(0, -2) + "…";
      return words;
    };
    if (item.row === undefined) {
      g.fillStyle = inks.ground;
      if (item.open) g.fillRect(0, y, width, item.h - 2);
      g.fillStyle = inks.ink;
      g.font = "600 12.5px system-ui, sans-serif";
      const line = item.open ? y + 16 : narrow ? y + 11 : y + 13;
      const name = (item.open ? "▾ " : "▸ ") + fit(site.name, item.open || narrow ? width / 2 : left - 22), room = width - g.measureText(name).width - 16;
      g.fillText(name, 2, line);
      if (site.used && room > 40 && (item.open || narrow)) {
        g.font = "11px system-ui, sans-serif";
        g.fillStyle = inks.faint;
        g.textAlign = "end";
        g.fillText(fit(site.state ? site.state + "; " + site.used : site.used, Math.min(room, width - 140)), width - 1, line);
        g.textAlign = "start";
      }
      return;
    }
    const row = store.rows[item.row], nodes = `${row.nodes} node${row.nodes === 1 ? "" : "s"}`;
    g.font = "11px system-ui, sans-serif";
    if (narrow) {
      g.fillStyle = inks.ground;
      g.fillRect(0, y - 2, width, item.band.y - item.y + 1);
      g.fillStyle = inks.faint;
      g.fillText(fit(`${row.name}, ${nodes}`, width - 8), 4, y + 11);
      return;
    }
    g.fillStyle = inks.faint;
    g.textAlign = "end";
    if (item.h >= 32) {
      g.fillText(fit(row.name, left - 14), left - 8, y + item.h / 2 - 2);
      g.fillText(nodes, left - 8, y + item.h / 2 + 12);
    } else {
      g.fillText(fit(`${row.name}, ${nodes}`, left - 12), left - 8, y + item.h / 2 + 4);
    }
    g.textAlign = "start";
  }
}

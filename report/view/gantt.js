// What ran where: a canvas as high as what can be seen of it, over rows that scroll.

import { kinds } from "./pack.js";
import { mostOpen, place } from "./rows.js";
import { Painter, inksOf } from "./paint.js";
import { count, make, moment, money, spanWords } from "./words.js";

const longest = 1200; // pixels: a higher picture scrolls in a box of its own

const how = ["immediate", "backfilled", "reserved", "shared"];

// outWords tell a time in which a site, or nodes of it, took nothing new.
export function outWords(o, epoch) {
  const what = o.what === "maintenance" ? "out of service" : o.what, who = o.group ? `${o.nodes ? `${count(o.nodes, "node")} of ` : ""}${o.group} ` : "";
  return `${who}${what} from ${moment(o.start, epoch)}${o.end === undefined ? " on" : ` to ${moment(o.end, epoch)}`}${o.why ? `: ${o.why}` : ""}`;
}

// Gantt shows the bars of a store over a span. It sends "open" with a bar to open, and
// "site" with a site that was opened or closed.
export class Gantt extends EventTarget {
  items = []; open = new Set(); lit = null; held = true; tint = null; keep = null; shown = []; #due = 0; #decided = false;

  constructor(store, span) {
    super();
    Object.assign(this, { store, span });
    this.canvas = make("canvas", { tabindex: 0, role: "application", "aria-roledescription": "chart" });
    this.spacer = make("div", { class: "spacer" }, this.canvas);
    this.box = make("div", { class: "rows" }, this.spacer);
    this.paper = make("div", { class: "paper", "aria-hidden": "true" });
    this.box.addEventListener("scroll", () => this.draw());
    span.addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.place()).observe(this.box);
    matchMedia("(prefers-color-scheme:dark)").addEventListener("change", () => this.draw());
    addEventListener("beforeprint", () => this.print());
    addEventListener("afterprint", () => this.paper.replaceChildren());
    matchMedia("print").addEventListener("change", e => { if (e.matches) this.print(); else this.paper.replaceChildren(); });
  }

  // show takes the store as it is now; sites are the indices of those to show, in order.
  show(sites = this.store.sites.map((_, i) => i)) {
    this.shown = sites;
    if (!this.#decided && this.store.sites.length) {
      this.#decided = true;
      if (this.store.rows.length <= mostOpen) this.store.sites.forEach(s => this.open.add(s.name));
    }
    this.place();
  }

  get narrow() { return this.box.clientWidth < 620; }

  place() {
    const { items, height } = place(this.store, this.shown, this.open, this.narrow);
    [this.items, this.height] = [items, height];
    this.spacer.style.height = `${height}px`;
    this.long = height > longest;
    this.box.classList.toggle("long", this.long);
    const { doc, bars } = this.store;
    this.canvas.setAttribute("aria-label", `What ran where: ${count(bars.n, "block")} of ${count(this.shown.length, "site")}, ${moment(doc.from ?? 0, doc.epoch)} to ${moment(doc.until, doc.epoch)}. ` +
      "Enter selects a block, arrows go to its neighbours, Enter opens its job, Escape lets go; plus and minus zoom, arrows move when nothing is selected. The table below says the same.");
    this.draw();
  }

  // draw draws before the next frame is shown.
  draw() { this.#due ||= requestAnimationFrame(() => { this.#due = 0; this.paint(); }); }

  get size() {
    return { left: this.narrow ? 0 : 120, width: this.box.clientWidth, scroll: this.box.scrollTop, narrow: this.narrow, held: this.held, tint: this.tint, keep: this.keep,
      height: Math.min(this.box.clientHeight || this.height, this.height) };
  }

  paint() {
    const { canvas, size } = this, scale = devicePixelRatio || 1;
    if (!size.width) return;
    [canvas.width, canvas.height] = [Math.round(size.width * scale), Math.round(size.height * scale)];
    [canvas.style.width, canvas.style.height] = [`${size.width}px`, `${size.height}px`];
    const g = canvas.getContext("2d", { alpha: false });
    g.scale(scale, scale);
    this.painter = new Painter(g, inksOf(canvas, g), this.store, this.span, size);
    this.painted = this.painter.paint(this.items, this.lit);
    this.dispatchEvent(new Event("painted"));
  }

  // print paints all rows on sheets of their own, cut between sites or their groups: a
  // site's name stays with its first group.
  print() {
    const sheets = [], width = 1000, most = 340; // so that what is left of a page takes one
    const { items, height } = place(this.store, this.shown, this.open, false);
    let from = 0;
    items.forEach((item, i) => {
      const next = items[i + 1], end = next ? next.y : height;
      if (!next || !item.open && next.y + next.h + (next.open ? items[i + 2]?.h ?? 0 : 0) - from > most) { sheets.push([from, end]); from = end - 28; }
    });
    this.paper.replaceChildren(...sheets.map(([from, to]) => {
      const c = make("canvas"), g = c.getContext("2d");
      [c.width, c.height] = [width * 2, (to - from) * 2];
      c.style.aspectRatio = `${width} / ${to - from}`;
      g.scale(2, 2);
      new Painter(g, inksOf(this.paper, g), this.store, this.span, { left: 120, width, height: to - from, scroll: from, narrow: false, held: this.held, tint: this.tint, keep: this.keep }).paint(items, null);
      return c;
    }));
  }

  // words tell a bar, as the tooltips of gantt.svg do.
  words(bar) {
    const { store } = this, { bars, doc } = store, row = store.rows[store.row(bar)], kind = bars.kind[bar];
    const when = `${count(bars.nodes[bar], "node")}, ${moment(bars.start(bar), doc.epoch)} to ${moment(bars.end(bar), doc.epoch)} (${spanWords(bars.end(bar) - bars.start(bar))})`;
    const where = `${store.sites[row.site].name}/${row.name}`;
    if (kind < kinds.leg) return `${where}, local job ${bars.number[bar]}: ${when}, ${how[kind]}`;
    const job = store.job(bar), part = bars.number[bar], { parts } = bars;
    const who = job ? job.name + (job.vo ? ` of ${job.vo}` : "") : "a job that is not shown";
    if (kind === kinds.held) return `${where}, ${who}: ${when}, held and not run`;
    let text = `${where}, ${who}: ${when}, ${money(parts.cost[part])} credits`;
    if (parts.extra[part] > 0) text += ` (${money(parts.extra[part])} for delay)`;
    if (parts.parts[part] > 1) text += `, part ${parts.part[part]} of ${parts.parts[part]}`;
    if (parts.of?.[part]) text += ` (${parts.of[part]})`;
    return text;
  }

  // out is the outage or the maintenance of an item at an instant.
  out(item, t) {
    const row = this.store.rows[item.row];
    return this.store.sites[item.site].outs?.find(o => (!o.group || !row || o.group === row.name) && o.start <= t && t < (o.end ?? Infinity));
  }

  // select lights a bar and, if it must, moves so that it can be seen.
  select(bar, move = false) {
    this.lit = bar;
    if (bar !== null && move) {
      const { bars } = this.store, { span } = this, row = this.store.row(bar), site = this.store.sites[this.store.rows[row].site];
      if (!this.open.has(site.name)) this.toggle(this.store.rows[row].site, true);
      const length = bars.end(bar) - bars.start(bar), size = span.to - span.from;
      const [a, b] = this.store.within(row, span.from, span.to);
      const dense = this.painter && (b - a) * 24 > (this.painter.width - this.painter.left) * (this.items.find(i => i.row === row)?.h ?? 20);
      if (dense || length < size / 400 || bars.start(bar) < span.from || bars.end(bar) > span.to) {
        const around = Math.max(length * 6, dense ? size * Math.min(1, 0.5 / ((b - a) * 24 / 20_000)) : 0, 600_000);
        span.show((bars.start(bar) + bars.end(bar) - Math.min(around, Math.max(size, length * 3))) / 2, (bars.start(bar) + bars.end(bar) + Math.min(around, Math.max(size, length * 3))) / 2);
      }
      const item = this.items.find(i => i.row === row);
      if (item && (item.y < this.box.scrollTop + 30 || item.y + item.h > this.box.scrollTop + this.box.clientHeight)) this.box.scrollTop = item.y - 60;
    }
    this.draw();
  }

  toggle(site, open = !this.open.has(this.store.sites[site].name)) {
    const { name } = this.store.sites[site];
    if (open) this.open.add(name); else this.open.delete(name);
    this.place();
    this.dispatchEvent(new CustomEvent("site", { detail: site }));
  }

  // at is what lies under a point of the canvas: an item, an instant, and a bar if one
  // is painted there.
  at(px, py) {
    const { painter, store } = this, y = py + this.box.scrollTop;
    if (!painter || py < 24) return {};
    const item = this.items.find(i => y >= i.y && y < i.y + i.h);
    if (!item) return {};
    const t = this.span.from + (px - painter.left) / (painter.width - painter.left) * (this.span.to - this.span.from);
    if (item.row === undefined || !this.painted.has(item.row) || px < painter.left) return { item, t };
    const reach = (this.span.to - this.span.from) / painter.width;
    const [a, b] = store.within(item.row, t - reach, t + reach);
    let bar = null, outline = null;
    for (let i = a; i < b; i++) {
      painter.boxes(item, i, (x, y, w, h) => {
        if (px < x - 1 || px > x + w + 1 || py < y || py >= y + h) return;
        if (store.bars.kind[i] !== kinds.held) bar = i;
        else if (this.held) outline = i;
      });
    }
    return { item, t, bar: bar ?? outline ?? undefined };
  }
}

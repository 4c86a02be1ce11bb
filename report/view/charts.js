// Use and price over time by uPlot, of all sites together or of one.

import { make, moment, tick, ticks } from "./words.js";

const mostLines = 8; // sites with a price line of their own

// ink reads a colour when it is used: it changes with the scheme.
const ink = name => () => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Charts {
  plots = []; #site = ""; #chosen = ""; #seen = false; #due = false; #shown = ""; #loads = null; #names = ""; #made = new Map();

  constructor(store, span, key = "paid") {
    Object.assign(this, { store, span, key });
    this.select = make("select", { onchange: () => this.show(this.select.value) });
    this.about = make("p", { class: "faint" });
    this.use = make("figure", { class: "chart" });
    this.price = make("figure", { class: "chart" });
    this.element = make("div", {}, make("div", { class: "bar" }, make("label", {}, "Of ", this.select)), this.about, this.use, this.price);
    span.addEventListener("change", () => this.plots.forEach(p => { if (p.scales.x.min !== span.from || p.scales.x.max !== span.to) p.setScale("x", { min: span.from, max: span.to }); }));
    new ResizeObserver(() => this.#size()).observe(this.element);
    matchMedia("(prefers-color-scheme:dark)").addEventListener("change", () => this.plots.forEach(p => p.redraw(false)));
    for (const [event, paper] of [["beforeprint", true], ["afterprint", false]]) addEventListener(event, () => this.#size(paper ? 700 : 0));
    new IntersectionObserver(e => { if (e.some(x => x.isIntersecting)) this.#draw(); }, { rootMargin: "600px" }).observe(this.element);
    addEventListener("beforeprint", () => this.#draw());
  }

  // show takes the loads as they are now, of one site by its name or of all. What is as it
  // was stays as it is drawn.
  show(site = this.#chosen) {
    const { loads = [], from, until, now } = this.store.doc, names = loads.map(l => l.site);
    this.#chosen = site;
    this.#site = names.includes(site) ? site : loads.length === 1 ? names[0] : ""; // the only one is nobody's choice
    if (names.join("\n") !== this.#names) {
      this.#names = names.join("\n");
      this.select.replaceChildren(...(loads.length > 1 ? [make("option", { value: "" }, `all ${loads.length} sites`)] : []), ...names.map(n => make("option", { value: n }, n)));
    }
    this.select.value = this.#site;
    const shown = [this.#site, from, until, Math.round((now ?? 0) / 10_000)].join(" ");
    if (shown === this.#shown && loads === this.#loads) return;
    [this.#shown, this.#loads, this.#due] = [shown, loads, true];
    if (this.#seen) this.#draw();
  }

  #draw() {
    this.#seen = true;
    if (!this.#due || !this.store.doc.loads?.length) return;
    this.#due = false;
    this.plots = [this.#use(), this.#price()].filter(Boolean);
    this.#size();
  }

  // times are where the steps of a load begin, with the end of the last: of what goes on,
  // now.
  #times(load) {
    const { from = 0, until, now } = this.store.doc, n = load.local.length;
    return load.at ? [...load.at, Math.max(load.at.at(-1) + 1, now ?? until)] : Array.from({ length: n + 1 }, (_, k) => from + (until - from) * k / n);
  }

  #use() {
    const { loads } = this.store.doc, of = this.#site ? loads.filter(l => l.site === this.#site) : loads;
    const nodes = of.reduce((n, l) => n + l.nodes, 0), n = of[0].local.length;
    const sum = key => Array.from({ length: n }, (_, k) => 100 * of.reduce((s, l) => s + (l[key][k] ?? 0), 0) / nodes);
    const vo = sum("vo"), local = sum("local"), end = list => [...list, list.at(-1)];
    this.about.textContent = `Share of ${nodes.toLocaleString("en")} nodes in use, by whom` + (loads.some(l => l[this.key]) ? (this.key === "paid" ? ", and the mean price per node-hour of the VO legs that run" : ", and the base price per node-hour that is asked") +
      (this.#site ? ", with its base part dashed: what lies between is paid for delaying local jobs." : ".") : ".");
    const all = vo.map((v, k) => v + local[k]), share = (_, v) => v === null || v === undefined ? "" : `${v.toFixed(1)} %`;
    return this.#plot(this.use, "% of nodes in use", [this.#times(of[0]), end(all), end(vo)], [
      { label: "All", fill: ink("--local"), stroke: ink("--local"), value: share },
      { label: "VO legs", fill: ink("--vo"), stroke: ink("--vo"), value: share }], [0, 100]);
  }

  #price() {
    const { loads } = this.store.doc, { key } = this, end = list => [...list, list.at(-1)];
    const site = loads.find(l => l.site === this.#site);
    this.price.hidden = !loads.some(l => l[key]);
    if (this.price.hidden) return null;
    const value = (_, v) => v === null || v === undefined ? "" : v.toFixed(3);
    if (site) {
      const lines = [["asked", "Base price asked", "--faint", [2, 3]], ["base", "Its base part", "--mark", [6, 4]], ["paid", "Price paid", "--mark"]].filter(([key]) => site[key]?.some(v => v !== null));
      return this.#plot(this.price, "credits per node-hour", [this.#times(site), ...lines.map(([key]) => end(site[key]))], lines.map(([, label, name, dash]) => ({ label, stroke: ink(name), width: 1.6, dash, value })));
    }
    const few = loads.filter(l => l[key]?.some(v => v !== null));
    if (few.length <= mostLines) {
      return this.#plot(this.price, "credits per node-hour", [this.#times(loads[0]), ...few.map(l => end(l[key]))],
        few.map((l, k) => ({ label: l.site, stroke: ink(`--v${k}`), width: 1.6, dash: [[], [6, 3], [2, 3], [8, 3, 2, 3]][k % 4], value })));
    }
    const mean = loads[0].local.map((_, k) => {
      const sold = few.filter(l => l[key][k] !== null), legs = sold.reduce((s, l) => s + l.vo[k], 0);
      return legs > 0 ? sold.reduce((s, l) => s + l[key][k] * l.vo[k], 0) / legs : null;
    });
    const least = mean.map((_, k) => few.reduce((m, l) => l[key][k] === null ? m : Math.min(m ?? Infinity, l[key][k]), null));
    const most = mean.map((_, k) => few.reduce((m, l) => l[key][k] === null ? m : Math.max(m ?? 0, l[key][k]), null));
    return this.#plot(this.price, "credits per node-hour", [this.#times(loads[0]), end(most), end(mean), end(least)], [
      { label: "Dearest site", stroke: ink("--faint"), dash: [2, 3], value }, { label: "Mean", stroke: ink("--mark"), width: 1.8, value }, { label: "Cheapest site", stroke: ink("--faint"), dash: [6, 4], value }]);
  }

  // mean is that of a line over what is shown of it: each value holds from its time to the next.
  #mean(u, line) {
    const { from, to } = this.span, [times] = u.data, values = u.data[line];
    let sum = 0, all = 0;
    for (let k = 0; k + 1 < times.length; k++) {
      const part = Math.min(times[k + 1], to) - Math.max(times[k], from);
      if (part <= 0 || values[k] === null || values[k] === undefined) continue;
      sum += part * values[k];
      all += part;
    }
    return all > 0 ? sum / all : null;
  }

  // plot draws lines; where the same lines are drawn already, it gives them the new data.
  #plot(figure, title, data, series, range) {
    const lines = [title, ...series.map(s => s.label)].join("\n"), old = this.#made.get(figure);
    if (old?.lines === lines) {
      old.plot.setData(data);
      this.#say(old.plot);
      return old.plot;
    }
    old?.plot.destroy();
    const { span, store } = this, stepped = uPlot.paths.stepped({ align: 1 });
    const axis = { stroke: ink("--faint"), grid: { stroke: ink("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    figure.replaceChildren(make("figcaption", {}, title));
    const box = make("div", { role: "img", "aria-label": `${title} over time; the numbers are in the summary and in the files of bourse report --figures` });
    figure.append(box);
    let step = 1;
    const plot = new uPlot({
      width: Math.max(box.clientWidth, 240), height: 190, cursor: { sync: { key: "bourse" }, drag: { x: true, y: false, setScale: false }, y: false },
      scales: { x: { time: false, range: () => [span.from, span.to] }, y: { range: range ?? ((_, low, high) => [0, (store.doc.topPrice || high || 1) * 1.05]) } },
      axes: [{ ...axis, splits: (u, i, from, to) => { const t = ticks(from, to, Math.max(2, u.width / 90), store.doc.epoch); step = t.step; return t.list; }, values: (_, list) => list.map(t => tick(t, step, store.doc.epoch)) }, { ...axis, size: 46 }],
      series: [{ label: "At", value: (_, v) => v === null || v === undefined ? "mean of what is shown" : moment(v, store.doc.epoch) },
        ...series.map(s => ({ ...s, paths: stepped, points: { show: false }, value: (u, v, line, at) => (at === null || at === undefined ? s.value(u, this.#mean(u, line)) : s.value(u, v)) || "none" }))],
      hooks: { setScale: [(u, key) => { if (key === "x") this.#say(u); }], setSelect: [u => { if (u.select.width > 4) span.show(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")); u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false); }] },
    }, data, box);
    this.#made.set(figure, { lines, plot });
    this.#say(plot);
    return plot;
  }

  // say renews the legend where nothing is pointed at: it tells means of what is shown.
  #say(plot) {
    if (plot.cursor.idx === null || plot.cursor.idx === undefined) plot.setLegend({ idx: null }, false);
  }

  #size(width) {
    for (const p of this.plots) {
      const w = width || p.root.parentElement.clientWidth;
      if (w && w !== p.width) p.setSize({ width: w, height: 190 });
    }
  }
}

// The door: createView makes a view in an element; load and update show documents. See
// package view for what they take.

import { unpack, unpackJobs, kinds } from "./pack.js";
import { Store } from "./store.js";
import { Span } from "./span.js";
import { Gantt, outWords } from "./gantt.js";
import { listen } from "./pointer.js";
import { Table, read } from "./table.js";
import { list, tellJob, tellLocal } from "./story.js";
import { Charts } from "./charts.js";
import { figures, front, share } from "./figures.js";
import { Tints } from "./tint.js";
import { batchKey, fold, sum } from "./batch.js";
import { alerts } from "./alerts.js";
import { count, keepFocus, make, moment } from "./words.js";

export { Span };

// jobColumns: the third is which of them is folded first where there is no room.
const jobColumns = [["Job", "word"], ["State", "state"], ["Why", "word", 5], ["VO", "word", 4], ["Submit", "at", 3], ["Nodes", "number", 8], ["Start", "at", 9], ["Wait", "span", 2], ["End", "at", 6],
  ["Sites", "word", 7], ["Credits", "money", 10], ["per node-hour", "number", 1]].map(([name, kind, fold]) => ({ name, kind, fold }));
const jobCells = j => [j.name, j.counts ?? j.state, j.why ?? "", j.vo ?? "", j.submit, j.nodes, j.start, j.start === undefined ? undefined : j.start - j.submit, j.end,
  (j.sites ?? []).join(", "), j.cost, j.price ? +j.price.toFixed(3) : undefined];

export function createView(root, options = {}) {
  return new View(root, options);
}

class View {
  #frame = 0; #siteKey = ""; #tables = new Map(); #batches = new Map(); #keep = null; #sought = ""; #found = null;

  constructor(root, options) {
    this.options = options;
    this.store = new Store(options.newest);
    this.span = options.span ?? new Span();
    this.gantt = new Gantt(this.store, this.span);
    this.charts = new Charts(this.store, this.span, options.price);
    this.tints = new Tints(this.store);
    if (options.colour) this.tints.by = options.colour;
    this.gantt.tint = bar => this.tints.of(bar);
    this.#build(root);
  }

  async load(doc) {
    const lit = this.#lit();
    await this.store.load(doc);
    this.#relight(lit);
    this.#show();
  }

  async update(part) {
    const plain = { ...part };
    for (const key of ["jobs", "stories", "loads"]) if (plain[key]?.packed) plain[key] = await (key === "jobs" ? unpackJobs : unpack)(plain[key]);
    const lit = this.#lit();
    this.store.update(plain);
    this.#relight(lit);
    await new Promise(done => { this.#waiting.push(done); this.#frame ||= requestAnimationFrame(() => { this.#frame = 0; this.#show(); this.#waiting.splice(0).forEach(d => d()); }); });
  }

  #waiting = []; #shown = {};

  // choose shows those jobs alone that keep(job) keeps; null: all.
  choose(keep) {
    this.#keep = keep;
    this.#show();
    this.#search();
  }

  // openJob opens the row of a job, in its batch if that is folded.
  openJob(id, move = true) {
    const job = this.store.jobs.find(j => j.id === id);
    if (!job) return false;
    if (this.#keep && !this.#keep(job)) this.options.unfilter?.();
    const folded = this.#rows().find(r => r.of.jobs?.some(j => j.id === id));
    if (!folded) { this.jobs.open(id, move); return true; }
    this.jobs.open(folded.key, false);
    this.#batches.get(folded.key).open(id, move);
    return true;
  }

  openSite(name) { this.siteTable.open(name); }

  // search finds the jobs whose words are sought, by which the other blocks fade.
  #search() {
    const words = this.#sought.toLowerCase().split(/\s+/).filter(Boolean), keep = this.#keep;
    const has = j => words.every(w => [j.name, j.batch, j.vo, j.user, j.counts ?? j.state, ...(j.sites ?? [])].some(x => x?.toLowerCase().includes(w)));
    this.#found = words.length || keep ? new Set(this.store.jobs.filter(j => (!keep || keep(j)) && has(j))) : null;
    this.gantt.keep = this.#found && (bar => this.#found.has(this.store.job(bar)));
    this.foundWords.textContent = words.length ? count(this.#found.size, "job") : "";
    this.gantt.draw();
  }

  // next selects the next block of those that are found.
  #next() {
    const { bars } = this.store, from = (this.gantt.lit ?? -1) + 1;
    for (let k = 0; k < bars.n; k++) {
      const bar = (from + k) % bars.n;
      if (this.gantt.keep?.(bar)) return this.showBar(bar, false);
    }
  }

  // lit is the block that is selected, by its id; relight finds it where it lies now.
  #lit() { return this.gantt.lit === null ? undefined : this.store.id(this.gantt.lit); }
  #relight(id) {
    this.gantt.lit = this.store.find(id);
    if (this.gantt.lit === null && !this.panel.hidden) { this.panel.hidden = true; this.said.textContent = ""; }
  }

  // fresh reports whether a part of the document is another than was shown last.
  #fresh(part) {
    const is = this.store.doc[part];
    if (part in this.#shown && this.#shown[part] === is) return false;
    this.#shown[part] = is;
    return true;
  }

  #build(root) {
    const part = (title, about, ...inside) => {
      const s = make("section", {}, make("h2", {}, title), about ? make("p", { class: "faint" }, about) : "", ...inside);
      s.hidden = true;
      return s;
    };
    this.head = make("header");
    this.alerts = make("section", { class: "attention", "aria-label": "Attention" });
    this.before = make("section");
    this.numbers = make("div");
    this.sites = make("section");
    this.tables = make("section");
    this.tip = this.#makeTip();
    this.said = make("p", { class: "said", role: "status" });
    this.panel = make("div", { class: "panel", role: "region", "aria-label": "The block that is open", onkeydown: e => { if (e.key === "Escape") this.close(); } });
    this.panel.hidden = true;
    this.legend = make("p", { class: "legend" });
    this.list = make("details", { class: "blocks-list" }, make("summary", {}, "The blocks as a table"));
    this.list.addEventListener("toggle", () => this.#listBars());
    this.parts = {
      gantt: part("What ran where", "Nodes of each group over time. A window on several groups has one colour, and a thin line joins its parts. A block opens its job.", this.#zoomBar(), this.legend, this.gantt.box, this.gantt.paper, this.said, this.panel, this.list),
      loads: part("Use and price over time", "", this.charts.element),
      shares: part("Waits and prices", "", this.shares = make("div", { class: "pair" })),
      fronts: part("Choices for whole batches", "The largest batches of each VO: the combinations of its alternatives that no other beats in cost and in what the goal has least of, and the one that was taken. Left and down is better.", this.fronts = make("div", { class: "pair" })),
      jobs: part("Jobs of the VOs", "A job opens on what became of it, on its blocks, and on the alternatives it had.", this.jobsNote = make("p", { class: "faint" })),
    };
    this.columns = this.options.users ? jobColumns.map(c => c.name === "VO" ? { ...c, name: "User" } : c) : jobColumns;
    this.jobs = this.#jobTable("Jobs of the VOs", !this.options.filters);
    this.parts.jobs.append(this.jobs.element);
    listen(this.gantt, this.tip, words => { this.said.textContent = words; });
    this.gantt.addEventListener("open", e => e.detail === null ? this.close() : this.#openBar(e.detail));
    this.gantt.addEventListener("site", e => { const s = this.store.sites[e.detail]; if (this.gantt.open.has(s.name)) this.charts.show(s.name); });
    this.span.addEventListener("change", () => this.#told());
    root.classList.add("view");
    const { gantt, loads, shares, fronts, jobs } = this.parts, pictures = [gantt, loads, shares, fronts];
    root.replaceChildren(this.head, this.alerts, this.numbers, ...(this.options.filters ? [this.options.filters, this.before, jobs, this.tables, this.sites, ...pictures] : [this.before, this.sites, ...pictures, jobs, this.tables]), this.tip.element);
  }

  #jobTable(label, filter) {
    return new Table({ what: "job", columns: this.columns, label, filter, inside: r => r.of.jobs ? this.#batch(r) : this.#tell(r.of, { show: bar => this.showBar(bar) }), opened: r => r?.of.jobs || this.options.opened?.(r?.of) });
  }

  // tell is what opens below a job.
  #tell(job, rest) {
    if (this.options.tell && !rest.table) return this.options.tell(job, this.store, rest.show);
    return tellJob(this.store, job, { ...rest, explain: this.options.tell ? null : j => this.#explain(j), actions: this.options.jobActions });
  }

  // batch is the table of a batch's jobs, which stays as it is when they change.
  #batch({ key, of }) {
    if (!this.#batches.has(key)) this.#batches.set(key, this.#jobTable(`Jobs of batch ${of.batch}`, false));
    const table = this.#batches.get(key);
    table.show(of.jobs.map(job => this.#row(job)), this.store.doc.epoch);
    return make("div", { class: "story" }, make("p", { class: "faint" }, `Batch ${of.batch}`), table.element);
  }

  #row(job) { return { key: job.id, state: job.worst ?? (job.counts && job.state), cells: jobCells(this.options.users ? { ...job, vo: job.user } : job), of: job }; }

  // rows are those of the table of jobs.
  #rows() {
    const list = this.#keep ? this.store.jobs.filter(this.#keep) : this.store.jobs;
    if (!this.options.fold) return list.map(j => this.#row(j));
    return fold(list).map(x => x.job ? this.#row(x.job) : { ...this.#row(sum(x)), key: batchKey(x.batch), of: x });
  }

  #zoomBar() {
    const act = (name, f, rest) => make("button", { type: "button", onclick: f, ...rest }, name), { span, gantt } = this;
    this.shown = make("span", { id: null, class: "shown", role: "status" });
    this.all = act("Open all sites", () => {
      const open = gantt.open.size < this.store.sites.length;
      this.store.sites.forEach(s => open ? gantt.open.add(s.name) : gantt.open.delete(s.name));
      gantt.place();
      this.#told();
    });
    this.heldButton = act("Held, not run", e => {
      gantt.held = !gantt.held;
      e.target.setAttribute("aria-pressed", String(gantt.held));
      gantt.draw();
    }, { "aria-pressed": "true" });
    this.colour = make("select", { "aria-label": "Colours of the blocks", onchange: () => { this.tints.by = this.colour.value; this.options.coloured?.(this.colour.value); this.#key(); gantt.draw(); } });
    this.foundWords = make("span", { class: "faint", role: "status" });
    const find = make("input", { type: "search", placeholder: "job, user, site", "aria-label": "Find blocks by words", oninput: () => { this.#sought = find.value; this.#search(); }, onkeydown: e => { if (e.key === "Enter") this.#next(); } });
    return make("div", { class: "bar", role: "group", "aria-label": "Zoom of all figures over time" }, make("label", {}, "Find ", find), this.foundWords, make("label", {}, "Colours by ", this.colour), act("Zoom in", () => span.zoom(0.5), { "data-act": "in" }), act("Zoom out", () => span.zoom(2), { "data-act": "out" }),
      act("Earlier", () => span.move(-0.25), { "data-act": "left" }), act("Later", () => span.move(0.25), { "data-act": "right" }), act("Whole run", () => span.all(), { "data-act": "whole" }), this.all, this.heldButton,
      make("span", { class: "faint" }, "Shown: ", this.shown, make("span", { class: "hint" }, ". Ctrl and wheel, drag, double click; + − ← → 0, Enter and Escape when the picture has the focus.")));
  }

  #told() {
    const { span, store } = this, { epoch } = store.doc;
    this.shown.textContent = span.whole ? "the whole run" : `${moment(span.from, epoch)} to ${moment(span.to, epoch)}`;
    this.all.textContent = this.gantt.open.size < store.sites.length ? "Open all sites" : "Close all sites";
    this.#listBars();
  }

  #show() {
    const { doc, sites, jobs } = this.store, { parts } = this;
    this.head.hidden = !doc.title;
    this.head.replaceChildren(...(doc.title ? [make("h1", {}, doc.title), make("p", { class: "faint" }, doc.line ?? ""), doc.finding ? make("p", { class: "finding" }, doc.finding) : ""] : []));
    if (this.#fresh("alerts")) this.#showAlerts();
    if (this.#fresh("figures")) this.numbers.replaceChildren(doc.figures?.length ? figures(doc.figures) : "");
    this.#showSites(doc, sites);
    parts.gantt.hidden = !this.store.rows.length;
    parts.loads.hidden = !doc.loads?.length;
    parts.shares.hidden = !doc.shares?.length;
    parts.fronts.hidden = !doc.fronts?.length;
    parts.jobs.hidden = !jobs.length && !doc.jobsNote;
    if (this.#found) this.#search();
    this.heldButton.hidden = !this.store.has(kinds.held);
    this.jobsNote.textContent = doc.jobsNote ?? "";
    if (this.#fresh("shares")) this.shares.replaceChildren(...(doc.shares ?? []).map(share));
    if (this.#fresh("fronts")) this.fronts.replaceChildren(...(doc.fronts ?? []).map(front));
    this.#key();
    this.jobs.due(jobs.length, () => this.#rows(), doc.epoch);
    if (this.#fresh("tables")) this.#showTables(doc.tables ?? []);
    this.#renew();
    this.charts.show();
    this.span.over(doc.from ?? 0, Math.max(doc.until ?? 1, (doc.from ?? 0) + 1));
  }

  #showAlerts() {
    const { alerts: list, epoch } = this.store.doc;
    this.alerts.hidden = !list;
    if (list) keepFocus(this.alerts, () => this.alerts.replaceChildren(alerts(list, epoch, a => a.site ? this.openSite(a.site) : a.job ? this.openJob(a.job) : this.jobs.open(batchKey(a.batch)))));
  }

  // showSites fills the table of sites, by which the picture is sorted and filtered too.
  #showSites(doc, sites) {
    const state = sites.some(s => s.state), columns = [{ name: "Site", kind: "word" }, ...(state ? [{ name: "State", kind: "state" }] : []), ...(doc.siteColumns ?? []).map((c, i, all) => ({ ...c, fold: all.length - i }))], key = JSON.stringify(columns);
    this.sites.hidden = !sites.length;
    if (key !== this.#siteKey) {
      this.#siteKey = key;
      this.siteTable = new Table({ what: "site", columns, label: "Sites", filter: true, inside: r => this.#inside(r.of) });
      this.siteTable.input.placeholder = "name, state";
      this.siteTable.addEventListener("shown", () => this.gantt.show(this.siteTable.shown.map(r => r.at)));
      this.sites.replaceChildren(make("h2", {}, "Sites"), make("p", { class: "faint" }, (this.options.sitesAbout ?? "How full, by whom; their own jobs; what they earned, in credits.") + " What is filtered and sorted here is shown so below."), this.siteTable.element);
    }
    this.siteTable.show(sites.map((site, at) => ({ key: site.name, at, of: site, cells: [site.name, ...(state ? [site.state ?? ""] : []), ...(site.cells ?? [])] })), doc.epoch);
  }

  // inside is what opens below a site.
  #inside(site) {
    const at = () => this.store.sites.findIndex(s => s.name === site.name), actions = this.options.actions?.(site) ?? [];
    return make("div", { class: "story" }, site.why ? make("p", { class: "why" }, site.why) : "", make("p", {}, site.groups.map(g => `${g.name}: ${count(g.nodes, "node")}`).join("; ")), ...(site.outs ?? []).map(o => make("p", {}, outWords(o.why === site.why ? { ...o, why: "" } : o, this.store.doc.epoch))),
      list((this.store.doc.siteColumns ?? []).map((c, i) => [c.name, read(c.kind, site.cells?.[i], this.store.doc.epoch)])),
      make("p", { class: "blocks" }, make("button", { type: "button", onclick: () => { this.gantt.toggle(at(), true); this.#reveal(this.gantt.items.find(i => i.site === at())); } }, "Show what ran there"),
        make("button", { type: "button", onclick: () => { this.charts.show(site.name); this.parts.loads.scrollIntoView(); } }, "Show its use and price"),
        ...actions.map(a => make("button", { type: "button", onclick: a.run }, a.label))));
  }

  #reveal(item) {
    this.parts.gantt.scrollIntoView();
    if (item) this.gantt.box.scrollTop = item.y - 30;
  }

  #showTables(list) {
    for (const [title, { box }] of this.#tables) if (!list.some(t => t.title === title)) { box.remove(); this.#tables.delete(title); }
    for (const t of list) {
      let one = this.#tables.get(t.title);
      if (!one) {
        const before = this.options.before?.[t.title], table = new Table({ what: "row", columns: before?.fold ? t.columns.map(c => ({ ...c, fold: before.fold[c.name] })) : t.columns, label: t.title, first: before?.rows, inside: before && (r => before.inside(r.cells, this)) }), about = make("p", { class: "faint" });
        one = { table, about, box: make("div", { class: before && "queue" }, make("h2", {}, t.title), about, table.element) };
        this.#tables.set(t.title, one);
        (before ? this.before : this.tables).append(one.box);
      }
      one.about.textContent = t.about ?? "";
      one.table.element.hidden = !t.rows.length;
      one.table.bar.hidden = t.rows.length <= 12;
      one.table.show(t.rows.map((cells, i) => ({ key: String(cells[0]) + i, cells })), this.store.doc.epoch);
    }
    this.tables.hidden = !this.tables.childElementCount;
    this.before.hidden = !this.before.childElementCount;
  }

  // key says what the fills mean.
  #key() {
    const choices = this.tints.choices(), out = is => this.store.sites.some(s => s.outs?.some(is));
    if (choices.length !== this.colour.options.length) this.colour.replaceChildren(...choices.map(([v, name]) => make("option", { value: v }, name)));
    this.colour.value = this.tints.by;
    this.colour.parentElement.hidden = choices.length < 2;
    const has = kind => this.store.has(kind), entry = (cls, words) => make("span", {}, make("i", { class: cls }), words);
    this.legend.replaceChildren(...[has(0) && entry("k-i", "local, started at once"), has(1) && entry("k-b", "backfilled"), has(2) && entry("k-r", "from its reserved place"), has(3) && entry("k-i", "local, sharing nodes"),
      ...((has(4) || has(5)) ? this.tints.by === "window" ? [entry("k-v", "VO leg, a colour for each window")] : this.tints.legend().map(([k, name]) => k === null ? make("span", {}, name) : entry(`k-v${k}`, name)) : []), has(6) && entry("k-h", "held, not run"), entry("k-l", "where blocks are too many or share nodes: nodes with local jobs"), entry("k-f", "nodes with VO legs"),
      out(o => o.what === "maintenance") && entry("k-m", "maintenance"), out(o => o.what === "drained") && entry("k-d", "drained"), out(o => o.what !== "maintenance" && o.what !== "drained") && entry("k-o", "not usable"),
      this.gantt.long && make("span", {}, `${this.store.sites.length} sites: the picture scrolls`)].filter(Boolean));
  }

  #explain(job) { return this.options.explain ? this.options.explain(job) : this.store.story(job); }

  #openBar(bar) {
    this.panel.hidden = false;
    this.panel.key = undefined;
    this.#renew();
    this.panel.scrollIntoView({ block: "nearest" });
  }

  // renew tells in the panel what there is of the block that is lit, if that is news.
  #renew() {
    const bar = this.gantt.lit;
    if (this.panel.hidden || bar === null) return;
    const job = this.store.job(bar), key = JSON.stringify([job, this.gantt.words(bar)]);
    if (key === this.panel.key) return;
    this.panel.key = key;
    const close = make("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => this.close() }, "×");
    const told = job ? this.#tell(job, { show: b => this.showBar(b), table: () => this.openJob(job.id) }) : tellLocal(this.gantt.words(bar));
    keepFocus(this.panel, () => this.panel.replaceChildren(close, told));
  }

  showBar(bar, focus = true) {
    this.gantt.select(bar, true);
    this.said.textContent = this.gantt.words(bar);
    this.#openBar(bar);
    if (focus) this.parts.gantt.scrollIntoView({ block: "start" });
    if (focus) this.gantt.canvas.focus({ preventScroll: true });
  }

  close() {
    this.panel.hidden = true;
    this.gantt.select(null);
    this.gantt.canvas.focus({ preventScroll: true });
  }

  // listBars lists the blocks of the span that is shown, site by site: the equal of the
  // picture for whoever does not see it.
  #listBars() {
    if (!this.list.open) return;
    const { store, span, gantt } = this, most = 200, rows = [];
    let more = 0;
    for (const s of gantt.shown) for (let row = store.sites[s].first; row < store.sites[s].first + store.sites[s].groups.length; row++) {
      const [a, b] = store.within(row, span.from, span.to);
      for (let i = a; i < b; i++) if (store.bars.end(i) > span.from) rows.length < most ? rows.push(i) : more++;
    }
    const words = rows.map(i => gantt.words(i)), ids = rows.map(i => store.id(i)), said = `${count(rows.length + more, "block")} in the time shown` + (more ? `, of which these are the first ${most}; zoom in, or filter the sites, for the others.` : ".");
    const is = [said, ...words, ...ids].join("\n");
    if (is === this.list.key) return;
    this.list.key = is;
    const table = make("table", {}, make("tbody", {}, ...words.map((w, k) => make("tr", {}, make("td", { class: "word" }, make("button", { type: "button", onclick: () => this.showBar(store.find(ids[k]) ?? rows[k]) }, w))))));
    keepFocus(this.list, () => this.list.replaceChildren(this.list.firstChild, make("p", { class: "faint" }, said), make("div", { class: "scroll" }, table)));
  }

  #makeTip() {
    const element = make("div", { class: "tip", role: "tooltip" });
    element.hidden = true;
    addEventListener("scroll", () => { element.hidden = true; }, true);
    return { element, hide: () => { element.hidden = true; }, show: (words, e) => {
      element.hidden = false;
      element.textContent = words;
      const w = element.offsetWidth, h = element.offsetHeight;
      element.style.left = `${Math.max(4, Math.min(innerWidth - w - 4, e.clientX + 12))}px`;
      element.style.top = `${e.clientY + h + 24 > innerHeight ? Math.max(4, e.clientY - h - 12) : e.clientY + 16}px`;
    } };
  }
}

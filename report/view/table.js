// A table that sorts by any column, filters by words and by state, and opens a row below
// a row, over its whole width: columns keep their widths. Where it is too wide, columns are
// folded away that an open row tells too.

import { count, keepFocus, make, moment, money, spanWords } from "./words.js";

const atOnce = 2_000; // rows of a table that is filled at once; those of more are when it is near
const page = 25; // rows at first; each press of "more" adds four times as many
const left = { word: true, state: true };

// read is the words of a cell, value what it sorts by.
export const read = (kind, v, epoch) => v === undefined || v === null ? "" : ({ at: () => moment(v, epoch), span: () => spanWords(v), money: () => money(v), figure: () => v.s ?? String(v) }[kind] ?? (() => String(v)))();
const value = (kind, v) => v === undefined || v === null || v === "" ? undefined : kind === "figure" ? v.v ?? v : v;

// Table shows rows: objects with cells and a key; of is what a row is of. Rows that are as
// they were stay in the page, with the focus and what is open in them. It sends "shown"
// when what is shown, or its order, has changed.
export class Table extends EventTarget {
  rows = []; shown = []; #limit = page; #sort = null; #open = null; #words = ""; #state = ""; #made = new Map(); #states = "";

  // columns: {name, kind, fold}; those with the least fold are folded first, those without
  // never. inside(row) makes what opens below a row, if given; opened(row) is told which is
  // open. first is how many rows are shown at first.
  constructor({ what, columns, inside, label, filter = true, first = page, opened }) {
    super();
    Object.assign(this, { what, columns, inside, opened });
    this.#limit = first;
    this.input = make("input", { type: "search", placeholder: "name, site, state", "aria-label": `Filter ${what}s by words`, oninput: () => { this.#words = this.input.value; this.#limit = page; this.fill(); } });
    this.select = make("select", { "aria-label": `Filter ${what}s by state`, onchange: () => { this.#state = this.select.value; this.#limit = page; this.fill(); } });
    this.said = make("span", { class: "faint", role: "status" });
    this.folds = make("button", { type: "button", "aria-pressed": "false", onclick: () => { this.#unfolded = !this.#unfolded; this.#fit(); } });
    this.folds.hidden = true;
    this.bar = make("div", { class: "bar" }, make("label", {}, "Filter ", this.input), this.select, this.said, this.folds);
    this.bar.hidden = !filter;
    this.heads = columns.map((c, i) => make("th", { scope: "col", class: left[c.kind] && "word" }, make("button", { type: "button", onclick: () => this.sort(i) }, c.name)));
    this.body = make("tbody", { onkeydown: e => this.#key(e) });
    this.more = make("button", { type: "button", class: "more", onclick: () => { this.#limit += 4 * page; this.fill(); } });
    this.table = make("table", {}, make("thead", {}, make("tr", {}, ...this.heads)), this.body);
    this.scroll = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label ?? what }, this.table);
    this.element = make("div", { class: columns.some(c => c.fold) ? "table folding" : "table" }, this.bar, this.scroll, this.more);
    if (columns.some(c => c.fold)) new ResizeObserver(() => this.#fit()).observe(this.scroll);
  }

  #unfolded = false; #fitted = "";

  // fit folds columns until the table is as wide as there is room. It is measured anew
  // when the room, the longest words of a column, or what was asked for has changed.
  #fit() {
    const order = this.columns.map((c, i) => [c.fold, i]).filter(([fold]) => fold).sort(([a], [b]) => a - b).map(([, i]) => i);
    const room = this.scroll.clientWidth, as = JSON.stringify([room, this.#unfolded, this.longest]);
    if (!order.length || !room || as === this.#fitted) return;
    this.#fitted = as;
    this.table.className = "";
    const wide = () => this.table.offsetWidth > room;
    const folded = [], need = wide();
    while (need && !this.#unfolded && folded.length < order.length && wide()) {
      folded.push(order[folded.length]);
      this.table.classList.add(`fold${folded.at(-1) + 1}`);
    }
    this.folds.hidden = !need;
    this.folds.setAttribute("aria-pressed", String(this.#unfolded));
    this.folds.textContent = "All columns";
    this.folds.title = folded.length ? `Folded, as there is no room: ${folded.sort((a, b) => a - b).map(i => this.columns[i].name).join(", ")}. A row that is opened tells them.` : "";
  }

  // due shows n rows that list makes: many are made when the table comes near, or is asked
  // for one of them. A page of many blocks would else wait for rows that nobody sees.
  due(n, list, epoch) {
    this.#due = () => this.show(list(), epoch);
    if (n <= atOnce || this.#near) return this.settle();
    this.said.textContent = count(n, this.what);
    if (this.#watch) return;
    this.#watch = new IntersectionObserver(e => {
      if (!e.some(x => x.isIntersecting)) return;
      this.#near = true;
      this.#watch.disconnect();
      this.settle();
    }, { rootMargin: "800px" });
    this.#watch.observe(this.element);
    addEventListener("beforeprint", () => this.settle());
  }

  // settle fills the table with what is due.
  settle() {
    const due = this.#due;
    this.#due = null;
    due?.();
  }

  #due = null; #near = false; #watch = null;

  // show takes rows, {key, cells}, and the epoch of their times.
  show(rows, epoch) {
    this.rows = rows;
    this.epoch = epoch;
    const state = this.columns.findIndex(c => c.kind === "state");
    const states = state < 0 ? [] : [...new Set(rows.map(r => r.cells[state]).filter(Boolean))].sort();
    this.select.hidden = states.length < 2 && !this.#state;
    if (this.#states !== states.join("\n")) {
      this.#states = states.join("\n");
      this.select.replaceChildren(make("option", { value: "" }, "any state"), ...states.map(s => make("option", { value: s, selected: s === this.#state }, s)));
    }
    this.#measure();
    this.fill();
    this.#fit();
  }

  // measure keeps a row that is not seen, of the longest words of each column, so that
  // columns have the same widths whichever rows are shown.
  #measure() {
    const pen = make("canvas").getContext("2d");
    pen.font = getComputedStyle(this.element).font || "14px system-ui";
    this.longest = this.columns.map((c, i) => {
      let words = "", width = 0;
      for (const said of this.#long(c.kind, i)) {
        const w = pen.measureText(said).width;
        if (w > width) [words, width] = [said, w];
      }
      return words;
    });
  }

  // long are words of a column that may be its widest, a few of many thousand: those with
  // the most letters; of numbers, whose digits are equally wide, the largest, the least and
  // some others.
  #long(kind, i) {
    const { rows } = this, letters = kind in left || kind === "figure", few = [], step = Math.ceil(rows.length / 50);
    let most = 0, low, high;
    rows.forEach((r, k) => {
      const v = r.cells[i];
      if (v === undefined || v === null) return;
      if (letters) {
        const said = kind === "figure" ? read(kind, v) : String(v);
        if (said.length > most || said.length > most * 0.8 && few.length < 200) few.push(said);
        most = Math.max(most, said.length);
        return;
      }
      if (low === undefined || v < low) low = v;
      if (high === undefined || v > high) high = v;
      if (k % step === 0) few.push(v);
    });
    return letters ? few : [low, high, ...few].map(v => read(kind, v, this.epoch));
  }

  sort(i) {
    this.settle();
    this.#sort = { by: i, down: this.#sort?.by === i && !this.#sort.down };
    this.heads.forEach((h, k) => k === i ? h.setAttribute("aria-sort", this.#sort.down ? "descending" : "ascending") : h.removeAttribute("aria-sort"));
    this.fill();
  }

  // open opens the row of a key, and shows it. Undefined closes what is open.
  open(key, move = true) {
    this.settle();
    this.#open = key;
    this.opened?.(this.rows.find(r => r.key === key));
    const at = this.shown.findIndex(r => r.key === key);
    if (key !== undefined && at < 0 && this.rows.some(r => r.key === key)) { // it is filtered out
      this.input.value = this.#words = this.select.value = this.#state = "";
    }
    this.fill();
    const index = this.shown.findIndex(r => r.key === key);
    if (index >= this.#limit) { this.#limit = index + page; this.fill(); }
    const row = this.#made.get(key)?.rows[0];
    if (row && move) { row.scrollIntoView({ block: "center" }); row.querySelector("button")?.focus({ preventScroll: true }); }
  }

  #match() {
    const wanted = this.#words.toLowerCase().split(/\s+/).filter(Boolean), state = this.columns.findIndex(c => c.kind === "state");
    let list = this.rows.filter(r => {
      if (this.#state && r.cells[state] !== this.#state) return false;
      if (!wanted.length) return true;
      r.words ??= r.cells.map((c, i) => read(this.columns[i].kind, c, this.epoch)).join(" ").toLowerCase();
      return wanted.every(w => r.words.includes(w));
    });
    if (this.#sort) {
      const { by, down } = this.#sort, { kind } = this.columns[by], sign = down ? -1 : 1;
      list = list.map((r, i) => [value(kind, r.cells[by]), r, i]).sort(([a, , i], [b, , k]) =>
        (a === undefined) - (b === undefined) || sign * (a === undefined ? 0 : typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true })) || i - k).map(x => x[1]);
    }
    return list;
  }

  fill() {
    this.shown = this.#match();
    const before = this.#made;
    this.#made = new Map();
    const rows = this.shown.slice(0, this.#limit).flatMap(r => {
      const open = this.inside && r.key === this.#open, as = JSON.stringify([open, r.cells, open && r.of, this.epoch]), old = before.get(r.key);
      const made = old?.as === as ? old : { as, rows: this.#row(r, open) };
      this.#made.set(r.key, made);
      return made.rows;
    });
    const sizer = make("tr", { class: "sizer", "aria-hidden": "true" }, ...this.columns.map((c, i) => make("td", { class: left[c.kind] && "word" }, make("div", {}, (i ? "" : "▸ ") + this.longest[i] + (c.kind === "state" ? " ●" : "")))));
    keepFocus(this.body, () => {
      const stay = new Set(rows);
      for (const r of [...this.body.rows]) if (!stay.has(r)) r.remove();
      [sizer, ...rows].forEach((r, i) => { if (this.body.rows[i] !== r) this.body.insertBefore(r, this.body.rows[i] ?? null); });
    }, "tr");
    const rest = this.shown.length - this.#limit;
    this.more.hidden = rest <= 0;
    this.more.textContent = `Show more (${rest.toLocaleString("en")} left)`;
    this.said.textContent = this.shown.length === this.rows.length ? count(this.rows.length, this.what) : `${this.shown.length.toLocaleString("en")} of ${count(this.rows.length, this.what)}`;
    this.dispatchEvent(new Event("shown"));
  }

  #row(r, open) {
    const cells = this.columns.map((c, i) => {
      const words = read(c.kind, r.cells[i], this.epoch);
      if (i) return make("td", { class: c.kind === "state" ? "word whole" : left[c.kind] && "word" }, c.kind === "state" ? make("span", { class: "state", "data-state": r.state ?? words }, words) : words);
      const name = this.inside ? make("button", { type: "button", "aria-expanded": String(!!open), onclick: () => this.open(open ? undefined : r.key, false) }, words) : words;
      return make("th", { scope: "row", class: "word" }, name);
    });
    const row = make("tr", { class: open && "open" }, ...cells);
    row.key = r.key;
    if (!open) return [row];
    const below = make("tr", { class: "inside" }, make("td", { colspan: this.columns.length }, this.inside(r)));
    below.key = r.key;
    return [row, below];
  }

  // key moves between rows with the arrows and closes with Escape.
  #key(e) {
    const button = e.target.closest("tbody > tr > th > button");
    if (!button) { if (e.key === "Escape" && this.#open !== undefined) this.open(this.#open, true), this.open(undefined, false); return; }
    const list = [...this.body.querySelectorAll(":scope > tr > th > button")], at = list.indexOf(button);
    const to = { ArrowDown: list[at + 1], ArrowUp: list[at - 1], Home: list[0], End: list.at(-1) }[e.key];
    if (to) { e.preventDefault(); to.focus(); }
    if (e.key === "Escape") this.open(undefined, false);
  }
}

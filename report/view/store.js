// The document as it stands: load takes one, update merges one into it.

import { Bars, kinds, unpack, unpackBars, unpackJobs } from "./pack.js";

const byKey = (list, key) => new Map((list ?? []).map(x => [x[key], x]));

export class Store {
  doc = {}; jobs = []; sites = []; rows = []; bars = new Bars(0, 0); stories = null;
  #plain = new Map(); // bars by id, where they came plain
  #packedStories = null;

  // newest has new jobs come before the others, not after.
  constructor(newest) { this.newest = newest; }

  async load(doc) {
    const jobs = await unpackJobs(doc.jobs), loads = await unpack(doc.loads), bars = doc.bars?.columns && await unpackBars(doc.bars);
    this.doc = { ...doc, loads };
    this.jobs = jobs;
    this.#plain = byKey(Array.isArray(doc.bars) ? doc.bars : [], "id");
    this.#packedStories = doc.stories;
    this.stories = null;
    this.sites = doc.sites ?? [];
    this.#place();
    if (bars) {
      this.bars = bars;
      this.#order = [];
      this.#renew();
    } else {
      this.#sort();
    }
  }

  update(part) {
    const { jobs, bars, sites, ...rest } = part;
    Object.assign(this.doc, rest);
    if (jobs) this.jobs = merge(this.jobs, jobs, "id", this.newest);
    if (sites) {
      this.sites = merge(this.sites, sites, "name");
      this.#place();
    }
    if (bars) for (const b of bars) b.gone ? this.#plain.delete(b.id) : this.#plain.set(b.id, b);
    if (bars || jobs || sites) this.#sort();
  }

  // place gives each group its row.
  #place() {
    this.rows = this.sites.flatMap((s, site) => s.groups.map(g => ({ site, name: g.name, nodes: g.nodes })));
    let row = 0;
    this.sites.forEach(s => { s.first = row; s.nodes = s.groups.reduce((a, g) => a + g.nodes, 0); row += s.groups.length; });
  }

  // sort makes columns of plain bars.
  #sort() {
    const rowOf = new Map(this.rows.map((r, i) => [this.sites[r.site].name + "\n" + r.name, i]));
    const lists = this.rows.map(() => []);
    for (const b of this.#plain.values()) lists[rowOf.get(b.site + "\n" + b.group)]?.push(b);
    this.#order = [];
    const n = lists.reduce((n, l) => n + l.length, 0), bars = new Bars(n, lists.length), number = new Int32Array(n), jobs = new Map(this.jobs.map((j, i) => [j.id, i]));
    const local = b => b.kind < kinds.leg ? 1 : 0;
    Object.assign(bars, { nodes: new Int32Array(n), kind: new Uint8Array(n), used: new Float32Array(n), numbers: () => number });
    let i = 0;
    lists.forEach((list, row) => {
      list.sort((a, b) => a.start - b.start || local(a) - local(b) || b.nodes - a.nodes);
      for (const b of list) {
        this.#order.push(b.id);
        [bars.starts[i], bars.ends[i], bars.nodes[i], bars.kind[i]] = [b.start, b.end, b.nodes, b.kind];
        bars.used[i] = b.used ? b.used / 1000 : b.nodes;
        number[i] = b.local ?? 0;
        if (!local(b)) {
          const p = bars.parts;
          number[i] = p.job.push(jobs.get(b.job) ?? -1) - 1;
          p.window.push(b.window ?? 0); p.part.push(b.part ?? 1); p.parts.push(b.parts ?? 1); p.cost.push(b.cost ?? 0); p.extra.push(b.extra ?? 0); (p.of ??= []).push(b.of ?? "");
        }
        i++;
      }
      bars.first[row + 1] = i;
      bars.index(row);
    });
    this.bars = bars;
    this.#renew();
  }

  // renew forgets what was worked out of the bars that were.
  #renew() {
    this.laid = [];
    this.#ofJobs = null;
  }

  #ofJobs = null; #order = [];

  // id is that of a bar that came plain, find the bar of an id as they lie now.
  id(bar) { return this.#order[bar]; }
  find(id) {
    const at = this.#order.indexOf(id);
    return id === undefined || at < 0 ? null : at;
  }

  // barsOf are the bars of a job. Those of all jobs are found when one is asked for.
  barsOf(job) {
    this.#ofJobs ??= this.#join();
    const { begin, bars } = this.#ofJobs, at = this.jobs.findIndex(j => j.id === job.id);
    return at < 0 ? [] : [...bars.subarray(begin[at], begin[at + 1])];
  }

  // join lists the bars of each job, one job after the other.
  #join() {
    const { bars } = this, { job } = bars.parts, begin = new Int32Array(this.jobs.length + 1);
    for (const j of job) if (j >= 0) begin[j + 1]++;
    for (let j = 0; j < this.jobs.length; j++) begin[j + 1] += begin[j];
    const next = begin.slice(), list = new Int32Array(begin[this.jobs.length]);
    for (let i = 0; i < bars.n; i++) {
      const j = bars.kind[i] >= kinds.leg ? job[bars.number[i]] : -1;
      if (j >= 0) list[next[j]++] = i;
    }
    return { begin, bars: list };
  }

  // has reports whether bars of a kind are in some row.
  has(kind) { return this.bars.kinds.some(k => k >> kind & 1); }

  // job is that of a bar, undefined of a local one.
  job(bar) {
    return this.bars.kind[bar] >= kinds.leg ? this.jobs[this.bars.parts.job[this.bars.number[bar]]] : undefined;
  }

  // row is that of a bar.
  row(bar) {
    const { first } = this.bars;
    let low = 0, high = first.length - 1;
    while (high - low > 1) {
      const middle = low + high >> 1;
      if (first[middle] <= bar) low = middle; else high = middle;
    }
    return low;
  }

  within(row, from, to) { return this.bars.within(row, from, to); }

  async story(job) {
    this.stories ??= (await unpack(this.#packedStories)) ?? {};
    return this.stories[job.id];
  }
}

// merge replaces what has the same key, keeps the order, and lets go what is gone.
function merge(list, changed, key, newest) {
  const by = byKey(list, key), first = newest ? changed.filter(x => !by.has(x[key])).reverse() : [];
  for (const x of changed) if (!newest || by.has(x[key])) by.set(x[key], x);
  return [...first, ...by.values()].filter(x => !x.gone);
}

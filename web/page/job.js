// The page of a job: its state and exit status, a timeline of its turns, its window as a
// picture, the alternatives that it had, what it costs and why, and its output.

import { keepFocus, make, moment, money, spanWords } from "../view/words.js";
import { list } from "../view/story.js";
import { windowPicture } from "./window.js";
import { Output } from "./output.js";

const most = 12; // alternatives and turns that are shown at first
const kept = 20; // outputs that are remembered
const credits = c => c === undefined || c === null ? "" : money(c * 1e6);

const table = (label, heads, rows) => make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, make("table", {}, make("thead", {}, make("tr", {}, ...heads.map(([h, kind]) => make("th", { scope: "col", class: kind }, h)))),
  make("tbody", {}, ...rows.map(([cells, cls]) => make("tr", { class: cls }, ...cells.map((c, i) => make("td", { class: heads[i][1] }, c ?? "")))))));

const exact = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

// clock is an instant to the second; of another day than now its date, to the minute.
const clock = (t, { epoch, now }) => new Date(t + epoch).toDateString() === new Date(now + epoch).toDateString() ? exact.format(t + epoch) : moment(t, epoch);

// brief is an instant to the minute, of today without the date.
const brief = (t, doc) => new Date(t + doc.epoch).toDateString() === new Date(doc.now + doc.epoch).toDateString() ? clock(t, doc).slice(0, 5) : moment(t, doc.epoch);

// cut shows the first of a list, and all when asked.
function cut(items, show) {
  const box = make("div", {}, show(items.slice(0, most)));
  if (items.length > most) box.append(make("button", { type: "button", onclick: () => box.replaceChildren(show(items)) }, `Show all ${items.length}`));
  return box;
}

// JobPages tells the jobs of a broker. actions(job, full) are the buttons of a job; full is
// what the API says of it, once it has.
export class JobPages {
  #told = new Map(); #outputs = new Map(); #last = new Map();

  constructor(session, actions) { Object.assign(this, { session, actions }); }

  // tell makes the page of a job of the view's store; show(bar) shows a block.
  tell(job, store, show) {
    const { epoch } = store.doc, buttons = make("p", { class: "blocks" }), more = make("div", { class: "more-of-job" }), bars = store.barsOf(job);
    for (const n of this.#last.get(job.id)?.childNodes ?? []) more.append(n.cloneNode(true)); // until it is read again
    this.#last.set(job.id, more);
    if (this.#last.size > kept) this.#last.delete(this.#last.keys().next().value);
    const act = full => keepFocus(buttons, () => buttons.replaceChildren(...this.actions(job, full).map(a => make("button", { type: "button", class: a.danger && "danger", onclick: a.run }, a.label)),
      ...(bars.length ? [make("button", { type: "button", onclick: () => show(store.barsOf(job)[0]) }, "Show it among the others")] : [])));
    act();
    this.#ask(job).then(([full, why, elements]) => { act(full); keepFocus(more, () => more.replaceChildren(...this.#sections(job, full, why, elements, store.doc))); }, e => more.replaceChildren(make("p", { class: "faint" }, `It cannot be read: ${e.message}`)));
    return make("div", { class: "story job" }, verdict(job), shares(job), list([["User", job.user], ["Batch", job.batch], ["Submitted", moment(job.submit, epoch)], ["Starts", moment(job.start, epoch)], ["Ends", moment(job.end, epoch)],
      ["Waits", job.start === undefined ? "" : spanWords(job.start - job.submit)], ["Nodes", job.nodes], ["Sites", (job.sites ?? []).join(", ")], ["Credits", money(job.cost)]]), buttons, more);
  }

  // ask reads a job and its explanation, again when it stands otherwise.
  #ask(job) {
    const as = JSON.stringify(job), old = this.#told.get(job.id);
    if (old?.as === as) return old.answer;
    const path = `${this.session.broker}/v1/jobs/${encodeURIComponent(job.id)}`;
    const answer = Promise.all([this.session.call("GET", path), this.session.call("GET", `${path}/explanation`).then(e => e.value, e => ({ unread: e.message })), job.counts ? this.#elements(job) : []]);
    answer.then(([, why]) => why.unread && this.#told.delete(job.id), () => this.#told.delete(job.id));
    this.#told.set(job.id, { as, answer });
    if (this.#told.size > 50) this.#told.delete(this.#told.keys().next().value);
    return answer;
  }

  // elements are those of an array, the ones that failed first.
  async #elements(job) {
    const of = state => this.session.call("GET", `${this.session.broker}/v1/jobs?array=${encodeURIComponent(job.id)}&limit=200${state}`).then(a => a.jobs);
    const bad = await of("&state=failed"), ids = new Set(bad.map(e => e.id));
    return [...bad, ...(await of("")).filter(e => !ids.has(e.id))];
  }

  #sections(job, full, why, elements, doc) {
    const at = t => t === undefined ? undefined : t * 1000 - doc.epoch, parts = [], legs = full.legs ?? [];
    const works = !full.again || full.again.command || full.again.script; // simulated jobs print nothing
    const add = (title, ...inside) => parts.push(make("section", {}, make("h3", {}, title), ...inside));
    if (legs.length && job.start !== undefined) add("Window", windowPicture(job, legs, why, doc));
    if (elements.length) add(full.array?.every ? `Elements, one every ${spanWords(full.array.every * 1000)}` : "Elements", ...this.#elementsTable(elements, !!full.again?.error, works, doc));
    const kept = legs.some(l => l.output) ? [["Output on the cluster", "word"]] : [];
    if (legs.length) add("Legs", table("Legs", [["Site", "word"], ["Nodes"], ["State", "word"], ["Start"], ["End"], ["Exit"], ["Credits"], ...kept],
      legs.map(l => [[l.site, l.nodes, l.state + (l.ended ? `: ${l.ended.detail ?? l.ended.code}` : ""), clock(Date.parse(l.begin ?? l.start) - doc.epoch, doc), clock(Date.parse(l.end) - doc.epoch, doc), l.exit ?? "", credits(l.cost), ...(kept.length ? [l.output] : [])]])));
    if (works && !job.counts && ["running", "done", "failed"].includes(job.state)) add("Output", this.#output(job, legs, !!full.again?.error));
    if (why.turns?.length) add("What became of it", cut(joined(why.turns).reverse(), turns => timeline(turns, at, doc)));
    if (why.unread) add("Why", make("p", { class: "faint" }, why.unread));
    alternatives(why, at, doc, add);
    add("What it costs", cost(full, why));
    return parts;
  }

  // elementsTable lists elements, with buttons that show what one has printed.
  #elementsTable(elements, apart, works, doc) {
    const place = make("div", {}), when = t => t ? clock(Date.parse(t) - doc.epoch, doc) : "";
    const show = e => place.replaceChildren(make("h4", {}, `Output of ${e.id}`), this.#output(e, e.legs ?? [], apart));
    const index = e => works && ["running", "done", "failed"].includes(e.state) ? make("button", { type: "button", "aria-label": `Output of element ${e.element.index}`, onclick: () => show(e) }, e.element.index) : e.element.index;
    return [cut(elements, some => table("Elements", [["Index"], ["State", "word"], ["Exit"], ["Why", "word why-not"], ["Site", "word"], ["Start"], ["End"]], some.map(e => [[index(e), e.state,
      (e.legs ?? []).map(l => l.exit).find(x => x) ?? e.legs?.[0]?.exit ?? "", e.state === "done" ? "" : e.reason?.detail ?? e.reason?.code ?? "", (e.sites ?? []).join(", "), when(e.start), when(e.end)]]))), place];
  }

  #output(job, legs, apart) {
    if (!this.#outputs.has(job.id)) this.#outputs.set(job.id, new Output(this.session, job.id));
    if (this.#outputs.size > kept) this.#outputs.delete(this.#outputs.keys().next().value);
    const output = this.#outputs.get(job.id);
    output.show(legs, apart);
    return output.element;
  }
}

// verdict is the state first, with the exit status and the reason.
function verdict(job) {
  const why = job.counts && job.why?.startsWith(`${job.counts}; `) ? job.why.slice(job.counts.length + 2) : job.why ?? "";
  return make("p", { class: "verdict", "data-state": job.state }, make("span", { class: "state", "data-state": job.state }, job.counts ?? job.state), job.exit !== undefined ? make("b", {}, `exit status ${job.exit}`) : "",
    make("span", { class: "because" }, why));
}

// shares are the elements of an array by state, as a bar.
const shares = ({ counts }) => counts ? make("div", { class: "counts", role: "img", "aria-label": counts }, ...[...counts.matchAll(/(\d+) (\w+)/g)].map(([, n, state]) => make("i", { "data-state": state, style: `flex:${n}` }))) : "";

// joined are the turns with those that say the same again and again told once, by the latest.
function joined(turns) {
  const out = [];
  for (const t of turns) {
    const last = out.at(-1), same = last?.what === t.what && (t.what === "postponed" ? last.reason?.code === t.reason?.code : last.words === t.words);
    out.splice(same ? -1 : out.length, same ? 1 : 0, { ...t, times: same ? last.times + 1 : 1, first: same ? last.first : t.at });
  }
  return out;
}

const timeline = (turns, at, doc) => make("ol", { class: "turns", reversed: true }, ...turns.map(t => make("li", { "data-what": t.what }, make("time", {}, clock(at(t.at), doc)),
  make("span", {}, make("b", {}, t.what), " ", readable(t.words, t.what), t.times > 1 ? make("small", {}, ` ${t.times} times since ${clock(at(t.first), doc)}`) : ""))));

// readable leaves out of a turn's words the word that stands before them.
const readable = (words, what) => words.startsWith(`${what}: `) ? words.slice(what.length + 2) : words;

// alternatives is what it could have had, and what would change the answer.
function alternatives({ cycle, changes, earliest, tried }, at, doc, add) {
  const options = cycle?.options ?? [];
  if (options.length) add("What it could have had", make("p", { class: "faint" }, `${cycle.found} windows were found in cycle ${cycle.number}, at ${brief(at(cycle.at), doc)}.`), cut(options, some => table("Alternatives", [["Start"], ["End"], ["Sites", "word"], ["Credits"], ["Why not", "word why-not"]],
    some.map(o => [[brief(at(o.start), doc), brief(at(o.end), doc), o.legs.map(l => `${l.nodes} of ${l.site}`).join(", "), credits(o.total), o.taken ? "taken" : o.lost ?? ""], o.taken && "taken"]))));
  else if (cycle) {
    const why = s => s.reason?.detail ?? s.reason?.code ?? s.groups?.map(g => g.unsuited ? `${g.name}: ${g.unsuited}` : `${g.name}: ${g.free} of ${g.nodes} free, ${g.price} a node-hour`).join("; ") ?? s.answer;
    add("What the sites offered", make("p", { class: "faint" }, `In cycle ${cycle.number}, at ${brief(at(cycle.at), doc)}: ${cycle.reason?.detail ?? "no window"}.`),
      table("Sites", [["Site", "word"], ["Answer", "word"], ["Offer", "word why-not"]], cycle.sites.map(s => [[s.name, s.answer, why(s)]])));
  }
  if (earliest?.start) add("When it can start", make("p", {}, `${brief(at(earliest.start), doc)} at the earliest, for at least ${credits(earliest.cost)} credits${earliest.beyond ? `, beyond ${earliest.beyond}` : ""}.`));
  if (changes?.length) add("What would change it", make("ul", {}, ...changes.map(c => make("li", {}, `With ${c.words}: `, c.placed ? `${brief(at(c.start), doc)}, for ${credits(c.cost)} credits` : `no window${c.reason?.detail ? `, ${c.reason.detail}` : ""}`))));
  else if (tried?.length) add("What would not change it", make("p", {}, tried.join("; ")));
}

// cost is what it may cost, what its window costs and why, and what was paid.
function cost(full, why) {
  const taken = why.cycle?.options?.find(o => o.taken), hours = taken && !full.parts?.length ? taken.legs.map(l => l.nodes * (taken.end - taken.start) / 3600).reduce((a, b) => a + b, 0) : 0; // it pays for its window, however early its work has ended
  const rows = [["at most", credits(full.budget), `its budget${full.array ? ", for each element" : ""}; ${full.maxPrice} credits a node-hour at most`]];
  if (taken) {
    rows.push(["base", credits(taken.base), taken.legs.map(l => `${l.nodes} node${l.nodes > 1 ? "s" : ""} of ${l.site}: ${credits(l.cost)}`).join("; ")]);
    if (taken.additive) rows.push(["for delay", credits(taken.additive), "what others at the sites wait for it"]);
  }
  if (full.cost !== undefined) rows.push([full.array ? "its windows" : "its window", credits(full.cost), hours ? `${hours.toFixed(2)} node-hours, ${(full.cost / hours).toFixed(3)} each` : ""]);
  if (full.paid !== undefined) rows.push(["paid", credits(full.paid), "for all its windows"]);
  if (full.back) rows.push(["given back", credits(full.back), "refunds, for windows cancelled, replaced or lost, and penalties"]);
  return table("Cost", [["Credits for", "word"], ["Credits"], ["Why", "word why-not"]], rows.map(r => [r]));
}

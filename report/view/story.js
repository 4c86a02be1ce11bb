// A job: what became of it, the blocks that it has, and the alternatives that it had.

import { kinds } from "./pack.js";
import { count, make, moment, money, spanWords } from "./words.js";

// list is a list of what a job is, without what it has not.
export const list = pairs => make("dl", {}, ...pairs.filter(p => p[1] !== "" && p[1] !== undefined).map(([k, v]) => make("div", {}, make("dt", {}, k), make("dd", {}, v))));

// tellJob is the panel of a job. Show(bar) shows a block, explain(job) promises the story,
// without which the panel is short; actions(job) are its buttons.
export function tellJob(store, job, { show, explain, actions, table }) {
  const { epoch } = store.doc, panel = make("div", { class: "story" });
  panel.append(make("p", { class: "why" }, make("strong", {}, job.name), job.vo ? ` of ${job.vo}` : "", ": ", make("span", { class: "state", "data-state": job.state }, job.state), job.why ? `; ${job.why}` : ""));
  panel.append(list([["User", job.user], ["Submitted", moment(job.submit, epoch)], ["Starts", moment(job.start, epoch)], ["Ends", moment(job.end, epoch)],
    ["Waits", job.start === undefined ? "" : spanWords(job.start - job.submit)], ["Nodes", job.nodes], ["Credits", money(job.cost)],
    ["per node-hour", job.price && +job.price.toFixed(3)], ["Sites", (job.sites ?? []).join(", ")]]));
  const bars = store.barsOf(job);
  if (bars.length) panel.append(make("p", { class: "blocks" }, bars.length > 1 ? "Blocks: " : "Block: ", ...bars.slice(0, 40).map((bar, k) => {
    const row = store.rows[store.row(bar)], held = store.bars.kind[bar] === kinds.held ? ", held and not run" : "";
    return make("button", { type: "button", onclick: () => show(store.barsOf(job)[k]) }, `${count(store.bars.nodes[bar], "node")} of ${store.sites[row.site].name}/${row.name} at ${moment(store.bars.start(bar), epoch)}${held}`);
  })));
  if (table) panel.append(make("p", { class: "blocks" }, make("button", { type: "button", onclick: table }, "Show in the table of jobs")));
  const buttons = actions?.(job) ?? [];
  if (buttons.length) panel.append(make("p", { class: "blocks" }, ...buttons.map(a => make("button", { type: "button", onclick: a.run }, a.label))));
  if (!explain) return panel;
  const more = make("div", { "aria-live": "polite" });
  panel.append(more);
  Promise.resolve(explain(job)).then(s => more.append(...tellStory(s, epoch)), e => more.append(make("p", { class: "faint" }, `Why is not known: ${e.message}`)));
  return panel;
}

// tellStory is the turns of a job, and its alternatives.
function tellStory(story, epoch) {
  if (!story) return [make("p", { class: "faint" }, "What became of it step by step is not on record here.")];
  const parts = [];
  if (story.turns?.length) parts.push(make("h4", {}, "What became of it"), make("ol", {}, ...story.turns.map(t => make("li", {}, t))));
  if (story.found) parts.push(make("h4", {}, "What it could have had"), make("p", {}, story.found));
  if (story.options?.length) {
    const heads = ["No.", "Start", "End", "Credits", "On", "Outcome"];
    parts.push(make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((h, i) => make("th", { scope: "col", class: i > 3 && "word" }, h)))),
      make("tbody", {}, ...story.options.map(o => make("tr", { class: o.outcome === "taken" && "taken" }, ...[o.number, moment(o.start, epoch), moment(o.end, epoch), money(o.cost), o.on, o.outcome].map((v, i) =>
        make("td", { class: i > 3 && "word" }, String(v)))))))));
  }
  return parts;
}

// tellLocal is the panel of a local job, of which the bar is all that is known.
export function tellLocal(words) {
  return make("div", { class: "story" }, make("p", { class: "why" }, words + "."));
}

// What needs attention, above all else.

import { make, moment } from "./words.js";

const alertNames = { failed: "Failed", site: "Site", budget: "Money", replica: "Broker", certificate: "Certificate" };

const few = 2;     // failures that a narrow page shows at first, so that what runs and waits is on its first screen
let whole = false; // all of them were asked for

// alerts lists them; open(alert) shows what one is about. None is said too, where they are
// told at all.
export function alerts(list, epoch, open) {
  if (!list.length) return make("p", { class: "calm" }, "Nothing needs attention.");
  let failed = 0;
  const items = list.map(a => make("li", { "data-kind": a.kind, class: a.kind === "failed" && ++failed > few && "later" }, make("b", {}, alertNames[a.kind] ?? a.kind), make("span", {}, a.words,
    a.at ? make("small", {}, ` ${moment(a.at, epoch)}`) : ""), a.job || a.batch || a.site ? make("button", { type: "button", "aria-label": `Show ${a.job || a.batch || a.site}`, onclick: () => open(a) }, "Show") : ""));
  const all = make("ul", { class: `alerts${whole ? " whole" : ""}`, "aria-label": "What needs attention" }, ...items);
  if (failed > few) all.append(make("li", { class: "rest" }, make("button", { type: "button", onclick: () => { whole = true; all.classList.add("whole"); } }, `Show ${failed - few} more that failed`)));
  return all;
}

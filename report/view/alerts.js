// What needs attention, above all else.

import { make, moment } from "./words.js";

const alertNames = { failed: "Failed", site: "Site", budget: "Money", replica: "Broker", certificate: "Certificate" };

// alerts lists them; open(alert) shows what one is about. None is said too, where they are
// told at all.
export function alerts(list, epoch, open) {
  if (!list.length) return make("p", { class: "calm" }, "Nothing needs attention.");
  return make("ul", { class: "alerts", "aria-label": "What needs attention" }, ...list.map(a => make("li", { "data-kind": a.kind }, make("b", {}, alertNames[a.kind] ?? a.kind), make("span", {}, a.words,
    a.at ? make("small", {}, ` ${moment(a.at, epoch)}`) : ""), a.job || a.batch || a.site ? make("button", { type: "button", "aria-label": `Show ${a.job || a.batch || a.site}`, onclick: () => open(a) }, "Show") : "")));
}

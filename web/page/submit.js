// Submit in the page, and change a job that has its window.

import { make } from "../view/words.js";
import { Outlook } from "./outlook.js";
import { form } from "./dialog.js";
import { basic, more, readField, writeField } from "./fields.js";

const letters = "abcdefghijklmnopqrstuvwxyz234567";
const identity = () => "b-" + [...crypto.getRandomValues(new Uint8Array(16))].map(b => letters[b % 32]).join("");

// inputs makes the inputs of fields, and read(), which is what they hold now.
function inputs(fields, values = {}) {
  const list = fields.map(f => {
    const text = writeField(f, values[f.name]), rest = { name: f.name, required: f.required, placeholder: f.hint, autocomplete: "off", spellcheck: "false" };
    const input = f.kind === "script" ? make("textarea", { ...rest, rows: 4 }, text) : f.kind === "check" ? make("input", { type: "checkbox", name: f.name, checked: !!text }) : make("input", { type: "text", ...rest, value: text });
    return { f, input, text, label: make("label", { class: f.wide ? "wide" : f.kind === "check" ? "check" : undefined }, f.kind === "check" ? input : f.label, f.kind === "check" ? f.label : input) };
  });
  return { elements: list.map(x => x.label), read(base = {}) {
    const out = { ...base };
    for (const { f, input, text } of list) {
      const now = f.kind === "check" ? input.checked : input.value.trim();
      if (!now) delete out[f.name]; else if (now !== text || !(f.name in out)) out[f.name] = readField(f, now);
    }
    return out;
  } };
}

// submitJob asks for a job and submits it. again is the request that it begins with.
export function submitJob(session, again, done) {
  const first = inputs(basic, again ?? { nodes: 1 }), rest = inputs(more, again), ids = new Map();
  const asked = () => {
    const job = rest.read(first.read(again));
    if (job.script && job.command) throw new Error("give a command or a script, not both");
    return job;
  }, outlook = new Outlook(session, asked);
  form({ title: again ? `Submit ${again.name} again` : "Submit a job", label: "Submit", wide: "wide both",
    about: "The broker looks for a window in its next cycle. The keys are those of a batch file; without a price and a budget the broker's price cap holds.",
    inside: [make("div", { class: "beside" }, make("div", {}, make("div", { class: "fields" }, ...first.elements), make("details", {}, make("summary", {}, "More"), make("div", { class: "fields" }, ...rest.elements))), outlook.element)],
    act: async () => {
      const job = asked(), as = JSON.stringify(job);
      if (!ids.has(as)) ids.set(as, identity()); // the same again is the same batch
      const { jobs: [taken] } = await session.call("POST", `${session.broker}/v1/batches`, { id: ids.get(as), jobs: [job] });
      if (!taken.taken) throw new Error(taken.reason?.detail ?? taken.reason?.code ?? "it was not accepted");
      done?.(taken.id);
      return `${taken.id} is submitted`;
    } });
  outlook.follow();
}

// modifyJob asks for another window of a job.
export function modifyJob(session, job) {
  const fields = inputs([...basic, ...more].filter(f => f.change).map(f => ({ ...f, required: false, hint: "as it is" })));
  form({ title: `Change ${job.id}?`, label: "Ask for it", wide: "wide",
    about: "What is left empty stays as it is. The job keeps its window until the new one is confirmed; then the old price is credited, up to the new price. A window does not move by itself: for an earlier one, say by when it is to end.",
    inside: [make("div", { class: "fields" }, ...fields.elements)],
    act: async () => {
      const wish = fields.read();
      if (!Object.keys(wish).length) throw new Error("nothing is to be changed; fill in a field");
      const now = await session.call("PATCH", `${session.broker}/v1/jobs/${encodeURIComponent(job.id)}`, wish);
      return `${now.id} has the window that was asked for: ${now.nodes} nodes at ${(now.sites ?? []).join(", ")}`;
    } });
}

// The live page: a view of what the broker tells, and the buttons that change it.

import { createView } from "../view/view.js";
import { make } from "../view/words.js";
import { Session } from "./session.js";
import { Stream } from "./stream.js";
import { jobActions, siteActions } from "./actions.js";
import { followSite } from "./site.js";
import { tell } from "./dialog.js";

const main = document.getElementById("main"), status = document.getElementById("status"), session = new Session();
const say = (state, words) => {
  if (status.textContent !== words) status.textContent = words;
  status.dataset.state = state;
};

// explainer promises why a job stands where it stands. One that stands as it did is not
// explained again each time that it is drawn.
function explainer() {
  const known = new Map();
  return job => {
    const as = JSON.stringify(job), old = known.get(job.id);
    if (old?.as === as) return old.story;
    const story = session.call("GET", `${session.broker}/v1/jobs/${encodeURIComponent(job.id)}/explanation`).then(e => ({ turns: e.words.trim().split("\n") }));
    story.catch(() => known.delete(job.id));
    known.set(job.id, { as, story });
    if (known.size > 50) known.delete(known.keys().next().value);
    return story;
  };
}

function showBroker() {
  const sites = new Map(), vo = session.who.agent.replace(/^broker:/, "");
  const view = createView(main, { newest: true, users: true, sitesAbout: "What is free and its price are of the last answer, which is of the last cycle that had jobs to place; a drain shows at once. A site opens on its buttons.", price: "asked", explain: explainer(), jobActions: jobActions(session),
    actions: siteActions(session, () => vo, state => {
      const site = sites.get(state.name);
      if (!site) return;
      const next = { ...site, state: state.drained ? "drained" : site.state === "drained" ? "usable" : site.state, why: state.drained ? state.words[0] : undefined };
      sites.set(state.name, next);
      view.update({ sites: [next] });
    }) });
  const take = (name, value) => {
    if (name !== "document" && name !== "part") return;
    for (const s of value.sites ?? []) sites.set(s.name, s);
    name === "document" ? view.load(value) : view.update(value);
    say("live", "live");
  };
  new Stream(session, `${session.broker}/live`, take, say).open();
}

function showSite([name, path]) {
  const view = createView(main, { actions: siteActions(session, () => "", state => view.update({ sites: [{ ...view.store.sites[0], state: state.drained ? "drained" : "usable" }] })) });
  followSite(session, path, doc => view.load(doc), say);
}

function greet() {
  const { agent, role, name, vos = [] } = session.who, of = vos.filter(v => !agent.endsWith(`:${v}`)), end = make("button", { type: "button", onclick: async () => {
    try { await session.end(); } catch (e) { return tell(e.message, true); }
    location.reload();
  } }, "End session");
  document.title = document.getElementById("title").textContent = `Bourse ${agent.replace(":", " ")}` + (of.length > 4 ? ` of ${of.length} VOs` : of.length ? ` of VO${of.length > 1 ? "s" : ""} ${of.join(", ")}` : "");
  document.getElementById("who").append(make("span", {}, name ? `${role} ${name}` : "no certificates: anybody on this machine"), session.kept ? end : "");
}

addEventListener("hashchange", () => location.hash && location.reload());
try {
  await session.begin();
  greet();
  session.broker ? showBroker() : showSite(Object.entries(session.sites)[0]);
} catch (e) {
  say("off", "not open");
  main.replaceChildren(make("div", { class: "welcome" }, make("h2", {}, "The live page is not open here"), make("p", {}, e.message), make("p", { class: "faint" }, "bourse dash, in a terminal, makes a link that opens it once.")));
}

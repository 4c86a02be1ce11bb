// The live page: a view of what the broker tells, and the buttons that change it.

import { createView } from "../view/view.js";
import { make } from "../view/words.js";
import { Session } from "./session.js";
import { Stream } from "./stream.js";
import { jobActions, siteActions } from "./actions.js";
import { followSite } from "./site.js";
import { followOuts, outsOf } from "./outs.js";
import { JobPages } from "./job.js";
import { Filters, address } from "./filters.js";
import { submitJob } from "./submit.js";
import { tell } from "./dialog.js";

const main = document.getElementById("main"), status = document.getElementById("status"), session = new Session();
const say = (state, words) => {
  if (status.textContent !== words) status.textContent = words;
  status.dataset.state = state;
};

function showBroker() {
  const sites = new Map(), said = new Map(), vo = session.who.agent.replace(/^broker:/, ""), filters = new Filters(() => view.choose(filters.keep));
  let epoch = 0, wanted = address.get("job");
  const opened = id => { wanted = id; filters.unfilter(); show(); }, pages = new JobPages(session, jobActions(session, opened)), told = job => address.set({ job: job?.id ?? "" });
  filters.element.firstChild.append(make("button", { type: "button", class: "act", onclick: () => submitJob(session, undefined, opened) }, "Submit a job ..."));
  const tell = (job, store, bar) => pages.tell(job, store, bar);
  const view = createView(main, { newest: true, users: true, fold: true, filters: filters.element, unfilter: () => filters.unfilter(), tell, opened: told, price: "asked",
    colour: address.get("colour"), coloured: colour => address.set({ colour: colour === "window" ? "" : colour }),
    before: { Queue: { rows: 8, fold: { Priority: 1, Submitted: 2, Nodes: 3, User: 4 }, inside: ([id], v) => tell(v.store.jobs.find(j => j.id === id) ?? { id, name: id, state: "waiting" }, v.store, bar => v.showBar(bar)) } },
    sitesAbout: "What is free and its price are of the last answer, which is of the last cycle that had jobs to place; a drain shows at once. A site opens on its buttons.",
    actions: siteActions(session, () => vo, state => {
      said.set(state.name, state);
      const site = sites.get(state.name);
      if (site) take("part", { sites: [{ ...site, state: state.drained ? "drained" : site.state === "drained" ? "usable" : site.state, why: state.drained ? state.words[0] : undefined }] });
    }) });
  view.choose(filters.keep);
  // show opens the job that the address names, as soon as it is there.
  const show = () => { if (wanted && view.openJob(wanted)) wanted = ""; };
  // own adds to a site what it says itself.
  const own = site => {
    const state = said.get(site.name), mine = state ? outsOf(state, epoch) : [], drain = mine.find(o => o.what === "drained");
    return { ...site, outs: [...(site.outs ?? []).map(o => drain && o.what === "drained" && o.end === undefined ? { ...o, end: drain.end } : o), ...mine.filter(o => o.what !== "drained")] };
  };
  const take = (name, value) => {
    if (name !== "document" && name !== "part") return;
    epoch = value.epoch ?? epoch;
    for (const s of value.sites ?? []) sites.set(s.name, s);
    const doc = value.sites ? { ...value, sites: value.sites.map(own) } : value, shown = name === "document" ? view.load(doc) : view.update(doc);
    shown.then(() => { filters.offer(view.store.jobs); show(); });
    say("live", "live");
  };
  new Stream(session, `${session.broker}/live`, take, say).open();
  followOuts(session, (site, state) => {
    said.set(site, state);
    if (sites.has(site)) view.update({ sites: [own(sites.get(site))] });
  });
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

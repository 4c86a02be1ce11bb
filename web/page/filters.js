// Filters of the jobs, which are kept in the address: whoever opens it again sees the same.

import { make } from "../view/words.js";

const keys = ["q", "state", "user", "site", "colour", "job"];

// address is what the page is asked to show, and keeps it where the browser keeps it.
export const address = {
  get: key => new URLSearchParams(location.search).get(key) ?? "",
  set(values) {
    const now = new URLSearchParams(location.search);
    for (const [key, v] of Object.entries(values)) if (keys.includes(key)) v ? now.set(key, v) : now.delete(key);
    history.replaceState(null, "", location.pathname + (now.size ? `?${now}` : "") + location.hash);
  },
};

// Filters is the bar above the jobs. changed() is called when another choice was made.
export class Filters {
  constructor(changed) {
    this.changed = changed;
    const act = () => { address.set(this.values); changed(); };
    this.q = make("input", { type: "search", placeholder: "job, batch, reason", value: address.get("q"), "aria-label": "Filter jobs by words", oninput: act });
    for (const key of ["state", "user", "site"]) this[key] = make("select", { "aria-label": `Filter jobs by ${key}`, onchange: act }, make("option", { value: address.get(key) }, address.get(key)));
    for (const key of ["state", "user", "site"]) this[key].hidden = !this[key].value; // until it is known what there is
    this.clear = make("button", { type: "button", onclick: () => { this.reset(); act(); } }, "All jobs");
    this.element = make("section", { class: "filters", "aria-label": "Filters" }, make("div", { class: "bar" }, make("label", {}, "Jobs ", this.q), this.state, this.user, this.site, this.clear));
    this.#mark();
  }

  get values() { return { q: this.q.value.trim(), state: this.state.value, user: this.user.value, site: this.site.value }; }
  get some() { return Object.values(this.values).some(Boolean); }

  reset() { for (const key of ["q", "state", "user", "site"]) this[key].value = ""; }

  // unfilter shows all jobs.
  unfilter() { this.reset(); address.set(this.values); this.changed(); }

  #mark() { this.clear.hidden = !this.some; }

  // offer takes the jobs there are: what can be chosen.
  offer(jobs) {
    const of = { state: jobs.map(j => j.state), user: jobs.map(j => j.user ?? ""), site: jobs.flatMap(j => j.sites ?? []) };
    for (const [key, all] of Object.entries(of)) {
      const chosen = this[key].value, list = [...new Set([...all, chosen])].filter(Boolean).sort(), as = list.join("\n");
      if (this[key].as === as) continue;
      this[key].as = as;
      this[key].replaceChildren(make("option", { value: "" }, `any ${key}`), ...list.map(v => make("option", { value: v }, v)));
      this[key].value = chosen;
      this[key].hidden = list.length < 2 && !chosen;
    }
  }

  // keep is what a job must be to be shown; null: anything.
  get keep() {
    this.#mark();
    if (!this.some) return null;
    const { q, state, user, site } = this.values, words = q.toLowerCase().split(/\s+/).filter(Boolean);
    return j => (!state || j.state === state || j.counts?.includes(` ${state}`)) && (!user || j.user === user) && (!site || (j.sites ?? []).includes(site)) &&
      words.every(w => [j.name, j.batch, j.user, j.counts ?? j.state, j.why, ...(j.sites ?? [])].some(x => x?.toLowerCase().includes(w)));
  }
}

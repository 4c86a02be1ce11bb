// Who this page is, and how it asks. Served by bourse dash it has a session: a cookie, and
// a token that every call says. Served by a broker or a site, the browser's certificate
// says who is asking.

import { parse } from "./prose.js";

const key = "bourse-session", header = "Bourse-Token";

// Problem is what was answered in place of a result, in the API's words.
export class Problem extends Error {
  constructor(status, body) {
    super([body?.detail ?? `answered ${status}`, ...(body?.errors ?? []).filter(e => !body.detail?.includes(e.message)).map(e => `${e.location}: ${e.message}`)].join("\n"));
    this.status = status;
  }
}

export class Session {
  broker = null; // the path of the broker's API; null: there is none
  sites = {};    // of each site that can be called
  kept = false;  // it can be ended
  #token = "";

  // begin takes the link in the address, if there is one, and says what can be called.
  async begin() {
    const link = location.hash.slice(1);
    if (link) {
      history.replaceState(null, "", location.pathname + location.search); // it is used up: out of the address
      if (document.prerendering) await new Promise(done => document.addEventListener("prerenderingchange", done, { once: true }));
    }
    this.#token = localStorage.getItem(key) ?? "";
    let s = null;
    if (this.#token || !link) { // a link for one who has a session stays good for another browser
      try {
        s = await this.call("GET", "session");
      } catch (e) {
        if (e.status === 404) return this.#direct();
        if (e.status !== 401 || !link) throw e;
      }
    }
    if (!s) {
      s = await this.call("POST", "session", { link });
      this.#token = s.token;
      localStorage.setItem(key, s.token);
    }
    this.kept = true;
    if (s.broker) this.broker = "broker";
    for (const name of s.sites) this.sites[name] = `sites/${encodeURIComponent(name)}`;
    this.who = await this.call("GET", `${this.broker ?? Object.values(this.sites)[0]}/v1/caller`);
  }

  async #direct() {
    this.who = await this.call("GET", "v1/caller");
    const [role, name] = [this.who.agent.slice(0, this.who.agent.indexOf(":")), this.who.agent.slice(this.who.agent.indexOf(":") + 1)];
    if (role === "broker") this.broker = "."; else this.sites[name] = ".";
  }

  async end() {
    await this.call("DELETE", "session");
    localStorage.removeItem(key);
  }

  // fetch asks as this session.
  fetch(method, path, rest = {}) {
    const headers = { ...rest.headers };
    if (this.#token) headers[header] = this.#token;
    return fetch(path, { ...rest, method, headers, cache: "no-store" });
  }

  // call asks and returns the answer; a problem is thrown.
  async call(method, path, body) {
    const answer = await this.fetch(method, path, body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const text = await answer.text();
    let value = null;
    try { value = text ? parse(text) : null; } catch { /* no JSON: the status says it */ }
    if (!answer.ok) throw new Problem(answer.status, value);
    return value;
  }
}

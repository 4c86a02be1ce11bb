// The stream of what is new: opened again when it breaks, closed while nobody looks.

import { parse } from "./prose.js";

const quiet = 45_000, longest = 10_000, hidden = 60_000;

// Stream hands events to take(name, value) and says how it stands to tell(state, words).
export class Stream {
  #end = null; #wait = 500; #timer = 0; #over = false;

  constructor(session, path, take, tell) {
    Object.assign(this, { session, path, take, tell });
    document.addEventListener("visibilitychange", () => {
      clearTimeout(this.away);
      if (document.hidden) this.away = setTimeout(() => this.#end?.abort(), hidden);
      else if (!this.#end && !this.#over) this.open();
    });
  }

  async open() {
    clearTimeout(this.#timer);
    const end = this.#end = new AbortController();
    let why = "the stream has ended", alarm = 0;
    const alive = () => { clearTimeout(alarm); alarm = setTimeout(() => end.abort(), quiet); };
    try {
      alive();
      const answer = await this.session.fetch("GET", this.path, { signal: end.signal });
      if (!answer.ok) {
        const p = await answer.json().catch(() => ({}));
        if (answer.status === 401 || answer.status === 403) this.#over = true;
        throw new Error(p.detail ?? `answered ${answer.status}`);
      }
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ""; ;) {
        const { value, done } = await reader.read();
        if (done) break;
        alive();
        this.#wait = 500;
        text += value;
        for (let at; (at = text.indexOf("\n\n")) >= 0; text = text.slice(at + 2)) this.#event(text.slice(0, at));
      }
    } catch (e) {
      why = end.signal.aborted ? "nothing was heard" : e.message;
    }
    clearTimeout(alarm);
    this.#end = null;
    if (this.#over) return this.tell("off", this.denied ?? why);
    if (document.hidden) return this.tell("waiting", "paused while nobody looks");
    this.tell("off", `not connected: ${why}`);
    this.#timer = setTimeout(() => this.open(), this.#wait);
    this.#wait = Math.min(2 * this.#wait, longest);
  }

  #event(text) {
    const name = /^event: (.*)$/m.exec(text)?.[1], data = /^data: (.*)$/m.exec(text)?.[1];
    if (!name || !data) return;
    const value = parse(data, true);
    if (name === "denied") { this.#over = true; this.denied = value.why; }
    this.take(name, value);
  }
}

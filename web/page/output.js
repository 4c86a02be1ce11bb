// The output of a job, as it comes.

import { make } from "../view/words.js";

const every = 2000, most = 256 * 1024; // milliseconds; letters that are kept

// Output follows what one leg of a job prints, while it is looked at.
export class Output {
  #text = ""; #next = -65536; #over = false; #timer = 0; #leg = 0; #what = "output"; #busy = false; #decoder = new TextDecoder();

  constructor(session, id) {
    Object.assign(this, { session, id });
    this.pre = make("pre", { tabindex: 0, role: "log", "aria-label": `Output of ${id}` });
    this.said = make("p", { class: "faint", role: "status" });
    this.legs = make("select", { "aria-label": "Leg", onchange: () => this.#begin() });
    this.legs.hidden = true;
    this.stream = make("select", { "aria-label": "Stream", onchange: () => this.#begin() }, make("option", { value: "output" }, "standard output"), make("option", { value: "errors" }, "standard error"));
    this.stream.hidden = true;
    this.element = make("div", { class: "output" }, this.legs, this.stream, this.pre, this.said);
  }

  // show takes the legs of the job's window, and whether one keeps standard error apart, and
  // follows.
  show(legs, apart) {
    this.stream.hidden = !apart;
    const names = legs.map((l, i) => `leg ${i}: ${l.site}`);
    if (names.join() !== this.names) {
      this.names = names.join();
      this.legs.replaceChildren(...names.map((n, i) => make("option", { value: i }, n)));
      this.legs.value = this.#leg;
      this.legs.hidden = legs.length < 2;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#read());
  }

  #begin() {
    [this.#text, this.#next, this.#over, this.#leg, this.#what, this.#decoder] = ["", -65536, false, +this.legs.value, this.stream.value, new TextDecoder()];
    this.pre.textContent = "";
    this.#read();
  }

  async #read() {
    clearTimeout(this.#timer);
    if (this.#busy || !this.element.isConnected || this.#over) return; // what goes on reads again, or show does
    const leg = this.#leg, what = this.#what;
    let again = every;
    this.#busy = true;
    try {
      if (!document.hidden) {
        const a = await this.session.call("GET", `${this.session.broker}/v1/jobs/${encodeURIComponent(this.id)}/output?leg=${leg}&what=${what}&from=${this.#next}`);
        if (leg !== this.#leg || what !== this.#what) throw new Error("another output was chosen");
        const bytes = Uint8Array.from(atob(a.data ?? ""), c => c.charCodeAt(0));
        this.#append(this.#decoder.decode(bytes, { stream: true }), a.from > 0 && !this.#text);
        this.#next = a.from + bytes.length;
        this.#over = !!a.over && this.#next >= a.size;
        this.said.textContent = this.#over ? a.size ? "That is all." : "It printed nothing." : "It is followed as it comes.";
        if (this.#next < a.size) again = 0;
      }
    } catch (e) {
      this.said.textContent = e.message;
      again = leg === this.#leg && what === this.#what ? 5 * every : 0;
    }
    this.#busy = false;
    this.#timer = setTimeout(() => this.#read(), again);
  }

  #append(text, cut) {
    if (!text) return;
    const end = this.pre.scrollTop + this.pre.clientHeight >= this.pre.scrollHeight - 4;
    this.#text = ((cut ? "[...]\n" : "") + this.#text + text).slice(-most);
    this.pre.textContent = this.#text;
    if (end) this.pre.scrollTop = this.pre.scrollHeight;
  }
}

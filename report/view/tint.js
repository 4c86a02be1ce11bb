// Tints: what the colours of legs stand for, as one chooses.

import { colours } from "./paint.js";

// ofStates are the colours of states, so that a state has the same on every page.
const ofStates = { waiting: 7, gathering: 7, trying: 7, placed: 4, running: 0, done: 2, failed: 5, abandoned: 5, withdrawn: 6 };
const tintNames = { window: "window", user: "user", state: "state", vo: "VO" };

// stateIn is the state in what a block says of an element of an array, "element 3, done"; "":
// it says none.
const stateIn = of => of?.startsWith("element ") ? of.split(", ")[1] ?? "" : "";

export class Tints {
  by = "window"; #jobs = null; #of = ""; #index = new Map();

  constructor(store) { this.store = store; }

  // choices are those that say something of the jobs there are.
  choices() {
    const { jobs } = this.store, some = key => jobs.some(j => j[key]);
    return Object.entries(tintNames).filter(([key]) => key === "window" || key === this.by || some(key));
  }

  // index gives each value its colour, those of states always the same.
  get index() {
    if (this.#jobs !== this.store.jobs || this.#of !== this.by) {
      [this.#jobs, this.#of] = [this.store.jobs, this.by];
      const those = this.#jobs.filter(j => j.start !== undefined).map(j => j[this.by] ?? ""), parts = this.by === "state" ? this.store.bars.parts.of ?? [] : [];
      const values = [...new Set(those.concat(parts.map(stateIn).filter(Boolean)))].sort();
      this.#index = new Map(values.map((v, k) => [v, this.by === "state" ? ofStates[v] ?? 6 : k % colours]));
    }
    return this.#index;
  }

  // of is the colour of a leg.
  of(bar) {
    const { bars } = this.store;
    if (this.by === "window") return bars.parts.window[bars.number[bar]] % colours;
    const own = this.by === "state" && stateIn(bars.parts.of?.[bars.number[bar]]);
    return this.index.get(own || (this.store.job(bar)?.[this.by] ?? "")) ?? 6;
  }

  // legend is what each colour stands for; of more than most values the first.
  legend(most = 12) {
    if (this.by === "window") return [];
    const list = [...this.index].filter(([v]) => this.by !== "state" || v);
    return [...list.slice(0, most).map(([v, k]) => [k, v || `no ${tintNames[this.by]}`]), ...(list.length > most ? [[null, `and ${list.length - most} more, in the same colours`]] : [])];
  }
}

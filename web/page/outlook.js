// What a job would get that is not submitted yet: the dry run beside the form.

import { make, money } from "../view/words.js";

const calendar = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const at = t => (new Date(t).toDateString() === new Date().toDateString() ? clock : calendar).format(Date.parse(t)); // of today without the date
const where = o => [...new Set(o.legs.map(l => l.site))].join(", ");
const price = o => `${money(o.cost * 1e6)}${o.atLeast ? "+" : ""}`;

// Outlook asks what the job in a form would get, and shows it.
export class Outlook {
  constructor(session, job) {
    Object.assign(this, { session, job });
    this.answer = make("div", { class: "outlook", role: "status" });
    this.button = make("button", { type: "button", onclick: () => this.#ask() }, "What would it get?");
    this.element = make("div", {}, this.button, this.answer);
  }

  // follow asks whenever the form has changed and has all that it needs.
  follow() {
    const { form } = this.button;
    form.addEventListener("change", () => { if (form.checkValidity()) this.#ask(); });
  }

  async #ask() {
    if (this.button.disabled) return;
    this.button.disabled = true;
    try {
      const { jobs: [quote] } = await this.session.call("POST", `${this.session.broker}/v1/quotes`, { jobs: [this.job()] });
      this.answer.replaceChildren(...outlook(quote));
    } catch (e) {
      this.answer.replaceChildren(make("p", { class: "wrong" }, e.message));
    }
    this.button.disabled = false;
    this.answer.scrollIntoView({ block: "nearest" });
  }
}

// outlook tells an answer.
function outlook({ now, later, elsewhere, queue, capped, maxPrice, budget, elements }) {
  const rows = [["Now", now], ["Half an hour later", later], ["Elsewhere", elsewhere]].filter(([, o]) => o?.cost !== undefined), lines = [];
  if (now?.reason) lines.push(`It gets no window now: ${now.reason.detail ?? now.reason.code}`);
  if (queue) lines.push(`In the queue of ${where(queue)} it would probably begin at ${at(queue.start)}, without a price or a promise.`);
  if (elements) lines.push(`It asks for ${elements} ${elements === 1 ? "window" : "windows"}, each with a price of its own: this is the first.`);
  if (capped) lines.push(`It pays at most ${money(maxPrice * 1e6)} credits a node-hour, the broker's price cap, and ${money(budget * (elements ?? 1) * 1e6)} in all.`);
  if (rows.some(([, o]) => o.atLeast)) lines.push("+: jobs wait there for these nodes, and the site has not said what it adds for their delay.");
  lines.push("Nothing is held.");
  const head = ["", "Credits", "Start", "End", "Sites"].map(h => make("th", { scope: "col" }, h));
  const table = rows.length ? [make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What it would get" }, make("table", {}, make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...rows.map(([name, o]) => make("tr", {}, make("th", { scope: "row", class: "word" }, name), ...[price(o), at(o.start), at(o.end), where(o)].map(c => make("td", { class: "word" }, c)))))))] : [];
  return [...table, ...lines.map(l => make("p", {}, l))];
}

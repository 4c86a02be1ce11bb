// Questions before a change, and answers after it.

import { make } from "../view/words.js";

// ask asks before it acts. inputs: [{name, label, value, hint}]; act(values) promises the
// answer in words, which is told; what is refused is said in the dialog, which stays open.
export function ask({ inputs = [], act, ...rest }) {
  const fields = inputs.map(f => make("input", { type: "text", name: f.name, value: f.value, placeholder: f.hint, autocomplete: "off", spellcheck: "false" }));
  form({ ...rest, inside: inputs.map((f, i) => make("label", {}, f.label, fields[i])), act: () => act(Object.fromEntries(fields.map(f => [f.name, f.value.trim()]).filter(([, v]) => v))) });
}

// form is a dialog with anything inside, as wide as its classes say; act() promises the answer as for ask.
export function form({ title, about, inside = [], label, danger, wide, act }) {
  const wrong = make("p", { class: "wrong", role: "alert" });
  const go = make("button", { type: "submit", class: `act${danger ? " danger" : ""}` }, label);
  const inner = make("form", { method: "dialog" }, make("h2", { id: "question" }, title), make("p", {}, about), ...inside, wrong,
    make("div", { class: "buttons" }, make("button", { type: "button", onclick: () => dialog.close() }, "Leave it"), go));
  const dialog = make("dialog", { "aria-labelledby": "question", class: wide }, inner);
  inner.addEventListener("submit", async e => {
    e.preventDefault();
    go.disabled = true;
    try {
      const words = await act();
      dialog.close();
      tell(words);
    } catch (problem) {
      wrong.textContent = problem.message;
      wrong.scrollIntoView({ block: "nearest" });
      go.disabled = false;
    }
  });
  const before = document.activeElement;
  dialog.addEventListener("close", () => { dialog.remove(); before?.isConnected && before.focus(); });
  document.body.append(dialog);
  dialog.showModal();
  (inner.querySelector("input, textarea") ?? go).focus();
}

// tell shows an answer until it is closed or a few others have come.
export function tell(words, refused) {
  const box = document.getElementById("answers"), close = make("button", { type: "button", "aria-label": "Close", onclick: () => line.remove() }, "×");
  const line = make("p", { class: refused && "refused" }, make("span", {}, words), close);
  box.append(line);
  while (box.children.length > 4) box.firstChild.remove();
}

// The fields of a job: what submit and modify ask for, how it is written, and what the API
// is sent.

const units = { s: 1, m: 60, h: 3600, d: 86400 };

// seconds reads a span such as 90s, 1h30m or 2d.
export function seconds(text) {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*([smhd])/g)], rest = text.replace(/(\d+(?:\.\d+)?)\s*([smhd])/g, "").trim();
  if (!parts.length || rest) throw new Error(`${text} is not a span; it would be such as 90s, 30m, 1h30m or 2d`);
  return parts.reduce((sum, [, n, unit]) => sum + n * units[unit], 0);
}

// span writes seconds as such a text.
export function span(n) {
  let text = "";
  for (const unit of ["d", "h", "m"]) {
    const k = Math.floor(n / units[unit]);
    if (k) text += k + unit;
    n -= k * units[unit];
  }
  return text + (n || !text ? `${+n.toFixed(3)}s` : "");
}

// words splits a command as a shell does with quotes, and does nothing else that a shell does.
export function words(text) {
  const list = [];
  for (const [word] of text.matchAll(/(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/gs)) {
    list.push(word.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs, (_, plain, quoted, one) => plain ?? quoted?.replace(/\\(["\\$`])/g, "$1") ?? one));
  }
  if (/^(?:[^'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")*$/s.test(text)) return list;
  throw new Error("a quote in the command is not closed");
}

const quote = w => /^[\w./:=@%+,-]+$/.test(w) ? w : `'${w.replaceAll("'", `'\\''`)}'`;

const number = (text, what) => {
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw new Error(`${text} is not ${what}`);
  return +text;
};

// kinds read and write the texts of fields.
const kinds = {
  text: { read: t => t, write: v => v },
  count: { read: t => { const n = number(t, "a whole number"); if (!Number.isInteger(n)) throw new Error(`${t} is not a whole number`); return n; }, write: String },
  number: { read: t => number(t, "a number"), write: String },
  span: { read: seconds, write: span },
  list: { read: t => t.split(/[\s,]+/).filter(Boolean), write: v => v.join(", ") },
  command: { read: words, write: v => v.map(quote).join(" ") },
  script: { read: t => t.startsWith("#!") ? t : `#!/bin/sh\n${t}`, write: v => v },
  check: { read: v => v, write: v => v },
};

const field = (name, label, kind = "text", rest = {}) => ({ name, label, kind, ...rest });

// basic are the fields of every job, more those that few have. Names are those of the API;
// change says which can be changed of a job that has its window.
export const basic = [
  field("name", "Name", "text", { required: true, hint: "wave" }),
  field("nodes", "Nodes", "count", { required: true, hint: "4", change: true }),
  field("length", "Length, at performance 1", "span", { required: true, hint: "1h30m", change: true }),
  field("maxPrice", "Price at most, credits a node-hour", "number", { hint: "2.0", change: true }),
  field("budget", "Budget, credits; empty: what the price implies", "number", { change: true }),
  field("command", "Command, with quotes as in a shell", "command", { wide: true, hint: "./solve --steps 100" }),
  field("script", "Or a script; without #! it is for /bin/sh", "script", { wide: true }),
];
export const more = [
  field("ready", "Not before: a span from now, or RFC 3339", "text", { hint: "30m", change: true }),
  field("deadline", "Ends by: a span from now, or RFC 3339", "text", { hint: "1d", change: true }),
  field("after", "After these have succeeded", "list"),
  field("afterAny", "After these have ended", "list"),
  field("afterFailed", "If these have failed", "list"),
  field("array", "Array: indices, and how many at once", "text", { hint: "0-99%10" }),
  field("every", "Recurs every", "span", { hint: "1d" }),
  field("count", "So many windows", "count", { hint: "10" }),
  field("allOrNothing", "All windows or none", "check"),
  field("minPerformance", "Performance at least", "number", { hint: "1" }),
  field("sites", "Only on these sites", "list"),
  field("avoid", "Not on these sites", "list"),
  field("flexible", "May start later by", "span", { change: true }),
  field("priority", "Priority among your jobs", "count"),
  field("minimize", "Minimize: value, cost, finish or time", "text"),
  field("urgency", "An hour earlier is worth: credits, or a share", "text", { hint: "5%" }),
  field("workdir", "Folder on the cluster", "text"),
  field("output", "File for its output", "text"),
  field("error", "File for its standard error", "text"),
  field("oneSite", "All nodes on one site", "check"),
];

// readField is the value of a field's text, or throws what is wrong with it.
export function readField(f, text) {
  try {
    return kinds[f.kind].read(text);
  } catch (e) {
    throw new Error(`${f.label}: ${e.message}`);
  }
}

export const writeField = (f, v) => v === undefined || v === null ? "" : kinds[f.kind].write(v);

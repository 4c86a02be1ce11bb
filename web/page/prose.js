// Prose of the API: it has instants in UTC and exact amounts; people read instants by their own
// clock, and amounts to the hundredth of a credit, or to two figures where they are smaller.

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], keys = new Set(["detail", "words", "why", "lost", "message"]);
const instant = new RegExp(`\\b(?:\\d{4}-\\d\\d-\\d\\dT|(${months.join("|")}) (\\d{1,2}) )(\\d\\d:\\d\\d:\\d\\d)Z`, "g");
const full = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

// nearest is the instant of a day without a year that is nearest to now.
const nearest = (month, day, clock, now) => [-1, 0, 1].map(d => Date.parse(`${new Date(now).getUTCFullYear() + d}-${String(months.indexOf(month) + 1).padStart(2, "0")}-${day.padStart(2, "0")}T${clock}Z`))
  .reduce((a, b) => Math.abs(b - now) < Math.abs(a - now) ? b : a);

// rounded is an amount as the terminal shows it.
const rounded = n => +n < 0.1 ? `${+(+n).toPrecision(2)}` : (+n).toFixed(2);

// here writes the instants and amounts in a text for the reader.
export const here = (text, now = Date.now()) => text.replace(instant, (all, month, day, clock) => full.format(month ? nearest(month, day, clock, now) : Date.parse(all)))
  .replace(/(^|[\s(+])(\d+\.\d{4,6})\b/g, (_, before, n) => before + rounded(n)).replace(/(^|[\s(+])(\d+\.\d{3})(?= credits?| base| for delay)/g, (_, before, n) => before + rounded(n));

// parse reads JSON of the API, its prose for the reader; with cells also what tables have in their
// cells. What a user has written in a job stays as it is, in what submits it again too: a variable
// of its work may have any name.
export function parse(text, cells) {
  const value = JSON.parse(text, (key, value) => typeof value === "string" && (keys.has(key) || cells && /^\d+$/.test(key)) ? here(value) : value);
  if (value?.again) value.again = JSON.parse(text).again;
  return value;
}

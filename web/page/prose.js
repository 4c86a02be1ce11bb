// Instants in prose: the API writes them in UTC, and people read them by their own clock.

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], keys = new Set(["detail", "words", "why", "lost", "message"]);
const instant = new RegExp(`\\b(?:\\d{4}-\\d\\d-\\d\\dT|(${months.join("|")}) (\\d{1,2}) )(\\d\\d:\\d\\d:\\d\\d)Z`, "g");
const full = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

// nearest is the instant of a day without a year that is nearest to now.
const nearest = (month, day, clock, now) => [-1, 0, 1].map(d => Date.parse(`${new Date(now).getUTCFullYear() + d}-${String(months.indexOf(month) + 1).padStart(2, "0")}-${day.padStart(2, "0")}T${clock}Z`))
  .reduce((a, b) => Math.abs(b - now) < Math.abs(a - now) ? b : a);

// here writes the instants in a text by the reader's clock.
export const here = (text, now = Date.now()) => text.replace(instant, (all, month, day, clock) => full.format(month ? nearest(month, day, clock, now) : Date.parse(all)));

// parse reads JSON of the API, its prose by the reader's clock.
export const parse = text => text.search(instant) < 0 ? JSON.parse(text) : JSON.parse(text, (key, value) => keys.has(key) && typeof value === "string" ? here(value) : value);

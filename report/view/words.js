// Words for numbers, as the terminal and the files have them.

export const second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;

const two = n => String(n).padStart(2, "0");
const clock = (t, seconds) => `${Math.floor(t / hour)}:${two(Math.floor(t / minute) % 60)}` + (seconds ? `:${two(Math.floor(t / second) % 60)}` : "");
const calendar = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const dayOnly = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

// moment is an instant: of a run "2 d 3:04:05", with an epoch one of the calendar.
export function moment(t, epoch) {
  if (t === undefined || t === null) return "";
  if (epoch) return calendar.format(t + epoch);
  return (t >= day ? `${Math.floor(t / day)} d ` : "") + clock(t % day, true);
}

// tick is an instant on a ruler whose ticks are step apart.
export function tick(t, step, epoch) {
  if (epoch) {
    const at = new Date(t + epoch);
    return step >= day || at.getHours() + at.getMinutes() + at.getSeconds() === 0 ? dayOnly.format(at)
      : `${two(at.getHours())}:${two(at.getMinutes())}` + (step < minute ? `:${two(at.getSeconds())}` : "");
  }
  if (t === 0) return "0";
  if (t % day === 0) return `${t / day} d`;
  if (t < day) return step < hour ? clock(t, step < minute) : `${t / hour} h`;
  return `${Math.floor(t / day)} d ${clock(t % day, step < minute)}`;
}

const steps = [second, 5 * second, 15 * second, 30 * second, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
  hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 5 * day, 10 * day, 30 * day, 60 * day, 100 * day, 365 * day];

// ticks are the instants to mark from one to another, most at most, and their distance.
export function ticks(from, to, most, epoch) {
  let step = steps.find(s => (to - from) / s <= most) ?? steps.at(-1);
  while ((to - from) / step > most) step *= 2;
  const zone = epoch ? epoch - new Date(epoch).getTimezoneOffset() * minute : 0; // days begin at midnight
  const list = [];
  for (let t = Math.ceil((from + zone) / step) * step - zone; t <= to; t += step) list.push(t);
  return { list, step };
}

// fixed has so many decimals; of two that are as near it is the even one, as in Go.
function fixed(v, decimals) {
  if (Math.abs(v * 2 ** (decimals + 1) % 2) !== 1) return v.toFixed(decimals);
  const low = Math.floor(v * 10 ** decimals);
  return ((low % 2 ? low + 1 : low) / 10 ** decimals).toFixed(decimals);
}

// spanWords is a duration in the unit that suits it.
export function spanWords(d) {
  if (d === undefined || d === null) return "";
  if (d < minute) return `${fixed(d / second, 0)} s`;
  if (d < hour) return `${fixed(d / minute, 0)} min`;
  if (d < 2 * day) return `${fixed(d / hour, 1)} h`;
  return `${fixed(d / day, 1)} d`;
}

// money is credits of their millionths: two decimals, those of ten millions and more without.
export function money(c) {
  if (c === undefined || c === null) return "";
  return fixed(c / 1e6, c >= 1e13 ? 0 : 2);
}

export const count = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
export const percent = share => share >= 0.0995 ? `${(share * 100).toFixed(0)} %` : `${(share * 100).toFixed(1)} %`;

// make makes an element: its attributes, those that begin with "on" being what it does,
// and what it holds.
export function make(tag, attributes, ...inside) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes ?? {})) {
    if (v === undefined || v === null || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...inside.filter(x => x !== undefined && x !== null && x !== ""));
  return e;
}

// keepFocus changes what is inside of an element. If the focus was there and is lost, it
// comes back to what says the same, of the part with the same key where there are parts.
export function keepFocus(element, change, parts) {
  const had = element.contains(document.activeElement) ? document.activeElement : null;
  let part = parts && had?.closest(parts);
  while (part && part.key === undefined) part = part.parentElement.closest(parts);
  change();
  if (!had || element.contains(document.activeElement)) return;
  if (had.isConnected) return had.focus({ preventScroll: true });
  const within = part ? [...element.querySelectorAll(parts)].filter(p => p.key === part.key) : [element];
  const list = within.flatMap(p => [...p.querySelectorAll("button, summary, input")]);
  (list.find(b => b.textContent === had.textContent) ?? list[0])?.focus({ preventScroll: true });
}

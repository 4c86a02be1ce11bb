// The window of a job as a picture: when it was submitted, its legs, when its work really
// ran, now, and the deadline.

import { tick, ticks } from "../view/words.js";

const svg = (tag, attributes, ...inside) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...inside);
  return e;
};

// windowPicture draws the legs of a job, as the API tells them.
export function windowPicture(job, legs, why, doc) {
  const narrow = innerWidth < 640, { epoch, now } = doc, at = t => t === undefined ? undefined : Date.parse(t) - epoch, W = narrow ? 340 : 720, left = narrow ? 84 : 150, right = 14, row = 26, top = 22, H = top + row * Math.max(legs.length, 1) + 20;
  const due = why.asked?.deadline ? why.asked.deadline * 1000 - epoch : undefined, end = Math.max(job.end, now > job.end + (job.end - job.start) ? 0 : now ?? 0);
  const near = due !== undefined && due < end + 2 * (end - job.submit), pad = (end - job.submit) * 0.03 || 1000, from = job.submit - pad, to = (near ? Math.max(end, due) : end) + pad;
  const x = t => left + (Math.min(Math.max(t, from), to) - from) / (to - from) * (W - left - right), bottom = top + row * legs.length;
  const line = (t, cls, words, side = "middle") => [svg("path", { class: cls, d: `M${x(t)} ${top - 4}V${bottom}` }), svg("text", { class: `${cls} ${side}`, x: x(t), y: top - 8 }, words)];
  const s = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", class: "window", "aria-label": `The window of ${job.name}: ${legs.map(l => `${l.nodes} nodes of ${l.site}`).join(", ")}` });
  const { list, step } = ticks(from, to, narrow ? 3 : 6, epoch);
  for (const t of list) s.append(svg("path", { class: "grid", d: `M${x(t)} ${top}V${bottom}` }), svg("text", { class: "middle", x: x(t), y: bottom + 15 }, tick(t, step, epoch)));
  legs.forEach((l, i) => {
    const y = top + i * row + 4, a = at(l.start), b = at(l.end), begun = at(l.begin);
    s.append(svg("text", { class: "end", x: left - 8, y: y + 13 }, `${l.nodes} of ${l.site}`), svg("rect", { class: "wait", x: x(job.submit), y: y + 7, width: Math.max(0, x(a) - x(job.submit)), height: 4 }),
      svg("rect", { class: `leg ${l.state}`, "data-state": job.state, x: x(a), y, width: Math.max(2, x(b) - x(a)), height: 18, rx: 3 }, svg("title", {}, `${l.nodes} nodes of ${l.site}: ${l.state}`)));
    if (l.opens && l.closes) s.append(svg("rect", { class: "freedom", x: x(at(l.opens)), y, width: Math.max(2, x(at(l.closes)) - x(at(l.opens))), height: 18, rx: 3 }));
    if (begun !== undefined) s.append(svg("rect", { class: "work", x: x(begun), y: y + 13, width: Math.max(2, x(b) - x(begun)), height: 5 }, svg("title", {}, "its work")));
  });
  s.append(...line(job.submit, "mark", "submitted", "start"));
  if (now > from && now < to) s.append(...line(now, "now", x(now) - x(job.submit) < 60 ? "" : "now"));
  if (near) s.append(...line(due, "limit", "deadline", "end"));
  return s;
}

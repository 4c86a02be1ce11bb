// Numbers shown large, distributions and fronts.

import { make } from "./words.js";

export const figures = list => make("ul", { class: "figures" }, ...(list ?? []).map(f => make("li", {}, make("b", {}, f.value), make("span", {}, f.name), f.note ? make("small", {}, f.note) : "")));

// share is a distribution: a table whose cells are bars too.
export function share(s) {
  const most = Math.max(1, ...s.series.flatMap(x => x.counts));
  const all = s.series.map(x => x.counts.reduce((a, b) => a + b, 0));
  return make("figure", { class: "share" }, make("h3", {}, s.title), s.about ? make("p", { class: "faint" }, s.about) : "", make("div", { class: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "word" }, s.bin), ...s.series.map(x => make("th", { scope: "col", class: "word" }, x.name)))),
    make("tbody", {}, ...s.bins.map((bin, i) => make("tr", {}, make("th", { scope: "row", class: "word" }, bin), ...s.series.map((x, k) => {
      const n = x.counts[i], bar = make("i", { class: `s${k}` });
      bar.style.width = `${100 * n / most}%`;
      return make("td", { class: "count" }, make("span", {}, n.toLocaleString("en"), n && all[k] ? make("small", {}, ` ${(100 * n / all[k]).toFixed(n === all[k] ? 0 : 1)} %`) : ""), bar);
    })))),
    s.series.some(x => x.note) ? make("tfoot", {}, make("tr", {}, make("td", {}), ...s.series.map(x => make("td", { class: "word faint" }, x.note ?? "")))) : "")));
}

const svg = (tag, attributes, ...inside) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...inside);
  return e;
};

// round are round numbers from low to high.
function round(low, high, most) {
  if (!(high > low)) return [low];
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough)), step = power * [1, 2, 5, 10].find(k => power * k >= rough);
  const list = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) list.push(k * step);
  return list;
}

// front is the choice for a batch, on the axes of its goal.
export function front(f) {
  const W = 520, H = 300, left = 58, right = 12, top = 14, bottom = 44, points = [...f.points, f.chosen];
  const range = key => {
    const low = Math.min(...points.map(p => p[key])), high = Math.max(...points.map(p => p[key])), by = 0.08 * (high - low) || Math.max(0.1 * high, 0.01);
    return [Math.max(0, low - by), high + by];
  };
  const [x0, x1] = range("x"), [y0, y1] = range("y");
  const x = v => left + (v - x0) / (x1 - x0) * (W - left - right), y = v => H - bottom - (v - y0) / (y1 - y0) * (H - top - bottom);
  const number = v => String(+v.toPrecision(6)), at = (v, e) => number(v === 0 ? 0 : e);
  const s = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${f.title}. ${f.chosen.words}` });
  for (const v of round(x0, x1, 6)) s.append(svg("path", { class: "grid", d: `M${x(v)} ${top}V${H - bottom}` }), svg("text", { class: "middle", x: x(v), y: H - bottom + 15 }, at(v, v)));
  for (const v of round(y0, y1, 5)) s.append(svg("path", { class: "grid", d: `M${left} ${y(v)}H${W - right}` }), svg("text", { class: "end", x: left - 6, y: y(v) + 4 }, at(v, v)));
  s.append(svg("text", { class: "middle", x: (left + W - right) / 2, y: H - 8 }, f.x), svg("text", { class: "middle", transform: `translate(12 ${(top + H - bottom) / 2}) rotate(-90)` }, f.y));
  if (f.limitX > x0 && f.limitX < x1) s.append(svg("path", { class: "limit", d: `M${x(f.limitX)} ${top}V${H - bottom}` }), svg("text", { class: "end", x: x(f.limitX) - 4, y: top + 12 }, f.limitsX));
  if (f.limitY > y0 && f.limitY < y1) s.append(svg("path", { class: "limit", d: `M${left} ${y(f.limitY)}H${W - right}` }), svg("text", { class: "end", x: W - right - 4, y: y(f.limitY) - 5 }, f.limitsY));
  s.append(svg("path", { class: "edge", d: f.points.map((p, i) => i ? `H${x(p.x)}V${y(p.y)}` : `M${x(p.x)} ${y(p.y)}`).join("") }));
  for (const p of f.points) s.append(svg("circle", { class: "point", cx: x(p.x), cy: y(p.y), r: 2.6 }, svg("title", {}, p.words)));
  const far = x(f.chosen.x) > W * 0.75;
  s.append(svg("circle", { class: "chosen", cx: x(f.chosen.x), cy: y(f.chosen.y), r: 5.5 }, svg("title", {}, f.chosen.words)),
    svg("text", { class: far ? "strong end" : "strong", x: x(f.chosen.x) + (far ? -10 : 10), y: y(f.chosen.y) - 8 }, "chosen"));
  return make("figure", { class: "front" }, make("h3", {}, f.title), s, make("figcaption", { class: "faint" }, f.about ?? ""));
}

// Pointer and keys on what ran where.

import { density } from "./rows.js";
import { outWords } from "./gantt.js";
import { moment } from "./words.js";

// listen has a Gantt follow the pointer and the keys. Say tells what is selected.
export function listen(gantt, tip, say) {
  const { canvas, span, store } = gantt;
  const place = e => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
  const instant = e => span.from + Math.max(0, Math.min(1, (place(e)[0] - gantt.painter.left) / (gantt.painter.width - gantt.painter.left))) * (span.to - span.from);

  canvas.addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.metaKey && !e.shiftKey) return;
    e.preventDefault();
    if (e.shiftKey) span.move(Math.sign(e.deltaY || e.deltaX) * 0.1);
    else span.zoom(e.deltaY < 0 ? 0.8 : 1.25, instant(e));
  }, { passive: false });
  canvas.addEventListener("dblclick", e => { if (gantt.at(...place(e)).item?.band) span.zoom(0.5, instant(e)); });

  let start = null, moved = false;
  canvas.addEventListener("pointerdown", e => {
    moved = false;
    if (e.pointerType !== "mouse" || e.button !== 0) return;
    start = { x: e.clientX, from: span.from, to: span.to };
  });
  addEventListener("pointermove", e => {
    if (!start) return;
    if (Math.abs(e.clientX - start.x) > 4) moved = true;
    if (!moved || span.whole) return;
    const by = Math.max(start.to - span.last, Math.min(start.from - span.first, (e.clientX - start.x) / (gantt.painter.width - gantt.painter.left) * (start.to - start.from)));
    span.show(start.from - by, start.to - by);
  });
  addEventListener("pointerup", () => { start = null; });

  canvas.addEventListener("click", e => {
    if (moved || !gantt.painter) return;
    const { item, bar, t } = gantt.at(...place(e));
    if (bar !== undefined) return open(bar);
    if (item && (item.open || place(e)[0] < gantt.painter.left || gantt.narrow && item.row === undefined)) return gantt.toggle(item.site);
    if (item && item.row === undefined) return gantt.toggle(item.site);
    if (item && t !== undefined && gantt.lit !== null) drop();
  });

  const open = bar => {
    gantt.select(bar);
    say(gantt.words(bar));
    gantt.dispatchEvent(new CustomEvent("open", { detail: bar }));
  };
  const drop = () => {
    gantt.select(null);
    say("");
    gantt.dispatchEvent(new CustomEvent("open", { detail: null }));
  };

  canvas.addEventListener("pointermove", e => {
    if (start && moved) return tip.hide();
    const [x, y] = place(e), { item, bar, t } = gantt.at(x, y);
    canvas.style.cursor = bar !== undefined || item && (item.open || item.row === undefined) ? "pointer" : span.whole ? "default" : "grab";
    if (bar !== undefined) return tip.show(gantt.words(bar), e);
    if (!item?.band || x < gantt.painter.left) return item && !item.band ? tip.show("Open or close the site", e) : tip.hide();
    const site = store.sites[item.site], rows = item.row === undefined ? [site.first, site.first + site.groups.length] : [item.row, item.row + 1];
    const nodes = item.row === undefined ? site.nodes : store.rows[item.row].nodes, step = (span.to - span.from) / gantt.painter.width;
    const d = density(store, ...rows, t, t + step, 1), name = item.row === undefined ? site.name : `${site.name}/${store.rows[item.row].name}`;
    tip.show(`${name} at ${moment(t, store.doc.epoch)}: of ${nodes} nodes ${d.local[0].toFixed(0)} with local jobs, ${d.vo[0].toFixed(0)} with VO legs` +
      (gantt.out(item, t) ? `; ${outWords(gantt.out(item, t), store.doc.epoch)}` : "") + (item.row === undefined ? "; click opens the site" : gantt.painted.has(item.row) ? "" : "; zoom in for the blocks"), e);
  });
  canvas.addEventListener("pointerleave", () => tip.hide());

  canvas.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const act = acts(gantt, e, open, drop, say);
    if (!act) return;
    e.preventDefault();
    act();
  });
}

// acts is what a key does, undefined if nothing.
function acts(gantt, e, open, drop, say) {
  const { span, lit } = gantt;
  const go = bar => { if (bar !== undefined) { gantt.select(bar, true); say(gantt.words(bar)); } };
  const zoom = { "+": () => span.zoom(0.5), "=": () => span.zoom(0.5), "-": () => span.zoom(2), 0: () => span.all() }[e.key];
  if (zoom) return zoom;
  if (lit === null || e.shiftKey) {
    return { ArrowLeft: () => span.move(-0.25), ArrowRight: () => span.move(0.25), Enter: () => go(nearest(gantt)),
      ArrowDown: () => { gantt.box.scrollTop += 80; }, ArrowUp: () => { gantt.box.scrollTop -= 80; }, Escape: () => span.all() }[e.key];
  }
  return { ArrowLeft: () => go(beside(gantt, -1)), ArrowRight: () => go(beside(gantt, 1)), ArrowUp: () => go(across(gantt, -1)), ArrowDown: () => go(across(gantt, 1)),
    Enter: () => open(lit), Escape: drop }[e.key];
}

// nearest is the first bar in sight, of the first row that has one.
function nearest(gantt) {
  for (const item of gantt.items) {
    if (item.row === undefined || item.y + item.h < gantt.box.scrollTop) continue;
    const found = inRow(gantt, item.row, gantt.span.from);
    if (found !== undefined && gantt.store.bars.start(found) < gantt.span.to) return found;
  }
  for (const s of gantt.shown) { // all sites are closed
    const site = gantt.store.sites[s];
    for (let row = site.first; row < site.first + site.groups.length; row++) {
      const found = inRow(gantt, row, gantt.span.from);
      if (found !== undefined) return found;
    }
  }
}

// inRow is the first bar of a row that ends after an instant.
function inRow({ store }, row, t) {
  const [a] = store.within(row, t, t), { bars } = store;
  for (let i = a; i < bars.first[row + 1]; i++) if (bars.end(i) > t) return i;
}

// beside is the next bar of the same row.
function beside({ store, lit }, by) {
  const row = store.row(lit), next = lit + by;
  return next >= store.bars.first[row] && next < store.bars.first[row + 1] ? next : undefined;
}

// across is the bar of the next row, among the sites shown, at the same time.
function across(gantt, by) {
  const { store, lit } = gantt, rows = gantt.shown.flatMap(s => store.sites[s].groups.map((_, k) => store.sites[s].first + k));
  for (let k = rows.indexOf(store.row(lit)) + by; k >= 0 && k < rows.length; k += by) {
    const [a, b] = [store.bars.first[rows[k]], store.bars.first[rows[k] + 1]];
    if (a < b) return inRow(gantt, rows[k], store.bars.start(lit)) ?? b - 1;
  }
}

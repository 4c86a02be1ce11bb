// Zoom over all rulers at once, a tip under the pointer, and the table of jobs.
// Without this script the page shows the same, whole.
(() => {
  "use strict";
  const left = 120, width = 1010, second = 1000;
  const plots = [...document.querySelectorAll("figure.timed")];
  const until = Number(document.body.dataset.until); // milliseconds
  const steps = [1, 5, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 2592000, 5184000, 8640000, 31536000].map(s => s * second);
  let from = 0, to = until;

  const two = n => String(n).padStart(2, "0");
  const clock = (t, s) => `${Math.floor(t / 3600000)}:${two(Math.floor(t / 60000) % 60)}` + (s ? `:${two(Math.floor(t / 1000) % 60)}` : "");
  function name(t, step) {
    const day = 86400000;
    if (t === 0) return "0";
    if (t % day === 0) return `${t / day} d`;
    if (t < day) return step < 3600000 ? clock(t, step < 60000) : `${t / 3600000} h`;
    return `${Math.floor(t / day)} d ${clock(t % day, step < 60000)}`;
  }

  function node(tag, attributes, text) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text) e.textContent = text;
    return e;
  }

  // ruler draws the ticks of the span shown, between the same lines as before.
  function ruler(ticks) {
    if (!ticks.whole) {
      ticks.whole = [...ticks.childNodes];
      const line = ticks.querySelector("path").getAttribute("d").match(/^M[\d.]+ ([\d.]+)V([\d.]+)/);
      ticks.top = Number(line[1]); ticks.bottom = Number(line[2]);
    }
    if (from === 0 && to === until) { ticks.replaceChildren(...ticks.whole); return; }
    const step = steps.find(s => (to - from) / s <= 12) || steps.at(-1);
    const list = [];
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = left + (t - from) / (to - from) * width;
      list.push(node("path", {class: "g", d: `M${x} ${ticks.top}V${ticks.bottom}`}));
      if (x <= left + width - 12) list.push(
        node("text", {class: "m c", x, y: ticks.top - 5}, name(t, step)), node("text", {class: "m c", x, y: ticks.bottom + 14}, name(t, step)));
    }
    ticks.replaceChildren(...list);
  }

  // clip keeps what is zoomed within the plot.
  function clip(svg) {
    if (svg.clipped) return;
    svg.clipped = true;
    const id = "clip-" + svg.id;
    const path = node("clipPath", {id});
    path.append(node("rect", {x: left, y: 0, width, height: svg.viewBox.baseVal.height}));
    svg.prepend(path);
    svg.querySelectorAll("g.z,g.p").forEach(g => {
      const outer = node("g", {"clip-path": `url(#${id})`});
      g.replaceWith(outer);
      outer.append(g);
    });
  }

  function show() {
    const k = until / (to - from), shift = left - k * (left + from / until * width);
    for (const f of plots) {
      const svg = f.querySelector("svg");
      clip(svg);
      svg.querySelectorAll("g.z").forEach(g => g.setAttribute("transform", `translate(${shift} 0) scale(${k} 1)`));
      svg.querySelectorAll("g.p > *").forEach(e => {
        const a = e.tagName === "circle" ? "cx" : "x";
        if (e.dataset.x === undefined) e.dataset.x = e.getAttribute(a);
        e.setAttribute(a, shift + k * Number(e.dataset.x));
      });
      svg.querySelectorAll("g.ticks").forEach(ruler);
    }
    document.querySelectorAll("pattern").forEach(p => {
      if (p.dataset.turn === undefined) p.dataset.turn = p.getAttribute("patternTransform") || "";
      p.setAttribute("patternTransform", `scale(${1 / k} 1) ${p.dataset.turn}`);
    });
    const said = document.getElementById("shown");
    if (said) said.textContent = from === 0 && to === until ? "the whole run" : `${moment(from)} to ${moment(to)}`;
  }
  const moment = t => (t >= 86400000 ? Math.floor(t / 86400000) + " d " : "") + clock(t % 86400000, false);

  function zoom(by, around) {
    const span = Math.min(until, Math.max(until / 5000, (to - from) * by));
    const share = (around - from) / (to - from);
    from = Math.max(0, Math.min(until - span, around - share * span));
    to = from + span;
    show();
  }
  const middle = () => (from + to) / 2;
  function move(share) {
    const span = to - from;
    from = Math.max(0, Math.min(until - span, from + share * span));
    to = from + span;
    show();
  }
  const acts = {
    in: () => zoom(0.5, middle()), out: () => zoom(2, middle()), left: () => move(-0.25), right: () => move(0.25),
    whole: () => { from = 0; to = until; show(); }, tried: e => {
      const off = document.body.classList.toggle("hide-tried");
      e.setAttribute("aria-pressed", String(!off));
    },
  };
  document.querySelectorAll("[data-act]").forEach(b => b.addEventListener("click", () => acts[b.dataset.act](b)));

  for (const f of plots) {
    const svg = f.querySelector("svg"), box = f.querySelector(".scroll");
    const instant = e => {
      const r = svg.getBoundingClientRect();
      const x = (e.clientX - r.left) / r.width * svg.viewBox.baseVal.width;
      return from + Math.max(0, Math.min(1, (x - left) / width)) * (to - from);
    };
    svg.addEventListener("wheel", e => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      zoom(e.deltaY < 0 ? 0.8 : 1.25, instant(e));
    }, {passive: false});
    svg.addEventListener("dblclick", e => zoom(0.5, instant(e)));
    box.addEventListener("keydown", e => {
      const act = {"+": "in", "=": "in", "-": "out", "ArrowLeft": "left", "ArrowRight": "right", "0": "whole", "Escape": "whole"}[e.key];
      if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      acts[act]();
    });
    let start = null;
    svg.addEventListener("pointerdown", e => { if (e.pointerType === "mouse" && e.button === 0) { start = {x: e.clientX, from, to}; } });
    addEventListener("pointermove", e => {
      if (!start || to - from === until) return;
      const span = start.to - start.from, by = (e.clientX - start.x) / svg.getBoundingClientRect().width * svg.viewBox.baseVal.width / width * span;
      from = Math.max(0, Math.min(until - span, start.from - by));
      to = from + span;
      show();
    });
    addEventListener("pointerup", () => { start = null; });
  }

  // The tip: words of the mark under the pointer, beside the pointer.
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.setAttribute("role", "status");
  document.body.append(tip);
  let lit = null;
  function words(e) {
    if (e.tipWords !== undefined) return e.tipWords;
    const title = e.querySelector(":scope > title");
    e.tipWords = title ? title.textContent : "";
    if (title) title.remove(); // else the browser would show it too
    return e.tipWords;
  }
  function point(e) {
    let m = e.target instanceof Element ? e.target.closest("svg rect, svg path, svg circle") : null;
    if (m && !words(m)) m = m.parentElement && m.parentElement.tagName === "g" && !m.parentElement.getAttribute("class") ? m.parentElement : null;
    if (lit && lit !== m) (lit.tagName === "g" ? [...lit.children] : [lit]).forEach(r => r.classList.remove("lit"));
    lit = m && words(m) ? m : null;
    tip.style.display = lit ? "block" : "none";
    if (!lit) return;
    (lit.tagName === "g" ? [...lit.children] : [lit]).forEach(r => r.classList.add("lit"));
    tip.textContent = words(lit);
    const w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(4, Math.min(innerWidth - w - 4, e.clientX + 12)) + "px";
    tip.style.top = (e.clientY + h + 24 > innerHeight ? Math.max(4, e.clientY - h - 12) : e.clientY + 16) + "px";
  }
  addEventListener("pointermove", point);
  addEventListener("pointerdown", point);
  addEventListener("scroll", () => { tip.style.display = "none"; }, true);

  // The table of jobs: sorted by any column, filtered by words.
  document.querySelectorAll("table.jobs").forEach(table => {
    const body = table.tBodies[0], rows = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((th, i) => {
      const b = document.createElement("button");
      b.type = "button";
      b.textContent = th.textContent;
      th.replaceChildren(b);
      b.addEventListener("click", () => {
        const down = th.getAttribute("aria-sort") === "ascending";
        heads.forEach(h => h.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = r => r.cells[i].dataset.v ?? r.cells[i].textContent;
        const number = rows.every(r => key(r) === "" || !isNaN(key(r)));
        const empty = v => v === "" ? 1 : 0; // at the end either way
        rows.map((r, n) => [key(r), r, n]).sort((a, b) => empty(a[0]) - empty(b[0]) || (down ? -1 : 1) * (number ? a[0] - b[0] : String(a[0]).localeCompare(b[0])) || a[2] - b[2])
          .forEach(x => body.append(x[1]));
      });
    });
    const input = document.getElementById(table.dataset.filter), count = document.getElementById(table.dataset.count);
    input.closest(".jobs-bar").hidden = false;
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let n = 0;
      for (const r of rows) {
        r.words ??= r.textContent.toLowerCase();
        r.hidden = !wanted.every(w => r.words.includes(w));
        if (!r.hidden) n++;
      }
      count.textContent = `${n} of ${rows.length} jobs`;
    });
  });
  document.querySelectorAll(".bar").forEach(b => { b.hidden = false; });
})();

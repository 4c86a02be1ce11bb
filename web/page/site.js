// The page of a site's own process: its state and, for operators, the legs that it carries.

import { outsOf } from "./outs.js";

const every = 5000;
const kinds = { leg: 4, held: 6 };

// documentOf is the view's document of a site's answers.
export function documentOf(state, reservations) {
  const epoch = Date.now() - 24 * 3600e3, at = v => v ? Date.parse(v) - epoch : undefined, groups = state.groups ?? [];
  const sum = key => groups.reduce((n, g) => n + g[key], 0);
  const bars = reservations.map((r, i) => ({ id: r.leg, site: state.name, group: r.group, nodes: r.nodes, start: at(r.start), end: at(r.end), kind: ["running", "confirmed", "settled"].includes(r.state) ? kinds.leg : kinds.held,
    job: r.leg, window: i, cost: Math.round(1e6 * r.cost) }));
  const now = at(state.now), until = Math.max(now + 600e3, ...bars.map(b => b.end)), from = Math.min(now - 600e3, ...bars.map(b => b.start));
  return {
    epoch, from, until, now, bars,
    sites: [{ name: state.name, state: state.drained ? "drained" : "usable", why: state.words.slice(state.drained ? 0 : 1).join("; "), groups: groups.map(g => ({ name: g.name, nodes: g.nodes })), outs: outsOf(state, epoch),
      cells: [sum("nodes"), sum("free"), sum("clear"), state.open] }],
    siteColumns: [["Nodes", "number"], ["Free", "number"], ["at base price", "number"], ["Legs", "number"]].map(([name, kind]) => ({ name, kind })),
    jobs: reservations.map(r => ({ id: r.leg, vo: r.broker, user: r.user, name: r.job ?? r.leg, state: r.state, submit: at(r.start), start: at(r.start), end: at(r.end), nodes: r.nodes, sites: [state.name], cost: Math.round(1e6 * r.cost) })),
    jobsNote: "The legs that hold nodes here.",
    tables: [
      { title: "Out of service", about: state.maintenance.length ? "" : "No nodes are out of service.", columns: [["Name", "word"], ["Group", "word"], ["Nodes", "number"], ["From", "at"], ["Until", "at"], ["Why", "word"]].map(([name, kind]) => ({ name, kind })),
        rows: state.maintenance.map(m => [m.name, m.group, m.nodes, at(m.start), at(m.end), m.why]) },
      { title: "Brokers", about: "What they have paid, in credits.", columns: [["Broker", "word"], ["Paid", "money"], ["Pending", "money"]].map(([name, kind]) => ({ name, kind })), rows: (state.brokers ?? []).map(b => [b.broker, 1e6 * b.paid, 1e6 * b.pending]) },
    ],
  };
}

// followSite reads a site again and again.
export async function followSite(session, path, take, tell) {
  try {
    const state = await session.call("GET", `${path}/v1/site`);
    const list = session.who.role === "operator" ? (await session.call("GET", `${path}/v1/reservations?limit=500`)).reservations : [];
    take(documentOf(state, list));
    tell("live", `read every ${every / 1000} s`);
  } catch (e) {
    tell("off", `not connected: ${e.message}`);
  }
  setTimeout(() => followSite(session, path, take, tell), every);
}

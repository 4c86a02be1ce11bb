// What sites themselves say of maintenance and drains, where they can be called: brokers know
// only that a site takes nothing.

const every = 30_000;

// outsOf are the times in which a site takes nothing, by its own words.
export function outsOf(state, epoch) {
  const at = t => Date.parse(t) - epoch, list = state.maintenance.map(m => ({ what: "maintenance", why: m.why || m.name, group: m.group, nodes: m.nodes, start: at(m.start), end: at(m.end) }));
  return state.drained ? [...list, { what: "drained", why: state.drained.why, start: at(state.now), end: state.drained.until && at(state.drained.until) }] : list;
}

// followOuts asks each site again and again; take(name, state) gets what it says.
export async function followOuts(session, take) {
  if (!document.hidden) await Promise.all(Object.entries(session.sites).map(([name, path]) => session.call("GET", `${path}/v1/site`).then(state => take(name, state), () => { /* it is away: its broker says so */ })));
  setTimeout(() => followOuts(session, take), every);
}

// The actions of the page: the same calls as bourse cancel, drain, close and open, with their
// answers.

import { ask, tell } from "./dialog.js";
import { modifyJob, submitJob } from "./submit.js";

const over = new Set(["done", "failed", "abandoned", "withdrawn"]);

// jobActions are the buttons of a job. full is what the API says of it, once it has; opened(id)
// shows a job that was submitted.
export const jobActions = (session, opened) => (job, full) => [
  over.has(job.state) ? null : { label: "Cancel the job ...", danger: true, run: () => ask({
    title: `Cancel ${job.name}?`, danger: true, label: "Cancel the job",
    about: "The job's windows are released. Sites refund what their schedules say: the full base price while the start is far off, less as it comes closer, and nothing once the job runs.",
    act: async () => (await session.call("DELETE", `${session.broker}/v1/jobs/${encodeURIComponent(job.id)}`)).words,
  }) },
  job.state === "placed" && !job.counts && !full?.parts?.length ? { label: "Change it ...", run: () => modifyJob(session, job) } : null,
  full?.again ? { label: "Submit it again ...", run: () => submitJob(session, full.again, opened) } : null,
].filter(Boolean);

// siteActions are the buttons of a site, for operators who can call it. changed(state) gets
// its state afterwards.
export const siteActions = (session, vo, changed) => site => {
  const path = session.sites[site.name];
  if (!path || session.who.role !== "operator") return [];
  const change = async (method, what, body) => {
    const state = await session.call(method, `${path}/v1/${what}`, body);
    changed(state);
    return state.words.join("\n");
  };
  const why = { name: "why", label: "Reason, shown to whoever is refused", hint: "new switch" };
  const list = [];
  if (site.state === "drained") {
    list.push({ label: "Undrain ...", run: () => ask({ title: `Make ${site.name} accept new legs again?`, label: "End the drain", about: "Brokers will ask it again in their next cycles.", act: () => change("DELETE", "drain") }) });
  } else {
    list.push({ label: "Drain ...", run: () => ask({ title: `Drain ${site.name}?`, label: "Drain it", danger: true,
      about: "The site refuses requests for offers and new legs. Legs that are held, committed or running go on, and so do local jobs.",
      inputs: [{ name: "until", label: "Until: a span from now, or RFC 3339; empty: until further notice", hint: "2h" }, why], act: v => change("POST", "drain", v) }) });
  }
  const whom = [{ name: "vo", label: "VO, by the name of its broker", value: vo() }, { name: "user", label: "User; empty: all users of the VO" }];
  list.push({ label: "Close to ...", run: () => ask({ title: `Close ${site.name} to a VO or a user?`, label: "Close it", danger: true,
    about: "The site refuses new legs of the VO, of the user of any VO or, with both, of that user of that VO. Legs that they already hold go on.", inputs: [...whom, why], act: v => change("POST", "close", v) }) });
  list.push({ label: "Open to ...", run: async () => {
    let closed = [];
    try { closed = (await session.call("GET", `${path}/v1/site`)).closed; } catch (e) { return tell(e.message, true); }
    if (!closed.length) return tell(`${site.name} is not closed to anybody`);
    const [first] = closed;
    ask({ title: `Open ${site.name} again?`, label: "Open it", about: "It is closed to " + closed.map(c => [c.user && `user ${c.user}`, c.vo && `VO ${c.vo}`].filter(Boolean).join(" of ")).join(", ") + ".",
      inputs: [{ ...whom[0], value: first.vo ?? "" }, { ...whom[1], value: first.user ?? "" }], act: v => change("POST", "open", v) });
  } });
  return list;
};

// Batches: the jobs that were submitted together as one row, which opens on their table.

import { count } from "./words.js";

// worst is the order in which states matter to whoever looks at a batch.
const worst = ["failed", "abandoned", "waiting", "gathering", "trying", "running", "placed", "done", "withdrawn"];

// counts says how many jobs are in which state, in the order of a job's life.
export function counts(jobs) {
  const n = new Map();
  for (const j of jobs) n.set(j.state, (n.get(j.state) ?? 0) + 1);
  return ["done", "running", "placed", "trying", "gathering", "waiting", "failed", "abandoned", "withdrawn"].filter(s => n.has(s)).map(s => `${n.get(s)} ${s}`).join(", ");
}

// fold lists jobs and batches in the order of the jobs; a batch of one is its job.
export function fold(jobs) {
  const of = new Map(), list = [];
  for (const job of jobs) {
    if (!job.batch) { list.push({ job }); continue; }
    if (!of.has(job.batch)) { of.set(job.batch, { batch: job.batch, jobs: [] }); list.push(of.get(job.batch)); }
    of.get(job.batch).jobs.push(job);
  }
  return list.map(x => x.jobs?.length === 1 ? { job: x.jobs[0] } : x);
}

export const batchKey = batch => `batch ${batch}`;

// sum is a batch as if it were one job.
export function sum({ batch, jobs }) {
  const some = key => jobs.map(j => j[key]).filter(v => v !== undefined), first = [...jobs].sort((a, b) => worst.indexOf(a.state) - worst.indexOf(b.state))[0];
  const users = new Set(jobs.map(j => j.user)), low = list => list.length ? Math.min(...list) : undefined, high = list => list.length ? Math.max(...list) : undefined;
  const names = jobs.slice(-3).reverse().map(j => j.name.replace(/-[a-z2-7]{8}$/, "")); // the first that were submitted
  return { id: batchKey(batch), name: `${count(jobs.length, "job")}: ${names.join(", ")}${jobs.length > 3 ? ", ..." : ""}`, state: counts(jobs), worst: first.state, why: first.why, user: users.size === 1 ? first.user : `${users.size} users`,
    submit: low(some("submit")), start: low(some("start")), end: high(some("end")), nodes: some("nodes").reduce((a, b) => a + b, 0), sites: [...new Set(jobs.flatMap(j => j.sites ?? []))],
    cost: some("cost").length ? some("cost").reduce((a, b) => a + b, 0) : undefined };
}

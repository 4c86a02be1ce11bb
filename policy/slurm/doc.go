// Package slurm is a twin of Slurm's scheduling: which job starts when, where, by which of
// its two schedulers, and what a waiting job waits for. The rules are those of Slurm
// 22.05.8, sched/backfill with priority/basic or priority/multifactor (Fair Tree), whole
// nodes, as its manual pages state them and as they were seen on a real controller.
//
// A Twin is a deterministic machine in virtual time: it reads no clock, draws nothing and
// does no I/O. Everything a start depends on is a whole number: priorities are sums of
// fixed-point fractions, usage decays by integer powers, and siblings of the fair-share
// tree are compared as exact fractions. So all machines give the same starts.
//
// Not modelled: preemption, gang scheduling, power saving, topology, heterogeneous jobs,
// licences, weights of TRES, and nodes that jobs share: a node in use is busy.
package slurm

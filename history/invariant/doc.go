// Package invariant holds facts against what must never be broken: the invariants of
// the co-allocation protocol (docs/TRANSACTION.md) and of what is promised beside it.
// Rules lists them. It believes no agent's own word, only the facts in their order:
// one fold of each agent's facts, a Trail, and beside it a file and a type for each
// rule, with what the rule must remember and the strongest form of it that is checked.
//
// Its clients say how much they see. "bourse journal verify" reads journals one by one:
// what a journal alone shows, and, with Finish, what several show together; a leg that
// has not heard of its decision yet is counted as in flight and breaks nothing.
// "simulate --check" has all facts in the order in which they were recorded, where
// messages take no time (Watch): each fact is held against those of the other side at
// once, and what has moved in an instant must agree at its end. simulation/torture
// takes the rules of clusters and of windows from here. It keeps a mirror of its own
// for I1, I3 and I8, so that a fault in this fold cannot hide.
//
// A leg that an amnesia names is exempt, and only that. The package reads no file and
// knows no clock.
package invariant

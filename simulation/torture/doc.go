// Package torture runs whole federations with every fault on and checks, from
// outside and after every step, that the promise of docs/TRANSACTION.md holds:
// the invariants of history/invariant, I1 to I32. One seed decides the sites, the jobs and the faults,
// so that whatever breaks can be seen again; what a run needs of its faults to
// break is found by leaving others out.
//
// Each fact is held to what its agent's journal has said before, as "bourse journal
// verify" would, and at the end those of both sides to each other. Beside that stands
// what no journal shows, messages, lives and live accounts, and a mirror of its own for
// I1, I3 and I8 (mirror.go), so that a fault in the common fold cannot hide.
//
// In half of the worlds resource managers stand behind some sites (package manager).
// What is true of those is held against the sites' records: manager.go.
//
// One world of sixteen has sites that lie (lies.go). In another one bounds are so low that
// they are reached, moves are many, and a day and a half passes in the end, after which
// nobody remembers anything (strained.go).
//
// The checks believe no agent's own word. They see the facts that became durable, the
// messages that left, and the accounts. What an agent forgets with a disk of the past is
// exempt, and at rest only where an amnesia has named it, or it had ended before anybody
// could: all else has been found again by then.
package torture

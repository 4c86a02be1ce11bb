// Package torture runs whole federations with every fault enabled and checks, from outside
// and after every step, that the promise of docs/TRANSACTION.md holds: the invariants of
// history/invariant, I1 to I33. One seed determines the sites, the jobs and the faults, so
// every failure can be reproduced. Which faults a failure needs is found by leaving others
// out.
//
// Each fact is checked against what its agent's journal has said before, as by "bourse
// journal verify", and at the end the facts of both sides are compared. There are also
// checks of what no journal shows (messages, lives and live accounts), and an independent
// mirror for I1, I3 and I8 (mirror.go), so that an error in the common fold cannot hide.
//
// In half of the worlds there are resource managers behind some sites (package manager).
// Their true state is compared with the sites' records: manager.go.
//
// Where clusters have journals, some begin again with older ones (past.go). One world of
// sixteen has a site of time-shared nodes (shares.go), which the mirror follows too
// (divided.go).
//
// In one world of sixteen sites ask the owners of flexible legs to shift them for a payment
// (offers.go), and what an answer changes is checked at both sides (offered.go).
//
// One world of sixteen has sites that lie (lies.go). In another one of sixteen bounds are
// so low that they are reached, there are many moves, and a day and a half passes at the
// end, after which all agents must have forgotten everything (strained.go).
//
// In one of sixteen users and tenants have terms, which operators change in the middle of
// everything; budgets are for periods, and there are deposits (terms.go). A mirror of its own judges
// what is bought, paid in and acknowledged (terms_mirror.go). In another one of sixteen all
// sites are silent to one broker at a time, for a quarter of an hour, and more people than may
// wait insist that a job be given up (silence.go).
//
// The checks trust no agent's own word. They see the facts that became durable, the
// messages that were sent, and the accounts. What an agent forgets because of an old disk
// is exempt; at rest only if an amnesia has named it, or it had ended before any agent
// could name it, as while the site that has forgotten it was down. Everything else must have
// been found again by then.
package torture

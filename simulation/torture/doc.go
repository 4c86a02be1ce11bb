// Package torture runs whole federations with every fault on and checks, from
// outside and after every step, that the promise of docs/TRANSACTION.md holds:
// the invariants I1 to I16. One seed decides the sites, the jobs and the faults,
// so that whatever breaks can be seen again; what a run needs of its faults to
// break is found by leaving others out.
//
// The checks believe no agent's own word. They see the facts that became
// durable, the messages that left, and the accounts; what an agent forgets with
// a disk of the past is exempt, and only that.
package torture

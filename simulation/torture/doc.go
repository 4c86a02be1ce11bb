// Package torture runs whole federations with every fault enabled and checks, from outside
// and after every step, that the promise of docs/TRANSACTION.md holds: the invariants of
// history/invariant, I1 to I33. One seed determines the sites, the jobs and the faults, so
// every failure can be reproduced. Which faults a failure needs is found by leaving others
// out.
//
// What is built and disturbed is package world, what judges it package check. This package
// runs one with the other, many times, and sums up.
package torture

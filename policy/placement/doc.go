// Package placement places the jobs of a batch together, by what they are worth to their
// owners. Each job takes the window with the least loss on what earlier jobs leave. Then
// jobs that are in each other's way are exchanged for as long as the sum of losses falls.
// The loss of a window is its cost plus the job's urgency for each hour until the window's
// end.
//
// A Market is what sites have offered, and a Placer places a batch on it. Contended nodes
// have an extra price that only their site knows. Plan returns the windows whose prices are
// worth asking for; Choose decides with the answers, and with clear nodes at base price.
//
// Nothing depends on the names of sites or on their order, except through a permutation
// drawn from a job's own seed. The package has no clock and no randomness of its own, and
// does no I/O.
package placement

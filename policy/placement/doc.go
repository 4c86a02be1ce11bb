// Package placement places the jobs of a batch together, by what they are worth
// to their owners: each takes the window of least loss on what the others leave,
// and then jobs that stand in each other's way are exchanged as long as the sum
// of losses falls. The loss of a window is what it costs and, for each hour that
// the job has to wait for its end, the job's urgency.
//
// A Market is what sites have offered; a Placer places a batch on it. What is contended
// has a price of its own, which only its site knows: Plan returns the windows
// whose prices are worth asking for, Choose decides with the answers and with
// what is clear, at base price.
//
// Nothing depends on the names of sites or on the order in which they are given,
// but for a permutation drawn from a job's own seed. The package knows no clock,
// draws nothing and does no I/O.
package placement

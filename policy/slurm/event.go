package slurm

import "github.com/bourse-grid/bourse/grid"

// event is something that happens to a job.
type event struct {
	at   grid.Time
	kind kind
	job  int
}

type kind uint8

// The kinds of events, in the order of one instant.
const (
	ends kind = iota
	back
	begins
	follows
)

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	a, b := e[i], e[j]
	if a.at != b.at {
		return a.at < b.at
	}
	if a.kind != b.kind {
		return a.kind < b.kind
	}
	return a.job < b.job
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

package slurm

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A twin that goes on from what is present, with runs as long as they will be, starts what the first
// one starts, when it does.
func TestPresent_GoesOnAsTheTwinItself(t *testing.T) {
	t.Parallel()
	c, jobs := month(300, 0.95)
	c.Priority.CalcPeriod, c.Priority.FairShare, c.Priority.Age = 0, 0, 0
	whole := New(c, jobs, Options{})
	middle := jobs[150].Submit
	whole.Until(middle)
	present, of := whole.Present()
	for k, i := range of {
		present[k].Run = jobs[i].Run
	}
	if len(present) < 5 {
		t.Fatalf("only %d jobs are present", len(present))
	}
	rest := jobs[:0:0]
	for i := range jobs {
		if jobs[i].Submit > middle {
			break
		}
		rest = append(rest, jobs[i])
	}
	alone := New(c, rest, Options{})
	alone.Run()
	resumed := Resume(c, present, middle)
	resumed.Run()
	off := 0
	for k, i := range of {
		a, b := alone.Outcome(i).Start, resumed.Outcome(k).Start
		if apart := max(a.Sub(b), b.Sub(a)); apart > grid.Minute {
			off++
		}
	}
	if off > len(of)/10 {
		t.Errorf("%d of %d jobs start at other times", off, len(of))
	}
}

// A reservation keeps its nodes from the queue while it lasts, and not a moment longer.
func TestReserve_KeepsNodesFromTheQueue(t *testing.T) {
	t.Parallel()
	c, jobs := waitingQueue()
	now := grid.Time(10_000 * grid.Second)
	twin := Resume(c, jobs, now)
	idle := NewSet(4)
	idle.Add(2)
	idle.Add(3)
	twin.Reserve(Reservation{Start: now, End: now.Add(20 * grid.Minute), Nodes: idle})
	twin.Until(now.Add(25 * grid.Minute))
	if at := twin.Outcome(1).Start.Sub(now); at < 20*grid.Minute || at > 21*grid.Minute {
		t.Errorf("the first task starts after %v, want when the reservation ends", at)
	}
	twin.Reserve(Reservation{Start: now.Add(time30), End: now.Add(40 * grid.Minute), Nodes: idle})
	if n := len(twin.Reservations()); n != 2 || len(c.Reservations) != 1 { // the maintenance and this
		t.Errorf("%d reservations, %d in the configuration", n, len(c.Reservations))
	}
}

const time30 = 30 * grid.Minute

package manager

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// looks makes the looks of the manager, and keeps past ones.
type looks struct {
	*controller
	past []*grid.Look
}

// keptLooks is how many past looks are kept, one for each sweep.
const keptLooks = 8

// unwritten reports whether a crash would lose one of our jobs.
func (s *looks) unwritten() bool {
	return s.dirty && slices.ContainsFunc(s.book.jobs, func(j *job) bool {
		return j.ours && !s.written(j)
	})
}

// remember keeps a look for later.
func (s *looks) remember() {
	if s.past = append(s.past, s.view()); len(s.past) > keptLooks {
		s.past = s.past[1:]
	}
}

// view is what a look shows now.
func (s *looks) view() *grid.Look {
	l := &grid.Look{At: s.own(), Source: "simulated"}
	for _, n := range s.nodes.list {
		busy := 0
		if n.anyOf() != nil {
			busy = 1
		}
		l.Nodes = append(l.Nodes, grid.ManagedNode{Name: n.name, State: n.state, CPUs: 1, Busy: busy, Partitions: []string{n.partition}})
	}
	slices.SortFunc(l.Nodes, func(a, b grid.ManagedNode) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	jobs := slices.Clone(s.book.jobs)
	slices.SortStableFunc(jobs, byPriority)
	for _, j := range jobs {
		granted := grid.Duration(0)
		if f := s.nodes.folders[j.name]; j.pilot && f != nil {
			granted = f.granted
		}
		l.Jobs = append(l.Jobs, grid.ManagedJob{Number: j.id10(), Name: j.name, User: j.user, State: j.state, Why: j.why, Partition: j.partition,
			Reservation: j.reservation, Count: j.count, Nodes: j.nodes, Exclusive: !j.part.Some(), Limit: j.limit, Submit: j.submit, Start: max(j.start, j.planned()), End: j.end, Exit: j.exit, Signal: j.signal, In: j.in, Granted: granted})
	}
	for _, r := range s.book.reservations {
		l.Reservations = append(l.Reservations, grid.ManagedReservation{Name: r.name, Start: r.start, End: r.end, Nodes: slices.Clone(r.nodes), Users: slices.Clone(r.users)})
	}
	return l
}

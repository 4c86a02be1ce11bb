package api

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// Freedom is the freedom that a job leaves the only site that carries it.
type Freedom struct {
	Flexible     *Seconds     `json:"flexible,omitempty" doc:"the site may start a window on one site up to this many seconds later than agreed; the price is lower for that"`
	Fix          *Performance `json:"fix,omitempty" doc:"share of the wait, above 0 and at most 1, after which the start of a flexible window is fixed; default 1: at its start"`
	Alternatives *Performance `json:"alternatives,omitempty" doc:"how far outside its window a site may offer another one if it refuses, as a multiple of the run time, up to 100; default: not at all"`
}

// put sets the given fields in a request; others stay as they are.
func (f *Freedom) put(r *grid.Request) (key string, err error) {
	if f.Flexible != nil {
		r.Flexible = f.Flexible.Duration
	}
	if f.Fix != nil {
		if r.Fix = int(f.Fix.Performance); r.Fix < 1 || r.Fix > 1000 {
			return "fix", fmt.Errorf("%v: must be above 0 and at most 1; for no freedom at all use flexible 0", f.Fix.Performance)
		}
		if r.Fix == 1000 {
			r.Fix = 0 // at its start
		}
	}
	if f.Alternatives != nil {
		r.Phi = int(f.Alternatives.Performance)
	}
	if r.Flexible < 0 || r.Flexible > grid.MaxDuration || r.Phi > 100_000 {
		return "flexible", fmt.Errorf("%v seconds, alternatives %v: must be 0 or more seconds, and at most 100", r.Flexible, grid.Performance(r.Phi))
	}
	return "", nil
}

// Modification is a change of a placed job. Fields that are left out stay as they are.
type Modification struct {
	Freedom
	Nodes    *int     `json:"nodes,omitempty" minimum:"1" maximum:"1000000" doc:"a moldable job becomes rigid, with the length of that size if it has one"`
	Length   *Seconds `json:"length,omitempty" doc:"run time at performance 1, in seconds; a moldable job becomes rigid"`
	Budget   *Credits `json:"budget,omitempty" doc:"for the whole job"`
	MaxPrice *Price   `json:"maxPrice,omitempty" doc:"per node-hour"`
	Ready    string   `json:"ready,omitempty" maxLength:"40" doc:"earliest start: a span from now such as 30m, or RFC 3339"`
	Deadline string   `json:"deadline,omitempty" maxLength:"40" doc:"latest end: a span from now such as 1d, or RFC 3339"`
}

// Put sets the given fields in a request.
func (m *Modification) Put(r *grid.Request, now grid.Time) (key string, err error) {
	if m.Nodes != nil {
		*r = r.At(grid.Size{Nodes: *m.Nodes, Length: r.SizeOn(*m.Nodes).Length})
	}
	if m.Length != nil {
		r.Sizes = nil
		r.Length = m.Length.Duration
	}
	if m.Budget != nil {
		r.Budget = m.Budget.Credits
	}
	if m.MaxPrice != nil {
		r.MaxPrice = m.MaxPrice.Price
	}
	if r.Ready, err = MomentAt(m.Ready, now, r.Ready); err != nil {
		return "ready", err
	}
	if r.Deadline, err = MomentAt(m.Deadline, now, r.Deadline); err != nil {
		return "deadline", err
	}
	return m.Freedom.put(r)
}

package broker

import (
	"iter"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
)

// namesOf are the names of the sites at these addresses.
func namesOf(ids []agents.ID) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, id := range ids {
			if !yield(transaction.SiteName(id)) {
				return
			}
		}
	}
}

// planWithoutLast finds alternatives for the jobs of a cycle: first without the sites that
// come last, and then, if any job has none, with them for those jobs. It marks in the input
// which sites were left out for which jobs. Row B145.
func planWithoutLast(p *planning.Planner, in *planning.Input, last []facts.UserBarred) *planning.Draft {
	if len(last) == 0 {
		return p.Plan(in)
	}
	closed := make([][]facts.UserBarred, len(in.Jobs))
	for i := range in.Jobs {
		closed[i] = in.Jobs[i].Barred
		in.Jobs[i].Barred = addLast(closed[i], last)
	}
	d := p.Plan(in)
	again := false
	for i := range in.Jobs {
		if len(d.Jobs[i].Alternatives) == 0 && !in.Jobs[i].Gone {
			in.Jobs[i].Barred, again = closed[i], true
		}
	}
	if !again {
		return d
	}
	return p.Plan(in)
}

// addLast adds the sites that come last to those that are closed to a job's user, in order
// of name.
func addLast(closed, last []facts.UserBarred) (list []facts.UserBarred) {
	for len(closed) > 0 || len(last) > 0 {
		switch {
		case len(last) == 0 || len(closed) > 0 && closed[0].Site < last[0].Site:
			list, closed = append(list, closed[0]), closed[1:]
		case len(closed) > 0 && closed[0].Site == last[0].Site:
			last = last[1:]
		default:
			list, last = append(list, last[0]), last[1:]
		}
	}
	return list
}

package pilots

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
)

// How a gather begins and ends: with its job, and with the transaction on its pilots' nodes.

// commit begins the transaction on the pilots' nodes. It reports false, and nothing has changed,
// if none may be begun now, a site may not be asked for anything new, or the job's user may not
// have it.
func (gs *Gathers) commit(now grid.Time, x *job, out *agents.Outbox) bool {
	for i := range x.state.Parts {
		if !gs.rec.Peers.Serves(x.state.Parts[i].Site) {
			return false
		}
	}
	j, start := x.job, x.state.Zero.Add(grid.Duration(x.state.Start)*grid.Second)
	most := min(x.work(), gs.room(x))
	legs := x.legs(start)
	if gs.rec.Tenancy.Bound(j.User) {
		if gs.rec.Tenancy.Over(j.User, legs, x.cost(), grid.Flex{}, "").Refused() {
			return false
		}
		most = min(most, gs.rec.Tenancy.Left(j.User, legs, grid.Flex{}))
	}
	if most < x.cost() || !gs.co.MayBuy(now) {
		return false
	}
	parts := x.parts
	f := gs.co.NewTx(j.Name, len(parts))
	f.Alternative, f.Legs = 1, legs
	cost := max(x.cost(), 1)
	var run []grid.Duration
	for i := range parts {
		p := &x.state.Parts[i]
		f.Sites = append(f.Sites, p.Site)
		f.Limits = append(f.Limits, most.Over(int64(x.costOf(i)), int64(cost)))
		if parts[i].Name != "" {
			f.Parts = append(f.Parts, parts[i].Name)
		}
		f.Pilots = append(f.Pilots, x.pilot(i, x.g.Pilot(i)))
		run = append(run, parts[i].Run)
	}
	if !slices.ContainsFunc(run, func(d grid.Duration) bool { return d > 0 }) {
		run = nil
	}
	x.tx = gs.co.Open(now, f, run, false, out)
	return true
}

// legs are those of a window that begins at an instant.
func (x *job) legs(start grid.Time) (list []grid.Leg) {
	for i, p := range x.parts {
		list = append(list, grid.Leg{Group: x.state.Parts[i].Group, Nodes: p.Nodes, Start: start, End: start.Add(p.Length)})
	}
	return list
}

// with is the job that a transaction is for; nil: it is none that is gathered. By its name it might be
// another one, which has come since.
func (gs *Gathers) with(t *transaction.Tx) *job {
	for _, x := range gs.of {
		if x.tx == t {
			return x
		}
	}
	return nil
}

// Decided goes on after a transaction of a job that is gathered. It reports false for any other.
func (gs *Gathers) Decided(now grid.Time, t *transaction.Tx, out *agents.Outbox) bool {
	x := gs.with(t)
	if x == nil {
		return false
	}
	x.tx = nil
	if t.State() == grid.TxCommitted {
		x.g.Whole()
	} else {
		x.g.Aborted(x.seconds(now))
		if !x.job.State.Open() {
			x.reconcile(now, gs)
		}
	}
	x.g.Save(&x.state)
	gs.record(x, facts.Gathered{}, out)
	gs.at(x, now.Add(gather.AfterAbort*grid.Second), out)
	return true
}

// GiveUp has the pilots of a job leave that its user has withdrawn.
func (gs *Gathers) GiveUp(now grid.Time, j *jobs.Job, out *agents.Outbox) {
	if x := gs.of[j]; x != nil && x.tx == nil {
		gs.at(x, now, out)
	}
}

// end drops a job whose pilots are all over.
func (gs *Gathers) end(now grid.Time, x *job, out *agents.Outbox) {
	if x.job.SetAside() > 0 && gs.rec.Names[x.job.Name] == x.job {
		x.g.Save(&x.state)
		gs.record(x, facts.Gathered{}, out)
	}
	delete(gs.of, x.job)
}

// Start goes on with the jobs on record.
func (gs *Gathers) Start(now grid.Time, out *agents.Outbox) {
	for _, j := range gs.rec.Jobs {
		if j.Gather != nil && (j.State.Open() || j.SetAside() > 0 || j.Gathering() != nil && len(j.Gathering().Pilots) > 0) {
			gs.Begin(now, j, out)
		}
	}
}

// Unsound says what is wrong with how a job is to be gathered; no reason: nothing is.
func Unsound(j *grid.Job) grid.Reason {
	asks := grid.JobPart{Require: j.Require, Portion: j.Portion}
	switch {
	case j.Gather == nil:
		return grid.Reason{}
	case !j.Gather.Queue:
	case len(j.Parts) > 0 || len(j.Sizes) > 0 || j.Flexible > 0:
		return grid.Because(grid.Invalid, "queue: a job for a queue is of one piece, as many nodes as it says, without freedom")
	case asks.AsksMore() != "":
		return grid.Because(grid.Invalid, "%s %s", asks.AsksMore(), grid.NodesAlone)
	case j.Length < grid.LeastQueued:
		return grid.Because(grid.Invalid, "queue: %s is too short for a queue, where a job takes %s or more", j.Length.Words(), grid.LeastQueued.Words())
	}
	var had []string
	for i := range j.Parts {
		p := &j.Parts[i]
		switch {
		case len(p.Sites) != 1 || slices.Contains(had, p.Sites[0]):
			return grid.Because(grid.Invalid, "gather: part %s must be for one site, and each part for another one", p.Name)
		case p.Length != j.Parts[0].Length || p.Offset != 0:
			return grid.Because(grid.Invalid, "gather: all parts must take the same length, without offsets; %s does not", p.Name)
		case p.AsksMore() != "":
			return grid.Because(grid.Invalid, "gather: %s of part %s %s", p.AsksMore(), p.Name, grid.NodesAlone)
		}
		had = append(had, p.Sites[0])
	}
	switch g := j.Gather; {
	case j.Array.Some():
		return grid.Because(grid.Invalid, "gather: an array cannot be gathered; submit a job for each index")
	case g.Deadline < 0 || g.Deadline > gather.MostLength*grid.Second:
		return grid.Because(grid.Invalid, "gather: a deadline of %s must be 0 to %d s", g.Deadline.Words(), gather.MostLength)
	}
	x := newJob(jobs.NewJob(*j))
	if o := x.order(); o.Check() != nil {
		return grid.Because(grid.Invalid, "gather: %v", o.Check())
	}
	return grid.Reason{}
}

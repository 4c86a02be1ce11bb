//go:build linux

package drill

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Bourse's account of a drill of real clusters, from its journals. The checker holds it against
// what the managers say.

// claim is what it says of a leg.
type claim struct {
	id        grid.LegID
	name      string // in the manager
	job, site string
	window    grid.Leg
	part      string        // of a job of parts, the one that it carries,
	offset    grid.Duration // and how long after the job that starts
	committed bool
	over      time.Time       // by its cluster; zero: it is not
	how       facts.LockState // ended, lost, released, expired
	why       grid.Reason

	// By its broker.
	state               grid.LegState // Settled, Lost, Released; Cancelled: gone before it was confirmed; else 0
	reason              grid.Reason
	paid, back, penalty grid.Credits
	// By its site.
	bound  bool // it was confirmed
	earned grid.Credits
}

// claims is all that it says.
type claims struct {
	legs  map[string]*claim // by name
	jobs  map[string]string // the state of each job at the end
	users map[string]string // whose each job is
	parts map[string][]grid.JobPart
}

func newClaims() *claims {
	return &claims{map[string]*claim{}, map[string]string{}, map[string]string{}, map[string][]grid.JobPart{}}
}

// readClaims reads the journals of a broker and of sites beside Slurm.
func readClaims(broker *agent, sites []*agent) (*claims, error) {
	c := newClaims()
	byID := map[grid.LegID]*claim{}
	each := func(dir string, take func(at time.Time, fact any)) error {
		folder, err := journal.LookInto(dir)
		if err != nil {
			return err
		}
		defer func() { _ = folder.Close() }()
		_, err = journal.Read(folder, journal.NewCodec(), func(r journal.Record) error {
			if !r.Image {
				take(time.UnixMilli(int64(r.At)), r.Fact)
			}
			return nil
		})
		return err
	}
	err := each(filepath.Join(broker.journal(), "broker-"+broker.name), func(at time.Time, fact any) {
		switch f := fact.(type) {
		case facts.JobSubmitted:
			c.users[f.Job.Name] = f.Job.User
			if f.Job.Composed() {
				c.parts[f.Job.Name] = f.Job.Parts
			}
		case facts.TxBegun:
			for i, what := range f.Legs {
				id := grid.LegID{Tx: f.Tx, Leg: i}
				x := &claim{id: id, name: managed.Name("bourse."+f.Sites[i]+".", id), job: f.Job, site: f.Sites[i], window: what}
				if i < len(f.Parts) {
					x.part = f.Parts[i]
				}
				for _, p := range c.parts[f.Job] {
					if p.Name == x.part {
						x.offset = p.Offset
					}
				}
				byID[id], c.legs[x.name] = x, x
			}
		case facts.TxDecided:
			for id, x := range byID {
				x.committed = x.committed || f.Commit && id.Tx == f.Tx
			}
		case facts.LegClosed:
			switch x := byID[f.Leg]; {
			case x == nil:
			case f.Commit:
				x.paid = f.Posted
			case x.committed: // gone before its site heard of the COMMIT
				x.state, x.reason = grid.Cancelled, f.Reason
			}
		case facts.LegDone:
			if x := byID[f.Leg]; x != nil {
				x.state, x.reason, x.back, x.penalty = f.State, f.Reason, f.Refund, f.Penalty
			}
		}
	})
	for _, s := range sites {
		if err == nil {
			err = each(filepath.Join(s.journal(), "cluster-"+s.name), func(at time.Time, fact any) { c.ofCluster(byID, at, fact) })
		}
		if err == nil {
			err = each(filepath.Join(s.journal(), "site-"+s.name), func(at time.Time, fact any) {
				f, ok := fact.(facts.LegMoved)
				if x := byID[f.Leg]; ok && x != nil {
					x.bound = x.bound || f.State == grid.Confirmed
					x.earned = x.earning(f)
				}
			})
		}
	}
	return c, err
}

// earning is what a leg brings its site, in the state that it has come to.
func (x *claim) earning(f facts.LegMoved) grid.Credits {
	switch f.State {
	case grid.Confirmed, grid.Running, grid.Settled, grid.Lost, grid.Released:
		if x.bound {
			return f.Fare.Total() - f.Refund - f.Penalty
		}
	}
	return 0
}

func (c *claims) ofCluster(byID map[grid.LegID]*claim, at time.Time, fact any) {
	f, ok := fact.(facts.LockMoved)
	if !ok || byID[f.Leg] == nil {
		return
	}
	switch x := byID[f.Leg]; f.State {
	case facts.LockEnded, facts.LockLost, facts.LockExpired, facts.LockReleased:
		if x.over.IsZero() {
			x.over, x.how, x.why = at, f.State, f.Reason
		}
	}
}

// first is a reason's words up to what differs from leg to leg.
func (x *claim) first() string {
	s := x.reason.Detail
	if !x.reason.Refused() {
		s = x.why.Detail
	}
	s = strings.TrimPrefix(s, x.site+": ")
	for _, cut := range []string{": ", " from ", " of its window"} {
		s, _, _ = strings.Cut(s, cut)
	}
	return s
}

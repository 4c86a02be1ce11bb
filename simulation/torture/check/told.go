package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// I30: what users are told is so. What a broker answers is on its record; at rest, what the
// turns of a job say is what its sites carry of it, and what the broker shows.

// told is what users have asked for and brokers have not answered.
type told struct {
	wishes map[wishOf]grid.Request // of the other window
}

// wishOf is a wish for a job that a life of a process knows of. It follows one for a job at a
// time, and refuses others meanwhile.
type wishOf struct {
	process int
	life    uint64
	job     string
}

// asks takes note of a wish that is not answered at once. Who accepts an offer wants the same as
// before, in another place.
func (x *told) asks(s *sim.Step, m *mirror) {
	var job string
	var want grid.Request
	switch x := s.Message.(type) {
	case agents.JobModify:
		job, want = x.Job, x.Request
	case agents.OfferAnswer:
		job, want = x.Job, m.jobs[x.Job].Request
	default:
		return
	}
	if slices.ContainsFunc(s.Sends, func(o agents.Send) bool { r, ok := o.Message.(agents.JobReply); return ok && r.Job == job }) {
		return
	}
	if x.wishes == nil {
		x.wishes = map[wishOf]grid.Request{}
	}
	x.wishes[wishOf{s.Process, s.Life, job}] = want
}

// answered returns the wish that an answer is for; false if no other window was asked for.
func (x *told) answered(s *sim.Step, job string) (grid.Request, bool) {
	if m, ok := s.Message.(agents.JobModify); ok && m.Job == job {
		return m.Request, true
	}
	k := wishOf{s.Process, s.Life, job}
	r, ok := x.wishes[k]
	delete(x.wishes, k)
	return r, ok
}

// alike compares what users change of a request.
func alike(a, b *grid.Request) bool {
	return a.Nodes == b.Nodes && a.Length == b.Length && a.Deadline == b.Deadline && a.Flexible == b.Flexible && a.Phi == b.Phi
}

// saysTrue checks what a broker tells a user, against its own record.
func (c *Checker) saysTrue(s *sim.Step, m *mirror, x agents.Message) error {
	switch x := x.(type) {
	case agents.SubmitReply:
		if _, taken := m.jobs[x.Job]; !taken && !x.Reason.Refused() {
			return fmt.Errorf("I30: %s says that it has taken job %s, and has it not on record", s.ID, x.Job)
		}
	case agents.JobReply:
		if a, ok := s.Message.(agents.OfferAnswer); ok && a.Job == x.Job {
			return c.hasAnswered(s, m, a, x)
		}
		wish, asked := c.told.answered(s, x.Job)
		if x.Reason.Refused() {
			return nil
		}
		if _, withdrawn := m.withdrawn[x.Job]; withdrawn {
			return c.givenUp(s, m, x)
		}
		j, known := m.jobs[x.Job]
		if !known {
			return nil // of a job that it has learned of from sites alone, what was asked for is not on record
		}
		switch {
		case !asked:
			return fmt.Errorf("I30: %s grants a wish for job %s that nobody waits for", s.ID, x.Job)
		case !alike(&wish, &j.Request):
			return fmt.Errorf("I30: %s grants that job %s has %d nodes for %v by %v, and it asks for %d for %v by %v",
				s.ID, x.Job, wish.Nodes, wish.Length, wish.Deadline, j.Nodes, j.Length, j.Deadline)
		}
	}
	return nil
}

// hasAnswered checks what a broker says at once to an answer to an offer: that it is answered so.
func (c *Checker) hasAnswered(s *sim.Step, m *mirror, a agents.OfferAnswer, x agents.JobReply) error {
	if x.Reason.Refused() || m.learned(x.Job) {
		return nil
	}
	want := map[bool]facts.OfferState{true: facts.OfferAccepted, false: facts.OfferRejected}[a.Accept]
	for _, o := range m.offers {
		if o.job == a.Job && o.n == a.N && o.state == want && m.jobs[a.Job].User == a.User {
			return nil
		}
	}
	return fmt.Errorf("I30: %s says that offer %d for job %s has the answer %s of %s, and has that not on record", s.ID, a.N, a.Job, want, a.User)
}

// givenUp checks the answer to a user who has given up a job: by the broker's record no
// part of it holds anything, and the refunds since are what the answer says.
func (c *Checker) givenUp(s *sim.Step, m *mirror, x agents.JobReply) error {
	back := grid.Credits(0)
	for _, id := range m.begun {
		t := m.txs[id]
		if t.begun.Job != x.Job {
			continue
		}
		if !t.decided {
			return fmt.Errorf("I30: %s says that all of job %s is given up, and %v is undecided", s.ID, x.Job, id)
		}
		for i := range t.begun.Legs {
			leg := grid.LegID{Tx: id, Leg: i}
			_, claimed := c.claimed[leg]
			if claimed || c.exempt[leg] || c.forgotten(id) {
				return nil
			}
			closed, heard := m.closed[leg]
			done, over := m.done[leg]
			if t.commit && !over && (!heard || closed.Commit) {
				return fmt.Errorf("I30: %s says that all of job %s is given up, and leg %v is not over", s.ID, x.Job, leg)
			}
			if m.undone[leg] {
				back = back.Plus(done.Refund).Plus(done.Penalty)
			}
		}
	}
	if x.Refund != back && !m.learned(x.Job) {
		return fmt.Errorf("I30: %s says that %v have come back of job %s, by its record it is %v", s.ID, x.Refund, x.Job, back)
	}
	return nil
}

// learned reports whether the broker has something of a job from its sites alone.
func (m *mirror) learned(job string) bool {
	return slices.ContainsFunc(m.facts, func(f agents.Fact) bool {
		a, is := f.(facts.LegAdopted)
		return is && a.Job == job
	})
}

// wished records which user gives up what, and what ends after that.
func (m *mirror) wished(f agents.Fact) {
	switch f := f.(type) {
	case facts.JobCancelled:
		m.withdrawn[f.Job] = true
	case facts.LegDone:
		if t := m.txs[f.Leg.Tx]; t != nil && m.withdrawn[t.begun.Job] {
			m.undone[f.Leg] = true
		}
	}
}

// toldAtRest compares, for jobs that have not changed since an instant, what their turns
// say with what the sites have, and with what the broker itself shows.
func (c *Checker) toldAtRest(before grid.Time) error {
	for i := range c.w.Brokers {
		m := c.of(world.BrokerID(c.w.Brokers[i].Config.Name))
		b, alone := c.w.Agent(m.id).(*broker.Broker)
		stand, failed := c.standings(m), m.failures()
		for _, name := range slices.Sorted(maps.Keys(stand)) {
			x := stand[name]
			if err := endedAs(name, x.State, failed[name]); err != nil {
				return err
			}
			if alone {
				shown, known := b.Job(name)
				if is := shown.State; known && is != x.State && !(is == grid.JobRunning && x.State == grid.JobPlaced) && !((is == grid.JobWaiting || is == grid.JobGathering) && x.torn) {
					return fmt.Errorf("I30: by its turns job %s is %v, and %s shows it as %v", name, x.State, m.id, is)
				}
				if err := m.showsOffers(name, shown.Offers); err != nil {
					return err
				}
			}
			if err := c.carries(m, name, x, before); err != nil {
				return err
			}
		}
	}
	return nil
}

// showsOffers checks that a broker shows of each offer for a job what has become of it.
func (m *mirror) showsOffers(job string, list []facts.JobOffer) error {
	for _, o := range list {
		if is := m.offers[offerOf{o.Leg, o.Number}]; is == nil || is.state != o.State || is.n != o.N {
			return fmt.Errorf("I30: %s shows offer %d for leg %v of job %s as number %d, %s, and has %+v on record", m.id, o.Number, o.Leg, job, o.N, o.State, is)
		}
	}
	return nil
}

// standing is the state of a job by its turns.
type standing struct {
	history.Standing
	lost bool // the last one is that a part is lost
	torn bool // and the broker has begun anew since: a crash may have torn off that the job waits again
}

// standings returns the states of a broker's jobs according to the turns in its facts,
// except for jobs with adopted legs, about which the broker may have forgotten something.
func (c *Checker) standings(m *mirror) map[string]*standing {
	var turns history.Turns
	stand := map[string]*standing{}
	left := map[string]bool{}
	for _, f := range m.facts {
		switch f := f.(type) {
		case facts.LegAdopted:
			left[f.Job] = true
		case facts.LifeBegun:
			for _, x := range stand {
				x.torn = x.lost
			}
		}
		for _, u := range turns.Take(0, f) {
			if u.Job == "" || u.What == history.NotTaken {
				continue
			}
			if stand[u.Job] == nil {
				stand[u.Job] = &standing{}
			}
			stand[u.Job].Take(&u)
			stand[u.Job].lost, stand[u.Job].torn = u.What == history.LegLost, false
		}
	}
	maps.DeleteFunc(stand, func(name string, x *standing) bool { return !x.Known || left[name] })
	return stand
}

// carries compares a job's state by its turns with the legs of its windows at their sites.
func (c *Checker) carries(m *mirror, job string, x *standing, before grid.Time) error {
	var stands []string
	for _, id := range m.begun {
		t := m.txs[id]
		if t.begun.Job != job {
			continue
		}
		if c.forgotten(id) || c.txs[id].at > before {
			return nil
		}
		for i, at := range t.begun.Sites {
			leg := grid.LegID{Tx: id, Leg: i}
			l := c.of(world.SiteID(at)).legs[leg]
			if _, claimed := c.claimed[leg]; claimed || c.exempt[leg] || c.moved[leg] > before {
				return nil
			}
			if l != nil && l.stands() {
				stands = append(stands, leg.String())
			}
		}
	}
	placed := x.State == grid.JobPlaced || x.State == grid.JobRunning
	if placed == (len(stands) > 0) || x.torn && len(stands) == 0 {
		return nil
	}
	return fmt.Errorf("I30: users of %s are told that job %s is %v, and its sites carry %d legs of it: %s", m.id, job, x.State, len(stands), strings.Join(stands, ", "))
}

// stands reports whether a leg is bought and not over.
func (l *legMirror) stands() bool { return l.State == grid.Confirmed || l.State == grid.Running }

package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// whole collects the steps of a replica that share a sync, and returns them as one after the
// last; nil before.
func (f *followed) whole(s *sim.Step) *sim.Step {
	all := f.open[s.ID]
	if all == nil && !s.Open {
		return s
	}
	if all == nil {
		all = &sim.Step{}
		f.open[s.ID] = all
	}
	facts, sends := append(all.Facts, s.Facts...), append(all.Sends, s.Sends...)
	*all = *s
	all.Facts, all.Sends = facts, sends
	if s.Open {
		return nil
	}
	delete(f.open, s.ID)
	return all
}

// A replicated broker is a single broker to all checks. Its record is what is committed,
// its steps are those of the leading replicas, each once its facts are committed, and a
// leadership is a life. What is committed is read from the replicas' journals and from how
// far each has applied them. This file checks that they agree (I26), and that nothing
// leaves earlier.

// followed is what the checker knows of a group.
type followed struct {
	*Checker
	g       *world.Group
	process int                             // as which the broker counts
	logs    map[agents.ID]map[uint64]logged // of each replica, by index
	applied map[agents.ID]uint64
	upto    uint64            // of the log is committed
	terms   map[uint64]uint64 // of what is committed, by index
	leaders map[uint64]agents.ID
	steps   map[uint64][]*leaderStep // of a leadership, that have not left
	term    uint64                   // whose facts were committed last
	life    uint64
	taken   map[string]bool         // jobs, as users were told
	open    map[agents.ID]*sim.Step // of each replica, the steps that shared a sync, as one
}

// leaderStep is a step of a broker at the replica that leads, and how far it has come.
type leaderStep struct {
	world.InnerStep
	committed int  // of its facts
	told      bool // the checker has had it
}

// logged is an entry of a replica's journal.
type logged struct {
	term  uint64
	facts int
}

// follow begins to follow the groups of a world.
func (c *Checker) follow() {
	c.groupOf = map[agents.ID]*followed{}
	for i := range c.w.Brokers {
		if g := c.w.Groups[world.BrokerID(c.w.Brokers[i].Config.Name)]; g != nil {
			c.groupOf[g.Broker] = &followed{Checker: c, g: g, process: -1 - i, logs: map[agents.ID]map[uint64]logged{}, applied: map[agents.ID]uint64{}, upto: 1,
				terms: map[uint64]uint64{}, leaders: map[uint64]agents.ID{}, steps: map[uint64][]*leaderStep{}, taken: map[string]bool{}, open: map[agents.ID]*sim.Step{}}
		}
	}
}

// ofGroup is the group of a replica.
func (c *Checker) ofGroup(id agents.ID) *followed {
	if !strings.HasPrefix(string(id), "replica:") {
		return nil
	}
	return c.groupOf[world.Voice(id)]
}

func (f *followed) member(id agents.ID) *world.Member {
	for _, m := range f.g.Members {
		if m.Id == id {
			return m
		}
	}
	panic("torture: no replica " + string(id))
}

// step takes in a step of a replica.
func (f *followed) step(s *sim.Step) error {
	m := f.member(s.ID)
	if s = f.whole(s); s == nil {
		return nil
	}
	for _, inner := range m.Taken() {
		x := &leaderStep{InnerStep: *inner}
		if at, known := f.leaders[x.Term]; known && at != m.Id {
			return fmt.Errorf("I26: %s and %s lead term %d", at, m.Id, x.Term)
		}
		f.leaders[x.Term] = m.Id
		x.At, x.ID, x.Process, x.Life, x.Late = s.At, f.g.Broker, f.process, x.Term, s.Late
		f.steps[x.Term] = append(f.steps[x.Term], x)
	}
	f.log(s.ID, s.Facts)
	if s.Died && len(s.Facts) == 0 && len(s.Sends) == 0 {
		return nil // what it may have applied by what is lost is not known to anybody
	}
	if err := f.apply(m); err != nil {
		return err
	}
	if err := f.leave(s, m); err != nil {
		return err
	}
	if term, leads := m.Replica.Leads(); leads && len(f.steps[term]) == 0 && !s.Died && term == f.life {
		return f.budget(m.Broker(), f.procs[f.process])
	}
	return nil
}

// log takes in what a replica has recorded. An image that is put in place of its log ends
// what the log had: those entries may never have been committed.
func (f *followed) log(id agents.ID, facts []agents.Fact) {
	l := f.logs[id]
	if l == nil {
		l = map[uint64]logged{}
		f.logs[id] = l
	}
	for _, x := range facts {
		if _, ok := x.(grid.ReplicaInstalled); ok {
			clear(l)
		}
		e, ok := x.(grid.ReplicaEntry)
		if !ok {
			continue
		}
		var records []json.RawMessage
		if len(e.Facts) > 0 {
			_ = json.Unmarshal(e.Facts, &records) // the replica's own check
		}
		l[e.Index] = logged{e.Term, len(records)}
		for i := e.Index + 1; l[i] != (logged{}); i++ {
			delete(l, i)
		}
	}
}

// begins takes in a new life of a replica: what a torn write has left, too.
func (f *followed) begins(l *sim.Life) {
	if l.Amnesia {
		delete(f.logs, l.ID)
	}
	f.log(l.ID, l.Last)
	delete(f.applied, l.ID)
}

// apply holds what a replica applies against what others have applied there.
func (f *followed) apply(m *world.Member) error {
	upto := m.Replica.Applied()
	for i := f.applied[m.Id] + 1; i <= upto; i++ {
		e, here := f.logs[m.Id][i]
		switch {
		case i <= f.upto && here && f.terms[i] != 0 && f.terms[i] != e.term:
			return fmt.Errorf("I26: %s applies entry %d of term %d, others one of term %d", m.Id, i, e.term, f.terms[i])
		case i <= f.upto:
			continue
		case !here:
			return fmt.Errorf("I26: %s applies entry %d, which its journal does not have", m.Id, i)
		}
		f.upto, f.terms[i] = i, e.term
		if err := f.commit(e); err != nil {
			return err
		}
	}
	f.applied[m.Id] = max(f.applied[m.Id], upto)
	return nil
}

// commit takes in an entry that is committed now.
func (f *followed) commit(e logged) error {
	if e.facts == 0 {
		return nil
	}
	if e.term < f.term {
		return fmt.Errorf("I26: facts of term %d are committed after some of term %d", e.term, f.term)
	}
	if e.term > f.term {
		if err := f.over(f.term); err != nil {
			return err
		}
		f.term = e.term
	}
	left := e.facts
	for _, x := range f.steps[e.term] {
		n := min(left, len(x.Facts)-x.committed)
		x.committed += n
		left -= n
	}
	if left > 0 {
		return fmt.Errorf("I26: %d facts of term %d are committed that nobody has recorded", left, e.term)
	}
	return nil
}

// over ends a leadership whose facts no other replica follows. What it has committed
// counts, though the effects may never leave.
func (f *followed) over(term uint64) error {
	last := 0 // what was heard before the last that is committed counts too
	for i, x := range f.steps[term] {
		if x.committed > 0 {
			last = i + 1
		}
	}
	for _, x := range f.steps[term][:last] {
		if x.told {
			continue
		}
		torn := x.Step
		torn.Facts, torn.Sends, torn.Died = x.Facts[:x.committed], nil, true
		if err := f.tell(x, &torn); err != nil {
			return err
		}
	}
	return nil
}

// leave records what a replica releases.
func (f *followed) leave(s *sim.Step, m *world.Member) error {
	var out []agents.Send
	for _, x := range s.Sends {
		if !strings.HasPrefix(x.Message.Kind(), "Replica") {
			out = append(out, x)
		}
	}
	term, _ := m.Replica.Leads()
	for len(f.steps[term]) > 0 {
		x := f.steps[term][0]
		n := min(len(out), len(x.Sends))
		if x.committed < len(x.Facts) || n == 0 && len(x.Sends) > 0 {
			break
		}
		if n < len(x.Sends) && !s.Died {
			return fmt.Errorf("I26: of %d messages that follow from one step %s lets out %d", len(x.Sends), s.ID, n)
		}
		for i := range n {
			if a, b := out[i], x.Sends[i]; a.To != b.To || a.Message.Kind() != b.Message.Kind() {
				return fmt.Errorf("I26: %s lets out a %s to %s, where a %s to %s comes next", s.ID, a.Message.Kind(), a.To, b.Message.Kind(), b.To)
			}
		}
		done := x.Step
		if done.Sends = x.Sends[:n]; x.told {
			done.Facts, done.Rows = nil, nil
		}
		done.Died = n < len(x.Sends)
		out, f.steps[term] = out[n:], f.steps[term][1:]
		if x.told && n == 0 {
			continue
		}
		if err := f.tell(x, &done); err != nil {
			return err
		}
	}
	if len(out) > 0 {
		return fmt.Errorf("I26: %s lets out a %s to %s, and what it follows from is not committed", s.ID, out[0].Message.Kind(), out[0].To)
	}
	return nil
}

// tell shows a step of the broker to the checker.
func (f *followed) tell(x *leaderStep, s *sim.Step) error {
	x.told = true
	if x.Term > f.life {
		if f.life > 0 {
			l := &sim.Life{At: f.w.Now(), Now: s.Now, Process: f.process, ID: f.g.Broker, Facts: len(f.procs[f.process].facts)}
			if err := f.Checker.life(l); err != nil {
				return err
			}
		}
		f.life = x.Term
		f.leaderships++
	}
	if err := f.Checker.step(s); err != nil {
		return fmt.Errorf("%w (%s from %s, in term %d)", err, s.Message.Kind(), s.From, x.Term)
	}
	for _, out := range s.Sends {
		if r, ok := out.Message.(agents.SubmitReply); ok && !r.Reason.Refused() {
			if _, known := f.procs[f.process].jobs[r.Job]; !known {
				return fmt.Errorf("I26: job %s is said to be taken, and that is not committed", r.Job)
			}
			f.taken[r.Job] = true
		}
	}
	return nil
}

// runQuiet lives on up to an instant, and from there on until of every group one leads, and nothing that it has done waits to be
// committed.
func (c *Checker) runQuiet(until grid.Time) error {
	if err := c.w.Run(until); err != nil {
		return err
	}
	for limit := c.w.Now().Add(world.Electing); ; {
		var why error
		for _, f := range c.ordered() {
			m := c.w.Leads(f.g)
			if m == nil {
				why = fmt.Errorf("I13: none of the replicas of %s leads", f.g.Broker)
				break
			}
			if term, _ := m.Replica.Leads(); len(f.steps[term]) > 0 || term != f.life {
				why = fmt.Errorf("I13: %s does not commit what %s does", f.g.Broker, m.Id)
				break
			}
		}
		if why == nil || c.w.Now() >= limit {
			return why
		}
		if err := c.w.Run(c.w.Now().Add(20)); err != nil {
			return err
		}
	}
}

// ordered lists the groups in the order of their brokers.
func (c *Checker) ordered() (list []*followed) {
	for _, name := range world.BrokerNames {
		if f := c.groupOf[world.BrokerID(name)]; f != nil {
			list = append(list, f)
		}
	}
	return list
}

// replicasAtRest checks that, in a moment in which nothing is under way, all replicas of a
// broker have the same, and what users were told.
func (c *Checker) replicasAtRest() error {
	for _, f := range c.ordered() {
		err := f.same()
		for range 300 {
			if err == nil {
				break
			}
			if err := c.w.Run(c.w.Now().Add(grid.Second)); err != nil {
				return err
			}
			err = f.same()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// same compares the replicas of a broker.
func (f *followed) same() error {
	leader := f.w.Leads(f.g)
	if leader == nil {
		return fmt.Errorf("I13: none of the replicas of %s leads", f.g.Broker)
	}
	var want []byte
	for _, m := range f.g.Present(leader) {
		switch {
		case f.w.Faulty.Agent(m.Id) == nil:
			return fmt.Errorf("I13: %s is not up", m.Id)
		case m.Replica.Lost() && f.w.Forgot[f.g.Broker] == m:
			continue
		case m.Replica.Lost():
			return fmt.Errorf("I26: %s takes its journal for one of the past", m.Id)
		case m.Replica.Applied() != f.upto:
			return fmt.Errorf("I13: %s has applied %d entries of %d", m.Id, m.Replica.Applied(), f.upto)
		}
		image, err := f.w.Codec.Append(nil, 0, m.Replica.Inner().Image())
		if err != nil {
			return err
		}
		if want == nil {
			want = image
		}
		if !bytes.Equal(image, want) {
			return fmt.Errorf("I26: after entry %d the replicas of %s differ:\n%.2000s\n%.2000s", f.upto, f.g.Broker, image, want)
		}
	}
	jobs := map[string]bool{}
	for _, j := range leader.Replica.Inner().Image().(facts.BrokerImage).Jobs {
		jobs[j.Job.Name] = true
	}
	for job := range f.taken {
		if !jobs[job] {
			return fmt.Errorf("I26: job %s was taken by %s and is lost", job, f.g.Broker)
		}
	}
	return nil
}

package replica

import (
	"fmt"
	"math"
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// leadership is the time in which a replica hands its inner agent messages: from the first
// entry of its term that is committed until it is not the leader of that term any more.
type leadership struct {
	on      bool
	term    uint64
	since   uint64   // the last entry before it: later facts are its own
	effects []effect // what steps did to the world and is not let out yet, in order
	waiting int      // bytes proposed for them
	lingers bool     // facts of the last of them are not proposed yet
	leaves  bool     // it hands over: see passes
	passed  uint64   // to whom it has been handed in vain, or is just now

	// Reads are numbered. One that has been confirmed was asked by a leader.
	asked, heard uint64
}

// effect is what one step did to the world. It leaves once all facts are committed
// that it may follow from. A message of a step without facts may tell what has been
// changed by another leader since; so a majority must have confirmed after the step
// that this one leads.
type effect struct {
	index  uint64 // the last entry of that step, or before it; lingering: it has none yet
	bytes  int    // of its entries
	read   uint64 // 0: no confirmation is needed
	at     bourse.Time
	facts  []agents.Fact
	sends  []agents.Send
	alarms []agents.Alarm
}

// lingering is the index of an effect whose facts are not proposed yet.
const lingering = math.MaxUint64

// asks reports whether a confirmation is needed that nobody has asked for, and none
// is under way.
func (g *leadership) asks() bool {
	return g.on && g.asked == g.heard && len(g.effects) > 0 &&
		slices.ContainsFunc(g.effects, func(e effect) bool { return e.read > g.asked })
}

// full reports whether as much waits as may, or nothing more is taken.
func (r *Replica) full() bool {
	return r.leadership.leaves || len(r.leadership.effects) >= r.cfg.WaitingSteps || r.leadership.waiting >= r.cfg.WaitingBytes
}

// lead begins a leadership. All that was committed before it is applied, and the log has
// no facts beyond that. The inner agent begins a life.
func (r *Replica) lead(now bourse.Time, out *agents.Outbox) {
	s := r.node.BasicStatus()
	r.leadership = leadership{on: true, term: s.GetTerm(), since: r.log.last(), asked: r.leadership.asked, heard: r.leadership.asked}
	r.change = change{}
	r.won++
	r.stepInner(now, r.cfg.Group, agents.Started{Nonce: nonceOf(r.nonce, r.leadership.term)}, out)
	r.propose()
}

// nonceOf tells the leaderships of one process from each other, as its nonce tells it from
// all others.
func nonceOf(nonce, term uint64) uint64 {
	z := nonce + term*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return max(z^z>>31, 1)
}

// stepDown ends a leadership. What it has not let out never leaves, and the inner agent
// forgets what was not committed.
func (r *Replica) stepDown(now bourse.Time) {
	r.due, r.transfers, r.change = false, nil, change{}
	if !r.leadership.on {
		return
	}
	r.leadership = leadership{asked: r.leadership.asked, heard: r.leadership.asked}
	r.rebuild(r.applied)
	r.heard, r.tries = now, 0
}

// stepInner hands the inner agent a message and proposes what it records: at once if
// something follows from it, else with what comes within Linger.
func (r *Replica) stepInner(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	var box agents.Outbox
	r.inner.Step(now, from, m, &box)
	if len(box.Facts) == 0 && len(box.Sends) == 0 && len(box.Alarms) == 0 {
		return
	}
	g := &r.leadership
	g.effects = append(g.effects, effect{index: lingering, at: now, facts: box.Facts, sends: box.Sends, alarms: box.Alarms})
	late := now.Add(r.cfg.Linger)
	switch {
	case len(box.Sends) > 0, len(box.Facts) == 0 && !g.lingers, slices.ContainsFunc(box.Alarms, func(a agents.Alarm) bool { return a.At < late }):
		r.propose()
	case !g.lingers:
		g.lingers = true
		out.Alarm(late, lingered{g.term})
	}
}

// lingered is the alarm by which facts are proposed from which nothing has followed.
type lingered struct{ term uint64 }

// Kind names the alarm.
func (lingered) Kind() string { return "ReplicaLingered" }

// propose proposes the facts of the last effects, in as many entries as they need: an
// agent can go on from any of them, as from a torn journal.
func (r *Replica) propose() {
	g := &r.leadership
	g.lingers = false
	begin := len(g.effects)
	for begin > 0 && g.effects[begin-1].index == lingering {
		begin--
	}
	list := g.effects[begin:]
	if len(list) == 0 {
		return
	}
	before := r.log.last() // nothing is under way that is not there
	entries, size := r.proposeFacts(list)
	for i := range list {
		e := &list[i]
		e.index = before + entries
		if entries == 0 && len(e.sends) > 0 {
			e.read = g.asked + 1
		}
		if r.cfg.Committed == nil {
			e.facts = nil
		}
	}
	list[len(list)-1].bytes = size
	g.waiting += size
}

func (r *Replica) proposeFacts(list []effect) (entries uint64, size int) {
	var lines []byte
	flush := func() {
		if len(lines) == 0 {
			return
		}
		if err := r.node.Propose(lines); err != nil {
			panic(fmt.Sprintf("replica: a leader's proposal is refused: %v", err)) // by nothing that is configured
		}
		entries, size, lines = entries+1, size+len(lines), nil
	}
	for i := range list {
		for _, f := range list[i].facts {
			from := len(lines)
			with, err := r.cfg.Codec.Append(lines, list[i].at, f)
			if err != nil {
				panic(fmt.Sprintf("replica: fact %s cannot be written: %v", f.Kind(), err))
			}
			if lines = with; from > 0 && len(lines) > r.cfg.EntryBytes {
				last := slices.Clone(lines[from:])
				lines = lines[:from:from]
				flush()
				lines = last
			}
		}
	}
	flush()
	return entries, size
}

// release lets out what may leave.
func (r *Replica) release(out *agents.Outbox) {
	g := &r.leadership
	n := 0
	for n < len(g.effects) && g.effects[n].index <= r.applied && g.effects[n].read <= g.heard {
		e := &g.effects[n]
		for _, f := range e.facts { // none, where nobody is told
			r.cfg.Committed(e.at, f)
		}
		out.Sends = append(out.Sends, e.sends...)
		for _, a := range e.alarms {
			out.Alarm(a.At, alarmOf{g.term, a.Message})
		}
		g.waiting -= e.bytes
		n++
	}
	if n > 0 {
		g.effects = slices.Delete(g.effects, 0, n)
	}
}

// alarmOf is an alarm of the inner agent, in the leadership in which it has set it.
type alarmOf struct {
	term uint64
	m    agents.Message
}

// Kind names the alarm.
func (a alarmOf) Kind() string { return a.m.Kind() }

// alarm hands the inner agent its alarm. It must not be lost: when as much waits as
// may, it comes again.
func (r *Replica) alarm(now bourse.Time, a alarmOf, out *agents.Outbox) {
	switch {
	case !r.leadership.on || a.term != r.leadership.term:
	case r.full():
		out.Alarm(now.Add(r.cfg.Heartbeat), a)
	default:
		r.stepInner(now, r.cfg.Group, a.m, out)
	}
}

// input takes a message for the agent. Where this replica does not lead, or as much
// waits as may, whoever asks is told; what is not a question comes again by itself, as
// after a loss on the way.
func (r *Replica) input(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	switch {
	case r.leadership.on && !r.full():
		r.stepInner(now, from, m, out)
	case r.cfg.Answers(m):
		r.redirect(from, out)
	}
}

// confirm answers once a majority has confirmed that this replica still leads, and all
// that its agent has recorded is committed: who has looked at the agent meanwhile has seen
// what nobody will take back, and nothing older than the question.
func (r *Replica) confirm(from agents.ID, out *agents.Outbox) {
	if !r.leadership.on || r.full() {
		r.redirect(from, out)
		return
	}
	r.leadership.effects = append(r.leadership.effects, effect{index: lingering,
		sends: []agents.Send{{To: from, Message: agents.ReplicaConfirmed{}}}})
	r.propose()
}

// redirect tells who asks where the leader is, as far as that is known: nowhere, if
// this replica leads and is full.
func (r *Replica) redirect(from agents.ID, out *agents.Outbox) {
	to := r.Leader()
	if to == r.cfg.Self {
		to = ""
	}
	out.Send(from, agents.ReplicaRedirect{Group: r.cfg.Group, Leader: to})
}

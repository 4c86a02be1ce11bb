package replica

import (
	"fmt"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// leadership is the time in which a replica hands messages to its inner agent: from when
// the first entry of its term is committed until it is no longer the leader of that term.
type leadership struct {
	on      bool
	term    uint64
	since   uint64   // the last entry before it; later facts are its own
	effects []effect // effects of steps not released yet, in order
	waiting int      // bytes proposed for those
	lingers bool     // facts of the last effects are not proposed yet
	leaves  bool     // it hands over; see passes
	passed  uint64   // the member to whom it is being handed, or was in vain

	// Reads are numbered. A confirmed one proves that this replica led when it was asked.
	asked, heard uint64
}

// effect is what one step does to the outside world. It is released once all facts that it
// may follow from are committed. A message of a step without facts may state something that
// another leader has changed since; so after the step a majority must have confirmed that
// this replica leads.
type effect struct {
	index  uint64 // the last entry of that step or before it; lingering if there is none yet
	bytes  int    // bytes of its entries
	read   uint64 // number of the read that must be confirmed; 0: none
	at     grid.Time
	facts  []agents.Fact
	sends  []agents.Send
	alarms []agents.Alarm
}

// lingering is the index of an effect with facts not proposed yet.
const lingering = math.MaxUint64

// asks reports whether a confirmation is needed that has not been requested, and none is
// under way.
func (g *leadership) asks() bool {
	return g.on && g.asked == g.heard && len(g.effects) > 0 &&
		slices.ContainsFunc(g.effects, func(e effect) bool { return e.read > g.asked })
}

// full reports whether as much waits as may, or nothing more is accepted.
func (r *Replica) full() bool {
	return r.leadership.leaves || len(r.leadership.effects) >= r.cfg.WaitingSteps || r.leadership.waiting >= r.cfg.WaitingBytes
}

// lead begins a leadership. Everything committed before it must be applied, and the log
// must have no facts beyond that. The inner agent begins a life.
func (r *Replica) lead(now grid.Time, out *agents.Outbox) {
	s := r.node.BasicStatus()
	r.leadership = leadership{on: true, term: s.GetTerm(), since: r.log.last(), asked: r.leadership.asked, heard: r.leadership.asked}
	r.change = change{}
	r.won++
	r.stepInner(now, r.cfg.Group, agents.Started{Nonce: nonceOf(r.nonce, r.leadership.term)}, out)
	r.propose()
}

// nonceOf distinguishes the leaderships of one process, as the process's nonce
// distinguishes it from others.
func nonceOf(nonce, term uint64) uint64 {
	z := nonce + term*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return max(z^z>>31, 1)
}

// stepDown ends a leadership. Unreleased effects never leave, and the inner agent forgets
// what was not committed.
func (r *Replica) stepDown(now grid.Time) {
	r.due, r.transfers, r.change = false, nil, change{}
	if !r.leadership.on {
		return
	}
	r.leadership = leadership{asked: r.leadership.asked, heard: r.leadership.asked}
	r.rebuild(r.applied)
	r.heard, r.tries = now, 0
}

// stepInner hands the inner agent a message and proposes the facts it records: at once if
// something depends on them, otherwise together with what comes within Linger.
func (r *Replica) stepInner(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
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

// lingered is the alarm at which facts are proposed on which nothing depends.
type lingered struct{ term uint64 }

// Kind names the alarm.
func (lingered) Kind() string { return "ReplicaLingered" }

// propose proposes the facts of the last effects, in as many entries as needed: an agent
// can go on from any of them, as from a torn journal.
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

// release releases the effects that may leave.
func (r *Replica) release(out *agents.Outbox) {
	g := &r.leadership
	n := 0
	for n < len(g.effects) && g.effects[n].index <= r.applied && g.effects[n].read <= g.heard {
		e := &g.effects[n]
		for _, f := range e.facts { // empty if Committed is nil
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

// alarmOf is an alarm of the inner agent, with the leadership in which it was set.
type alarmOf struct {
	term uint64
	m    agents.Message
}

// Kind names the alarm.
func (a alarmOf) Kind() string { return a.m.Kind() }

// alarm hands the inner agent its alarm. An alarm must not be lost: while too much waits,
// it is set again.
func (r *Replica) alarm(now grid.Time, a alarmOf, out *agents.Outbox) {
	switch {
	case !r.leadership.on || a.term != r.leadership.term:
	case r.full():
		out.Alarm(now.Add(r.cfg.Heartbeat), a)
	default:
		r.stepInner(now, r.cfg.Group, a.m, out)
	}
}

// input takes a message for the agent. If this replica does not lead, or too much waits,
// askers are told so. Any other message is repeated by its sender, as after a loss on the
// way.
func (r *Replica) input(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	switch {
	case r.leadership.on && !r.full():
		r.stepInner(now, from, m, out)
	case r.cfg.Answers(m):
		r.redirect(from, out)
	}
}

// confirm answers once a majority has confirmed that this replica still leads, and
// everything its agent has recorded is committed. Whoever looked at the agent in the
// meantime has then seen only lasting state, at least as new as the question.
func (r *Replica) confirm(from agents.ID, out *agents.Outbox) {
	if !r.leadership.on || r.full() {
		r.redirect(from, out)
		return
	}
	r.leadership.effects = append(r.leadership.effects, effect{index: lingering,
		sends: []agents.Send{{To: from, Message: agents.ReplicaConfirmed{}}}})
	r.propose()
}

// redirect tells an asker where the leader is, as far as known; nowhere, if this replica
// leads and is full.
func (r *Replica) redirect(from agents.ID, out *agents.Outbox) {
	to := r.Leader()
	if to == r.cfg.Self {
		to = ""
	}
	out.Send(from, agents.ReplicaRedirect{Group: r.cfg.Group, Leader: to})
}

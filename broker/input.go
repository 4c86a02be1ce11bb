package broker

import (
	"bourse"
	"bourse/agents"
	"bourse/broker/planning"
)

// input is what the cycle under way has before it when its search begins.
func (b *Broker) input(now bourse.Time) planning.Input {
	c := &b.cycle
	in := planning.Input{Cycle: c.number, From: c.from, Horizon: c.horizon, Terms: b.terms(), Sites: c.poll.sites,
		Jobs: make([]planning.Job, len(c.entries)), Away: b.someAway()}
	memo := map[*job]bourse.Time{}
	for i := range c.entries {
		j := c.entries[i].job
		in.Jobs[i] = planning.Job{Name: j.Name, User: j.User, Submit: j.Submit, Priority: j.Priority, Request: b.bounded(j, memo),
			Deadline: j.Deadline, Pending: !j.needsOver(), Gone: c.entries[i].over, Barred: b.bars.among(now, j.User, b.sites)}
	}
	return in
}

// whatIsKnownNow adds to the quotes what a choice depends on beside them, and lists
// the jobs that were withdrawn since the cycle began.
func (b *Broker) whatIsKnownNow() (gone []string) {
	c := &b.cycle
	q := &c.quotes
	q.Left, q.Away, q.Gone = b.accounts.Left(), b.someAway(), make([]bool, len(c.entries))
	if len(b.cfg.Quotas) > 0 {
		q.Quotas = map[string]bourse.Credits{}
	}
	for i := range c.entries {
		j := c.entries[i].job
		q.Gone[i] = c.entries[i].over
		if _, ok := b.cfg.Quotas[j.User]; ok {
			q.Quotas[j.User] = b.accounts.UserLeft(j.User)
		}
		if j.state == bourse.JobWithdrawn {
			gone = append(gone, j.Name)
		}
	}
	return gone
}

// terms are the settings that a plan follows from.
func (b *Broker) terms() planning.Terms {
	c := &b.cfg
	return planning.Terms{Algorithm: c.Algorithm, Weights: c.Weights, Minimize: c.Minimize, BudgetLimit: c.BudgetLimit, TimeLimit: c.TimeLimit,
		MaxAlternatives: c.MaxAlternatives, Strategy: c.Strategy, Alpha: c.Alpha, Draws: c.Draws, OfferWait: c.OfferWait}
}

// What a cycle saw and chose goes on record as two facts, where Config.Explain
// asks for it: CycleSeen when the search begins, CyclePlanned when the choice is
// made. They hold all that the plan is a function of, so that planning.Rerun makes
// the same one, or the one that another budget or another site would have led to.
// No state follows from them.

// detail is how much was recorded in the hour under way.
type detail struct {
	hour  int64
	bytes int
}

// affords reports whether so many bytes may still be recorded in this hour, and
// counts them if so. A restart begins afresh.
func (d *detail) affords(now bourse.Time, bytes, most int) bool {
	if h := int64(now) / int64(bourse.Hour); h != d.hour {
		*d = detail{hour: h}
	}
	if bytes > most-d.bytes {
		return false
	}
	d.bytes += bytes
	return true
}

// recordSeen records what a cycle has before it. Beyond the bound it is the
// names only.
func (b *Broker) recordSeen(now bourse.Time, out *agents.Outbox) {
	if b.cfg.Explain == 0 {
		return
	}
	c := &b.cycle
	f := c.input.Seen(!b.detail.affords(now, c.input.RecordSize(), b.cfg.Explain))
	f.Opened, f.Terms.Lead, f.Terms.Cycle = c.opened, b.cfg.Lead, b.cfg.Cycle
	for p := range b.peers.all() {
		if _, asked := b.index[p.id]; asked {
			continue
		}
		s := bourse.SiteSeen{Site: p.name, Answer: "unlisted"}
		if !p.member {
			s.Answer = "left"
		}
		f.Sites = append(f.Sites, s)
	}
	out.Record(f)
}

// recordPlanned records what a cycle has chosen.
func (b *Broker) recordPlanned(now bourse.Time, gone []string, out *agents.Outbox) {
	if b.cfg.Explain == 0 {
		return
	}
	c := &b.cycle
	f := c.draft.Planned(&c.quotes, c.outcome, !b.detail.affords(now, c.draft.RecordSize(&c.quotes), b.cfg.Explain))
	f.Gone = gone
	out.Record(f)
}

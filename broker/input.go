package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// makeInput is everything that the current cycle knows when its search begins.
func (sch *scheduler) makeInput(now grid.Time, out *agents.Outbox) planning.Input {
	c := &sch.cycle
	in := planning.Input{Cycle: c.number, From: c.from, Horizon: c.horizon, Terms: sch.terms(), Sites: c.poll.sites,
		Jobs: make([]planning.Job, len(c.entries)), Away: sch.someAway()}
	memo := map[*jobs.Job]grid.Time{}
	for i := range c.entries {
		j := c.entries[i].job
		if len(j.Behind()) > 0 {
			out.Row("B81")
		}
		in.Jobs[i] = planning.Job{Name: j.Name, User: j.User, Submit: j.Submit, Priority: j.Priority, Request: bounded(j, c.poll.sites, memo),
			Deadline: j.Deadline, Pending: !j.NeedsOver(), Gone: c.entries[i].over, Barred: sch.Trust.Among(now, j.User, namesOf(sch.sites)), Bound: c.entries[i].bound}
		in.Jobs[i].Request.Ready = max(in.Jobs[i].Request.Ready, c.entries[i].notBefore())
		in.Jobs[i].Elsewhere = sch.asking.elsewhere(sch.index, &in.Jobs[i].Request)
	}
	return in
}

// requests is what is known about the batch before any site has been asked.
func (c *cycle) requests(t planning.Terms) *planning.Input {
	in := &planning.Input{From: c.from, Horizon: c.horizon, Terms: t, Jobs: make([]planning.Job, len(c.entries))}
	for i := range c.entries {
		in.Jobs[i].Request = c.entries[i].job.Request()
	}
	return in
}

// bounded is a job's request for this cycle: no earlier than the jobs before it allow, and
// early enough for the jobs after it to run on the fastest nodes offered for them.
func bounded(j *jobs.Job, sites []planning.Site, memo map[*jobs.Job]grid.Time) grid.Request {
	r := j.Request()
	if at, ok := j.Follows(); ok {
		r.Ready = max(r.Ready, at)
	}
	if len(j.Behind()) > 0 {
		r.Deadline = latestEnd(j, sites, memo)
	}
	return r
}

// latestEnd is the latest end of a job with which it and all jobs after it can meet their
// deadlines. Workflows have no loops.
func latestEnd(j *jobs.Job, sites []planning.Site, memo map[*jobs.Job]grid.Time) grid.Time {
	if t, ok := memo[j]; ok {
		return t
	}
	t := j.Deadline
	for _, s := range j.Behind() {
		if !s.State.Open() {
			continue
		}
		by := latestEnd(s, sites, memo)
		r := s.Request()
		if takes, ok := planning.Quickest(sites, &r); ok && by < grid.Never {
			t = min(t, by.Add(-takes-s.Gap))
		}
	}
	memo[j] = t
	return t
}

// whatIsKnownNow adds to the quotes what else a choice depends on, and lists the jobs that
// were withdrawn since the cycle began.
func (sch *scheduler) whatIsKnownNow() (gone []string) {
	c := &sch.cycle
	q := &c.quotes
	q.Left, q.Away, q.Gone = sch.Accounts.Left(), sch.someAway(), make([]bool, len(c.entries))
	if sch.Accounts.Quotas() {
		q.Quotas = map[string]grid.Credits{}
	}
	for i := range c.entries {
		j := c.entries[i].job
		q.Gone[i] = c.entries[i].over
		if _, ok := sch.Accounts.Quota(j.User); ok {
			q.Quotas[j.User] = sch.Accounts.UserLeft(j.User)
		}
		if j.State == grid.JobWithdrawn {
			gone = append(gone, j.Name)
		}
	}
	return gone
}

// terms are the settings for a plan, including those that follow from recent cycles.
func (sch *scheduler) terms() planning.Terms {
	c := &sch.cfg
	t := c.planning()
	if t.ByValue() {
		t.Patience = c.waits()
		t.Wait = sch.Accounts.Wait(c.Cycle, t.Patience)
		t.Weight = int64(sch.Accounts.Weight()) / 1000
	}
	return t
}

// planning are the configured settings for a plan.
func (c *Config) planning() planning.Terms {
	return planning.Terms{Algorithm: c.Algorithm, Weights: c.Weights, Minimize: c.Minimize, Urgency: c.Urgency, Slowdown: c.Slowdown, BudgetLimit: c.BudgetLimit, TimeLimit: c.TimeLimit,
		MaxAlternatives: c.MaxAlternatives, Strategy: c.Strategy, Alpha: c.Alpha, Draws: c.Draws, OfferWait: c.OfferWait, Refuses: c.Refuse}
}

// If Config.Explain asks for it, what a cycle saw and chose is recorded as two facts:
// CycleSeen when the search begins, CyclePlanned when the choice is made. They contain the
// plan's whole input, so that planning.Rerun can make the same plan again, or the one that
// another budget or site would have led to. No state follows from them.

// detail is how much was recorded in the current hour.
type detail struct {
	hour  int64
	bytes int
}

// affords reports whether that many bytes may still be recorded in this hour, and counts
// them if so. A restart resets the count.
func (d *detail) affords(now grid.Time, bytes, most int) bool {
	if h := int64(now) / int64(grid.Hour); h != d.hour {
		*d = detail{hour: h}
	}
	if bytes > most-d.bytes {
		return false
	}
	d.bytes += bytes
	return true
}

// recordSeen records what a cycle knows or, once the hour's bound is reached, only names.
func (sch *scheduler) recordSeen(now grid.Time, out *agents.Outbox) {
	if sch.cfg.Explain == 0 {
		return
	}
	c := &sch.cycle
	f := c.input.Seen(!sch.detail.affords(now, c.input.RecordSize(), sch.cfg.Explain))
	f.Opened, f.Terms.Lead, f.Terms.Cycle = c.opened, sch.cfg.Lead, sch.cfg.Cycle
	inTurn := sch.asking.inTurn()
	for p := range sch.Peers.All() {
		if _, asked := sch.index[p.ID()]; asked {
			continue
		}
		if inTurn && p.Usable() {
			f.NotAsked++
			continue
		}
		s := facts.SiteSeen{Site: p.Name(), Answer: "unlisted"}
		if !p.Member() {
			s.Answer = "left"
		}
		f.Sites = append(f.Sites, s)
	}
	out.Record(f)
}

// recordPlanned records what a cycle has chosen.
func (sch *scheduler) recordPlanned(now grid.Time, gone []string, out *agents.Outbox) {
	if sch.cfg.Explain == 0 {
		return
	}
	c := &sch.cycle
	f := c.draft.Planned(&c.quotes, c.outcome, !sch.detail.affords(now, c.draft.RecordSize(&c.quotes), sch.cfg.Explain))
	f.Gone = gone
	out.Record(f)
}

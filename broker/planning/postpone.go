package planning

import (
	"cmp"
	"strings"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// postpone ends a job's part in the cycle before the quotes.
func (d *Draft) postpone(job int, why grid.Reason) {
	d.Jobs[job].Over = true
	d.Postponed = append(d.Postponed, d.Judge(job, why, d.in.Away))
}

// giveUp ends a job's part in the choice.
func (c *chooser) giveUp(job int, why grid.Reason) {
	c.o.Jobs[job].Over = true
	c.o.Postponed = append(c.o.Postponed, c.d.Judge(job, why, c.q.Away))
}

// Judge decides how a job that gets no window for the reason why is postponed. It is final
// if every site asked has answered, no other site may appear, none is closed to the job's
// user, and no site could ever serve the job.
func (d *Draft) Judge(job int, why grid.Reason, away bool) Postponed {
	j := &d.in.Jobs[job]
	p := Postponed{Job: job, Reason: why}
	if len(j.Barred) > 0 && why.Code != grid.After {
		p.Reason = d.leftOut(j, why)
		return p
	}
	if away || j.Elsewhere || !d.in.complete() {
		return p
	}
	switch why.Code {
	case grid.TooLarge, grid.NoNode:
		p.Final = true
	case grid.NoWindow:
		r := &j.Request
		end := d.soonest(r)
		if long, is := d.tooLong(r); is && (end <= r.Deadline || j.Pending) {
			p.Reason = reason(grid.TooLong, "takes %v, the horizon allows %v: no window can be that long; it needs a longer horizon or faster nodes",
				grid.Phrase(long.Words()), grid.Phrase(d.in.Horizon.Sub(d.in.From).Words()))
			p.Final = true
			break
		}
		if end <= r.Deadline {
			break
		}
		p.Reason = reason(grid.Expired, "it would end at %v at the soonest, after its deadline %v", end, r.Deadline)
		if r.Deadline < j.Deadline {
			p.Reason = reason(grid.Expired, "it would end at %v at the soonest, and what comes after it needs it to end by %v", end, r.Deadline)
		}
		p.Final = !j.Pending
	}
	return p
}

// soonest is the earliest end that a request could have if everything were free.
func (d *Draft) soonest(r *grid.Request) grid.Time {
	best := grid.Never
	if r.Composed() {
		return d.soonestOf(r)
	}
	if r.Require.None() { // like most jobs: the fastest group decides
		if d.fastest >= r.MinPerformance && len(d.Groups) > 0 {
			best = max(d.in.From, r.Ready).Add(d.fastest.Runtime(r.Shortest()))
		}
		return best
	}
	for i := range d.Groups {
		if g := &d.Groups[i]; serves(g, r) {
			best = min(best, max(d.in.From, r.Ready).Add(g.Performance.Runtime(r.Shortest())))
		}
	}
	return best
}

// tooLong reports whether a request takes longer than the horizon allows wherever it runs,
// and how long it takes at least. Most need no look at the groups: their nodes are no slower
// than they ask for.
func (d *Draft) tooLong(r *grid.Request) (grid.Duration, bool) {
	span := d.in.Horizon.Sub(d.in.From)
	if r.Composed() {
		return d.tooLongOf(r, span)
	}
	if r.MinPerformance > 0 && r.MinPerformance.Runtime(r.Longest()) <= span {
		return 0, false
	}
	long := d.quickest(r, d.in.Terms.OneByOne())
	return long, long > span
}

// quickest is the shortest time that a request can take on what the sites have: on one group,
// or on what may carry it together.
func (d *Draft) quickest(r *grid.Request, oneGroup bool) grid.Duration {
	return r.Quickest(d.Groups, func(g int) int {
		switch {
		case oneGroup:
			return g
		case r.OneSite:
			return int(d.siteOf[g])
		}
		return 0
	})
}

// leftOut adds to the reason why a job has no window the sites that are closed to its
// user. If no other site has offered anything, that is the reason.
func (d *Draft) leftOut(j *Job, why grid.Reason) grid.Reason {
	var names, last []string
	others := len(d.Groups) == 0
	for i, barred := range d.in.barredSites(j) {
		if barred {
			x := barredBy(j, d.in.Sites[i].Name)
			if x.Last {
				last = append(last, string(grid.Say("%s (until %v)", d.in.Sites[i].Name, x.Until)))
				others = others || d.in.Sites[i].Answer == Usable
				continue
			}
			names = append(names, string(grid.Say("%s (asked again at %v%v)", d.in.Sites[i].Name, x.Until, x.Said())))
		} else {
			others = others || d.in.Sites[i].Answer == Usable
		}
	}
	if len(last) > 0 {
		why = reason(why.Code, "%v; come last, as they have broken their word: %v", why, grid.Phrase(strings.Join(last, ", ")))
		if len(names) == 0 {
			return why
		}
	}
	words := grid.Say("closed to %s: %v", cmp.Or(j.User, "users without a name"), grid.Phrase(strings.Join(names, ", ")))
	if !others {
		return reason(grid.NotAllowed, "%s; no other site offers anything", words)
	}
	return reason(why.Code, "%v; %s", why, words)
}

// barredBy is the bar that closes a site to a job's user.
func barredBy(j *Job, site string) facts.UserBarred {
	for _, x := range j.Barred {
		if x.Site == site {
			return x
		}
	}
	return facts.UserBarred{}
}

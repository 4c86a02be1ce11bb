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
// user, and no site could ever serve the job: by the rules of never.go, as far as the plan has
// not looked itself.
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
	switch {
	case why.Code == grid.TooLarge, why.Code == grid.NoNode: // the search has looked at all there is, free or not
		p.Final = true
	case why.Code == grid.NoWindow:
		d.noWindow(j, &p)
	}
	// One that finds all nodes taken may be too dear for them besides.
	if dear := why.Code == grid.OverBudget || why.Code == grid.NoWindow; dear && !p.Final && d.in.Terms.Refuses {
		if never := d.reach().behind(grid.OverBudget, &j.Request, d.in.From); never.Refused() {
			p.Reason, p.Final = never, true
		}
	}
	return p
}

// noWindow judges a job for which no window is free.
func (d *Draft) noWindow(j *Job, p *Postponed) {
	r := j.Request
	if j.Pending { // it may be ready earlier: then its deadline leaves more time
		r.Deadline = grid.Never
	}
	if never := d.reach().behind(grid.NoWindow, &r, d.in.From); never.Refused() {
		p.Reason, p.Final = never, true
	} else if j.Pending {
		if late := d.reach().behind(grid.NoWindow, &j.Request, d.in.From); late.Refused() {
			p.Reason = late
		}
	}
	if p.Reason.Code == grid.Expired && j.Request.Deadline < j.Deadline {
		p.Reason = reason(grid.Expired, "it would end at %v at the soonest, and what comes after it needs it to end by %v", d.soonest(&j.Request), j.Request.Deadline)
	}
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

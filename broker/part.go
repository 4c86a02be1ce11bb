package broker

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A job of unlike parts is committed like any other: one transaction, all legs or none. What a
// leg is for, its part's name, is on record with the transaction. From the name follows what
// the leg runs, and what may stand in its place once it is lost.

// partNames names the part that each leg of an alternative carries; nil if the job has none.
func partNames(j *jobs.Job, a *planning.Alternative) []string {
	if len(j.Parts) == 0 {
		return nil
	}
	list := make([]string, len(a.Legs))
	for i := range a.Legs {
		list[i] = j.Parts[a.Legs[i].Part].Name
	}
	return list
}

// runsOf is how long the work of each leg of an alternative really takes, nil if all of it
// takes as long as it may.
func runsOf(j *jobs.Job, a *planning.Alternative, groups []grid.Group) []grid.Duration {
	composed := len(j.Parts) > 1
	if !composed && j.Run == 0 || composed && !slices.ContainsFunc(j.Parts, func(p grid.JobPart) bool { return p.Run > 0 }) {
		return nil
	}
	whole := j.Whole()
	run := make([]grid.Duration, len(a.Legs))
	for i := range a.Legs {
		l := &a.Legs[i]
		if composed {
			p := &j.Parts[l.Part]
			run[i] = groups[l.Group].Performance.Runtime(cmp.Or(p.Run, p.Length))
			continue
		}
		if run[i] = whole.RunAt(a.Size); l.What.Work == 0 {
			run[i] = groups[l.Group].Performance.Runtime(run[i])
		}
	}
	return run
}

// wants is what the lost leg of a repair is for, as a request of its own, and whether that is
// known: of a leg that was adopted from its site's list it is not known which part it carries.
func (ers *errands) wants(e *errand) (grid.Request, bool) {
	r := e.job.Request()
	if !r.Composed() {
		r.Length = ers.sizeOf(e.tx).Length
		return r, true
	}
	p := e.job.PartNamed(e.tx.Part(e.leg))
	if p == nil {
		return r, false
	}
	return p.Request(&r), true
}

// legsLeft are the legs of a window that are not lost, with the parts that they carry.
func legsLeft(j *jobs.Job, each func(part, site string)) {
	for _, t := range j.Window() {
		for i := range t.Legs() {
			if s := t.Legs()[i].State(); s != grid.Lost && s != grid.Cancelled {
				each(t.Part(i), t.Sites()[i])
			}
		}
	}
}

// may reports whether a site may carry what replaces the lost leg of a repair, by the sites
// that the request names and by where the rest of the window stands. A part of one site stays
// where it stands or, if it has lost all its legs, goes to any one site: see oneSite.
func (e *errand) may(r *grid.Request, site string) bool {
	if !grid.May(site, r.Sites, r.Avoid) {
		return false
	}
	if len(e.job.Parts) < 2 {
		return !r.OneSite || site == e.tx.Sites()[e.leg]
	}
	ok, own := true, e.tx.Part(e.leg)
	legsLeft(e.job, func(part, at string) {
		switch {
		case part == own:
			ok = ok && (!r.OneSite || at == site)
		case e.job.Together:
			ok = ok && at == site
		case e.job.Apart:
			ok = ok && at != site
		}
	})
	return ok
}

// stock is nodes of a group that could replace a lost leg.
type stock struct {
	facts.SiteLeg
	price grid.Credits // of a node
	last  int          // 1: its site has broken its word
}

// oneSite keeps of a sorted list only what stands at the site where so many nodes cost least;
// nothing, if no single site has them.
func oneSite(list []stock, need int) []stock {
	type sum struct {
		site  string
		left  int
		price grid.Credits
		last  int
	}
	var sums []sum
	for _, c := range list {
		i := slices.IndexFunc(sums, func(s sum) bool { return s.site == c.Site })
		if i < 0 {
			i, sums = len(sums), append(sums, sum{c.Site, need, 0, c.last})
		}
		n := min(c.Leg.Nodes, sums[i].left)
		sums[i].left -= n
		sums[i].price = sums[i].price.Plus(c.price.Times(n))
	}
	sums = slices.DeleteFunc(sums, func(s sum) bool { return s.left > 0 })
	if len(sums) == 0 {
		return nil
	}
	best := slices.MinFunc(sums, func(a, b sum) int {
		return cmp.Or(cmp.Compare(a.last, b.last), cmp.Compare(a.price, b.price), cmp.Compare(a.site, b.site))
	})
	return slices.DeleteFunc(list, func(c stock) bool { return c.Site != best.site })
}

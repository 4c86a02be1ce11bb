//go:build linux

package drill

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// The checker of a drill of real clusters: it holds what Bourse claims against what the
// managers and the work say, and against what docs/SLURM.md and the invariants promise.

// Its bounds.
const (
	// afterEnd is how long something of a leg may stay in a manager after its end.
	afterEnd = 10 * time.Minute
	// unheard is how long after a leg is given up its work may still begin: the manager
	// hears of it later, and not at all while it or the site's process is down.
	unheard = 5 * time.Second
	// deaf is that bound where its cluster was upset meanwhile: a command may have to
	// time out first, and is then given again.
	deaf = time.Minute
	// together is how far from each other the parts of a window begin where nothing
	// was in their way.
	together = 15 * time.Second
	// whole is how long before a window nobody may have touched one of its clusters, if it
	// is to count as one whose clusters were whole.
	whole = 5 * time.Second
	// slowly is how far apart the legs of a window begin that is listed, leg by leg.
	slowly = 2 * time.Second
)

// What was in the way of a window.
const (
	undisturbed = iota // nothing, nor in the 20 s before and the 10 s in which a cluster recovers
	untouched          // nothing from a little before until it had begun
	disturbed          // a misfortune of one of its clusters
	ways
)

// verdictOf is what the checker finds.
type verdictOf struct {
	broken []string
	spread [ways][]time.Duration // of windows, by what was in their way: how far apart their legs began
	slow   []string              // of those that nobody was in the way of: which began more than slowly apart, and how
	counts map[string]int
}

func (v *verdictOf) breaks(format string, args ...any) {
	v.broken = append(v.broken, fmt.Sprintf(format, args...))
}

// check holds one against the other.
func check(t *truth, c *claims) *verdictOf {
	v := &verdictOf{counts: map[string]int{}}
	v.stays(t, c)
	begun := v.runs(t, c)
	v.foreign(t)
	v.windows(t, c, begun)
	v.money(c)
	v.unmapped(t, c)
	sort.Strings(v.broken)
	return v
}

// stays: nothing of ours is in a manager for long after its leg has ended.
func (v *verdictOf) stays(t *truth, c *claims) {
	for _, what := range t.left {
		v.breaks("orphan at the end: %s", what)
	}
	for name, s := range t.sights {
		x := c.legs[name]
		switch {
		case x == nil:
			v.breaks("orphan: %s was in %s and no broker has asked for it", name, s.cluster)
		case !x.over.IsZero() && s.last.Sub(x.over) > afterEnd:
			v.breaks("orphan: %s of %v was in %s until %v after its end", name, x.id, s.cluster, s.last.Sub(x.over))
		}
	}
}

// runs: work runs for confirmed legs that are not given up, in their windows, once. It
// returns when that of each leg began.
func (v *verdictOf) runs(t *truth, c *claims) map[string]time.Time {
	begun := map[string]time.Time{}
	for _, m := range t.marks {
		v.counts["marks "+m.what]++
		if m.what != "begin" {
			continue
		}
		if at, twice := begun[m.name]; twice {
			v.breaks("twice: %s of %s has begun at %v and at %v", m.name, m.job, at, m.at)
		}
		begun[m.name] = m.at
		x := c.legs[m.name]
		switch {
		case x == nil:
			v.breaks("without a leg: %s of %s has run at %s", m.name, m.job, m.site)
			continue
		case !x.committed:
			v.breaks("not confirmed: %v of %s has run at %s", x.id, m.job, m.site)
		case x.job != m.job || x.site != m.site:
			v.breaks("another's: %v is of %s at %s, and %s has run there at %s", x.id, x.job, x.site, m.job, m.site)
		case m.at.Before(time.Unix(m.start, 0)):
			v.breaks("early: %v has begun %v before its window", x.id, time.Unix(m.start, 0).Sub(m.at))
		}
		most := unheard
		if t.upsetIn(x.site, x.over.Add(-unheard), m.at) {
			most = deaf
		}
		if late := m.at.Sub(x.over); !x.over.IsZero() && late > most {
			v.breaks("given up: %v has begun %v after it was %s: %v", x.id, late, x.how, x.why)
		}
	}
	ran := map[string]int{}
	for _, j := range t.over {
		if _, ours := t.sights[j.name]; (ours || c.legs[j.name] != nil) && j.ran() {
			ran[j.name]++
		}
	}
	for name, n := range ran {
		if n > 1 && begun[name] != (time.Time{}) {
			v.counts["names with two jobs that were given nodes"]++
		}
	}
	return begun
}

// foreign: nobody else's job or reservation is touched.
func (v *verdictOf) foreign(t *truth) {
	over := map[string]overJob{}
	for _, j := range t.over {
		over[j.cluster+"/"+j.number+"/"+j.name] = j
	}
	for _, f := range t.foreign {
		j, known := over[f.cluster+"/"+f.number+"/"+f.name]
		switch {
		case f.begun && f.ended:
			v.counts["foreign jobs done"]++
		case known && j.state != "CANCELLED" && t.upsetIn(f.cluster, f.submitted, f.submitted.Add(2*time.Minute)), !known && t.crashedAfter(f.cluster, f.submitted):
			v.counts["foreign jobs lost by a crash"]++
		case known && j.denied && j.state == "CANCELLED" && !f.begun:
			v.counts["foreign jobs denied by their node, as duplicates"]++
		case known:
			v.breaks("foreign: job %s of %s, %s, is %s", f.number, f.cluster, f.name, j.state)
		default:
			v.breaks("foreign: job %s of %s, %s, has gone", f.number, f.cluster, f.name)
		}
	}
	for _, s := range t.strange {
		v.breaks("foreign: %s", s)
	}
}

// windows: what is done has run on all its legs, together; what is not is lost or
// given back, for a reason.
func (v *verdictOf) windows(t *truth, c *claims, begun map[string]time.Time) {
	byJob := map[string][]*claim{}
	cancelled := map[string]bool{} // with nodes: perhaps before its work could leave a mark
	for _, j := range t.over {
		cancelled[j.name] = cancelled[j.name] || j.state == "CANCELLED" && j.ran()
	}
	for _, x := range c.legs {
		if !x.committed {
			continue
		}
		v.counts["legs committed"]++
		switch x.state {
		case grid.Settled:
			v.counts["legs settled"]++
			byJob[x.job] = append(byJob[x.job], x)
			if _, ran := begun[x.name]; !ran && cancelled[x.name] {
				v.counts["legs settled whose work was cancelled as it began"]++
			} else if !ran {
				v.breaks("never ran: %v of %s is settled at %s: %v", x.id, x.job, x.site, x.reason)
			}
		case grid.Lost:
			v.counts["legs lost, "+x.first()]++
			if !x.reason.Refused() && !x.why.Refused() {
				v.breaks("no reason: %v is lost at %s", x.id, x.site)
			}
			if x.back != x.paid {
				v.breaks("not refunded: %v is lost, %v of %v came back", x.id, x.back, x.paid)
			}
		case grid.Cancelled:
			v.counts["legs gone before they were confirmed"]++
			if !x.reason.Refused() {
				v.breaks("no reason: %v at %s is gone after COMMIT", x.id, x.site)
			}
		case grid.Released:
			v.counts["legs released"]++
		default:
			v.breaks("open: %v of %s at %s is %v at the end; its cluster says %s", x.id, x.job, x.site, x.state, x.how)
		}
	}
	for job, state := range c.jobs {
		v.counts["jobs "+state]++
		if state == "done" && len(byJob[job]) == 0 {
			v.breaks("never ran: job %s is done and no leg of it is settled", job)
		}
	}
	for job, legs := range byJob {
		v.together(t, legs, begun)
		for _, p := range c.parts[job] {
			if c.jobs[job] == "done" && !slices.ContainsFunc(legs, func(x *claim) bool { return x.part == p.Name }) {
				v.breaks("never ran: job %s is done and part %s of it is not settled", job, p.Name)
			}
		}
		if len(c.parts[job]) > 0 {
			v.counts["jobs of parts with settled legs"]++
		}
	}
}

// together: the legs of one window begin at one time, each its offset after the job, unless a
// cluster was upset.
func (v *verdictOf) together(t *truth, legs []*claim, begun map[string]time.Time) {
	var at []time.Time
	way := undisturbed
	for _, x := range legs {
		b, ran := begun[x.name]
		start := time.UnixMilli(int64(x.window.Start))
		if !ran || x.window.Start.Add(-x.offset) != legs[0].window.Start.Add(-legs[0].offset) {
			return
		}
		switch {
		case t.touchedIn(x.site, start.Add(-whole), b):
			way = disturbed
		case t.upsetIn(x.site, start.Add(-20*time.Second), b):
			way = max(way, untouched)
		}
		at = append(at, b.Add(-time.Duration(x.offset)*time.Millisecond))
	}
	if len(at) < 2 {
		return
	}
	d := slices.MaxFunc(at, time.Time.Compare).Sub(slices.MinFunc(at, time.Time.Compare))
	v.spread[way] = append(v.spread[way], d)
	if way != disturbed && d > slowly {
		v.slow = append(v.slow, legs[0].job+t.begins(legs, begun))
	}
	if way == undisturbed && d > together {
		v.breaks("apart: the legs of %s have begun within %v", legs[0].job, d)
	}
}

// begins says of legs how long after their starts their managers began them, which they know to
// the second, and their work.
func (t *truth) begins(legs []*claim, begun map[string]time.Time) (text string) {
	for _, x := range legs {
		start := time.UnixMilli(int64(x.window.Start))
		for _, j := range t.over {
			if j.name == x.name && !j.start.IsZero() {
				text += fmt.Sprintf("; %s: its manager after %v, its work after %v", x.site, j.start.Sub(start), begun[x.name].Sub(start))
			}
		}
	}
	return text
}

// money: what a broker has paid is what its sites have earned.
func (v *verdictOf) money(c *claims) {
	var paid, earned grid.Credits
	for _, x := range c.legs {
		p := x.paid - x.back - x.penalty
		if p != x.earned {
			v.breaks("money: %v has cost its broker %v and brought %s %v", x.id, p, x.site, x.earned)
		}
		paid, earned = paid+p, earned+x.earned
	}
	if paid != earned {
		v.breaks("money: brokers have paid %v, sites have earned %v", paid, earned)
	}
}

// unmapped: of a user without an account nothing comes to a manager, and nothing is paid.
func (v *verdictOf) unmapped(t *truth, c *claims) {
	for _, user := range c.users {
		if user == unmapped {
			v.counts["jobs of a user without an account"]++
		}
	}
	for name, x := range c.legs {
		if c.users[x.job] != unmapped {
			continue
		}
		if s := t.sights[name]; s != nil {
			v.breaks("no account: %v of %s was in %s", x.id, x.job, s.cluster)
		}
		if x.committed || x.paid > 0 {
			v.breaks("no account: %v of %s is committed, and %v paid", x.id, x.job, x.paid)
		}
	}
	for _, m := range t.marks {
		if c.users[m.job] == unmapped {
			v.breaks("no account: %s of %s has run at %s as %s", m.name, m.job, m.site, m.account)
		}
	}
}

// String is a line a figure.
func (v *verdictOf) String() string {
	var b strings.Builder
	names := make([]string, 0, len(v.counts))
	for n := range v.counts {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		fmt.Fprintf(&b, "%6d %s\n", v.counts[n], n)
	}
	fmt.Fprintln(&b, "how far apart the legs of a window began, their offsets taken off:")
	for way, what := range [ways]string{"in whose way nothing was", "whose clusters nobody touched from 5 s before", "with a cluster upset"} {
		fmt.Fprintf(&b, "%6d windows %s%s\n", len(v.spread[way]), what, percentiles(v.spread[way]))
	}
	for _, s := range v.slow {
		fmt.Fprintf(&b, "       slowly: %s\n", s)
	}
	return b.String()
}

// percentiles are of durations, as words; none of none.
func percentiles(list []time.Duration) string {
	n := len(list)
	if n == 0 {
		return ""
	}
	list = slices.Sorted(slices.Values(list))
	return fmt.Sprintf(": half within %v, 90 %% within %v, 99 %% within %v, all within %v", list[(n+1)/2-1], list[(n*90+99)/100-1], list[(n*99+99)/100-1], list[n-1])
}

package search

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// refusal says why q found nothing in the list as it is.
func (f *Finder) refusal(q *query, a Algorithm) grid.Reason {
	if q.pieces != nil {
		return f.refuseTeam(q, a)
	}
	if q.suit == nil || !q.suit.holds(q) {
		if r := f.list.unsuited(q); r.Refused() {
			return r
		}
	}
	free := *q // q with neither price nor budget
	free.sums, free.limit = byCost, grid.MaxCredits
	if a.CapsPrice() {
		free.sums = byPrice
	}
	free.fits = nil
	if q.suit != nil {
		free.least = q.suit.least(q.Length)
	}
	if most, known := f.mostFree(&free); known {
		return f.noWindow(q, most)
	}
	if len(f.list.classes) <= maxTable {
		f.spare = free.tabulate(f.list, f.spare[:0])
	}
	least, any := sum{}, false // over all starts: cost of the cheapest window, or the least cap
	f.array = false
	f.best.lift()
	f.hook = func(p *pool, t grid.Time) {
		p.expire(t)
		if p.live > p.most {
			p.most, p.peak = p.live, t
		}
		if p.live < p.need {
			return
		}
		s := sum{}
		if a.CapsPrice() {
			s.lo = uint64(p.dearest())
		} else {
			s = p.least()
		}
		if !any || s.less(least) {
			least, any = s, true
		}
	}
	f.scan(&free, true)
	switch {
	case !any:
		most := 0
		for i := range f.pools {
			most = max(most, f.pools[i].most)
		}
		f.peaked(&free, most, f.pools[0].peak)
		return f.noWindow(q, most)
	case a.CapsPrice():
		return grid.Reason{Code: grid.OverBudget, Detail: fmt.Sprintf(
			"the least price cap with a window is %v credits per node-hour, the job's is %v", grid.Price(least.lo), q.MaxPrice)}
	}
	return grid.Reason{Code: grid.OverBudget, Detail: fmt.Sprintf(
		"the cheapest window costs %v credits, the budget is %v", least.credits(), q.Budget)}
}

// since caches the words for the earliest start.
type since struct {
	from  grid.Time
	words grid.Phrase
}

// said is what the words of a refusal depend on.
type said struct {
	most, nodes    int
	from, deadline grid.Time
}

// mostSaid bounds the cached words. Many jobs of a batch are refused with the same words.
const mostSaid = 1 << 10

// noWindow is the refusal that says how many nodes were free at most.
func (f *Finder) noWindow(q *query, most int) grid.Reason {
	k := said{most, q.Nodes, q.from, q.Deadline}
	words, known := f.said[k]
	if !known {
		words = string(grid.Say("no window: at most %d of %s free at once for long enough%v", most, grid.Count(q.Nodes, "node is", "nodes are"), f.span(q.from, q.Deadline)))
		if f.said == nil || len(f.said) >= mostSaid {
			f.said = map[said]string{}
		}
		f.said[k] = words
	}
	return grid.Reason{Code: grid.NoWindow, Detail: words}
}

// span describes the bounds on a window, if any. The words for the start are cached, as
// most jobs of a batch share it.
func (f *Finder) span(from, deadline grid.Time) (words grid.Phrase) {
	if from > -grid.MaxTime {
		if f.since.words == "" || f.since.from != from {
			f.since.from, f.since.words = from, grid.Say(" from %v on", from)
		}
		words = f.since.words
	}
	if deadline < grid.Never {
		words += grid.Say(", with an end by %v", deadline)
	}
	return words
}

// unsuited returns the reason if no list of these nodes could serve the request, free or
// not.
func (l *List) unsuited(q *query) grid.Reason {
	seen := make([]bool, len(l.groups))
	nodes := make([]int, max(1, l.sites)) // suited nodes, in all or by site
	suited, fastest, lacks := false, grid.Performance(0), ""
	short := -1 // of those that are too short for it, the class of the longest window
	for i := range l.classes {
		c := &l.classes[i]
		if q.barred != nil && q.barred[c.group] {
			continue
		}
		unmet := q.Require.Unmet(l.groups[c.group].Machine)
		if unmet == "" && q.portion {
			_, unmet = q.Portion.On(&l.groups[c.group])
		}
		if unmet != "" {
			lacks = unmet
			continue
		}
		fastest = max(fastest, c.performance)
		if c.performance < q.MinPerformance {
			continue
		}
		if !l.allows(c, q) {
			if short < 0 || l.groups[c.group].Longest > l.groups[l.classes[short].group].Longest {
				short = i
			}
			continue
		}
		suited = true
		if seen[c.group] {
			continue
		}
		seen[c.group] = true
		site, n := int32(0), 1
		if q.OneSite {
			site = c.site
		}
		if l.fungible {
			n = l.groups[c.group].Nodes
		}
		if nodes[site] += n; nodes[site] >= q.Nodes {
			return grid.Reason{}
		}
	}
	most := slices.Max(nodes)
	where, are := "", "are"
	if len(q.Sites)+len(q.Avoid) > 0 {
		where = " at the sites it allows"
		if most == 1 {
			are = "is"
		}
	}
	less := ""
	if short >= 0 {
		less = l.tooShort(&l.classes[short], q)
	}
	switch {
	case !suited && short >= 0:
		return grid.Reason{Code: grid.TooLarge, Detail: less}
	case suited && q.OneSite:
		return grid.Reason{Code: grid.TooLarge, Detail: fmt.Sprintf("asks for %s on one site; no site has more than %d suited%s", grid.Count(q.Nodes, "node"), most, also(less))}
	case suited:
		return grid.Reason{Code: grid.TooLarge, Detail: fmt.Sprintf("asks for %s; %d %s suited%s%s", grid.Count(q.Nodes, "node"), most, are, where, also(less))}
	case fastest > 0:
		return grid.Reason{Code: grid.NoNode, Detail: fmt.Sprintf("no node has performance %v; the fastest that meets the requirements has %v", q.MinPerformance, fastest)}
	case lacks != "":
		return grid.Reason{Code: grid.NoNode, Detail: fmt.Sprintf("no node has what is required (%s)", lacks)}
	}
	return grid.Reason{Code: grid.NoNode, Detail: "there are no nodes" + where}
}

// tooShort says that a request is longer than any group with suited nodes allows; c is of
// the one that allows most.
func (l *List) tooShort(c *class, q *query) string {
	g := &l.groups[c.group]
	return fmt.Sprintf("it takes %s on nodes of %s/%s, which allow no window longer than %s, and no suited nodes allow a longer one",
		c.performance.Runtime(q.Length).Words(), g.Site, g.Name, g.Longest.Words())
}

// also adds words to a reason.
func also(words string) string {
	if words == "" {
		return ""
	}
	return "; of the others, " + words
}

package forecast

import (
	"slices"

	"bourse"
	"bourse/policy/backfill"
)

// Spread is when a job starts in many draws, in order of time.
type Spread []bourse.Time

// Quantile is the start that so many thousandths of the draws do not pass, 1 to
// 1000; 500 is the median. Never: too few of them start at all.
func (s Spread) Quantile(thousandths int) bourse.Time {
	return s[(len(s)*thousandths+999)/1000-1]
}

// Draw is when j starts in n draws, n above 0: in each, every job of the state runs
// for a ratio of its limit, drawn from the history by itself; a running one for a
// ratio that it has not outlived. Where the history has none, jobs run to their
// limits. user names the owner of a running or waiting job by its id; pick draws a
// whole number from 0 to less than its argument, and is called in the same order for
// the same input.
func Draw(s *backfill.State, j Job, h *History, user func(id int64) string, n int, pick func(int) int) Spread {
	from := h.sorted()
	running, queued := make([][]Ratio, len(s.Running)), make([][]Ratio, len(s.Queue))
	for i, r := range s.Running {
		running[i] = from.beyond(user(r.ID), r.End.Sub(r.Start), s.Now.Sub(r.Start))
	}
	for i, q := range s.Queue {
		queued[i] = from.beyond(user(q.ID), q.Estimate, 0)
	}
	ends, runs := limits(s)
	spread := make(Spread, n)
	for k := range spread {
		for i, r := range s.Running {
			if c := running[i]; len(c) > 0 {
				ends[i] = max(s.Now+1, r.Start.Add(c[pick(len(c))].Of(r.End.Sub(r.Start))))
			}
		}
		for i, q := range s.Queue {
			if c := queued[i]; len(c) > 0 {
				runs[i] = c[pick(len(c))].Of(q.Estimate)
			}
		}
		spread[k] = Start(s, j, ends, runs)
	}
	slices.Sort(spread)
	return spread
}

// sorted is a history whose ratios are in order, as far as they have been asked for.
type sorted struct {
	of      *History
	users   map[string][]Ratio
	classes [len(classes) + 1][]Ratio
	all     []Ratio
}

func (h *History) sorted() *sorted {
	return &sorted{of: h, users: make(map[string][]Ratio)}
}

// beyond is the ratios that a job's own is drawn from: of the first level that has
// enough of them beyond what it has run already, or else of the last that has any.
func (s *sorted) beyond(user string, limit, elapsed bourse.Duration) []Ratio {
	mine, ok := s.users[user]
	if !ok {
		if r := s.of.users[user]; r != nil {
			mine = slices.Sorted(slices.Values(r.list))
		}
		s.users[user] = mine
	}
	k := class(limit)
	if s.classes[k] == nil {
		s.classes[k] = slices.Sorted(slices.Values(s.of.classes[k].list))
	}
	if s.all == nil {
		s.all = slices.Sorted(slices.Values(s.of.all.list))
	}
	least := Ratio(0)
	if elapsed > 0 {
		least = RatioOf(elapsed, limit)
	}
	var found []Ratio
	for _, level := range [...][]Ratio{mine, s.classes[k], s.all} {
		i, _ := slices.BinarySearch(level, least+1)
		if level = level[i:]; len(level) >= Enough {
			return level
		}
		if len(level) > 0 {
			found = level
		}
	}
	return found
}

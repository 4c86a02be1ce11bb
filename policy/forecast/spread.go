package forecast

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Spread is when a job starts in many draws, in order of time.
type Spread []grid.Time

// Quantile is a quantile of the starts, in thousandths from 1 to 1000; 500 is the median.
// Never: too few of the draws start at all.
func (s Spread) Quantile(thousandths int) grid.Time {
	return s[(len(s)*thousandths+999)/1000-1]
}

// places is how many places a user may have among the ratios of a draw.
const places = 1_000_000

// Draw returns when j starts in each of n draws, n above 0. In a draw every job of the
// state runs for a ratio of its limit that is drawn from the history; for a running job
// it is a ratio that the job has not outlived. The jobs that one user has in a queue are
// mostly alike. So in a draw they all take the same place, high or low, among the ratios
// that they are drawn from. If the history has no ratios, jobs run to their limits.
//
// owner returns the user of a running or waiting job by its id, "" if it is not known. A
// job that is not scaled runs to its limit. pick draws a whole number from 0 to less than
// its argument, and is called in the same order for the same input.
func Draw(s *backfill.State, j Job, h *History, owner func(id int64) (user string, scaled bool), n int, pick func(int) int) Spread {
	d := newDrawing(s, h, owner)
	spread := make(Spread, n)
	for k := range spread {
		d.draw(pick)
		spread[k] = Start(s, j, d.ends, d.runs)
	}
	slices.Sort(spread)
	return spread
}

// drawing holds one draw of how long the jobs of a state take, and what it is drawn from.
type drawing struct {
	state           *backfill.State
	running, queued []drawn
	users           []int // the places of this draw
	ends            []grid.Time
	runs            []grid.Duration
}

// drawn is what a job's run time is drawn from.
type drawn struct {
	ratios []Ratio // empty: it runs to its limit
	user   int     // index into users; own: it has a place of its own
}

const own = -1

func newDrawing(s *backfill.State, h *History, owner func(int64) (string, bool)) *drawing {
	d := &drawing{state: s}
	d.ends, d.runs = limits(s)
	from, index := h.sorted(), make(map[string]int)
	job := func(id int64, limit, elapsed grid.Duration) drawn {
		user, scaled := owner(id)
		if !scaled {
			return drawn{}
		}
		k, ok := index[user]
		switch {
		case user == "":
			k = own
		case !ok:
			k = len(index)
			index[user] = k
		}
		return drawn{from.beyond(user, limit, elapsed), k}
	}
	for _, r := range s.Running {
		d.running = append(d.running, job(r.ID, r.End.Sub(r.Start), s.Now.Sub(r.Start)))
	}
	for _, q := range s.Queue {
		d.queued = append(d.queued, job(q.ID, q.Estimate, 0))
	}
	d.users = make([]int, len(index))
	return d
}

// draw fills in when running jobs end, and how long waiting jobs run.
func (d *drawing) draw(pick func(int) int) {
	for u := range d.users {
		d.users[u] = pick(places)
	}
	ratio := func(x drawn) Ratio {
		if x.user == own {
			return x.ratios[pick(len(x.ratios))]
		}
		return x.ratios[d.users[x.user]*len(x.ratios)/places]
	}
	for i, r := range d.state.Running {
		if x := d.running[i]; len(x.ratios) > 0 {
			d.ends[i] = max(d.state.Now+1, r.Start.Add(ratio(x).Of(r.End.Sub(r.Start))))
		}
	}
	for i, q := range d.state.Queue {
		if x := d.queued[i]; len(x.ratios) > 0 {
			d.runs[i] = ratio(x).Of(q.Estimate)
		}
	}
}

// sorted is a history whose ratios are sorted when they are first asked for.
type sorted struct {
	of      *History
	users   map[string][]Ratio
	classes [len(classes) + 1][]Ratio
	all     []Ratio
}

func (h *History) sorted() *sorted {
	return &sorted{of: h, users: make(map[string][]Ratio)}
}

// beyond returns the ratios that a job's ratio is drawn from, all beyond what it has run
// already: those of the first level that has Enough, otherwise of the last that has any.
func (s *sorted) beyond(user string, limit, elapsed grid.Duration) []Ratio {
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

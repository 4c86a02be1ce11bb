package forecast

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Submissions are the jobs submitted in the last days, as a record of what may come again. The
// zero Submissions are empty. They keep MostDays of jobs.
type Submissions struct {
	list   []Submission // by submit
	places map[int64]int
	before int // jobs that are no longer kept
	first  grid.Time
	any    bool
}

// Submission is a job that was submitted.
type Submission struct {
	id     int64
	Submit grid.Time
	Nodes  int
	Limit  grid.Duration
	Run    grid.Duration // 0: it has not ended
}

// MostDays is how many days of submissions come again at most.
const MostDays = 14

// ahead is how long submissions come again: where a policy lets small jobs overtake without
// end, a draw would have none.
const ahead = 60 * grid.Day

// Add records a submission, in order of submit.
func (s *Submissions) Add(id int64, submit grid.Time, nodes int, limit grid.Duration) {
	if !s.any {
		s.first, s.any, s.places = submit, true, make(map[int64]int)
	}
	old := 0
	for old < len(s.list) && s.list[old].Submit <= submit.Add(-MostDays*grid.Day) {
		old++
	}
	if old > len(s.list)/2 { // O(1) for each job
		for _, x := range s.list[:old] {
			delete(s.places, x.id)
		}
		s.list, s.before = slices.Delete(s.list, 0, old), s.before+old
	}
	s.places[id] = s.before + len(s.list)
	s.list = append(s.list, Submission{id: id, Submit: submit, Nodes: nodes, Limit: limit})
}

// Ended tells how long a job ran.
func (s *Submissions) Ended(id int64, run grid.Duration) {
	if at, kept := s.places[id]; kept {
		x := &s.list[at-s.before]
		x.Run = max(1, min(run, x.Limit))
	}
}

// Days is how many days of submissions may come again from now on; 0: the record is too young.
func (s *Submissions) Days(now grid.Time) int {
	if s == nil || !s.any {
		return 0
	}
	return int(min(MostDays, now.Sub(s.first)/grid.Day))
}

// Arrivals are the submissions that come again in one draw; nil: none.
type Arrivals struct {
	list   []Submission
	at     int
	by     grid.Duration // how much later the round comes
	period grid.Duration
	until  grid.Time
	runs   *Runs
	random Random
}

// arrivals draws how many days come again, round by round; nil: none.
func (s *Submissions) arrivals(now grid.Time, runs *Runs, r Random) *Arrivals {
	days := s.Days(now)
	if days == 0 {
		return nil
	}
	period := grid.Duration(1+r.IntN(days)) * grid.Day
	from, _ := slices.BinarySearchFunc(s.list, now.Add(-period)+1, func(x Submission, t grid.Time) int { return int(x.Submit - t) })
	if from == len(s.list) {
		return nil
	}
	return &Arrivals{list: s.list[from:], by: period, period: period, until: now.Add(ahead), runs: runs, random: r}
}

// Take returns the next arrival: its instant, its nodes and limit, and how long it runs; false: there
// is none. Arrivals come in the order of their instants.
func (a *Arrivals) Take() (at grid.Time, x *Submission, run grid.Duration, more bool) {
	if a == nil {
		return 0, nil, 0, false
	}
	if at, x = a.next(); at == grid.Never {
		return 0, nil, 0, false
	}
	a.advance()
	return at, x, a.run(x), true
}

// next returns the next arrival and its instant; Never: there is none.
func (a *Arrivals) next() (grid.Time, *Submission) {
	x := &a.list[a.at]
	at := x.Submit.Add(a.by)
	if at > a.until {
		return grid.Never, nil
	}
	return at, x
}

// advance goes on to the arrival after the next.
func (a *Arrivals) advance() {
	if a.at++; a.at == len(a.list) {
		a.at, a.by = 0, a.by+a.period
	}
}

// run is how long a job runs that comes again: as long as it did, or else a ratio of any job's.
func (a *Arrivals) run(x *Submission) grid.Duration {
	all := a.runs.all.sorted
	switch {
	case x.Run > 0:
		return x.Run
	case len(all) == 0:
		return x.Limit
	}
	return all[a.random.IntN(len(all))].Of(x.Limit)
}

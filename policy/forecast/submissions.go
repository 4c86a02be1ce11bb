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
	unseen []span // in order, none older than MostDays
}

// span is a time from an instant until another.
type span struct{ from, to grid.Time }

// mostUnseen is for how much of a day nobody may have looked for it to count as a day of
// submissions: a twenty-fourth of them may be missing.
const mostUnseen = grid.Hour

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

// Unseen tells that nobody knows what was submitted from an instant until another, after those that
// were told before. Times that follow each other are one.
func (s *Submissions) Unseen(from, to grid.Time) {
	if n := len(s.unseen); n > 0 && from <= s.unseen[n-1].to {
		last := &s.unseen[n-1]
		last.to = max(last.to, to)
		return
	}
	if to <= from {
		return
	}
	old := slices.IndexFunc(s.unseen, func(u span) bool { return u.to > to.Add(-MostDays*grid.Day) })
	if old < 0 {
		old = len(s.unseen)
	}
	s.unseen = append(slices.Delete(s.unseen, 0, old), span{from, to})
}

// Days is how many days of submissions may come again from now on; 0: the record is too young. A day
// in which nobody looked for more than an hour is none.
func (s *Submissions) Days(now grid.Time) int { return len(s.days(now, MostDays)) }

// days are the last days in which somebody looked, n at most: how many days ago each began, the last
// first.
func (s *Submissions) days(now grid.Time, n int) (ago []int) {
	if s == nil || !s.any {
		return nil
	}
	for k := 1; k <= MostDays && len(ago) < n; k++ {
		day := span{now.Add(-grid.Duration(k) * grid.Day), now.Add(-grid.Duration(k-1) * grid.Day)}
		if day.from < s.first {
			break
		}
		var missed grid.Duration
		for _, u := range s.unseen {
			missed += max(0, min(u.to, day.to).Sub(max(u.from, day.from)))
		}
		if missed <= mostUnseen {
			ago = append(ago, k)
		}
	}
	return ago
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
	n := 1 + r.IntN(days)
	list := s.lastDays(now, n)
	if len(list) == 0 {
		return nil
	}
	period := grid.Duration(n) * grid.Day
	return &Arrivals{list: list, by: period, period: period, until: now.Add(ahead), runs: runs, random: r}
}

// lastDays are the submissions of the last n days in which somebody looked, as if these were the last
// n days.
func (s *Submissions) lastDays(now grid.Time, n int) []Submission {
	ago := s.days(now, n)
	if ago[n-1] == n { // they are
		return s.between(now.Add(-grid.Duration(n)*grid.Day), now)
	}
	var list []Submission
	for i, k := range slices.Backward(ago) {
		day := s.between(now.Add(-grid.Duration(k)*grid.Day), now.Add(-grid.Duration(k-1)*grid.Day))
		for _, x := range day {
			x.Submit = x.Submit.Add(grid.Duration(k-1-i) * grid.Day)
			list = append(list, x)
		}
	}
	return list
}

// between are the submissions after an instant until another.
func (s *Submissions) between(after, until grid.Time) []Submission {
	place := func(t grid.Time) int {
		i, _ := slices.BinarySearchFunc(s.list, t+1, func(x Submission, t grid.Time) int { return int(x.Submit - t) })
		return i
	}
	return s.list[place(after):place(until)]
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

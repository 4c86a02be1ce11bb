package forecast

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// What an oracle has learned, as it outlives its process: nothing that is promised or paid depends
// on it. Instants and durations are in milliseconds.

// Bounds of what is kept. Of more the last are.
const (
	keptRuns        = 5000   // jobs that have ended
	keptSubmissions = 20_000 // submissions
	keptOpen        = 1000   // forecasts whose starts are awaited
)

// ended is a job that has ended.
type ended struct {
	user       string
	nodes      int
	limit, run grid.Duration
}

// learn takes in how long a job ran.
func (o *Oracle) learn(user string, nodes int, limit, run grid.Duration) {
	if limit <= 0 || run <= 0 {
		return
	}
	o.of.Runs.Add(user, nodes, limit, run)
	o.remember(user, nodes, limit, run)
}

// remember keeps what Save needs of a job that has ended.
func (o *Oracle) remember(user string, nodes int, limit, run grid.Duration) {
	if len(o.ended) >= 2*keptRuns { // O(1) for each job
		o.ended = slices.Clone(lastOf(o.ended, keptRuns-1))
	}
	o.ended = append(o.ended, ended{user, nodes, limit, run})
}

// learned is all of an oracle.
type learned struct {
	Asked uint64      `json:"asked"`
	Ended []savedRun  `json:"ended"`
	First int64       `json:"first"` // submission, or the first that is kept
	Came  []savedCame `json:"came"`
	// Unseen are the times in which nobody looked, from and to.
	Unseen [][2]int64   `json:"unseen,omitempty"`
	There  []savedThere `json:"there"`

	Said    int                     `json:"said"`
	Tails   [len(Levels)][2]float64 `json:"tails"`
	Classes [Far][]savedScore       `json:"classes"`
	All     []savedScore            `json:"all"`
	Held    [len(Levels)][Far]Held  `json:"held"`
	Open    []savedForecast         `json:"open"`
}

type savedRun struct {
	User  string `json:"user,omitempty"`
	Nodes int    `json:"nodes"`
	Limit int64  `json:"limit"`
	Run   int64  `json:"run"`
}

type savedCame struct {
	ID     int64 `json:"id"`
	Submit int64 `json:"submit"`
	Nodes  int   `json:"nodes"`
	Limit  int64 `json:"limit"`
	Run    int64 `json:"run,omitempty"`
}

type savedThere struct {
	ID    int64  `json:"id"`
	User  string `json:"user,omitempty"`
	Nodes int    `json:"nodes"`
	Limit int64  `json:"limit"`
	Start int64  `json:"start,omitempty"`
}

type savedScore struct {
	Seq   int     `json:"seq"`
	Score float64 `json:"score"`
}

type savedForecast struct {
	ID     int64             `json:"id"`
	Seq    int               `json:"seq"`
	Submit int64             `json:"submit"`
	Start  int64             `json:"start,omitempty"` // 0: not known
	Class  Class             `json:"class"`
	Draws  []float64         `json:"draws"` // -1: it does not start
	Bands  [len(Levels)]Band `json:"bands"`
	Judged [len(Levels)]bool `json:"judged"`
}

// Save returns all that the oracle has learned, up to the bounds, and of jobs that have not ended all:
// what it returns makes a text of a copy, at any time, beside whatever the oracle is told since. The
// copy takes a millisecond or two, the text a hundred times as long.
func (o *Oracle) Save() (text func() []byte) {
	c := &o.of.Calibrator
	all := &learned{Asked: o.asked, Said: c.said, Held: c.held, All: c.all.saved()}
	for _, x := range lastOf(o.ended, keptRuns) {
		all.Ended = append(all.Ended, savedRun{x.user, x.nodes, int64(x.limit), int64(x.run)})
	}
	all.First, all.Came = o.of.Submissions.saved()
	for _, u := range o.of.Submissions.unseen {
		all.Unseen = append(all.Unseen, [2]int64{int64(u.from), int64(u.to)})
	}
	for id, k := range o.of.jobs {
		all.There = append(all.There, savedThere{id, k.user, k.nodes, int64(k.limit), int64(k.start)})
	}
	for i, t := range c.tails {
		all.Tails[i] = [2]float64{t.low, t.high}
	}
	for i := range c.classes {
		all.Classes[i] = c.classes[i].saved()
	}
	for _, s := range lastOf(c.open, keptOpen) {
		all.Open = append(all.Open, s.saved())
	}
	return all.text
}

func (l *learned) text() []byte {
	slices.SortFunc(l.There, func(a, b savedThere) int { return cmp.Compare(a.ID, b.ID) })
	text, err := json.Marshal(l)
	if err != nil {
		panic("policy/forecast: " + err.Error()) // it is plain values, all finite
	}
	return text
}

// lastOf are the last elements of a list, at most n.
func lastOf[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

// Load goes on with what another oracle had learned. After an error it has seen nothing.
func (o *Oracle) Load(text []byte) error {
	var all learned
	err := json.Unmarshal(text, &all)
	if err == nil {
		err = all.check()
	}
	if err != nil {
		*o = Oracle{random: o.random, draws: o.draws}
		return err
	}
	o.asked, o.ended, o.of = all.Asked, nil, Forecaster{jobs: map[int64]known{}}
	for _, x := range all.Ended {
		o.learn(x.User, x.Nodes, grid.Duration(x.Limit), grid.Duration(x.Run))
	}
	s := &o.of.Submissions
	for _, x := range all.Came {
		s.Add(x.ID, grid.Time(x.Submit), x.Nodes, grid.Duration(x.Limit))
		if x.Run > 0 {
			s.Ended(x.ID, grid.Duration(x.Run))
		}
	}
	if s.any {
		s.first = grid.Time(all.First)
	}
	for _, u := range all.Unseen {
		s.Unseen(grid.Time(u[0]), grid.Time(u[1]))
	}
	for _, x := range all.There {
		o.of.jobs[x.ID] = known{user: x.User, nodes: x.Nodes, limit: grid.Duration(x.Limit), start: grid.Time(x.Start)}
	}
	c := &o.of.Calibrator
	c.said, c.held = all.Said, all.Held
	for i, t := range all.Tails {
		c.tails[i] = tails{t[0], t[1]}
	}
	for i := range all.Classes {
		c.classes[i].load(all.Classes[i])
	}
	c.all.load(all.All)
	for i := range all.Open {
		c.open = append(c.open, all.Open[i].said())
	}
	return nil
}

// check returns an error for what no oracle has learned.
func (l *learned) check() error {
	for level, t := range l.Tails {
		if a := outside(level); !(a/10-a <= t[0] && t[0] <= a/2 && a/10-a <= t[1] && t[1] <= a/2) {
			return fmt.Errorf("the levels have moved by %v", t)
		}
	}
	for _, list := range append(slices.Clone(l.Classes[:]), l.All) {
		if len(list) > Scored || !slices.IsSortedFunc(list, func(a, b savedScore) int { return cmp.Compare(a.Seq, b.Seq) }) {
			return errors.New("the scores are not the last ones, in order")
		}
		if i := slices.IndexFunc(list, func(x savedScore) bool { return x.Seq < 0 || x.Seq >= l.Said }); i >= 0 {
			return fmt.Errorf("score %d of %d forecasts", list[i].Seq, l.Said)
		}
	}
	for i := range l.Ended {
		if x := &l.Ended[i]; x.Limit <= 0 || x.Run <= 0 {
			return fmt.Errorf("a job that ran for %d ms of %d", x.Run, x.Limit)
		}
	}
	for i := range l.Came {
		if x := &l.Came[i]; x.Nodes <= 0 || x.Limit <= 0 || x.Run < 0 || i > 0 && x.Submit < l.Came[i-1].Submit {
			return fmt.Errorf("submission %d makes no sense", x.ID)
		}
	}
	for i, u := range l.Unseen {
		if u[0] > u[1] || i > 0 && u[0] < l.Unseen[i-1][1] {
			return errors.New("the times in which nobody looked are in no order")
		}
	}
	if len(l.Came) > 0 && l.First > l.Came[0].Submit {
		return errors.New("submissions before the first")
	}
	for i := range l.Open {
		if !l.Open[i].sound() {
			return fmt.Errorf("the forecast of job %d makes no sense", l.Open[i].ID)
		}
	}
	return nil
}

// sound reports whether it may have been said.
func (f *savedForecast) sound() bool {
	for _, b := range f.Bands {
		if !(0 <= b.Lower && b.Lower <= b.Median && b.Median <= b.Upper) {
			return false
		}
	}
	return 0 <= f.Class && f.Class < Far && len(f.Draws) > 0 && !slices.ContainsFunc(f.Draws, func(d float64) bool { return d < 0 && d != never }) &&
		slices.IsSorted(f.draws())
}

// never stands for the wait of a job that does not start.
const never = -1

func (f *savedForecast) draws() Draws {
	list := make(Draws, len(f.Draws))
	for i, d := range f.Draws {
		if list[i] = d; d == never {
			list[i] = math.Inf(1)
		}
	}
	return list
}

func (f *savedForecast) said() *Said {
	s := &Said{ID: f.ID, Submit: grid.Time(f.Submit), Draws: f.draws(), Class: f.Class, Bands: f.Bands, Start: grid.Never, seq: f.Seq, judged: f.Judged}
	for i := range s.Bands {
		s.Bands[i] = Band{endless(f.Bands[i].Median), endless(f.Bands[i].Lower), endless(f.Bands[i].Upper)}
	}
	if f.Start > 0 {
		s.Start = grid.Time(f.Start)
	}
	return s
}

func (s *Said) saved() savedForecast {
	f := savedForecast{ID: s.ID, Seq: s.seq, Submit: int64(s.Submit), Class: s.Class, Judged: s.judged}
	if s.Start < grid.Never {
		f.Start = int64(s.Start)
	}
	for _, d := range s.Draws {
		if math.IsInf(d, 1) {
			d = never
		}
		f.Draws = append(f.Draws, d)
	}
	for i, b := range s.Bands {
		f.Bands[i] = Band{finite(b.Median), finite(b.Lower), finite(b.Upper)}
	}
	return f
}

// finite is a wait as JSON has it, and endless what was meant.
func finite(wait float64) float64 { return min(wait, math.MaxFloat64) }

func endless(wait float64) float64 {
	if wait == math.MaxFloat64 {
		return math.Inf(1)
	}
	return wait
}

func (s *scores) saved() (list []savedScore) {
	for _, x := range s.list {
		list = append(list, savedScore{x.seq, x.score})
	}
	return list
}

func (s *scores) load(list []savedScore) {
	for _, x := range list {
		s.add(x.Seq, x.Score)
	}
}

func (s *Submissions) saved() (first int64, list []savedCame) {
	kept := lastOf(s.list, keptSubmissions)
	if first = int64(s.first); len(kept) < len(s.list) {
		first = int64(kept[0].Submit)
	}
	for i := range kept {
		x := &kept[i]
		list = append(list, savedCame{x.id, int64(x.Submit), x.Nodes, int64(x.Limit), int64(x.Run)})
	}
	return first, list
}

package sla

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// naive is the twin that the schedule is tested against: straight from the
// pseudo-code, on an array of free nodes per instant, made anew for every look.
type naive struct {
	opt     Options
	now     grid.Time
	arrival int
	running []twin
	waiting []twin
}

type twin struct {
	id         int64
	z          Size
	sub        grid.Time
	ready, due grid.Time
	start      grid.Time
	price      grid.Credits
	arrival    int
	fix        int
}

func (j twin) end() grid.Time { return j.start.Add(j.z.Runtime) }

const naiveSpan = 600

func (v *naive) profile(jobs ...[]twin) []int {
	free := make([]int, naiveSpan)
	for t := range free {
		free[t] = v.opt.Nodes
	}
	for _, list := range jobs {
		for _, j := range list {
			for t := max(j.start, v.now); t < j.end(); t++ {
				free[t] -= j.z.Nodes
			}
		}
	}
	return free
}

func (v *naive) firstFit(free []int, j twin) (grid.Time, bool) {
	for start := max(j.ready, v.now); start <= j.due.Add(-j.z.Runtime); start++ {
		if !slices.ContainsFunc(free[start:start.Add(j.z.Runtime)], func(n int) bool { return n < j.z.Nodes }) {
			return start, true
		}
	}
	return 0, false
}

func (v *naive) less(a, b twin) int {
	key := func(j twin) float64 {
		switch v.opt.Order {
		case EDF:
			return float64(j.due)
		case LFF:
			return float64(j.due - max(j.ready, v.now) - grid.Time(j.z.Runtime))
		case BJF:
			return -float64(j.z.Nodes) * float64(j.z.Runtime)
		case Revenue: // in whole micro-credits per node-hour, as promised
			return -float64(int64(j.price) * int64(grid.Hour) / (int64(j.z.Nodes) * int64(j.z.Runtime)))
		}
		return 0
	}
	return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.arrival, b.arrival))
}

// try is the pseudo-code. It returns the line with the slots that all have in
// the end, and where the new one stands in it.
func (v *naive) try(j twin) (line []twin, k int, ok bool) {
	line = append(slices.Clone(v.waiting), j)
	slices.SortStableFunc(line, v.less)
	isNew := func(o twin) bool { return o.id == j.id }
	k = slices.IndexFunc(line, isNew)
	for rounds := 0; ; rounds++ {
		if rounds > len(line) {
			panic("the trial does not end")
		}
		tried := slices.Clone(line)
		f := len(line)
		for i := k; i < len(line); i++ {
			start, fits := v.firstFit(v.profile(v.running, tried[:i]), tried[i])
			if !fits {
				f = i
				break
			}
			tried[i].start = start
		}
		switch f {
		case len(line):
			return tried, k, true
		case k:
			return line, k, false
		}
		line[k], line[f] = line[f], line[k]
		k = f
	}
}

func (v *naive) cost(z Size, ready, due grid.Time) grid.Credits {
	return v.opt.Shares.Price(v.opt.Price, z.Nodes, z.Runtime, due.Sub(max(ready, v.now))-z.Runtime)
}

func (v *naive) submit(a SLA) bool {
	sizes := slices.Clone(a.Sizes)
	slices.SortStableFunc(sizes, func(x, y Size) int {
		return cmp.Compare(int64(x.Nodes)*int64(x.Runtime), int64(y.Nodes)*int64(y.Runtime))
	})
	for _, z := range sizes {
		j := twin{id: a.ID, z: z, sub: a.Submit, ready: a.Ready, due: a.Deadline, arrival: v.arrival, fix: a.Fix, price: v.cost(z, a.Ready, a.Deadline)}
		if z.Nodes > v.opt.Nodes || j.price > a.Budget {
			continue
		}
		if line, _, ok := v.try(j); ok {
			v.waiting = line
			v.arrival++
			v.close()
			return true
		}
	}
	return false
}

// close closes the windows whose share of the wait is over.
func (v *naive) close() {
	for i := range v.waiting {
		j := &v.waiting[i]
		if j.fix != NeverFix && int64(v.now-j.sub)*1000 >= int64(j.fix)*int64(j.start-j.sub) {
			j.ready, j.due, j.fix = j.start, j.end(), NeverFix
		}
	}
}

func (v *naive) advance(to grid.Time) {
	for ; ; v.now++ {
		v.close()
		v.running = slices.DeleteFunc(v.running, func(j twin) bool { return j.end() <= v.now })
		v.waiting = slices.DeleteFunc(v.waiting, func(j twin) bool {
			if j.start <= v.now {
				v.running = append(v.running, j)
				return true
			}
			return false
		})
		if v.now == to {
			return
		}
	}
}

func (v *naive) end(id int64) {
	is := func(j twin) bool { return j.id == id }
	v.running = slices.DeleteFunc(v.running, is)
	v.waiting = slices.DeleteFunc(v.waiting, is)
	if !v.opt.Replan {
		return
	}
	line := slices.Clone(v.waiting)
	slices.SortStableFunc(line, v.less)
	for i := range line {
		start, ok := v.firstFit(v.profile(v.running, line[:i]), line[i])
		if !ok {
			return
		}
		line[i].start = start
	}
	v.waiting = line
	v.close()
}

// alternatives are the starts of the options that work, nearest first.
func (v *naive) alternatives(a SLA) (starts []grid.Time) {
	z := a.Sizes[0]
	j := twin{id: a.ID, z: z, sub: a.Submit, ready: a.Ready, due: a.Deadline, arrival: v.arrival, price: v.cost(z, a.Ready, a.Deadline)}
	if j.due.Add(-z.Runtime) < max(j.ready, v.now) {
		return nil
	}
	line, k, ok := v.try(j)
	if ok {
		return nil
	}
	away := func(s grid.Time) grid.Duration {
		if s < j.ready {
			return j.ready.Sub(s)
		}
		return s.Add(z.Runtime).Sub(j.due)
	}
	var options []grid.Time
	for _, o := range slices.Concat(v.running, line[:k]) {
		if o.end() <= j.ready || o.start >= j.due {
			continue
		}
		for _, s := range []grid.Time{o.start.Add(-z.Runtime), o.end(), o.due} {
			inside := s >= j.ready && s.Add(z.Runtime) <= j.due
			if a.Earlier && s > j.ready {
				continue
			}
			if s >= v.now && !inside && int64(away(s))*1000 <= int64(z.Runtime)*int64(min(a.Threshold, v.opt.MaxPhi)) {
				options = append(options, s)
			}
		}
	}
	slices.SortFunc(options, func(x, y grid.Time) int { return cmp.Or(cmp.Compare(away(x), away(y)), cmp.Compare(x, y)) })
	for _, s := range slices.Compact(options) {
		rigid := j
		rigid.ready, rigid.due, rigid.price = s, s.Add(z.Runtime), v.cost(z, s, s.Add(z.Runtime))
		if _, _, ok := v.try(rigid); ok {
			starts = append(starts, s)
		}
	}
	return starts
}

// drawSLA is a small submission, times in milliseconds.
func drawSLA(t *rapid.T, id int64, now grid.Time) SLA {
	te := grid.Duration(rapid.IntRange(1, 12).Draw(t, "te"))
	ready := now.Add(grid.Duration(rapid.IntRange(-3, 30).Draw(t, "ready")))
	slack := 0
	if rapid.Bool().Draw(t, "loose") {
		slack = rapid.IntRange(0, 30).Draw(t, "slack")
	}
	n := rapid.IntRange(1, 5).Draw(t, "nodes")
	a := Flexible(id, now, Size{n, te}, ready, ready.Add(te+grid.Duration(slack)))
	if n > 1 && rapid.IntRange(0, 3).Draw(t, "moldable") == 0 {
		a.Sizes = []Size{{1, te + grid.Duration(slack)/2}, {n, te}}
	}
	a.Fix = rapid.SampledFrom([]int{NeverFix, NeverFix, 0, 250, 1000}).Draw(t, "fix")
	a.Earlier = rapid.IntRange(0, 3).Draw(t, "earlier") == 0
	a.Threshold = rapid.SampledFrom([]int{0, 250, 1000, 5000}).Draw(t, "threshold")
	return a
}

func drawOptions(t *rapid.T) Options {
	return Options{
		Nodes: 4, Order: rapid.SampledFrom([]Order{EDF, FIFO, LFF, BJF, Revenue}).Draw(t, "order"),
		Replan: rapid.Bool().Draw(t, "replan"), Price: 3_600_000 * 1_000, MaxPhi: 3000, Waiting: 1000,
		Shares: pricing.DefaultFlexibility,
	}
}

func TestSchedule_EqualsThePseudoCode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		opt := drawOptions(t)
		s, err := New(opt, 0)
		if err != nil {
			t.Fatal(err)
		}
		v := &naive{opt: opt}
		for id := int64(1); id <= 40; id++ {
			switch {
			case rapid.IntRange(0, 3).Draw(t, "step") == 0:
				now := s.now.Add(grid.Duration(rapid.IntRange(0, 9).Draw(t, "by")))
				s.Advance(now)
				v.advance(now)
			case len(s.jobs) > 0 && rapid.IntRange(0, 4).Draw(t, "leave") == 0:
				list := s.Promises()
				gone := list[rapid.IntRange(0, len(list)-1).Draw(t, "who")].SLA.ID
				s.Cancel(gone)
				v.end(gone)
			}
			a := drawSLA(t, id, s.now)
			if len(a.Sizes) == 1 && a.Sizes[0].Nodes <= opt.Nodes && a.Threshold > 0 {
				compareAlternatives(t, s, v, a)
			}
			p, why := s.Submit(a)
			if ok := v.submit(a); ok == why.Refused() {
				t.Fatalf("%+v: %v %v, the pseudo-code says %v", a, p, why, ok)
			}
			compareTwins(t, s, v)
		}
	})
}

func compareAlternatives(t *rapid.T, s *Schedule, v *naive, a SLA) {
	var starts []grid.Time
	for _, o := range s.Alternatives(a, MaxAlternatives) {
		starts = append(starts, o.Start)
	}
	if want := v.alternatives(a); !slices.Equal(starts, want) {
		t.Fatalf("alternatives of %+v at %v, the pseudo-code finds %v", a, starts, want)
	}
}

func compareTwins(t *rapid.T, s *Schedule, v *naive) {
	if err := s.Audit(); err != nil {
		t.Fatal(err)
	}
	var have, want []string
	for _, p := range s.Promises() {
		have = append(have, fmt.Sprint(p.SLA.ID, p.Size, p.Start, p.Ready, p.Due, p.Price, p.Running))
	}
	for i, list := range [][]twin{v.running, v.waiting} {
		for _, j := range list {
			want = append(want, fmt.Sprint(j.id, j.z, j.start, j.ready, j.due, j.price, i == 0))
		}
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Fatalf("at %v:\n%q\nthe pseudo-code:\n%q", s.now, have, want)
	}
}

package pricing

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/bourse-grid/bourse/grid"
)

// This file, with the bit sets of masks.go and the conservative pass in guarantees.go, is
// the hot path. A query prices some thirty starts, each of which would cost a plan of the
// whole queue. Four observations reduce that to a fraction.
//
// A head's hold never moves once it is placed: later starts only take nodes away, and never
// those of a hold. So a hold is committed like a start, and a plan is a sequence of
// commits, each of which only lowers the profile.
//
// Hence, as long as the reservation still fits into the profile, it has changed no
// decision: what fits beside it also fitted without it, and what did not fit still does
// not. A reservation that fits into the finished profile is free of charge. For any other,
// a binary search finds the last checkpoint with room for it, and the trial resumes there.
//
// A waiting job can begin to fit only where the profile rises or a hold begins, so only
// those instants need a pass. The jobs small and short enough to fit at one of them are
// found in bit sets, a word at a time.
//
// A trial that reaches the same waiting jobs, the same holds and the same profile as the
// plan had at that instant will continue like the plan, so it stops. It also stops if it
// reaches a state of an earlier trial of the list; see paths.go.

// sweep is a plan in the making. All that it knows about the future is in free.
type sweep struct {
	at     grid.Time   // the instant of the pass
	freed  grid.Time   // conservative trial: earliest planned start that some job no longer has
	lo     int         // free[lo].At == at
	free   []grid.Step // Free less all commits; neighbours may be equal
	rem    []uint64    // bit set of positions without a start
	left   int         // their number
	holds  []grid.Time // starts of the holds that have not begun, in order
	key    uint64      // hash of the set of positions with a start
	trial  bool        // with a new reservation: it adds up the harm and sets no marks
	record bool        // also list the delays
	opens  []grid.Time // instants from which on jobs may start that cannot yet, in order
	marked bool        // base only: this pass already has its mark
}

// mark is a checkpoint of the base plan: its state before the first commit of a pass
// (conservative: before some commit of its only pass).
type mark struct {
	at          grid.Time
	free, holds span // in memory
	rem         int  // index in memory of one word for every 64 jobs
	left        int
	key         uint64
	next        int // conservative: number of the next decision
}

type span struct{ from, to int }

// job is what a plan needs of a queued job.
type job struct {
	estimate grid.Duration
	cost     uint64 // weight x nodes
	nodes    int32
}

// memory holds the contents of marks, end to end.
type memory struct {
	steps []grid.Step
	words []uint64
	times []grid.Time
}

// plan makes the base plan of b.state.
func (b *Book) plan() {
	s, w := b.state, &b.base
	b.starts, b.jobs = b.starts[:0], b.jobs[:0]
	for i := range s.Queue {
		q := &s.Queue[i]
		b.starts = append(b.starts, grid.Never)
		b.jobs = append(b.jobs, job{q.Estimate, uint64(q.Weight) * uint64(q.Nodes), int32(q.Nodes)})
	}
	b.marks, b.since = b.marks[:0], 0
	b.memory.forget()
	w.free = append(w.free[:0], s.Free[find(s.Free, s.Now):]...)
	w.free[0].At = s.Now
	w.at, w.lo, w.left, w.holds, w.key = s.Now, 0, len(s.Queue), w.holds[:0], 0
	w.rem = w.rem[:0]
	for n := len(s.Queue); n > 0; n -= 64 {
		word := ^uint64(0)
		if n < 64 {
			word = 1<<n - 1
		}
		w.rem = append(w.rem, word)
	}
	b.masks.made = false
	b.takeTurns()
	b.awaits.begin(b)
	switch {
	case s.Policy.Conservative():
		b.place(w, 0)
	default:
		for again := true; again; {
			w.marked = false
			b.pass(w)
			again = w.left > 0 && w.advance()
		}
	}
}

// replan computes in b.harm the harm of an admissible reservation that does not fit into
// the finished base plan. It stops early and returns false once the harm certainly does not
// exceed b.ceiling; b.harm is then an upper bound.
func (b *Book) replan(s grid.Time, n int, d grid.Duration) (exact bool) {
	e, w := s.Add(d), &b.trial
	m := b.lastWithRoom(s, e, n)
	b.resume(w, &b.marks[m])
	if e > w.at {
		w.take(max(s, w.at), e, n)
	}
	if b.state.Policy.Conservative() {
		b.place(w, b.marks[m].next)
		return true
	}
	if b.masked(w) {
		b.masks.begin(b, w)
	}
	b.ceiling.begin(b, w)
	for {
		b.pass(w)
		if w.left == 0 || !w.advance() {
			return true
		}
		if w.at < e {
			continue
		}
		for m < len(b.marks) && b.marks[m].at < w.at {
			m++
		}
		if m < len(b.marks) && b.marks[m].at == w.at && b.same(w, &b.marks[m]) {
			return true
		}
		if b.paths.on {
			if met, exact := b.paths.meets(w, b); met {
				return exact
			}
		}
		if b.ceiling.due(w) && b.boundedBelow(w) {
			return false
		}
	}
}

// resume makes w a trial that goes on from a mark.
func (b *Book) resume(w *sweep, k *mark) {
	w.trial = true
	w.at, w.lo, w.left, w.key = k.at, 0, k.left, k.key
	w.free = append(w.free[:0], b.steps[k.free.from:k.free.to]...)
	w.rem = append(w.rem[:0], b.words[k.rem:k.rem+len(b.base.rem)]...)
	w.holds = append(w.holds[:0], b.times[k.holds.from:k.holds.to]...)
	b.awaits.follow(b, w)
	b.harm, w.freed = uint128{}, grid.Never
}

// pass serves the queue at w.at. The heads, as many as the policy reserves for, start or
// hold their earliest fit; then all others that fit now start, in queue order or in an order
// of their own.
func (b *Book) pass(w *sweep) {
	s := b.state
	if !s.Policy.Backfills() {
		b.passFCFS(w)
		return
	}
	for pos := 0; w.left > 0 && len(w.holds) < s.Policy.Reserve; {
		if pos = b.head(w, pos); pos < 0 {
			break
		}
		q := &b.jobs[pos]
		at, i := earliest(w.free, w.lo, w.at, int(q.nodes), q.estimate)
		b.commit(w, pos, at, i)
		if at > w.at {
			w.hold(at)
		}
	}
	if w.left > 0 && w.free[w.lo].Free > 0 {
		b.fill(w)
	}
}

// passFCFS starts heads as long as they fit.
func (b *Book) passFCFS(w *sweep) {
	for pos := 0; w.left > 0; {
		if pos = b.head(w, pos); pos < 0 {
			return
		}
		q := &b.jobs[pos]
		if !fits(w.free[w.lo:], w.at.Add(q.estimate), int(q.nodes)) {
			return
		}
		b.commit(w, pos, w.at, w.lo)
	}
}

// commit gives the job at pos its start, which may be Never. i is the step in effect at
// that time.
func (b *Book) commit(w *sweep, pos int, at grid.Time, i int) {
	q := &b.jobs[pos]
	if w.trial {
		b.harmed(w, pos, at)
	} else {
		if !w.marked && !b.state.Policy.Conservative() {
			b.mark(w, 0)
			w.marked = true
		}
		b.starts[pos] = at
		if !b.awaits.known {
			b.awaits.order = append(b.awaits.order, int32(pos))
		}
	}
	w.rem[pos>>6] &^= 1 << (pos & 63)
	w.left--
	w.key ^= spread(uint64(pos))
	if at < grid.Never {
		w.free = take(w.free, i, at, at.Add(q.estimate), int(q.nodes))
	}
	if !w.trial && at < grid.Never {
		b.awaits.ended(b, b.state.Queue[pos].ID, at.Add(q.estimate))
	}
}

// harmed adds the harm that the job at pos suffers if it starts at that instant.
func (b *Book) harmed(w *sweep, pos int, at grid.Time) {
	v := b.starts[pos]
	if at == v {
		return
	}
	w.freed = min(w.freed, v)
	late := at - v
	if late < 0 {
		return
	}
	b.harm.addProduct(uint64(late), b.jobs[pos].cost)
	if w.record {
		b.delays = append(b.delays, grid.Delay{Job: int64(pos), By: grid.Duration(late)})
	}
}

// mark records the state of the base plan.
func (b *Book) mark(w *sweep, next int) { b.marks = append(b.marks, b.remember(w, next)) }

// remember records the state of w.
func (m *memory) remember(w *sweep, next int) mark {
	k := mark{at: w.at, rem: len(m.words), left: w.left, key: w.key, next: next}
	k.free.from, k.holds.from = len(m.steps), len(m.times)
	m.steps = append(m.steps, w.free[w.lo:]...)
	m.words = append(m.words, w.rem...)
	m.times = append(m.times, w.holds...)
	k.free.to, k.holds.to = len(m.steps), len(m.times)
	return k
}

func (m *memory) forget() { m.steps, m.words, m.times = m.steps[:0], m.words[:0], m.times[:0] }

// lastWithRoom returns the last mark whose profile has n nodes free on [s, e). The first
// one has, or the reservation would not be admissible; later ones have ever less. Nothing
// before a mark can change.
func (b *Book) lastWithRoom(s, e grid.Time, n int) int {
	short := s // the first instant at which the finished plan lacks room
	for i := find(b.clear, s); b.clear[i].Free >= n; short = b.clear[i].At {
		i++
	}
	return sort.Search(len(b.marks)-1, func(i int) bool {
		k := &b.marks[i+1]
		if short < k.at {
			return true
		}
		p := b.steps[k.free.from:k.free.to]
		return !fits(p[find(p, s):], e, n)
	})
}

// same reports whether w has the state recorded in k, which is of the same instant.
func (m *memory) same(w *sweep, k *mark) bool {
	if w.left != k.left || !slices.Equal(w.rem, m.words[k.rem:k.rem+len(w.rem)]) ||
		!slices.Equal(w.holds, m.times[k.holds.from:k.holds.to]) {
		return false
	}
	p, q := w.free[w.lo:], m.steps[k.free.from:k.free.to]
	i, j := 0, 0
	for {
		if p[i].Free != q[j].Free {
			return false
		}
		for i++; i < len(p) && p[i].Free == p[i-1].Free; i++ {
		}
		for j++; j < len(q) && q[j].Free == q[j-1].Free; j++ {
		}
		switch {
		case i == len(p) || j == len(q):
			return i == len(p) && j == len(q)
		case p[i].At != q[j].At:
			return false
		}
	}
}

// advance moves to the next instant at which a waiting job may begin to fit; false if there
// is none.
func (w *sweep) advance() bool {
	begins := grid.Never
	if len(w.holds) > 0 {
		begins = w.holds[0]
	}
	for i := w.lo + 1; i < len(w.free); i++ {
		if w.free[i].At == begins || w.free[i].Free > w.free[i-1].Free || w.opened(w.free[i].At) {
			w.at, w.lo = w.free[i].At, i
			k := 0
			for k < len(w.holds) && w.holds[k] == w.at {
				k++
			}
			w.holds = slices.Delete(w.holds, 0, k)
			return true
		}
	}
	return false
}

// hold records that a hold begins at that instant.
func (w *sweep) hold(at grid.Time) {
	i := len(w.holds)
	for i > 0 && w.holds[i-1] > at {
		i--
	}
	w.holds = slices.Insert(w.holds, i, at)
}

// take lowers the profile by n on [s, e).
func (w *sweep) take(s, e grid.Time, n int) {
	w.free = take(w.free, find(w.free, s), s, e, n)
}

// take lowers p by n on [s, e). Step i must be the one in effect at s.
func take(p []grid.Step, i int, s, e grid.Time, n int) []grid.Step {
	if p[i].At < s {
		p = slices.Insert(p, i+1, grid.Step{At: s, Free: p[i].Free})
		i++
	}
	for ; i < len(p) && p[i].At < e; i++ {
		p[i].Free -= n
	}
	if i == len(p) || p[i].At > e {
		p = slices.Insert(p, i, grid.Step{At: e, Free: p[i-1].Free + n})
	}
	return p
}

// fits reports whether n nodes are free from the first step of p until e.
func fits(p []grid.Step, e grid.Time, n int) bool {
	for i := 0; i < len(p) && (i == 0 || p[i].At < e); i++ {
		if p[i].Free < n {
			return false
		}
	}
	return true
}

// find returns the step of p in effect at t.
func find(p []grid.Step, t grid.Time) int {
	lo, hi := 0, len(p)
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) >> 1); p[mid].At <= t {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// earliest returns the earliest start from t on at which n nodes are free for d, and the
// step in effect then. Step i must be the one in effect at t.
func earliest(p []grid.Step, i int, t grid.Time, n int, d grid.Duration) (grid.Time, int) {
	start, at := t, i
	for {
		for ; p[i].Free >= n; i++ {
			if i+1 == len(p) || p[i+1].At >= start.Add(d) {
				return start, at
			}
		}
		for ; p[i].Free < n; i++ {
			if i+1 == len(p) {
				return grid.Never, i
			}
		}
		start, at = p[i].At, i
	}
}

// first returns the least member of a set, which must not be empty.
func first(set []uint64) int {
	for i, word := range set {
		if word != 0 {
			return i<<6 + bits.TrailingZeros64(word)
		}
	}
	panic("pricing: the first of no jobs")
}

package pricing

// paths are the states that the trials of a list went through after their reservations had
// ended. A trial that reaches such a state continues as the earlier trial did, and does the
// same further harm. With some hundred waiting jobs half of the trials end like this, while
// only a quarter ever reach a state of the base plan. Two trials cannot meet while a
// reservation lasts, because their reservations end at different instants.
type paths struct {
	open   bool    // trials of this list look for earlier ones
	on     bool    // the current trial does
	table  []entry // by hash of a state
	passed []passed
	totals []total // by trial
	met    int     // number of trials that met another
	memory
}

// entry refers to the latest recorded state with its hash.
type entry struct {
	tag   uint32 // further bits of the hash
	state int32  // index in passed plus 1; 0: none
}

// passed is a state of a trial, and the harm up to it.
type passed struct {
	mark
	harm  uint128
	trial int
}

const (
	worthPaths = 64 // jobs; the trials of a shorter queue are short
	pathBits   = 14
	pathRoom   = 1 << 19 // in 16 bytes; a list that has recorded this much records no more states
	pathsKept  = 1 << 17 // in 16 bytes; if more is in use, it is freed after the list
	sparse     = 4       // one instant in 2 to this power is considered
	vainTrials = 256     // if so many trials meet no state, the rest of the list will not either
)

// total is the harm of a trial, or an upper bound on it.
type total struct {
	harm  uint128
	exact bool
}

// begin drops the paths of the previous list.
func (p *paths) begin(b *Book) {
	if p.open = len(b.state.Queue) >= worthPaths && !b.state.Policy.Conservative(); !p.open {
		return
	}
	if p.table == nil {
		p.table = make([]entry, 1<<pathBits)
	}
	clear(p.table)
	p.passed, p.totals, p.met = p.passed[:0], p.totals[:0], 0
	p.memory.forget()
}

// close ends a trial.
func (p *paths) close(harm uint128, exact bool) {
	if p.on {
		p.totals = append(p.totals, total{harm, exact})
		p.open = p.met > 0 || len(p.totals) < vainTrials
		p.on = false
	}
}

// size returns how much has been recorded, in units of the 16 bytes of a step. A state
// takes the steps of its profile, a word for every 64 jobs of the queue, and itself.
func size(steps, words, times, passed int) int { return steps + words/2 + times/2 + 8*passed }

// release frees the memory that a long list has used.
func (p *paths) release() {
	if size(cap(p.steps), cap(p.words), cap(p.times), cap(p.passed)) > pathsKept {
		p.memory, p.passed = memory{}, nil
	}
}

// meets reports whether w has the state of an earlier trial, and then adds that trial's
// further harm. Otherwise it records the state of w. Trials that have met stay together, so
// it is enough to look at some instants. If only an upper bound is known of the earlier
// trial, it serves if it is low enough for the ceiling.
func (p *paths) meets(w *sweep, b *Book) (met, exact bool) {
	at := spread(uint64(w.at))
	if at>>(64-sparse) != 0 {
		return false, false
	}
	h := at ^ w.key
	e := &p.table[h&(1<<pathBits-1)]
	if tag := uint32(h >> 32); e.state > 0 && e.tag == tag {
		if k := &p.passed[e.state-1]; k.at == w.at && p.same(w, &k.mark) {
			t := &p.totals[k.trial]
			sum := b.harm
			sum.add(t.harm.less(k.harm))
			if t.exact || b.ceiling.on && !b.ceiling.most.below(sum) {
				b.harm = sum
				p.met++
				return true, t.exact
			}
		}
	} else {
		e.tag = tag
	}
	if size(len(p.steps), len(p.words), len(p.times), len(p.passed)) < pathRoom {
		p.passed = append(p.passed, passed{p.remember(w, 0), b.harm, len(p.totals)})
		e.state = int32(len(p.passed))
	}
	return false, false
}

const odd = 0x9e3779b97f4a7c15 // spreads bits over a word

// spread hashes a number.
func spread(x uint64) uint64 {
	x = (x + 1) * odd
	x = (x ^ x>>32) * odd
	return x ^ x>>29
}

package pricing

// paths are the states through which the trials of a list have gone once their
// reservation was over. A trial that comes to one of them goes on as the one before
// it did, and costs what that has cost since: of some hundred jobs half of the starts end so,
// where only a quarter ever comes to stand as the base plan does. Two trials cannot
// meet before, because their reservations end at different instants.
type paths struct {
	open   bool    // trials of a list may follow others
	on     bool    // this one does
	table  []entry // by key of a state
	passed []passed
	totals []total // by trial
	met    int     // trials that met another, for tests
	memory
}

// entry leads to the state noted last of those with that key.
type entry struct {
	tag   uint32 // more of the key
	state int32  // one more than where it is among the passed; 0: none
}

// passed is a state of a trial, and the harm until then.
type passed struct {
	mark
	harm  uint128
	trial int
}

const (
	worthPaths = 64 // jobs; the trials of a shorter queue are short
	pathBits   = 14
	pathRoom   = 1 << 19 // of 16 bytes; the trials of a list that has noted more meet no new states
	pathsKept  = 1 << 17 // of 16 bytes; what is more is given back when the list is over and done with
	sparse     = 4       // one instant of 2 to the power of that is looked at
	vainTrials = 256     // that have met none: those of the list that are left meet none either
)

// total is the harm of a trial, or a bound of it.
type total struct {
	harm  uint128
	exact bool
}

// begin forgets the paths of the list before.
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

// close says that a trial is over.
func (p *paths) close(harm uint128, exact bool) {
	if p.on {
		p.totals = append(p.totals, total{harm, exact})
		p.open = p.met > 0 || len(p.totals) < vainTrials
		p.on = false
	}
}

// size is how much has been noted, in units of the 16 bytes of a step: a state takes the
// steps of its profile, a word for every 64 jobs of the queue, and itself.
func size(steps, words, times, passed int) int { return steps + words/2 + times/2 + 8*passed }

// release gives back what a long list has taken.
func (p *paths) release() {
	if size(cap(p.steps), cap(p.words), cap(p.times), cap(p.passed)) > pathsKept {
		p.memory, p.passed = memory{}, nil
	}
}

// meets reports whether w stands as a trial before it did, whose further harm it then
// adds; else it notes where w stands. Trials that have met stay together, so one instant
// of a few will do. One of which only a bound is known serves where that is low enough.
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

// spread makes of a number one that looks like any other.
func spread(x uint64) uint64 {
	x = (x + 1) * odd
	x = (x ^ x>>32) * odd
	return x ^ x>>29
}

package backfill

import (
	"math"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// line stores the queue: jobs in queue order, and a summary of every 64 of them that lets a
// pass over a long queue skip jobs that cannot fit. A job that leaves from the middle stays
// as a dead entry until the next compaction. All this is for speed: a plain slice that is
// walked from its head gives the same results (see the naive simulator of the tests).
type line struct {
	jobs   []Queued
	head   int // first live entry, or len(jobs)
	dead   int // dead entries after head
	blocks []block
}

// gone in Nodes marks a dead entry: it never fits.
const gone = math.MaxInt

const (
	blockBits = 6
	blockSize = 1 << blockBits
	classes   = 32 // of job sizes, by powers of two
	short     = 4  // a queue of at most this many blocks is walked without making loose ones exact
)

// block summarises blockSize neighbours. Its figures are lower bounds. They are exact
// unless loose; a block becomes loose when a job leaves or moves.
type block struct {
	least     [classes]grid.Duration // least estimate by size class
	guarantee grid.Time              // earliest guarantee
	loose     bool
}

const forever = grid.Duration(math.MaxInt64)

func class(n int) int { return bits.Len32(uint32(n)) - 1 }

func emptyBlock() block {
	b := block{guarantee: grid.Never}
	for c := range b.least {
		b.least[c] = forever
	}
	return b
}

func (b *block) take(q *Queued) {
	if q.Nodes == gone {
		return
	}
	c := class(q.Nodes)
	b.least[c] = min(b.least[c], q.Estimate)
	b.guarantee = min(b.guarantee, q.Guarantee)
}

// len is the number of live jobs.
func (l *line) len() int { return len(l.jobs) - l.head - l.dead }

// add puts q behind all jobs of its own or a higher priority and returns its index; if they
// are ranked, also by their scores. Dead entries keep their priority and score, so all
// entries from head on are in order.
func (l *line) add(q Queued, ranked bool) int {
	i := len(l.jobs)
	for i > l.head && (l.jobs[i-1].Priority < q.Priority || ranked && compareRank(&q, &l.jobs[i-1]) < 0) {
		i--
	}
	l.insert(i, q)
	return i
}

// insert puts q at index i. At the end it costs O(1), elsewhere a walk over the queue.
func (l *line) insert(i int, q Queued) {
	if i < len(l.jobs) {
		l.jobs = slices.Insert(l.jobs, i, q)
		l.resum(i >> blockBits)
		return
	}
	if i&(blockSize-1) == 0 {
		l.blocks = append(l.blocks, emptyBlock())
	}
	l.jobs = append(l.jobs, q)
	l.blocks[i>>blockBits].take(&q)
}

// remove takes job i out. The indices of the others do not change.
func (l *line) remove(i int) {
	l.jobs[i].Nodes = gone
	l.blocks[i>>blockBits].loose = true
	l.dead++
	for l.head < len(l.jobs) && l.jobs[l.head].Nodes == gone {
		l.head++
		l.dead--
	}
}

// sparse reports whether a compaction is due. Compacting only then costs O(1) per removal.
func (l *line) sparse() bool {
	idle := l.head + l.dead
	return idle == len(l.jobs) && idle > 0 || idle > 2*blockSize && idle > len(l.jobs)/2
}

// compact drops the dead entries and those before the head. It returns the new position of
// the index mark.
func (l *line) compact(mark int) int {
	out, moved := 0, 0
	for i := l.head; i < len(l.jobs); i++ {
		if i == mark {
			moved = out
		}
		if l.jobs[i].Nodes != gone {
			l.jobs[out] = l.jobs[i]
			out++
		}
	}
	if mark >= len(l.jobs) {
		moved = out
	}
	l.jobs, l.head, l.dead = l.jobs[:out], 0, 0
	l.resum(0)
	return moved
}

// resum recomputes the summaries from block b on.
func (l *line) resum(b int) {
	n := (len(l.jobs) + blockSize - 1) >> blockBits
	for len(l.blocks) < n {
		l.blocks = append(l.blocks, block{})
	}
	l.blocks = l.blocks[:n]
	for ; b < n; b++ {
		l.tighten(b)
	}
}

// tighten makes the figures of block b exact.
func (l *line) tighten(b int) {
	s := emptyBlock()
	for i := b << blockBits; i < min(len(l.jobs), (b+1)<<blockBits); i++ {
		s.take(&l.jobs[i])
	}
	l.blocks[b] = s
}

// fitting returns the first job from index i on that fits h, or -1.
func (l *line) fitting(i int, h *horizon) int {
	for i < len(l.jobs) {
		b := i >> blockBits
		end := min(len(l.jobs), (b+1)<<blockBits)
		if !h.mayFit(&l.blocks[b]) {
			i = end
			continue
		}
		for ; i < end; i++ {
			if q := &l.jobs[i]; h.fits(q.Nodes, q.Estimate) {
				return i
			}
		}
		if l.blocks[b].loose && len(l.blocks) > short {
			l.tighten(b)
		}
	}
	return -1
}

// due returns the first job from index i on whose guarantee is at or before now,
// or -1.
func (l *line) due(i int, now grid.Time) int {
	for i < len(l.jobs) {
		b := i >> blockBits
		end := min(len(l.jobs), (b+1)<<blockBits)
		if l.blocks[b].guarantee > now {
			i = end
			continue
		}
		for ; i < end; i++ {
			if q := &l.jobs[i]; q.Guarantee <= now && q.Nodes != gone {
				return i
			}
		}
		if l.blocks[b].loose {
			l.tighten(b)
		}
	}
	return -1
}

// nextGuarantee returns the earliest guarantee of all jobs, or Never. It looks at each
// block and makes loose ones exact where they could decide.
func (l *line) nextGuarantee() grid.Time {
	next := grid.Never
	for b := l.head >> blockBits; b < len(l.blocks); b++ {
		if l.blocks[b].guarantee < next && l.blocks[b].loose {
			l.tighten(b)
		}
		next = min(next, l.blocks[b].guarantee)
	}
	return next
}

// guarantee sets the guarantee of job i.
func (l *line) guarantee(i int, at grid.Time) {
	b := &l.blocks[i>>blockBits]
	b.loose = b.loose || l.jobs[i].Guarantee < at
	l.jobs[i].Guarantee = at
	b.guarantee = min(b.guarantee, at)
}

// horizon says, for every n, how long n nodes stay free from now on: the reach of n. A job
// fits iff its estimate is within the reach of its nodes. The reach grows as n falls.
type horizon struct {
	steps []reach
}

type reach struct {
	free int           // largest job in nodes; the smallest is one more than the next step's
	span grid.Duration // longest estimate that fits
}

// look computes the horizon of profile p, which begins now and falls only within [first,
// last]. Elsewhere it need not look: a machine of ten thousand nodes has a thousand steps
// at which the profile rises.
func (h *horizon) look(p grid.Profile, first, last grid.Time) {
	h.steps = h.steps[:0]
	now, low := p[0].At, p[0].Free
	for _, s := range p[p.Index(first):] {
		if low <= 0 {
			return
		}
		if s.At > last {
			break
		}
		if s.Free < low {
			h.steps = append(h.steps, reach{low, s.At.Sub(now)})
			low = s.Free
		}
	}
	if low > 0 {
		h.steps = append(h.steps, reach{low, forever})
	}
}

// empty reports whether no job fits at all.
func (h *horizon) empty() bool { return len(h.steps) == 0 }

// fits reports whether n nodes are free for d from now on.
func (h *horizon) fits(n int, d grid.Duration) bool {
	if len(h.steps) == 0 || n > h.steps[0].free {
		return false
	}
	k := 0
	for k+1 < len(h.steps) && n <= h.steps[k+1].free {
		k++
	}
	return d <= h.steps[k].span
}

// mayFit reports whether some job of the block may fit. False is certain.
func (h *horizon) mayFit(b *block) bool {
	if len(h.steps) == 0 {
		return false
	}
	k := len(h.steps) - 1
	for c := range class(h.steps[0].free) + 1 {
		for n := 1 << c; n > h.steps[k].free; {
			k--
		}
		if b.least[c] <= h.steps[k].span {
			return true
		}
	}
	return false
}

package backfill

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// runners are the jobs that hold nodes, ordered by End, then ID. A machine of ten thousand
// nodes runs a thousand. They are kept in blocks of at most fullBlock, so that a job that
// starts or ends moves only those of its block. A single block is a plain list.
type runners struct {
	blocks [][]Running // none is empty
	whole  []Running   // all of them, if there are several blocks; valid unless stale
	stale  bool
}

const fullBlock = 128

// load replaces the jobs with list, which must be in order.
func (r *runners) load(list []Running) {
	*r = runners{stale: true}
	for part := range slices.Chunk(list, fullBlock/2) {
		r.blocks = append(r.blocks, slices.Clone(part))
	}
}

// list returns all jobs, valid until the next change. After a change it costs a walk.
func (r *runners) list() []Running {
	switch {
	case len(r.blocks) == 0:
		return nil
	case len(r.blocks) == 1:
		return r.blocks[0]
	case r.stale:
		r.whole, r.stale = r.whole[:0], false
		for _, b := range r.blocks {
			r.whole = append(r.whole, b...)
		}
	}
	return r.whole
}

// first returns the job that ends first, or nil if none runs.
func (r *runners) first() *Running {
	if len(r.blocks) == 0 {
		return nil
	}
	return &r.blocks[0][0]
}

// search returns the position of the job with this planned end and id, or where it would be
// inserted. That is the end of a block only in the last block.
func (r *runners) search(end grid.Time, id int64) (block, at int) {
	low, high := 0, len(r.blocks)-1
	for low < high {
		mid := int(uint(low+high) >> 1)
		if b := r.blocks[mid]; b[len(b)-1].before(end, id) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(r.blocks) {
		return 0, 0
	}
	block, b := low, r.blocks[low]
	low, high = 0, len(b)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if b[mid].before(end, id) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return block, low
}

// before reports whether the job comes before one with this end and id.
func (r *Running) before(end grid.Time, id int64) bool {
	return r.End < end || r.End == end && r.ID < id
}

// put adds a job.
func (r *runners) put(x Running) {
	r.stale = true
	if len(r.blocks) == 0 {
		r.blocks = append(r.blocks, make([]Running, 0, fullBlock))
	}
	k, i := r.search(x.End, x.ID)
	if b := r.blocks[k]; len(b) == fullBlock {
		back := append(make([]Running, 0, fullBlock), b[fullBlock/2:]...)
		r.blocks[k] = b[:fullBlock/2]
		r.blocks = slices.Insert(r.blocks, k+1, back)
		if i > fullBlock/2 {
			k, i = k+1, i-fullBlock/2
		}
	}
	r.blocks[k] = slices.Insert(r.blocks[k], i, x)
}

// find returns the job that runs until the planned end. It panics if there is none. The
// caller may change the job in place, except for its End and ID.
func (r *runners) find(id int64, planned grid.Time) *Running {
	k, i := r.place(id, planned)
	r.stale = true
	return &r.blocks[k][i]
}

func (r *runners) place(id int64, planned grid.Time) (block, at int) {
	k, i := r.search(planned, id)
	if len(r.blocks) == 0 || i == len(r.blocks[k]) || r.blocks[k][i].ID != id {
		panic(fmt.Sprintf("backfill: job %d does not run until %v", id, planned))
	}
	return k, i
}

// take removes a job and returns it. It panics if there is none.
func (r *runners) take(id int64, planned grid.Time) Running {
	r.stale = true
	k, i := r.place(id, planned)
	x := r.blocks[k][i]
	if r.blocks[k] = slices.Delete(r.blocks[k], i, i+1); len(r.blocks[k]) == 0 {
		r.blocks = slices.Delete(r.blocks, k, k+1)
	}
	return x
}

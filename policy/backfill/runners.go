package backfill

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse"
)

// runners are the jobs that hold nodes, by End, then ID. They lie in blocks, so that a
// job that starts or ends moves those of its block and not all behind it: on a machine of
// ten thousand nodes a thousand run. A block holds fullBlock of them at most; one alone is
// a plain list.
type runners struct {
	blocks [][]Running // none is empty
	whole  []Running   // all of them, where there are several blocks; good unless stale
	stale  bool
}

const fullBlock = 128

// load takes a list, in order.
func (r *runners) load(list []Running) {
	*r = runners{stale: true}
	for part := range slices.Chunk(list, fullBlock/2) {
		r.blocks = append(r.blocks, slices.Clone(part))
	}
}

// list shows all of them, until the next change. It costs a walk where something has
// changed.
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

// first is the one that ends first, nil if none runs.
func (r *runners) first() *Running {
	if len(r.blocks) == 0 {
		return nil
	}
	return &r.blocks[0][0]
}

// search is where a job of that planned end stands, or would: behind the last one of a
// block only if there is no other block behind.
func (r *runners) search(end bourse.Time, id int64) (block, at int) {
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

// before reports whether the job stands before one of that end and id.
func (r *Running) before(end bourse.Time, id int64) bool {
	return r.End < end || r.End == end && r.ID < id
}

// put takes a job in.
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

// find is a job that runs until that planned end; that there is none is a broken
// invariant. It may be changed in place, but for its End and ID.
func (r *runners) find(id int64, planned bourse.Time) *Running {
	k, i := r.place(id, planned)
	r.stale = true
	return &r.blocks[k][i]
}

func (r *runners) place(id int64, planned bourse.Time) (block, at int) {
	k, i := r.search(planned, id)
	if len(r.blocks) == 0 || i == len(r.blocks[k]) || r.blocks[k][i].ID != id {
		panic(fmt.Sprintf("backfill: job %d does not run until %v", id, planned))
	}
	return k, i
}

// take takes a job out.
func (r *runners) take(id int64, planned bourse.Time) Running {
	r.stale = true
	k, i := r.place(id, planned)
	x := r.blocks[k][i]
	if r.blocks[k] = slices.Delete(r.blocks[k], i, i+1); len(r.blocks[k]) == 0 {
		r.blocks = slices.Delete(r.blocks, k, k+1)
	}
	return x
}

package search

import "slices"

// tables are the tables of fits of a batch. If searches have bounds, most queries never
// need a table. So one is made when a query is first searched for, and reused for another
// query once the first can find nothing more. Memory then depends on the jobs being placed,
// not on all jobs.
type tables struct {
	chunks [][]fit
	at     int     // the chunk in use
	lent   int     // number of fits handed out
	back   [][]fit // tables given back
}

// Tables of fits pay if a list is scanned repeatedly. Beyond these bounds (a list of a
// million named nodes) they would cost more than they save.
const (
	maxTable  = 1 << 14 // fits of one request
	maxTables = 1 << 22 // fits of all requests of a batch: 64 MB
	someFits  = 1 << 13 // fits in a chunk
)

// reset takes all tables back.
func (t *tables) reset() {
	for i := range t.chunks {
		t.chunks[i] = t.chunks[i][:0]
	}
	t.at, t.lent, t.back = 0, 0, t.back[:0]
}

// room returns memory for a table of n classes, or nil if the limit is reached.
func (t *tables) room(n int) []fit {
	if k := len(t.back); k > 0 {
		room := t.back[k-1]
		t.back = t.back[:k-1]
		return room
	}
	if t.lent+n > maxTables {
		return nil
	}
	t.lent += n
	for t.at < len(t.chunks) && cap(t.chunks[t.at])-len(t.chunks[t.at]) < n {
		t.at++
	}
	if t.at == len(t.chunks) {
		t.chunks = append(t.chunks, make([]fit, 0, max(n, someFits)))
	}
	c := &t.chunks[t.at]
	at := len(*c)
	*c = (*c)[:at+n]
	return (*c)[at : at : at+n]
}

// lend gives a query its table. If the limit is reached, the query gets one that is valid
// only for a single search.
func (f *Finder) lend(q *query) {
	n := len(f.list.classes)
	if q.fits != nil || n > maxTable {
		return
	}
	room := f.tables.room(n)
	if q.lasts = room != nil; !q.lasts {
		f.spare = slices.Grow(f.spare[:0], n)
		room = f.spare
	}
	q.tabulate(f.list, room)
}

// giveBack takes the table of a query that will not be searched for again.
func (f *Finder) giveBack(q *query) {
	if q.fits != nil && q.lasts {
		f.tables.back = append(f.tables.back, q.fits[:0])
	}
	q.fits = nil
}

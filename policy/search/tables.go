package search

import "slices"

// tables are the tables of fits of a batch. Where searches have bounds most queries never
// need theirs: it is made when a query is searched for first, and serves another once the
// query has found all that it can. So they take memory by the jobs that are being placed.
type tables struct {
	chunks [][]fit
	at     int     // the chunk that is being cut up
	lent   int     // fits
	back   [][]fit // those that were given back
}

// Tables of fits pay when a list is scanned again and again. Beyond these
// bounds (a list of a million named nodes) they would cost more than they save.
const (
	maxTable  = 1 << 14 // classes of one request
	maxTables = 1 << 22 // classes of all requests of a batch: 64 MB
	someFits  = 1 << 13 // of a chunk
)

// reset takes all tables back.
func (t *tables) reset() {
	for i := range t.chunks {
		t.chunks[i] = t.chunks[i][:0]
	}
	t.at, t.lent, t.back = 0, 0, t.back[:0]
}

// room is memory for a table of n classes; nil if no more may be had.
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

// lend gives a query its table. Where there is no room for it the query has one for a
// single search.
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

// giveBack takes the table of a query that is searched for no more.
func (f *Finder) giveBack(q *query) {
	if q.fits != nil && q.lasts {
		f.tables.back = append(f.tables.back, q.fits[:0])
	}
	q.fits = nil
}

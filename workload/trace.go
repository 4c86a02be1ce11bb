package workload

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Trace is a workload log: its header and its records in order of submit.
type Trace struct {
	Name      string // of the file, for messages
	Header    Header
	Records   []Record
	Beyond    []string  // of a log in GWF: the columns of each record that SWF lacks; else nil
	Bad       []BadLine // the first MaxBad of those left out
	BadCount  int       // how many lines were left out
	Backwards int       // how many records were earlier than the one before them
	Table     bool      // its columns have names, and its times may be by the calendar
	Notes     []string  // what a table's columns were read for, and what was left out

	part bool      // of a split log, whose zero is
	zero grid.Time // kept here
}

// Zero returns the earliest submit of the log, 0 if it has no record. A partition has the
// Zero of the whole log, so that sites made from one log share its clock.
func (t *Trace) Zero() grid.Time {
	if t.part || len(t.Records) == 0 {
		return t.zero
	}
	zero := t.Records[0].Submit()
	for i := range t.Records {
		zero = min(zero, t.Records[i].Submit())
	}
	return zero
}

// MaxBad is how many bad lines a trace remembers; the others are only counted.
const MaxBad = 20

// BadLine is a line of a file that is not a valid record.
type BadLine struct {
	Line int // from 1
	Why  string
}

// String shows the line's number and what is wrong.
func (b BadLine) String() string { return fmt.Sprintf("%d: %s", b.Line, b.Why) }

// Remarks says in lines for people what was repaired: the first bad lines by number, how
// many there were, and how many records were put in order. What was left out on purpose, and
// the columns of a table, stand before them.
func (t *Trace) Remarks() []string {
	lines := slices.Clone(t.Notes)
	for _, bad := range t.Bad {
		lines = append(lines, fmt.Sprintf("%s:%v; left out", t.Name, bad))
	}
	if t.BadCount > 0 {
		lines = append(lines, fmt.Sprintf("%s: %d bad lines in all left out", t.Name, t.BadCount))
	}
	if t.Backwards > 0 {
		lines = append(lines, fmt.Sprintf("%s: runs backwards at %d records; sorted by submit", t.Name, t.Backwards))
	}
	return lines
}

// Useless says why no record can become a job: none has a number of processors, or none a
// run time. It is "" if one has both.
func (t *Trace) Useless() string {
	sizes, runs := 0, 0
	for i := range t.Records {
		size, run := t.Records[i].Processors() > 0, t.Records[i][RunTime].mantissa() >= 0
		if size && run {
			return ""
		}
		if size {
			sizes++
		}
		if run {
			runs++
		}
	}
	n := grid.Count(len(t.Records), "record")
	switch {
	case sizes == 0 && t.Table:
		return fmt.Sprintf("no column says how many processors, so none of its %s can be used; say which does: bourse convert LOG OUT.swf --map nodes=COLUMN", n)
	case runs == 0 && t.Table:
		return fmt.Sprintf("no column says how long jobs ran, so none of its %s can be used; say which does: bourse convert LOG OUT.swf --map run=COLUMN, or start=COLUMN,end=COLUMN", n)
	case sizes == 0:
		return fmt.Sprintf("none of its %s has a number of processors, allocated (field 5) or requested (field 8)", n)
	case runs == 0:
		return fmt.Sprintf("none of its %s has a run time (field 4)", n)
	}
	return fmt.Sprintf("none of its %s has both a number of processors and a run time", n)
}

// order sorts the records by submit. Records with the same submit keep their order. Every
// record is moved once, whatever the disorder.
func (t *Trace) order() {
	type key struct {
		submit int64
		from   int
	}
	keys := make([]key, len(t.Records))
	for i := range t.Records {
		keys[i] = key{t.Records[i][SubmitTime].Millis(), i}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.submit != b.submit {
			return cmp.Compare(a.submit, b.submit)
		}
		return cmp.Compare(a.from, b.from)
	})
	for i := range keys { // follow each cycle of the permutation
		if keys[i].from == i {
			continue
		}
		first, at := t.Records[i], i
		for keys[at].from != i {
			next := keys[at].from
			t.Records[at] = t.Records[next]
			t.swapBeyond(at, next)
			keys[at].from = at
			at = next
		}
		t.Records[at], keys[at].from = first, at
	}
}

// swapBeyond exchanges the columns of two records that SWF lacks.
func (t *Trace) swapBeyond(i, j int) {
	if t.Beyond != nil {
		t.Beyond[i], t.Beyond[j] = t.Beyond[j], t.Beyond[i]
	}
}

// Partition is the part of a trace that ran on one partition. In a log of a grid it is one
// site.
type Partition struct {
	Number int64
	Name   string // from the header, "" if it has none
	Trace  *Trace // shares the header and the Zero
}

// Partitions splits a trace by the partition field, in order of its number.
func (t *Trace) Partitions() []Partition {
	names := make(map[int64]string)
	for _, n := range t.Header.Names("Partition") {
		names[n.Number] = n.Name
	}
	sizes := make(map[int64]int)
	for i := range t.Records {
		sizes[t.Records[i][PartitionNumber].Whole()]++
	}
	index := make(map[int64]*Trace, len(sizes))
	list := make([]Partition, 0, len(sizes))
	zero := t.Zero()
	for i := range t.Records {
		number := t.Records[i][PartitionNumber].Whole()
		part := index[number]
		if part == nil {
			part = &Trace{Name: t.Name, Header: t.Header, Records: make([]Record, 0, sizes[number]), part: true, zero: zero}
			index[number] = part
			list = append(list, Partition{number, names[number], part})
		}
		part.Records = append(part.Records, t.Records[i])
		if t.Beyond != nil {
			part.Beyond = append(part.Beyond, t.Beyond[i])
		}
	}
	slices.SortFunc(list, func(a, b Partition) int { return cmp.Compare(a.Number, b.Number) })
	return list
}

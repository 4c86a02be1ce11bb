package view

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/base64"
	"math"
	"slices"
)

// mostExact is the most bars packed with times in milliseconds. Beyond it times are rounded
// down to seconds, which is what is displayed. Rounding down keeps the order of ends and
// starts: what met still meets, and nothing begins to overlap.
const mostExact = 100_000

// PackedBars are bars by columns: of each number the low bytes of all bars, then the next
// bytes, so that what is alike lies together. Bytes that are 0 of all bars are left out.
type PackedBars struct {
	Unit    int64  `json:"unit"`    // of times, in milliseconds
	Rows    []int  `json:"rows"`    // bars of each group, in the order of the sites
	Planes  []int  `json:"planes"`  // of 24, those that are there
	Columns Packed `json:"columns"` // start, length, nodes, kind, number, used; four planes each
	Parts   Packed `json:"parts"`   // of the legs, in the order of the bars: lists by column
}

// columns of packed bars.
const columns = 6

// parts are the legs' columns.
type parts struct {
	Job    []int    `json:"job"` // of jobs; -1: not among them
	Window []int    `json:"window"`
	Part   []int    `json:"part"`
	Parts  []int    `json:"parts"`
	Cost   []int64  `json:"cost"`
	Extra  []int64  `json:"extra"`
	Of     []string `json:"of,omitempty"` // absent if no job has parts
}

// PackBars packs the bars of each group, in the order of the sites' groups. It ignores the
// names of sites and groups in them. jobs are those of the Document, in its order. The bars
// are sorted by start, then legs before local jobs, then more nodes before fewer.
func PackBars(rows [][]Bar, jobs []string) (*PackedBars, error) {
	n, last := 0, int64(0)
	for _, bars := range rows {
		n += len(bars)
		for i := range bars {
			last = max(last, bars[i].End)
		}
	}
	p := &PackedBars{Unit: 1}
	if n > mostExact {
		p.Unit = 1000
	}
	for last/p.Unit > math.MaxUint32 {
		p.Unit *= 1000
	}
	index := make(map[string]int, len(jobs))
	for i, id := range jobs {
		index[id] = i
	}
	planes, legs, at := make([]byte, 4*columns*n), parts{}, 0
	put := func(column int, v uint32) {
		for k := range 4 {
			planes[(4*column+k)*n+at] = byte(v >> (8 * k))
		}
	}
	for _, bars := range rows {
		p.Rows = append(p.Rows, len(bars))
		slices.SortStableFunc(bars, order)
		before, number := int64(0), int64(0)
		for i := range bars {
			b := &bars[i]
			start, end := b.Start/p.Unit, b.End/p.Unit
			put(0, uint32(start-before))
			put(1, uint32(end-start))
			put(2, uint32(b.Nodes))
			put(3, uint32(b.Kind))
			if b.Kind < Leg {
				put(4, zigzag(b.Local-number))
				number = b.Local
			} else {
				legs.add(b, index)
			}
			put(5, uint32(min(b.Used, math.MaxUint32)))
			before = start
			at++
		}
	}
	p.Planes = []int{}
	var there []byte
	for k := range 4 * columns {
		plane := planes[k*n : (k+1)*n]
		if slices.ContainsFunc(plane, func(b byte) bool { return b != 0 }) {
			p.Planes, there = append(p.Planes, k), append(there, plane...)
		}
	}
	p.Columns = Packed{Packed: deflate(there)}
	if !slices.ContainsFunc(legs.Of, func(part string) bool { return part != "" }) {
		legs.Of = nil
	}
	var err error
	p.Parts, err = Pack(legs)
	return p, err
}

func (p *parts) add(b *Bar, index map[string]int) {
	job, ok := index[b.Job]
	if !ok {
		job = -1
	}
	p.Job, p.Window = append(p.Job, job), append(p.Window, b.Window)
	p.Part, p.Parts = append(p.Part, b.Part.Part), append(p.Parts, b.Parts)
	p.Cost, p.Extra, p.Of = append(p.Cost, b.Cost), append(p.Extra, b.Extra), append(p.Of, b.Of)
}

// order is that in which bars take lanes.
func order(a, b Bar) int {
	if c := cmp.Compare(a.Start, b.Start); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(b.Nodes, a.Nodes))
}

func rank(k Kind) int {
	if k < Leg {
		return 1
	}
	return 0
}

// zigzag folds the sign into the lowest bit, modulo 2^32.
func zigzag(v int64) uint32 { return uint32(v<<1) ^ uint32(v>>63) }

// deflate is base64 of raw DEFLATE: the same bytes for the same.
func deflate(text []byte) string {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.DefaultCompression)
	if err != nil {
		panic(err) // the level is right
	}
	w.Write(text) // a buffer takes everything
	w.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

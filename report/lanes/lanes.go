package lanes

import (
	"cmp"
	"slices"
)

// Piece is a run of neighbouring lanes.
type Piece struct{ Lane, Height int }

// Gaps are the free lanes, in order, no two of them neighbours.
type Gaps []Piece

// New are n free lanes, from 0.
func New(n int) Gaps { return Gaps{{0, n}} }

// Height is how many lanes are free.
func (g Gaps) Height() int {
	n := 0
	for _, p := range g {
		n += p.Height
	}
	return n
}

// Take takes n lanes, from the first gap that is high enough or else from as
// many as it needs, counted from the top or from the bottom.
func (g *Gaps) Take(n int, top bool) []Piece {
	for k := range *g {
		if k = side(k, len(*g), top); (*g)[k].Height >= n {
			return []Piece{g.cut(k, n, top)}
		}
	}
	var list []Piece
	for n > 0 {
		k := side(0, len(*g), top)
		p := g.cut(k, min(n, (*g)[k].Height), top)
		n -= p.Height
		list = append(list, p)
	}
	return list
}

// side counts from the other end unless top.
func side(k, n int, top bool) int {
	if top {
		return k
	}
	return n - 1 - k
}

// cut takes n lanes of gap k from its top or its bottom.
func (g *Gaps) cut(k, n int, top bool) Piece {
	p := &(*g)[k]
	got := Piece{p.Lane + p.Height - n, n}
	if top {
		got.Lane = p.Lane
		p.Lane += n
	}
	if p.Height -= n; p.Height == 0 {
		*g = slices.Delete(*g, k, k+1)
	}
	return got
}

// Give puts lanes back and joins them with the gaps beside.
func (g *Gaps) Give(list []Piece) {
	for _, p := range list {
		k, _ := slices.BinarySearchFunc(*g, p.Lane, func(q Piece, lane int) int { return cmp.Compare(q.Lane, lane) })
		*g = slices.Insert(*g, k, p)
		if k+1 < len(*g) && (*g)[k+1].Lane == p.Lane+p.Height {
			(*g)[k].Height += (*g)[k+1].Height
			*g = slices.Delete(*g, k+1, k+2)
		}
		if k > 0 && (*g)[k-1].Lane+(*g)[k-1].Height == (*g)[k].Lane {
			(*g)[k-1].Height += (*g)[k].Height
			*g = slices.Delete(*g, k, k+1)
		}
	}
}

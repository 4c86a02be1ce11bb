package sla

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/bourse-grid/bourse/grid"
)

// Size is one way to run a job: a number of nodes and the runtime on them (Te).
type Size struct {
	Nodes   int           `json:"nodes"`
	Runtime grid.Duration `json:"runtime"`
}

const (
	// MaxNodes bounds the nodes of a size.
	MaxNodes = 1 << 20
	// MaxSizes bounds the ways to run one job: each costs a trial of its own.
	MaxSizes = 1024
)

// area is R x Te in node-milliseconds, at most the largest int64.
func (z Size) area() int64 {
	hi, lo := bits.Mul64(uint64(z.Nodes), uint64(z.Runtime))
	if hi > 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// compareArea orders sizes by R x Te, ties by fewest nodes.
func compareArea(a, b Size) int {
	return cmp.Or(cmp.Compare(a.area(), b.area()), cmp.Compare(a.Nodes, b.Nodes))
}

// Amdahl returns the sizes from least to most nodes of a job that takes te on the least. Of
// its work on one node, serial thousandths cannot be parallelised: T(R) = te x (s + (1-s)/R)
// / (s + (1-s)/least), rounded up to the millisecond.
func Amdahl(least, most int, te grid.Duration, serial int) ([]Size, error) {
	if serial < 0 || serial > 1000 {
		return nil, fmt.Errorf("amdahl = %v: must be a serial share between 0 and 1", grid.Performance(serial))
	}
	s := uint64(max(serial, 0))
	return sizes(least, most, te, func(r int) grid.Duration {
		up := (s*uint64(r) + 1000 - s) * uint64(least)
		down := (s*uint64(least) + 1000 - s) * uint64(r)
		return scale(te, up, down)
	})
}

// Power returns the sizes from least to most nodes of a job that takes te on the least. It
// speeds up with a power of its nodes, given in thousandths: T(R) = te x (least/R)^power,
// rounded up to the millisecond.
func Power(least, most int, te grid.Duration, power int) ([]Size, error) {
	if power < 0 || power > 1000 {
		return nil, fmt.Errorf("power = %v: must be an exponent between 0 and 1", grid.Performance(power))
	}
	return sizes(least, most, te, func(r int) grid.Duration {
		if power == 1000 {
			return scale(te, uint64(least), uint64(r))
		}
		return scale(te, root(least, r, power), one)
	})
}

// sizes lists the sizes from least to most nodes, with the runtimes of f.
func sizes(least, most int, te grid.Duration, f func(r int) grid.Duration) ([]Size, error) {
	switch {
	case least < 1 || least > most || most > MaxNodes:
		return nil, fmt.Errorf("nodes %d..%d: must be 1 <= least <= most <= %d", least, most, MaxNodes)
	case most-least >= MaxSizes:
		return nil, fmt.Errorf("nodes %d..%d are %d sizes: at most %d are tried; narrow the range or give a table", least, most, most-least+1, MaxSizes)
	case te <= 0 || te > grid.MaxDuration:
		return nil, fmt.Errorf("estimate %v: must be more than 0 and at most %v seconds", te, grid.MaxDuration)
	}
	list := make([]Size, 0, most-least+1)
	for r := least; r <= most; r++ {
		list = append(list, Size{r, f(r)})
	}
	return list, nil
}

// scale is te x up / down rounded up, for up <= down.
func scale(te grid.Duration, up, down uint64) grid.Duration {
	hi, lo := bits.Mul64(uint64(te), up)
	lo, carry := bits.Add64(lo, down-1, 0)
	q, _ := bits.Div64(hi+carry, lo, down)
	return grid.Duration(q)
}

// one is 1 in the fixed point of root.
const one = 1 << 62

// root is (a/b)^(power/1000) for a <= b and power below 1000, in fixed point. It is the
// product of those square roots, fourth roots and so on whose bits the exponent has. It
// uses whole numbers so that all machines agree, and does not fall as a/b rises.
func root(a, b, power int) uint64 {
	x, _ := bits.Div64(uint64(a)>>2, uint64(a)<<62, uint64(b)) // a/b
	v, rest := uint64(one), uint64(power)
	var square big.Int
	for range 62 {
		square.SetUint64(x)
		square.Lsh(&square, 62)
		x = square.Sqrt(&square).Uint64()
		if rest *= 2; rest >= 1000 {
			rest -= 1000
			hi, lo := bits.Mul64(v, x)
			v = hi<<2 | lo>>62
		}
	}
	return v
}

// checkSizes says what is wrong with a job's sizes: none or too many, nodes not
// in ascending order, a runtime that is not above 0 or that grows with the nodes.
func checkSizes(list []Size) error {
	if len(list) == 0 || len(list) > MaxSizes {
		return fmt.Errorf("%d sizes: must be 1 to %d", len(list), MaxSizes)
	}
	for i, z := range list {
		switch {
		case z.Nodes < 1 || z.Nodes > MaxNodes:
			return fmt.Errorf("nodes %d: must be 1 to %d", z.Nodes, MaxNodes)
		case z.Runtime <= 0 || z.Runtime > grid.MaxDuration:
			return fmt.Errorf("estimate %v on %s: must be more than 0 and at most %v seconds", z.Runtime, grid.Count(z.Nodes, "node"), grid.MaxDuration)
		case i > 0 && z.Nodes <= list[i-1].Nodes:
			return fmt.Errorf("sizes: %s behind %d; must be each size once, in ascending order", grid.Count(z.Nodes, "node stands", "nodes stand"), list[i-1].Nodes)
		case i > 0 && z.Runtime > list[i-1].Runtime:
			return fmt.Errorf("sizes: %v seconds on %s but %v on %d; a runtime must not grow with the nodes",
				list[i-1].Runtime, grid.Count(list[i-1].Nodes, "node"), z.Runtime, z.Nodes)
		}
	}
	return nil
}

package batsim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// nodes says which nodes are free. They are numbered from 0.
type nodes struct{ taken []bool }

// take takes the nodes of an allocation, such as "0 2-5" or "0,2-5": exactly n, all free.
func (x *nodes) take(alloc string, n int) ([]int, error) {
	var list []int
	for _, part := range strings.FieldsFunc(alloc, func(r rune) bool { return r == ' ' || r == ',' }) {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		a, errA := strconv.Atoi(low)
		b, errB := strconv.Atoi(high)
		if errA != nil || errB != nil || a < 0 || b < a || b >= len(x.taken) {
			return nil, fmt.Errorf("alloc %.100q: %q is no range of nodes; must be numbers from 0 to %d, such as \"0 2-5\"", alloc, part, len(x.taken)-1)
		}
		for i := a; i <= b; i++ {
			if x.taken[i] {
				x.free(list)
				return nil, fmt.Errorf("alloc %.100q: node %d is not free, or is there twice", alloc, i)
			}
			x.taken[i] = true
			list = append(list, i)
		}
	}
	if len(list) != n {
		x.free(list)
		return nil, fmt.Errorf("alloc %.100q has %s; must be exactly %d, as the job's res", alloc, grid.Count(len(list), "node"), n)
	}
	return list, nil
}

// free gives nodes back.
func (x *nodes) free(list []int) {
	for _, i := range list {
		x.taken[i] = false
	}
}

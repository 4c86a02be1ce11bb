package input

import (
	"fmt"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
)

// Nodes of a PROBLEM.json may be divided into slices, all of them into as many: a slot says
// "of", and "free" if its node is already opened.

// slices reads a number of slices; 0 if it is not there.
func (o *object) slices(key string) (n int) {
	if o.has(key) {
		o.value(key, "", func(v string) (err error) {
			if n, err = strconv.Atoi(v); err != nil || n < 1 || n > grid.MaxSlices {
				return fmt.Errorf("%s: must be a whole number of slices, 1 to %d", v, grid.MaxSlices)
			}
			return nil
		})
	}
	return n
}

// readSlices reads what a slot says of slices.
func (p *Problem) readSlices(o *object, s *grid.Slot) {
	of := o.slices("of")
	s.Free = int32(o.slices("free"))
	switch {
	case of == 0 || o.err != nil:
	case p.of == 0:
		p.of = of
	case p.of != of:
		o.err = fmt.Errorf("%s.of: %d, but an earlier slot has %d; all nodes of a file have as many slices", o.path, of, p.of)
	}
}

// divide divides the nodes once all slots are read.
func (p *Problem) divide() error {
	of := max(1, p.of)
	for i := range p.Slots {
		if s := &p.Slots[i]; int(s.Free) > of {
			return fmt.Errorf("slots[%d].free: %d is outside 1..%d, the \"of\" of the file", i, s.Free, of)
		} else if int(s.Free) == of {
			s.Free = 0
		}
	}
	if of > 1 {
		for i := range p.Nodes {
			p.Nodes[i].Slices = of
		}
	}
	return nil
}

package pricing

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// finish derives the finished profile from the base plan.
func (b *Book) finish() {
	b.room = b.room[:0]
	for i, step := range b.base.free {
		if i == 0 || step.Free != b.base.free[i-1].Free {
			b.room = append(b.room, step)
		}
	}
	b.clear = b.room
}

// worth lists the instants worth offering. They are computed on demand: a site that prices
// a leg only at the leg's own start never needs them, and with hundreds of reservations
// they cost more than the plan.
func (b *Book) worth() []grid.Time {
	if b.listed {
		return b.instants
	}
	b.instants, b.listed = b.instants[:0], true
	s := b.state
	// Every step is a start or an end. Some of these are not steps: those at which as many
	// nodes come free as are taken.
	run, res := s.Running, s.Reserved
	add := func(t grid.Time) {
		if n := len(b.instants); t >= s.Now && t < grid.Never && (n == 0 || b.instants[n-1] < t) {
			b.instants = append(b.instants, t)
		}
	}
	steps := b.base.free
	if len(s.Queue) == 0 {
		steps = b.clear
	}
	for _, step := range steps {
		for len(run) > 0 || len(res) > 0 {
			if len(run) > 0 && run[0].End <= step.At && (len(res) == 0 || run[0].End <= res[0].Start) {
				add(run[0].End)
				run = run[1:]
			} else if len(res) > 0 && res[0].Start <= step.At {
				add(res[0].Start)
				res = res[1:]
			} else {
				break
			}
		}
		add(step.At)
	}
	for _, r := range run {
		b.insertInstant(r.End)
	}
	for i := range s.Running {
		if r := &s.Running[i]; s.Sure != nil && r.Limit > r.End {
			b.insertInstant(r.Limit)
		}
	}
	for i := range s.Reserved {
		b.insertInstant(s.Reserved[i].Start)
		b.insertInstant(s.Reserved[i].End)
	}
	return b.instants
}

// insertInstant adds an instant out of order, unless it is there already.
func (b *Book) insertInstant(t grid.Time) {
	if t < b.state.Now || t >= grid.Never {
		return
	}
	if i, there := slices.BinarySearch(b.instants, t); !there {
		b.instants = slices.Insert(b.instants, i, t)
	}
}

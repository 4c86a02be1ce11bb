package gather

import (
	"fmt"
	"slices"
)

// World is a scripted world in which an order is gathered: when its pilots begin is given.
// Their ends are seen at once, and none dies by itself: within the rules a pilot that runs is
// always granted more, or released, before its grant is over.
type World struct {
	Order Order
	Parts []Script // of the order's
}

// Script is what happens to the pilots of a part.
type Script struct {
	Begins []int64    // of the k-th pilot: seconds from its submission to its begin; Never: never, as those beyond the list
	Fits   [][2]int64 // in which seconds it would start at once: from the first up to the second, without it
}

// Result is what came of it.
type Result struct {
	Acts  []Act
	Start int64 // if it committed
	Why   Why   // if it was abandoned; else ""
	Spent int64 // node-seconds idled in all
	Tries int   // that were released
}

// mostRounds bounds the rounds of a world.
const mostRounds = 10_000_000

// Check says what is wrong with a world.
func (w *World) Check() error {
	if err := w.Order.Check(); err != nil {
		return err
	}
	if len(w.Parts) != len(w.Order.Parts) {
		return fmt.Errorf("%d parts have the scripts of %d", len(w.Order.Parts), len(w.Parts))
	}
	if w.Order.Deadline > MostLength {
		return fmt.Errorf("deadline %d s: a world lasts at most %d", w.Order.Deadline, MostLength)
	}
	for i, s := range w.Parts {
		for k, b := range s.Begins {
			if b < Never || b > MostLength {
				return fmt.Errorf("part %d: pilot %d begins after %d s: must be 0 to %d, or -1 for never", i, k, b, MostLength)
			}
		}
	}
	return nil
}

// Run plays a world that passes Check.
func (w *World) Run() Result {
	g := New(w.Order)
	begins := map[[2]int]int64{} // of pilots that were submitted and not given up
	var r Result
	for range mostRounds {
		now := g.Next()
		acts := g.Round(w.look(now, begins))
		r.Acts = append(r.Acts, acts...)
		for _, a := range acts {
			w.follow(g, a, begins)
		}
		switch g.Phase() {
		case Committing:
			r.Start = g.Start()
			r.Spent = g.Spent()
			for key, at := range begins {
				r.Spent += w.Order.Parts[key[0]].Nodes * (r.Start - at)
			}
			r.Tries = g.Tries()
			return r
		case Abandoned:
			r.Why, r.Spent, r.Tries = g.Why(), g.Spent(), g.Tries()
			return r
		}
	}
	panic("gather: a world that does not end")
}

// look shows the pilots that have begun.
func (w *World) look(now int64, begins map[[2]int]int64) Look {
	l := Look{At: now, Fits: make([]bool, len(w.Parts))}
	for i, s := range w.Parts {
		l.Fits[i] = slices.ContainsFunc(s.Fits, func(f [2]int64) bool { return f[0] <= now && now < f[1] })
		for k := range s.Begins {
			if at, ok := begins[[2]int{i, k}]; ok && at <= now {
				l.Pilots = append(l.Pilots, Sight{Part: i, Pilot: k, State: Running, Begin: at})
			}
		}
	}
	return l
}

// follow carries out an act. What is given up is over, and seen to be, within the round.
func (w *World) follow(g *Gather, a Act, begins map[[2]int]int64) {
	key := [2]int{a.Part, a.Pilot}
	switch a.Do {
	case Submit, Begin:
		if list := w.Parts[a.Part].Begins; a.Pilot < len(list) && list[a.Pilot] != Never {
			begins[key] = a.At + list[a.Pilot]
		}
	case Place:
		delete(begins, key)
	case Release, Cancel:
		s := Sight{Part: a.Part, Pilot: a.Pilot, State: Ended, Begin: Never, End: a.At}
		if at, ok := begins[key]; ok && at <= a.At {
			s.Begin = at
		}
		delete(begins, key)
		g.Seen(s)
	}
}

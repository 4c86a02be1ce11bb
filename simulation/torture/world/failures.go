package world

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/grid"
)

// failing reports whether jobs fail in the world of a seed: in every eighth of those whose
// clusters run nothing. What fails elsewhere fails by its manager.
func failing(seed uint64) bool {
	kinds, _ := ManagedKinds(seed)
	return kinds == nil && seed%8 == 5
}

// drawFailures lets the work of every fourth job fail, and has those that come after others do
// so on any condition.
func (w *World) drawFailures(r *rand.Rand) {
	for i := range w.Brokers {
		jobs := w.Brokers[i].Jobs
		for k := range jobs {
			if r.IntN(4) == 0 {
				jobs[k].Exit = 1 + r.IntN(3)
			}
			for d := range jobs[k].After {
				jobs[k].After[d].On = grid.Conditions()[r.IntN(3)]
			}
		}
	}
}

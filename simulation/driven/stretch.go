package driven

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/grid"
)

// Stretches draws stretches of a log, for worlds side by side: each is so many jobs in a row.
// Their starts are drawn uniformly; the same seed draws the same.
type Stretches struct {
	Jobs   []grid.LocalJob // of the log, in order of submission
	Length int             // jobs of each, 1..len(Jobs)
	Nodes  int
	Extend bool
}

// Draw returns n worlds.
func (s *Stretches) Draw(n int, seed uint64) ([]*World, error) {
	r := rand.New(rand.NewPCG(seed, 1))
	worlds := make([]*World, n)
	for i := range worlds {
		from := r.IntN(len(s.Jobs) - s.Length + 1)
		var err error
		if worlds[i], err = New(s.Jobs[from:from+s.Length], s.Nodes, s.Extend); err != nil {
			return nil, err
		}
	}
	return worlds, nil
}

// One draws a single world.
func (s *Stretches) One(seed uint64) (*World, error) {
	w, err := s.Draw(1, seed)
	if err != nil {
		return nil, err
	}
	return w[0], nil
}

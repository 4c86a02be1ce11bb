package world

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/grid"
)

// Jobs of unlike parts: in a third of the worlds a third of the jobs have two or three, at
// offsets, some of them apart or together. The first worlds have none: recorded seeds hold them
// as they are.

// Composed reports whether jobs of a seed's world have parts.
func Composed(seed uint64) bool { return seed > 60 && seed%3 == 2 }

// drawParts gives jobs their parts. Those that bring work keep their one piece.
func (w *World) drawParts() {
	r := rand.New(rand.NewPCG(w.seed, streamParts))
	for i := range w.Brokers {
		jobs := w.Brokers[i].Jobs
		for k := range jobs {
			if j := &jobs[k]; r.IntN(3) == 0 && j.Work == nil {
				drawParts(r, j)
			}
		}
	}
}

func drawParts(r *rand.Rand, j *grid.Job) {
	parts := make([]grid.JobPart, 2+r.IntN(2))
	for i := range parts {
		p := &parts[i]
		*p = grid.JobPart{Name: string(rune('a' + i)), Nodes: 1 + r.IntN(6), Length: grid.Duration(3+r.IntN(15)) * grid.Minute,
			MinPerformance: j.MinPerformance, MaxPrice: j.MaxPrice, OneSite: r.IntN(4) == 0}
		if i > 0 && r.IntN(2) == 0 {
			p.Offset = grid.Duration(1+r.IntN(12)) * grid.Minute
		}
		if r.IntN(3) == 0 {
			p.Run = p.Length * grid.Duration(1+r.IntN(9)) / 10
		}
		if r.IntN(5) == 0 {
			p.Avoid = []string{SiteNames[r.IntN(len(SiteNames))]}
		}
	}
	j.Flexible, j.Phi, j.Fix, j.Sizes, j.Run, j.Budget = 0, 0, 0, nil, 0, 0
	switch r.IntN(4) {
	case 0:
		j.Apart = true
	case 1:
		j.Together = true
	}
	j.Money(parts, false, nil)
}

// Parts of nodes: in a quarter of the worlds the nodes of the sites that plan by reservations are
// divided, simulated or behind a manager, and half of the jobs of one piece, and of the parts of
// others, take a part of each node. The first worlds have none, as above.

// Sliced reports whether a seed's world divides nodes.
func Sliced(seed uint64) bool { return seed > 60 && (seed%8 == 2 || seed%8 == 5) }

// drawSlices divides the nodes, and gives jobs their parts of them.
func (w *World) drawSlices() {
	r := rand.New(rand.NewPCG(w.seed, streamSlices))
	for i := range w.Sites {
		s := &w.Sites[i]
		of := 2 << r.IntN(3)
		if s.promises != nil || s.Deadlines != nil {
			continue
		}
		for k := range s.Config.Groups {
			g := &s.Config.Groups[k]
			g.Slices, g.Cores, g.Machine.GPUs, g.Machine.Memory = of, 64, 8, 512<<30
		}
	}
	for i := range w.Brokers {
		jobs := w.Brokers[i].Jobs
		for k := range jobs {
			j := &jobs[k]
			if r.IntN(2) == 0 && !j.Composed() {
				j.Portion = portion(r)
			}
			for p := range j.Parts {
				if j.Composed() && r.IntN(2) == 0 {
					j.Parts[p].Portion = portion(r)
				}
			}
		}
	}
}

// portion draws a part of a node.
func portion(r *rand.Rand) (p grid.Portion) {
	p.GPUs = 1 + r.IntN(6)
	if r.IntN(3) == 0 {
		p.Cores = 1 + r.IntN(40)
	}
	if r.IntN(3) == 0 {
		p.Memory = int64(1+r.IntN(300)) << 30
	}
	return p
}

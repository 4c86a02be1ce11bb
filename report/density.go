package report

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/draw"
)

// steps is how many steps a band shows where its bars are too many: one a pixel.
const steps = int(plotWidth / pixel)

// density draws how full a band was: the nodes of legs at the bottom, those of local
// jobs on top of them, each the mean over a step. It takes one pass over the bars and
// one over the steps.
func (p *picture) density(b *band) {
	legs, both := make([]float64, steps), make([]float64, steps)
	all := slices.Concat(b.bars, b.mixed)
	spread(legs, all, p.until, (*bar).usedByVO)
	spread(both, all, p.until, (*bar).used)
	p.Open("z")
	p.Area("lf", stairs(both, b.nodes, b.y, b.h), "")
	p.Area("vf", stairs(legs, b.nodes, b.y, b.h), "")
	p.Close()
}

// spread sets each step of [0, until] to the mean sum of what the bars weigh
// during it.
func spread(mean []float64, bars []bar, until grid.Time, weighs func(*bar) float64) {
	whole := make([]float64, len(mean)+1) // changes at the opening of a step
	n := len(mean)
	for i := range bars {
		one := &bars[i]
		weight := weighs(one)
		if weight == 0 {
			continue
		}
		from, to := float64(one.start)/float64(until)*float64(n), float64(one.end)/float64(until)*float64(n)
		first, last := min(int(from), n-1), min(int(to), n-1)
		if first == last {
			mean[first] += weight * (to - from)
			continue
		}
		mean[first] += weight * (float64(first+1) - from)
		mean[last] += weight * (to - float64(last))
		whole[first+1] += weight
		whole[last] -= weight
	}
	level := 0.0
	for k := range mean {
		level += whole[k]
		mean[k] += level
	}
}

// stairs is the outline of a step function, from 0 to most over the height h.
func stairs(mean []float64, most int, top, h draw.Px) []draw.Point {
	ground := top + h
	list := []draw.Point{{X: plotLeft, Y: ground}}
	at := ground
	for k, v := range mean {
		y := ground - draw.Px(min(v/float64(most), 1)*float64(h)+0.5)
		if y == at {
			continue
		}
		x := plotLeft + draw.Px(k)*pixel
		list = append(list, draw.Point{X: x, Y: at}, draw.Point{X: x, Y: y})
		at = y
	}
	return append(list, draw.Point{X: plotLeft + plotWidth, Y: at}, draw.Point{X: plotLeft + plotWidth, Y: ground})
}

package report

import (
	"strings"

	"bourse"
)

// steps is how many steps a band shows where its bars are too many: one a pixel.
const steps = plotWidth / pixel

// density draws how full a band was: the nodes of legs from the ground up,
// those of local jobs upon them, each the mean over a step. It costs a walk over
// the bars and one over the steps.
func (p *picture) density(b *band) {
	legs, both := make([]float64, steps), make([]float64, steps)
	spread(legs, b.bars, p.until, func(one *bar) bool { return one.vo })
	spread(both, b.bars, p.until, func(*bar) bool { return true })
	p.print("<path class=\"lf\" d=\"%s\"/>\n<path class=\"vf\" d=\"%s\"/>\n", p.area(b, both), p.area(b, legs))
}

// spread sets each step of [0, until] to the mean number of nodes that the
// bars that count take during it.
func spread(mean []float64, bars []bar, until bourse.Time, counts func(*bar) bool) {
	whole := make([]float64, len(mean)+1) // changes at the opening of a step
	n := len(mean)
	for i := range bars {
		one := &bars[i]
		if !counts(one) {
			continue
		}
		from, to := float64(one.start)/float64(until)*float64(n), float64(one.end)/float64(until)*float64(n)
		first, last := min(int(from), n-1), min(int(to), n-1)
		nodes := float64(one.nodes)
		if first == last {
			mean[first] += nodes * (to - from)
			continue
		}
		mean[first] += nodes * (float64(first+1) - from)
		mean[last] += nodes * (to - float64(last))
		whole[first+1] += nodes
		whole[last] -= nodes
	}
	level := 0.0
	for k := range mean {
		level += whole[k]
		mean[k] += level
	}
}

// area is the outline of a step function over a band's ground.
func (p *picture) area(b *band, mean []float64) string {
	var d strings.Builder
	ground := b.y + b.h
	d.WriteString("M" + px(plotLeft).String() + " " + px(ground).String())
	at := ground
	for k, nodes := range mean {
		y := ground - int(min(nodes/float64(b.nodes), 1)*float64(b.h)+0.5)
		if y == at {
			continue
		}
		x := px(plotLeft + k*pixel).String()
		if k > 0 {
			d.WriteString("H" + x)
		}
		d.WriteString("V" + px(y).String())
		at = y
	}
	d.WriteString("H" + px(plotLeft+plotWidth).String() + "V" + px(ground).String() + "Z")
	return d.String()
}

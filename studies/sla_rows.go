package studies

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/sla"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// SLAReservations runs the experiment of Netto, Bubendorfer and Buyya on a trace
// (theirs is SDSC SP2) and returns its figures beside the paper's. All settings
// draw the same numbers; differences are paired by interval, and their intervals
// of confidence are over the intervals of the trace, each the mean of its draws.
// It is an error if the trace has no two whole intervals of 15 days.
//
// A draw of every interval of SDSC takes about a quarter of a minute on two
// processors.
func SLAReservations(jobs []grid.LocalJob, opt SLAOptions) ([]evidence.Row, error) {
	if opt.Runs < 1 {
		return nil, fmt.Errorf("runs = %d: must be 1 or more", opt.Runs)
	}
	list := slaIntervals(jobs)
	if opt.Intervals > 0 {
		list = list[:min(opt.Intervals, len(list))]
	}
	if len(list) < 2 {
		return nil, fmt.Errorf("the trace has %d whole intervals of 15 days; must be 2 or more", len(list))
	}
	p := &slaPlan{}
	p.all() // which settings there are
	p.results = runSLAs(list, p.cells, opt)
	p.rows = nil
	p.all()
	return p.rows, nil
}

// slaPlan makes the rows in two passes: the first, without results, notes the
// settings that the rows ask for; the second has their outcomes.
type slaPlan struct {
	cells   []slaCell
	results *slaResults
	rows    []evidence.Row
}

// of is one figure of a setting by interval.
func (p *slaPlan) of(c slaCell, figure func(*slaOutcome) float64) []float64 {
	if p.results == nil {
		p.cells = noted(p.cells, c)
		return nil
	}
	return figuresOf(p.results.outcomes[c], figure)
}

func (p *slaPlan) used(c slaCell) []float64 {
	return p.of(c, func(o *slaOutcome) float64 { return o.used })
}

// row adds a row.
func (p *slaPlan) row(measure, setting string, paper evidence.Claim, s evidence.Sample, j evidence.Judgement) {
	if _, ok := paper.Number(); ok {
		j = evidence.Beside(s.Estimate, paper)
	}
	p.rows = append(p.rows, evidence.NewRow(measure, setting, paper, "interval of 15 days", s, j))
}

// gain adds a row of the paired difference a - b, claimed to be above 0.
func (p *slaPlan) gain(measure, setting, claim string, a, b []float64) {
	p.row(measure, setting, evidence.Words(claim), evidence.Difference(a, b), evidence.More(a, b))
}

// open adds a row with a figure about which the paper says nothing, compared with 0.
func (p *slaPlan) open(measure, setting string, s evidence.Sample) {
	p.row(measure, setting, evidence.Claim{}, s, evidence.Sign(s.Estimate))
}

var slaFrequencies = []int{100, 125, 150}

// edf is the setting that the others vary: earliest deadline first, windows that
// never close before their start.
func edf(frequency, phi int) slaCell {
	return slaCell{frequency: frequency, order: sla.EDF, phi: phi, fix: sla.NeverFix}
}

func times(frequency int) string { return fmt.Sprintf("x%v", float64(frequency)/100) }

// all adds the rows in the order of the paper's figures.
func (p *slaPlan) all() {
	p.magnitude()
	p.orders()
	p.lengths()
	p.breakEven()
	p.estimates()
	p.fixing()
	p.alternatives()
	p.beyond()
}

// magnitude: the utilisation of FIFO without flexibility, in the text of section
// 4.2.
func (p *slaPlan) magnitude() {
	rigid := func(f int) []float64 {
		return p.used(slaCell{frequency: f, order: sla.FIFO, fix: sla.NeverFix})
	}
	for i, f := range slaFrequencies {
		paper := []float64{46.8, 50.9, 54.7}[i]
		p.row("utilisation %", times(f)+", FIFO, rigid", evidence.Figure(paper), evidence.Average(rigid(f)), evidence.Judgement{})
	}
	for i, f := range slaFrequencies[1:] {
		paper := []float64{1.088, 1.169}[i]
		p.row("ratio of utilisations", times(f)+" to x1, FIFO, rigid", evidence.Figure(paper), evidence.Quotient(rigid(f), rigid(100)), evidence.Judgement{})
	}
}

// orders: figure 1, against a random order.
func (p *slaPlan) orders() {
	for _, f := range slaFrequencies {
		in := func(o sla.Order) []float64 {
			c := edf(f, 100)
			c.order = o
			return p.used(c)
		}
		p.gain("utilisation above shuffle, points", times(f)+", phi 100 %, EDF", "best", in(sla.EDF), in(sla.Shuffle))
		for _, o := range []sla.Order{sla.LFF, sla.BJF, sla.FIFO, sla.Revenue} {
			above := evidence.Difference(in(o), in(sla.Shuffle))
			claim, verdict := evidence.Claim{}, evidence.Sign(above.Estimate)
			if o != sla.Revenue { // the paper's future work
				claim, verdict = evidence.Words("below EDF"), evidence.More(in(sla.EDF), in(o))
			}
			p.row("utilisation above shuffle, points", fmt.Sprintf("%s, phi 100 %%, %s", times(f), strings.ToUpper(o.String())), claim, above, verdict)
		}
		c := edf(f, 100)
		c.order = sla.Revenue
		p.open("revenue above EDF, % of it", times(f)+", phi 100 %, REVENUE", evidence.Quotient(p.of(c, revenue), p.of(edf(f, 100), revenue)).Plus(-1).Times(100))
	}
}

func revenue(o *slaOutcome) float64  { return o.revenue }
func work(o *slaOutcome) float64     { return o.work }
func accepted(o *slaOutcome) float64 { return o.accepted }

// lengths: figure 2, and what utilisation alone does not show.
func (p *slaPlan) lengths() {
	for _, f := range slaFrequencies {
		for i, phi := range slaPhis {
			p.gain("utilisation above rigid, points", fmt.Sprintf("%s, EDF, phi %d %%", times(f), phi), "above 0", p.used(edf(f, phi)), p.used(edf(f, 0)))
			if i > 0 {
				p.gain("utilisation above the shorter interval, points", fmt.Sprintf("%s, EDF, phi %d %% to %d %%", times(f), slaPhis[i-1], phi),
					"longer is higher", p.used(edf(f, phi)), p.used(edf(f, slaPhis[i-1])))
			}
		}
	}
	for _, m := range []struct {
		name string
		of   func(*slaOutcome) float64
	}{
		{"accepted work above rigid, points of the work submitted", work},
		{"acceptance above rigid, points", accepted},
		{"revenue above rigid, points of the full price submitted, discount 20 %", revenue},
	} {
		for _, f := range slaFrequencies {
			for _, phi := range slaPhis {
				p.open(m.name, fmt.Sprintf("%s, EDF, phi %d %%", times(f), phi), evidence.Difference(p.of(edf(f, phi), m.of), p.of(edf(f, 0), m.of)))
			}
		}
	}
}

// breakEven is the discount, in % of the full price at phi = 1, at which
// flexible windows bring as much revenue as rigid ones: revenue falls in
// proportion to it.
func (p *slaPlan) breakEven() {
	const discount = 20 // under which the settings ran
	for _, f := range slaFrequencies {
		for _, phi := range slaPhis {
			more, rigid, paid := p.of(edf(f, phi), work), p.of(edf(f, 0), work), p.of(edf(f, phi), revenue)
			gained, given := make([]float64, len(more)), make([]float64, len(more))
			for i := range more {
				gained[i], given[i] = more[i]-rigid[i], (more[i]-paid[i])/discount
			}
			p.open("discount that pays for itself, % at phi 1", fmt.Sprintf("%s, EDF, phi %d %%", times(f), phi), evidence.Quotient(gained, given))
		}
	}
}

// estimates: figure 3, overestimated runtimes.
func (p *slaPlan) estimates() {
	const f = 100
	inexact := func(phi int) slaCell {
		c := edf(f, phi)
		c.inexact = true
		return c
	}
	for _, phi := range slaPhis {
		setting := fmt.Sprintf("%s, EDF, phi %d %%, ", times(f), phi)
		over := evidence.Quotient(p.used(inexact(phi)), p.used(inexact(0))).Plus(-1).Times(100)
		exact := evidence.Quotient(p.used(edf(f, phi)), p.used(edf(f, 0))).Plus(-1).Times(100)
		p.open("utilisation above rigid, % of it", setting+"accurate estimates", exact)
		p.open("utilisation above rigid, % of it", setting+"overestimates", over)
		p.row("effect with overestimates less effect with accurate ones, points", fmt.Sprintf("%s, EDF, phi %d %%", times(f), phi),
			evidence.Words("more with overestimates"), evidence.Difference(over.Values, exact.Values), evidence.More(over.Values, exact.Values))
	}
	again := inexact(100)
	again.replan = true
	p.open("utilisation with replanning at early ends above without, points", times(f)+", EDF, phi 100 %, overestimates", evidence.Difference(p.used(again), p.used(inexact(100))))
	lost := p.of(inexact(100), func(o *slaOutcome) float64 { return o.lost })
	p.open("lost time, % of the node-time reserved", times(f)+", EDF, phi 100 %, overestimates", evidence.Average(lost))
}

// fixing: figure 4.
func (p *slaPlan) fixing() {
	last := slaCell{}
	for i, x := range []int{0, 250, 500, 750, sla.NeverFix} {
		c := edf(125, 100)
		c.fix = x
		name := fmt.Sprintf("x %v", float64(x)/1000)
		if x == sla.NeverFix {
			name = "never"
		}
		first := c
		first.fix = 0
		if i > 0 {
			p.gain("utilisation above fixing at once, points", "x1.25, EDF, phi 100 %, fixed at "+name, "above 0", p.used(c), p.used(first))
			p.gain("utilisation above fixing sooner, points", "x1.25, EDF, phi 100 %, fixed at "+name, "later is higher", p.used(c), p.used(last))
		}
		last = c
	}
}

// alternatives adds figures 5 and 6. All windows are rigid; a refused job takes the nearest
// alternative.
func (p *slaPlan) alternatives() {
	const f = 125
	for _, mode := range []struct {
		name          string
		earlier, half bool
	}{{"all users take any", false, false}, {"earlier ones alone", true, false}, {"half of the users take any", false, true}} {
		for _, threshold := range slaPhis {
			c := edf(f, 0)
			c.threshold, c.earlier, c.half = threshold, mode.earlier, mode.half
			setting := fmt.Sprintf("%s, EDF, threshold %d %%, %s", times(f), threshold, mode.name)
			p.gain("utilisation above no alternatives, points", setting, "above 0", p.used(c), p.used(edf(f, 0)))
			p.gain("utilisation of intervals above alternatives, points", setting, "intervals help more", p.used(edf(f, threshold)), p.used(c))
			phi := evidence.Average(p.of(c, func(o *slaOutcome) float64 { return o.phi }))
			p.row("mean |phi| of alternatives over the threshold", setting, evidence.Words("not much below 1"), phi, evidence.AtLeast(phi.Estimate, 0.9))
		}
	}
}

// beyond is what the paper leaves to future work: half of the owners of rigid
// windows agree to be shifted for a compensation.
func (p *slaPlan) beyond() {
	for _, phi := range slaPhis {
		c := edf(100, 0)
		c.shift = phi
		for _, m := range []struct {
			name string
			of   func(*slaOutcome) float64
		}{
			{"utilisation above no shifts, points", func(o *slaOutcome) float64 { return o.used }},
			{"accepted work above no shifts, points of the work submitted", work},
			{"revenue above no shifts, points of the full price submitted, compensation 10 %", revenue},
		} {
			p.open(m.name, fmt.Sprintf("x1, EDF, rigid, half of the owners shift by up to %d %%", phi), evidence.Difference(p.of(c, m.of), p.of(edf(100, 0), m.of)))
		}
	}
}

package studies

import (
	"fmt"

	"github.com/bourse-grid/bourse/policy/backfill"
)

// pricingPaper holds the paper's figures of a trace.
type pricingPaper struct {
	utilisation [3]float64 // by load, %
	free        float64    // pay nothing at alpha 0, %
	below       [3]float64 // below the high-priority rate at alpha 0, by load, %
}

// pricingPapers by name of the trace.
var pricingPapers = map[string]pricingPaper{
	"SP2": {[3]float64{63.4, 77.8, 87.4}, 75, [3]float64{80, 70, 48}},
	"CTC": {[3]float64{58.7, 68.4, 78.8}, 75, [3]float64{80, 70, 58}},
}

// pricingLoads are the shares of the jobs that are copied, in hundredths.
var pricingLoads = [3]int{0, 20, 40}

// pricingPlan makes the rows in two passes: the first, without results, notes the
// settings that the rows ask for; the second has their outcomes.
type pricingPlan struct {
	traces  []PricingTrace
	blocks  []int // of the workload, by trace
	trace   int   // of the rows at work
	cells   []pricingKey
	sampled []pricingKey
	results *pricingResults
	rows    []Row
}

// all adds the rows of each trace in the order of the paper's text, then what it
// leaves out.
func (p *pricingPlan) all() {
	for p.trace = range p.traces {
		p.utilisation()
		p.shares()
		p.prices()
		p.backfilling(mixedAlpha)
		p.waits()
		p.waitsByLoad()
		p.mixtures()
		p.priority()
		p.forecasts()
		p.notice()
		p.lies()
		p.backfilling(mixedTenths)
	}
}

// of is one figure of a setting by run.
func (p *pricingPlan) of(c pricingCell, figure func(*pricingOutcome) float64) []float64 {
	k := pricingKey{p.trace, c}
	if p.results == nil {
		p.cells = noted(p.cells, k)
		return nil
	}
	return figuresOf(p.results.outcomes[k], figure)
}

func utilisation(o *pricingOutcome) float64 { return o.utilisation }
func price(o *pricingOutcome) float64       { return o.price }
func free(o *pricingOutcome) float64        { return o.free }
func below(o *pricingOutcome) float64       { return o.below }
func wait(o *pricingOutcome) float64        { return o.wait }
func local(o *pricingOutcome) float64       { return o.local }

// row adds a row of the mean of values. A figure of the paper that is a number
// has its verdict by it.
func (p *pricingPlan) row(measure, setting string, paper Claim, values []float64, j judgement) {
	p.sample(measure, setting, paper, average(values), j)
}

func (p *pricingPlan) sample(measure, setting string, paper Claim, s sample, j judgement) {
	if _, ok := paper.Number(); ok {
		j = beside(s.estimate, paper)
	}
	row := newRow(measure, p.traces[p.trace].Name+", "+setting, paper, "seed", s, j)
	row.Blocks = p.blocks[p.trace]
	p.rows = append(p.rows, row)
}

// paper is the paper's figures of the trace at work, if it is one of the paper's.
func (p *pricingPlan) paper() (pricingPaper, bool) {
	x, ok := pricingPapers[p.traces[p.trace].Name]
	return x, ok
}

// figure is a claim of the paper on its own traces, nothing on others.
func (p *pricingPlan) figure(of func(*pricingPaper) float64) Claim {
	if x, ok := p.paper(); ok {
		return FigureOf(of(&x), 1) // a draw of its own
	}
	return Claim{}
}

// more judges a > b, runs paired.
func more(a, b []float64) judgement {
	of, _ := interval(b)
	return exceeds(difference(a, b).estimate, of)
}

// compared words a figure next to another of the same runs about which the paper says
// nothing.
func compared(a, b []float64, other string) judgement { return than(difference(a, b).estimate, other) }

func (p *pricingPlan) utilisation() {
	for i, load := range pricingLoads {
		v := p.of(tenth(load, 0), utilisation)
		p.row("utilisation, %", fmt.Sprintf("+%d %%", load), p.figure(func(x *pricingPaper) float64 { return x.utilisation[i] }), v, unjudged("no figure"))
	}
}

// shares: figure 6, and the text beside it.
func (p *pricingPlan) shares() {
	v := p.of(tenth(0, 0), free)
	p.row("reservations that pay nothing, %", tenth(0, 0).String(), p.figure(func(x *pricingPaper) float64 { return x.free }), v, unjudged("no figure"))
	for i, load := range pricingLoads {
		v := p.of(tenth(load, 0), below)
		p.row("reservations below the high-priority rate, %", tenth(load, 0).String(), p.figure(func(x *pricingPaper) float64 { return x.below[i] }), v, unjudged("no figure"))
	}
	for k, share := range dearestShares {
		for _, load := range pricingLoads {
			v := p.of(tenth(load, 0), func(o *pricingOutcome) float64 { return o.dearest[k] })
			p.row(fmt.Sprintf("rho that the dearest %d %% pay or exceed", share), tenth(load, 0).String(), Words("above 1, very high"), v, exceeds(average(v).plus(-1).estimate, 1))
		}
	}
}

// prices: figure 3 and figure 4.
func (p *pricingPlan) prices() {
	for alpha := 0; alpha <= 10; alpha++ {
		v := p.of(tenth(0, alpha), price)
		if alpha == 0 {
			p.row("mean price, SU", tenth(0, alpha).String(), Claim{}, v, unjudged(measured))
			continue
		}
		p.row("mean price, SU", tenth(0, alpha).String(), Words("falls"), v, more(p.of(tenth(0, alpha-1), price), v))
	}
	v := p.of(tenth(0, 10), free)
	p.row("reservations that pay nothing, %", tenth(0, 10).String(), Words("all"), v, atLeast(average(v).estimate, 99.5))
	for _, alpha := range []int{0, 5} {
		p.rising("mean price as the load rises, SU", alpha, price)
	}
}

// rising adds a row for each load, from the second on with the verdict on its rise.
func (p *pricingPlan) rising(measure string, alpha int, figure func(*pricingOutcome) float64) {
	for i, load := range pricingLoads {
		claim, j, v := Claim{}, unjudged(measured), p.of(tenth(load, alpha), figure)
		if i > 0 {
			claim, j = Words("rises"), more(v, p.of(tenth(pricingLoads[i-1], alpha), figure))
		}
		p.row(measure, tenth(load, alpha).String(), claim, v, j)
	}
}

// backfilling: figure 5, with random alphas that are mixed in one way or the other, which
// the paper does not say.
func (p *pricingPlan) backfilling(alpha int) {
	for _, load := range pricingLoads {
		easy := tenth(load, alpha)
		promised := easy
		promised.policy = backfill.Conservative
		a, b := p.of(easy, price), p.of(promised, price)
		setting := easy.String()
		p.row("mean price, SU", setting+", EASY", Claim{}, a, unjudged(measured))
		p.row("mean price, SU", setting+", conservative", Claim{}, b, unjudged(measured))
		p.row("price under EASY above conservative, SU", setting, Words("above 0"), minus(a, b), more(a, b))
	}
}

// waits: figure 3.
func (p *pricingPlan) waits() {
	for alpha := 0; alpha <= 10; alpha++ {
		c := tenth(0, alpha)
		reserved, other := p.of(c, wait), p.of(c, local)
		claim, verdict := p.waitClaim(alpha, reserved, other)
		p.row("wait of reservations, h", c.String(), claim, reserved, verdict)
		p.row("wait of best effort, h", c.String(), Claim{}, other, compared(other, p.of(tenth(0, 0), local), "alpha 0"))
	}
	p.row("alpha from which reservations wait longer", "+0 %", Claim{}, p.crossing(), unjudged("no figure"))
}

// waitClaim is what the paper says of the waits at an alpha, and whether it is so.
func (p *pricingPlan) waitClaim(alpha int, reserved, other []float64) (Claim, judgement) {
	name := p.traces[p.trace].Name
	switch {
	case alpha == 10:
		return Words("above best effort"), more(reserved, other)
	case alpha <= 3 && name == "CTC":
		return Words("below best effort"), more(other, reserved)
	case alpha <= 3 && name == "SP2":
		mean, _ := interval(other)
		return Words("best effort's or longer"), atLeast(difference(reserved, other).estimate, -equivalence*mean)
	}
	return Claim{}, compared(reserved, other, "best effort")
}

// crossing returns, by run, the lowest alpha at which the wait of reservations exceeds that
// of best effort, interpolated linearly between tenths.
func (p *pricingPlan) crossing() []float64 {
	var gaps [11][]float64
	for alpha := range gaps {
		gaps[alpha] = minus(p.of(tenth(0, alpha), wait), p.of(tenth(0, alpha), local))
	}
	list := make([]float64, len(gaps[0]))
	for run := range list {
		list[run] = 1
		for alpha := range gaps {
			if gap := gaps[alpha][run]; gap > 0 {
				list[run] = float64(alpha) / 10
				if alpha > 0 {
					before := gaps[alpha-1][run]
					list[run] = (float64(alpha-1) + before/(before-gap)) / 10
				}
				break
			}
		}
	}
	return list
}

// waitsByLoad: figure 4.
func (p *pricingPlan) waitsByLoad() {
	for _, alpha := range []int{0, 5} {
		p.rising("wait of reservations as the load rises, h", alpha, wait)
	}
}

// mixtures: other shares of reservations.
func (p *pricingPlan) mixtures() {
	few, many, only := tenth(0, 0), tenth(0, 0), tenth(0, 0)
	many.share, only.share = 30, 100
	p.row("mean price, SU", many.String(), Words("slightly below 10 %"), p.of(many, price), more(p.of(few, price), p.of(many, price)))
	p.row("wait of best effort, h", many.String(), Words("above 10 %"), p.of(many, local), more(p.of(many, local), p.of(few, local)))
	v := p.of(only, price)
	usual, _ := interval(p.of(few, price))
	p.row("mean price, SU", only.String(), Words("0"), v, within(average(v).estimate, equivalence*usual))
}

// priority: a high-priority queue in place of the reservations of the same jobs.
func (p *pricingPlan) priority() {
	for _, exact := range []bool{false, true} {
		book, queue := tenth(0, 0), tenth(0, 0)
		queue.priority = true
		book.exact, queue.exact = exact, exact
		a, b := p.of(book, wait), p.of(queue, wait)
		p.row("wait in the high-priority queue, h", queue.String(), Claim{}, b, unjudged(measured))
		claim, verdict := Words("the queue is faster"), more(a, b)
		if exact {
			// About equal: the two differ by less than a tenth of the wait of best effort.
			waits, _ := interval(p.of(book, local))
			claim, verdict = Words("about equal"), within(difference(a, b).estimate, waits/10)
			p.row("wait of reservations, h", book.String(), Claim{}, a, unjudged(measured))
		}
		p.row("wait of reservations above the queue's, h", queue.String(), claim, minus(a, b), verdict)
	}
}

// quotes is one figure of the forecasts of a setting by run.
func (p *pricingPlan) quotes(c pricingCell, figure func(*quoteOutcome) float64) []float64 {
	k := pricingKey{p.trace, c}
	if p.results == nil {
		p.sampled = noted(p.sampled, k)
		return nil
	}
	return figuresOf(p.results.quotes[k], figure)
}

// forecasts: quoted delays against those that came.
func (p *pricingPlan) forecasts() {
	var nets [2][]float64
	for i, exact := range []bool{false, true} {
		c := tenth(0, 0)
		c.exact = exact
		waiting := p.quotes(c, func(o *quoteOutcome) float64 { return o.waiting })
		net := p.quotes(c, func(o *quoteOutcome) float64 { return o.net })
		nets[i] = net
		claim, verdict := Words("an estimate only"), between(average(waiting).estimate, -1, accurate)
		if exact {
			claim, verdict = Words("accurate"), atLeast(average(waiting).estimate, accurate)
		}
		p.row("correlation of price and later starts of those who waited", c.String(), claim, waiting, verdict)
		p.row("correlation of price and net delay of all", c.String(), Claim{}, net, compared(net, nets[0], "estimates"))
		charged := p.quotes(c, func(o *quoteOutcome) float64 { return o.charged })
		for _, m := range []struct {
			name string
			of   func(*quoteOutcome) float64
		}{
			{"later starts of those who waited, % of the price", func(o *quoteOutcome) float64 { return o.came }},
			{"net delay of all, % of the price", func(o *quoteOutcome) float64 { return o.total }},
			{"refunds that meet a delay that came, % of the price", func(o *quoteOutcome) float64 { return o.met }},
		} {
			p.ratio(m.name, c.String(), p.quotes(c, m.of), charged)
		}
	}
}

// accurate is the correlation from which on forecasts count as accurate.
const accurate = 0.95

// ratio adds a row with the ratio of two means in percent, about which the paper says
// nothing, compared with 100.
func (p *pricingPlan) ratio(measure, setting string, a, b []float64) {
	r := quotient(a, b).times(100)
	p.sample(measure, setting, Claim{}, r, worded(r.plus(-100).estimate, "more than charged", "less than charged"))
}

// notice: whether it is cheap to ask early. All ask for the earliest start that is so
// much later.
func (p *pricingPlan) notice() {
	now := tenth(0, 0)
	for _, n := range notices {
		c := now
		c.notice = n
		setting := c.String() + ", asked " + n.Words() + " before"
		claim, verdict := Claim{}, unjudged(measured)
		if n > 0 {
			claim, verdict = Words("low in advance"), more(p.of(now, price), p.of(c, price))
		}
		p.row("mean price by notice, SU", setting, claim, p.of(c, price), verdict)
		p.row("reservations that pay nothing, %", setting, Claim{}, p.of(c, free), compared(p.of(c, free), p.of(now, free), "no notice"))
		late := func(o *pricingOutcome) float64 { return o.late }
		p.row("reservations that start later than wanted, %", setting, Claim{}, p.of(c, late), compared(p.of(c, late), p.of(now, late), "no notice"))
	}
}

// lies: what a user gains by declaring another delay cost than the true one, which is
// 1. Reservations that weigh price and wait equally, alpha .5, avoid dear ones.
func (p *pricingPlan) lies() {
	honest := tenth(0, 5)
	honest.lying, honest.declared = true, 100
	harm := func(o *pricingOutcome) float64 { return o.harm }
	net := func(o *pricingOutcome) float64 { return o.harm - o.refund }
	p.row("waiting of one user's jobs, SU a job", honest.String()+", delay cost told truly", Claim{}, p.of(honest, harm), unjudged(measured))
	for _, declared := range []int{0, 50, 200, 400} {
		c := honest
		c.declared = declared
		setting := fmt.Sprintf("%s, delay cost told as %v", c, float64(declared)/100)
		gain := minus(p.of(honest, harm), p.of(c, harm))
		p.row("gain of a lie without refunds, SU a job", setting, Claim{}, gain, sign(average(gain).estimate))
		gain = minus(p.of(honest, net), p.of(c, net))
		p.row("gain of a lie with refunds, SU a job", setting, Claim{}, gain, sign(average(gain).estimate))
	}
}

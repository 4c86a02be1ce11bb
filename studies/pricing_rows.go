package studies

import (
	"fmt"

	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/studies/evidence"
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
	rows    []evidence.Row
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
func (p *pricingPlan) row(measure, setting string, paper evidence.Claim, values []float64, j evidence.Judgement) {
	p.sample(measure, setting, paper, evidence.Average(values), j)
}

func (p *pricingPlan) sample(measure, setting string, paper evidence.Claim, s evidence.Sample, j evidence.Judgement) {
	if _, ok := paper.Number(); ok {
		j = evidence.Beside(s.Estimate, paper)
	}
	row := evidence.NewRow(measure, p.traces[p.trace].Name+", "+setting, paper, "seed", s, j)
	row.Blocks = p.blocks[p.trace]
	p.rows = append(p.rows, row)
}

// paper is the paper's figures of the trace at work, if it is one of the paper's.
func (p *pricingPlan) paper() (pricingPaper, bool) {
	x, ok := pricingPapers[p.traces[p.trace].Name]
	return x, ok
}

// figure is a claim of the paper on its own traces, nothing on others.
func (p *pricingPlan) figure(of func(*pricingPaper) float64) evidence.Claim {
	if x, ok := p.paper(); ok {
		return evidence.FigureOf(of(&x), 1) // a draw of its own
	}
	return evidence.Claim{}
}

// compared words a figure next to another of the same runs about which the paper says
// nothing.
func compared(a, b []float64, other string) evidence.Judgement {
	return evidence.Than(evidence.Difference(a, b).Estimate, other)
}

func (p *pricingPlan) utilisation() {
	for i, load := range pricingLoads {
		v := p.of(tenth(load, 0), utilisation)
		p.row("utilisation, %", fmt.Sprintf("+%d %%", load), p.figure(func(x *pricingPaper) float64 { return x.utilisation[i] }), v, evidence.Unjudged("no figure"))
	}
}

// shares: figure 6, and the text beside it.
func (p *pricingPlan) shares() {
	v := p.of(tenth(0, 0), free)
	p.row("reservations that pay nothing, %", tenth(0, 0).String(), p.figure(func(x *pricingPaper) float64 { return x.free }), v, evidence.Unjudged("no figure"))
	for i, load := range pricingLoads {
		v := p.of(tenth(load, 0), below)
		p.row("reservations below the high-priority rate, %", tenth(load, 0).String(), p.figure(func(x *pricingPaper) float64 { return x.below[i] }), v, evidence.Unjudged("no figure"))
	}
	for k, share := range dearestShares {
		for _, load := range pricingLoads {
			v := p.of(tenth(load, 0), func(o *pricingOutcome) float64 { return o.dearest[k] })
			p.row(fmt.Sprintf("rho that the dearest %d %% pay or exceed", share), tenth(load, 0).String(), evidence.Words("above 1, very high"), v, evidence.Exceeds(evidence.Average(v).Plus(-1).Estimate, 1))
		}
	}
}

// prices: figure 3 and figure 4.
func (p *pricingPlan) prices() {
	for alpha := 0; alpha <= 10; alpha++ {
		v := p.of(tenth(0, alpha), price)
		if alpha == 0 {
			p.row("mean price, SU", tenth(0, alpha).String(), evidence.Claim{}, v, evidence.Unjudged(evidence.Measured))
			continue
		}
		p.row("mean price, SU", tenth(0, alpha).String(), evidence.Words("falls"), v, evidence.More(p.of(tenth(0, alpha-1), price), v))
	}
	v := p.of(tenth(0, 10), free)
	p.row("reservations that pay nothing, %", tenth(0, 10).String(), evidence.Words("all"), v, evidence.AtLeast(evidence.Average(v).Estimate, 99.5))
	for _, alpha := range []int{0, 5} {
		p.rising("mean price as the load rises, SU", alpha, price)
	}
}

// rising adds a row for each load, from the second on with the verdict on its rise.
func (p *pricingPlan) rising(measure string, alpha int, figure func(*pricingOutcome) float64) {
	for i, load := range pricingLoads {
		claim, j, v := evidence.Claim{}, evidence.Unjudged(evidence.Measured), p.of(tenth(load, alpha), figure)
		if i > 0 {
			claim, j = evidence.Words("rises"), evidence.More(v, p.of(tenth(pricingLoads[i-1], alpha), figure))
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
		p.row("mean price, SU", setting+", EASY", evidence.Claim{}, a, evidence.Unjudged(evidence.Measured))
		p.row("mean price, SU", setting+", conservative", evidence.Claim{}, b, evidence.Unjudged(evidence.Measured))
		p.row("price under EASY above conservative, SU", setting, evidence.Words("above 0"), evidence.Minus(a, b), evidence.More(a, b))
	}
}

// waits: figure 3.
func (p *pricingPlan) waits() {
	for alpha := 0; alpha <= 10; alpha++ {
		c := tenth(0, alpha)
		reserved, other := p.of(c, wait), p.of(c, local)
		claim, verdict := p.waitClaim(alpha, reserved, other)
		p.row("wait of reservations, h", c.String(), claim, reserved, verdict)
		p.row("wait of best effort, h", c.String(), evidence.Claim{}, other, compared(other, p.of(tenth(0, 0), local), "alpha 0"))
	}
	p.row("alpha from which reservations wait longer", "+0 %", evidence.Claim{}, p.crossing(), evidence.Unjudged("no figure"))
}

// waitClaim is what the paper says of the waits at an alpha, and whether it is so.
func (p *pricingPlan) waitClaim(alpha int, reserved, other []float64) (evidence.Claim, evidence.Judgement) {
	name := p.traces[p.trace].Name
	switch {
	case alpha == 10:
		return evidence.Words("above best effort"), evidence.More(reserved, other)
	case alpha <= 3 && name == "CTC":
		return evidence.Words("below best effort"), evidence.More(other, reserved)
	case alpha <= 3 && name == "SP2":
		mean, _ := evidence.Interval(other)
		return evidence.Words("best effort's or longer"), evidence.AtLeast(evidence.Difference(reserved, other).Estimate, -evidence.Equivalence*mean)
	}
	return evidence.Claim{}, compared(reserved, other, "best effort")
}

// crossing returns, by run, the lowest alpha at which the wait of reservations exceeds that
// of best effort, interpolated linearly between tenths.
func (p *pricingPlan) crossing() []float64 {
	var gaps [11][]float64
	for alpha := range gaps {
		gaps[alpha] = evidence.Minus(p.of(tenth(0, alpha), wait), p.of(tenth(0, alpha), local))
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
	p.row("mean price, SU", many.String(), evidence.Words("slightly below 10 %"), p.of(many, price), evidence.More(p.of(few, price), p.of(many, price)))
	p.row("wait of best effort, h", many.String(), evidence.Words("above 10 %"), p.of(many, local), evidence.More(p.of(many, local), p.of(few, local)))
	v := p.of(only, price)
	usual, _ := evidence.Interval(p.of(few, price))
	p.row("mean price, SU", only.String(), evidence.Words("0"), v, evidence.Within(evidence.Average(v).Estimate, evidence.Equivalence*usual))
}

// priority: a high-priority queue in place of the reservations of the same jobs.
func (p *pricingPlan) priority() {
	for _, exact := range []bool{false, true} {
		book, queue := tenth(0, 0), tenth(0, 0)
		queue.priority = true
		book.exact, queue.exact = exact, exact
		a, b := p.of(book, wait), p.of(queue, wait)
		p.row("wait in the high-priority queue, h", queue.String(), evidence.Claim{}, b, evidence.Unjudged(evidence.Measured))
		claim, verdict := evidence.Words("the queue is faster"), evidence.More(a, b)
		if exact {
			// About equal: the two differ by less than a tenth of the wait of best effort.
			waits, _ := evidence.Interval(p.of(book, local))
			claim, verdict = evidence.Words("about equal"), evidence.Within(evidence.Difference(a, b).Estimate, waits/10)
			p.row("wait of reservations, h", book.String(), evidence.Claim{}, a, evidence.Unjudged(evidence.Measured))
		}
		p.row("wait of reservations above the queue's, h", queue.String(), claim, evidence.Minus(a, b), verdict)
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
		claim, verdict := evidence.Words("an estimate only"), evidence.Between(evidence.Average(waiting).Estimate, -1, accurate)
		if exact {
			claim, verdict = evidence.Words("accurate"), evidence.AtLeast(evidence.Average(waiting).Estimate, accurate)
		}
		p.row("correlation of price and later starts of those who waited", c.String(), claim, waiting, verdict)
		p.row("correlation of price and net delay of all", c.String(), evidence.Claim{}, net, compared(net, nets[0], "estimates"))
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
	r := evidence.Quotient(a, b).Times(100)
	p.sample(measure, setting, evidence.Claim{}, r, evidence.Worded(r.Plus(-100).Estimate, "more than charged", "less than charged"))
}

// notice: whether it is cheap to ask early. All ask for the earliest start that is so
// much later.
func (p *pricingPlan) notice() {
	now := tenth(0, 0)
	for _, n := range notices {
		c := now
		c.notice = n
		setting := c.String() + ", asked " + n.Words() + " before"
		claim, verdict := evidence.Claim{}, evidence.Unjudged(evidence.Measured)
		if n > 0 {
			claim, verdict = evidence.Words("low in advance"), evidence.More(p.of(now, price), p.of(c, price))
		}
		p.row("mean price by notice, SU", setting, claim, p.of(c, price), verdict)
		p.row("reservations that pay nothing, %", setting, evidence.Claim{}, p.of(c, free), compared(p.of(c, free), p.of(now, free), "no notice"))
		late := func(o *pricingOutcome) float64 { return o.late }
		p.row("reservations that start later than wanted, %", setting, evidence.Claim{}, p.of(c, late), compared(p.of(c, late), p.of(now, late), "no notice"))
	}
}

// lies: what a user gains by declaring another delay cost than the true one, which is
// 1. Reservations that weigh price and wait equally, alpha .5, avoid dear ones.
func (p *pricingPlan) lies() {
	honest := tenth(0, 5)
	honest.lying, honest.declared = true, 100
	harm := func(o *pricingOutcome) float64 { return o.harm }
	net := func(o *pricingOutcome) float64 { return o.harm - o.refund }
	p.row("waiting of one user's jobs, SU a job", honest.String()+", delay cost told truly", evidence.Claim{}, p.of(honest, harm), evidence.Unjudged(evidence.Measured))
	for _, declared := range []int{0, 50, 200, 400} {
		c := honest
		c.declared = declared
		setting := fmt.Sprintf("%s, delay cost told as %v", c, float64(declared)/100)
		gain := evidence.Minus(p.of(honest, harm), p.of(c, harm))
		p.row("gain of a lie without refunds, SU a job", setting, evidence.Claim{}, gain, evidence.Sign(evidence.Average(gain).Estimate))
		gain = evidence.Minus(p.of(honest, net), p.of(c, net))
		p.row("gain of a lie with refunds, SU a job", setting, evidence.Claim{}, gain, evidence.Sign(evidence.Average(gain).Estimate))
	}
}

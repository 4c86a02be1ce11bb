package studies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/policy/admission"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// Admission runs the experiment of Yeo and Buyya on a trace (theirs is SDSC SP2) and
// returns its figures, then the paper's claims about them. The paper only has curves; the
// figures for comparison come from an independent program. All settings draw the same
// numbers. Differences are paired by draw, and confidence intervals are over the draws of
// the deadlines. It is an error if the trace has fewer than 3000 jobs.
//
// One draw of all settings takes some 220 simulations of 5 to 30 ms.
func Admission(trace *workload.Trace, opt AdmissionOptions) ([]evidence.Row, error) {
	if opt.Runs < 1 {
		return nil, fmt.Errorf("runs = %d: must be 1 or more", opt.Runs)
	}
	jobs, blocks, err := lastJobs(trace, opt.By)
	if err != nil {
		return nil, err
	}
	p := &admissionPlan{blocks: blocks}
	p.all() // which settings there are
	p.outcomes = runAdmissions(jobs, blocks, p.cells, opt)
	p.rows, p.shown = nil, nil
	p.all()
	evidence.Resample(p.rows, []int{blocks}, simulation.SeedOf(opt.Seed, "admission workload"), func(r *evidence.Redraw) []evidence.Row {
		q := &admissionPlan{blocks: blocks, outcomes: make(map[admissionCell][]admissionOutcome, len(p.outcomes))}
		for c, list := range p.outcomes {
			for _, i := range r.Units(len(list)) {
				q.outcomes[c] = append(q.outcomes[c], newAdmissionOutcome(list[i].blocks, r.Weights[0]))
			}
		}
		q.all()
		return q.rows
	})
	return p.rows, nil
}

// admissionPlan makes the rows in two passes, as slaPlan does.
type admissionPlan struct {
	cells    []admissionCell
	blocks   int // of the workload
	outcomes map[admissionCell][]admissionOutcome
	shown    []admissionCell // the settings that have their rows
	rows     []evidence.Row
}

// of returns one figure of a setting by draw.
func (p *admissionPlan) of(c admissionCell, figure func(*admissionOutcome) float64) []float64 {
	if p.outcomes == nil {
		p.cells = noted(p.cells, c)
		return nil
	}
	return figuresOf(p.outcomes[c], figure)
}

func (p *admissionPlan) met(c admissionCell) []float64 {
	return p.of(c, func(o *admissionOutcome) float64 { return o.met })
}

func (p *admissionPlan) slowdown(c admissionCell) []float64 {
	return p.of(c, func(o *admissionOutcome) float64 { return o.slowdown })
}

// gain returns how many points more deadlines LibraRisk meets than Libra.
func (p *admissionPlan) gain(c admissionCell) []float64 {
	return evidence.Minus(p.met(c.under(admission.LibraRisk)), p.met(c.under(admission.Libra)))
}

// verdict judges a figure.
type verdict func(evidence.Estimate) evidence.Judgement

// row adds a row of the mean of values over the draws.
func (p *admissionPlan) row(measure, setting string, paper evidence.Claim, values []float64, judge verdict) {
	s := evidence.Average(values)
	row := evidence.NewRow(measure, setting, paper, "draw", s, judge(s.Estimate))
	row.Blocks = p.blocks
	p.rows = append(p.rows, row)
}

// claim adds a row for a sentence of the paper.
func (p *admissionPlan) claim(measure, setting, claim string, values []float64, judge verdict) {
	p.row(measure, setting, evidence.Words(claim), values, judge)
}

// figure adds a row for a figure that the paper, or an independent program, prints: it is
// taken as that of one draw of its own.
func (p *admissionPlan) figure(measure, setting string, paper float64, values []float64) {
	claim := evidence.FigureOf(paper, 1)
	p.row(measure, setting, claim, values, func(e evidence.Estimate) evidence.Judgement { return evidence.Beside(e, claim) })
}

// above judges a claim that a value is above 0.
func above(e evidence.Estimate) evidence.Judgement { return evidence.Exceeds(e, 0) }

// below0 judges a claim that a value is below 0, by its negative.
func below0(e evidence.Estimate) evidence.Judgement { e.Mean = -e.Mean; return evidence.Exceeds(e, 0) }

// equal judges a claim that a value is 0 but for a margin.
func equal(margin float64) verdict {
	return func(e evidence.Estimate) evidence.Judgement { return evidence.Within(e, margin) }
}

// barely judges a claim that a value is above 0, by 5 points at most.
func barely(e evidence.Estimate) evidence.Judgement { return evidence.Between(e, 0, 5) }

// usual is the default setting: 20 % urgent, ratio 4, the trace's arrivals.
func usual(inaccuracy int) admissionCell {
	return admissionCell{inaccuracy: inaccuracy, delay: 100, ratio: 4, urgent: 20, spread: 250}
}

const (
	trueEstimates = 0   // estimates are the runtimes
	asTraced      = 100 // estimates are the trace's
)

// Each returns the setting with one thing changed.
func (c admissionCell) under(control admission.Control) admissionCell { c.control = control; return c }
func (c admissionCell) delayed(factor int) admissionCell              { c.delay = factor; return c }
func (c admissionCell) ratioed(ratio int) admissionCell               { c.ratio = ratio; return c }
func (c admissionCell) urged(share int) admissionCell                 { c.urgent = share; return c }
func (c admissionCell) spreaded(thousandths int) admissionCell        { c.spread = thousandths; return c }

// controlWords are the controls as the paper writes them.
var controlWords = map[admission.Control]string{
	admission.EDF: "EDF", admission.EDFOpen: "EDF without admission", admission.Libra: "Libra",
	admission.LibraRisk: "LibraRisk", admission.LibraRiskSigma: "LibraRisk by sigma",
}

// words says in what a setting, apart from its control, differs from the usual one.
func (c *admissionCell) words() string {
	list := []string{fmt.Sprintf("inaccuracy %d %%", c.inaccuracy)}
	switch c.inaccuracy {
	case trueEstimates:
		list[0] = "accurate"
	case asTraced:
		list[0] = "trace estimates"
	}
	for _, k := range []struct {
		differs bool
		words   string
	}{
		{c.delay != 100, fmt.Sprintf("arrival delay %v", float64(c.delay)/100)},
		{c.ratio != 4, fmt.Sprintf("ratio %d", c.ratio)},
		{c.urgent != 20, fmt.Sprintf("urgent %d %%", c.urgent)},
		{c.spread != 250, fmt.Sprintf("spread %v", float64(c.spread)/1000)},
		{c.refuseLate, "lone late jobs refused"},
		{c.ranOnly, "without the cancelled jobs"},
		{c.bare, "overruns get what bare shares leave"},
	} {
		if k.differs {
			list = append(list, k.words)
		}
	}
	return strings.Join(list, ", ")
}

// all adds the rows: the paper's curves in its order, its claims, and what it leaves open.
func (p *admissionPlan) all() {
	p.curves()
	p.claimOrders()
	p.claimGains()
	p.claimSlowdowns()
	p.beyond()
	p.overruns()
}

// known are figures of an independent program: deadlines met in %, and the slowdown of
// those jobs if it is above 0.
var known = func() map[admissionCell][2]float64 {
	m := map[admissionCell][2]float64{}
	put := func(c admissionCell, edf, libra, risk float64, slowdowns ...float64) {
		slowdowns = append(slowdowns, 0, 0, 0)
		m[c.under(admission.EDF)] = [2]float64{edf, slowdowns[0]}
		m[c.under(admission.Libra)] = [2]float64{libra, slowdowns[1]}
		m[c.under(admission.LibraRisk)] = [2]float64{risk, slowdowns[2]}
	}
	t := usual(asTraced)
	put(usual(trueEstimates), 70.8, 97.5, 97.5, 3.3, 13.4, 13.4)
	put(t, 50.9, 53.5, 82.8, 3.3, 6.7, 4.7)
	put(t.urged(0), 0, 57.0, 82.6)
	put(t.urged(100), 0, 38.3, 80.5)
	put(t.delayed(10), 34.9, 21.5, 23.1)
	put(t.delayed(30), 39.2, 35.9, 45.7)
	put(t.delayed(50), 41.7, 43.7, 60.0)
	put(t.ratioed(1), 35.7, 38.2, 80.3)
	put(t.ratioed(2), 43.3, 46.0, 81.0)
	put(t.ratioed(10), 57.9, 59.5, 84.6)
	put(usual(20), 59.6, 68.8, 86.4)
	put(usual(60), 53.7, 58.1, 83.5)
	put(usual(20).urged(80), 50.1, 61.0, 84.4)
	put(usual(60).urged(80), 43.4, 48.2, 82.3)
	return m
}()

// curves: figures 1 to 4.
func (p *admissionPlan) curves() {
	for _, e := range []int{trueEstimates, asTraced} {
		p.point(usual(e))
		for delay := 10; delay < 100; delay += 10 {
			p.point(usual(e).delayed(delay))
		}
		for ratio := 1; ratio <= 10; ratio++ {
			p.point(usual(e).ratioed(ratio))
		}
		for urgent := 0; urgent <= 100; urgent += 20 {
			p.point(usual(e).urged(urgent))
		}
	}
	for _, urgent := range []int{20, 80} {
		for inaccuracy := 0; inaccuracy <= 100; inaccuracy += 20 {
			p.point(usual(inaccuracy).urged(urgent))
		}
	}
}

// point adds the rows of a setting under the three controls, once.
func (p *admissionPlan) point(c admissionCell) {
	if slices.Contains(p.shown, c) {
		return
	}
	p.shown = append(p.shown, c)
	for _, control := range []admission.Control{admission.EDF, admission.Libra, admission.LibraRisk} {
		c := c.under(control)
		figure := func(measure string, paper float64, values []float64) {
			setting := controlWords[control] + ", " + c.words()
			if paper > 0 {
				p.figure(measure, setting, paper, values)
				return
			}
			p.row(measure, setting, evidence.Claim{}, values, none)
		}
		figure("deadlines met, %", known[c][0], p.met(c))
		figure("slowdown of these", known[c][1], p.slowdown(c))
	}
}

// none is the verdict where nothing is claimed.
func none(evidence.Estimate) evidence.Judgement { return evidence.Unjudged("no claim") }

// claimOrders adds which control meets more deadlines than which (sections 5.1 and 5.2).
func (p *admissionPlan) claimOrders() {
	edf, libra, risk := admission.EDF, admission.Libra, admission.LibraRisk
	over := func(c admissionCell, more, less admission.Control, claim string, judge verdict) {
		p.claim("met, points "+controlWords[more]+" above "+controlWords[less], c.words(), claim, evidence.Minus(p.met(c.under(more)), p.met(c.under(less))), judge)
	}
	for _, e := range []int{trueEstimates, asTraced} {
		claim, judge := "above 0", verdict(above)
		if e == asTraced {
			claim, judge = "barely above 0, by 5 at most", barely
		}
		u := usual(e)
		for _, c := range []admissionCell{u, u.ratioed(1), u.ratioed(10), u.urged(0), u.urged(100)} {
			over(c, libra, edf, claim, judge)
		}
		for _, delay := range []int{10, 20} {
			over(u.delayed(delay), edf, libra, "above 0", above)
			over(u.delayed(delay), edf, risk, "above 0", above)
		}
		for _, delay := range []int{40, 70} {
			over(u.delayed(delay), libra, edf, "above 0", above)
			over(u.delayed(delay), risk, edf, "above 0", above)
		}
	}
	over(usual(trueEstimates), risk, libra, "equal", equal(1))
	for _, control := range []admission.Control{edf, libra, risk} {
		p.claim("met, points lost to trace estimates", controlWords[control], "above 0",
			evidence.Minus(p.met(usual(trueEstimates).under(control)), p.met(usual(asTraced).under(control))), above)
	}
}

// claimGains: where LibraRisk is how much better than Libra, with the trace's
// estimates (sections 5.2 to 5.5).
func (p *admissionPlan) claimGains() {
	const gain = "met, points LibraRisk above Libra"
	t := usual(asTraced)
	for _, c := range []admissionCell{t, t.delayed(70), t.ratioed(1), t.ratioed(10)} {
		p.claim(gain, c.words(), "many more", p.gain(c), above)
	}
	for i, urgent := range []int{0, 100} {
		c := t.urged(urgent)
		paper := []float64{20, 40}[i]
		p.figure(gain, c.words(), paper, p.gain(c))
		c.ranOnly = true
		paper = []float64{20.8, 39.5}[i] // of an independent program
		p.figure(gain, c.words(), paper, p.gain(c))
	}
	change := func(setting, claim string, more, less admissionCell) {
		p.claim(gain+", change", setting, claim, evidence.Minus(p.gain(more), p.gain(less)), above)
	}
	change("arrival delay 0.5 to 1", "grows", t, t.delayed(50))
	change("arrival delay 0.3 to 0.5", "hardly any gain below 0.5", t.delayed(50), t.delayed(30))
	change("ratio 10 to 1", "grows", t.ratioed(1), t.ratioed(10))
	change("urgent 0 to 100 %", "grows", t.urged(100), t.urged(0))
	change("inaccuracy 20 to 100 %", "grows", t, usual(20))
	change("inaccuracy 20 to 100 %, urgent 80 %", "grows", t.urged(80), usual(20).urged(80))
	rise := func(control admission.Control, claim string, from, to int) {
		p.claim("met, change", fmt.Sprintf("%s, trace estimates, urgent %d to %d %%", controlWords[control], from, to), claim,
			evidence.Minus(p.met(t.under(control).urged(to)), p.met(t.under(control).urged(from))), map[string]verdict{"rises": above, "similar": equal(3), "falls": below0}[claim])
	}
	rise(admission.LibraRisk, "rises", 0, 100)
	rise(admission.LibraRisk, "similar", 20, 80)
	rise(admission.Libra, "falls", 0, 100)
	rise(admission.EDF, "falls", 0, 100)
}

// claimSlowdowns: how long the jobs take that meet their deadlines.
func (p *admissionPlan) claimSlowdowns() {
	edf, libra, risk := admission.EDF, admission.Libra, admission.LibraRisk
	t := usual(asTraced)
	for _, c := range []admissionCell{t, t.urged(80)} {
		p.claim("slowdown, LibraRisk above EDF", c.words(), "above 0", evidence.Minus(p.slowdown(c.under(risk)), p.slowdown(c.under(edf))), above)
		p.claim("slowdown, Libra above LibraRisk", c.words(), "above 0", evidence.Minus(p.slowdown(c.under(libra)), p.slowdown(c.under(risk))), above)
	}
	a := usual(trueEstimates)
	p.claim("slowdown, Libra above LibraRisk", a.words(), "equal", evidence.Minus(p.slowdown(a.under(libra)), p.slowdown(a.under(risk))), equal(.5))
	for _, urgent := range []int{20, 80} {
		for _, control := range []admission.Control{libra, risk} {
			p.claim("slowdown, fall with inaccuracy", fmt.Sprintf("%s, inaccuracy 0 to 100 %%, urgent %d %%", controlWords[control], urgent), "above 0",
				evidence.Minus(p.slowdown(a.under(control).urged(urgent)), p.slowdown(t.under(control).urged(urgent))), above)
		}
	}
	p.claim("slowdown, fall with inaccuracy", "EDF, inaccuracy 0 to 100 %, urgent 20 %", "unchanged", evidence.Minus(p.slowdown(a.under(edf)), p.slowdown(t.under(edf))), equal(.25))
	for _, control := range []admission.Control{edf, libra, risk} {
		p.claim("slowdown, rise with the ratio", controlWords[control]+", trace estimates, ratio 1 to 10", "above 0",
			evidence.Minus(p.slowdown(t.under(control).ratioed(10)), p.slowdown(t.under(control).ratioed(1))), above)
	}
}

// beyond: what the paper leaves open or only says in passing.
func (p *admissionPlan) beyond() {
	t := usual(asTraced)
	for _, spread := range []int{125, 500} {
		for _, c := range []admissionCell{t.spreaded(spread), usual(trueEstimates).spreaded(spread)} {
			p.point(c)
		}
	}
	for _, c := range []admissionCell{t, t.urged(100)} {
		alone := c.under(admission.LibraRisk)
		alone.refuseLate = true
		p.row("met, points LibraRisk above Libra", alone.words(), evidence.Claim{}, evidence.Minus(p.met(alone), p.met(c.under(admission.Libra))), evidence.Sign)
		p.row("met, points by accepting lone late jobs", "LibraRisk, "+c.words(), evidence.Claim{}, evidence.Minus(p.met(c.under(admission.LibraRisk)), p.met(alone)), evidence.Sign)
	}
	p.row("met, points by sigma above the rule", "LibraRisk, "+t.words(), evidence.Claim{}, evidence.Minus(p.met(t.under(admission.LibraRiskSigma)), p.met(t.under(admission.LibraRisk))), evidence.Sign)
	for _, e := range []int{trueEstimates, asTraced} {
		for _, c := range []admissionCell{usual(e), usual(e).urged(100)} {
			p.claim("met, points lost without admission", "EDF, "+c.words(), "much worse", evidence.Minus(p.met(c.under(admission.EDF)), p.met(c.under(admission.EDFOpen))), above)
		}
	}
}

// overruns adds jobs that end late, which no figure of the paper counts, and the other
// reading of what a task past its estimate gets, next to the figures of the independent
// program.
func (p *admissionPlan) overruns() {
	t := usual(asTraced)
	for _, bare := range []bool{false, true} {
		for _, c := range []admissionCell{t, t.urged(100)} {
			for _, control := range []admission.Control{admission.EDF, admission.Libra, admission.LibraRisk} {
				if bare && control == admission.EDF {
					continue // its nodes are not shared
				}
				c := c.under(control)
				c.bare = bare
				for _, m := range []struct {
					name string
					of   func(*admissionOutcome) float64
				}{
					{"jobs that end late, %", func(o *admissionOutcome) float64 { return o.late }},
					{"response of late jobs, h", func(o *admissionOutcome) float64 { return o.response }},
					{"longest response of a late job, h", func(o *admissionOutcome) float64 { return o.longest }},
				} {
					p.row(m.name, controlWords[control]+", "+c.words(), evidence.Claim{}, p.of(c, m.of), none)
				}
			}
		}
	}
	for _, c := range []admissionCell{t, t.urged(0), t.urged(100), t.delayed(10), t.delayed(30), t.delayed(50), t.ratioed(1), t.ratioed(2), t.ratioed(10),
		usual(20), usual(60), usual(20).urged(80), usual(60).urged(80)} {
		for _, control := range []admission.Control{admission.Libra, admission.LibraRisk} {
			c := c.under(control)
			paper := known[c][0]
			c.bare = true
			p.figure("deadlines met, %", controlWords[control]+", "+c.words(), paper, p.met(c))
		}
	}
}

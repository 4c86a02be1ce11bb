package slots

import "github.com/bourse-grid/bourse/studies/evidence"

// table makes the rows of the experiment out of its blocks.
type table struct {
	blocks []block
	rows   []evidence.Row
}

// rowsOf lists the rows in the order of the paper's text, then what it leaves
// out.
func rowsOf(blocks []block) []evidence.Row {
	t := &table{blocks: blocks}
	t.counts()
	t.minTime()
	t.minCost()
	t.finish()
	t.rivals()
	return t.rows
}

func (t *table) of(f figure) []float64 {
	values := make([]float64, len(t.blocks))
	for i := range t.blocks {
		values[i] = t.blocks[i][f]
	}
	return values
}

// mean is the ratio of two figures over all blocks.
func (t *table) mean(f, of figure) evidence.Sample {
	return evidence.Quotient(t.of(f), t.of(of))
}

// gain is how far figure f lies below figure g, in percent of g.
func (t *table) gain(f, g figure) evidence.Sample { return t.mean(f, g).Times(-100).Plus(100) }

// beyond is how far figure f lies above figure g, in percent of g.
func (t *table) beyond(f, g figure) evidence.Sample {
	return t.mean(f, g).Times(100).Plus(-100)
}

func (t *table) row(measure, setting string, paper evidence.Claim, s evidence.Sample, j evidence.Judgement) {
	t.rows = append(t.rows, evidence.NewRow(measure, setting, paper, "tenth of a run", s, j))
}

// printed adds a figure of the paper, which did one run.
func (t *table) printed(measure, setting string, paper float64, s evidence.Sample) {
	claim := evidence.FigureOf(paper, slotBlocks)
	t.row(measure, setting, claim, s, evidence.Beside(s.Estimate, claim))
}

// figure adds the mean of a figure over the counted cycles.
func (t *table) figure(measure, setting string, paper float64, f figure) {
	t.printed(measure, setting, paper, t.mean(f, cyclesCounted))
}

// apart returns how far the mean of a figure over all cycles lies above its mean over the
// counted ones, with the interval of a linear approximation.
func (t *table) apart(all, counted figure) evidence.Sample {
	return evidence.Difference(t.mean(all, cyclesAll).Values, t.mean(counted, cyclesCounted).Values)
}

func (t *table) counts() {
	t.printed("counted cycles of 25,000", "ALP and AMP give every job an alternative", 8571, t.mean(cyclesCounted, cyclesAll).Times(slotCycles))
	t.figure("jobs per batch", "counted cycles", 4.18, jobsCounted)
	t.figure("slots per cycle", "counted cycles", 135.11, slotsCounted)
	counted := t.mean(jobsCounted, cyclesCounted)
	t.row("jobs per batch", "all cycles", evidence.Words("more than in counted ones"), t.mean(jobsAll, cyclesAll), evidence.Exceeds(t.apart(jobsAll, jobsCounted).Estimate, counted.Mean))
	counted = t.mean(slotsCounted, cyclesCounted)
	t.row("slots per cycle", "all cycles", evidence.Words("as in counted ones"), t.mean(slotsAll, cyclesAll), evidence.Within(t.apart(slotsAll, slotsCounted).Estimate, slotsMargin*counted.Mean))
	t.figure("alternatives per job", "min T run, ALP", 7.39, found+alp)
	t.figure("alternatives per job", "min T run, AMP", 34.28, found+amp)
	t.figure("alternatives per job", "min C run, ALP", 7.28, found+alp)
	t.figure("alternatives per job", "min C run, AMP", 34.23, found+amp)
}

// slotsMargin is how far two numbers of slots may lie apart that count as equal: the
// paper prints both with five digits.
const slotsMargin = 0.002

func (t *table) minTime() {
	faster := t.mean(ampFaster, cyclesCounted).Times(100)
	t.row("AMP's time below ALP's, % of counted cycles", "min T", evidence.Words("all of the first 300"), faster, evidence.AtLeast(faster.Estimate, 99.5))
	t.figure("time per job", "min T, ALP", 59.85, quickTime+alp)
	t.figure("time per job", "min T, AMP", 39.01, quickTime+amp)
	t.figure("cost per job", "min T, ALP", 313.56, quickCost+alp)
	t.figure("cost per job", "min T, AMP", 369.69, quickCost+amp)
	t.printed("AMP's time below ALP's, %", "min T", 35, t.gain(quickTime+amp, quickTime+alp))
	t.printed("AMP's cost above ALP's, %", "min T", 15, t.beyond(quickCost+amp, quickCost+alp))
}

func (t *table) minCost() {
	t.figure("cost per job", "min C, ALP", 313.09, cheapCost+alp)
	t.figure("cost per job", "min C, AMP", 343.3, cheapCost+amp)
	t.figure("time per job", "min C, ALP", 61.04, cheapTime+alp)
	t.figure("time per job", "min C, AMP", 51.62, cheapTime+amp)
	t.printed("AMP's cost above ALP's, %", "min C", 9, t.beyond(cheapCost+amp, cheapCost+alp))
	t.printed("AMP's time below ALP's, %", "min C", 15, t.gain(cheapTime+amp, cheapTime+alp))
}

// deep adds a figure of every tenth cycle about which the paper says nothing; its verdict
// compares it with another.
func (t *table) deep(measure, setting string, f, beside figure) {
	t.row(measure, setting, evidence.Claim{}, t.mean(f, deepCounted), evidence.Versus(t.gain(f, beside).Estimate))
}

// finish: the time at which jobs are done, which min T does not look at.
func (t *table) finish() {
	for k, goal := range []string{"first alternatives", "min T", "min C", "min finish"} {
		t.deep("mean end of a job", "AMP, "+goal, finishFirst+figure(k), finishFirst)
	}
	for k, goal := range []string{"first alternatives", "min T", "min C", "min finish"} {
		t.deep("end of the batch", "AMP, "+goal, lastFirst+figure(k), lastFirst)
	}
	t.deep("time per job", "AMP, min finish", goalTime, judgedTime+rivalAMP)
	t.deep("cost per job", "AMP, min finish", goalCost, judgedCost+rivalAMP)
}

// rivals: other searches within AMP's own limits, the lower bound beside them.
func (t *table) rivals() {
	names := [rivals]string{"AMP as printed", "amp, equal starts finished", "best", "AMP, windows exchanged", "best, windows exchanged", "lower bound"}
	for k, name := range names {
		t.deep("time per job, limits of AMP", "min T, "+name, judgedTime+figure(k), judgedTime)
	}
	for k, name := range names {
		t.deep("cost per job, limits of AMP", "min C, "+name, judgedCost+figure(k), judgedCost)
	}
	for _, rival := range []int{rivalBest, rivalExchanged, rivalBoth} {
		for _, goal := range []struct {
			name string
			at   figure
		}{{"min T", judgedTime}, {"min C", judgedCost}} {
			above := t.beyond(goal.at+figure(rival), goal.at+rivalBound)
			t.row("above the lower bound, %", goal.name+", "+names[rival], evidence.Claim{}, above, evidence.Sign(above.Estimate))
		}
	}
	done := make([]float64, len(t.blocks))
	for i := range t.blocks {
		done[i] = t.blocks[i][deepLost] + t.blocks[i][deepCounted]
	}
	t.row("cycles without a selection of some rival, %", "limits of AMP", evidence.Claim{}, evidence.Quotient(t.of(deepLost), done).Times(100), evidence.Unjudged(evidence.Measured))
}

package studies

import "math"

// slotTable makes the rows of the experiment out of its blocks.
type slotTable struct {
	blocks []slotBlock
	rows   []Row
}

// slotRows lists the rows in the order of the paper's text, then what it leaves
// out.
func slotRows(blocks []slotBlock) []Row {
	t := &slotTable{blocks: blocks}
	t.counts()
	t.minTime()
	t.minCost()
	t.finish()
	t.rivals()
	return t.rows
}

func (t *slotTable) of(f slotFigure) []float64 {
	values := make([]float64, len(t.blocks))
	for i := range t.blocks {
		values[i] = t.blocks[i][f]
	}
	return values
}

// mean is the ratio of two figures over all blocks, scaled.
func (t *slotTable) mean(f, of slotFigure, scale float64) (mean, half float64) {
	mean, half = ratio(t.of(f), t.of(of))
	return scale * mean, scale * half
}

// gain is how far figure f lies below figure g, in percent of g.
func (t *slotTable) gain(f, g slotFigure) (mean, half float64) {
	mean, half = t.mean(f, g, 100)
	return 100 - mean, half
}

func (t *slotTable) row(measure, setting string, paper Claim, mean, half float64, verdict string) {
	if paper, ok := paper.Number(); ok {
		verdict = distance(mean, half, paper)
	}
	t.rows = append(t.rows, Row{measure, setting, paper, mean, half, len(t.blocks), verdict})
}

// figure adds the mean of a figure over the counted cycles.
func (t *slotTable) figure(measure, setting string, paper Claim, f slotFigure) {
	mean, half := t.mean(f, cyclesCounted, 1)
	t.row(measure, setting, paper, mean, half, "")
}

func (t *slotTable) counts() {
	mean, half := t.mean(cyclesCounted, cyclesAll, slotCycles)
	t.row("counted cycles of 25,000", "ALP and AMP give every job an alternative", Figure(8571), mean, half, "")
	t.figure("jobs per batch", "counted cycles", Figure(4.18), jobsCounted)
	t.figure("slots per cycle", "counted cycles", Figure(135.11), slotsCounted)
	jobs, jobsHalf := t.mean(jobsAll, cyclesAll, 1)
	counted, countedHalf := t.mean(jobsCounted, cyclesCounted, 1)
	t.row("jobs per batch", "all cycles", Words("more than in counted ones"), jobs, jobsHalf, above(jobs-counted, jobsHalf+countedHalf))
	slots, slotsHalf := t.mean(slotsAll, cyclesAll, 1)
	counted, countedHalf = t.mean(slotsCounted, cyclesCounted, 1)
	t.row("slots per cycle", "all cycles", Words("as in counted ones"), slots, slotsHalf, alike(slots-counted, slotsHalf+countedHalf))
	t.figure("alternatives per job", "min T run, ALP", Figure(7.39), found+alp)
	t.figure("alternatives per job", "min T run, AMP", Figure(34.28), found+amp)
	t.figure("alternatives per job", "min C run, ALP", Figure(7.28), found+alp)
	t.figure("alternatives per job", "min C run, AMP", Figure(34.23), found+amp)
}

func (t *slotTable) minTime() {
	mean, half := t.mean(ampFaster, cyclesCounted, 100)
	verdict := Differs
	if mean > 99.5 {
		verdict = Agrees
	}
	t.row("AMP's time below ALP's, % of counted cycles", "min T", Words("all of the first 300"), mean, half, verdict)
	t.figure("time per job", "min T, ALP", Figure(59.85), quickTime+alp)
	t.figure("time per job", "min T, AMP", Figure(39.01), quickTime+amp)
	t.figure("cost per job", "min T, ALP", Figure(313.56), quickCost+alp)
	t.figure("cost per job", "min T, AMP", Figure(369.69), quickCost+amp)
	mean, half = t.gain(quickTime+amp, quickTime+alp)
	t.row("AMP's time below ALP's, %", "min T", Words("AMP better by 35 %"), mean, half, distance(mean, half, 35))
	mean, half = t.gain(quickCost+amp, quickCost+alp)
	t.row("AMP's cost above ALP's, %", "min T", Words("15 % more"), -mean, half, distance(-mean, half, 15))
}

func (t *slotTable) minCost() {
	t.figure("cost per job", "min C, ALP", Figure(313.09), cheapCost+alp)
	t.figure("cost per job", "min C, AMP", Figure(343.3), cheapCost+amp)
	t.figure("time per job", "min C, ALP", Figure(61.04), cheapTime+alp)
	t.figure("time per job", "min C, AMP", Figure(51.62), cheapTime+amp)
	mean, half := t.gain(cheapCost+amp, cheapCost+alp)
	t.row("AMP's cost above ALP's, %", "min C", Words("ALP better by 9 % only"), -mean, half, distance(-mean, half, 9))
	mean, half = t.gain(cheapTime+amp, cheapTime+alp)
	t.row("AMP's time below ALP's, %", "min C", Words("15 % less"), mean, half, distance(mean, half, 15))
}

// deep adds a figure of every tenth cycle, of which the paper says nothing; its
// verdict compares it with another.
func (t *slotTable) deep(measure, setting string, f, beside slotFigure) {
	mean, half := t.mean(f, deepCounted, 1)
	t.row(measure, setting, Claim{}, mean, half, versus(t.gain(f, beside)))
}

// finish: the time at which jobs are done, which min T does not look at.
func (t *slotTable) finish() {
	for k, goal := range []string{"first alternatives", "min T", "min C", "min finish"} {
		t.deep("mean end of a job", "AMP, "+goal, finishFirst+slotFigure(k), finishFirst)
	}
	for k, goal := range []string{"first alternatives", "min T", "min C", "min finish"} {
		t.deep("end of the batch", "AMP, "+goal, lastFirst+slotFigure(k), lastFirst)
	}
	t.deep("time per job", "AMP, min finish", goalTime, judgedTime+rivalAMP)
	t.deep("cost per job", "AMP, min finish", goalCost, judgedCost+rivalAMP)
}

// rivals: other searches within AMP's own limits, the lower bound beside them.
func (t *slotTable) rivals() {
	names := [rivals]string{"AMP as printed", "amp, equal starts finished", "best", "AMP, windows exchanged", "best, windows exchanged", "lower bound"}
	for k, name := range names {
		t.deep("time per job, limits of AMP", "min T, "+name, judgedTime+slotFigure(k), judgedTime)
	}
	for k, name := range names {
		t.deep("cost per job, limits of AMP", "min C, "+name, judgedCost+slotFigure(k), judgedCost)
	}
	for _, rival := range []int{rivalBest, rivalExchanged, rivalBoth} {
		for _, goal := range []struct {
			name string
			at   slotFigure
		}{{"min T", judgedTime}, {"min C", judgedCost}} {
			mean, half := t.gain(goal.at+slotFigure(rival), goal.at+rivalBound)
			t.row("above the lower bound, %", goal.name+", "+names[rival], Claim{}, -mean, half, sign(-mean, half))
		}
	}
	lost := ratioOf(t.of(deepLost), t.of(deepCounted))
	t.row("cycles without a selection of some rival, %", "limits of AMP", Claim{}, 100*lost, 0, Undecided)
}

// ratioOf is lost / (lost + kept), of sums.
func ratioOf(lost, kept []float64) float64 {
	var a, b float64
	for i := range lost {
		a += lost[i]
		b += kept[i]
	}
	if a+b == 0 {
		return 0
	}
	return a / (a + b)
}

// alike says whether a difference that is claimed to be none is none.
func alike(diff, half float64) string {
	if math.Abs(diff) <= half {
		return Agrees
	}
	return Differs
}

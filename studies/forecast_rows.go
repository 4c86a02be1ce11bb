package studies

import (
	"fmt"
	"strings"
)

// forecastResults are the rows of the study.
type forecastResults struct {
	runs int
	list []Row
}

func (r *forecastResults) row(measure, setting string, mean, half float64, verdict string) {
	if r.runs < 2 && verdict != measured {
		verdict = Undecided
	}
	r.list = append(r.list, Row{measure, setting, Claim{}, mean, half, r.runs, verdict})
}

// nearStart names a measure of the submissions that wait, or of all.
func nearStart(whose, margin string) string {
	return fmt.Sprintf("%s: forecast within %s of the start, %%", whose, margin)
}

const (
	thoseWhoWait   = "jobs that wait"
	allSubmissions = "all submissions"
)

// cell adds the rows of a trace under a policy.
func (r *forecastResults) cell(c *forecastCell) {
	name := fmt.Sprintf("%s, %v", c.trace.Name, c.policy)
	setting := func(by forecaster) string { return name + ", " + forecasterNames[by] }
	of := func(value func(*forecastPart) float64) []float64 {
		list := make([]float64, len(c.parts))
		for i := range c.parts {
			list[i] = value(&c.parts[i])
		}
		return list
	}
	share := func(by forecaster, m int) []float64 {
		return of(func(p *forecastPart) float64 { return 100 * p.within[by][m] })
	}
	r.row("submissions that have to wait, %", name, 100*c.waits, 0, measured)
	for m, margin := range margins {
		for by := range forecasters {
			mean, half := interval(share(by, m))
			r.row(nearStart(thoseWhoWait, margin.name), setting(by), mean, half, measured)
		}
		for by := byHistory; by <= byKept; by++ {
			mean, half := paired(share(by, m), share(byLimits, m))
			r.row(nearStart(thoseWhoWait, margin.name)+": more than by limits", setting(by), mean, half, moreThan(mean, half))
		}
		for by := range forecasters { // those that start at once are forecast exactly
			mean, half := interval(share(by, m))
			r.row(nearStart(allSubmissions, margin.name), setting(by), 100*(1-c.waits)+c.waits*mean, c.waits*half, measured)
		}
	}
	for by := range forecasters {
		mean, half := interval(of(func(p *forecastPart) float64 { return p.off[by] }))
		r.row(thoseWhoWait+": mean distance of the forecast from the start, h", setting(by), mean, half, measured)
	}
	for by := range forecasters {
		mean, half := interval(of(func(p *forecastPart) float64 { return p.late[by] }))
		r.row(thoseWhoWait+": forecast later than the start by, h", setting(by), mean, half, measured)
	}
	for by := byHistory; by <= byKept; by++ {
		mean, half := interval(of(func(p *forecastPart) float64 { return 100 * p.inside[by] }))
		r.row(thoseWhoWait+": start between the first and the last tenth of the draws, %", setting(by), mean, half, measured)
	}
}

// moreThan words a difference that nobody has claimed.
func moreThan(mean, half float64) string {
	switch {
	case mean > half:
		return "more"
	case mean < -half:
		return "fewer"
	}
	return Undecided
}

// ForecastFinding says in words what history adds to limits.
func ForecastFinding(rows []Row) string {
	var s strings.Builder
	middle := margins[1].name
	for _, r := range rows {
		trace, kept := strings.CutSuffix(r.Setting, ", "+forecasterNames[byKept])
		if r.Measure != nearStart(thoseWhoWait, middle)+": more than by limits" || !kept {
			continue
		}
		fmt.Fprintf(&s, "%s: of the jobs that wait, history puts %.1f ± %.1f points %s within %s of their start than limits do. ",
			trace, max(r.Here, -r.Here), r.CI95, map[bool]string{true: "more", false: "fewer"}[r.Here >= 0], middle)
	}
	return strings.TrimSpace(s.String())
}

package studies

import (
	"fmt"
	"github.com/bourse-grid/bourse/studies/evidence"
	"strings"
)

// forecastResults are the rows of the study.
type forecastResults struct {
	list []evidence.Row
}

func (r *forecastResults) row(measure, setting string, s evidence.Sample, j evidence.Judgement) {
	r.list = append(r.list, evidence.NewRow(measure, setting, evidence.Claim{}, "part of the log", s, j))
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
	alone := evidence.Unjudged(evidence.Measured)
	whole := evidence.Sample{Estimate: evidence.Estimate{Mean: 100 * c.waits, Units: len(c.parts)}}
	r.row("submissions that have to wait, %", name, whole, alone)
	for m, margin := range margins {
		for by := range forecasters {
			r.row(nearStart(thoseWhoWait, margin.name), setting(by), evidence.Average(share(by, m)), alone)
		}
		for by := byHistory; by <= byKept; by++ {
			more := evidence.Difference(share(by, m), share(byLimits, m))
			r.row(nearStart(thoseWhoWait, margin.name)+": more than by limits", setting(by), more, evidence.Worded(more.Estimate, "more", "fewer"))
		}
		for by := range forecasters { // those that start at once are forecast exactly
			r.row(nearStart(allSubmissions, margin.name), setting(by), evidence.Average(share(by, m)).Times(c.waits).Plus(100*(1-c.waits)), alone)
		}
	}
	for by := range forecasters {
		r.row(thoseWhoWait+": mean distance of the forecast from the start, h", setting(by), evidence.Average(of(func(p *forecastPart) float64 { return p.off[by] })), alone)
	}
	for by := range forecasters {
		r.row(thoseWhoWait+": forecast later than the start by, h", setting(by), evidence.Average(of(func(p *forecastPart) float64 { return p.late[by] })), alone)
	}
	for by := byHistory; by <= byKept; by++ {
		inside := evidence.Average(of(func(p *forecastPart) float64 { return 100 * p.inside[by] }))
		r.row(thoseWhoWait+": start between the first and the last tenth of the draws, %", setting(by), inside, alone)
	}
}

// ForecastFinding says in words what history adds to limits.
func ForecastFinding(rows []evidence.Row) string {
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

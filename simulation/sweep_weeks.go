package simulation

import (
	"math"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/report/weeks"
)

// overWeeks reports whether any mean has an interval over the weeks of a log.
func overWeeks(means []SweepMean) bool {
	return slices.ContainsFunc(means, func(m SweepMean) bool { return m.OverWeeks != nil })
}

// weekColumns are the columns of CSV that only a sweep with a log has.
func weekColumns(over bool) []string {
	if !over {
		return nil
	}
	return []string{"ci95 weeks", "weeks"}
}

// weekCells are the cells below them, empty for a measure without such an interval.
func weekCells(over bool, i *weeks.Interval) []string {
	switch {
	case !over:
		return nil
	case i == nil:
		return []string{"", ""}
	}
	return []string{decimal(i.CI95), strconv.Itoa(i.Weeks)}
}

// OverWeeks are the means that have an interval over weeks and that a table has room for: the
// measures of the VOs that it shows anyway, and what local jobs wait.
func OverWeeks(means []SweepMean) []SweepMean {
	shown, _ := report.SweepColumns()
	var list []SweepMean
	for _, m := range means {
		if m.OverWeeks != nil && (m.Measure == report.LocalWait || slices.Contains(shown, m.Measure)) {
			list = append(list, m)
		}
	}
	return list
}

// verdict says beyond which of its intervals the difference is.
func (a *Difference) verdict() string {
	seeds, weeks := a.Beyond(), a.BeyondWeeks()
	switch {
	case a.OverWeeks == nil && seeds:
		return "beyond the interval"
	case a.OverWeeks == nil:
		return "within the interval"
	case seeds && weeks:
		return "beyond both intervals"
	case seeds:
		return "beyond that over seeds alone"
	case weeks:
		return "beyond that over weeks alone"
	}
	return "within both intervals"
}

// BeyondWeeks reports whether the difference is beyond its interval over weeks.
func (a *Difference) BeyondWeeks() bool {
	return a.OverWeeks != nil && math.Abs(a.Mean) > a.OverWeeks.CI95
}

// sameLogs reports whether a point reads the same parts of the same logs as the first, so that
// their weeks are pairs.
func (s *SweepResults) sameLogs(point int) bool {
	first, err := s.Sweep.Config.Scenario(0)
	other, err2 := s.Sweep.Config.Scenario(point)
	return err == nil && err2 == nil && SameLogs(first, other)
}

// SameLogs reports whether two scenarios read the same parts of the same logs, by their names.
func SameLogs(a, b *configs.Scenario) bool { return slices.Equal(logsOf(a), logsOf(b)) }

// logsOf are the parts of logs that a scenario's sites and brokers read.
func logsOf(sc *configs.Scenario) (list []logPart) {
	for i := range sc.Sites {
		if w := sc.Sites[i].Workload; w != nil {
			list = append(list, logPart{w.Trace, w.Skip, w.Partition, w.Days})
		}
	}
	for i := range sc.Brokers {
		if w := sc.Brokers[i].Workload; w != nil {
			list = append(list, logPart{w.Trace, w.Skip, w.Partition, w.Days})
		}
	}
	return list
}

type logPart struct {
	trace           string
	skip, partition int
	days            grid.Duration
}

// Covered says what the sweep's intervals cover, "" if all jobs are drawn.
func (s *SweepResults) Covered(means []SweepMean) string {
	config := s.Sweep.Config
	first, err := config.Scenario(0)
	if err != nil {
		return ""
	}
	drawn := slices.ContainsFunc(means, func(m SweepMean) bool { return m.CI95 > 0 })
	return Covered(first, overWeeks(means), drawn, config.Runs)
}

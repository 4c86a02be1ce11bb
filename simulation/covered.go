package simulation

import (
	"fmt"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/weeks"
)

// OneLog is said beside intervals over seeds where jobs come from a log, which is the same for
// all seeds.
const OneLog = "The intervals are over seeds. Every seed reads the same log: what other weeks of its machine would have shown, they do not cover."

// Uncovered says that intervals over seeds leave a log out, "" if all jobs are drawn.
func Uncovered(sc *configs.Scenario) string {
	if loggedFor(sc) == 0 {
		return ""
	}
	return OneLog
}

// Covered says what the intervals of a scenario's figures cover, "" if all jobs are drawn. overWeeks
// reports whether any is over weeks, drawn whether the seeds differ in any figure; runs are the seeds.
func Covered(sc *configs.Scenario, overWeeks, drawn bool, runs int) string {
	switch {
	case loggedFor(sc) == 0:
		return ""
	case !overWeeks && runs == 1:
		return fmt.Sprintf("One seed and less than %d weeks of the log: there is no interval.", weeks.Least)
	case !overWeeks:
		return OneLog + fmt.Sprintf(" Intervals over its weeks need %d weeks with jobs.", weeks.Least)
	case runs == 1:
		return "One seed: the intervals over weeks cover what other weeks of the log's machine might have shown, not what another seed might have drawn."
	case !drawn:
		return "All seeds agree, because nothing is drawn: intervals over seeds say nothing here. Those over weeks cover what other weeks of the log's machine might have shown."
	}
	return "± behind a figure is over seeds: what else might have been drawn beside the same log. Over weeks is what other weeks of its machine might have shown; of a total, with as many jobs."
}

// loggedFor is for how long the jobs of a scenario come from a log, at most; 0 if all are drawn.
func loggedFor(sc *configs.Scenario) (longest grid.Duration) {
	for i := range sc.Sites {
		if w := sc.Sites[i].Workload; w != nil && w.Trace != "" {
			longest = max(longest, w.Days)
		}
	}
	for i := range sc.Brokers {
		if w := sc.Brokers[i].Workload; w != nil && w.Trace != "" {
			longest = max(longest, w.Days)
		}
	}
	return min(longest, grid.Duration(sc.Until))
}

// byWeek reports whether its figures are added up by week.
func byWeek(sc *configs.Scenario) bool { return loggedFor(sc) > (weeks.Least-1)*weeks.Span }

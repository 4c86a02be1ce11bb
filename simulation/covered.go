package simulation

import "github.com/bourse-grid/bourse/configs"

// OneLog is said beside intervals over seeds where jobs come from a log, which is the same for
// all seeds.
const OneLog = "The intervals are over seeds. Every seed reads the same log: what other weeks of its machine would have shown, they do not cover."

// Uncovered says what intervals over seeds of a scenario do not cover, "" if all jobs are drawn.
func Uncovered(sc *configs.Scenario) string {
	for i := range sc.Sites {
		if w := sc.Sites[i].Workload; w != nil && w.Trace != "" {
			return OneLog
		}
	}
	for i := range sc.Brokers {
		if w := sc.Brokers[i].Workload; w != nil && w.Trace != "" {
			return OneLog
		}
	}
	return ""
}

package report_test

import (
	"bourse"
	"bourse/broker/report"
	"os"
	"testing"
)

func TestLook(t *testing.T) {
	w := month()
	s, j, e, g := written(t, w)
	os.WriteFile("/tmp/h7/summary.json", []byte(s), 0o644)
	os.WriteFile("/tmp/h7/jobs.csv", []byte(j), 0o644)
	os.WriteFile("/tmp/h7/events.jsonl", []byte(e), 0o644)
	os.WriteFile("/tmp/h7/gantt.svg", []byte(g), 0o644)
	r := w.report(t, report.Options{Keep: true})
	r.Summary.WriteTables(os.Stdout)
	w = newWorld(worldSize{sites: [][]int{{128}, {64, 16, 8}, {100, 12}}, brokers: 2, locals: 9000, jobs: 90,
		until: bourse.Time(60 * bourse.Day), longest: 2 * bourse.Hour, seed: 42})
	_, _, _, g = written(t, w)
	os.WriteFile("/tmp/h7/dense.svg", []byte(g), 0o644)
}

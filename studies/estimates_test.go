package studies

import (
	"math"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// estimatedLog is a model's workload with users, of whom each asks for the same again.
func estimatedLog(t *testing.T) *workload.Trace {
	t.Helper()
	jobs, err := workload.Lublin{Nodes: 64, Load: 0.9, Seed: 3}.Jobs(700)
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		jobs[i].User = int64(i % 7)
	}
	trace := workload.FromJobs(workload.Header{}, jobs)
	trace.Name = "drawn"
	return trace
}

// Each rule has a row by the policy, and beside it by how much less it is, block by block
// against the requests; the same seed gives the same rows.
func TestEstimates_RowsArePairedWithTheRequests(t *testing.T) {
	t.Parallel()
	run := func() []evidence.Row {
		rows, err := Estimates([]EstimatesTrace{{Name: "drawn", Nodes: 64, Trace: estimatedLog(t), Priced: true}},
			EstimatesOptions{Seed: 1, Runs: 2, Sample: 2})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	rows, again := run(), run()
	at := map[string]*evidence.Row{}
	for i := range rows {
		at[rows[i].Measure+"|"+rows[i].Setting] = &rows[i]
		if a, b := rows[i].Here, again[i].Here; a != b {
			t.Errorf("%s, %s: %v, then %v", rows[i].Measure, rows[i].Setting, a, b)
		}
	}
	for _, f := range estimateFigures {
		for _, p := range estimatePolicies {
			base := at[f.name+"|drawn, "+p.String()+", request"]
			for _, rule := range estimateRules[1:] {
				key := "|drawn, " + p.String() + ", " + rule.String()
				got, want := at[f.name+lessName+key], 100*(1-at[f.name+key].Here/base.Here)
				if got == nil || math.Abs(got.Here-want) > 1e-6 || got.Blocks < 2 || got.Over != "day" {
					t.Errorf("%s%s: %+v, want %v", f.name, key, got, want)
				}
			}
		}
	}
	fair, easy := at[usersWait+"|drawn, easy-fair, request"], at[usersWait+"|drawn, easy, request"]
	if less := at[usersWait+": less than under EASY, %|drawn, easy-fair, request"]; math.Abs(less.Here-100*(1-fair.Here/easy.Here)) > 1e-6 || fair.Here == easy.Here {
		t.Errorf("a user waits %v h under EASY, %v h by fair share, less by %v %%", easy.Here, fair.Here, less.Here)
	}
	if a := at[accuracyName+"|drawn, easy, exact"]; a.Here != 100 {
		t.Errorf("exact estimates are %v %% accurate", a.Here)
	}
	if text := EstimatesFinding(rows); !strings.Contains(text, "drawn, easy-sjbf, tsafrir ") || strings.Contains(text, "last-two") {
		t.Error(text)
	}
	if _, err := Estimates(nil, EstimatesOptions{}); err == nil {
		t.Error("no runs are taken")
	}
}

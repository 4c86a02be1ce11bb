package studies

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/studies/evidence"
)

// claimRows are the rows of a file of docs/studies/claims below its head, the last column as
// numbers.
func claimRows(t *testing.T, file string) (rows [][]string, last []float64) {
	t.Helper()
	f, err := os.Open("../docs/studies/claims/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err = csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%s: %v", file, err)
	}
	rows = rows[1:]
	for _, r := range rows {
		v, err := strconv.ParseFloat(r[len(r)-1], 64)
		if err != nil {
			t.Fatal(err)
		}
		last = append(last, v)
	}
	return rows, last
}

// passesTable is a table of slowdowns with a pass once an instant, and after each event.
func passesTable(t *testing.T) string {
	t.Helper()
	rows, slowdown := claimRows(t, "passes.csv")
	lines, at := []string{"| instant / event | KTH SP2 | CTC SP2 | SDSC SP2 |", "|---|---|---|---|"}, map[string]float64{}
	var rules []string
	for i, r := range rows {
		rule := r[1] + ", " + r[2]
		if at[r[0]+rule+r[3]] = slowdown[i]; !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	for _, rule := range rules {
		line := "| " + rule + " |"
		for _, log := range []string{"kth", "ctc", "sdsc"} {
			line += fmt.Sprintf(" %.1f / %.1f |", at[log+rule+"instant"], at[log+rule+"event"])
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n"
}

// printed are the slowdowns of RLScheduler's table for its first drawn log.
var printed = map[string]string{"fcfs": "7,274", "wfp3": "19,754", "sjf": "277", "f1": "258"}

// draws are the seeds, each of which drew ten stretches.
const draws = 8

// rlschedulerTable is RLScheduler's table, as its program codes the orders and by their rules.
func rlschedulerTable(t *testing.T) string {
	t.Helper()
	rows, slowdown := claimRows(t, "rlscheduler.csv")
	of := map[string][]float64{}
	for i, r := range rows {
		of[r[1]+r[2]] = append(of[r[1]+r[2]], slowdown[i])
	}
	lines := []string{"| order | printed | as its program codes it | by the rules |", "|---|---|---|---|"}
	for _, order := range []string{"fcfs", "wfp3", "sjf", "f1"} {
		line := "| `" + order + "` | " + printed[order] + " |"
		for _, rule := range []string{"coded", "ruled"} {
			values := of[order+rule]
			if len(values) != draws {
				t.Fatalf("%s %s has %d seeds", order, rule, len(values))
			}
			e := evidence.Average(values).Estimate
			line += fmt.Sprintf(" %s ± %s |", shown(e.Mean, e.Half), shown(e.Half, e.Half))
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n"
}

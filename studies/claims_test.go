package studies

import (
	"encoding/json"
	"fmt"
	"github.com/bourse-grid/bourse/studies/evidence"
	"os"
	"strings"
	"testing"
)

// docs/studies/claims has what `bourse replay LOG --compare ... --json` printed for each log,
// once under EASY and once without backfilling. The tables of the chapter on claims are made
// from it.

// claimedLogs are the logs of that chapter, by the names of their files.
var claimedLogs = []struct{ file, name string }{
	{"kth", "KTH SP2"}, {"sdsc", "SDSC SP2"}, {"ctc", "CTC SP2"}, {"lublin", "model, 256 processors"},
}

// claimedDifference is a figure of a comparison.
type claimedDifference struct {
	First      float64  `json:"first"`
	Difference float64  `json:"difference"`
	CI95       *float64 `json:"ci95"`
	Weeks      int      `json:"weeks"`
}

// claimed is a file of docs/studies/claims.
type claimed struct {
	First    string `json:"first"`
	Compared []struct {
		Second          string            `json:"second"`
		Jobs            int               `json:"jobs"`
		Wait            claimedDifference `json:"wait"`
		BoundedSlowdown claimedDifference `json:"boundedSlowdown"`
	} `json:"compared"`
}

// claimsTable is a table of how orders differ from that of arrival: bounded slowdowns with a
// verdict on the claim that they are lower, or waits in hours.
func claimsTable(t *testing.T, under string, slowdown bool) string {
	t.Helper()
	head, rule, rows := "| order |", "|---|", map[string]string{}
	var orders []string
	for _, log := range claimedLogs {
		text, err := os.ReadFile("../docs/studies/claims/" + log.file + "-" + under + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var c claimed
		if err := json.Unmarshal(text, &c); err != nil || c.First != under || len(c.Compared) == 0 {
			t.Fatalf("%s under %s: %v", log.file, under, err)
		}
		head, rule = head+" "+log.name+" |", rule+"---|"
		for _, x := range c.Compared {
			order := strings.TrimPrefix(x.Second, under+" order=")
			if rows[order] == "" {
				orders = append(orders, order)
			}
			d, unit := x.BoundedSlowdown, 1.
			if !slowdown {
				d, unit = x.Wait, 3600
			}
			e := evidence.Estimate{Mean: -d.Difference / unit, Units: d.Weeks}
			if e.Half = 0; d.CI95 != nil {
				e.Half = *d.CI95 / unit
			}
			rows[order] += fmt.Sprintf(" %s ± %s", shown(-e.Mean, e.Half), shown(e.Half, e.Half))
			if slowdown {
				rows[order] += ": " + evidence.Exceeds(e, d.First/unit).Verdict
			}
			rows[order] += " |"
		}
	}
	lines := []string{head, rule}
	for _, order := range orders {
		lines = append(lines, "| `"+order+"` |"+rows[order])
	}
	return strings.Join(lines, "\n") + "\n"
}

// The tables of claims in REPRODUCTION.md are those of the replays' own output.
func TestReproduction_ClaimsAreTheReplaysOwnOutput(t *testing.T) {
	page, err := os.ReadFile(reproductionPage)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, x := range []struct{ name, table string }{
		{"easy, slowdown", claimsTable(t, "easy", true)}, {"easy, wait", claimsTable(t, "easy", false)},
		{"fcfs, slowdown", claimsTable(t, "fcfs", true)}, {"fcfs, wait", claimsTable(t, "fcfs", false)},
		{"passes", passesTable(t)}, {"rlscheduler", rlschedulerTable(t)},
	} {
		begin, end := "<!-- claims of "+x.name+" -->\n", "<!-- end of claims -->\n"
		before, rest, found := strings.Cut(text, begin)
		had, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s has no claims of %s", reproductionPage, x.name)
		}
		want := "\n" + x.table + "\n"
		if had != want && !*rewriteReproduction {
			t.Errorf("the claims of %s are not those of docs/studies/claims; go test ./studies -run TestReproduction_Claims -rewrite", x.name)
		}
		text = before + begin + want + end + after
	}
	if *rewriteReproduction {
		if err := os.WriteFile(reproductionPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

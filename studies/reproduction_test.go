package studies

import (
	"encoding/csv"
	"flag"
	"fmt"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/studies/slots"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var rewriteReproduction = flag.Bool("rewrite", false, "rewrite the tables of docs/REPRODUCTION.md that are made from docs/studies")

const reproductionPage = "../docs/REPRODUCTION.md"

// writtenRow is a row of a study as its CSV has it.
type writtenRow struct {
	evidence.Row
	paper string
}

// written reads docs/studies/NAME.csv, which a run of the study with seed 1 wrote.
func written(t *testing.T, name string) (rows []writtenRow) {
	t.Helper()
	f, err := os.Open("../docs/studies/" + name + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || strings.Join(lines[0], ",") != strings.Join(evidence.RowsHeader, ",") {
		t.Fatalf("%s: %v, %v", name, lines[0], err)
	}
	number := func(s string) float64 { v, _ := strconv.ParseFloat(s, 64); return v }
	for _, l := range lines[1:] {
		r := writtenRow{Row: evidence.Row{Measure: l[0], Setting: l[1], Here: number(l[3]), CI95: number(l[4]), Verdict: l[6], Over: l[7], Workload: number(l[8])}, paper: l[2]}
		r.Runs, _ = strconv.Atoi(l[5])
		r.Blocks, _ = strconv.Atoi(l[9])
		rows = append(rows, r)
	}
	return rows
}

// shown is a figure with the digits that its interval leaves.
func shown(v, half float64) string {
	digits := 2
	if 0 < half && half < 0.0095 {
		digits = 3
	}
	if half >= 1 || v >= 1000 || v <= -1000 {
		digits = 1
	}
	if v >= 1000 || v <= -1000 || half >= 10 {
		digits = 0
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// reproductionTable is the table of a study's rows that have a claim.
func reproductionTable(rows []writtenRow) string {
	var s strings.Builder
	covered := false
	for i := range rows {
		covered = covered || rows[i].Blocks > 0
	}
	head, rule := "| measure | setting | paper | here |", "|---|---|---|---|"
	if covered {
		head, rule = head+" with the workload |", rule+"---|"
	}
	fmt.Fprintln(&s, head+" verdict |")
	fmt.Fprintln(&s, rule+"---|")
	for i := range rows {
		r := &rows[i]
		if r.paper == "" {
			continue
		}
		fmt.Fprintf(&s, "| %s | %s | %s | %s ± %s |", r.Measure, r.Setting, r.paper, shown(r.Here, r.CI95), shown(r.CI95, r.CI95))
		if covered {
			fmt.Fprintf(&s, " ± %s |", shown(r.Workload, r.Workload))
		}
		fmt.Fprintf(&s, " %s |\n", r.Verdict)
	}
	return s.String()
}

// The tables of verdicts in REPRODUCTION.md are those of the studies' own output.
func TestReproduction_ItsTablesAreTheStudiesOwnOutput(t *testing.T) {
	page, err := os.ReadFile(reproductionPage)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("../docs/studies/*.csv")
	text, tables := string(page), 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".csv")
		if strings.HasSuffix(name, "-values") {
			continue
		}
		rows := written(t, name)
		if !slices.ContainsFunc(rows, func(r writtenRow) bool { return r.paper != "" }) {
			continue // nobody claims anything
		}
		tables++
		begin, end := "<!-- rows of "+name+" -->\n", "<!-- end of rows -->\n"
		before, rest, found := strings.Cut(text, begin)
		had, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s has no rows of %s", reproductionPage, name)
		}
		want := "\n" + reproductionTable(rows) + "\n"
		if had != want && !*rewriteReproduction {
			t.Errorf("the rows of %s are not those of docs/studies/%s.csv; go test ./studies -run TestReproduction -rewrite", name, name)
		}
		text = before + begin + want + end + after
	}
	if tables == 0 {
		t.Error("no study has written anything")
	}
	if *rewriteReproduction {
		if err := os.WriteFile(reproductionPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The kept outputs of the studies have today's rows, with verdicts by today's rule.
func TestReproduction_WhatIsKeptIsOfTodaysRows(t *testing.T) {
	t.Parallel()
	today, err := slots.Run(slots.Options{Seed: 1, Runs: 1, Cycles: 200})
	if err != nil {
		t.Fatal(err)
	}
	kept := written(t, "slot-search")
	if len(kept) != len(today) {
		t.Fatalf("%d rows are kept, today there are %d", len(kept), len(today))
	}
	for i := range kept {
		k, r := &kept[i], &today[i]
		if k.Measure != r.Measure || k.Setting != r.Setting || k.paper != r.Paper.String() || k.Over != r.Over {
			t.Errorf("row %d is %q, %q, today %q, %q", i+1, k.Measure, k.Setting, r.Measure, r.Setting)
		}
		if _, ok := r.Paper.Number(); ok {
			if want := evidence.Beside(evidence.Estimate{Mean: k.Here, Half: k.CI95, Units: k.Runs}, r.Paper).Verdict; k.Verdict != want {
				t.Errorf("%s, %s: %q, by today's rule %q", k.Measure, k.Setting, k.Verdict, want)
			}
		}
	}
}

// The lines of Python in REPRODUCTION.md compute three intervals from the values that are kept, and
// find those of the table.
func TestReproduction_TenLinesOfPythonFindTheIntervals(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here: ", err)
	}
	page, err := os.ReadFile(reproductionPage)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```python\n")
	program, _, ok := strings.Cut(rest, "```\n")
	if !ok || strings.Count(program, "\n") > 10 {
		t.Fatalf("no ten lines of Python in %s", reproductionPage)
	}
	cmd := exec.Command(python, "-c", program)
	cmd.Dir = "../docs/studies"
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d intervals:\n%s", len(lines), out)
	}
	for _, l := range lines {
		var row int
		var mean, half float64
		if _, err := fmt.Sscanf(l, "%d %f %f", &row, &mean, &half); err != nil {
			t.Fatalf("%q: %v", l, err)
		}
		r := written(t, "slot-search")[row-1]
		if near := func(a, b float64) bool { return a-b < 1e-4*max(1, b) && b-a < 1e-4*max(1, b) }; !near(mean, r.Here) || !near(half, r.CI95) {
			t.Errorf("row %d: %v ± %v, the study has %v ± %v", row, mean, half, r.Here, r.CI95)
		}
	}
}

// The verdict at the head of the page counts the verdicts of the studies' own output.
func TestReproduction_ItsVerdictCountsTheRows(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(reproductionPage)
	if err != nil {
		t.Fatal(err)
	}
	for study, name := range map[string]string{"slot search": "slot-search", "adaptive pricing": "adaptive-pricing", "flexible reservations": "sla-reservations",
		"admission": "admission", "load balancing by price": "load-balancing", "estimates": "estimates"} {
		var agree, differ, undecided, missing int
		for _, r := range written(t, name) {
			switch {
			case r.paper == "":
			case strings.HasPrefix(r.Verdict, "agrees"):
				agree++
			case strings.HasPrefix(r.Verdict, "differs"):
				differ++
			case strings.HasPrefix(r.Verdict, "undecided"):
				undecided++
			default:
				missing++
			}
		}
		want := fmt.Sprintf(": %d agree, %d differ, %d undecided, %d not found\n", agree, differ, undecided, missing)
		_, row, found := strings.Cut(string(page), "\n- **"+study+"** (")
		if row, _, _ = strings.Cut(row, "\n"); !found || !strings.HasSuffix(row+"\n", want) {
			t.Errorf("the line of %s must end in %q", study, want)
		}
	}
}

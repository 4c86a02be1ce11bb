package torture

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
)

// Every row of docs/TRANSACTION.md is counted, or it is said why these worlds have nothing
// that leads there.
func TestRows_AreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/TRANSACTION.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([SB]\d+) \|`).FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = true
		_, counted := stated[m[1]]
		if why := beyond[m[1]]; counted == (why != "") {
			t.Errorf("row %s: counted %t, beyond these worlds for %q; must be one of the two", m[1], counted, why)
		}
	}
	for _, list := range [][]string{Rows(), slices.Collect(maps.Keys(beyond))} {
		for _, row := range list {
			if !rows[row] {
				t.Errorf("the document has no row %s", row)
			}
		}
	}
	if n := len(Rows()); n < 150 {
		t.Errorf("only %d rows can be taken", n)
	}
}

// A row that nothing leads to any more is named, from a thousand seeds under all faults on;
// fewer, or under chosen faults, say nothing.
func TestReport_NamesRowsThatAreTooRare(t *testing.T) {
	t.Parallel()
	r := NewReport("")
	for _, row := range Rows() {
		r.Rows[row] = 2 * stated[row]
	}
	r.Rows["S35"], r.Rows["B11"] = 0, 2*stated["B11"]-1
	for seeds, want := range map[int][]string{judgedFrom - 1: nil, judgedFrom: {"S35"}, 2 * judgedFrom: {"S35", "B11"}} {
		r.Seeds = seeds
		if got := r.Rare(); !slices.Equal(got, want) {
			t.Errorf("of %d seeds: %v, want %v", seeds, got, want)
		}
	}
	if r.flags = " --kinds drop"; r.Rare() != nil {
		t.Error("under one fault alone rows are said to be too rare")
	}
	if r.Coverage() < len(Rows())*8/10 || r.Coverage() >= len(Rows()) {
		t.Errorf("%d of %d rows are taken", r.Coverage(), len(Rows()))
	}
}

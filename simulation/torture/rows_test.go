package torture

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// The stated rows are rows of docs/TRANSACTION.md: how often each must be taken, or why no row
// leads there in these worlds.
func TestRows_AreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/TRANSACTION.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([SB]\d+) \|`).FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = true
	}
	for _, list := range []map[string]bool{keys(stated), keys(beyond)} {
		for row := range list {
			if !rows[row] {
				t.Errorf("the document has no row %s", row)
			}
		}
	}
	for row := range beyond {
		if _, counted := stated[row]; counted {
			t.Errorf("row %s is counted, and beyond these worlds; must be one of the two", row)
		}
	}
	if n := len(stated); n < 170 {
		t.Errorf("of only %d rows is it said how often they must be taken", n)
	}
}

func keys[V any](m map[string]V) map[string]bool {
	list := map[string]bool{}
	for k := range m {
		list[k] = true
	}
	return list
}

// A row that nothing leads to any more is named, from a thousand seeds under all faults on;
// fewer, or under chosen faults, say nothing.
func TestReport_NamesRowsThatAreTooRare(t *testing.T) {
	t.Parallel()
	r := NewReport("")
	for row := range stated {
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
	if n := len(r.Listed()); r.Coverage() < n*8/10 || r.Coverage() >= n {
		t.Errorf("%d of %d rows are taken", r.Coverage(), n)
	}
}

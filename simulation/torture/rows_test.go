package torture

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
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

// Row B57 is taken where a site lists a part as given back that the broker does not know to
// be: not wherever a window breaks as a site lists, for another reason of that code.
func TestRows_AWindowThatWasGivenBackAndForgotten(t *testing.T) {
	t.Parallel()
	listed := func(s grid.LegState) agents.Listing {
		return agents.Listing{Legs: []agents.ListedLeg{{Leg: first(firstTx), State: s}}}
	}
	forgot, broken := facts.Amnesia{Legs: []grid.LegID{first(firstTx)}}, facts.JobBroken{Job: "wave", Reason: grid.Because(grid.Unknown, "not known")}
	for name, c := range map[string]struct {
		message agents.Message
		facts   []agents.Fact
		taken   int
	}{
		"given back":          {listed(grid.Released), []agents.Fact{forgot, broken}, 1},
		"lost":                {listed(grid.Lost), []agents.Fact{forgot, broken}, 0},
		"of another job":      {listed(grid.Released), []agents.Fact{forgot, facts.JobBroken{Job: "tide", Reason: broken.Reason}}, 0},
		"not forgotten":       {listed(grid.Released), []agents.Fact{broken}, 0},
		"forgotten by a site": {listed(grid.Released), []agents.Fact{facts.Amnesia{Site: "ash", Legs: forgot.Legs}, broken}, 0},
		"said otherwise":      {agents.Refused{Leg: first(firstTx)}, []agents.Fact{forgot, broken}, 0},
	} {
		r := newRows()
		r.follow(nil, record(t, newMirror("broker:vo1"), taken()...), &sim.Step{ID: "broker:vo1", Message: c.message, Facts: c.facts})
		if r.taken["B57"] != c.taken {
			t.Errorf("%s: B57 taken %d times, want %d", name, r.taken["B57"], c.taken)
		}
	}
}

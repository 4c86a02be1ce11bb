package invariant

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every rule that this package checks is in the list, and the rules that journals show are
// in their document.
func TestRules_AllThatIsCheckedIsListedAndTold(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/JOURNAL.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, r := range Rules() {
		if listed[r.Number] || r.Says == "" {
			t.Errorf("%s is listed twice, or says nothing", r.Number)
		}
		listed[r.Number] = true
	}
	files, _ := filepath.Glob("*.go")
	checked := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:breaks|notes)\("(I[0-9]+)"`).FindAllSubmatch(source, -1) {
			checked[string(m[1])] = true
		}
	}
	if len(checked) < 12 {
		t.Errorf("only %v are checked", checked)
	}
	for number := range checked {
		if !listed[number] {
			t.Errorf("%s is checked and not listed", number)
		}
		if number != "I32" && !strings.Contains(string(doc), "\n| "+number+" ") { // I32 takes what no journal says
			t.Errorf("docs/JOURNAL.md does not tell of %s", number)
		}
	}
}

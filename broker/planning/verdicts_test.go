package planning

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"
)

// The document for users has the table of the code, row by row.
func TestVerdicts_TheDocumentHasTheTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("| reason | refused or abandoned if | waits if |\n|---|---|---|\n")
	for _, v := range Verdicts() {
		if v.Never == "" && v.Waits == "" {
			t.Errorf("%s says neither", v.Code)
		}
		if v.never != nil && v.Never == "" {
			t.Errorf("%s has a rule that nobody is told of", v.Code)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Code, cmp.Or(v.Never, "-"), cmp.Or(v.Waits, "-"))
	}
	text, err := os.ReadFile("../../docs/USING.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n"+b.String()) {
		t.Errorf("docs/USING.md has another table, which is:\n%s", &b)
	}
}

package tree

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// row is the number of a row of the protocol's tables: S of a site, B of a broker.
var row = regexp.MustCompile(`(?m)^\| ([SB])(\d+) \|`)

// A row of docs/TRANSACTION.md has a number of its own, and the document says which are
// free: the rows are not in the order of their numbers.
func TestTransaction_NumbersItsRowsAndNamesTheNextFree(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/TRANSACTION.md")
	if err != nil {
		t.Fatal(err)
	}
	last, seen := map[string]int{}, map[string]bool{}
	var twice []string
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		if seen[m[1]+m[2]] {
			twice = append(twice, m[1]+m[2])
		}
		seen[m[1]+m[2]] = true
		last[m[1]] = max(last[m[1]], n)
	}
	free := fmt.Sprintf("The next free ones are **S%d** and **B%d**.", last["S"]+1, last["B"]+1)
	if len(twice) > 0 {
		t.Errorf("rows %v stand twice. %s", twice, free)
	}
	if got := regexp.MustCompile(`The next free ones are .*`).FindString(string(text)); got != free {
		t.Errorf("the document says %q; must be %q", got, free)
	}
}

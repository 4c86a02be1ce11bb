package studies

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// docs/studies/tables.md has the tables of REPRODUCTION.md that show many rows at once, with
// the row that each figure is of in its place: {measure @ setting} stands for the figure
// with its interval, {=measure @ setting} for the figure alone, {!measure @ setting} for
// the verdict. A heading "## STUDY: TABLE" says which study the rows below it are of.

const tablesFile = "../docs/studies/tables.md"

var rowReference = regexp.MustCompile(`\{([=!]?)([^{}@]+) @ ([^{}]+)\}`)

// writtenTables are the tables by their headings, filled in.
func writtenTables(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(tablesFile)
	if err != nil {
		t.Fatal(err)
	}
	rows, tables := map[string][]writtenRow{}, map[string]string{}
	_, list, _ := strings.Cut(string(text), "\n## ")
	for part := range strings.SplitSeq(list, "\n## ") {
		name, table, _ := strings.Cut(part, "\n")
		study, _, ok := strings.Cut(name, ": ")
		if !ok || tables[name] != "" {
			t.Fatalf("%s: the heading %q is not of the form \"STUDY: TABLE\", or is there twice", tablesFile, name)
		}
		if rows[study] == nil {
			rows[study] = written(t, study)
		}
		tables[name] = "\n" + rowReference.ReplaceAllStringFunc(strings.TrimSpace(table), func(s string) string {
			x := rowReference.FindStringSubmatch(s)
			shows, err := shownRow(rows[study], x[1], x[2], x[3])
			if err != nil {
				t.Errorf("%s, %s: %v", tablesFile, name, err)
			}
			return shows
		}) + "\n\n"
		if strings.ContainsAny(tables[name], "{}@") {
			t.Errorf("%s, %s: a cell is no reference to a row", tablesFile, name)
		}
	}
	return tables
}

// shownRow is a row as a cell shows it.
func shownRow(rows []writtenRow, how, measure, setting string) (string, error) {
	var found *writtenRow
	for i := range rows {
		r := &rows[i]
		if r.Measure != measure || r.Setting != setting {
			continue
		}
		if found != nil && (found.Here != r.Here || found.CI95 != r.CI95) {
			return "", fmt.Errorf("two rows are %q, %q", measure, setting)
		}
		found = r
	}
	switch {
	case found == nil:
		return "", fmt.Errorf("there is no row %q, %q", measure, setting)
	case how == "=":
		return shown(found.Here, found.CI95), nil
	case how == "!":
		return found.Verdict, nil
	}
	return shown(found.Here, found.CI95) + " ± " + shown(found.CI95, found.CI95), nil
}

// The tables that combine rows have the figures of those rows, and no table of the page is
// typed by hand.
func TestReproductionTables_AreOfTheRows(t *testing.T) {
	page, err := os.ReadFile(reproductionPage)
	if err != nil {
		t.Fatal(err)
	}
	tables, text := writtenTables(t), string(page)
	const end = "<!-- end of table -->\n"
	for name, want := range tables {
		begin := "<!-- table " + name + " -->\n"
		before, rest, found := strings.Cut(text, begin)
		had, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Errorf("%s has no table %q", reproductionPage, name)
			continue
		}
		if had != want && !*rewriteReproduction {
			t.Errorf("the table %q is not that of %s; go test ./studies -run TestReproduction -rewrite", name, tablesFile)
		}
		text = before + begin + want + end + after
	}
	if *rewriteReproduction && !t.Failed() {
		if err := os.WriteFile(reproductionPage, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	made := false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "<!-- end of"):
			made = false
		case strings.HasPrefix(line, "<!-- "):
			made = true
		case strings.HasPrefix(line, "|---") && !made:
			t.Errorf("%s:%d: a table that is typed by hand", reproductionPage, i+1)
		}
	}
}

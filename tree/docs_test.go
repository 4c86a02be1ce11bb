package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
)

// pages lists the documents of the project.
func pages(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, found...)
	}
	if len(list) < 5 {
		t.Fatalf("found only %q", list)
	}
	return list
}

var (
	link    = regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	command = regexp.MustCompile("(?m)^(?:\\| `bourse|\\./bourse|bourse) ([a-z]+)")
	cited   = regexp.MustCompile(`\[([A-Z][A-Za-z']+ \d{4})\]`)
)

func TestDocs_LinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

// A command that the README shows is one that there is.
func TestDocs_NameOnlyCommandsThatExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := command.FindAllStringSubmatch(string(text), -1)
	if len(found) < 6 {
		t.Fatalf("the README shows only %q", found)
	}
	for _, m := range found {
		files, _ := filepath.Glob(filepath.Join("cmd", "bourse", m[1]+".go"))
		below, _ := filepath.Glob(filepath.Join("cmd", "bourse", "*", m[1]+".go"))
		if len(files)+len(below) != 1 {
			t.Errorf("the README shows bourse %s, which has %d files in cmd/bourse", m[1], len(files)+len(below))
		}
	}
}

var (
	way    = regexp.MustCompile("(?m)^\\| `([^`]+\\.go)` \\| `([^`]+)` \\| [^|]+ \\|([^|]*)\\|$")
	entry  = regexp.MustCompile(`(?m)^\*\*(.+?)\.\*\*`)
	quoted = regexp.MustCompile("`([^`]+)`")
)

// Whoever follows a job through the code finds each function where the page says that
// it is, and each fact in the journal.
func TestDocs_TheWayOfAJobIsThatOfTheCode(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/internals/JOB.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, f := range facts.Facts() {
		kinds[f.Kind()] = true
	}
	rows := way.FindAllStringSubmatch(string(text), -1)
	if n := strings.Count(string(text), "\n| `"); len(rows) != n || n < 20 {
		t.Fatalf("%d rows of %d have a file, a function, words and facts", len(rows), n)
	}
	for _, r := range rows {
		file, err := parser.ParseFile(token.NewFileSet(), r[1], nil, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			continue
		}
		if !slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && named(f) == r[2]
		}) {
			t.Errorf("%s has no %s", r[1], r[2])
		}
		for _, fact := range quoted.FindAllStringSubmatch(r[3], -1) {
			if !kinds[fact[1]] {
				t.Errorf("%s: no fact is called %s", r[2], fact[1])
			}
		}
	}
}

// named is the name of a function, that of its receiver before it.
func named(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*") + "." + f.Name.Name
}

// Whoever meets a package finds what it is.
func TestDocs_SayWhatEachPackageIs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/internals/PACKAGES.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(text), "## Inside the agents")
	said := map[string]bool{}
	for _, m := range quoted.FindAllStringSubmatch(table, -1) {
		said[m[1]] = true
	}
	lines, _ := sizes(shippedFiles(t))
	for _, dir := range slices.Sorted(maps.Keys(lines)) {
		above, name := path.Split(dir)
		group := above == "cmd/bourse/" && said[name]
		if !said[dir] && !said[above+"*"] && !group {
			t.Errorf("%s does not stand in the table", dir)
		}
	}
}

// The package that the runbook installs has the name under which it is built.
func TestDocs_PackagesAreNamedAsTheyAreBuilt(t *testing.T) {
	t.Parallel()
	built, err := os.ReadFile(".goreleaser.yaml")
	card, err2 := os.ReadFile("docs/RUNBOOK.md")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if !strings.Contains(string(built), `file_name_template: "{{ .ConventionalFileName }}"`) {
		t.Error("packages are named in another way: the cards Upgrade and Rollback must follow")
	}
	named := 0
	for line := range strings.Lines(string(card)) {
		if strings.HasPrefix(line, "apt install") {
			if named++; !debian.MatchString(strings.TrimSpace(line)) {
				t.Errorf("a package for Debian is not called so: %s", line)
			}
		}
	}
	if named < 2 {
		t.Errorf("the cards install %d packages", named)
	}
}

// debian is the name that Debian's packages have by convention.
var debian = regexp.MustCompile(`\./bourse_\d+\.\d+\.\d+_amd64\.deb$`)

// Every citation of the glossary has its source, and every source is cited.
func TestDocs_GlossaryCitesItsSources(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/GLOSSARY.md")
	if err != nil {
		t.Fatal(err)
	}
	words, sources, ok := strings.Cut(string(text), "## Sources")
	if !ok {
		t.Fatal("the glossary has no sources")
	}
	for _, m := range cited.FindAllStringSubmatch(words, -1) {
		if !strings.Contains(sources, "- ["+m[1]+"]") {
			t.Errorf("%s is cited without a source", m[1])
		}
	}
	for _, m := range cited.FindAllStringSubmatch(sources, -1) {
		if !strings.Contains(words, "["+m[1]+"]") {
			t.Errorf("%s is a source that nothing cites", m[1])
		}
	}
}

// A word is looked up by its first letters.
func TestDocs_TheGlossaryIsInOrder(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/GLOSSARY.md")
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for _, m := range entry.FindAllStringSubmatch(string(text), -1) {
		word := strings.ToLower(strings.Trim(m[1], "`*"))
		if word <= last {
			t.Errorf("%q stands behind %q", word, last)
		}
		last = word
	}
	if last < "w" {
		t.Errorf("the last word is %q", last)
	}
}

// Rows of a table follow its head. No row of the tables about failures, remedies and
// agents' actions appears twice, as two of them could promise different things.
func TestDocs_TablesAreWhole(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		once := map[string]bool{"docs/FAILURES.md": true, "docs/internals/FAILURES.md": true, "docs/OPERATING.md": true, "docs/TRANSACTION.md": true}[filepath.ToSlash(page)]
		lines := strings.Split(string(text), "\n")
		rows := map[string]bool{}
		for i, line := range lines {
			if !strings.HasPrefix(line, "|") {
				clear(rows)
				continue
			}
			if len(rows) == 0 && (i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "|--")) {
				t.Errorf("%s:%d: a row without a table", page, i+1)
			}
			name, _, _ := strings.Cut(line[1:], "|")
			if once && rows[name] {
				t.Errorf("%s:%d: %q is there twice", page, i+1, strings.TrimSpace(name))
			}
			rows[name] = true
		}
	}
}

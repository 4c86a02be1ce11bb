package configs

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs/kinds"
)

// examples are the files that show the keys, by the kind of file.
var examples = map[kinds.Kind]string{
	kinds.Scenario: "scenario.toml", kinds.Batch: "batch.toml", kinds.Sweep: "algorithms.toml", kinds.Site: "snapshot.toml",
	kinds.SiteProcess: "site.toml", kinds.BrokerProcess: "broker.toml",
}

var (
	tableLine = regexp.MustCompile(`^#?\[\[?([a-z_.]+)\]`)
	keyLine   = regexp.MustCompile(`^#?([a-z_]+) = `)
)

// shownAs is the one name of a table that several kinds of files have.
func shownAs(file kinds.Kind, table string) string {
	table = strings.Replace(table, "job.part.require", "job.require", 1)
	switch {
	case table == "" && file == kinds.SiteProcess:
		return "site"
	case table == "":
		return string(file)
	case file == kinds.Scenario && strings.HasPrefix(table, "site."):
		return strings.TrimPrefix(table, "site.")
	case strings.HasPrefix(table, "broker.job"):
		return strings.TrimPrefix(table, "broker.")
	}
	return table
}

// Every key is in an example, with its meaning. A "#" before a key means that the key is
// in conflict with another one there.
func TestExamples_HoldEveryKeyOfTheTables(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	for kind, name := range examples {
		table := ""
		for line := range strings.Lines(example(t, name)) {
			if m := tableLine.FindStringSubmatch(line); m != nil {
				table = m[1]
				above, last := "", table
				if i := strings.LastIndexByte(table, '.'); i >= 0 {
					above, last = table[:i], table[i+1:]
				}
				shown[shownAs(kind, above)+" "+last] = true
			} else if m := keyLine.FindStringSubmatch(line); m != nil {
				shown[shownAs(kind, table)+" "+m[1]] = true
			}
		}
	}
	for _, table := range Tables() {
		name := strings.Trim(table.Name, "[]")
		for _, k := range table.Keys {
			if !shown[shownAs(kinds.Kind(table.File), name)+" "+k.Name] {
				t.Errorf("no file of docs/examples shows %s of %s, a %s", k.Name, table.Name, table.File)
			}
		}
	}
}

// Without the "#" before a key, the file is refused only because the key needs another
// value elsewhere.
func TestExamples_HaveValuesThatAreTaken(t *testing.T) {
	t.Parallel()
	for _, name := range examples {
		text := example(t, name)
		if _, err := Check(filepath.Join(exampleDir, name)); err != nil {
			t.Errorf("%v", err)
		}
		lines := strings.SplitAfter(text, "\n")
		above := -1
		for i, line := range lines {
			if tableLine.MatchString(line) {
				above = i
			}
			if line[:min(1, len(line))] != "#" || !keyLine.MatchString(line) {
				continue
			}
			on := append([]string(nil), lines...)
			if on[i] = line[1:]; above >= 0 {
				on[above] = strings.TrimPrefix(lines[above], "#")
			}
			_, err := checkText(filepath.Join(exampleDir, name), []byte(strings.Join(on, "")))
			var wrong *Problems
			if err == nil {
				continue
			}
			if !errors.As(err, &wrong) {
				t.Fatalf("%s: %v", name, err)
			}
			for _, p := range wrong.List {
				if p.Line <= 1 || p.Line == i+1 && !strings.Contains(p.Text, "leave") {
					t.Errorf("with line %d: %v", i+1, p)
				}
			}
		}
	}
}

// Whoever reads in a comment which words a key takes reads all of them, or that there are others: a
// new policy is not left out by the examples.
func TestExamples_ListAllWordsOfAKeyOrSayThatThereAreOthers(t *testing.T) {
	t.Parallel()
	takes := map[string][]string{}
	for _, table := range Tables() {
		for _, k := range table.Keys {
			if len(k.Words) > 0 {
				takes[shownAs(kinds.Kind(table.File), strings.Trim(table.Name, "[]"))+" "+k.Name] = k.Words
			}
		}
	}
	texts := map[string]string{}
	for _, name := range presetNames {
		text, err := presetFiles.ReadFile("presets/" + name + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	lists := 0
	check := func(kind kinds.Kind, name, text string) {
		table := ""
		for line := range strings.Lines(text) {
			if m := tableLine.FindStringSubmatch(line); m != nil {
				table = m[1]
				continue
			}
			m := keyLine.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			_, comment, _ := strings.Cut(line[1:], "#")
			has := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,;:()\"\n", r) })
			var missing []string
			words := takes[shownAs(kind, table)+" "+m[1]]
			for _, w := range words {
				if !slices.Contains(has, w) {
					missing = append(missing, w)
				}
			}
			if len(words)-len(missing) < 3 {
				continue // it lists none
			}
			if lists++; len(missing) > 0 && !strings.Contains(comment, "others") {
				t.Errorf("%s: the comment of %s lists words and lacks %q, or \"and others\"", name, m[1], missing)
			}
		}
	}
	for kind, name := range examples {
		check(kind, name, example(t, name))
	}
	for name, text := range texts {
		check(kinds.Scenario, name, text)
	}
	if lists < 5 {
		t.Errorf("only %d comments list words", lists)
	}
}

const exampleDir = "../docs/examples"

func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(exampleDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The files that a package puts into /etc/bourse are valid, and write nowhere else than
// where its service may.
func TestExamples_OfPackagesWriteWhereTheirServicesMay(t *testing.T) {
	t.Parallel()
	const mayWrite = "/var/lib/bourse/"
	site, err := ReadSiteProcess("../tools/packaging/site.toml")
	if err != nil {
		t.Fatal(err)
	}
	broker, err := ReadBrokerProcess("../tools/packaging/broker.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{site.ProofKey, site.Journal.Dir, broker.Journal.Dir} {
		if !strings.HasPrefix(name, mayWrite) {
			t.Errorf("%s is not in %s", name, mayWrite)
		}
	}
}

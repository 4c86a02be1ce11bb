// Package story is the language of scenario files: what agents are told and what they say,
// line by line, as the tests of brokers, sites and the torture read and print it. Only tests
// import it.
//
// Messages are read by reflection, from the names or the order of their fields, and printed
// by a table of templates, or field by field if the table has no line for their kind. So a
// new message or fact needs no line anywhere to take part in a story.
package story

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Walk plays every file below a folder, each by a player of its own. A player takes one
// command and returns what the file must show for it.
func Walk(t *testing.T, dir string, begin func(t *testing.T) func(t *testing.T, d *datadriven.TestData) string) {
	t.Helper()
	datadriven.Walk(t, dir, func(t *testing.T, path string) { datadriven.RunTest(t, path, begin(t)) })
}

// WalkRows is Walk for stories named after rows of a table. A player adds the rows that its
// agent takes by its own word. It returns whether the row of each story was taken in one of
// its stories.
func WalkRows(t *testing.T, dir string, begin func(t *testing.T, taken map[agents.Row]bool) func(t *testing.T, d *datadriven.TestData) string) map[agents.Row]bool {
	t.Helper()
	told := map[agents.Row]bool{}
	datadriven.Walk(t, dir, func(t *testing.T, path string) {
		taken := map[agents.Row]bool{}
		datadriven.RunTest(t, path, begin(t, taken))
		name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".txt"), "-")
		told[agents.Row(name)] = told[agents.Row(name)] || taken[agents.Row(name)]
	})
	return told
}

// Rows fails unless each row of a document's table whose number begins with a letter has a
// scenario in a folder, named after it, and each scenario a row.
func Rows(t *testing.T, document, letter, dir string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| (`+letter+`\d+) \|`).FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = true
	}
	files, err := filepath.Glob(filepath.Join(dir, letter+"*.txt"))
	if err != nil || len(rows) < 39 {
		t.Fatalf("%s has only %d rows of %s, %v", document, len(rows), letter, err)
	}
	told := map[string]bool{}
	for _, f := range files {
		row, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f), ".txt"), "-")
		if told[row] = true; !rows[row] {
			t.Errorf("%s: %s has no row %s", f, document, row)
		}
	}
	for row := range rows {
		if !told[row] {
			t.Errorf("row %s has no scenario in %s", row, dir)
		}
	}
}

// Args are the arguments of a command.
type Args struct {
	T testing.TB
	*datadriven.TestData
}

// Text is an argument as it stands.
func (a Args) Text(key, otherwise string) string {
	if a.HasArg(key) {
		Value(a.T, a.Cmd+" "+key, &otherwise, a.values(key))
	}
	return otherwise
}

// Number is an argument that is a whole number.
func (a Args) Number(key string, otherwise int) int {
	if a.HasArg(key) {
		Value(a.T, a.Cmd+" "+key, &otherwise, a.values(key))
	}
	return otherwise
}

// Seconds is an argument that is a duration; 0 if there is none.
func (a Args) Seconds(key string) (d grid.Duration) {
	if a.HasArg(key) {
		Value(a.T, a.Cmd+" "+key, &d, a.values(key))
	}
	return d
}

// At is an argument that is an instant; 0 if there is none.
func (a Args) At(key string) grid.Time { return grid.Time(a.Seconds(key)) }

// Credits is an argument that is an amount of money, which may be below zero.
func (a Args) Credits(key string, otherwise grid.Credits) grid.Credits {
	if a.HasArg(key) {
		Value(a.T, a.Cmd+" "+key, &otherwise, a.values(key))
	}
	return otherwise
}

// First is the first argument if it has no value, such as the leg in "confirm vo1/1/1.0".
func (a Args) First() string {
	if len(a.CmdArgs) == 0 {
		return ""
	}
	return a.CmdArgs[0].Key
}

func (a Args) values(key string) string {
	for _, x := range a.CmdArgs {
		if x.Key == key {
			return strings.Join(x.Vals, ",")
		}
	}
	return ""
}

// Pair is one "key=value" of a line; Value is "" for a key by itself.
type Pair struct{ Key, Value string }

// Line reads a line such as "north nodes=8 price=36": a name, and pairs.
func Line(line string) (name string, pairs []Pair) {
	for i, word := range strings.Fields(line) {
		if i == 0 {
			name = word
			continue
		}
		key, value, _ := strings.Cut(word, "=")
		pairs = append(pairs, Pair{key, value})
	}
	return name, pairs
}

// conditions are the keys of a job's dependencies; "after_ran" is as earlier versions have
// recorded it.
var conditions = map[string]grid.Condition{"after": grid.IfDone, "after_any": grid.IfAny, "after_failed": grid.IfFailed, "after_each": grid.IfEach, "after_ran": grid.IfRan}

// jobWords are the words of jobs that are not their fields' names.
var jobWords = map[string]string{"performance": "MinPerformance", "price": "MaxPrice"}

// Job reads a line such as "a nodes=2 length=600 budget=50 user=ana after=b+c": what it says
// of a job, on top of what is known of it. A moldable job has "sizes=2:600,4:300", and
// "price" is that of a node for 1000 s. A job of unlike parts has "parts=x:2:600,y:4:300:100":
// names, nodes, lengths and offsets; all else each part has from its job.
func Job(t testing.TB, j grid.Job, line string) grid.Job {
	t.Helper()
	name, pairs := Line(line)
	j.Name = name
	for _, p := range pairs {
		if on, ok := conditions[p.Key]; ok {
			j.After = append(j.After, grid.Dependencies(on, strings.Split(p.Value, "+")...)...)
			continue
		}
		if p.Key == "parts" {
			continue // once the rest is known
		}
		if err := Set(&j, jobWords, p.Key, p.Value); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch p.Key {
		case "sizes":
			j.Mold(j.Sizes)
		case "price":
			j.MaxPrice = j.MaxPrice * 36 / 10
		}
	}
	for _, p := range pairs {
		if p.Key == "parts" {
			j.Compose(parts(t, &j.Request, p.Value))
		}
	}
	return j
}

// parts reads the parts of a job.
func parts(t testing.TB, r *grid.Request, text string) (list []grid.JobPart) {
	for x := range strings.SplitSeq(text, ",") {
		p := grid.JobPart{MinPerformance: r.MinPerformance, MaxPrice: r.MaxPrice, Sites: r.Sites, Avoid: r.Avoid, OneSite: r.OneSite}
		for i, word := range strings.Split(x, ":") {
			switch i {
			case 0:
				p.Name = word
			case 1:
				Value(t, x, &p.Nodes, word)
			case 2:
				Value(t, x, &p.Length, word)
			default:
				Value(t, x, &p.Offset, word)
			}
		}
		list = append(list, p)
	}
	return list
}

package journal

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

var newRelease = flag.String("journal.release", "", "write testdata/VERSION.txt: a fact of each kind as this build writes it")

// Every release reads the journals of all releases before it: of each, a fact of every kind
// is read, and would be written as it was. If it were written otherwise, a federation that has
// been upgraded could not go back: new fields are left out where they are zero.
func TestRelease_FactsOfAllReleasesAreRead(t *testing.T) {
	t.Parallel()
	c := NewCodec()
	if *newRelease != "" {
		var text []byte
		for i, zero := range facts.Facts() {
			fact := rapid.Custom(func(t *rapid.T) agents.Fact {
				v := reflect.New(reflect.TypeOf(zero)).Elem()
				draw(t, v)
				return v.Interface().(agents.Fact)
			})
			var err error
			if text, err = c.Append(text, grid.Time(1000*i), shortest(fact)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(fmt.Sprintf("testdata/%s.txt", *newRelease), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob("testdata/v*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no facts of a release: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			at, fact, err := c.Decode(line)
			if err != nil {
				t.Errorf("%s: %v\n%.300s", name, err, line)
				continue
			}
			if now, err := c.Append(nil, at, fact); err != nil || !bytes.Equal(now, line) {
				t.Errorf("%s: %s\nis written now as %s, %v", name, line, now, err)
			}
		}
		if n := bytes.Count(text, []byte("\n")); n < 50 {
			t.Errorf("%s has only %d facts", name, n)
		}
	}
	if list := strings.Join(files, " "); !strings.Contains(list, lastReleased(t)) {
		t.Errorf("there are the facts of %s, and not of the last release: go test ./agents/journal -run FactsOfAllReleases -journal.release %s", list, lastReleased(t))
	}
}

// shortest is of some values that which is written in fewest bytes, without those that are
// hardly anything.
func shortest(fact *rapid.Generator[agents.Fact]) (best agents.Fact) {
	least := 0
	for seed := range 40 {
		f := fact.Example(seed)
		text, err := NewCodec().Append(nil, 0, f)
		if err == nil && (best == nil || len(text) < least || least < 200 && len(text) < 1000) {
			best, least = f, len(text)
		}
	}
	return best
}

// lastReleased is the version of the last release.
func lastReleased(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../cmd/bourse/version/releases.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	version, _, _ := strings.Cut(lines[len(lines)-1], " ")
	return version
}

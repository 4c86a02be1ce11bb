package version

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/wire"
)

// This tree keeps the promises of the last release: it speaks its wire and reads its journals. The
// page for people lists the same releases.
func TestReleases_AreThoseOfThePageAndStillUnderstood(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/RELEASING.md")
	if err != nil {
		t.Fatal(err)
	}
	list := Releases()
	if len(list) == 0 {
		t.Fatal("there is no release")
	}
	form := regexp.MustCompile(`^v\d+\.\d+\.\d+ 20\d\d-\d\d-\d\d [0-9a-f]{40}$`)
	var rows strings.Builder
	for _, r := range list {
		if text := r.Version + " " + r.Day + " " + r.Commit; !form.MatchString(text) {
			t.Errorf("releases.txt has %q", text)
		}
		fmt.Fprintf(&rows, "| %s | %s | `%s` | %d | %d |\n", strings.TrimPrefix(r.Version, "v"), r.Day, r.Commit[:min(12, len(r.Commit))], r.Wire, r.Journal)
	}
	if !strings.Contains(string(page), "|---|---|---|---|---|\n"+rows.String()+"\n") {
		t.Errorf("docs/RELEASING.md does not have the table\n%s", &rows)
	}
	if last := list[len(list)-1]; last.Wire < wire.Oldest || last.Wire > wire.Version || last.Journal > journal.Version {
		t.Errorf("%s speaks wire %d and writes journal %d: this build must speak the one and read the other", last.Version, last.Wire, last.Journal)
	}
}

func TestVersion_SaysWhichReleaseItComesAfter(t *testing.T) {
	t.Parallel()
	last := Releases()[len(Releases())-1]
	v := Version{Version: "unreleased", Go: "go1", Platform: "p", Wire: 1, Journal: 1}
	v.follows(Releases())
	if got, want := v.String(), "bourse unreleased, after "+last.Version+" of "+last.Day+" (commit unknown, go1, p, wire 1, journal 1)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	v = Version{Version: "v9.8.7"}
	if v.follows(Releases()); v.After != "" || strings.Contains(v.String(), "after") {
		t.Errorf("a release comes after %q: %s", v.After, v)
	}
}

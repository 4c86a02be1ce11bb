package version

import (
	_ "embed"
	"fmt"
	"strings"
)

// releasesFile has a line for each release: version, day, commit, and the numbers of wire
// and journal. It is also what the drill of an upgrade builds the last release from.
//
//go:embed releases.txt
var releasesFile string

// Release is a release that this tree comes after.
type Release struct {
	Version string // such as "v0.1.0"
	Day     string // "2026-11-27"
	Commit  string // in full
	Wire    int
	Journal int
}

// Releases lists the releases before this tree, the latest last. It panics on a line that
// is none, which a test would have found.
func Releases() (list []Release) {
	for line := range strings.Lines(releasesFile) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		var r Release
		if _, err := fmt.Sscan(line, &r.Version, &r.Day, &r.Commit, &r.Wire, &r.Journal); err != nil {
			panic(fmt.Sprintf("releases.txt: %q: %v", line, err))
		}
		list = append(list, r)
	}
	return list
}

package tree

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// advisories has what make advisories writes docs/DEPENDENCIES.md from.
var advisories = flag.String("advisories", "", "folder with scan.json, of govulncheck -format json -scan module, and the database's modules.json")

const (
	dependenciesFile = "docs/DEPENDENCIES.md"
	dependenciesRows = "<!-- rows: written by make advisories -->\n"
)

// requires are the modules of go.mod by name, with their versions; direct are those that the
// code imports.
func requires(t *testing.T) (versions map[string]string, direct []string) {
	t.Helper()
	versions = map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) (v\S+)( // indirect)?$`).FindAllStringSubmatch(read(t, "go.mod"), -1) {
		if versions[m[1]] = m[2]; m[3] == "" {
			direct = append(direct, m[1])
		}
	}
	if len(direct) < 20 || len(versions) < 60 {
		t.Fatalf("go.mod has %d direct of %d modules", len(direct), len(versions))
	}
	return versions, direct
}

// A version that nobody has looked at is not in use, and none with a known vulnerability. What
// was looked at, when and in which state of the database says the page.
func TestDependencies_EachVersionWasLookedAt(t *testing.T) {
	t.Parallel()
	versions, _ := requires(t)
	if *advisories != "" {
		writeDependencies(t, versions)
	}
	text := read(t, dependenciesFile)
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (v\\S+) \\|").FindAllStringSubmatch(text, -1) {
		rows[m[1]] = m[2]
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		if rows[name] != versions[name] {
			t.Errorf("%s is used at %s, and was looked at at %q; run make advisories", name, versions[name], rows[name])
		}
		delete(rows, name)
	}
	for name := range rows {
		t.Errorf("%s is not used any more; run make advisories", name)
	}
	if m := regexp.MustCompile(`(?m)^.*\*\*affected\*\*.*$`).FindString(text); m != "" {
		t.Error(m)
	}
}

// Each module that the code imports has a reason in decision 4.
func TestDependencies_EachHasAReason(t *testing.T) {
	t.Parallel()
	_, direct := requires(t)
	reasons := read(t, "docs/decisions/0004-dependencies.md")
	for _, name := range direct {
		if !strings.Contains(reasons, "| `"+name+"`") && !strings.Contains(reasons, ", `"+name+"`") {
			t.Errorf("decision 4 does not say what %s is for", name)
		}
	}
}

// advisory is one of a module, and the version that mends it; "": none does.
type advisory struct{ ID, Fixed string }

// found is what a scan says, one message each.
type found struct {
	Config *struct {
		Version  string `json:"scanner_version"`
		Database string `json:"db_last_modified"`
		Go       string `json:"go_version"`
	}
	Finding *struct {
		OSV   string
		Trace []struct{ Module string }
	}
}

// writeDependencies writes what a scan says of each module after the page's mark.
func writeDependencies(t *testing.T, versions map[string]string) {
	t.Helper()
	affected, config := map[string][]string{}, (*found)(nil)
	for in := json.NewDecoder(strings.NewReader(read(t, filepath.Join(*advisories, "scan.json")))); ; {
		var m found
		if err := in.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch {
		case m.Config != nil:
			config = &m
		case m.Finding != nil && len(m.Finding.Trace) > 0:
			of := m.Finding.Trace[0].Module
			affected[of] = append(affected[of], m.Finding.OSV)
		}
	}
	if config == nil {
		t.Fatalf("%s has no scan", *advisories)
	}
	var index []struct {
		Path  string
		Vulns []advisory
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(*advisories, "modules.json"))), &index); err != nil {
		t.Fatal(err)
	}
	known := map[string][]advisory{}
	for _, m := range index {
		known[m.Path] = m.Vulns
	}
	linked, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/bourse").Output()
	if err != nil {
		t.Fatal(err)
	}
	in := strings.Fields(string(linked))
	say := func(name string) string {
		list := known[name]
		switch {
		case len(affected[name]) > 0:
			return "**affected**: " + strings.Join(affected[name], ", ")
		case len(list) == 0:
			return "none"
		}
		slices.SortFunc(list, func(a, b advisory) int { // the newest first: GO-YEAR-NUMBER
			return strings.Compare(fmt.Sprintf("%.8s%8s", b.ID, b.ID[8:]), fmt.Sprintf("%.8s%8s", a.ID, a.ID[8:]))
		})
		var last []string
		for _, x := range list[:min(len(list), 3)] {
			if x.Fixed != "" && name != "stdlib" { // each release of Go mends it in several
				x.ID += " in " + x.Fixed
			}
			last = append(last, x.ID)
		}
		return fmt.Sprintf("%d, all mended: %s%s", len(list), strings.Join(last, ", "), map[bool]string{true: ", ..."}[len(list) > 3])
	}
	var b strings.Builder
	head, _, ok := strings.Cut(read(t, dependenciesFile), dependenciesRows)
	if !ok {
		t.Fatalf("%s has no line %q", dependenciesFile, dependenciesRows)
	}
	b.WriteString(head + dependenciesRows + "\n")
	fmt.Fprintf(&b, "Looked at on **%s** with govulncheck %s, in Go's vulnerability database as it was on **%.10s**.\n\n",
		time.Now().UTC().Format(time.DateOnly), config.Config.Version, config.Config.Database)
	b.WriteString("| module | version | linked into | known advisories |\n|---|---|---|---|\n")
	fmt.Fprintf(&b, "| Go itself | %s | `bourse` | %s |\n", config.Config.Go, say("stdlib"))
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		where := "tests"
		if slices.Contains(in, name) {
			where = "`bourse`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, versions[name], where, say(name))
	}
	if err := os.WriteFile(dependenciesFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

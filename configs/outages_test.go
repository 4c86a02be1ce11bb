package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

const failing = `until = "30d"
[[site]]
name = "north"
OUTAGES
[[site.group]]
name = "main"
nodes = 8
price = 1.0
`

func TestOutages_RefusalsNameTheRemedy(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		`mttr = "4h"`:                           `mttr: needs mtbf, such as mtbf = "30d"; add it, or leave the key out`,
		"mtbf = \"1d\"\noutages = \"o.csv\"":    "outages: cannot be combined with mtbf; leave one of them out",
		"mtbf = \"1m\"\nmttr = \"1s\"":          "",
		"mtbf = \"30s\"":                        "mtbf: ",
		"mtbf = \"1d\"\npolicy = \"libra\"":     "mtbf: a site that shares its nodes over time (libra, edf) has no node that fails; leave the key out",
		"outages = \"o.csv\"\npolicy = \"edf\"": "outages: a site that shares its nodes over time",
	} {
		_, err := ParseScenario("f.toml", []byte(strings.Replace(failing, "OUTAGES", keys, 1)))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", keys, err, want)
		}
	}
	many := strings.NewReplacer("OUTAGES", `mtbf = "1m"`, "30d", "3000d").Replace(failing)
	many = strings.Replace(many, "nodes = 8", "nodes = 100000", 1)
	if _, err := ParseScenario("f.toml", []byte(many)); err == nil || !strings.Contains(err.Error(), "fail more than 1000000 times in 3000d; use a longer time") {
		t.Error(err)
	}
}

// A scenario reads its outages, and has them again from its source alone, as a run's folder
// keeps it.
func TestOutages_AreOnRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "f.toml")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("f.toml", strings.Replace(failing, "OUTAGES", `outages = "o.csv"`, 1))
	write("o.csv", "group,nodes,from,to\nmain,4,1h,2h\n")
	s, err := ReadScenario(file)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Source.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []*Scenario{s, again} {
		if list := one.Sites[0].Outages.List; len(list) != 1 || list[0].Nodes != 4 || list[0].For != grid.Hour {
			t.Errorf("%+v", list)
		}
	}
	for text, want := range map[string]string{
		"group,nodes,from,to\nmian,4,1h,2h\n": `o.csv:2: site "north" has no group "mian"`,
		"group,nodes,from,to\nmain,9,1h,2h\n": `o.csv:2: nodes 9: group "main" has 8`,
	} {
		write("o.csv", text)
		if _, err := Check(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

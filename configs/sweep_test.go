package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// sweepFile writes a scenario and a sweep of it into a folder of their own.
func sweepFile(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	const base = `until = "2d"
[[site]]
name = "north"
[[site.group]]
name = "main"
nodes = 4
price = 1.0
[[site]]
name = "a.b"
[[site.group]]
name = "main"
nodes = 4
price = 1.0
[[broker]]
name = "vo1"
budget = 10.0
cycle = "30m"
horizon = "1d"
algorithm = "amp"
minimize = "time"
[broker.workload]
model = "uniform"
jobs = 3
`
	for name, content := range map[string]string{"base.toml": base, "sweep.toml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "sweep.toml")
}

func TestSweep_TheLastParameterTurnsFastest(t *testing.T) {
	t.Parallel()
	s, err := ReadSweep(sweepFile(t, `scenario = "base.toml"
[[parameter]]
key = "broker.algorithm"
values = ["alp", "best"]
[[parameter]]
key = "broker.workload.jobs"
values = [1, 2, 3]
`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Points() != 6 || s.Runs != 5 || s.Seed != 1 {
		t.Fatalf("%d points, %d runs from seed %d", s.Points(), s.Runs, s.Seed)
	}
	if got := s.Words(4); got != "broker.algorithm = best, broker.workload.jobs = 2" {
		t.Error(got)
	}
	scenario, err := s.Scenario(4)
	if err != nil {
		t.Fatal(err)
	}
	if b := scenario.Brokers[0]; b.Algorithm != search.Best || b.Workload.Jobs != 2 || scenario.Until != 2*grid.Day {
		t.Errorf("%+v", b)
	}
}

func TestSweep_AKeyIsOfOneNamedTableOrOfAll(t *testing.T) {
	t.Parallel()
	for key, want := range map[string][2]int{`"site.group.nodes"`: {9, 9}, `"site.north.group.main.nodes"`: {9, 4}, `["site", "a.b", "group", "nodes"]`: {4, 9}} {
		s, err := ReadSweep(sweepFile(t, "scenario = \"base.toml\"\n[[parameter]]\nkey = "+key+"\nvalues = [9]\n"))
		if err != nil {
			t.Fatal(err)
		}
		scenario, err := s.Scenario(0)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{scenario.Sites[0].Nodes(), scenario.Sites[1].Nodes()}; got != want {
			t.Errorf("%s: %v nodes, want %v", key, got, want)
		}
	}
}

// A scenario may write its sites as inline tables, a line each.
func TestSweep_AKeyIsOfInlineTablesToo(t *testing.T) {
	t.Parallel()
	file := sweepFile(t, `scenario = "base.toml"
[[parameter]]
key = "site.south.group.nodes"
values = [9]
[[parameter]]
key = "site.group.price"
values = [2.0]
`)
	base := filepath.Join(filepath.Dir(file), "base.toml")
	if err := os.WriteFile(base, []byte(`until = "2d"
site = [
  { name = "north", group = [{ name = "main", nodes = 4, price = 1.0 }] },
  { name = "south", group = [{ name = "main", nodes = 4, price = 1.0 }] },
]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := ReadSweep(file)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Scenario(0)
	if err != nil {
		t.Fatal(err)
	}
	north, south := x.Sites[0].Groups[0], x.Sites[1].Groups[0]
	if north.Nodes != 4 || south.Nodes != 9 || north.Price != 2*grid.Price(grid.Credit) || south.Price != north.Price {
		t.Errorf("%+v, %+v", north, south)
	}
}

func TestSweep_KeysThatChangeTogether(t *testing.T) {
	t.Parallel()
	s, err := ReadSweep(sweepFile(t, `scenario = "base.toml"
[[parameter]]
key = ["broker.budget", ["site", "a.b", "policy"]]
values = [[1.0, "easy"], [2.0, "fcfs"]]
[[parameter]]
key = "broker.workload.jobs"
values = [1, 2]
`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Points() != 4 || strings.Join(s.Names(), " ") != "broker.budget site.a.b.policy broker.workload.jobs" ||
		s.Words(2) != "broker.budget = 2, site.a.b.policy = fcfs, broker.workload.jobs = 1" {
		t.Errorf("%d points of %q: %s", s.Points(), s.Names(), s.Words(2))
	}
	x, err := s.Scenario(2)
	if err != nil {
		t.Fatal(err)
	}
	if x.Brokers[0].Budget != 2*grid.Credit || x.Sites[1].Policy.String() != "fcfs" || x.Sites[0].Policy.String() == "fcfs" {
		t.Errorf("%+v", x.Brokers[0])
	}
}

// An array of as many as the key has words would be read as keys; any other is a value.
func TestSweep_AValueMayBeAnArray(t *testing.T) {
	t.Parallel()
	file := sweepFile(t, `scenario = "base.toml"
[[parameter]]
key = "until"
values = [[1, 2], [3]]
`)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := RestoreSweep(file, string(text))
	if err != nil {
		t.Fatal(err)
	}
	if s.Points() != 2 || s.Words(0) != "until = [1, 2]" || s.Words(1) != "until = [3]" {
		t.Errorf("%d points: %s; %s", s.Points(), s.Words(0), s.Words(1))
	}
}

func TestSweep_RefusesWithTheKeyAndTheRemedy(t *testing.T) {
	t.Parallel()
	parameter := func(key, values string) string {
		return "scenario = \"base.toml\"\n[[parameter]]\nkey = " + key + "\nvalues = " + values + "\n"
	}
	for text, want := range map[string]string{
		"runs = 3\n": "scenario: missing",
		"scenario = \"base.toml\"\npreset = \"default\"\n":                                     "leave one of them out",
		"scenario = \"base.toml\"\n":                                                           "must vary at least one key",
		"preset = \"defualt\"\n[[parameter]]\nkey = \"until\"\nvalues = [1]\n":                 `did you mean "default"?`,
		"scenario = \"absent.toml\"\n[[parameter]]\nkey = \"x\"\nvalues = [1]\n":               "absent.toml: no such file",
		parameter(`"broker.algorithm"`, `["alp", "amf"]`):                                      `with broker.algorithm = amf:`,
		parameter(`"broker.algoritm"`, `["alp"]`):                                              `did you mean algorithm?`,
		parameter(`"sites.policy"`, `["easy"]`):                                                `there is no table "sites"`,
		parameter(`"site.north"`, `["easy"]`):                                                  `"north" is a table`,
		parameter(`"site"`, `["easy"]`):                                                        `"site" is a table`,
		parameter(`"site..policy"`, `["easy"]`):                                                "has an empty word",
		parameter(`3`, `["easy"]`):                                                             "key: is",
		parameter(`"until"`, `"1d"`):                                                           "an array with at least one value",
		parameter(`"until"`, `[]`):                                                             "an array with at least one value",
		parameter(`"until"`, `[[1]]`):                                                          "must be a number, not an array",
		parameter(`"until"`, `[{a = 1}]`):                                                      "strings, numbers, booleans or arrays",
		parameter(`"until"`, `[[{a = 1}]]`):                                                    "strings, numbers, booleans or arrays",
		parameter(`["until", "until"]`, `[["1d", "2d"]]`):                                      "varied twice",
		parameter(`["until", 3]`, `[["1d", "2d"]]`):                                            "must hold strings",
		parameter(`[["site", "north"], "until"]`, `[["1d"]]`):                                  "several keys need values that are arrays of 2",
		parameter(`[]`, `["1d"]`):                                                              "must name a key",
		parameter(`"until"`, `["1d"]`) + "[[parameter]]\nkey = \"until\"\nvalues = [\"2d\"]\n": "varied twice",
		"runs = 1000000\n" + parameter(`"until"`, `["1d", "2d"]`):                              "use fewer",
		parameter(`"until"`, "["+strings.Repeat(`"1d",`, 101)+"]") + "[[parameter]]\nkey = \"broker.cycle\"\nvalues = [" + strings.Repeat(`"1h",`, 100) + "]\n": "more than 10000 combinations",
	} {
		_, err := ReadSweep(sweepFile(t, text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
}

func TestSweep_TheFingerprintFollowsTheTexts(t *testing.T) {
	t.Parallel()
	const text = "scenario = \"base.toml\"\n[[parameter]]\nkey = \"until\"\nvalues = [\"1d\"]\n"
	seen := map[string]string{}
	for _, change := range []string{"", "# a remark\n", "runs = 2\n"} {
		file := sweepFile(t, change+text)
		for range 2 {
			s, err := ReadSweep(file)
			if err != nil {
				t.Fatal(err)
			}
			print, err := s.Fingerprint()
			if err != nil {
				t.Fatal(err)
			}
			if other, ok := seen[print]; ok && other != change {
				t.Errorf("%q and %q have one fingerprint", other, change)
			}
			seen[print] = change
			if err := os.Chtimes(file, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d fingerprints of three sweeps", len(seen))
	}
}

func TestReadSweep_ATargetNeedsOneRange(t *testing.T) {
	t.Parallel()
	read := func(head, parameter string) error {
		_, err := ReadSweep(write(t, t.TempDir(), "s.toml", "preset = \"default\"\n"+head+"\n[[parameter]]\nkey = \"broker.budget\"\n"+parameter+"\n"))
		return err
	}
	const good, ranged = `target = "placed >= 95 % in 90 % of seeds"`, "range = [1000.0, 2000.0]"
	if err := read(good, ranged); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ head, parameter, want string }{
		{"", ranged, "which needs a target"},
		{good, "values = [1000.0]", "needs exactly one parameter"},
		{good, ranged + "\nvalues = [1.0]", "leave one of them out"},
		{good, "range = [2000.0, 1000.0]", "the least first"},
		{good, "range = [1000.0]", "must be two numbers"},
		{good, ranged + "\nprecision = 0", "above 0"},
		{good, ranged + "\nprecision = 1e-9", "a millionth of the range"},
		{"", "values = [1000.0]\nprecision = 5", "leave it out"},
		{`target = "placed = 95 in 90 % of seeds"`, ranged, "must be like"},
		{`target = "placed >= x % in 90 % of seeds"`, ranged, `"x" is not a number`},
		{`target = "placed >= 95 % in 0 % of seeds"`, ranged, "above 0 and at most 100"},
		{`target = "placed >= 95 % in 101 % of seeds"`, ranged, "above 0 and at most 100"},
		{`target = "placed >= NaN % in 90 % of seeds"`, ranged, "is not a number"},
	} {
		if err := read(c.head, c.parameter); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.head, c.parameter, err, c.want)
		}
	}
}

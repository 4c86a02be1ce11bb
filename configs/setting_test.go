package configs

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A script's lines, flags and a batch file say the same job in the same words.
func TestParseJob_LinesAndFlagsSayWhatAFileSays(t *testing.T) {
	t.Parallel()
	const script = `#!/bin/sh
#BOURSE nodes = 4
#BOURSE length = 1h
#BOURSE gpus = 2                 # on each node
#BOURSE require.memory = "8GiB"
#BOURSE features = avx512
#BOURSE env = { A = "1", B = "two words" }
#BOURSE max-price = 2.5
#BOURSER nodes = 7
echo "#BOURSE nodes = 9"
`
	lines, err := Directives("run.sh", []byte(script))
	if err != nil || len(lines) != 7 {
		t.Fatalf("%v, %v", lines, err)
	}
	asLines, err := ParseJob("run.sh", "run", append(lines, Setting{Key: "features", Value: "ib,gpu"}, Setting{Key: "nodes", Value: "4..8"}, Setting{Key: "amdahl", Value: "0.05"}), &grid.Work{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	var flags []Setting
	for _, f := range []string{"nodes=4..8", "length=3600", "gpus=2", "memory=8GiB", "features=ib", "features=gpu", "env=A=1", "env=B=two words", "max-price=2.5", "amdahl=.05"} {
		key, value, _ := strings.Cut(f, "=")
		flags = append(flags, Setting{Key: key, Value: value})
	}
	asFlags, err := ParseJob("the command line", "run", flags, &grid.Work{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	b, err := ParseBatch("b.toml", []byte(`[[job]]
name = "run"
nodes = "4..8"
length = "1h"
speedup = { amdahl = 0.05 }
max_price = 2.5
env = { A = "1", B = "two words" }
command = ["x"]
require = { gpus = 2, memory = "8GiB", features = ["ib", "gpu"] }
`))
	if err != nil {
		t.Fatal(err)
	}
	asFile := &b.Jobs[0]
	asFile.Work.Command, asFile.Work.Script = nil, script
	for name, got := range map[string]*Job{"lines": asLines, "flags": asFlags} {
		if !reflect.DeepEqual(got, asFile) {
			t.Errorf("%s:\n%+v\nwant\n%+v", name, got, asFile)
		}
	}
}

// Indices are text, though those of a single element look like a number.
func TestParseJob_AnArrayOfOneElement(t *testing.T) {
	t.Parallel()
	j, err := ParseJob("f", "f", []Setting{{Key: "length", Value: "1h"}, {Key: "array", Value: "7"}}, &grid.Work{Script: "#!/bin/sh\n"})
	if err != nil || j.Array.String() != "7" {
		t.Errorf("%+v, %v", j, err)
	}
}

// An error names the line or the flag, the key and the remedy.
func TestParseJob_NamesTheLineOrTheFlag(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"#BOURSE nodes = 0\n#BOURSE length = 1h": `run.sh:2: nodes: 0 is outside 1..1000000`,
		"#BOURSE lenth = 1h":                     `run.sh:2: lenth: unknown key; did you mean length?`,
		"#BOURSE script = run.sh":                `run.sh:2: script: is the script itself; leave it out`,
		"#BOURSE nodes 4":                        `run.sh:2: "#BOURSE nodes 4": must be #BOURSE key = value, such as #BOURSE nodes = 4`,
		"#BOURSE length = soon":                  `run.sh:2: length: duration "soon" is not a number`,
		"--nodes=-1 --length=1h":                 `--nodes: -1 is outside 1..1000000`,
		"--gpus=many --length=1h":                `--gpus: must be a whole number from 0 to`,
		"--env=A --length=1h":                    `--env: "A": must be NAME=VALUE`,
		"--nodes=4":                              `length: missing`,
		"--length=1h --nodes=4..8":               `run.sh: speedup: missing; a job on 4 to 8 nodes must say how it gets faster`,
		"--length=1h --deadline=30m":             `--deadline: leaves 30m after ready, but the job takes 1h`,
	} {
		var list []Setting
		var err error
		if strings.HasPrefix(given, "#") {
			list, err = Directives("run.sh", []byte("#!/bin/sh\n"+given+"\n"))
		} else {
			for f := range strings.FieldsSeq(given) {
				key, value, _ := strings.Cut(strings.TrimPrefix(f, "--"), "=")
				list = append(list, Setting{Key: key, Value: value})
			}
		}
		if err == nil {
			_, err = ParseJob("run.sh", "run", list, &grid.Work{Script: "#!/bin/sh\n"})
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", given, err, want)
		}
	}
}

// Every key that fits on a line can be given, and each only under one name.
func TestJobKeys_NoNameStandsTwice(t *testing.T) {
	t.Parallel()
	var names []string
	for _, k := range JobKeys() {
		if names = append(names, k.Name); k.Doc == "" || k.Kind == "" {
			t.Errorf("%+v", k)
		}
	}
	for _, must := range []string{"nodes", "length", "gpus", "after", "env", "priority", "amdahl", "rendezvous"} {
		if !slices.Contains(names, must) {
			t.Errorf("%s is missing", must)
		}
	}
	for _, never := range []string{"part", "command", "script", "submit", "fails", "table", "require"} {
		if slices.Contains(names, never) {
			t.Errorf("%s fits on no line", never)
		}
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("%v", names)
	}
}

// FuzzDirectives reads anything as a script and its lines as a job: no panic, and every error
// is one of a *Problems that names a line of the text, or that there is no length.
func FuzzDirectives(f *testing.F) {
	for _, s := range []string{"#BOURSE nodes = 4\n#BOURSE length = 1h", "#BOURSE env = { A = \"x\" }", "#BOURSE env = A=\"\\\"", "#BOURSE sites = a, b\n#BOURSE sites = [\"c\"]",
		"#BOURSE deadline = 2030-01-01T00:00:00Z", "#BOURSE nodes = 4]\n[[job]]", "#BOURSE name = 'x", "#BOURSE require = {}", "#BOURSE speedup.amdahl = 1 # x"} {
		f.Add("#!/bin/sh\n" + s + "\n#BOURSE length = 5\n")
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := 1 + strings.Count(text, "\n")
		list, err := Directives("f", []byte(text))
		if err == nil {
			_, err = ParseJob("f", "f", list, &grid.Work{Script: "#!/bin/sh\n"})
		}
		var all *Problems
		switch {
		case err == nil, errors.Is(err, ErrNoLength):
		case !errors.As(err, &all) || len(all.List) == 0:
			t.Fatalf("%T: %v", err, err)
		default:
			for _, p := range all.List {
				if p.Line < 0 || p.Line > n || p.Text == "" {
					t.Fatalf("%v, of %d lines", p, n)
				}
			}
		}
	})
}

// A batch may leave the price to its broker, and so may all parts of a job; a scenario may not.
func TestParseBatch_WithoutAPriceTheBrokersCapHolds(t *testing.T) {
	t.Parallel()
	const job = "[[job]]\nname = \"a\"\nlength = \"1h\"\n"
	for text, unpriced := range map[string]bool{
		job + "nodes = 2\n":                true,
		job + "nodes = 2\nbudget = 1\n":    false,
		job + "nodes = 2\nmax_price = 0\n": false,
		job + "[[job.part]]\nname = \"p\"\nnodes = 1\n[[job.part]]\nname = \"q\"\nnodes = 1\n": true,
	} {
		b, err := ParseBatch("b.toml", []byte(text))
		if err != nil || b.Jobs[0].Unpriced != unpriced {
			t.Errorf("%s: %v, want unpriced %t", text, err, unpriced)
		}
	}
	if _, err := parseBatch("b.toml", []byte(job+"nodes = 2\n"), true, grid.Day, around{}); err == nil || !strings.Contains(err.Error(), "max_price: missing") {
		t.Errorf("in a scenario: %v", err)
	}
}

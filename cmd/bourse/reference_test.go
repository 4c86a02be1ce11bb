package main

import (
	"bufio"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// smallSweep is four combinations of two seeds each, of smallScenario.
var (
	//go:embed study/testdata/sweep/sweep.toml
	smallSweep string
	//go:embed study/testdata/sweep/base.toml
	smallScenario string
)

// documented reads docs/OUTPUT.md: by heading, the names in the first column of its
// tables; and the kinds of facts.
func documented(t *testing.T) (names map[string][]string, kinds []string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/OUTPUT.md")
	if err != nil {
		t.Fatal(err)
	}
	names = map[string][]string{}
	heading := ""
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if h, ok := strings.CutPrefix(line, "## "); ok {
			heading = h
		}
		if cells := strings.Split(line, "|"); len(cells) > 2 && cells[0] == "" {
			names[heading] = append(names[heading], strings.TrimSpace(cells[1]))
		}
		if m := regexp.MustCompile(`^\*\*([a-z-]+)\*\* `).FindStringSubmatch(line); m != nil {
			kinds = append(kinds, m[1])
		}
	}
	return names, kinds
}

// Every column, key and kind of the files that commands really write is in
// docs/OUTPUT.md, in the section of its file.
func TestReference_HasEveryColumnThatIsWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"sweep.toml": smallSweep, "base.toml": smallScenario,
		"seek.toml": "scenario = \"base.toml\"\nruns = 2\ntarget = \"placed >= 1 % in 50 % of seeds\"\n[[parameter]]\nkey = \"broker.budget\"\nrange = [1000.0, 2000.0]\nprecision = 1000.0\n",
	} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trace := runBourse(t, "generate", "--model", "lublin", "--jobs", "50", "--procs", "64")
	if err := os.WriteFile(in("log.swf"), []byte(trace), 0o600); err != nil {
		t.Fatal(err)
	}
	runBourse(t, "simulate", "--preset", "sla", "--runs", "2", "--out", in("a"))
	runBourse(t, "simulate", in("base.toml"), "--runs", "2", "--out", in("b"))
	runBourse(t, "report", in("b"), in("b"), "--out", in("both"))
	runBourse(t, "sweep", in("sweep.toml"), "--out", in("sweep"))
	runBourse(t, "sweep", in("seek.toml"), "--out", in("seek"))
	runBourse(t, "replay", in("log.swf"), "--procs", "64", "--policy", "easy", "--reservations", "0.1", "--alpha", "0", "--jobs-out", in("replay.csv"))
	runBourse(t, "replay", in("log.swf"), "--procs", "64", "--forecasts", in("forecasts.csv"), "--draws", "10")
	runBourse(t, "study", "admission", "--quick", "--runs", "1", "--out", in("study"))
	runBourse(t, "export", in("a"), "--to", "evalys", "--out", in("evalys.csv"))

	names, kinds := documented(t)
	must := func(section, name string) {
		t.Helper()
		if !slices.Contains(names[section], name) {
			t.Errorf("docs/OUTPUT.md, %s: %q is not there", section, name)
		}
	}
	for _, c := range []struct{ file, section string }{
		{"a/jobs.csv", "jobs.csv"}, {"b/jobs.csv", "jobs.csv"}, {"both/comparison.csv", "comparison.csv"}, {"study/admission.csv", "The files of a study"},
		{"sweep/summary.csv", "summary.csv"}, {"sweep/differences.csv", "differences.csv"}, {"sweep/runs.csv", "runs.csv"}, {"seek/tries.csv", "tries.csv"},
		{"replay.csv", "The rows of replay --jobs-out"}, {"forecasts.csv", "The rows of replay --forecasts"}, {"evalys.csv", "The rows of export --to evalys"},
	} {
		for _, name := range headOf(t, in(c.file)) {
			owner, measure, measured := strings.Cut(name, ": ")
			switch {
			case measured && owner != "":
				must(c.section, "OWNER: MEASURE")
				must("Measures", measure)
			case strings.Contains(name, "."): // a key of the scenario
				must(c.section, "KEY")
			case strings.HasSuffix(name, " %") && c.section == "tries.csv":
				must(c.section, "MEASURE")
			default:
				must(c.section, name)
			}
		}
	}
	for _, c := range []struct{ file, section string }{
		{"a/run.json", "run.json"}, {"a/means.json", "means.json"}, {"sweep/sweep.json", "sweep.json"}, {"study/admission.json", "The files of a study"},
	} {
		for _, key := range topKeys(t, in(c.file)) {
			must(c.section, key)
		}
	}
	for _, key := range allKeys(t, in("a/summary.json")) {
		must("summary.json", key)
	}
	for _, sub := range []string{"a", "b"} {
		for _, kind := range factKinds(t, in(sub+"/events.jsonl")) {
			if !slices.Contains(kinds, kind) {
				t.Errorf("docs/OUTPUT.md, events.jsonl: there is no kind %s", kind)
			}
		}
		list, err := os.ReadDir(in(sub))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			must("", e.Name()) // the table at the top
		}
	}
}

func runBourse(t *testing.T, args ...string) string {
	t.Helper()
	out, msg, code := workloadCommand(args...)
	if code != 0 {
		t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), code, msg)
	}
	return out
}

func headOf(t *testing.T, file string) []string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	head, err := csv.NewReader(f).Read()
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return head
}

func readJSON(t *testing.T, file string) (v any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

// topKeys are the keys of an object, or of the first of a list.
func topKeys(t *testing.T, file string) (keys []string) {
	t.Helper()
	v := readJSON(t, file)
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	for key := range v.(map[string]any) {
		keys = append(keys, key)
	}
	return keys
}

// named are the objects of summary.json whose keys are names, those of reasons, groups
// and accounts, and what is of a setting.
var named = []string{"unplaced", "refusedFor", "refusedLegs", "postponements", "aborts", "voNodeHours", "settings", "accounts"}

// allKeys are the keys of all objects in a file, but those that are names.
func allKeys(t *testing.T, file string) (keys []string) {
	t.Helper()
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for key, x := range v {
				if keys = append(keys, key); !slices.Contains(named, key) {
					walk(x)
				}
			}
		}
	}
	walk(readJSON(t, file))
	slices.Sort(keys)
	return slices.Compact(keys)
}

func factKinds(t *testing.T, file string) (kinds []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var line struct{ Kind string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(kinds, line.Kind) {
			kinds = append(kinds, line.Kind)
		}
	}
	return kinds
}

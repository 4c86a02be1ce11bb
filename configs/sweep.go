package configs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
)

// Bounds of a sweep.
const (
	maxParameters = 20
	maxPoints     = 10_000
	maxSweepRuns  = 1_000_000
)

// Sweep is a scenario with some keys varied. Each combination of their values is run with
// the same seeds.
type Sweep struct {
	Name       string
	Seed       uint64 // the first, default 1
	Runs       int    // seeds for each point, 1..1,000,000; default 5
	Parameters []Parameter
	Traces     string  // folder of the traces; "": the scenario's
	Target     *Target // the target that the least value of the only parameter must meet; nil: all points are run

	file string // of the sweep, for messages
	base string // of the scenario, for messages
	dir  string // for relative names in the scenario
	text []byte // of the sweep
	toml []byte // of the scenario
}

// ReadSweep reads a sweep and the scenario that it names, and checks every point. An error
// that does not come from the file system is a *Problems, or names the invalid point.
func ReadSweep(file string) (*Sweep, error) {
	text, err := kinds.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s, scenario, err := parseSweep(file, text)
	if err != nil {
		return nil, err
	}
	if err := s.load(scenario); err != nil {
		return nil, err
	}
	for i := range s.Points() {
		if _, err := s.Scenario(i); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Text is the sweep's file, word for word.
func (s *Sweep) Text() string { return string(s.text) }

// RestoreSweep reads the text of a sweep without its scenario. The result knows parameters
// and seeds, but no point can be run.
func RestoreSweep(file, text string) (*Sweep, error) {
	s, _, err := parseSweep(file, []byte(text))
	return s, err
}

// parseSweep reads only the sweep. scenario is the name of a file, or "preset NAME".
func parseSweep(file string, text []byte) (s *Sweep, scenario string, err error) {
	t, err := openFile(file, text)
	if err != nil {
		return nil, "", err
	}
	if err := kinds.Must(t, kinds.Sweep); err != nil {
		return nil, "", err
	}
	s = &Sweep{file: file, text: text}
	t.Fill(s.keys(&scenario))
	s, err = keys.Finish(t, s)
	return s, scenario, err
}

// keys lists the keys of a sweep; scenario is set to the name of a file, or "preset NAME".
func (s *Sweep) keys(scenario *string) keys.List {
	var preset string
	names := map[string]int{}
	return keys.List{
		keys.Title("name", &s.Name, "sweep", "its name in reports"),
		keys.Whole("seed", &s.Seed, 1, 0, 1<<53, "the first seed"),
		keys.Whole("runs", &s.Runs, 5, 1, maxSweepRuns, "seeds for each combination"),
		keys.Text("scenario", scenario, "", "the scenario to vary, relative to this file; or a `preset`"),
		keys.Text("preset", &preset, "", "a scenario that comes with the program"),
		keys.Text("traces", &s.Traces, "", "folder of the traces, relative to this file").ByDefault("the folder of the scenario"),
		keys.Rule(func(t *keys.Table) {
			if s.Traces != "" {
				s.Traces = t.Resolve(s.Traces)
			}
			switch {
			case *scenario != "" && preset != "":
				t.Wrong("preset", "cannot be combined with scenario; leave one of them out")
			case *scenario == "" && preset == "":
				t.Wrong("scenario", "missing; name the scenario to vary, such as scenario = \"my.toml\", or preset = \"default\"")
			case preset != "":
				*scenario = "preset " + preset
			}
		}),
		keys.Custom("target", keys.About{Kind: "string"}, func(t *keys.Table, key string) { s.Target = target(t, key) },
			"find the least value of the only parameter, which has a `range`, that meets this target. The search is a bisection, so it assumes that larger values never do worse. "+
				"The target is a bound on a measure of a VO, named as in runs.csv, and the share of seeds that must keep it: `placed >= 95 % in 95 % of seeds`").ByDefault("none: every combination is run"),
		keys.Each("parameter", &s.Parameters, 0, func(p *Parameter) keys.List { return p.keys(names) }, "the keys to vary; one or more"),
		keys.Rule(s.sought),
		keys.Rule(s.bounded),
	}
}

// bounded refuses a sweep without parameters, and one that is too large.
func (s *Sweep) bounded(t *keys.Table) {
	if len(s.Parameters) == 0 && t.Clean("parameter") {
		t.Wrong("parameter", "missing; a sweep must vary at least one key, with [[parameter]]")
	}
	if len(s.Parameters) > maxParameters {
		t.Wrong("parameter", "has %d tables; must have at most %d", len(s.Parameters), maxParameters)
	}
	points := 1
	for _, p := range s.Parameters {
		points = min(points*max(len(p.Values), 1), maxPoints+1)
	}
	if points > maxPoints {
		t.Wrong("parameter", "has more than %d combinations; use fewer values", maxPoints)
	} else if points*s.Runs > maxSweepRuns {
		t.Wrong("runs", "%d combinations of %d runs each are more than %d runs; use fewer", points, s.Runs, maxSweepRuns)
	}
}

// load reads the scenario to vary.
func (s *Sweep) load(scenario string) error {
	if name, ok := strings.CutPrefix(scenario, "preset "); ok {
		for _, p := range Presets() {
			if p.Name == name {
				s.base, s.toml, s.dir = scenario, p.Text, filepath.Dir(s.file)
				return nil
			}
		}
		_, err := Preset(name)
		return fmt.Errorf("%s: preset: %w", s.file, err)
	}
	s.base = keys.Resolve(filepath.Dir(s.file), scenario)
	s.dir = filepath.Dir(s.base)
	text, err := kinds.ReadFile(s.base)
	if err != nil {
		return fmt.Errorf("%s: scenario: %w", s.file, err)
	}
	s.toml = text
	_, err = ParseScenario(s.base, text)
	return err
}

// Points is the number of combinations of values.
func (s *Sweep) Points() int {
	n := 1
	for _, p := range s.Parameters {
		n *= len(p.Values)
	}
	return n
}

// Choice returns which of its values each parameter has at a point, counted from 0. The last
// parameter varies fastest.
func (s *Sweep) Choice(point int) []int {
	out := make([]int, len(s.Parameters))
	for i := len(s.Parameters) - 1; i >= 0; i-- {
		n := len(s.Parameters[i].Values)
		out[i] = point % n
		point /= n
	}
	return out
}

// Names returns the names of all keys that are varied, parameter by parameter.
func (s *Sweep) Names() (names []string) {
	for i := range s.Parameters {
		names = append(names, s.Parameters[i].Names()...)
	}
	return names
}

// Values returns the value of each of these keys at a point.
func (s *Sweep) Values(point int) (values []any) {
	for i, k := range s.Choice(point) {
		values = append(values, s.Parameters[i].at(k)...)
	}
	return values
}

// Words shows a point as "broker.algorithm = amp, until = 5d".
func (s *Sweep) Words(point int) string {
	var b strings.Builder
	names := s.Names()
	for i, v := range s.Values(point) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s = %s", names[i], Shown(v))
	}
	return b.String()
}

// Scenario returns the scenario of a point. Its traces are not resolved.
func (s *Sweep) Scenario(point int) (*Scenario, error) {
	keys := map[string]any{}
	if _, err := toml.Decode(string(s.toml), &keys); err != nil {
		return nil, fmt.Errorf("%s: %w", s.base, err)
	}
	for i, k := range s.Choice(point) {
		p := &s.Parameters[i]
		for j, v := range p.at(k) {
			if err := set(keys, p.Keys[j], v); err != nil {
				return nil, fmt.Errorf("%s: key %q in %s: %w", s.file, p.Names()[j], s.base, err)
			}
		}
	}
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(keys); err != nil {
		return nil, fmt.Errorf("%s: %w", s.base, err)
	}
	out, err := ParseScenario(s.base, b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: with %s: %w", s.file, s.Words(point), err)
	}
	out.Dir = s.dir
	if err := out.loadOutages(s.dir); err != nil {
		return nil, err
	}
	for i := range out.Brokers {
		if _, err := out.Brokers[i].loadBatch(s.dir, out.Until, out.siteNames()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// set gives a key of a scenario a value. In an array of tables, the next word is the name
// of one of them or, if none has that name, a key of all of them.
func set(in map[string]any, path []string, value any) error {
	word, rest := path[0], path[1:]
	list, other := keys.TablesIn(in[word])
	tables := list != nil && other < 0 && len(list) > 0
	below, table := in[word].(map[string]any)
	switch {
	case len(rest) == 0 && (table || tables):
		return fmt.Errorf("%q is a table; must be a key in it", word)
	case len(rest) == 0:
		in[word] = value
		return nil
	case table:
		return set(below, rest, value)
	case !tables:
		return fmt.Errorf("there is no table %q", word)
	}
	for _, one := range list {
		if one["name"] == rest[0] {
			if len(rest) == 1 {
				return fmt.Errorf("%q is a table; must be a key in it", rest[0])
			}
			return set(one, rest[1:], value)
		}
	}
	for _, one := range list {
		if err := set(one, rest, value); err != nil {
			return err
		}
	}
	return nil
}

// Fingerprint identifies this sweep. It changes with the texts of the sweep and its
// scenario, and with the names and sizes of the traces and batches of its first point.
func (s *Sweep) Fingerprint() (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s%d %s", len(s.text), s.text, len(s.toml), s.toml)
	first, err := s.Scenario(0)
	if err != nil {
		return "", err
	}
	if err := first.ResolveTraces(s.Traces); err != nil {
		return "", err
	}
	var files []string
	for i := range first.Sites {
		if f := first.Sites[i].PriceFile; f != "" {
			files = append(files, f)
		}
		files = append(files, first.Sites[i].Slurm.files()...)
		if f := first.Sites[i].Outages.File; f != "" {
			files = append(files, keys.Resolve(s.dir, f))
		}
		if w := first.Sites[i].Workload; w != nil && w.Trace != "" {
			files = append(files, w.Trace)
		}
	}
	for i := range first.Brokers {
		if w := first.Brokers[i].Workload; w != nil && w.Trace != "" {
			files = append(files, w.Trace)
		}
		if b := first.Brokers[i].Batch; b != "" {
			files = append(files, keys.Resolve(s.dir, b))
		}
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, " %s %d", filepath.Base(file), info.Size())
	}
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}

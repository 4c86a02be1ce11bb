package input

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// window and leg are what search --json prints.
type window struct {
	Start, End float64
	Time, Cost float64
	Parts      []leg
}

type leg struct {
	Part, Node       string
	Start, End, Cost float64
}

// find searches a problem as the command does.
func find(t *testing.T, text []byte, o search.Options) (map[string][]window, search.Result) {
	t.Helper()
	p, err := parseProblem(text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := search.Named(p.Nodes, p.Slots)
	if err != nil {
		t.Fatal(err)
	}
	r := search.Batch(l, p.Jobs, o)
	out := map[string][]window{}
	for j, name := range p.Names {
		list := []window{}
		for _, w := range r.Alternatives[j] {
			x := window{w.Start.Seconds(), w.End().Seconds(), w.Time.Seconds(), w.Cost.Float(), nil}
			for _, part := range w.Parts {
				x.Parts = append(x.Parts, leg{p.Jobs[j].Parts[part.Of].Name, p.Nodes[part.Group].Name, part.Start.Seconds(), part.End.Seconds(), part.Cost.Float()})
			}
			list = append(list, x)
		}
		out[name] = list
	}
	return out, r
}

// The instances of testdata/parts-search.json were found by independent programs, the small
// ones also by trying everything.
func TestParts_GoldenInstances(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/parts-search.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Note    string
		Problem json.RawMessage
		Expect  struct {
			ALP, AMP, BestCost, BestTime map[string][]window
			AMPPasses                    int
		}
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		for _, x := range []struct {
			name string
			o    search.Options
			want map[string][]window
		}{
			{"alp", search.Options{Algorithm: search.ALP, MaxAlternatives: 1}, c.Expect.ALP},
			{"amp", search.Options{Algorithm: search.AMP, MaxAlternatives: 3}, c.Expect.AMP},
			{"best by cost", search.Options{Algorithm: search.Best, MaxAlternatives: 1, Weights: search.Weights{Cost: 1000}}, c.Expect.BestCost},
			{"best by time", search.Options{Algorithm: search.Best, MaxAlternatives: 1, Weights: search.Weights{Time: 1000}}, c.Expect.BestTime},
		} {
			got, r := find(t, c.Problem, x.o)
			if !reflect.DeepEqual(got, x.want) {
				t.Errorf("case %d, %s, %s:\n got %v\nwant %v", i, c.Note, x.name, got, x.want)
			}
			if x.name == "amp" && r.Passes != c.Expect.AMPPasses {
				t.Errorf("case %d: %d passes, want %d", i, r.Passes, c.Expect.AMPPasses)
			}
		}
	}
	if len(cases) < 24 {
		t.Errorf("%d cases", len(cases))
	}
}

// exampleSlots are those of the worked examples.
const exampleSlots = `{"slots": [
 {"node": "a1", "site": "A", "start": 0, "end": 100, "performance": 1, "price": 3600},
 {"node": "a2", "site": "A", "start": 0, "end": 100, "performance": 2, "price": 18000},
 {"node": "b1", "site": "B", "start": 0, "end": 60, "performance": 1, "price": 7200},
 {"node": "b2", "site": "B", "start": 30, "end": 100, "performance": 1, "price": 7200},
 {"node": "q1", "site": "Q", "start": 25, "end": 50, "performance": 1, "price": 36000}], "jobs": [{"name": "J", %s}]}`

const xy = `"parts": [{"name": "x", "nodes": 1, "length": 10}, {"name": "y", "nodes": 1, "length": 20}]`

// The worked examples of the specification of parts.
func TestParts_WorkedExamples(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, job, algorithm string
		want                 []string // the first windows: T, cost, legs
	}{
		{"dearer first", `"budget": 45, ` + xy, "amp", []string{"T 0, 40: x b1 [0,10) y a1 [0,20)"}},
		{"together", `"budget": 200, "together": true, ` + xy, "amp", []string{"T 0, 45: x a2 [0,5) y a1 [0,20)"}},
		{"together by time", `"budget": 200, "together": true, ` + xy, "time", []string{"T 0, 60: x a1 [0,10) y a2 [0,10)"}},
		{"apart", `"budget": 200, "apart": true, ` + xy, "amp", []string{"T 0, 40: x b1 [0,10) y a1 [0,20)", "T 10, 65: x a2 [10,15) y b1 [10,30)"}},
		{"offset", `"budget": 400, "parts": [{"name": "qpu", "nodes": 1, "length": 10, "sites": ["Q"], "offset": 5}, {"name": "gpu", "nodes": 2, "length": 30}]`, "amp",
			[]string{"T 20, 190: qpu q1 [25,35) gpu a1 [20,50) gpu b1 [20,50)"}},
		{"offset too late", `"budget": 400, "parts": [{"name": "qpu", "nodes": 1, "length": 10, "sites": ["Q"], "offset": 45}, {"name": "gpu", "nodes": 2, "length": 30}]`, "amp", nil},
		{"one node after the other", `"budget": 400, "parts": [{"name": "x", "nodes": 1, "length": 10, "sites": ["Q"]}, {"name": "y", "nodes": 1, "length": 10, "sites": ["Q"], "offset": 10}]`, "amp",
			[]string{"T 25, 200: x q1 [25,35) y q1 [35,45)"}},
		{"one node at once", `"budget": 400, "parts": [{"name": "x", "nodes": 1, "length": 20, "sites": ["Q"]}, {"name": "y", "nodes": 1, "length": 10, "sites": ["Q"], "offset": 10}]`, "amp", nil},
	} {
		o := search.Options{Algorithm: search.AMP, MaxAlternatives: max(1, len(c.want))}
		if c.algorithm == "time" {
			o.Algorithm, o.Weights = search.Best, search.Weights{Time: 1000}
		}
		found, _ := find(t, fmt.Appendf(nil, exampleSlots, c.job), o)
		var got []string
		for _, w := range found["J"] {
			s := fmt.Sprintf("T %v, %v:", w.Start, w.Cost)
			for _, l := range w.Parts {
				s += fmt.Sprintf(" %s %s [%v,%v)", l.Part, l.Node, l.Start, l.End)
			}
			got = append(got, s)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// A job of parts without a window says which part is in the way, the first reason that
// applies.
func TestParts_SayWhyTheyHaveNoWindow(t *testing.T) {
	t.Parallel()
	part := func(name, rest string) string {
		return `{"name": "` + name + `", "nodes": 1, "length": 10` + rest + `}`
	}
	for _, c := range []struct{ job, want string }{
		{`"budget": 400, "parts": [` + part("x", "") + `, ` + part("qpu", `, "minPerformance": 9`) + `]`, "part qpu: no node has performance 9; the fastest that meets the requirements has 2"},
		{`"budget": 400, "parts": [` + part("x", "") + `, {"name": "qpu", "nodes": 2, "length": 10, "sites": ["Q"]}]`, "part qpu: asks for 2 nodes; 1 is suited at the sites it allows"},
		{`"budget": 400, "parts": [` + part("x", "") + `, ` + part("y", `, "sites": ["moon"]`) + `]`, "part y: there are no nodes at the sites it allows"},
		{`"budget": 400, "parts": [` + part("x", "") + `, {"name": "gpu", "nodes": 1, "length": 90, "sites": ["Q", "B"]}]`, "part gpu alone: no window: at most 0 of 1 node is free at once for long enough from 0 on"},
		{`"budget": 400, "deadline": 100, "parts": [` + part("x", `, "sites": ["Q"]`) + `, {"name": "y", "nodes": 1, "length": 20, "sites": ["Q"]}]`,
			"each part has a window alone (x from 25, y from 25), together there is none by 100"},
		{`"budget": 29, ` + xy, "the cheapest window costs 40 credits (x 20, y 20), the budget is 29"},
		{`"budget": 9, ` + xy, "part x alone: the cheapest window costs 10 credits, the budget is 9"},
	} {
		for _, a := range []search.Algorithm{search.AMP, search.Best} {
			_, r := find(t, fmt.Appendf(nil, exampleSlots, c.job), search.Options{Algorithm: a})
			if got := r.Reasons[0].String(); got != c.want {
				t.Errorf("%v, %s:\n got %s\nwant %s", a, c.job, got, c.want)
			}
		}
	}
}

func TestParts_Refusals(t *testing.T) {
	t.Parallel()
	good := fmt.Sprintf(exampleSlots, `"budget": 45, `+xy)
	for _, c := range []struct{ old, new, want string }{
		{`"budget": 45`, `"budget": 45, "nodes": 2`, "jobs[0].nodes: stands beside parts"},
		{`"budget": 45, `, ``, `jobs[0]: "budget" is missing`},
		{`"parts": [`, `"parts": [], "x": [`, `jobs[0]: key "x" is unknown`},
		{xy, `"parts": []`, "jobs[0].parts: is empty; must have 1 to 8 parts"},
		{`"name": "y"`, `"name": "x"`, "jobs[0].parts[1].name: \"x\" is the name of an earlier part too"},
		{`"name": "y"`, `"name": "Y"`, "jobs[0].parts[1].name: \"Y\": must be a letter of a to z"},
		{`"nodes": 1, "length": 20`, `"nodes": "1..4", "length": 20`, "jobs[0].parts[1].nodes: \"1..4\" is not a number"},
		{`"length": 20`, `"minPerformance": 1`, `jobs[0].parts[1]: "length" is missing`},
		{`"length": 20`, `"length": 20, "offset": -1`, "jobs[0].parts[1].offset"},
		{`"length": 20`, `"length": 20, "sites": "A"`, "jobs[0].parts[1].sites: \"A\" is not an array of names"},
		{`"length": 20`, `"length": 20, "sites": ["A"], "avoid": ["A"]`, "jobs[0].parts[1].sites: avoid has all of them"},
		{`"length": 20`, `"length": 20, "spread": "wide"`, "jobs[0].parts[1].spread: \"wide\" is unknown"},
		{`"budget": 45`, `"budget": 45, "together": true, "apart": true`, "jobs[0].together: stands beside apart"},
		{`"budget": 45`, `"budget": 45, "apart": 1`, "jobs[0].apart: 1 is not true or false"},
		{xy, `"nodes": 1, "length": 5, "apart": true`, "jobs[0].apart: needs parts"},
		{`"node": "a2", "site": "A"`, `"node": "a1", "site": "B"`, "slots[1].site: \"B\", but an earlier slot of node \"a1\" is at \"A\""},
		{xy, `"parts": [` + strings.Repeat(`{"name": "p", "nodes": 1, "length": 1}, `, 8) + `{"name": "q", "nodes": 1, "length": 1}]`, "jobs[0].parts: 9 parts; must be 1 to 8"},
		{`"length": 10}, `, `"length": 10, "offset": 5}, `, ""},
		{xy, strings.ReplaceAll(xy, `"nodes": 1`, `"nodes": 1, "offset": 5`), "jobs[0].parts[0].offset: no part starts with the job"},
	} {
		_, err := parseProblem([]byte(strings.Replace(good, c.old, c.new, 1)))
		if err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.new, err, c.want)
		}
	}
}

// A part has from its job what it does not say, and a budget alone is one price cap.
func TestParts_HaveFromTheirJobWhatTheyDoNotSay(t *testing.T) {
	t.Parallel()
	p, err := parseProblem(fmt.Appendf(nil, exampleSlots, `"budget": 45, "length": 20, "avoid": ["B"], "parts": [{"name": "x", "nodes": 1, "length": 10, "avoid": []}, {"name": "y", "nodes": 1}]`))
	if err != nil {
		t.Fatal(err)
	}
	x, y := &p.Jobs[0].Parts[0], &p.Jobs[0].Parts[1]
	if len(x.Avoid) != 0 || y.Length != 20*grid.Second || y.Avoid[0] != "B" || x.MaxPrice != 5400*1_000_000 || y.MaxPrice != x.MaxPrice {
		t.Errorf("%+v\n%+v", x, y)
	}
}

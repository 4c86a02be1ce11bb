package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const paperProblem = `{"slots": [
{"node":"cpu1","start":0,"end":60000,"performance":1,"price":18},
{"node":"cpu2","start":0,"end":60000,"performance":1,"price":14.4},
{"node":"cpu4","start":0,"end":260000,"performance":1,"price":18},
{"node":"cpu6","start":0,"end":370000,"performance":1,"price":43.2},
{"node":"cpu1","start":150000,"end":400000,"performance":1,"price":18},
{"node":"cpu2","start":150000,"end":600000,"performance":1,"price":14.4},
{"node":"cpu5","start":360000,"end":600000,"performance":1,"price":10.8},
{"node":"cpu3","start":450000,"end":600000,"performance":1,"price":3.6},
{"node":"cpu6","start":510000,"end":600000,"performance":1,"price":43.2},
{"node":"cpu4","start":570000,"end":600000,"performance":1,"price":18}],
"jobs": [{"name":"J1","nodes":2,"length":80000,"minPerformance":1,"maxPrice":18,"budget":800},
{"name":"J2","nodes":3,"length":30000,"minPerformance":1,"maxPrice":36,"budget":900},
{"name":"J3","nodes":2,"length":50000,"minPerformance":1,"maxPrice":10.8,"budget":300}]}`

// onProblem runs the command line with a problem file as its last argument.
func onProblem(t *testing.T, problem string, args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "problem.json")
	if err := os.WriteFile(file, []byte(problem), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append(args, file))
	err := root.Execute()
	return out.String(), err
}

func TestPlan_PaperExample(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		algorithm, minimize string
		budget, time, cost  float64
		chosen              map[string]int
	}{
		{"amp-literal", "cost", 1680, 160000, 1340, map[string]int{"J1": 2, "J2": 1, "J3": 1}},
		{"amp", "cost", 1340, 160000, 1160, map[string]int{"J1": 1, "J2": 3, "J3": 1}},
		{"alp", "cost", 1420, 160000, 1160, map[string]int{"J1": 2, "J2": 3, "J3": 1}},
		{"amp-literal", "time", 1680, 160000, 1340, map[string]int{"J1": 2, "J2": 1, "J3": 1}},
	} {
		out, err := onProblem(t, paperProblem, "plan", "--json", "--algorithm", want.algorithm, "--minimize", want.minimize)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Alternatives           map[string][]struct{ Cost float64 }
			TimeLimit, BudgetLimit float64
			Time, Cost             float64
			Chosen                 map[string]int
			Postponed              []string
			Passes                 int
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		if got.TimeLimit != 160000 || got.BudgetLimit != want.budget || got.Time != want.time || got.Cost != want.cost ||
			len(got.Postponed) != 0 || got.Postponed == nil || got.Passes != 3 || len(got.Alternatives["J1"]) != 3 {
			t.Errorf("%s, least %s: %s", want.algorithm, want.minimize, out)
		}
		for job, i := range want.chosen {
			if got.Chosen[job] != i {
				t.Errorf("%s, least %s: chose %v, want %v", want.algorithm, want.minimize, got.Chosen, want.chosen)
			}
		}
	}
}

func TestPlan_GivenLimitThatLeavesNothingFails(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--budget=500", "--time-limit=10"} {
		out, err := onProblem(t, paperProblem, "plan", "--json", flag)
		if exitCode(err) != 1 || !strings.Contains(out, `"chosen": null`) {
			t.Errorf("%s: exit %d, %s", flag, exitCode(err), out)
		}
	}
}

func TestSearch_PostponedJobIsNoFailure(t *testing.T) {
	t.Parallel()
	problem := `{"slots": [{"node": "a", "start": 0, "end": 10, "performance": 1, "price": 1}],
		"jobs": [{"name": "big", "nodes": 2, "length": 5, "minPerformance": 1, "maxPrice": 1}]}`
	out, err := onProblem(t, problem, "search", "--json")
	if err != nil || !strings.Contains(out, `"big": []`) {
		t.Errorf("%v: %s", err, out)
	}
	out, err = onProblem(t, problem, "plan", "--json")
	if err != nil || !strings.Contains(out, `"big"`) {
		t.Errorf("%v: %s", err, out)
	}
	out, err = onProblem(t, problem, "search")
	if err != nil || !strings.Contains(out, "asks for 2 nodes; 1 are suited") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestProblem_ErrorsNamePlaceAndRemedy(t *testing.T) {
	t.Parallel()
	slot := `{"node": "a", "start": 0, "end": 10, "performance": 1, "price": 1}`
	job := `{"name": "J", "nodes": 1, "length": 5, "minPerformance": 1, "maxPrice": 1}`
	for _, c := range []struct{ slots, jobs, want string }{
		{slot, strings.Replace(job, `"nodes": 1`, `"nodes": 0`, 1), "jobs[0].nodes: 0: must be a whole number"},
		{slot, strings.Replace(job, `"nodes": 1`, `"nodes": 1.5`, 1), "jobs[0].nodes: 1.5: must be a whole number"},
		{slot, strings.Replace(job, `"length": 5`, `"length": 0`, 1), "jobs[0].length: 0: must be at least one millisecond"},
		{slot, strings.Replace(job, `"length": 5`, `"length": -5`, 1), "jobs[0].length"},
		{slot, strings.Replace(job, `"length": 5`, `"length": NaN`, 1), "line 1"},
		{slot, strings.Replace(job, `"length": 5`, `"length": 1e300`, 1), "jobs[0].length"},
		{slot, strings.Replace(job, `"length": 5`, `"lenght": 5`, 1), `key "lenght" is unknown; must be one of name`},
		{slot, strings.Replace(job, `"length": 5, `, ``, 1), `jobs[0]: "length" is missing`},
		{slot, strings.Replace(job, `"maxPrice": 1`, `"maxPrice": -1`, 1), "jobs[0].maxPrice"},
		{slot, strings.Replace(job, `, "maxPrice": 1`, ``, 1), `"maxPrice" is missing`},
		{slot, job + "," + job, `jobs[1].name: an earlier job is also named "J"`},
		{slot, strings.Replace(job, `"nodes": 1`, `"nodes": 1, "nodes": 2`, 1), `key "nodes" appears twice`},
		{strings.Replace(slot, `"end": 10`, `"end": 0`, 1), job, "slots[0].end: 0 is not after start 0"},
		{strings.Replace(slot, `"performance": 1`, `"performance": 0`, 1), job, "slots[0].performance"},
		{strings.Replace(slot, `"price": 1`, `"price": "1"`, 1), job, `slots[0].price: "1" is not a number`},
		{strings.Replace(slot, `"node": "a"`, `"node": ""`, 1), job, "slots[0].node"},
		{slot + "," + strings.Replace(slot, `"start": 0`, `"start": 5`, 1), job, `slots[1]: node "a"`},
		{slot + ", 7", job, "slots[1]: 7 is not an object"},
	} {
		out, err := onProblem(t, `{"slots": [`+c.slots+`], "jobs": [`+c.jobs+`]}`, "search")
		if exitCode(err) != 2 || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "problem.json") {
			t.Errorf("exit %d, %v %s; want %q", exitCode(err), err, out, c.want)
		}
	}
	for _, whole := range []string{"", "[]", "{", `{"slots": []}`, `{"slots": {}, "jobs": []}`, `{"slots": [], "jobs": []} x`, `{"jobs": [], "slots": [], "more": 1}`, "null"} {
		if _, err := onProblem(t, whole, "search"); exitCode(err) != 2 {
			t.Errorf("%q: %v", whole, err)
		}
	}
}

func TestSearch_WindowsWithoutEndFailWithTheRemedy(t *testing.T) {
	t.Parallel()
	const endless = `{"slots": [{"node":"a","start":0,"end":1e10,"performance":1,"price":1}],
"jobs": [{"name":"J","nodes":1,"length":1,"minPerformance":1,"maxPrice":1}]}`
	for _, command := range []string{"search", "plan"} {
		_, err := onProblem(t, endless, command, "--json")
		if exitCode(err) != 1 || !strings.Contains(err.Error(), "--max-alternatives") {
			t.Errorf("%s: %v, want a failure that names --max-alternatives", command, err)
		}
		out, err := onProblem(t, endless, command, "--json", "--max-alternatives", "3")
		if err != nil || strings.Count(out, `"parts"`) != 3 {
			t.Errorf("%s with 3 alternatives: %v, %s", command, err, out)
		}
	}
}

// A plan chooses among windows of jobs of parts as among others.
func TestPlan_AJobOfParts(t *testing.T) {
	t.Parallel()
	const problem = `{"slots": [
 {"node": "a1", "site": "A", "start": 0, "end": 100, "performance": 1, "price": 3600},
 {"node": "a2", "site": "A", "start": 0, "end": 100, "performance": 2, "price": 18000},
 {"node": "b1", "site": "B", "start": 0, "end": 60, "performance": 1, "price": 7200}],
 "jobs": [{"name": "J", "budget": 200, "apart": true, "parts": [{"name": "x", "nodes": 1, "length": 10}, {"name": "y", "nodes": 1, "length": 20}]}]}`
	for minimize, want := range map[string]string{"cost": "x b1 10 20 y a1 10 30 ", "time": "x b1 0 10 y a2 0 10 "} {
		out, err := onProblem(t, problem, "plan", "--json", "--algorithm", "best", "--minimize", minimize, "--time-limit", "100", "--budget", "200")
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Alternatives map[string][]struct {
				Parts []struct {
					Part, Node string
					Start, End float64
				}
			}
			Chosen map[string]int
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		legs := ""
		for _, p := range got.Alternatives["J"][got.Chosen["J"]-1].Parts {
			legs += fmt.Sprint(p.Part, " ", p.Node, " ", p.Start, " ", p.End, " ")
		}
		if legs != want {
			t.Errorf("least %s: %s, want %s", minimize, legs, want)
		}
	}
}

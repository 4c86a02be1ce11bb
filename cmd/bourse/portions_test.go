package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// portionCase is a problem with divided nodes and its answer, as another program gives it.
type portionCase struct {
	Case    string
	Problem json.RawMessage
	Answer  any
}

func portionCases(t *testing.T) (list []portionCase) {
	t.Helper()
	b, err := os.ReadFile("testdata/portions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var c portionCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

func TestSearch_Portions(t *testing.T) {
	t.Parallel()
	for _, c := range portionCases(t) {
		out, err := onProblem(t, string(c.Problem), "search", "--json", "--algorithm", "amp")
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, c.Answer) {
			t.Errorf("%s: %s", c.Case, out)
		}
	}
}

// TestPlan_LaysPortions has a window of J3 for five minutes that lies, on two nodes, inside
// one that J2 would not open as long.
func TestPlan_LaysPortions(t *testing.T) {
	t.Parallel()
	for _, c := range portionCases(t) {
		if c.Case != "random 76" {
			continue
		}
		out, err := onProblem(t, string(c.Problem), "plan", "--json", "--algorithm", "amp", "--minimize", "cost", "--pareto")
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Chosen    map[string]int
			Cost      float64
			Postponed []string
			Pareto    []struct{ Chosen map[string]int }
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatal(err)
		}
		if want := (map[string]int{"J1": 1, "J2": 3}); !reflect.DeepEqual(got.Chosen, want) || got.Cost != 0.259261 ||
			!reflect.DeepEqual(got.Postponed, []string{"J3"}) {
			t.Errorf("%+v", got)
		}
		for _, p := range got.Pareto {
			if p.Chosen["J3"] > 0 {
				t.Errorf("a point of the front has %v", p.Chosen)
			}
		}
		out, err = onProblem(t, string(c.Problem), "plan", "--algorithm", "amp", "--minimize", "cost")
		if err != nil || !strings.Contains(out, "J3 is postponed: none of its windows has a place beside those of the other jobs") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	t.Fatal("the case is not there")
}

func TestSearch_PortionsInWords(t *testing.T) {
	t.Parallel()
	const job = `"jobs":[{"name":"a","nodes":1,"length":10,"minPerformance":1,"maxPrice":1,"slices":3}]`
	out, err := onProblem(t, `{"slots":[{"node":"n","start":0,"end":20,"performance":1,"price":1,"of":8}],`+job+`}`, "search")
	if err != nil || !strings.Contains(out, "n(3/8)") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = onProblem(t, `{"slots":[{"node":"n","start":0,"end":20,"performance":1,"price":1,"of":2}],`+job+`}`, "search")
	if err != nil || !strings.Contains(out, "no node has what is required (slices)") {
		t.Errorf("%v: %s", err, out)
	}
}

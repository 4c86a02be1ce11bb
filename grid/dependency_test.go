package grid_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// A name alone is what earlier versions have recorded: such a job goes on when the other has
// ended, with or without success, and not when that was given up.
func TestDependency_ANameAloneIsOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	var j grid.Job
	if err := json.Unmarshal([]byte(`{"after":["a",{"job":"b","if":"done"},{"job":"c","if":"failed"},{"job":"d","if":"any"}]}`), &j); err != nil {
		t.Fatal(err)
	}
	want := []grid.Dependency{{"a", grid.IfRan}, {"b", grid.IfDone}, {"c", grid.IfFailed}, {"d", grid.IfAny}}
	if !slices.Equal(j.After, want) {
		t.Errorf("%v, want %v", j.After, want)
	}
	old := j.After[0].On
	for state, met := range map[grid.JobState]bool{grid.JobDone: true, grid.JobFailed: true, grid.JobWithdrawn: false, grid.JobAbandoned: false, grid.JobRunning: false} {
		if old.Met(state) != met || old.Possible(state) != (met || state.Open()) {
			t.Errorf("%v: met %t, possible %t", state, old.Met(state), old.Possible(state))
		}
	}
	for _, wrong := range []string{`{"job":"a","if":"never"}`, `7`, `{"job":"a"}`} {
		var d grid.Dependency
		if err := json.Unmarshal([]byte(wrong), &d); err == nil {
			t.Errorf("%s is read as %v", wrong, d)
		}
	}
}

func TestCondition_EachStateOfTheOther(t *testing.T) {
	t.Parallel()
	met := map[grid.Condition][]grid.JobState{
		grid.IfDone:   {grid.JobDone},
		grid.IfFailed: {grid.JobFailed},
		grid.IfAny:    {grid.JobDone, grid.JobFailed, grid.JobAbandoned, grid.JobWithdrawn},
		grid.IfEach:   grid.JobStates(), // each element of the array has a condition of its own
	}
	for _, c := range grid.Conditions() {
		for _, s := range grid.JobStates() {
			if want := slices.Contains(met[c], s); c.Met(s) != want {
				t.Errorf("%s, %v: %t", c.Key(), s, c.Met(s))
			}
			if c.Possible(s) != (s.Open() || c.Met(s)) {
				t.Errorf("%s, %v: possible %t", c.Key(), s, c.Possible(s))
			}
		}
	}
}

func TestDependency_SurvivesJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := grid.Dependency{Job: rapid.String().Draw(t, "job"), On: grid.Condition(rapid.IntRange(0, 3).Draw(t, "on"))}
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var got grid.Dependency
		if err := json.Unmarshal(text, &got); err != nil || got.On != d.On || json.Valid([]byte(d.Job)) && got.Job != d.Job {
			t.Fatalf("%s is read as %v, %v", text, got, err)
		}
	})
}

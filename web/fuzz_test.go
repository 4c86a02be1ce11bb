package web

import (
	"encoding/json"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// Whatever comes: no panic, and a job that the API lets through is one that
// makes sense to the broker.
func FuzzBatch_WhatIsLetThroughMakesSenseToTheBroker(f *testing.F) {
	for _, seed := range []string{
		`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"budget":5}]}`,
		`{"id":"batch-0001","jobs":[{"name":"a","nodes":1000000,"length":1e10,"maxPrice":1e6,"minPerformance":0.001}]}`,
		`{"id":"batch-0001","jobs":[{"name":"a","nodes":3,"length":0.001,"budget":1e12,"ready":"2026-03-01T12:00:00Z","deadline":"300d"}]}`,
		`{"id":"batch-0001","jobs":[{"name":" a","nodes":-3,"length":-1,"maxPrice":0,"ready":"1e9d","deadline":"0s"}]}`,
		`{"id":"batch-0001","jobs":[{"name":"a","nodes":1,"length":60,"run":1e300,"budget":0,"require":{"features":["x"]}},{"name":"a"}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var b api.Batch
		if json.Unmarshal([]byte(text), &b) != nil || len(b.Jobs) == 0 || len(b.Jobs) > 100 {
			return
		}
		for i := range b.Jobs { // what the schema bounds
			r := &b.Jobs[i]
			if r.Nodes < 1 || r.Nodes > 1_000_000 || r.Name == "" || len(r.Name) > 100 || r.Budget != nil && r.Budget.Credits < 0 ||
				r.MaxPrice != nil && r.MaxPrice.Price < 0 || r.Run != nil && r.Run.Duration < 0 {
				return
			}
		}
		jobs, err := b.Vocabulary(zero, b.Suffixes())
		if err != nil {
			return
		}
		agent := broker.New(broker.Defaults("vo1"))
		var out agents.Outbox
		agent.Step(zero, "broker:vo1", agents.Started{Nonce: 1}, &out)
		for _, j := range jobs {
			out.Reset()
			agent.Step(zero, "user:ana#1", agents.Submit{Job: j}, &out)
			if r := out.Sends[0].Message.(agents.SubmitReply).Reason; r.Code == grid.Invalid {
				t.Errorf("%+v: %v", j, r)
			}
		}
	})
}

func FuzzMoment_ReadsWithinBoundsOrSaysWhatIsWanted(f *testing.F) {
	for _, seed := range []string{"", "90", "30m", "1.5h", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00+01:00", "-1s", "9999-01-01T00:00:00Z", "1e9d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := api.MomentAt(s, zero, 7)
		if err == nil && s != "" && (at < 0 || at > zero.Add(grid.MaxDuration)) {
			t.Errorf("%q is %v", s, at)
		}
	})
}

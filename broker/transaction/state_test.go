package transaction

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/accounts"
	"github.com/bourse-grid/bourse/broker/lives"
	"github.com/bourse-grid/bourse/broker/trust"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// keeper keeps jobs for a state, as a broker does.
type keeper struct {
	state *State
	jobs  map[string]*Job
	is    map[string]grid.JobState
}

func (k *keeper) JobNamed(name string) *Job                                     { return k.jobs[name] }
func (k *keeper) StateOf(j *Job) grid.JobState                                  { return k.is[j.Name] }
func (k *keeper) WorkOf(*Job, string) *grid.Work                                { return nil }
func (k *keeper) Runs(*Job) (works, meets bool)                                 { return false, false }
func (k *keeper) Simulated(*Job, string, *grid.Leg, grid.Time) *grid.WorkResult { return nil }
func (k *keeper) Shared(s string) string                                        { return s }

func (k *keeper) Record(f agents.Fact, out *agents.Outbox) {
	out.Record(f)
	k.state.Apply(0, f)
}

// newKeeper is the state of a broker vo1 in its first life that has such a budget and these
// jobs of ana, all placed.
func newKeeper(budget grid.Credits, jobs ...string) *keeper {
	books, trusted, life := accounts.New("vo1", budget, nil), trust.New(), lives.New(1)
	life.ApplyBegun(facts.LifeBegun{Incarnation: 1, Nonce: 1})
	k := &keeper{jobs: map[string]*Job{}, is: map[string]grid.JobState{}}
	for _, name := range jobs {
		k.jobs[name], k.is[name] = &Job{Name: name, User: "ana"}, grid.JobPlaced
	}
	k.state = NewState(Config{Name: "vo1", Starts: true}, k, &life, &books, &trusted)
	return k
}

// apply applies facts.
func (k *keeper) apply(list ...agents.Fact) {
	for _, f := range list {
		k.state.Apply(0, f)
	}
}

// bought is how a window of one leg at north is bought for a job.
func bought(seq uint64, job string, what grid.Leg, price grid.Credits) []agents.Fact {
	tx := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: seq}
	leg := grid.LegID{Tx: tx}
	return []agents.Fact{
		facts.TxBegun{Tx: tx, Job: job, Sites: []string{"north"}, Legs: []grid.Leg{what}, Limits: []grid.Credits{price}},
		facts.LegPriced{Leg: leg, Fare: grid.Fare{Base: price}},
		facts.TxDecided{Tx: tx, Job: job, Commit: true},
		facts.LegClosed{Leg: leg, Commit: true, Posted: price},
	}
}

// Values shared by transactions and legs that have none of their own are not written.
func TestState_WhatManyShareIsNotWritten(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("wave-%d", i))
	}
	k := newKeeper(100*grid.Credit, names...)
	for i, name := range names {
		k.apply(bought(uint64(i+1), name, grid.Leg{Nodes: 1, End: 100}, grid.Credit)...)
		x := k.jobs[name].Last()
		x.because(reason(grid.Busy, "something"))
		x.own().offer = 7
		x.legs[0].own().back = 1
		x.legs[0].know(realLeg{meeting: "here"})
	}
	for what, shared := range map[string]any{"few": none, "oddities": noOddities} {
		if !reflect.ValueOf(shared).IsZero() {
			t.Errorf("the %s that many share were written: %+v", what, shared)
		}
	}
}

// A fact of anything else is refused, so that its owner is found to have forgotten it.
func TestState_RefusesTheFactsOfOthers(t *testing.T) {
	t.Parallel()
	k := newKeeper(0)
	for _, f := range []agents.Fact{facts.CycleClosed{}, facts.JobSubmitted{}, facts.LifeBegun{}, facts.BrokerImage{}} {
		if k.state.Apply(0, f) {
			t.Errorf("it takes %s", f.Kind())
		}
	}
	if !k.state.Apply(0, facts.SiteJoined{Site: "north"}) || !k.state.Sites().Serves("north") {
		t.Error("a site that has joined may not be asked")
	}
}

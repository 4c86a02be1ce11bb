package simulation

import (
	"errors"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/configs"
)

// asksOutside is a broker whose windows somebody outside chooses.
const asksOutside = `
until = "2d"
[[site]]
name = "north"
policy = "easy"
pricing = "adaptive"
[[site.group]]
name = "main"
nodes = 32
price = 1.0
[site.workload]
model = "lublin"
load = 0.7
[[broker]]
name = "vo1"
budget = 200.0
cycle = "30m"
horizon = "1d"
algorithm = "amp"
strategy = "program"
chooser = ["unused"]
[broker.workload]
model = "uniform"
jobs = 30
days = 1
nodes = [1, 8]
`

// toldTo is a chooser without a program.
type toldTo struct {
	choose func(*planning.Question) (map[string]int, error)
	closed *int
}

func (c toldTo) Choose(q *planning.Question) ([]int, error) {
	answer, err := c.choose(q)
	if err != nil {
		return nil, err
	}
	return q.Choice(answer)
}

func (c toldTo) Close() { *c.closed++ }

// outside runs the world with a chooser, with all invariants on.
func outside(t *testing.T, choose func(*planning.Question) (map[string]int, error)) (placed int, spent string, closed int, err error) {
	t.Helper()
	sc, bad := configs.ParseScenario("test", []byte(asksOutside))
	if bad != nil {
		t.Fatal(bad)
	}
	s := Simulation{Scenario: sc, Workloads: NewWorkloads(), Check: true, Choosers: func(b *configs.Broker, _ string, seed uint64) (Chooser, error) {
		if b.Name != "vo1" || seed != 5 {
			t.Errorf("asked for %s, seed %d", b.Name, seed)
		}
		return toldTo{choose, &closed}, nil
	}}
	r, err := s.Run(5, Record{Keep: true})
	if err != nil {
		return 0, "", closed, err
	}
	b := &r.Summary.Brokers[0]
	return b.Jobs.Placed, b.Spent.String(), closed, nil
}

// Whoever is asked sees jobs with windows that have no nodes in common and fit the budget; what
// they choose is bought, and a job that they leave out waits.
func TestChoosers_WhatTheyChooseIsBought(t *testing.T) {
	t.Parallel()
	greedy := func(q *planning.Question) (map[string]int, error) {
		answer, left := map[string]int{}, q.Budget
		for _, a := range q.Jobs {
			best := -1
			for k, w := range a.Windows {
				if w.Cost <= left && (best < 0 || w.Cost < a.Windows[best].Cost) {
					best = k
				}
			}
			if best >= 0 {
				answer[a.Job.Name] = best + 1
				left -= a.Windows[best].Cost
			}
		}
		return answer, nil
	}
	n, spent, closed, err := outside(t, greedy)
	if err != nil || n == 0 || closed != 1 {
		t.Fatalf("%d placed, %d closed: %v", n, closed, err)
	}
	if again, same, _, _ := outside(t, greedy); again != n || same != spent {
		t.Errorf("%d placed for %s, then %d for %s", n, spent, again, same)
	}
	none, spent, _, err := outside(t, func(q *planning.Question) (map[string]int, error) { return nil, nil })
	if err != nil || none != 0 || spent != "0" {
		t.Errorf("nobody chosen: %d placed for %s, %v", none, spent, err)
	}
}

// The first wrong answer ends the run at once, with the time and the cycle.
func TestChoosers_AWrongAnswerEndsTheRun(t *testing.T) {
	t.Parallel()
	asked := 0
	_, _, closed, err := outside(t, func(q *planning.Question) (map[string]int, error) {
		if asked++; asked == 2 {
			return map[string]int{q.Jobs[0].Job.Name: 99}, nil
		}
		return nil, nil
	})
	if err == nil || asked != 2 || closed != 1 || !strings.Contains(err.Error(), `broker "vo1", seed 5: chooser: at `) || !strings.Contains(err.Error(), "must be 1 to ") {
		t.Errorf("asked %d times, %d closed: %v", asked, closed, err)
	}
	if _, _, _, err := outside(t, func(*planning.Question) (map[string]int, error) { return nil, errors.New("gone") }); err == nil || !strings.HasSuffix(err.Error(), "gone") {
		t.Error(err)
	}
}

// Where nobody starts programs, a scenario that needs one is refused.
func TestChoosers_NoneCanBeStarted(t *testing.T) {
	t.Parallel()
	sc, err := configs.ParseScenario("test", []byte(asksOutside))
	if err != nil {
		t.Fatal(err)
	}
	s := Simulation{Scenario: sc, Workloads: NewWorkloads()}
	if _, err := s.Run(1, Record{}); err == nil || !strings.Contains(err.Error(), "only simulate and sweep start") {
		t.Error(err)
	}
}

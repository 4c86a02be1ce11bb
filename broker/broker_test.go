package broker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

const sec = grid.Time(grid.Second)

// sent is how many lines of the trace contain what.
func (w *testWorld) sent(what string) int {
	n := 0
	for _, line := range w.trace {
		if strings.Contains(line, what) {
			n++
		}
	}
	return n
}

func decisions(w *testWorld) (commits, aborts int) {
	for _, d := range only[facts.TxDecided](w) {
		if d.Commit {
			commits++
		} else {
			aborts++
		}
	}
	return commits, aborts
}

func TestRun_TheSameMessagesGiveTheSameTrace(t *testing.T) {
	t.Parallel()
	var traces [2]string
	for i := range traces {
		var sites []*fakeSite
		for k := range 5 {
			s := newFakeSite(fmt.Sprint("s", k), 8, grid.Price(1_000_000*(k+1)))
			s.busy[0].Add(grid.Time(k)*1000*sec, 5000*sec, 5)
			s.rule = randomRule(uint64(k))
			sites = append(sites, s)
		}
		w := newTestWorld(t, testConfig(sites...), sites...)
		for k := range 40 {
			j := testJob(fmt.Sprint("j", k), 1+k*7%16, grid.Duration(100+k*37%2000)*grid.Second, 9*grid.Credit)
			j.User = fmt.Sprint("u", k%3)
			w.submit(grid.Time(k)*100*sec, j)
		}
		w.Run(8000 * sec)
		traces[i] = strings.Join(w.trace, "\n")
	}
	if traces[0] != traces[1] || len(traces[0]) < 10_000 {
		t.Errorf("two runs differ, or said little: %d and %d bytes", len(traces[0]), len(traces[1]))
	}
}

func TestStep_AnswersFromOthersOrTwiceChangeNothing(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.submit(0, testJob("both", 8, 1000*grid.Second, grid.Credit))
	w.Run(0)
	leg := grid.LegID{Tx: w.job("both").Last.ID}
	other := leg
	other.Tx.Nonce++
	far := leg
	far.Tx.Seq = 99
	for _, m := range []agents.Message{
		agents.Offers{Cycle: 1}, agents.Quotes{Ref: 1}, agents.Held{Leg: leg}, agents.Prepared{Leg: leg},
		agents.Refused{Leg: leg}, agents.Confirmed{Leg: leg}, agents.Cancelled{Leg: leg},
		agents.LegStarted{Leg: leg}, agents.Confirmed{Leg: other}, agents.Confirmed{Leg: far},
		agents.Held{Leg: grid.LegID{Tx: leg.Tx, Leg: 7}},
	} {
		for _, from := range []agents.ID{"site:north", "site:south", "site:nobody"} {
			var out agents.Outbox
			w.b.Step(w.Now(), from, m, &out)
			if len(out.Facts)+len(out.Sends)+len(out.Alarms) > 0 {
				t.Errorf("%s from %s: %+v", m.Kind(), from, out)
			}
		}
	}
	w.check.rest()
}

func TestConfig_ErrorsNameTheKeyAndTheRemedy(t *testing.T) {
	t.Parallel()
	for key, spoil := range map[string]func(*Config){
		"name":             func(c *Config) { c.Name = "" },
		"cycle":            func(c *Config) { c.Cycle = 0 },
		"horizon":          func(c *Config) { c.Horizon = -1 },
		"hold":             func(c *Config) { c.Hold = 0 },
		"max_alternatives": func(c *Config) { c.MaxAlternatives = 0 },
		"batch_size":       func(c *Config) { c.BatchSize = 0 },
		"phase":            func(c *Config) { c.Phase = c.Cycle },
		"lead":             func(c *Config) { c.Lead = c.Horizon },
		"budget":           func(c *Config) { c.Budget = -1 },
		"budget_limit":     func(c *Config) { c.BudgetLimit = -2 },
		"time_limit":       func(c *Config) { c.TimeLimit = -2 },
		"twice":            func(c *Config) { c.Sites = []agents.ID{"site:a", "site:a"} },
		"site:NAME":        func(c *Config) { c.Sites = []agents.ID{"a"} },
	} {
		c := Defaults("vo1")
		spoil(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: error %v", key, err)
		}
	}
	if c := Defaults("vo1"); c.Validate() != nil {
		t.Error(c.Validate())
	}
}

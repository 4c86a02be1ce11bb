package simulation

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
)

// Between two instants of a world without latency no money is pending, of a broker
// or a site: what was reserved and neither spent nor given back is told.
func TestInvariants_NothingIsPendingBetweenInstants(t *testing.T) {
	t.Parallel()
	tx := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}
	what := grid.Leg{Group: "main", Nodes: 4, Start: 60_000, End: 1_060_000}
	cfg := broker.Defaults("vo1")
	cfg.Sites = []agents.ID{"site:north"}
	b := broker.New(cfg)
	b.Replay(0, facts.LifeBegun{Incarnation: 1, Nonce: 1})
	b.Replay(0, facts.JobSubmitted{Job: grid.Job{Name: "wave"}})
	s := sites.New(sites.Config{Name: "north", Cluster: "cluster:north", Groups: []grid.Group{{Site: "north", Name: "main", Nodes: 4, Performance: grid.Unit}},
		Span: grid.Hour, Hold: grid.Minute, InDoubt: grid.Minute, MaxWork: 10, VOShare: 1000})
	v := &Invariants{brokers: map[agents.ID]*broker.Broker{"broker:vo1": b}, sites: map[agents.ID]*sites.Site{"site:north": s}}
	held := facts.LegMoved{Leg: grid.LegID{Tx: tx}, What: what, State: grid.Held, Fare: grid.Fare{Base: 4}, Limit: 9}
	gone := held
	gone.State = grid.Cancelled
	for _, c := range []struct {
		replay func()
		word   string
	}{
		{func() {}, ""},
		{func() {
			b.Replay(0, facts.TxBegun{Tx: tx, Job: "wave", Sites: []string{"north"}, Legs: []grid.Leg{what}, Limits: []grid.Credits{9}})
		}, "broker:vo1 still has"},
		{func() { b.Replay(0, facts.TxDecided{Tx: tx, Job: "wave"}) }, ""},
		{func() { s.Replay(0, held) }, "site:north still has"},
		{func() { s.Replay(0, gone) }, ""},
	} {
		c.replay()
		if err := v.nothingPending(); err == nil && c.word != "" || err != nil && (c.word == "" || !strings.Contains(err.Error(), c.word)) {
			t.Errorf("%v, want %q", err, c.word)
		}
	}
}

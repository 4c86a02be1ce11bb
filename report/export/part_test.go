package export

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// The legs of a job of parts name their parts, whether the site speaks for itself or only the
// broker tells of it. A leg of a plain job is named as ever.
func TestFile_NamesThePartOfALeg(t *testing.T) {
	t.Parallel()
	sites := func(names ...string) (list []report.Site) {
		for _, name := range names {
			list = append(list, report.Site{Name: name, Groups: []grid.Group{{Site: name, Name: "g", Nodes: 4}}})
		}
		return list
	}
	tx := func(n uint64) grid.TxID { return grid.TxID{Broker: "vo", Seq: n} }
	leg := func(start, end grid.Time) grid.Leg { return grid.Leg{Group: "g", Nodes: 1, Start: start, End: end} }
	tell := func(e *File) {
		add := func(at grid.Time, id agents.ID, f agents.Fact) {
			if err := e.Add(at, id, f); err != nil {
				t.Fatal(err)
			}
		}
		add(0, "broker:vo", facts.TxBegun{Tx: tx(1), Job: "hybrid", Sites: []string{"own", "told"}, Legs: []grid.Leg{leg(15000, 25000), leg(10000, 30000)}, Parts: []string{"qpu", "gpu"}})
		add(0, "broker:vo", facts.TxBegun{Tx: tx(2), Job: "plain", Sites: []string{"own"}, Legs: []grid.Leg{leg(10000, 30000)}})
		for n, x := range []grid.Leg{leg(15000, 25000), leg(10000, 30000)} {
			add(1000, "site:own", facts.LegMoved{Leg: grid.LegID{Tx: tx(uint64(n + 1))}, State: grid.Confirmed, What: x, Job: []string{"hybrid", "plain"}[n]})
		}
		add(2000, "broker:vo", facts.TxDecided{Tx: tx(1), Commit: true})
		add(2000, "broker:vo", facts.TxDecided{Tx: tx(2), Commit: true})
		if err := e.Finish(40000); err != nil {
			t.Fatal(err)
		}
	}
	var table, trace strings.Builder
	tell(Evalys(&table, sites("own"), sites("told")))
	tell(Trace(&trace, sites("own"), sites("told")))
	for _, id := range []string{"vo/hybrid.qpu.0,", "vo/hybrid.gpu.1,", "vo/plain.0,"} {
		if strings.Count(table.String(), id) != 1 {
			t.Errorf("no row of %s in\n%s", id, table.String())
		}
	}
	for _, words := range []string{`"name":"vo/hybrid qpu"`, `"name":"vo/hybrid gpu"`, `"name":"vo/plain"`, `"part":"qpu"`} {
		if strings.Count(trace.String(), words) != 1 {
			t.Errorf("%s is not there once in\n%s", words, trace.String())
		}
	}
}

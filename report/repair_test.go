package report_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// lose says that a site has lost a leg, which it pays back.
func (s *story) lose(t float64, site string, id grid.LegID, back float64) {
	s.site(t, site, facts.LegMoved{Leg: id, State: grid.Lost, Reason: grid.Reason{Code: grid.Busy, Detail: "node lost"}})
	s.broker(t, facts.LegDone{Leg: id, End: at(t), State: grid.Lost, Refund: cr(back)})
}

// repair commits a transaction that replaces a lost leg.
func (s *story) repair(t float64, seq uint64, job string, lost grid.LegID, sites []string, legs []grid.Leg, fares []grid.Fare) {
	first := len(s.facts)
	s.commit(t, seq, job, sites, legs, fares)
	begun := s.facts[first].fact.(facts.TxBegun)
	begun.Repairs = lost
	s.facts[first].fact = begun
}

// repaired is a run in which the middle leg of a window of three is lost and replaced by two
// legs, of which the first is lost and replaced too. The part that stayed begins no sooner
// than the others, but ends last and has most of the nodes.
func repaired(t testing.TB, o report.Options) *report.Report {
	t.Helper()
	return repairedUntil(t, 1000, o)
}

// repairedUntil is the same run up to an instant.
func repairedUntil(t testing.TB, until float64, o report.Options) *report.Report {
	t.Helper()
	var s story
	one := func(c float64) grid.Fare { return grid.Fare{Base: cr(c)} }
	s.submit(0, "wave", 9)
	s.commit(100, 1, "wave", []string{"north", "south", "west"},
		[]grid.Leg{on("main", 4, 500, 800), on("main", 2, 500, 600), on("main", 3, 500, 700)}, []grid.Fare{one(1.2), one(0.2), one(0.6)})
	s.lose(200, "south", leg(1, 1), 0.2)
	s.repair(210, 2, "wave", leg(1, 1), []string{"east", "west"}, []grid.Leg{on("main", 1, 500, 600), on("main", 1, 500, 650)}, []grid.Fare{one(0.1), one(0.15)})
	s.lose(300, "east", leg(2, 0), 0.1)
	s.repair(310, 3, "wave", leg(2, 0), []string{"south"}, []grid.Leg{on("main", 1, 500, 550)}, []grid.Fare{one(0.05)})
	for _, l := range []struct {
		at   float64
		site string
		id   grid.LegID
	}{{550, "south", leg(3, 0)}, {650, "west", leg(2, 1)}, {700, "west", leg(1, 2)}, {780, "north", leg(1, 0)}} {
		s.settle(l.at, l.site, l.id)
	}
	header := report.Header{Scenario: "repaired", Brokers: []report.Broker{{Name: "vo1", Budget: cr(100)}}}
	for _, name := range []string{"north", "south", "west", "east"} {
		header.Sites = append(header.Sites, report.Site{Name: name, Groups: []grid.Group{{Site: name, Name: "main", Nodes: 8, Performance: grid.Unit, Price: 3_600_000}}})
	}
	c := report.NewCollector(header, o)
	for _, f := range s.facts {
		if f.at <= at(until) {
			c.Add(f.at, f.id, f.fact)
		}
	}
	r, err := c.Finish(report.End{Until: at(until)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRepair_JobsHaveARowForEachLegOfTheWholeWindow(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := repaired(t, report.Options{Keep: true}).WriteJobs(&b); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(b.String(), "\n")
	want := `vo1,north,wave,vo,0,500,780,4,1.2,ended,,main,,kept
vo1,south,wave,vo,0,500,550,1,0.05,ended,,main,,kept
vo1,west,wave,vo,0,500,650,1,0.15,ended,,main,,kept
vo1,west,wave,vo,0,500,700,3,0.6,ended,,main,,kept
`
	if got != want {
		t.Errorf("the rows are\n%s, want\n%s", got, want)
	}
}

func TestRepair_SummaryCountsTheWholeWindow(t *testing.T) {
	t.Parallel()
	kept := repaired(t, report.Options{Keep: true}).Summary
	if summed := repaired(t, report.Options{}).Summary; !reflect.DeepEqual(summed, kept) {
		t.Errorf("summaries differ:\n%+v\n%+v", summed, kept)
	}
	vo := kept.Brokers[0]
	if vo.Jobs.Placed != 1 || vo.Jobs.CoAllocated != 1 || vo.Jobs.Done != 1 {
		t.Errorf("of one job on three sites that is done %+v are counted", vo.Jobs)
	}
	for _, m := range []struct {
		name      string
		got, want grid.Duration
	}{{"wait", vo.MeanWait, 500 * grid.Second}, {"time", vo.MeanTime, 300 * grid.Second},
		{"finish", vo.MeanFinish, 800 * grid.Second}, {"response", vo.MeanResponse, 780 * grid.Second}} {
		if m.got != m.want {
			t.Errorf("mean %s is %v, want %v", m.name, m.got, m.want)
		}
	}
	// 4 x 300 + 1 x 50 + 1 x 150 + 3 x 200 node-seconds for 2 credits.
	if want := grid.Credits(3_600_000); vo.CostNodeHour != want {
		t.Errorf("a node-hour has cost %v credits, want %v", vo.CostNodeHour, want)
	}
}

func TestRepair_PageShowsTheWholeWindow(t *testing.T) {
	t.Parallel()
	d := document(t, html(t, repaired(t, report.Options{Keep: true})), "run")
	var jobs struct {
		Words                   []string
		Sites                   [][]int
		Start, End, Nodes, Cost []int64
		Price                   []float64
	}
	if err := json.Unmarshal([]byte(unpacked(t, d["jobs"])), &jobs); err != nil {
		t.Fatal(err)
	}
	var sites []string
	for _, word := range jobs.Sites[0] {
		sites = append(sites, jobs.Words[word])
	}
	if want := []string{"north", "south", "west"}; !slices.Equal(sites, want) {
		t.Errorf("it runs on %q, want %q", sites, want)
	}
	got, want := []int64{jobs.Start[0], jobs.End[0], jobs.Nodes[0], jobs.Cost[0]}, []int64{500_000, 780_000, 9, 2_000_000}
	if !slices.Equal(got, want) || jobs.Price[0] != 3.6 {
		t.Errorf("start, end, nodes and cost are %v at %v credits a node-hour, want %v at 3.6", got, jobs.Price[0], want)
	}
}

// While a part that stayed still runs, the job is not done, though all of the repair is.
func TestRepair_JobIsDoneWithItsLastPart(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{true, false} {
		vo := repairedUntil(t, 720, report.Options{Keep: keep}).Summary.Brokers[0]
		if vo.Jobs.Placed != 1 || vo.Jobs.Done != 0 {
			t.Errorf("kept %v: while a part runs %+v are counted", keep, vo.Jobs)
		}
	}
}

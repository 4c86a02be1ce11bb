package report_test

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// at is an instant of the story, in seconds.
func at(s float64) grid.Time { return grid.Time(s * 1000) }

// cr is money of the story, in credits.
func cr(c float64) grid.Credits { return grid.Credits(c*1e6 + 0.5) }

func tx(seq uint64) grid.TxID {
	return grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 9, Seq: seq}
}

func leg(seq uint64, k int) grid.LegID { return grid.LegID{Tx: tx(seq), Leg: k} }

func on(group string, nodes int, start, end float64) grid.Leg {
	return grid.Leg{Group: group, Nodes: nodes, Start: at(start), End: at(end)}
}

// story is a run of 1000 s that was made by hand, so that every measure can be
// computed by hand: north has 4 + 2 nodes, south has 10, one VO of 100 credits.
type story struct{ facts []said }

func (s *story) local(t float64, site string, f agents.Fact) {
	s.facts = append(s.facts, said{at: at(t), id: agents.ID("cluster:" + site), fact: f})
}

func (s *story) site(t float64, site string, m facts.LegMoved) {
	s.facts = append(s.facts, said{at: at(t), id: agents.ID("site:" + site), fact: m})
}

func (s *story) broker(t float64, f agents.Fact) {
	s.facts = append(s.facts, said{at: at(t), id: "broker:vo1", fact: f})
}

func (s *story) submit(t float64, name string, nodes int) {
	s.broker(t, facts.JobSubmitted{Job: grid.Job{Name: name, Submit: at(t),
		Request: grid.Request{Nodes: nodes, Length: grid.Hour, MinPerformance: grid.Unit, Deadline: grid.Never}}})
}

// commit says all that is said of a transaction whose every leg is confirmed.
func (s *story) commit(t float64, seq uint64, job string, sites []string, legs []grid.Leg, fares []grid.Fare) {
	s.broker(t, facts.TxBegun{Tx: tx(seq), Job: job, Alternative: 1, Sites: sites, Legs: legs, Limits: make([]grid.Credits, len(legs))})
	for k, what := range legs {
		s.site(t, sites[k], facts.LegMoved{Leg: leg(seq, k), State: grid.Held, What: what, Job: job, Fare: fares[k]})
		s.broker(t, facts.LegPriced{Leg: leg(seq, k), Fare: fares[k]})
	}
	s.broker(t, facts.TxDecided{Tx: tx(seq), Job: job, Commit: true})
	for k := range legs {
		s.site(t, sites[k], facts.LegMoved{Leg: leg(seq, k), State: grid.Confirmed, Job: job, Fare: fares[k]})
		s.broker(t, facts.LegClosed{Leg: leg(seq, k), Commit: true, Posted: fares[k].Total()})
	}
}

func (s *story) run(t float64, site string, id grid.LegID) {
	s.site(t, site, facts.LegMoved{Leg: id, State: grid.Running})
}

func (s *story) settle(t float64, site string, id grid.LegID) {
	s.site(t, site, facts.LegMoved{Leg: id, State: grid.Settled, End: at(t)})
	s.broker(t, facts.LegDone{Leg: id, End: at(t)})
}

func theStory() (report.Header, []said, report.End) {
	var s story
	s.local(0, "north", facts.JobStarted{Job: 1, Group: "main", Nodes: 2, Submit: 0, End: at(100), Class: "immediate"})
	s.local(30, "north", facts.JobRefused{Job: 4, Nodes: 99, Submit: at(30), Reason: grid.Reason{Code: grid.TooLarge, Detail: "99 nodes of 4"}})
	s.local(100, "north", facts.JobEnded{Job: 1, Group: "main", Nodes: 2, Submit: 0, Start: 0})
	s.local(100, "north", facts.JobStarted{Job: 2, Group: "main", Nodes: 1, Submit: at(10), End: at(300), Class: "backfilled"})
	s.submit(100, "wave", 3)
	s.broker(120, facts.CycleClosed{Cycle: 1, Batch: 4, Sites: 2, Slots: 5, Alternatives: 10, TimeLimit: 1000 * grid.Second, BudgetLimit: cr(50), Regret: cr(3)})
	s.commit(120, 1, "wave", []string{"north", "south"}, []grid.Leg{on("main", 1, 200, 500), on("main", 2, 200, 450)},
		[]grid.Fare{{Base: cr(0.3), Additive: cr(0.03)}, {Base: cr(0.5)}})
	s.run(200, "north", leg(1, 0))
	s.run(200, "south", leg(1, 1))
	s.local(300, "north", facts.JobEnded{Job: 2, Group: "main", Nodes: 1, Submit: at(10), Start: at(100), Killed: true})
	s.submit(300, "solo", 5)
	s.submit(350, "late", 1)
	s.submit(360, "poor", 4)
	s.submit(370, "doomed", 7)
	s.submit(380, "broken", 2)
	s.settle(400, "south", leg(1, 1)) // 50 s before its time
	s.broker(400, facts.CycleClosed{Cycle: 2, Batch: 2, Sites: 2, Slots: 5, Postponed: 2})
	s.broker(400, facts.JobPostponed{Job: "poor", Reason: grid.Reason{Code: grid.OverBudget, Detail: "12 credits short"}})
	s.broker(400, facts.JobPostponed{Job: "doomed", Reason: grid.Reason{Code: grid.Expired}, Final: true})
	s.broker(400, facts.TxBegun{Tx: tx(2), Job: "solo", Alternative: 1, Sites: []string{"south"}, Legs: []grid.Leg{on("main", 5, 450, 750)}, Limits: []grid.Credits{cr(2)}})
	s.site(400, "south", facts.LegMoved{Leg: leg(2, 0), State: grid.Refused, What: on("main", 5, 450, 750), Job: "solo", Reason: grid.Reason{Code: grid.Busy}})
	s.broker(400, facts.TxDecided{Tx: tx(2), Job: "solo", Reason: grid.Reason{Code: grid.Busy}})
	s.commit(420, 3, "solo", []string{"south"}, []grid.Leg{on("main", 5, 900, 1200)}, []grid.Fare{{Base: cr(1.5)}})
	s.commit(430, 4, "late", []string{"south"}, []grid.Leg{on("main", 1, 1500, 1600)}, []grid.Fare{{Base: cr(0.1)}})
	s.commit(440, 5, "broken", []string{"south"}, []grid.Leg{on("main", 2, 600, 800)}, []grid.Fare{{Base: cr(0.4)}})
	s.local(500, "north", facts.JobStarted{Job: 5, Group: "fat", Nodes: 1, Submit: at(50), End: at(600), Class: "immediate"})
	s.settle(500, "north", leg(1, 0))
	s.local(505, "north", facts.JobEnded{Job: 5, Group: "fat", Nodes: 1, Submit: at(50), Start: at(500)})
	s.local(600, "north", facts.JobStarted{Job: 3, Group: "main", Nodes: 4, Submit: at(20), End: at(2000), Class: "reserved"})
	s.run(600, "south", leg(5, 0))
	s.site(650, "south", facts.LegMoved{Leg: leg(5, 0), State: grid.Lost, Reason: grid.Reason{Code: grid.Busy, Detail: "node lost"}})
	s.broker(650, facts.LegDone{Leg: leg(5, 0), End: at(650), Refund: cr(0.4)})
	s.broker(700, facts.SubmissionRefused{Job: "huge", Reason: grid.Reason{Code: grid.TooLarge}})
	s.broker(800, facts.CycleClosed{Cycle: 3, Batch: 2, Sites: 2, Slots: 5, Alternatives: 6, TimeLimit: 500 * grid.Second, BudgetLimit: grid.MaxCredits, Regret: cr(.5)})
	s.broker(800, facts.JobPostponed{Job: "poor", Reason: grid.Reason{Code: grid.OverBudget, Detail: "11 credits short"}})
	s.run(900, "south", leg(3, 0))
	s.submit(990, "fresh", 1)
	s.broker(995, facts.TxBegun{Tx: tx(6), Job: "poor", Alternative: 1, Sites: []string{"south"}, Legs: []grid.Leg{on("main", 4, 1000, 1100)}, Limits: []grid.Credits{cr(2)}})

	header := report.Header{Scenario: "by hand", Seed: 7, Brokers: []report.Broker{{Name: "vo1", Budget: cr(100)}},
		Sites: []report.Site{
			{Name: "north", Groups: []grid.Group{{Site: "north", Name: "main", Nodes: 4, Performance: grid.Unit, Price: 3_600_000},
				{Site: "north", Name: "fat", Nodes: 2, Performance: 1500, Price: 5_000_000}}},
			{Name: "south", Groups: []grid.Group{{Site: "south", Name: "main", Nodes: 10, Performance: grid.Unit, Price: 3_600_000}}}}}
	end := report.End{Until: at(1000),
		Waiting: map[string][]report.Waiting{"north": {{Job: 6, Group: "main", Submit: at(700), Nodes: 3}, {Job: 7, Submit: at(2000), Nodes: 1}}},
		Ledgers: map[agents.ID][]grid.Account{"broker:vo1": {{Name: "budget", Debit: cr(2.43)}}}}
	return header, s.facts, end
}

func tell(t testing.TB, o report.Options) *report.Report {
	t.Helper()
	header, facts, end := theStory()
	c := report.NewCollector(header, o)
	for _, s := range facts {
		c.Add(s.at, s.id, s.fact)
	}
	r, err := c.Finish(end)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

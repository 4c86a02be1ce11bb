package report_test

import (
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/report"
)

// at is an instant of the story, in seconds.
func at(s float64) bourse.Time { return bourse.Time(s * 1000) }

// cr is money of the story, in credits.
func cr(c float64) bourse.Credits { return bourse.Credits(c*1e6 + 0.5) }

func tx(seq uint64) bourse.TxID {
	return bourse.TxID{Broker: "vo1", Incarnation: 1, Nonce: 9, Seq: seq}
}

func leg(seq uint64, k int) bourse.LegID { return bourse.LegID{Tx: tx(seq), Leg: k} }

func on(group string, nodes int, start, end float64) bourse.Leg {
	return bourse.Leg{Group: group, Nodes: nodes, Start: at(start), End: at(end)}
}

// story is a run of 1000 s that was made by hand, so that every measure can be
// computed by hand: north has 4 + 2 nodes, south has 10, one VO of 100 credits.
type story struct{ facts []said }

func (s *story) local(t float64, site string, f agents.Fact) {
	s.facts = append(s.facts, said{at: at(t), id: agents.ID("cluster:" + site), fact: f})
}

func (s *story) site(t float64, site string, m bourse.LegMoved) {
	s.facts = append(s.facts, said{at: at(t), id: agents.ID("site:" + site), fact: m})
}

func (s *story) broker(t float64, f agents.Fact) {
	s.facts = append(s.facts, said{at: at(t), id: "broker:vo1", fact: f})
}

func (s *story) submit(t float64, name string, nodes int) {
	s.broker(t, bourse.JobSubmitted{Job: bourse.Job{Name: name, Submit: at(t),
		Request: bourse.Request{Nodes: nodes, Length: bourse.Hour, MinPerformance: bourse.Unit, Deadline: bourse.Never}}})
}

// commit says all that is said of a transaction whose every leg is confirmed.
func (s *story) commit(t float64, seq uint64, job string, sites []string, legs []bourse.Leg, fares []bourse.Fare) {
	s.broker(t, bourse.TxBegun{Tx: tx(seq), Job: job, Alternative: 1, Sites: sites, Legs: legs, Limits: make([]bourse.Credits, len(legs))})
	for k, what := range legs {
		s.site(t, sites[k], bourse.LegMoved{Leg: leg(seq, k), State: bourse.Held, What: what, Job: job, Fare: fares[k]})
		s.broker(t, bourse.LegPriced{Leg: leg(seq, k), Fare: fares[k]})
	}
	s.broker(t, bourse.TxDecided{Tx: tx(seq), Job: job, Commit: true})
	for k := range legs {
		s.site(t, sites[k], bourse.LegMoved{Leg: leg(seq, k), State: bourse.Confirmed, Job: job, Fare: fares[k]})
		s.broker(t, bourse.LegClosed{Leg: leg(seq, k), Commit: true, Posted: fares[k].Total()})
	}
}

func (s *story) run(t float64, site string, id bourse.LegID) {
	s.site(t, site, bourse.LegMoved{Leg: id, State: bourse.Running})
}

func (s *story) settle(t float64, site string, id bourse.LegID) {
	s.site(t, site, bourse.LegMoved{Leg: id, State: bourse.Settled, End: at(t)})
	s.broker(t, bourse.LegDone{Leg: id, End: at(t)})
}

func theStory() (report.Header, []said, report.End) {
	var s story
	s.local(0, "north", bourse.JobStarted{Job: 1, Group: "main", Nodes: 2, Submit: 0, End: at(100), Class: "immediate"})
	s.local(30, "north", bourse.JobRefused{Job: 4, Nodes: 99, Submit: at(30), Reason: bourse.Reason{Code: bourse.TooLarge, Detail: "99 nodes of 4"}})
	s.local(100, "north", bourse.JobEnded{Job: 1, Group: "main", Nodes: 2, Submit: 0, Start: 0})
	s.local(100, "north", bourse.JobStarted{Job: 2, Group: "main", Nodes: 1, Submit: at(10), End: at(300), Class: "backfilled"})
	s.submit(100, "wave", 3)
	s.broker(120, bourse.CycleClosed{Cycle: 1, Batch: 4, Sites: 2, Slots: 5, Alternatives: 10, TimeLimit: 1000 * bourse.Second, BudgetLimit: cr(50), Regret: cr(3)})
	s.commit(120, 1, "wave", []string{"north", "south"}, []bourse.Leg{on("main", 1, 200, 500), on("main", 2, 200, 450)},
		[]bourse.Fare{{Base: cr(0.3), Additive: cr(0.03)}, {Base: cr(0.5)}})
	s.run(200, "north", leg(1, 0))
	s.run(200, "south", leg(1, 1))
	s.local(300, "north", bourse.JobEnded{Job: 2, Group: "main", Nodes: 1, Submit: at(10), Start: at(100), Killed: true})
	s.submit(300, "solo", 5)
	s.submit(350, "late", 1)
	s.submit(360, "poor", 4)
	s.submit(370, "doomed", 7)
	s.submit(380, "broken", 2)
	s.settle(400, "south", leg(1, 1)) // 50 s before its time
	s.broker(400, bourse.CycleClosed{Cycle: 2, Batch: 2, Sites: 2, Slots: 5, Postponed: 2})
	s.broker(400, bourse.JobPostponed{Job: "poor", Reason: bourse.Reason{Code: bourse.OverBudget, Detail: "12 credits short"}})
	s.broker(400, bourse.JobPostponed{Job: "doomed", Reason: bourse.Reason{Code: bourse.Expired}, Final: true})
	s.broker(400, bourse.TxBegun{Tx: tx(2), Job: "solo", Alternative: 1, Sites: []string{"south"}, Legs: []bourse.Leg{on("main", 5, 450, 750)}, Limits: []bourse.Credits{cr(2)}})
	s.site(400, "south", bourse.LegMoved{Leg: leg(2, 0), State: bourse.Refused, What: on("main", 5, 450, 750), Job: "solo", Reason: bourse.Reason{Code: bourse.Busy}})
	s.broker(400, bourse.TxDecided{Tx: tx(2), Job: "solo", Reason: bourse.Reason{Code: bourse.Busy}})
	s.commit(420, 3, "solo", []string{"south"}, []bourse.Leg{on("main", 5, 900, 1200)}, []bourse.Fare{{Base: cr(1.5)}})
	s.commit(430, 4, "late", []string{"south"}, []bourse.Leg{on("main", 1, 1500, 1600)}, []bourse.Fare{{Base: cr(0.1)}})
	s.commit(440, 5, "broken", []string{"south"}, []bourse.Leg{on("main", 2, 600, 800)}, []bourse.Fare{{Base: cr(0.4)}})
	s.local(500, "north", bourse.JobStarted{Job: 5, Group: "fat", Nodes: 1, Submit: at(50), End: at(600), Class: "immediate"})
	s.settle(500, "north", leg(1, 0))
	s.local(505, "north", bourse.JobEnded{Job: 5, Group: "fat", Nodes: 1, Submit: at(50), Start: at(500)})
	s.local(600, "north", bourse.JobStarted{Job: 3, Group: "main", Nodes: 4, Submit: at(20), End: at(2000), Class: "reserved"})
	s.run(600, "south", leg(5, 0))
	s.site(650, "south", bourse.LegMoved{Leg: leg(5, 0), State: bourse.Lost, Reason: bourse.Reason{Code: bourse.Busy, Detail: "node lost"}})
	s.broker(650, bourse.LegDone{Leg: leg(5, 0), End: at(650), Refund: cr(0.4)})
	s.broker(700, bourse.SubmissionRefused{Job: "huge", Reason: bourse.Reason{Code: bourse.TooLarge}})
	s.broker(800, bourse.CycleClosed{Cycle: 3, Batch: 2, Sites: 2, Slots: 5, Alternatives: 6, TimeLimit: 500 * bourse.Second, BudgetLimit: bourse.MaxCredits, Regret: cr(.5)})
	s.broker(800, bourse.JobPostponed{Job: "poor", Reason: bourse.Reason{Code: bourse.OverBudget, Detail: "11 credits short"}})
	s.run(900, "south", leg(3, 0))
	s.submit(990, "fresh", 1)
	s.broker(995, bourse.TxBegun{Tx: tx(6), Job: "poor", Alternative: 1, Sites: []string{"south"}, Legs: []bourse.Leg{on("main", 4, 1000, 1100)}, Limits: []bourse.Credits{cr(2)}})

	header := report.Header{Scenario: "by hand", Seed: 7, Brokers: []report.Broker{{Name: "vo1", Budget: cr(100)}},
		Sites: []report.Site{
			{Name: "north", Groups: []bourse.Group{{Site: "north", Name: "main", Nodes: 4, Performance: bourse.Unit, Price: 3_600_000},
				{Site: "north", Name: "fat", Nodes: 2, Performance: 1500, Price: 5_000_000}}},
			{Name: "south", Groups: []bourse.Group{{Site: "south", Name: "main", Nodes: 10, Performance: bourse.Unit, Price: 3_600_000}}}}}
	end := report.End{Until: at(1000),
		Waiting: map[string][]report.Waiting{"north": {{Job: 6, Group: "main", Submit: at(700), Nodes: 3}, {Job: 7, Submit: at(2000), Nodes: 1}}},
		Ledgers: map[agents.ID][]bourse.Account{"broker:vo1": {{Name: "budget", Debit: cr(2.43)}}}}
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

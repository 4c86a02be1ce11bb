package report_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// A said is a fact as a runtime hands it on.
type said struct {
	at   grid.Time
	rank int // ends come before starts of one instant
	id   agents.ID
	fact agents.Fact
}

// world draws the facts of a made-up run that promises no node twice: local
// jobs of every site and windows of every broker, each where it first fits.
type world struct {
	header report.Header
	until  grid.Time
	facts  []said
	end    report.End
	legs   int // that ran
	locals int // that ran
}

type worldSize struct {
	sites   [][]int // nodes of each group of each site
	brokers int
	locals  int // of each site
	jobs    int // of each broker
	until   grid.Time
	longest grid.Duration // of a local job
	seed    uint64
}

func newWorld(size worldSize) *world {
	rng := rand.New(rand.NewPCG(size.seed, 7))
	w := &world{until: size.until, header: report.Header{Scenario: "made up", Seed: size.seed},
		end: report.End{Until: size.until, Waiting: map[string][]report.Waiting{}}}
	names := []string{"north", "south", "east", "west", "centre"}
	var plans [][]grid.Profile
	for i, groups := range size.sites {
		s := report.Site{Name: names[i%len(names)]}
		if i >= len(names) {
			s.Name += fmt.Sprint(i / len(names))
		}
		var list []grid.Profile
		for k, n := range groups {
			s.Groups = append(s.Groups, grid.Group{Site: s.Name, Name: []string{"main", "fat", "gpu"}[k%3] + []string{"", fmt.Sprint(k)}[min(k/3, 1)],
				Nodes: n, Performance: grid.Unit, Price: grid.Price(1_000_000 + 200_000*i)})
			list = append(list, grid.NewProfile(0, n))
		}
		plans = append(plans, list)
		w.header.Sites = append(w.header.Sites, s)
	}
	for b := range size.brokers {
		name := fmt.Sprintf("vo%d", b+1)
		w.header.Brokers = append(w.header.Brokers, report.Broker{Name: name, Budget: 100_000 * grid.Credit})
		for j := range size.jobs {
			w.window(rng, name, j, plans)
		}
	}
	for i, s := range w.header.Sites {
		for j := range size.locals {
			w.local(rng, s, plans[i], j, size.longest)
		}
	}
	slices.SortStableFunc(w.facts, func(a, b said) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank))
	})
	return w
}

func (w *world) say(at grid.Time, rank int, id agents.ID, f agents.Fact) {
	if at <= w.until {
		w.facts = append(w.facts, said{at, rank, id, f})
	}
}

func (w *world) local(rng *rand.Rand, s report.Site, plans []grid.Profile, id int, longest grid.Duration) {
	g := rng.IntN(len(plans))
	submit := grid.Time(rng.Int64N(int64(w.until)))
	n := 1 << rng.IntN(1+log2(s.Groups[g].Nodes))
	run := grid.Duration(1 + rng.Int64N(int64(longest)))
	start := plans[g].EarliestFit(submit, n, run)
	class := []string{"reserved", "backfilled"}[rng.IntN(2)]
	if start == submit {
		class = "immediate"
	}
	job, at := int64(id+1), agents.ID("cluster:"+s.Name)
	if start > w.until {
		w.end.Waiting[s.Name] = append(w.end.Waiting[s.Name], report.Waiting{Job: job, Submit: submit, Nodes: n})
		return
	}
	plans[g].Add(start, start.Add(run), -n)
	w.locals++
	w.say(start, 1, at, facts.JobStarted{Job: job, Group: s.Groups[g].Name, Nodes: n, Submit: submit, End: start.Add(run), Class: class})
	w.say(start.Add(run), 0, at, facts.JobEnded{Job: job, Group: s.Groups[g].Name, Nodes: n, Submit: submit, Start: start})
}

func (w *world) window(rng *rand.Rand, broker string, j int, plans [][]grid.Profile) {
	id := agents.ID("broker:" + broker)
	submit := grid.Time(rng.Int64N(int64(w.until) * 3 / 4))
	name := fmt.Sprintf("%s-%03d", []string{"wave", "fold", "cfd", "dock"}[rng.IntN(4)], j+1)
	run := 30*grid.Minute + grid.Duration(rng.Int64N(int64(7*grid.Hour)))
	job := grid.Job{Name: name, Submit: submit, Request: grid.Request{Nodes: 4, Length: run, MinPerformance: grid.Unit, Deadline: grid.Never}}
	w.say(submit, 2, id, facts.JobSubmitted{Job: job})
	if rng.IntN(12) == 0 {
		w.say(submit, 3, id, facts.JobPostponed{Job: name, Reason: grid.Reason{Code: grid.NoWindow, Detail: "none"}})
		return
	}
	tx := grid.TxID{Broker: broker, Incarnation: 1, Seq: uint64(j + 1)}
	parts := 1
	if rng.IntN(3) == 0 {
		parts = 2 + rng.IntN(2)
	}
	start := submit.Add(grid.Hour)
	begun := facts.TxBegun{Tx: tx, Job: name, Alternative: 1}
	for part := range parts {
		i := (j + part) % len(plans)
		g := rng.IntN(len(plans[i]))
		group := w.header.Sites[i].Groups[g]
		n := 1 + rng.IntN(max(1, group.Nodes/3))
		if plans[i][g].Min(start, start.Add(run)) < n {
			continue
		}
		plans[i][g].Add(start, start.Add(run), -n)
		begun.Sites = append(begun.Sites, group.Site)
		begun.Legs = append(begun.Legs, grid.Leg{Group: group.Name, Nodes: n, Start: start, End: start.Add(run)})
		begun.Limits = append(begun.Limits, grid.Credit)
	}
	if len(begun.Legs) == 0 {
		return
	}
	w.say(submit, 3, id, begun)
	for k, what := range begun.Legs {
		leg, site := grid.LegID{Tx: tx, Leg: k}, agents.ID("site:"+begun.Sites[k])
		fare := grid.Fare{Base: grid.Cost(grid.Price(1_000_000), run).Times(what.Nodes), Additive: grid.Credits(rng.Int64N(2_000_000))}
		moved := func(at grid.Time, rank int, s grid.LegState) {
			w.say(at, rank, site, facts.LegMoved{Leg: leg, State: s, What: what, Job: name, Fare: fare, End: what.End})
		}
		moved(submit, 4, grid.Held)
		w.say(submit, 5, id, facts.LegPriced{Leg: leg, Fare: fare})
		moved(submit, 7, grid.Confirmed)
		w.say(submit, 8, id, facts.LegClosed{Leg: leg, Commit: true, Posted: fare.Total()})
		moved(what.Start, 1, grid.Running)
		moved(what.End, 0, grid.Settled)
		w.say(what.End, 0, id, facts.LegDone{Leg: leg, End: what.End})
		if what.Start < w.until {
			w.legs++
		}
	}
	w.say(submit, 6, id, facts.TxDecided{Tx: tx, Job: name, Commit: true})
}

func log2(n int) int {
	k := 0
	for ; n > 1; n /= 2 {
		k++
	}
	return k
}

// report feeds the facts to a collector and closes it.
func (w *world) report(t testing.TB, o report.Options) *report.Report {
	t.Helper()
	c := report.NewCollector(w.header, o)
	for _, s := range w.facts {
		c.Add(s.at, s.id, s.fact)
	}
	r, err := c.Finish(w.end)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// month is a realistic run: two sites of some groups, a month, two VOs.
func month() *world {
	return newWorld(worldSize{sites: [][]int{{128}, {64, 16, 8}, {100, 12}}, brokers: 2, locals: 700, jobs: 90,
		until: grid.Time(10 * grid.Day), longest: 9 * grid.Hour, seed: 42})
}

// written is what the four files hold.
func written(t testing.TB, w *world) (summary, jobs, events, gantt string) {
	t.Helper()
	var e, s, j, g bytes.Buffer
	r := w.report(t, report.Options{Keep: true, Events: &e})
	for _, err := range []error{r.WriteSummary(&s), r.WriteJobs(&j), r.WriteGantt(&g)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s.String(), j.String(), e.String(), g.String()
}

package simulation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// goldenParts is a case of the golden instances of jobs of parts, which other programs have solved.
type goldenParts struct {
	Problem struct {
		Slots []struct {
			Node, Site         string
			Start, End         float64
			Performance, Price float64
		}
		Jobs []struct {
			Name                    string
			Budget, Ready, Deadline float64
			Together, Apart         bool
			Parts                   []struct {
				Name, Spread             string
				Nodes                    int
				Length, Offset           float64
				MinPerformance, MaxPrice float64
				Sites, Avoid             []string
			}
		}
	}
	Expect map[string]json.RawMessage
}

// goldenWindow is a window of the expectations, or one that a simulation has committed.
type goldenWindow struct {
	Start, Time, Cost float64
	Parts             []goldenLeg
}

type goldenLeg struct {
	Part, Node       string
	Start, End, Cost float64
}

// What a case says at 0 is at goldenZero. The jobs are planned some time before.
const (
	goldenZero  = 400
	goldenCycle = 100
)

// scenario has a group of one node for each node, which another VO's jobs take where the case
// has no slot, and then the case's jobs in one cycle.
func (g *goldenParts) scenario(broker string) string {
	b, last, longest := &strings.Builder{}, 0.0, 0.0
	for _, s := range g.Problem.Slots {
		last = max(last, s.End)
	}
	for _, j := range g.Problem.Jobs {
		for _, p := range j.Parts {
			longest = max(longest, p.Offset+p.Length)
		}
	}
	end := goldenZero + last + longest + 1
	fmt.Fprintf(b, "name = \"golden\"\nuntil = \"%vs\"\n", end+10)
	sites, blocks := map[string]*strings.Builder{}, &strings.Builder{}
	var order, nodes []string
	for _, s := range g.Problem.Slots {
		if sites[s.Site] == nil {
			sites[s.Site], order = &strings.Builder{}, append(order, s.Site)
		}
		if slices.Contains(nodes, s.Node) {
			continue
		}
		nodes = append(nodes, s.Node)
		fmt.Fprintf(sites[s.Site], "[[site.group]]\nname = %q\nnodes = 1\nperformance = %v\nprice = %v\nfeatures = [%q]\n", s.Node, s.Performance, s.Price, s.Node)
		free := float64(goldenCycle)
		for _, x := range g.Problem.Slots {
			if x.Node == s.Node {
				block(blocks, s.Node, free, goldenZero+x.Start, s.Performance)
				free = goldenZero + x.End
			}
		}
		block(blocks, s.Node, free, 3*end, s.Performance)
	}
	for _, s := range g.named() { // a site of which there is no node
		if sites[s] == nil {
			sites[s], order = &strings.Builder{}, append(order, s)
			fmt.Fprintf(sites[s], "[[site.group]]\nname = \"slow\"\nnodes = 1\nperformance = 0.001\nprice = 1.0\n")
		}
	}
	for _, s := range order {
		fmt.Fprintf(b, "[[site]]\nname = %q\n%s", s, sites[s])
	}
	vo := func(name string, cycle int, horizon float64, more, jobs string) {
		fmt.Fprintf(b, "[[broker]]\nname = %q\nbudget = 1000000000.0\ncycle = \"%ds\"\nhorizon = \"%vs\"\nminimize = \"cost\"\n%s%s", name, cycle, horizon, more, jobs)
	}
	vo("others", 10, 4*end, "", blocks.String())
	vo("vo1", goldenCycle, end, broker, g.jobs())
	return b.String()
}

// named are the sites that the jobs name.
func (g *goldenParts) named() (list []string) {
	for _, j := range g.Problem.Jobs {
		for _, p := range j.Parts {
			list = append(append(list, p.Sites...), p.Avoid...)
		}
	}
	return list
}

// block has a job take a node from one instant to another.
func block(b *strings.Builder, node string, from, to, performance float64) {
	if to > from {
		fmt.Fprintf(b, "[[broker.job]]\nname = \"%s-%v\"\nready = \"%vs\"\ndeadline = \"%vs\"\nlength = \"%vs\"\nmin_performance = %v\nmax_price = 1000000.0\nrequire = { features = [%q] }\n", node, from, from, to, (to-from)*performance, performance, node)
	}
}

// jobs are those of the case, submitted just before the cycle.
func (g *goldenParts) jobs() string {
	b := &strings.Builder{}
	const submit = goldenCycle - 1
	list := func(key string, names []string) {
		if len(names) > 0 {
			fmt.Fprintf(b, "%s = [\"%s\"]\n", key, strings.Join(names, "\", \""))
		}
	}
	for _, j := range g.Problem.Jobs {
		fmt.Fprintf(b, "[[broker.job]]\nname = %q\nsubmit = \"%ds\"\nready = \"%vs\"\n", j.Name, submit, goldenZero+j.Ready-submit)
		if j.Deadline > 0 {
			fmt.Fprintf(b, "deadline = \"%vs\"\n", goldenZero+j.Deadline-submit)
		}
		if j.Budget > 0 {
			fmt.Fprintf(b, "budget = %v\n", j.Budget)
		}
		fmt.Fprintf(b, "together = %v\napart = %v\n", j.Together, j.Apart)
		for _, p := range j.Parts {
			fmt.Fprintf(b, "[[broker.job.part]]\nname = %q\nnodes = %d\nlength = \"%vs\"\noffset = \"%vs\"\nmin_performance = %v\nspread = %q\n", p.Name, p.Nodes, p.Length, p.Offset, cmp.Or(p.MinPerformance, 1), cmp.Or(p.Spread, "any"))
			if p.MaxPrice > 0 {
				fmt.Fprintf(b, "max_price = %v\n", p.MaxPrice)
			}
			list("sites", p.Sites)
			list("avoid", p.Avoid)
		}
	}
	return b.String()
}

// committed are the windows that a simulation of the case commits in its cycle, by job.
func (g *goldenParts) committed(t *testing.T, broker string) map[string]*goldenWindow {
	t.Helper()
	sc, err := configs.ParseScenario("golden", []byte(g.scenario(broker)))
	if err != nil {
		t.Fatal(err)
	}
	begun, fares := map[grid.TxID]facts.TxBegun{}, map[grid.LegID]grid.Fare{}
	out, blocked := map[string]*goldenWindow{}, 0
	s := Simulation{Scenario: sc, Workloads: NewWorkloads()}
	_, err = s.Run(1, Record{Hook: func(now grid.Time, _ agents.ID, o *agents.Outbox) {
		for _, f := range o.Facts {
			switch f := f.(type) {
			case facts.TxBegun:
				begun[f.Tx] = f
			case facts.LegPriced:
				fares[f.Leg] = f.Fare
			case facts.TxDecided:
				switch x := begun[f.Tx]; {
				case f.Commit && f.Tx.Broker != "vo1":
					blocked++
				case f.Commit && now < goldenZero*1000:
					out[x.Job] = boughtBy(&x, fares)
				}
			}
		}
	}})
	if err != nil || blocked != len(sc.Brokers[0].Jobs) {
		t.Fatalf("%v; %d of %d blocks are taken", err, blocked, len(sc.Brokers[0].Jobs))
	}
	return out
}

// boughtBy is what a transaction has bought, in the case's time.
func boughtBy(f *facts.TxBegun, fares map[grid.LegID]grid.Fare) *goldenWindow {
	w := &goldenWindow{Start: f.Legs[0].Start.Seconds()}
	last := 0.0
	for i, l := range f.Legs {
		cost := fares[grid.LegID{Tx: f.Tx, Leg: i}].Total().Float()
		part := ""
		if len(f.Parts) > 0 {
			part = f.Parts[i]
		}
		w.Parts = append(w.Parts, goldenLeg{part, l.Group, l.Start.Seconds() - goldenZero, l.End.Seconds() - goldenZero, cost})
		w.Start, last, w.Cost = min(w.Start, l.Start.Seconds()), max(last, l.End.Seconds()), w.Cost+cost
	}
	w.Time, w.Start, w.Cost = last-w.Start, w.Start-goldenZero, math.Round(w.Cost*1e6)/1e6
	return w
}

// The golden instances come out of a simulation: sites, offers, a cycle, transactions. Which of
// two nodes that are alike in all that counts is taken goes by the order of sites and groups there,
// and by the order of slots in the instances.
func TestParts_GoldenInstancesInASimulation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../cmd/bourse/input/testdata/parts-search.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenParts
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	exact, tied, windows := 0, 0, 0
	for i := range cases {
		for name, broker := range map[string]string{
			"alp": "algorithm = \"alp\"\nmax_alternatives = 1\n", "amp": "algorithm = \"amp\"\nmax_alternatives = 1\n",
			"bestCost": "algorithm = \"best\"\nmax_alternatives = 1\nweights = { cost = 1.0 }\n", "bestTime": "algorithm = \"best\"\nmax_alternatives = 1\nweights = { time = 1.0 }\n",
		} {
			var want map[string][]goldenWindow
			if err := json.Unmarshal(cases[i].Expect[name], &want); err != nil {
				t.Fatal(err)
			}
			got, free := cases[i].committed(t, broker), true
			for _, j := range cases[i].Problem.Jobs {
				if len(want[j.Name]) == 0 {
					if free && got[j.Name] != nil {
						t.Errorf("case %d, %s: %s got %+v; must get none", i, name, j.Name, got[j.Name])
					}
					continue
				}
				windows++
				w, x := want[j.Name][0], got[j.Name]
				switch {
				case x != nil && w.same(x):
					exact++
				case !free: // a job before it has other nodes
					tied++
				case x == nil || !w.asGood(x, name):
					t.Errorf("case %d, %s: %s got %+v; must get %+v", i, name, j.Name, x, w)
					free = false
				default:
					tied++
					free = false
				}
			}
		}
	}
	if exact < 99 || windows != 122 {
		t.Errorf("of %d windows %d come out to the node, %d where others are as good; must be 99 of 122 at least", windows, exact, tied)
	}
}

// asGood reports whether a window is as good as the expected one by what its algorithm goes by.
// Under alp that is the start alone.
func (w *goldenWindow) asGood(x *goldenWindow, algorithm string) bool {
	switch algorithm {
	case "alp":
		return x.Start == w.Start
	case "amp":
		return x.Start == w.Start && x.Cost == w.Cost
	case "bestCost":
		return x.Cost == w.Cost
	}
	return x.Time == w.Time
}

// same reports whether a window is the expected one, to the node.
func (w *goldenWindow) same(x *goldenWindow) bool {
	by := func(a, b goldenLeg) int {
		return cmp.Or(strings.Compare(a.Part, b.Part), strings.Compare(a.Node, b.Node))
	}
	return w.Start == x.Start && w.Time == x.Time && w.Cost == x.Cost && slices.Equal(slices.SortedFunc(slices.Values(w.Parts), by), slices.SortedFunc(slices.Values(x.Parts), by))
}

package simulation

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// divided are two nodes of 8 GPUs and 64 cores, each sold in eighths, and the jobs of the worked
// example for parts of nodes.
const divided = `
until = "2d"
[[site]]
name = "north"
[[site.group]]
name = "gpu"
nodes = 2
price = 8.0
slices = 8
cores = 64
gpus = 8
[[broker]]
name = "vo1"
budget = 100000.0
cycle = "30m"
horizon = "1d"
algorithm = "amp"
minimize = %q
[[broker.job]]
name = "a"
nodes = 1
length = "4h"
max_price = 20.0
gpus_per_node = 4
[[broker.job]]
name = "b"
nodes = 1
length = "2h"
max_price = 20.0
gpus_per_node = 1
cores_per_node = 20
[[broker.job]]
name = "c"
nodes = 1
length = "6h"
max_price = 20.0
gpus_per_node = 1
[[broker.job]]
name = "d"
nodes = 2
length = "1h"
max_price = 20.0
gpus_per_node = 2
[[broker.job]]
name = "e"
nodes = 1
length = "1h"
max_price = 20.0
[[broker.job]]
name = "f"
nodes = 1
length = "2h"
max_price = 20.0
gpus_per_node = 8
`

// The jobs of a log take as many GPUs and cores of each node as it says.
func TestSlices_JobsOfALogTakeTheirGPUsAndCores(t *testing.T) {
	text, _, _ := strings.Cut(divided, "[[broker.job]]")
	sc, err := configs.ParseScenario("log", fmt.Appendf(nil, text+"[broker.workload]\ntrace = \"week.sacct\"\ncores = 64\ngpus = 8\n", "time"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := "JobID|State|Submit|Elapsed|AllocCPUS|AllocTRES\n"
	for i, x := range []string{"16|cpu=16,gres/gpu=4", "24|cpu=24,gres/gpu=1", "8|cpu=8,gres/gpu=16"} {
		log += fmt.Sprintf("%d|COMPLETED|2026-01-31T12:0%d:00|01:00:00|%s\n", i+1, i, x)
	}
	if err := os.WriteFile(filepath.Join(dir, "week.sacct"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sc.ResolveTraces(dir); err != nil {
		t.Fatal(err)
	}
	var got []string
	world := Simulation{Scenario: sc, Workloads: NewWorkloads()}
	if _, err := world.Run(1, Record{Hook: func(_ grid.Time, _ agents.ID, out *agents.Outbox) {
		for _, f := range out.Facts {
			if f, ok := f.(facts.NodesLocked); ok {
				got = append(got, fmt.Sprintf("%d x %d/%d, %d GPUs, %d cores", f.What.Nodes, f.What.Part.Slices, f.What.Part.Of, f.What.Part.GPUs, f.What.Part.Cores))
			}
		}
	}}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"1 x 4/8, 4 GPUs, 16 cores", "1 x 3/8, 1 GPUs, 24 cores", "2 x 0/0, 0 GPUs, 0 cores"}; !slices.Equal(got, want) {
		t.Errorf("legs are %q, want %q", got, want)
	}
}

// Jobs of parts of nodes and of whole ones are placed beside each other, each for the price of
// what it takes; the invariants check that no slice is sold twice.
func TestSlices_JobsShareNodesForTheirShareOfThePrice(t *testing.T) {
	t.Parallel()
	for _, goal := range []string{"value", "time", "cost", "finish"} {
		r, files := simulated(t, strings.Replace(divided, "%q", `"`+goal+`"`, 1), 1)
		s := r.Summary.Brokers[0]
		if s.Jobs.Placed != 6 || s.Spent != 56*grid.Credit {
			t.Errorf("%s: %d of 6 are placed for %v credits, not 56:\n%s", goal, s.Jobs.Placed, s.Spent, files)
		}
	}
}

// TestSlices_Stories plays the stories of testdata/slices, each a world of one broker. The
// golden output is where the legs lie, what they cost, and for how long each node is taken that
// parts share. The commands are
//
//	world           a scenario
//	run until=TIME  time passes
//	cancel job=NAME its user gives a job up
func TestSlices_Stories(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/slices", func(t *testing.T, path string) {
		var s *sharedNodes
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "world":
				s = newSharedNodes(t, d.Input)
				return ""
			case "run":
				var until string
				d.ScanArgs(t, "until", &until)
				span, err := time.ParseDuration(until)
				if err != nil {
					t.Fatal(err)
				}
				s.now = grid.Time(span.Milliseconds())
			case "cancel":
				var job string
				d.ScanArgs(t, "job", &job)
				s.Post(s.now, brokerID("vo1"), agents.JobCancel{Job: job})
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			s.Run(s.now)
			return s.String()
		})
	})
}

// sharedNodes is a world, and what its sites and clusters keep of its legs.
type sharedNodes struct {
	*sim.World
	now   grid.Time
	legs  map[grid.LegID]facts.LegMoved // as they came
	order []grid.LegID
	locks map[grid.LegID]facts.NodesLocked // that stand
}

func newSharedNodes(t *testing.T, text string) *sharedNodes {
	t.Helper()
	sc, err := configs.ParseScenario("story", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(sc, 1, NewWorkloads(), Record{Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &sharedNodes{World: w.sim, legs: map[grid.LegID]facts.LegMoved{}, locks: map[grid.LegID]facts.NodesLocked{}}
	s.After(func(_ grid.Time, _ agents.ID, out *agents.Outbox) {
		for _, f := range out.Facts {
			switch f := f.(type) {
			case facts.LegMoved:
				if _, again := s.legs[f.Leg]; !again {
					s.order = append(s.order, f.Leg)
					s.legs[f.Leg] = f
				}
			case facts.NodesLocked:
				s.locks[f.Leg] = f
			case facts.NodesFreed:
				delete(s.locks, f.Leg)
			}
		}
	})
	return s
}

// String lists the legs in the order in which they came, and the nodes that parts share.
func (s *sharedNodes) String() string {
	var b strings.Builder
	hours := func(t grid.Time) string { return grid.Duration(t).Words() }
	open := map[int32][]grid.Leg{}
	for _, id := range s.order {
		l, ok := s.locks[id]
		if !ok {
			continue
		}
		takes, on := "whole", ""
		if p := l.What.Part; p.Some() {
			takes, on = fmt.Sprintf("%d of %d slices", p.Slices, p.Of), fmt.Sprintf(" on %v", l.On)
		}
		fmt.Fprintf(&b, "%s: %d x %s%s, %s to %s, %v credits\n", s.legs[id].Job, l.What.Nodes, takes, on, hours(l.What.Start), hours(l.What.End), s.legs[id].Fare.Total())
		for _, n := range l.On {
			open[n] = append(open[n], l.What)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(open)) {
		fmt.Fprintf(&b, "node %d:", n)
		edges := edgesOf(open[n])
		for i, from := range edges[:len(edges)-1] {
			taken := 0
			for _, l := range open[n] {
				if l.Start <= from && from < l.End {
					taken += int(l.Part.Slices)
				}
			}
			if taken > 0 {
				fmt.Fprintf(&b, " [%s, %s) has %d free;", hours(from), hours(edges[i+1]), int(open[n][0].Part.Of)-taken)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// edgesOf are the instants at which any of the legs starts or ends, in order.
func edgesOf(legs []grid.Leg) (list []grid.Time) {
	for _, l := range legs {
		list = append(list, l.Start, l.End)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

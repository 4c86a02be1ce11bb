package managed

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"

	"pgregory.net/rapid"
)

const h = grid.Hour

func viewOf(names ...string) View {
	return View{Now: dawn, Groups: []grid.Group{{Name: "main", Nodes: len(names)}}, Nodes: [][]string{names}, Policy: backfill.EASY}
}

func upNodes(names ...string) (list []grid.ManagedNode) {
	for _, n := range names {
		list = append(list, grid.ManagedNode{Name: n, State: grid.NodeUp, CPUs: 4, Partitions: []string{"batch"}})
	}
	return list
}

// Each line shows what is on four nodes, and what of them is free, when.
func TestStateOf_WhatIsFree(t *testing.T) {
	t.Parallel()
	running := func(nodes []string, limit grid.Duration) grid.ManagedJob {
		return grid.ManagedJob{Number: "7", State: grid.ManagedRunning, Nodes: nodes, Count: len(nodes), Start: dawn.Add(-h), Limit: limit}
	}
	for name, c := range map[string]struct {
		look  func(l *grid.Look, v *View)
		steps []grid.Step
	}{
		"nothing": {func(*grid.Look, *View) {}, []grid.Step{{At: dawn, Free: 4}}},
		"a running job ends at its start and limit": {func(l *grid.Look, _ *View) { l.Jobs = append(l.Jobs, running(nodeNames[:3], 3*h)) },
			[]grid.Step{{At: dawn, Free: 1}, {At: dawn.Add(2 * h), Free: 4}}},
		"one without a limit never": {func(l *grid.Look, _ *View) { l.Jobs = append(l.Jobs, running(nodeNames[:3], 0)) },
			[]grid.Step{{At: dawn, Free: 1}, {At: grid.MaxTime, Free: 4}}},
		"one that should have ended soon": {func(l *grid.Look, _ *View) { l.Jobs = append(l.Jobs, running(nodeNames[:1], h/2)) },
			[]grid.Step{{At: dawn, Free: 3}, {At: dawn.Add(grid.Minute), Free: 4}}},
		"jobs that share a node": {func(l *grid.Look, _ *View) {
			l.Jobs = append(l.Jobs, running(nodeNames[:1], 2*h), running(nodeNames[:2], 3*h))
		}, []grid.Step{{At: dawn, Free: 2}, {At: dawn.Add(2 * h), Free: 4}}},
		"nodes that are not up": {func(l *grid.Look, _ *View) {
			l.Nodes[0].State, l.Nodes[1].State, l.Nodes[2].State = grid.NodeDown, grid.NodeDrained, grid.NodeUnknown
		}, []grid.Step{{At: dawn, Free: 1}, {At: grid.MaxTime, Free: 4}}},
		"a node that the look does not hold": {func(l *grid.Look, _ *View) { l.Nodes = l.Nodes[1:] },
			[]grid.Step{{At: dawn, Free: 3}, {At: grid.MaxTime, Free: 4}}},
		"a node that is busy with nothing": {func(l *grid.Look, _ *View) { l.Nodes[0].Busy = 1 },
			[]grid.Step{{At: dawn, Free: 3}, {At: dawn.Add(unexplained), Free: 4}}},
		"a foreign reservation, by either clock": {func(l *grid.Look, v *View) {
			v.Skew = 5 * grid.Second
			l.Reservations = []grid.ManagedReservation{{Name: "theirs", Start: dawn.Add(h), End: dawn.Add(2 * h), Nodes: nodeNames[:2]}}
		}, []grid.Step{{At: dawn, Free: 4}, {At: dawn.Add(h - 5000), Free: 2}, {At: dawn.Add(2*h + 5000), Free: 4}}},
		"our own, with a job in it": {func(l *grid.Look, v *View) {
			l.Reservations = []grid.ManagedReservation{{Name: "bourse.1", Start: dawn.Add(-h), End: dawn.Add(h), Nodes: nodeNames[:2]}}
			l.Jobs = append(l.Jobs, running(nodeNames[:2], 2*h))
			v.Claims = []Claim{{"bourse.1", nodeNames[:2], dawn.Add(-h), dawn.Add(h)}, {"bourse.2", nodeNames[2:3], dawn.Add(h), dawn.Add(2 * h)}}
		}, []grid.Step{{At: dawn, Free: 2}, {At: dawn.Add(h), Free: 3}, {At: dawn.Add(2 * h), Free: 4}}},
		"padding before what comes later, none into what was before": {func(l *grid.Look, v *View) {
			v.Padding = 2 * grid.Minute
			l.Jobs = append(l.Jobs, running(nodeNames[:1], 2*h))
			v.Claims = []Claim{{"bourse.1", nodeNames[:2], dawn.Add(h + grid.Minute), dawn.Add(2 * h)}, {"bourse.2", nodeNames[2:3], dawn.Add(grid.Minute), dawn.Add(2 * h)}}
		}, []grid.Step{{At: dawn, Free: 2}, {At: dawn.Add(h - grid.Minute), Free: 1}, {At: dawn.Add(2 * h), Free: 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			look, v := &grid.Look{At: dawn, Nodes: upNodes(nodeNames...)}, viewOf(nodeNames...)
			c.look(look, &v)
			s := StateOf(look, v)[0]
			if !slices.Equal(s.Free, c.steps) {
				t.Errorf("free %v, want %v", s.Free, c.steps)
			}
			if err := s.Audit(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStateOf_NothingIsKnownNothingIsFree(t *testing.T) {
	t.Parallel()
	if s := StateOf(nil, viewOf(nodeNames...))[0]; s.Free.Min(dawn, grid.MaxTime) != 0 || s.Free.At(dawn) != 0 {
		t.Errorf("%v", s.Free)
	}
}

// Jobs wait in the manager's order, each in the first group of its partition that is
// large enough; what is held, or waits for a reservation, is in nobody's way.
func TestStateOf_QueueInTheManagersOrder(t *testing.T) {
	t.Parallel()
	v := viewOf(nodeNames...)
	v.Groups, v.Nodes = append(v.Groups, grid.Group{Name: "big", Nodes: 6}), append(v.Nodes, []string{"b1", "b2", "b3", "b4", "b5", "b6"})
	look := &grid.Look{At: dawn, Nodes: append(upNodes(nodeNames...), upNodes("b1", "b2", "b3", "b4", "b5", "b6")...)}
	look.Nodes[4].Partitions = []string{"batch", "long"}
	job := func(number string, state grid.ManagedState, count int, partition, reservation string) {
		look.Jobs = append(look.Jobs, grid.ManagedJob{Number: number, State: state, Count: count, Partition: partition, Reservation: reservation, Limit: h, Submit: 5})
	}
	job("9", grid.ManagedPending, 4, "batch", "")
	job("3_7", grid.ManagedPending, 1, "long", "")
	job("4", grid.ManagedPending, 5, "other,batch", "")
	job("5", grid.ManagedHeld, 1, "batch", "")
	job("6", grid.ManagedPending, 1, "batch", "theirs")
	job("7", grid.ManagedPending, 7, "batch", "")
	job("8", grid.ManagedPending, 1, "other", "")
	job("2", grid.ManagedPending, 1, "batch", "")
	states := StateOf(look, v)
	ids := func(s backfill.State) (list []int64) {
		for _, q := range s.Queue {
			list = append(list, q.ID)
		}
		return list
	}
	if got := fmt.Sprint(ids(states[0]), ids(states[1])); got != fmt.Sprintf("[9 2] [%d 4]", 1<<40+1) {
		t.Errorf("the queues are %v", got)
	}
}

// Whatever a look shows, no node is taken twice, and what a state says is free is what
// each node by itself says.
func TestStateOf_IsSound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := viewOf(nodeNames...)
		v.Skew = grid.Duration(rapid.IntRange(0, 5000).Draw(t, "skew"))
		look := &grid.Look{At: dawn, Nodes: upNodes(nodeNames...)}
		nodes := rapid.SliceOfNDistinct(rapid.SampledFrom(nodeNames), 1, 4, rapid.ID[string])
		at := func(name string) grid.Time {
			return dawn.Add(grid.Duration(rapid.IntRange(-20, 60).Draw(t, name)) * grid.Minute)
		}
		for range rapid.IntRange(0, 8).Draw(t, "things") {
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				look.Jobs = append(look.Jobs, grid.ManagedJob{Number: fmt.Sprint(rapid.IntRange(1, 5).Draw(t, "number")), Nodes: nodes.Draw(t, "nodes"),
					State: rapid.SampledFrom([]grid.ManagedState{grid.ManagedRunning, grid.ManagedPending, grid.ManagedUnknown, grid.ManagedEnded}).Draw(t, "state"),
					Start: at("start"), End: at("end"), Count: rapid.IntRange(0, 5).Draw(t, "count"), Limit: grid.Minute})
			case 2:
				look.Reservations = append(look.Reservations, grid.ManagedReservation{Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"), Start: at("from"), End: at("to"), Nodes: nodes.Draw(t, "nodes")})
			case 3:
				v.Claims = append(v.Claims, Claim{rapid.SampledFrom([]string{"b", "c"}).Draw(t, "claim"), nodes.Draw(t, "nodes"), at("from"), at("to")})
			default:
				look.Nodes[rapid.IntRange(0, 3).Draw(t, "node")].State = grid.NodeDrained
			}
		}
		s := StateOf(look, v)[0]
		if err := s.Audit(); err != nil {
			t.Fatal(err)
		}
		taken := v.occupancy(look)[0]
		for _, step := range s.Free {
			if step.At == grid.MaxTime {
				continue
			}
			n := 0
			for _, spans := range taken {
				if free(spans, step.At, step.At+1) > 0 {
					n++
				}
			}
			if n != step.Free {
				t.Fatalf("at %v %d nodes are free, one by one %d", step.At, step.Free, n)
			}
		}
	})
}

// largeLook is of a thousand nodes that are busy, with many jobs that wait.
func largeLook(jobs int) (*grid.Look, View) {
	v := View{Now: dawn, Groups: []grid.Group{{Name: "main", Nodes: 1000, Price: 1}}, Nodes: [][]string{nil}, Policy: backfill.EASY, Skew: 5 * grid.Second}
	for i := range 1000 {
		v.Nodes[0] = append(v.Nodes[0], fmt.Sprintf("n%04d", i))
	}
	l := &grid.Look{At: dawn, Nodes: upNodes(v.Nodes[0]...)}
	for i := 0; i < 1000; i += 4 {
		l.Jobs = append(l.Jobs, grid.ManagedJob{Number: fmt.Sprint(i + 1), State: grid.ManagedRunning, Nodes: v.Nodes[0][i : i+4], Count: 4,
			Start: dawn.Add(-h), End: dawn.Add(grid.Duration(i+1) * grid.Minute), Partition: "batch"})
	}
	for i := range jobs {
		l.Jobs = append(l.Jobs, grid.ManagedJob{Number: fmt.Sprint(i + 5000), State: grid.ManagedPending, Count: 1 + i*7%64, Partition: "batch",
			Limit: grid.Duration(1+i*13%1440) * grid.Minute, Submit: dawn.Add(-grid.Duration(jobs-i) * grid.Second)})
	}
	return l, v
}

// The bound is 0.3 s. On 2 cores of a shared machine: 4 ms from a look to the states,
// 60 ms with the plan of the queue that prices are made of.
func BenchmarkStateOf_5000JobsWait(b *testing.B) {
	look, v := largeLook(5000)
	b.Run("state", func(b *testing.B) {
		for b.Loop() {
			StateOf(look, v)
		}
	})
	b.Run("state-and-plan", func(b *testing.B) {
		book := pricing.NewBook()
		for b.Loop() {
			s := StateOf(look, v)
			book.Reset(&s[0])
		}
	})
}

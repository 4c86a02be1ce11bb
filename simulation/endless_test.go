package simulation

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

func liveSite(w configs.Workload) *configs.Site {
	return &configs.Site{Name: "north", Workload: &w, Groups: []grid.Group{
		{Site: "north", Name: "small", Nodes: 8}, {Site: "north", Name: "main", Nodes: 64}}}
}

// A model without days goes on for ever, at the load it was asked for.
func TestEndless_AModelGoesOnAtItsLoad(t *testing.T) {
	t.Parallel()
	const weeks = 8
	for _, w := range []configs.Workload{
		{Model: "lublin", Processors: 64, Load: 700, Days: grid.MaxDuration},
		{Model: "uniform", Processors: 64, Load: 700, Days: grid.MaxDuration,
			Nodes: configs.Range[int]{Lo: 1, Hi: 16}, Length: configs.Range[grid.Duration]{Lo: 10 * grid.Minute, Hi: 4 * grid.Hour}},
	} {
		work, err := NewWorkloads().Endless(liveSite(w), 3, 60)
		if err != nil {
			t.Fatal(err)
		}
		begun := grid.Time(1_700_000_000_000)
		end := begun.Add(weeks * 7 * grid.Day / 60)
		sum, ids := 0.0, map[int64]bool{}
		for group, nodes := range []int{8, 64} {
			next := work(group, begun, 0)
			for last := begun; ; {
				j, ok := next()
				if !ok || j.Submit < last || j.Nodes > nodes || ids[j.ID] {
					t.Fatalf("%s: group %d gets %+v, %t", w.Model, group, j, ok)
				}
				if last = j.Submit; j.Submit >= end {
					break
				}
				ids[j.ID] = true
				sum += float64(j.Nodes) * j.Run.Seconds()
			}
		}
		if load := sum / (64 * end.Sub(begun).Seconds()); load < .5 || load > .9 {
			t.Errorf("%s: a load of %v over %d weeks, .7 was asked for", w.Model, load, weeks)
		}
	}
}

func TestEndless_SpeedsBeyondReasonAreRefused(t *testing.T) {
	t.Parallel()
	s := liveSite(configs.Workload{Model: "lublin", Processors: 64, Load: 700, Days: grid.MaxDuration})
	for _, speed := range []float64{0, -1, .0001, 1e9} {
		if _, err := NewWorkloads().Endless(s, 1, speed); err == nil {
			t.Errorf("speed-up %v is taken", speed)
		}
	}
	s.Workload = nil
	if work, err := NewWorkloads().Endless(s, 1, 1); work != nil || err != nil {
		t.Errorf("a site without a workload has one: %v", err)
	}
}

// Months of local work, at a thousand times the speed, in a cluster that dies
// every hour, leave no more in its memory than what waits and runs.
func TestEndless_FeedsADurableClusterForMonths(t *testing.T) {
	t.Parallel()
	s := liveSite(configs.Workload{Model: "lublin", Processors: 64, Load: 500, Days: grid.MaxDuration})
	work, err := NewWorkloads().Endless(s, 3, 1000)
	if err != nil {
		t.Fatal(err)
	}
	options := []queue.Options{{Nodes: 8, Policy: backfill.EASY}, {Nodes: 64, Policy: backfill.EASY}}
	now, ended := grid.Time(1_700_000_000_000), 0
	image := agents.Fact(nil)
	for range 4 {
		c := cluster.New(cluster.Config{Site: "site:north"}, queue.NewBackend(s.Groups, options, work))
		if image != nil {
			c.Replay(now, image)
		}
		var out agents.Outbox
		c.Step(now, "cluster:north", agents.Started{Nonce: 1}, &out)
		for end := now.Add(30 * grid.Minute); len(out.Alarms) > 0 && now < end; {
			a := out.Alarms[0]
			out.Reset()
			now = max(now, a.At)
			c.Step(now, "cluster:north", a.Message, &out)
			for _, f := range out.Facts {
				if _, ok := f.(facts.JobEnded); ok {
					ended++
				}
			}
		}
		image = c.Image()
		now = now.Add(30 * grid.Minute) // it is down
	}
	memory := image.(facts.ClusterImage)
	if kept := len(memory.Groups[0].Waiting) + len(memory.Groups[0].Running) + len(memory.Groups[1].Waiting) + len(memory.Groups[1].Running); kept > 2000 || ended < 1000 {
		t.Errorf("%d jobs have ended, %d are kept", ended, kept)
	}
}

// A group that none of a model's jobs goes to has none drawn for it: it would go on for ever.
func TestEndless_AGroupThatGetsNothingLooksForNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		work  configs.Workload
		nodes [2]int
		empty int
	}{
		{configs.Workload{Model: "lublin", Processors: 16, Load: 700}, [2]int{16, 16}, 1},
		{configs.Workload{Model: "uniform", Processors: 16, Load: 700, Nodes: configs.Range[int]{Lo: 8, Hi: 16},
			Length: configs.Range[grid.Duration]{Lo: grid.Minute, Hi: grid.Hour}}, [2]int{4, 16}, 0},
	} {
		c.work.Days = grid.MaxDuration
		s := liveSite(c.work)
		for i, n := range c.nodes {
			s.Groups[i].Nodes = n
		}
		work, err := NewWorkloads().Endless(s, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if j, ok := work(c.empty, 0, 0)(); ok {
			t.Errorf("%s: group %d gets %+v", c.work.Model, c.empty, j)
		}
		if _, ok := work(1-c.empty, 0, 0)(); !ok {
			t.Errorf("%s: group %d gets nothing", c.work.Model, 1-c.empty)
		}
	}
}

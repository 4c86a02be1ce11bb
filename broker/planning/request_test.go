package planning

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A job may ask for the least and the most of everything, and for no more: then it is told
// which number is out of bounds.
func TestUnsound_NamesTheNumberThatIsOutOfBounds(t *testing.T) {
	t.Parallel()
	sound := grid.Job{Name: "a", Request: grid.Request{Nodes: 1, Length: 1, MinPerformance: 1}}
	for name, c := range map[string]struct {
		set       func(*grid.Job, int64)
		low, high int64
	}{
		"nodes":           {func(j *grid.Job, x int64) { j.Nodes = int(x) }, 1, MaxNodes},
		"length":          {func(j *grid.Job, x int64) { j.Length = grid.Duration(x) }, 1, int64(grid.MaxDuration)},
		"run":             {func(j *grid.Job, x int64) { j.Run = grid.Duration(x) }, 0, int64(grid.MaxDuration)},
		"min_performance": {func(j *grid.Job, x int64) { j.MinPerformance = grid.Performance(x) }, 1, int64(grid.MaxPerformance)},
		"max_price":       {func(j *grid.Job, x int64) { j.MaxPrice = grid.Price(x) }, 0, int64(grid.MaxPrice)},
		"budget":          {func(j *grid.Job, x int64) { j.Budget = grid.Credits(x) }, 0, int64(grid.MaxBudget)},
		"flexible":        {func(j *grid.Job, x int64) { j.Flexible = grid.Duration(x) }, 0, int64(grid.MaxDuration)},
		"fix":             {func(j *grid.Job, x int64) { j.Fix = int(x) }, 0, 1000},
		"alternatives":    {func(j *grid.Job, x int64) { j.Phi = int(x) }, 0, 100_000},
	} {
		for x, want := range map[int64]bool{c.low - 1: false, c.low: true, c.high: true, c.high + 1: false} {
			j := sound
			c.set(&j, x)
			if why := Unsound(&j); why.Refused() == want || !want && (why.Code != grid.Invalid || !strings.Contains(why.String(), name)) {
				t.Errorf("%s %d: %v", name, x, why)
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*grid.Job)
		want   bool
	}{
		"no name":   {func(j *grid.Job) { j.Name = "" }, false},
		"urgency":   {func(j *grid.Job) { j.Urgency = grid.Hourly(grid.MaxUrgency) + 1 }, false},
		"":          {func(j *grid.Job) { j.Urgency = grid.Hourly(grid.MaxUrgency) }, true},
		"ready":     {func(j *grid.Job) { j.Ready = grid.MaxTime + 1 }, false},
		" ":         {func(j *grid.Job) { j.Ready = grid.MaxTime }, true},
		"sizes":     {func(j *grid.Job) { j.Sizes = []grid.Size{{Nodes: MaxNodes + 1, Length: 1}} }, false},
		"size that": {func(j *grid.Job) { j.Sizes = []grid.Size{{Nodes: 2, Length: 1}} }, false},
		"  ":        {func(j *grid.Job) { j.Sizes = []grid.Size{{Nodes: 1, Length: 1}, {Nodes: MaxNodes, Length: 1}} }, true},
		"command":   {func(j *grid.Job) { j.Work = &grid.Work{} }, false},
	} {
		j := sound
		c.change(&j)
		if why := Unsound(&j); why.Refused() == c.want || !c.want && !strings.Contains(why.String(), name) {
			t.Errorf("%s: %v", name, why)
		}
	}
}

// A site may offer the least and the most of everything. Its profiles never have more nodes free
// than there are. Each has at least one step, and the steps are in order.
func TestSoundGroups_BoundsMayBeReached(t *testing.T) {
	t.Parallel()
	offer := func(nodes int) agents.GroupOffer {
		return agents.GroupOffer{Group: grid.Group{Nodes: nodes, Performance: 1}, Admissible: grid.NewProfile(0, min(nodes, 1)), Clear: grid.NewProfile(0, min(nodes, 1))}
	}
	for name, c := range map[string]struct {
		set       func(*agents.GroupOffer, int64)
		low, high int64
	}{
		"padding":     {func(o *agents.GroupOffer, x int64) { o.Group.Padding = grid.Duration(x) }, 0, int64(grid.MaxPadding)},
		"longest":     {func(o *agents.GroupOffer, x int64) { o.Group.Longest = grid.Duration(x) }, 0, int64(grid.MaxDuration)},
		"performance": {func(o *agents.GroupOffer, x int64) { o.Group.Performance = grid.Performance(x) }, 1, int64(grid.MaxPerformance)},
		"price":       {func(o *agents.GroupOffer, x int64) { o.Group.Price = grid.Price(x) }, 0, int64(grid.MaxPrice)},
		"queued":      {func(o *agents.GroupOffer, x int64) { o.Queued = grid.Duration(x) }, 0, int64(grid.MaxDuration)},
	} {
		for x, want := range map[int64]bool{c.low - 1: false, c.low: true, c.high: true, c.high + 1: false} {
			o := offer(2)
			c.set(&o, x)
			if got := SoundGroups([]agents.GroupOffer{offer(1), o}); got != want {
				t.Errorf("%s %d: sound %t", name, x, got)
			}
		}
	}
	for n, want := range map[int]bool{-1: false, 0: true, MaxNodes: true, MaxNodes + 1: false} {
		if got := SoundGroups([]agents.GroupOffer{offer(n)}); got != want {
			t.Errorf("%d nodes: sound %t", n, got)
		}
	}
	for n, want := range map[int]bool{0: true, maxGroups: true, maxGroups + 1: false} {
		if got := SoundGroups(slices.Repeat([]agents.GroupOffer{offer(1)}, n)); got != want {
			t.Errorf("%d groups: sound %t", n, got)
		}
	}
	steps := func(n int) (p grid.Profile) {
		for i := range n {
			p = append(p, grid.Step{At: grid.Time(i), Free: i % 2})
		}
		return p
	}
	for name, c := range map[string]struct {
		p    grid.Profile
		want bool
	}{
		"all free":          {grid.Profile{{At: 0, Free: 2}}, true},
		"more free":         {grid.Profile{{At: 0, Free: 3}}, false},
		"more free later":   {grid.Profile{{At: 0, Free: 1}, {At: 1, Free: 3}}, false},
		"overbooked":        {grid.Profile{{At: -5, Free: -3}, {At: grid.Never, Free: 2}}, true},
		"two at an instant": {grid.Profile{{At: 0, Free: 1}, {At: 0, Free: 2}}, false},
		"back in time":      {grid.Profile{{At: 1, Free: 1}, {At: 0, Free: 2}}, false},
		"after Never":       {grid.Profile{{At: grid.Never + 1, Free: 1}}, false},
		"no step":           {nil, false},
		"as many as can be": {steps(maxSteps), true},
		"one more":          {steps(maxSteps + 1), false},
	} {
		for _, clear := range []bool{false, true} {
			o := offer(2)
			if o.Admissible = c.p; clear {
				o.Admissible, o.Clear = o.Clear, c.p
			}
			if got := SoundGroups([]agents.GroupOffer{o}); got != c.want {
				t.Errorf("%s, clear %t: sound %t", name, clear, got)
			}
		}
	}
}

package planning

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// A job may ask for the least and the most of everything, and for no more: then it is told
// which number is out of bounds.
func TestUnsound_NamesTheNumberThatIsOutOfBounds(t *testing.T) {
	t.Parallel()
	sound := bourse.Job{Name: "a", Request: bourse.Request{Nodes: 1, Length: 1, MinPerformance: 1}}
	for name, c := range map[string]struct {
		set       func(*bourse.Job, int64)
		low, high int64
	}{
		"nodes":           {func(j *bourse.Job, x int64) { j.Nodes = int(x) }, 1, MaxNodes},
		"length":          {func(j *bourse.Job, x int64) { j.Length = bourse.Duration(x) }, 1, int64(bourse.MaxDuration)},
		"run":             {func(j *bourse.Job, x int64) { j.Run = bourse.Duration(x) }, 0, int64(bourse.MaxDuration)},
		"min_performance": {func(j *bourse.Job, x int64) { j.MinPerformance = bourse.Performance(x) }, 1, int64(bourse.MaxPerformance)},
		"max_price":       {func(j *bourse.Job, x int64) { j.MaxPrice = bourse.Price(x) }, 0, int64(bourse.MaxPrice)},
		"budget":          {func(j *bourse.Job, x int64) { j.Budget = bourse.Credits(x) }, 0, int64(bourse.MaxBudget)},
		"flexible":        {func(j *bourse.Job, x int64) { j.Flexible = bourse.Duration(x) }, 0, int64(bourse.MaxDuration)},
		"fix":             {func(j *bourse.Job, x int64) { j.Fix = int(x) }, 0, 1000},
		"alternatives":    {func(j *bourse.Job, x int64) { j.Phi = int(x) }, 0, 100_000},
	} {
		for x, want := range map[int64]bool{c.low - 1: false, c.low: true, c.high: true, c.high + 1: false} {
			j := sound
			c.set(&j, x)
			if why := Unsound(&j); why.Refused() == want || !want && (why.Code != bourse.Invalid || !strings.Contains(why.String(), name)) {
				t.Errorf("%s %d: %v", name, x, why)
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*bourse.Job)
		want   bool
	}{
		"no name":   {func(j *bourse.Job) { j.Name = "" }, false},
		"urgency":   {func(j *bourse.Job) { j.Urgency = bourse.Hourly(bourse.MaxUrgency) + 1 }, false},
		"":          {func(j *bourse.Job) { j.Urgency = bourse.Hourly(bourse.MaxUrgency) }, true},
		"ready":     {func(j *bourse.Job) { j.Ready = bourse.MaxTime + 1 }, false},
		" ":         {func(j *bourse.Job) { j.Ready = bourse.MaxTime }, true},
		"sizes":     {func(j *bourse.Job) { j.Sizes = []bourse.Size{{Nodes: MaxNodes + 1, Length: 1}} }, false},
		"size that": {func(j *bourse.Job) { j.Sizes = []bourse.Size{{Nodes: 2, Length: 1}} }, false},
		"  ":        {func(j *bourse.Job) { j.Sizes = []bourse.Size{{Nodes: 1, Length: 1}, {Nodes: MaxNodes, Length: 1}} }, true},
		"command":   {func(j *bourse.Job) { j.Work = &bourse.Work{} }, false},
	} {
		j := sound
		c.change(&j)
		if why := Unsound(&j); why.Refused() == c.want || !c.want && !strings.Contains(why.String(), name) {
			t.Errorf("%s: %v", name, why)
		}
	}
}

// What a site offers may be the least and the most of everything. Its profiles never have
// more nodes free than there are, and their steps are in order, at least one.
func TestSoundGroups_BoundsMayBeReached(t *testing.T) {
	t.Parallel()
	offer := func(nodes int) agents.GroupOffer {
		return agents.GroupOffer{Group: bourse.Group{Nodes: nodes, Performance: 1}, Admissible: bourse.NewProfile(0, min(nodes, 1)), Clear: bourse.NewProfile(0, min(nodes, 1))}
	}
	for name, c := range map[string]struct {
		set       func(*agents.GroupOffer, int64)
		low, high int64
	}{
		"padding":     {func(o *agents.GroupOffer, x int64) { o.Group.Padding = bourse.Duration(x) }, 0, int64(bourse.MaxPadding)},
		"longest":     {func(o *agents.GroupOffer, x int64) { o.Group.Longest = bourse.Duration(x) }, 0, int64(bourse.MaxDuration)},
		"performance": {func(o *agents.GroupOffer, x int64) { o.Group.Performance = bourse.Performance(x) }, 1, int64(bourse.MaxPerformance)},
		"price":       {func(o *agents.GroupOffer, x int64) { o.Group.Price = bourse.Price(x) }, 0, int64(bourse.MaxPrice)},
		"queued":      {func(o *agents.GroupOffer, x int64) { o.Queued = bourse.Duration(x) }, 0, int64(bourse.MaxDuration)},
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
	steps := func(n int) (p bourse.Profile) {
		for i := range n {
			p = append(p, bourse.Step{At: bourse.Time(i), Free: i % 2})
		}
		return p
	}
	for name, c := range map[string]struct {
		p    bourse.Profile
		want bool
	}{
		"all free":          {bourse.Profile{{At: 0, Free: 2}}, true},
		"more free":         {bourse.Profile{{At: 0, Free: 3}}, false},
		"more free later":   {bourse.Profile{{At: 0, Free: 1}, {At: 1, Free: 3}}, false},
		"overbooked":        {bourse.Profile{{At: -5, Free: -3}, {At: bourse.Never, Free: 2}}, true},
		"two at an instant": {bourse.Profile{{At: 0, Free: 1}, {At: 0, Free: 2}}, false},
		"back in time":      {bourse.Profile{{At: 1, Free: 1}, {At: 0, Free: 2}}, false},
		"after Never":       {bourse.Profile{{At: bourse.Never + 1, Free: 1}}, false},
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

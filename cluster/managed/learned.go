package managed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// What the forecasts have learned is kept at most each keepEvery, and where nothing was learned at most
// each keepIdle. After a restart within mostGap of the last time, nothing was missed.
const (
	keepEvery = 4 * grid.Minute
	keepIdle  = 30 * grid.Minute
)

// learned is what the forecasts have learned: of which queue, who was in it, and what each oracle
// knows.
type learned struct {
	Policy  string            `json:"policy"`
	Nodes   [][]string        `json:"nodes"` // by group
	At      int64             `json:"at"`    // of the last look, in milliseconds since 1970
	Last    int64             `json:"last"`
	Crowded bool              `json:"crowded,omitempty"` // that look showed jobs that are not followed
	Jobs    []learnedJob      `json:"jobs"`
	Oracles []json.RawMessage `json:"oracles"`
}

// learnedJob is a job that waited or ran.
type learnedJob struct {
	Number string `json:"number"`
	Submit int64  `json:"submit"`
	ID     int64  `json:"id"`
	Group  int    `json:"group,omitempty"`
	Runs   bool   `json:"runs,omitempty"`
}

// keep keeps what is learned, from time to time. The text is made beside this agent's steps, of a copy.
func (f *forecasts) keep(now grid.Time) {
	every := keepIdle
	if f.news {
		every = keepEvery
	}
	if f.cfg.Kept == nil || now < f.kept.Add(every) {
		return
	}
	f.kept, f.news = now, false
	all := &learned{Policy: f.cfg.Policy.String(), Nodes: f.cfg.Nodes, At: int64(f.at), Last: f.last, Crowded: f.crowded}
	for number, x := range f.jobs {
		all.Jobs = append(all.Jobs, learnedJob{number, int64(x.submit), x.id, x.group, x.runs})
	}
	var texts []func() []byte
	for _, o := range f.oracles {
		texts = append(texts, o.Save())
	}
	f.cfg.Kept.Keep(func() []byte { return all.text(texts) })
}

func (l *learned) text(oracles []func() []byte) []byte {
	slices.SortFunc(l.Jobs, func(a, b learnedJob) int { return cmp.Compare(a.Number, b.Number) })
	l.Oracles = nil
	for _, text := range oracles {
		l.Oracles = append(l.Oracles, text())
	}
	text, err := json.Marshal(l)
	if err != nil {
		panic("cluster/managed: " + err.Error()) // an oracle's words are JSON
	}
	return text
}

// recall goes on with what was kept, or says why it begins anew.
func (f *forecasts) recall() {
	text := f.cfg.Kept.Last()
	if text == nil {
		return
	}
	if err := f.load(text); err != nil {
		f.cfg.Kept.Spoilt(err)
		anew := *f.cfg
		anew.Kept = nil
		cfg, by := f.cfg, f.by
		*f = newForecasts(&anew, by)
		f.cfg = cfg
	}
}

func (f *forecasts) load(text []byte) error {
	var all learned
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	switch of := f.cfg.Policy.String(); {
	case all.Policy != of:
		return fmt.Errorf("it was learned of a queue that is served by %s, and this one is by %s", all.Policy, of)
	case !slices.EqualFunc(all.Nodes, f.cfg.Nodes, slices.Equal[[]string]):
		return fmt.Errorf("it was learned of other nodes")
	case len(all.Oracles) != len(f.oracles):
		return fmt.Errorf("it is of %d groups, and there are %d", len(all.Oracles), len(f.oracles))
	}
	if len(all.Jobs) > mostFollowed {
		return fmt.Errorf("it has %d jobs, and at most %d are followed", len(all.Jobs), mostFollowed)
	}
	ids := map[int64]bool{}
	for _, x := range all.Jobs {
		if x.Group < 0 || x.Group >= len(f.oracles) || x.ID < 1 || x.ID > all.Last || x.Number == "" || ids[x.ID] || f.jobs[x.Number] != nil {
			return fmt.Errorf("job %q makes no sense", x.Number)
		}
		ids[x.ID] = true
		f.jobs[x.Number] = &followed{id: x.ID, submit: grid.Time(x.Submit), group: x.Group, runs: x.Runs}
	}
	for i, o := range f.oracles {
		if err := o.Load(all.Oracles[i]); err != nil {
			return fmt.Errorf("of group %s: %w", f.cfg.Groups[i].Name, err)
		}
	}
	f.at, f.last, f.looks, f.crowded = grid.Time(all.At), all.Last, 1, all.Crowded
	return nil
}

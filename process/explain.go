package process

import (
	"context"
	"errors"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history/explain"
	"github.com/bourse-grid/bourse/web"
)

// explainer explains a job from the records of its broker's journal since its
// submission. The journal may grow meanwhile.
func explainer(folder string) web.Explain {
	return func(ctx context.Context, job string, since grid.Time) (string, any, error) {
		disk, err := journal.LookInto(folder)
		if err != nil {
			return "", nil, err
		}
		defer func() { _ = disk.Close() }()
		var broken error
		enough := errors.New("enough")
		facts := func(yield func(grid.Time, agents.Fact) bool) {
			broken = journal.Find(disk, journal.NewCodec(), since, explain.NewSieve(job), ctx.Err, func(r journal.Record) error {
				if !yield(r.At, r.Fact) {
					return enough
				}
				return nil
			})
		}
		e, err := explain.Explain(facts, job, explain.Options{Stop: func() bool { return ctx.Err() != nil }})
		switch {
		case ctx.Err() != nil:
			return "", nil, ctx.Err()
		case broken != nil && !errors.Is(broken, enough):
			return "", nil, broken
		case err != nil:
			return "", nil, err
		}
		e.Show(TimeOfDay)
		return e.Text(TimeOfDay), e, nil
	}
}

// TimeOfDay shows an instant of a live process in UTC, because the reader may be in
// another time zone.
func TimeOfDay(t grid.Time) string {
	if t >= grid.Never {
		return "never"
	}
	return time.UnixMilli(int64(t)).UTC().Format("Jan 2 15:04:05Z")
}

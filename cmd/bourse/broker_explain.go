package main

import (
	"context"
	"errors"
	"iter"
	"time"

	"bourse"
	"bourse/agents"
	"bourse/agents/journal"
	"bourse/history/explain"
	"bourse/web"
)

// explainer answers why a job stands where it stands, from the journal of its
// broker, which may grow meanwhile. It reads all of it, so one question is
// answered at a time.
func explainer(folder string) func(ctx context.Context, job string) (string, any, error) {
	turn := make(chan struct{}, 1)
	return func(ctx context.Context, job string) (string, any, error) {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return "", nil, ctx.Err()
		}
		var broken error
		e, err := explain.Explain(journalFacts(ctx, folder, &broken), job, explain.Options{})
		if broken != nil {
			return "", nil, broken
		}
		if err != nil {
			return "", nil, err
		}
		return web.Dated(e.Text(timeOfDay), timeOfDay), e, nil
	}
}

// journalFacts yields the facts of a journal in order, until ctx ends. What goes
// wrong is left where broken points.
func journalFacts(ctx context.Context, folder string, broken *error) iter.Seq2[bourse.Time, agents.Fact] {
	return func(yield func(bourse.Time, agents.Fact) bool) {
		disk, err := journal.LookInto(folder)
		if err != nil {
			*broken = err
			return
		}
		defer func() { _ = disk.Close() }()
		enough := errors.New("enough")
		_, err = journal.Read(disk, journal.NewCodec(), func(r journal.Record) error {
			if !yield(r.At, r.Fact) {
				return enough
			}
			return ctx.Err()
		})
		if err != nil && !errors.Is(err, enough) {
			*broken = err
		}
	}
}

// timeOfDay shows an instant of a live process, in UTC: who reads it may be
// elsewhere.
func timeOfDay(t bourse.Time) string {
	if t >= bourse.Never {
		return "never"
	}
	return time.UnixMilli(int64(t)).UTC().Format("Jan 2 15:04:05Z")
}

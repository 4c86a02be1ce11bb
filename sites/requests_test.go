package sites

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// A line of requests that is never empty keeps what waits, at most twice over, not
// all that it has ever held; and serves in order.
func TestRequests_ALineThatIsNeverEmptyKeepsWhatWaits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q requests
		in, out, most := uint64(0), uint64(0), 1
		put := func() {
			in++
			q.line = append(q.line, request{m: agents.OfferRequest{Cycle: in}})
			most = max(most, q.waiting())
		}
		put()
		for range rapid.IntRange(100, 2000).Draw(t, "steps") {
			if rapid.IntRange(0, 9).Draw(t, "one more") < 5 && q.waiting() < 50 {
				put()
			}
			if q.waiting() > 1 {
				out++
				if got := q.first().m.(agents.OfferRequest).Cycle; got != out {
					t.Fatalf("%d is served, not %d", got, out)
				}
				q.done()
			}
			if len(q.line) > 2*q.waiting()+1 || cap(q.line) > 8*most+8 {
				t.Fatalf("%d wait, at most %d have; %d places are kept, of %d", q.waiting(), most, len(q.line), cap(q.line))
			}
		}
	})
}

// Only the answer to the question that the site has asked counts, once, and only if it
// follows what the site has seen.
func TestRequests_OnlyTheAnswerThatIsWaitedForCounts(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	s, out := New(cfg), &agents.Outbox{}
	s.Step(0, "broker:vo1", agents.OfferRequest{Cycle: 1, Horizon: 100_000}, out)
	var ref uint64
	for _, x := range out.Sends {
		if m, is := x.Message.(agents.SnapshotRequest); is {
			ref = m.Ref
		}
	}
	whole := func(ref uint64) agents.Snapshot {
		return agents.Snapshot{Ref: ref, Version: 1, States: []backfill.State{{Nodes: 4, Policy: backfill.EASY, Free: grid.NewProfile(0, 4)}}}
	}
	for _, c := range []struct {
		name string
		m    agents.Snapshot
		want int
	}{
		{"another's answer", whole(ref + 1), 0},
		{"changes of what it has not seen", agents.Snapshot{Ref: ref, Version: 8, Since: 7, Changes: []backfill.Delta{{}}}, 0},
		{"the answer", whole(ref), 1},
		{"the answer again", whole(ref), 0},
	} {
		out := &agents.Outbox{}
		s.Step(0, cfg.Cluster, c.m, out)
		told := 0
		for _, x := range out.Sends {
			if m, is := x.Message.(agents.Offers); is && !m.Refusal.Refused() && len(m.Groups) == 1 {
				told++
			}
		}
		if told != c.want {
			t.Errorf("%s: %d answers to the broker, want %d", c.name, told, c.want)
		}
	}
}

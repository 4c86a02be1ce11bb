package sites

import (
	"testing"

	"pgregory.net/rapid"

	"bourse"
	"bourse/agents"
	"bourse/policy/backfill"
)

// A line of requests that is never empty keeps what waits, at most twice over, not
// all that it has ever held; and serves in order.
func TestDesk_ALineThatIsNeverEmptyKeepsWhatWaits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var d desk
		in, out, most := uint64(0), uint64(0), 1
		put := func() {
			in++
			d.line = append(d.line, task{m: agents.OfferRequest{Cycle: in}})
			most = max(most, d.waiting())
		}
		put()
		for range rapid.IntRange(100, 2000).Draw(t, "steps") {
			if rapid.IntRange(0, 9).Draw(t, "one more") < 5 && d.waiting() < 50 {
				put()
			}
			if d.waiting() > 1 {
				out++
				if got := d.first().m.(agents.OfferRequest).Cycle; got != out {
					t.Fatalf("%d is served, not %d", got, out)
				}
				d.done()
			}
			if len(d.line) > 2*d.waiting()+1 || cap(d.line) > 8*most+8 {
				t.Fatalf("%d wait, at most %d have; %d places are kept, of %d", d.waiting(), most, len(d.line), cap(d.line))
			}
		}
	})
}

// A cluster that locks nodes for the far future and releases them again does not
// keep every turn of them until then.
func TestCluster_ForgetsTheTurnsOfReleasedLocks(t *testing.T) {
	t.Parallel()
	now := bourse.Time(1_000_000)
	l := newLives(durableConfig(backfill.EASY, false, func(int, bourse.Time, bourse.Time) func() (bourse.LocalJob, bool) { return Jobs(nil) }), now)
	for i := range uint64(1000) {
		far := now.Add(bourse.Day)
		l.step(now, agents.ClusterHold{Leg: testLeg(i), What: bourse.Leg{Group: "main", Nodes: 4, Start: far, End: far.Add(bourse.Hour)}})
		l.step(now, agents.ClusterConfirm{Leg: testLeg(i)})
		l.step(now, agents.ClusterRelease{Leg: testLeg(i)})
	}
	if n := len(l.cluster.agenda.ends) + len(l.cluster.agenda.starts); n > 100 {
		t.Errorf("%d turns are kept of %d locks", n, len(l.cluster.locks))
	}
}

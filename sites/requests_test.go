package sites

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
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

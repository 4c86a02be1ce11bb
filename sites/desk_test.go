package sites

import (
	"testing"

	"pgregory.net/rapid"

	"bourse/agents"
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

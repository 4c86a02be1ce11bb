package broker

import (
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// The parts of an image hold together, in order, what the whole image holds, each at most
// a thousand jobs and transactions. A new broker that replays them has the same state.
func TestImage_InPartsIsTheSame(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 500, 501, 1300} {
		b := reserved(3, n)
		var sum facts.BrokerImage
		again := New(b.mem.cfg)
		for i := range b.Parts() {
			f := b.Part(i).(facts.BrokerImage)
			if len(f.Jobs)+len(f.Txs) > jobs.MaxPart || b.Parts() > 1 && (f.Part != i || f.Parts != b.Parts()) {
				t.Errorf("%d jobs: part %d of %d is number %d of %d, with %d jobs and %d transactions", n, i, b.Parts(), f.Part, f.Parts, len(f.Jobs), len(f.Txs))
			}
			again.Replay(0, f)
			if i == 0 {
				sum = f
				sum.Part, sum.Parts = 0, 0
				continue
			}
			if len(sum.Txs) > 0 && len(f.Jobs) > 0 || f.Lives != nil || f.Accounts != nil || f.Seq > 0 {
				t.Errorf("%d jobs: part %d has what belongs before it", n, i)
			}
			sum.Jobs, sum.Txs = append(sum.Jobs, f.Jobs...), append(sum.Txs, f.Txs...)
		}
		if want := (2*n + jobs.MaxPart - 1) / jobs.MaxPart; b.Parts() != max(want, 1) {
			t.Errorf("%d jobs: %d parts, want %d", n, b.Parts(), max(want, 1))
		}
		if !reflect.DeepEqual(sum, b.Image()) {
			t.Errorf("%d jobs: the parts are not the image", n)
		}
		if !reflect.DeepEqual(again.Image(), b.Image()) || again.mem.Loading() {
			t.Errorf("%d jobs: a broker that has replayed the parts is another one", n)
		}
	}
}

// That a site has left, and when, is in an image: no job is given up for good on
// that hint by the next life either (row B65).
func TestImage_HoldsWhoHasLeft(t *testing.T) {
	t.Parallel()
	b := New(testConfig())
	b.Replay(0, facts.SiteJoined{Site: "north"})
	b.Replay(0, facts.SiteJoined{Site: "south"})
	b.Replay(500*sec, facts.SiteLeft{Site: "south"})
	again := New(b.mem.cfg)
	again.Replay(600*sec, b.Image())
	for _, x := range []*Broker{b, again} {
		x.scheduler.listSites(x.mem.Peers.Usable(nil))
		for at, want := range map[grid.Time]bool{600 * sec: true, 500*sec + grid.Time(b.mem.cfg.Horizon): false} {
			if x.mem.Now = at; x.scheduler.someAway() != want {
				t.Errorf("at %v a site is away: %t, want %t", at, !want, want)
			}
		}
	}
}

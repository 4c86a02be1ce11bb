package broker

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// The parts of an image hold together, in order, what the whole image holds, each at most
// a thousand jobs and transactions. A new broker that replays them has the same state.
func TestImage_InPartsIsTheSame(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{0, 1, 500, 501, 1300} {
		b := reserved(3, jobs)
		var sum facts.BrokerImage
		again := New(b.cfg)
		for i := range b.Parts() {
			f := b.Part(i).(facts.BrokerImage)
			if len(f.Jobs)+len(f.Txs) > maxPart || b.Parts() > 1 && (f.Part != i || f.Parts != b.Parts()) {
				t.Errorf("%d jobs: part %d of %d is number %d of %d, with %d jobs and %d transactions", jobs, i, b.Parts(), f.Part, f.Parts, len(f.Jobs), len(f.Txs))
			}
			again.Replay(0, f)
			if i == 0 {
				sum = f
				sum.Part, sum.Parts = 0, 0
				continue
			}
			if len(sum.Txs) > 0 && len(f.Jobs) > 0 || f.Lives != nil || f.Accounts != nil || f.Seq > 0 {
				t.Errorf("%d jobs: part %d has what belongs before it", jobs, i)
			}
			sum.Jobs, sum.Txs = append(sum.Jobs, f.Jobs...), append(sum.Txs, f.Txs...)
		}
		if want := (2*jobs + maxPart - 1) / maxPart; b.Parts() != max(want, 1) {
			t.Errorf("%d jobs: %d parts, want %d", jobs, b.Parts(), max(want, 1))
		}
		if !reflect.DeepEqual(sum, b.Image()) {
			t.Errorf("%d jobs: the parts are not the image", jobs)
		}
		if !reflect.DeepEqual(again.Image(), b.Image()) || again.lasts != nil {
			t.Errorf("%d jobs: a broker that has replayed the parts is another one", jobs)
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
	again := New(b.cfg)
	again.Replay(600*sec, b.Image())
	for _, x := range []*Broker{b, again} {
		x.scheduler.listSites(x.peers.usable(nil))
		for at, want := range map[grid.Time]bool{600 * sec: true, 500*sec + grid.Time(b.cfg.Horizon): false} {
			x.peers.get("site:north").listed = true
			if x.now = at; x.scheduler.someAway() != want {
				t.Errorf("at %v a site is away: %t, want %t", at, !want, want)
			}
		}
	}
}

// An image of an earlier build keeps legs that a move has long replaced: those whose place
// none takes, or whose replacement was lost. They are given up once it is read; what a move
// is still to take the place of is kept.
func TestImage_OfAnEarlierBuildGivesUpWhatAMoveHasReplaced(t *testing.T) {
	t.Parallel()
	id := func(seq uint64) grid.TxID { return grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: seq} }
	kept := facts.LegRecord{State: grid.Confirmed, Priced: true, Charged: true, Closed: true, Moved: true, Version: 1}
	new := kept
	new.Moved = false
	back, lost, asked := kept, facts.LegRecord{State: grid.Lost, Priced: true, Closed: true}, facts.LegRecord{State: grid.Held, Priced: true}
	back.State = grid.Released
	window := func(seq uint64, replaces []grid.LegID, legs ...facts.LegRecord) facts.TxMemory {
		m := facts.TxMemory{State: grid.TxCommitted, Memory: legs}
		m.TxBegun = facts.TxBegun{Tx: id(seq), Job: "wave", Alternative: 1, Replaces: replaces}
		if replaces != nil {
			m.TxBegun.Request = grid.Request{Nodes: 8}
		}
		for i := range legs {
			m.Sites, m.Limits = append(m.Sites, []string{"north", "south", "west"}[i]), append(m.Limits, grid.Credit)
			m.Legs = append(m.Legs, grid.Leg{Group: "main", Nodes: 4, Start: 100 * sec, End: 200 * sec})
		}
		return m
	}
	moved := func(m facts.TxMemory) facts.TxMemory { m.Detached, m.GivenUp = true, grid.GivenUpByUser; return m }
	first := []grid.LegID{{Tx: id(1)}, {Tx: id(1), Leg: 1}}
	for name, c := range map[string]struct {
		txs  []facts.TxMemory
		want string // of the first two windows, leg by leg: kept, given up, in full
	}{
		"what none replaces":               {[]facts.TxMemory{moved(window(1, nil, back, kept)), window(2, first[:1], new)}, "over up | kept"},
		"a replacement that was lost":      {[]facts.TxMemory{moved(window(1, nil, back, kept)), window(2, first, new, lost)}, "over full | kept over"},
		"all were":                         {[]facts.TxMemory{moved(window(1, nil, kept, kept, kept)), window(2, first, lost, lost)}, "full full full | over over"},
		"under way":                        {[]facts.TxMemory{moved(window(1, nil, kept, kept, kept)), window(2, first, asked, asked)}, "kept kept kept | kept kept"},
		"one confirmed, one under way":     {[]facts.TxMemory{moved(window(1, nil, back, kept, kept)), window(2, first, new, asked)}, "over kept up | kept kept"},
		"and the next one is under way":    {[]facts.TxMemory{moved(window(1, nil, back, kept)), moved(window(2, first[:1], kept)), window(3, []grid.LegID{{Tx: id(2)}}, asked)}, "over up | kept"},
		"and the next one has replaced it": {[]facts.TxMemory{moved(window(1, nil, back, kept)), moved(window(2, first[:1], kept)), window(3, []grid.LegID{{}}, new)}, "over up | up"},
	} {
		b := New(testConfig())
		b.Replay(0, facts.BrokerImage{Seq: 3, Lives: []facts.BrokerLife{{LifeBegun: facts.LifeBegun{Incarnation: 1, Nonce: 1}, High: 3}}, Txs: c.txs,
			Jobs: []facts.JobMemory{{Job: grid.Job{Name: "wave", User: "ana", Request: grid.Request{Nodes: 8}}, State: grid.JobPlaced}}})
		var got []string
		for _, x := range b.txs.all()[:2] {
			var legs []string
			for i := range x.legs {
				l, word := &x.legs[i], "kept"
				switch {
				case l.state.Terminal():
					word = "over"
				case x.releases(l) && l.inFull:
					word = "full"
				case x.releases(l):
					word = "up"
				}
				legs = append(legs, word)
			}
			got = append(got, strings.Join(legs, " "))
		}
		if got := strings.Join(got, " | "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

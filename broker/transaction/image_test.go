package transaction

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

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
			m.Legs = append(m.Legs, grid.Leg{Group: "main", Nodes: 4, Start: 100_000, End: 200_000})
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
		k := newKeeper(100*grid.Credit, "wave")
		k.state.Load(0, &facts.BrokerImage{Seq: 3})
		for _, m := range c.txs {
			k.state.LoadTx(0, m)
		}
		k.state.ReplaceAll()
		var got []string
		for _, x := range k.state.List().All()[:2] {
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

package transaction

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A job on two groups of a site moves to one of them, or to both in another order: a new
// leg takes the place of that of its own group, which the site then does not count beside
// it (max_share is of a group).
func TestWindow_ALegTakesThePlaceOfThatOfItsGroup(t *testing.T) {
	t.Parallel()
	old := &Tx{few: &none, id: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}, sites: []string{"yacht", "yacht", "barge"}, legs: []Leg{
		{what: grid.Leg{Group: "fat"}, state: grid.Confirmed, oddities: &noOddities},
		{what: grid.Leg{Group: "thin"}, state: grid.Confirmed, oddities: &noOddities, version: 3},
		{what: grid.Leg{Group: "main"}, state: grid.Confirmed, oddities: &noOddities}}}
	j := &Job{txs: []*Tx{old}}
	for name, c := range map[string]struct {
		sites, groups []string
		want          []int // legs of old; -1: none
	}{
		"to one of the two":     {[]string{"yacht"}, []string{"thin"}, []int{1}},
		"in another order":      {[]string{"yacht", "yacht"}, []string{"thin", "fat"}, []int{1, 0}},
		"to a third group":      {[]string{"yacht", "yacht"}, []string{"wide", "fat"}, []int{1, 0}},
		"to more than it had":   {[]string{"yacht", "yacht", "yacht"}, []string{"fat", "thin", "wide"}, []int{0, 1, -1}},
		"to another site, main": {[]string{"barge", "island"}, []string{"wide", "main"}, []int{2, -1}},
	} {
		legs := make([]grid.Leg, len(c.groups))
		for i := range legs {
			legs[i].Group = c.groups[i]
		}
		ids, versions := j.Replaced(c.sites, legs)
		for i, want := range c.want {
			id, version := grid.LegID{}, uint32(0)
			if want >= 0 {
				id, version = old.LegID(want), max(old.legs[want].version, 1)
			}
			if ids[i] != id || versions[i] != version {
				t.Errorf("%s: leg %d replaces %v at version %d, want %v at %d", name, i, ids[i], versions[i], id, version)
			}
		}
	}
}

// What has run in a window that is lost can still be read while other windows are tried.
func TestShown_TheLastWindowOutlivesATry(t *testing.T) {
	t.Parallel()
	j, x := &Job{}, &List{}
	try := func(of *Job, s grid.TxState) *Tx {
		t := &Tx{few: &none, id: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: x.next()}, job: of, state: s, sites: []string{"north"}, legs: make([]Leg, 1)}
		x.begin(t)
		return t
	}
	first := try(j, grid.TxCommitted)
	try(&Job{}, grid.TxCommitted)
	for _, s := range []grid.TxState{grid.TxAborted, grid.TxHolding} {
		try(j, s)
		if got, leg := x.Shown(j, 0); got != first || leg != 0 {
			t.Errorf("after a try that is %v leg %d of %+v is shown", s, leg, got)
		}
	}
	if got, _ := x.Shown(j, 1); got != nil {
		t.Error("a leg is shown that it never had")
	}
	none := &Job{}
	try(none, grid.TxAborted)
	if got, _ := x.Shown(none, 0); got != nil {
		t.Errorf("of a job without a window %+v is shown", got)
	}
}

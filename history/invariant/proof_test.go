package invariant

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A leg that a site restores must stand on an answer of its own that its journal has
// lost (I16). What an older build has restored, which proved nothing, is let stand.
func TestAudit_ARestoredLegStandsOnALostAnswer(t *testing.T) {
	t.Parallel()
	key, other := agents.DerivedKey(1, "north"), agents.DerivedKey(2, "north")
	restored := func(s grid.LegState, by agents.Key, at agents.Stamp, change func(*facts.LegMoved)) step {
		was := moved(one, 0, s)
		was.Version = 1
		f := facts.LegRestored{Was: was, Proof: by.Prove(&agents.ListedLeg{Leg: was.Leg, What: was.What, State: s, Fare: was.Fare, Version: 1}, at)}
		if change != nil {
			change(&f.Was)
		}
		return step{north, 8, f}
	}
	lost := agents.Stamp{Epoch: 50, Seq: 9}
	begins := step{north, 1, facts.SiteBegun{Epoch: 100}}
	again := step{north, 5, facts.SiteBegun{Epoch: 200}}
	for name, c := range map[string]struct {
		word  string // of the finding; "": there is none
		first uint64
		steps []step
	}{
		"an answer that is lost":             {"", 1, []step{begins, restored(grid.Confirmed, key, lost, nil)}},
		"a lost answer of a known life":      {"", 1, []step{begins, again, restored(grid.Confirmed, key, agents.Stamp{Epoch: 100, Seq: 2}, nil)}},
		"of an older build":                  {"", 1, []step{restored(grid.Confirmed, nil, lost, nil)}},
		"given up":                           {"", 1, []step{begins, restored(grid.Cancelled, nil, lost, nil)}},
		"no answer":                          {"no answer of the site", 1, []step{begins, restored(grid.Confirmed, nil, lost, nil)}},
		"an answer of the present life":      {"had forgotten nothing", 1, []step{begins, restored(grid.Confirmed, key, agents.Stamp{Epoch: 100, Seq: 1}, nil)}},
		"an answer of an earlier life":       {"had forgotten nothing", 1, []step{begins, again, restored(grid.Confirmed, key, agents.Stamp{Epoch: 100, Seq: 1}, nil)}},
		"an answer before all lives known":   {"had forgotten nothing", 20, []step{{north, 1, facts.SiteImage{Epochs: []facts.SiteEpoch{{Epoch: 100, From: 15}}}}, restored(grid.Confirmed, key, lost, nil)}},
		"an answer after the image's lives":  {"", 20, []step{{north, 1, facts.SiteImage{Epochs: []facts.SiteEpoch{{Epoch: 100, From: 15}}}}, restored(grid.Confirmed, key, agents.Stamp{Epoch: 50, Seq: 16}, nil)}},
		"held only":                          {"no more than that it was held", 1, []step{begins, restored(grid.Held, key, lost, func(m *facts.LegMoved) { m.State = grid.Confirmed })}},
		"held, and it has run":               {"", 1, []step{begins, restored(grid.Held, key, lost, func(m *facts.LegMoved) { m.State = grid.Settled })}},
		"another's key":                      {"not made with the site's key", 1, []step{begins, restored(grid.Confirmed, other, lost, nil)}},
		"more nodes than were answered":      {"not made with the site's key", 1, []step{begins, restored(grid.Confirmed, key, lost, func(m *facts.LegMoved) { m.What.Nodes++ })}},
		"a debt, even by an older build":     {"cost", 1, []step{restored(grid.Released, nil, lost, func(m *facts.LegMoved) { m.Refund = 5 * grid.Credit })}},
		"less than nothing, by any build":    {"cost", 1, []step{restored(grid.Confirmed, nil, lost, func(m *facts.LegMoved) { m.Fare.Base = -5 })}},
		"a life of the image and a new one":  {"had forgotten nothing", 20, []step{{north, 1, facts.SiteImage{Epochs: []facts.SiteEpoch{{Epoch: 100, From: 15}}}}, again, restored(grid.Confirmed, key, agents.Stamp{Epoch: 100, Seq: 19}, nil)}},
		"beyond where the image's life ends": {"", 20, []step{{north, 1, facts.SiteImage{Epochs: []facts.SiteEpoch{{Epoch: 100, From: 15}}}}, again, restored(grid.Confirmed, key, agents.Stamp{Epoch: 100, Seq: 20}, nil)}},
	} {
		a := New(nil)
		a.Know("north", key)
		number := c.first - 1
		for _, s := range c.steps {
			if _, image := s.fact.(facts.SiteImage); !image {
				number++
			}
			a.Trail(s.agent).Take(Place{File: "00000001.journal", Number: number}, s.at*1000, s.fact)
		}
		found := false
		for _, f := range a.Found() {
			found = found || f.Invariant == "I16" && c.word != "" && strings.Contains(f.What, c.word)
			if c.word == "" && f.Invariant == "I16" {
				t.Errorf("%s: %s", name, f.What)
			}
		}
		if c.word != "" && !found {
			t.Errorf("%s: found %+v, want I16 with %q", name, a.Found(), c.word)
		}
	}
}

// A site that was put back from an older copy of its journal has lost what it held since.
// A loss that its answers prove is no broken agreement: it is exempt, and one note says so. What
// they do not prove still breaks it, and so does what the present life has answered.
func TestAudit_WhatAnOlderCopyHasLostIsExemptByProof(t *testing.T) {
	t.Parallel()
	proof := func(epoch, seq uint64) facts.LegProved {
		return facts.LegProved{Leg: leg(two, 0), Proof: grid.Proof{State: grid.Confirmed, Epoch: epoch, Seq: seq, MAC: [grid.ProofMAC]byte{1}}}
	}
	for name, c := range map[string]struct {
		proof  []step
		broken bool
	}{
		"no proof":                      {nil, true},
		"of facts that the copy lacks":  {[]step{{vo1, 5, proof(100, 9)}}, false},
		"of a life that the copy lacks": {[]step{{vo1, 5, proof(150, 9)}}, false},
		"of facts that the journal has": {[]step{{vo1, 5, proof(100, 1)}}, true},
		"of the life that goes on":      {[]step{{vo1, 5, proof(200, 9)}}, true},
	} {
		steps := append([]step{{north, 1, facts.SiteBegun{Epoch: 100}}, {vo1, 2, facts.LifeBegun{Incarnation: 1, Nonce: 7}}, {vo1, 2, begun(two, "north")}, {vo1, 3, priced(two, 0)}, {vo1, 4, decision(two, true)}, {vo1, 4, closed(two, 0)}}, c.proof...)
		steps = append(steps, step{vo1, 200, facts.LegDone{Leg: leg(two, 0), State: grid.Settled, End: 200_000}}, step{north, 260, facts.SiteBegun{Epoch: 200}})
		a, number := New(nil), map[agents.ID]uint64{}
		for _, s := range steps {
			number[s.agent]++
			a.Trail(s.agent).Take(Place{File: "00000001.journal", Number: number[s.agent]}, s.at*1000, s.fact)
		}
		found, _, counts := a.Finish()
		broken, notes := 0, 0
		for _, f := range found {
			if f.Note {
				notes++
			} else if strings.Contains(f.What, "never held") {
				broken++
			} else {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if want := map[bool][3]int{true: {1, 0, 0}, false: {0, 1, 1}}[c.broken]; want != [3]int{broken, notes, counts.Exempt} {
			t.Errorf("%s: %d broken, %d notes, %d exempt, want %v: %v", name, broken, notes, counts.Exempt, want, found)
		}
	}
}

// Thousands of equal notes are one, with their number: they hide nothing else, and what is
// broken is never folded.
func TestAudit_EqualNotesAreOne(t *testing.T) {
	t.Parallel()
	a := New(nil)
	a.Trail(vo1).Take(Place{Number: 1}, 0, facts.LifeBegun{Incarnation: 1, Nonce: 7})
	for i := range 3 * maxFindings {
		tx := one
		tx.Seq = uint64(i + 1)
		a.Trail(north).Take(Place{Number: uint64(i + 1)}, 0, moved(tx, 0, grid.Refused))
	}
	charged := two
	charged.Seq = 1_000_000
	for i, s := range []grid.LegState{grid.Held, grid.Confirmed} {
		a.Trail(north).Take(Place{Number: uint64(3*maxFindings + 1 + i)}, 0, moved(charged, 0, s))
	}
	found, more, _ := a.Finish()
	if len(found) != 2 || more != 0 {
		t.Fatalf("%d findings and %d more, want 2: %+v", len(found), more, found[:min(3, len(found))])
	}
	if !found[0].Note || found[0].Alike != 3*maxFindings-1 || found[1].Note || found[1].Alike != 0 {
		t.Errorf("%+v", found)
	}
}

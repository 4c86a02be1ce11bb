package managed

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/forecast"
)

// shelf keeps what was learned, in memory.
type shelf struct {
	text []byte
	why  error
}

func (s *shelf) Last() []byte     { return s.text }
func (s *shelf) Keep(text []byte) { s.text = text }
func (s *shelf) Spoilt(why error) { s.text, s.why = nil, why }

// learning is the configuration of a cluster whose forecasts are kept.
func learning(s *shelf) Config {
	cfg := config(true, nodeNames...)
	cfg.Kept = s
	cfg.Oracle = func(string) Oracle {
		return forecast.NewOracle(func(stream uint64) forecast.Random { return rand.New(rand.NewPCG(1, stream)) })
	}
	return cfg
}

// A site that restarts goes on where it was: it says what it would have said, and is calibrated.
func TestRecall_ARestartedSiteHasForgottenNothing(t *testing.T) {
	t.Parallel()
	shown, _ := queueOfAna()
	ask := []grid.Queueing{{Group: "main", Nodes: 4, Limit: h}}
	run := func(again int) (grid.BestEffort, []byte) {
		s := &shelf{}
		b := New(learning(s))
		for k := 0; k < 2*anaJobs-1; k++ { // each second look is kept
			at := 1000 + grid.Duration(k)*30_000
			b.shows(dawn.Add(at), shown(at)...)
			if again > 0 && k%again == 0 {
				b = New(learning(s))
				b.shows(dawn.Add(at), shown(at)...)
			}
		}
		if s.why != nil {
			t.Error(s.why)
		}
		return b.BestEffort(ask)[0], s.text
	}
	want, learned := run(0)
	if !want.Calibrated {
		t.Fatalf("%+v", want)
	}
	if got, has := run(20); got != want || !bytes.Equal(has, learned) {
		t.Errorf("after restarts it is %+v, must be %+v", got, want)
	}
}

// Of what happened while nobody looked for long, neither how long jobs ran nor when others came is
// known; that one waits no more is.
func TestRecall_WhatHappenedInALongGapIsNotLearned(t *testing.T) {
	t.Parallel()
	o := &teller{users: map[int64]string{}}
	cfg := config(true, nodeNames...)
	cfg.Oracle = func(string) Oracle { return o }
	b := New(cfg)
	ana, ben, cem := runsFrom(waitsFor("7", "ana", 0), 0), waitsFor("8", "ben", 1000), waitsFor("9", "cem", 60_000)
	b.shows(dawn.Add(2000), ana, ben)
	b.shows(dawn.Add(2000+mostGap+1), cem)
	if want := []string{"ana is there", "ana starts 0", "ben is there", "cem is there", "ana leaves", "ben leaves"}; !slices.Equal(o.told, want) {
		t.Errorf("told %q, want %q", o.told, want)
	}
}

// What was learned of another queue, or is damaged, is said to be of no use, and the forecasts begin
// anew.
func TestRecall_WhatIsOfNoUseIsSaid(t *testing.T) {
	t.Parallel()
	shown, _ := queueOfAna()
	s := &shelf{}
	b := New(learning(s))
	for at := grid.Duration(1000); at < 1_000_000; at += 30_000 {
		b.shows(dawn.Add(at), shown(at)...)
	}
	good := string(s.text)
	for what, c := range map[string]struct {
		from, to string
		change   func(*Config)
		says     string
	}{
		"the same":        {"", "", func(*Config) {}, ""},
		"half of it":      {good[len(good)/2:], "", func(*Config) {}, "JSON"},
		"another policy":  {"", "", func(c *Config) { c.Policy = backfill.FCFS }, "served by easy, and this one is by fcfs"},
		"other nodes":     {`"` + nodeNames[0] + `"`, `"x1"`, func(*Config) {}, "other nodes"},
		"a job of nobody": {`"number":"`, `"number":"","x":"`, func(*Config) {}, "makes no sense"},
		"no oracle":       {`"oracles":[`, `"oracles":[],"x":[`, func(*Config) {}, "0 groups"},
		"a wrong oracle":  {`"said":`, `"said":0,"x":`, func(*Config) {}, "of group main: score"},
	} {
		s := &shelf{text: []byte(strings.Replace(good, c.from, c.to, 1))}
		cfg := learning(s)
		c.change(&cfg)
		b := New(cfg)
		if c.says == "" {
			if s.why != nil || b.forecasts.looks == 0 {
				t.Errorf("%s: %v", what, s.why)
			}
			continue
		}
		if s.why == nil || !strings.Contains(s.why.Error(), c.says) {
			t.Errorf("%s: %v, must be %s", what, s.why, c.says)
		}
		if b.forecasts.looks > 0 || len(b.forecasts.jobs) > 0 || b.forecasts.last > 0 || b.forecasts.cfg != &b.cfg {
			t.Errorf("%s: it does not begin anew", what)
		}
		b.shows(dawn, shown(1000)...)
	}
}

package sla

import (
	"encoding/json"
	"strings"
	"testing"
)

// held is an image of one job that runs and one that waits.
func held(t testing.TB) (Options, Image) {
	opt := options(EDF)
	s := newSchedule(t, opt)
	accept(t, s, rigid(s, 1, 0, 20, 4))
	accept(t, s, flexible(s, 2, 10, 4, 5, 100))
	s.Advance(at(10))
	return opt, s.Image()
}

func TestImage_WhatNoScheduleCouldHoldIsAnError(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(m *Image){
		"SLA 2 is there twice":                  func(m *Image) { m.Jobs = append(m.Jobs, m.Jobs[1]) },
		"5 nodes are promised, the group has 4": func(m *Image) { m.Jobs[1].Size.Nodes = 5 },
		"estimate 0":                            func(m *Image) { m.Jobs[1].Size.Runtime = 0 },
		"running is true at 10":                 func(m *Image) { m.Jobs[1].Running = true },
		"running is false at 10":                func(m *Image) { m.Jobs[0].Running = false },
		"version 0":                             func(m *Image) { m.Jobs[0].Version = 0 },
		"price -0.000001, agreed 0":             func(m *Image) { m.Jobs[1].Price, m.Jobs[1].AgreedCost = -1, 0 },
		"price 0, agreed -0.000001":             func(m *Image) { m.Jobs[1].Price, m.Jobs[1].AgreedCost = 0, -1 },
		"times beyond":                          func(m *Image) { m.Jobs[1].AgreedReady = -1 << 60 },
		"beyond":                                func(m *Image) { m.Jobs[1].AgreedDue = 1 << 61 },
		"fix -2":                                func(m *Image) { m.Jobs[0].Fix = -2 },
		"deadline":                              func(m *Image) { m.Jobs[0].SLA.Deadline = -5 },
		"stands at 20, promised between 30":     func(m *Image) { m.Jobs[1].Ready = at(30) },
		"nodes too many are promised at 15":     func(m *Image) { m.Jobs[1].Start = at(15) },
		"now is":                                func(m *Image) { m.Now = 1 << 50 },
	} {
		opt, m := held(t)
		if _, err := Restore(opt, m); err != nil {
			t.Fatal(err)
		}
		change(&m)
		if _, err := Restore(opt, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestImage_AWindowClosesWhenItWouldHave(t *testing.T) {
	t.Parallel()
	s := newSchedule(t, options(EDF))
	a := flexible(s, 1, 10, 4, 10, 40)
	a.Fix = 500
	accept(t, s, a)
	s, err := Restore(s.opt, s.Image())
	if err != nil {
		t.Fatal(err)
	}
	if e := s.Advance(at(5)); len(e) != 1 || e[0] != (Event{at(5), Fixed, 1}) {
		t.Errorf("%v", e)
	}
}

// Whatever an image says, it is refused or gives a schedule that keeps its laws.
func FuzzRestore(f *testing.F) {
	opt, m := held(f)
	text, err := json.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"now":0,"jobs":[]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Image
		if json.Unmarshal(b, &m) != nil {
			return
		}
		s, err := Restore(opt, m)
		if err != nil {
			return
		}
		for range 100 {
			if s.Next() > s.Now()+1<<45 {
				break
			}
			s.Advance(s.Next())
			audit(t, s)
		}
	})
}

// The kinds of events are read as they are written, and others are refused.
func TestEventKind_IsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for k := Fixed; k <= Ended; k++ {
		text, err := k.MarshalText()
		got := EventKind(99)
		if again := got.UnmarshalText(text); err != nil || again != nil || got != k {
			t.Errorf("%v is written as %q and read as %d: %v, %v", k, text, got, err, again)
		}
	}
	var k EventKind
	if err := k.UnmarshalText([]byte("begun")); err == nil || !strings.Contains(err.Error(), `"begun" is unknown; must be one of fixed, started, ended`) {
		t.Error(err)
	}
}

// A job that should have ended is said to run still.
func TestAudit_AJobDoesNotRunAtItsEnd(t *testing.T) {
	t.Parallel()
	opt, m := held(t)
	s, err := Restore(opt, m)
	if err != nil {
		t.Fatal(err)
	}
	s.now = s.running[0].end()
	if err := s.Audit(); err == nil || !strings.Contains(err.Error(), "job 1 runs at 20") {
		t.Error(err)
	}
}

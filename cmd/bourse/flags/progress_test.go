package flags

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// Long work in a log, or in a pipe, says now and then how far it is.
func TestProgress_WithoutATerminalIsALineNowAndThen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	at := time.Unix(0, 0)
	p := newProgressAt(&out, "runs", false, func() time.Time { return at })
	for done := range 41 {
		p.Set(done, 40)
		at = at.Add(4 * time.Second)
	}
	p.Clear()
	if want := "4 of 40 runs, after 16s, about 2m24s left\n19 of 40 runs, after 1m16s, about 1m24s left\n" +
		"34 of 40 runs, after 2m16s, about 24s left\n"; out.String() != want {
		t.Errorf("it says\n%s, not\n%s", out.String(), want)
	}
}

// Work that is soon done, or is one piece, shows no progress.
func TestProgress_ShortWorkIsSilent(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	at := time.Unix(0, 0)
	p := newProgressAt(&out, "runs", false, func() time.Time { return at })
	p.Set(0, 2)
	p.Set(1, 2)
	at = at.Add(time.Hour)
	p.Set(2, 2)
	p.Set(0, 1)
	if out.Len() > 0 {
		t.Errorf("it says %s", out.String())
	}
}

// Work done before, and the time of other work, do not change the estimate of the time left.
func TestProgress_TheTimeLeftIsThatOfTheWorkUnderWay(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	at := time.Unix(0, 0)
	p := newProgressAt(&out, "runs", false, func() time.Time { return at })
	p.Start(30, 40)
	at = at.Add(20 * time.Second)
	p.Set(32, 40)
	at = at.Add(40 * time.Second)
	p.Set(40, 40)
	for done := range 3 {
		at = at.Add(30 * time.Second)
		p.Set(done+1, 4)
	}
	if want := "32 of 40 runs, after 20s, about 1m20s left\n1 of 4 runs, after 30s, about 1m30s left\n3 of 4 runs, after 1m30s, about 30s left\n"; out.String() != want {
		t.Errorf("it says\n%s, not\n%s", out.String(), want)
	}
}

// One piece of work has a bar on a terminal, once it has taken a while, and nothing else.
func TestProgress_OnePieceHasABarOnATerminalAlone(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{true, false} {
		var out bytes.Buffer
		at := time.Unix(0, 0)
		p := newProgressAt(&out, "read", terminal, func() time.Time { return at })
		p.Part(10, 100)
		if out.Len() > 0 {
			t.Errorf("at once it says %q", out.String())
		}
		at = at.Add(time.Minute)
		p.Part(25, 100)
		if said := strings.Contains(out.String(), "read, 3m0s left") && strings.Contains(out.String(), "25%"); said != terminal {
			t.Errorf("terminal %v: after a minute it says %q", terminal, out.String())
		}
		before := out.Len()
		p.Part(25, 100)
		p.Part(24, 100)
		if p.Clear(); terminal && out.Len() == before || !terminal && out.Len() > 0 {
			t.Errorf("terminal %v: in the end it says %q", terminal, out.String())
		}
	}
}

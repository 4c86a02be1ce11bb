package main

import (
	"bytes"
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
		p.set(done, 40)
		at = at.Add(4 * time.Second)
	}
	p.clear()
	if want := "4 of 40 runs, after 16s\n19 of 40 runs, after 1m16s\n34 of 40 runs, after 2m16s\n"; out.String() != want {
		t.Errorf("it says\n%s, not\n%s", out.String(), want)
	}
}

// What is soon done, or is one piece, says nothing.
func TestProgress_ShortWorkIsSilent(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	at := time.Unix(0, 0)
	p := newProgressAt(&out, "runs", false, func() time.Time { return at })
	p.set(0, 2)
	p.set(1, 2)
	at = at.Add(time.Hour)
	p.set(2, 2)
	p.set(0, 1)
	if out.Len() > 0 {
		t.Errorf("it says %s", out.String())
	}
}

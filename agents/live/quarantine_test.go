package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// lived is a life over a disk that a crash has just hit, and what ended it.
func lived(t *testing.T, disk *journal.Memory, opt Options, act func(h *Host)) (err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		disk.Crash(nil, false)
		h, _ := hosting(t, disk, opt)
		act(h)
		synctest.Wait()
		select {
		case err = <-h.Failed():
		default:
		}
		stop(t, h)
	})
	return err
}

// inquiry hands the purse a message and returns its answer.
func inquiry(h *Host, from agents.ID, m agents.Message) (agents.Message, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return h.Ask(ctx, from, toy, m)
}

// A message that two lives have ended over at the same place is refused by the
// third, counted and answered; others are taken, the same of another sender too.
func TestQuarantine_WhatEndsTwoLivesIsRefusedByTheThird(t *testing.T) {
	t.Parallel()
	disk := &journal.Memory{}
	for life := range 2 {
		if err := lived(t, disk, Options{}, func(h *Host) { _, _ = inquiry(h, "user:ana", boom{}) }); !errors.Is(err, ErrFailed) {
			t.Fatalf("life %d ended with %v", life+1, err)
		}
	}
	if err := lived(t, disk, Options{}, func(h *Host) {
		m, err := inquiry(h, "user:ana", boom{})
		if w, ok := m.(word); err != nil || !ok || !strings.Contains(w.Text, "has failed") {
			t.Errorf("answered with %v, %v", m, err)
		}
		if m, _ := inquiry(h, "user:ana", put{5}); m != (total{5, 1}) {
			t.Error("the agent does not go on")
		}
		if s := only(h); s.Refused != 1 {
			t.Errorf("%d refused", s.Refused)
		}
	}); err != nil {
		t.Errorf("the third life ended with %v", err)
	}
	if err := lived(t, disk, Options{}, func(h *Host) { _, _ = inquiry(h, "user:ben", boom{}) }); !errors.Is(err, ErrFailed) {
		t.Errorf("another's message was not handed over: %v", err)
	}
}

// An hour after it ended a life last a message is handed over again; if it fails
// once more it is refused for another hour.
func TestQuarantine_LastsAnHour(t *testing.T) {
	t.Parallel()
	disk := &journal.Memory{}
	begun := time.Now()
	at := func(d time.Duration) Options { return Options{Now: func() time.Time { return begun.Add(d) }} }
	try := func(h *Host) { _, _ = inquiry(h, "user:ana", boom{}) }
	for _, c := range []struct {
		after time.Duration
		ends  bool
	}{{0, true}, {time.Minute, true}, {2 * time.Minute, false}, {59 * time.Minute, false}, {62 * time.Minute, true}, {63 * time.Minute, false}} {
		if err := lived(t, disk, at(c.after), try); (err != nil) != c.ends {
			t.Errorf("after %v: %v", c.after, err)
		}
	}
}

// Four messages of one sender and kind that fail at one place have all of that
// kind and sender refused: each new one would cost another life.
func TestQuarantine_WidensToTheKind(t *testing.T) {
	t.Parallel()
	disk := &journal.Memory{}
	for i := range widensAt {
		if err := lived(t, disk, Options{}, func(h *Host) { _, _ = inquiry(h, "user:ana", agents.JobCancel{Job: fmt.Sprint("job", i)}) }); err == nil {
			t.Fatalf("message %d was refused", i+1)
		}
	}
	if err := lived(t, disk, Options{}, func(h *Host) { _, _ = inquiry(h, "user:ana", agents.JobCancel{Job: "another"}) }); err != nil {
		t.Errorf("the next of that kind ended a life: %v", err)
	}
	if err := lived(t, disk, Options{}, func(h *Host) { _, _ = inquiry(h, "user:ana", put{1}) }); err != nil {
		t.Error(err)
	}
}

// A failing alarm of an agent is not refused: its state is broken, and to leave
// out its alarms would break promises without a word.
func TestQuarantine_AlarmsAreNeverLeftOut(t *testing.T) {
	t.Parallel()
	disk := &journal.Memory{}
	for life := range 4 {
		if err := lived(t, disk, Options{}, func(h *Host) { _ = h.Tell("user:ana", toy, wake{0, "boom"}) }); err == nil {
			t.Errorf("life %d did not end", life+1)
		}
	}
}

// The list is bounded, forgets the oldest, and outlives a file that cannot be read.
func TestQuarantine_IsBounded(t *testing.T) {
	t.Parallel()
	disk := &journal.Memory{}
	q := quarantine{disk: disk}
	for i := range maxFailures + 10 {
		m := agents.JobCancel{Job: fmt.Sprint(i)}
		for range failsAt {
			if err := q.add(grid.Time(i), agents.ID(fmt.Sprint("user:", i)), m, "here", strings.Repeat("x", 5000)); err != nil {
				t.Fatal(err)
			}
		}
	}
	disk.Crash(nil, false)
	var next quarantine
	if err := next.load(disk); err != nil || len(next.failures) != maxFailures {
		t.Fatalf("%d are remembered, %v", len(next.failures), err)
	}
	last := maxFailures + 9
	if next.holds(1000, "user:0", agents.JobCancel{Job: "0"}) != "" || next.holds(1000, agents.ID(fmt.Sprint("user:", last)), agents.JobCancel{Job: fmt.Sprint(last)}) == "" {
		t.Error("not the oldest was forgotten")
	}
	disk.Write(quarantineFile, []byte("{"))
	h, _ := hosting(t, disk, Options{})
	give(t, h, 1)
	stop(t, h)
}

// A journal that the agent panics over is a start refused, not a crash: it names
// the fact.
func TestHost_AFactThatCannotBeAppliedRefusesTheStart(t *testing.T) {
	t.Parallel()
	disk := &journal.Memory{}
	h, _ := hosting(t, disk, Options{})
	give(t, h, unlucky)
	stop(t, h)
	if err := quiet(Options{}).Add(toy, &purse{superstitious: true}, disk, toyJournal); err == nil || !strings.Contains(err.Error(), `"purse-image"`) {
		t.Errorf("begun with %v", err)
	}
}

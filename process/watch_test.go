package process

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/grid"
)

// A trouble is logged at once, again every ten minutes, and when it is over.
func TestTroubleLog_TellsTheFirstThenBoundedThenTheEnd(t *testing.T) {
	t.Parallel()
	var l troubleLog
	var out bytes.Buffer
	log, now := zerolog.New(&out), time.Unix(1_790_000_000, 0)
	tell := func(after time.Duration, list ...managed.Trouble) string {
		out.Reset()
		now = now.Add(after)
		l.tell(log, now, list)
		return out.String()
	}
	dead := managed.Trouble{Key: "looks", Since: 1_790_000_000_000, Words: grid.Say("no answer since %v", grid.Time(1_790_000_000_000))}
	if got := tell(0, dead); !strings.Contains(got, `"level":"warn"`) || !strings.Contains(got, "no answer since 2026-09-21T14:13:20Z") {
		t.Errorf("first: %s", got)
	}
	for range 299 {
		if got := tell(2*time.Second, dead); got != "" {
			t.Fatalf("within ten minutes: %s", got)
		}
	}
	if got := tell(2*time.Second, dead); strings.Count(got, "\n") != 1 {
		t.Errorf("after ten minutes: %q", got)
	}
	if got := tell(time.Second); !strings.Contains(got, `"level":"info"`) || !strings.Contains(got, "over: no answer") {
		t.Errorf("at the end: %s", got)
	}
	if got := tell(time.Second); got != "" {
		t.Errorf("after it: %s", got)
	}
	if got := tell(time.Second, dead); strings.Count(got, "\n") != 1 {
		t.Errorf("a second time: %q", got)
	}
}

// Of many at once the first are logged, and how many more there were.
func TestTroubleLog_IsBounded(t *testing.T) {
	t.Parallel()
	var l troubleLog
	var out bytes.Buffer
	var list []managed.Trouble
	for i := range 64 {
		list = append(list, managed.Trouble{Key: fmt.Sprint(i), Words: "withheld"})
	}
	now := time.Unix(1_790_000_000, 0)
	l.tell(zerolog.New(&out), now, list)
	l.tell(zerolog.New(&out), now.Add(time.Second), list)
	if n := strings.Count(out.String(), "\n"); n != mostTroubles {
		t.Errorf("%d lines", n)
	}
	out.Reset()
	l.tell(zerolog.New(&out), now.Add(time.Minute), nil)
	if got := out.String(); !strings.Contains(got, `"troubles":54`) || strings.Count(got, "\n") != 1+mostTroubles {
		t.Errorf("afterwards:\n%s", got)
	}
}

// A site that lacks what it cannot serve without is not ready, tries again, and says when it
// has it. What is missing for some users only is logged once.
func TestSiteWatch_NotReadyUntilNothingIsMissing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	rights, tried := without("no right"), 0
	w := &siteWatch{p: &process{log: zerolog.New(&out)}, checks: []check{
		{"rights", false, func(context.Context) Finding { return rights }},
		{"accounts", false, func(context.Context) Finding { tried++; return missing("no ana") }},
	}}
	w.try(t.Context())
	if err := w.ready(); err == nil || err.Error() != "rights: no right" {
		t.Errorf("it lacks %v", err)
	}
	if got := out.String(); strings.Count(got, `"level":"warn"`) != 2 || !strings.Contains(got, "no ana") {
		t.Errorf("logged:\n%s", got)
	}
	out.Reset()
	w.try(t.Context())
	if out.Len() > 0 || w.ready() == nil {
		t.Errorf("nothing has changed, and it logs %q, lacks %v", out.String(), w.ready())
	}
	rights = ok("made and deleted")
	w.try(t.Context())
	if err := w.ready(); err != nil || !strings.Contains(out.String(), "no longer missing: made and deleted") || tried != 1 {
		t.Errorf("it lacks %v, tried accounts %d times, logs %q", err, tried, out.String())
	}
	w.blind = "the resource manager does not answer"
	if err := w.ready(); err == nil {
		t.Error("it is ready without a resource manager")
	}
}

// A site that has said that it is not ready says so once it is, and only then.
func TestSiteWatch_SaysReadyOnceNothingIsMissing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &siteWatch{p: &process{log: zerolog.New(&out)}, blind: "the resource manager does not answer"}
	said := func() int { return strings.Count(out.String(), `"message":"ready"`) }
	w.p.announce(w.ready())
	if w.recovered(); said() != 0 || !strings.Contains(out.String(), "serving, but not ready") {
		t.Errorf("without a resource manager it says\n%s", out.String())
	}
	w.blind = ""
	w.recovered()
	if w.recovered(); said() != 1 {
		t.Errorf("afterwards it says %d times that it is ready:\n%s", said(), out.String())
	}
}

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/web"
)

func TestSubmit_SaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	got := waitsFor([]string{"a (waiting)", "b (placed)", "c (placed)", "d (placed)", "e (placed)"}, 9, "done")
	if want := "4 of 9 done; waiting for a (waiting), b (placed), c (placed), 2 more"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// "--wait done" waits until the jobs are done.
func TestSubmit_TheWordAfterWaitMayStandAlone(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"b.toml --wait":        "placed",
		"b.toml --wait done":   "done",
		"--wait=done b.toml":   "done",
		"b.toml --wait placed": "placed",
		"b.toml done":          `"done" is one too many`,
		"b.toml --wait c.toml": `"c.toml" is one too many`,
	} {
		var c submitting
		cmd := newSubmit()
		f := cmd.Flags()
		if err := f.Parse(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		c.wait = f.Lookup("wait").Value.String()
		err := c.waitWord(f.Args())
		got := c.wait
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

func TestSites_OneSiteTellsTheSharesOfVOsAndWhichAreLetGo(t *testing.T) {
	t.Parallel()
	s := web.SiteState{Name: "north", Groups: []web.Group{{Name: "main", Nodes: 4}}, Shares: []web.VOShare{{VO: "atlas", Share: 0.4, Held: 0.125, Span: "7 days"}, {VO: "cms", Share: 1, Span: "7 days", LetGo: true}}}
	var out strings.Builder
	printSite(&out, &s, time.Now())
	for _, want := range []string{"atlas", "40 %", "12.5 %", "cms", "100 %", "let go: no longer heard", "shares of the node-time of the next 7 days"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

// A mistyped name is answered with the known names.
func TestOpen_SaysToWhomTheSiteIsClosed(t *testing.T) {
	t.Parallel()
	s := web.SiteState{Name: "north", Closed: []web.Closed{{VO: "vo2"}, {VO: "vo3", User: "ben"}}}
	err := notClosed(&s, web.OpenWish{VO: "vo7"})
	if exitCode(err) != 1 || err.Error() != "north is not closed to --vo vo7; it is closed to --vo vo2, --vo vo3 --user ben" {
		t.Error(err)
	}
}

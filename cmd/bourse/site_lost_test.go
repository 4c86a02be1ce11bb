package main

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web"
)

// bourse site lost is a command beside bourse site CONFIG.toml, not a file's name.
func TestSiteLost_IsSaidAndTakenBack(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	if out, _, err := f.run("site", "lost", "north", "--dry-run"); err != nil || !strings.Contains(out, "north carries nothing") || !strings.Contains(out, "wait for it for") {
		t.Errorf("a dry run: %v\n%s", err, out)
	}
	if out, _, err := f.run("sites"); err != nil || strings.Contains(out, " lost ") {
		t.Errorf("a dry run has done something: %v\n%s", err, out)
	}
	out, said, err := f.run("site", "lost", "north", "--why", "the machine was sold")
	if err != nil || !strings.Contains(out, " lost ") || !strings.Contains(out, "the machine was sold") || !strings.Contains(out, "--undo") {
		t.Errorf("%v\n%s", err, out)
	}
	if !strings.Contains(said, "north carries nothing") {
		t.Errorf("it does not say beforehand what it will do: %s", said)
	}
	if out, _, err := f.run("sites"); err != nil || !strings.Contains(out, " lost ") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, _, err := f.run("site", "lost", "north", "--undo"); err != nil || strings.Contains(out, " lost ") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, _, err := f.run("site", "lost", "west"); exitCode(err) != 1 || !strings.Contains(err.Error(), "knows no site") {
		t.Errorf("a site that there is not: %v", err)
	}
	if _, _, err := f.run("site", "lost"); exitCode(err) != 2 {
		t.Errorf("without a site: %v", err)
	}
	root := newRoot()
	root.SetArgs([]string{"site", "nowhere.toml"})
	if err := root.Execute(); exitCode(err) != 2 || !strings.Contains(err.Error(), "nowhere.toml") {
		t.Errorf("a file that there is not: %v", err)
	}
}

// The command says first how many jobs and legs it concerns; only y and yes go on.
func TestSiteLost_SaysBeforehandWhatItDoesToHowManyJobs(t *testing.T) {
	t.Parallel()
	got := stakeWords(&web.SiteStake{Site: "north", Jobs: 12, Legs: 14, Running: 3, Cost: web.Credits{Credits: 5 * grid.Credit}, Horizon: web.Seconds{Duration: grid.Day}})
	if want := "north carries 14 legs of 12 jobs, 3 running, for 5 credits."; !strings.HasPrefix(got, want) || !strings.Contains(got, "for 1d") {
		t.Errorf("%s", got)
	}
	for text, want := range map[string]bool{"y\n": true, "YES\n": true, "\n": false, "": false, "no\n": false, "yes please\n": false} {
		var out strings.Builder
		if got := agrees(strings.NewReader(text), &out, "Declare north lost?"); got != want || out.String() != "Declare north lost? [y/N] " {
			t.Errorf("%q: %t, %q", text, got, out.String())
		}
	}
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/process/failure"
)

// A row for each submission that is forecast, by the clock of the trace.
func TestReplay_ForecastsHasARowForEachSubmission(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "f.csv")
	if _, _, err := replayTiny(t, "--procs=4", "--forecasts="+file); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// Nothing is known yet, so that every draw runs to the limits: job 2 starts when job 1 ends.
	const want = `job,submit,start,class,median,lower,upper,raw_lower,raw_upper,calibrated
1,100,100,now,100,100,100,100,100,false
2,101,140,0-15min,140,140,140,140,140,false
3,102,102,now,102,102,102,102,102,false
`
	if string(got) != want {
		t.Errorf("%s", got)
	}
}

func TestReplay_ForecastsRefusesWhatItCannotForecast(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--level=85":          "--level 85: must be 50, 80, 90 or 95",
		"--every=0":           "--every 0: must be 1 or more",
		"--draws=9":           "--draws 9: must be 10 to 100000",
		"--reservations=.1":   "does not go with --reservations: a forecast does not foresee reservations; leave one of them out",
		"--estimates=exact":   "does not go with --estimates",
		"--overrun=extend":    "does not go with --overrun",
		"--compare=easy,fcfs": "does not go with --compare",
		"--scheduler=x":       "does not go with --scheduler",
		"--user-running=1":    "does not go with --user-running",
	} {
		file := filepath.Join(t.TempDir(), "f.csv")
		_, _, err := replayTiny(t, "--procs=4", "--forecasts="+file, args)
		if err == nil || failure.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s: the file is there", args)
		}
	}
	for _, flag := range []string{"every", "level", "draws"} {
		if _, _, err := replayTiny(t, "--procs=4", fmt.Sprintf("--%s=50", flag)); err == nil || !strings.Contains(err.Error(), "has no effect without --forecasts") {
			t.Errorf("--%s alone: %v", flag, err)
		}
	}
	if _, _, err := replayTiny(t, "--procs=4", "--forecasts=/nowhere/at/all.csv"); !failure.Is(err) {
		t.Errorf("a file that cannot be written: %v", err)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// waitedLook is busyLook after n pairs of jobs on all nodes: the second of each waits for the
// end of the first, which runs one to four quarters of its limit of two hours.
func waitedLook(n int) string {
	var list strings.Builder
	for i := range n {
		first := 996_400 - 10_800*(n-i)
		end := first + 1800*(1+i*7%4)
		for k, times := range [][3]int{{first, first, end}, {first + 600, end, end + 900}} {
			fmt.Fprintf(&list, `,
    {"number": "%d", "user": "ana", "state": "ended", "partition": "batch", "count": 4, "limit": 7200, "submit": %d, "start": %d, "end": %d}`,
				1000+2*i+k, times[0], times[1], times[2])
		}
	}
	// Only job 1 is in the way.
	return strings.ReplaceAll(strings.Replace(busyLook, "ENDED", list.String(), 1), `"state": "pending"`, `"state": "held"`)
}

// banded are the keys of the band in the answer.
type banded struct {
	StartsNow            bool
	Median, Lower, Upper *float64
	Level                int
	Calibrated           bool
	Class                string
	Held                 struct {
		Share, ClassShare *float64
		Of, ClassOf       int
	}
	Raw                     struct{ Median, Lower, Upper *float64 }
	LaterSubmissions, Draws int
}

func bandedOf(t *testing.T, look string, flags ...string) banded {
	t.Helper()
	out, messages, code := workloadCommand(append([]string{"forecast", lookFile(t, look), "--json"}, flags...)...)
	var a struct{ Forecast banded }
	if err := json.Unmarshal([]byte(out), &a); code != 0 || err != nil {
		t.Fatalf("exit %d, %v, %s %s", code, err, out, messages)
	}
	return a.Forecast
}

// The band is calibrated on the record in the snapshot itself, and a wider one is around it.
func TestForecast_TheBandIsCalibratedOnTheRecord(t *testing.T) {
	t.Parallel()
	look := waitedLook(60)
	var before banded
	for i, level := range []string{"50", "80", "90", "95"} {
		b := bandedOf(t, look, "--nodes", "2", "--duration", "1h", "--level", level)
		if b.StartsNow || !b.Calibrated || b.Held.Of < 50 || b.Held.ClassOf == 0 || b.Class == "" || b.LaterSubmissions != 7 || b.Draws != 100 {
			t.Fatalf("level %s: %+v", level, b)
		}
		if *b.Lower > *b.Median || *b.Median > *b.Upper || *b.Lower < 1_000_000 || *b.Raw.Lower > *b.Raw.Upper {
			t.Errorf("level %s: %v to %v to %v", level, *b.Lower, *b.Median, *b.Upper)
		}
		if i > 0 && (*b.Lower > *before.Lower || *b.Upper < *before.Upper) {
			t.Errorf("level %s lies inside the one before", level)
		}
		before = b
	}
	// The first of a pair has run an hour, or an hour and a half: job 1 is an hour old.
	if *before.Lower > 1_001_800 || *before.Upper < 1_001_800 {
		t.Errorf("95 %% from %v to %v", *before.Lower, *before.Upper)
	}
	out, _, _ := workloadCommand("forecast", lookFile(t, look), "--nodes", "2", "--duration", "1h")
	for _, want := range []string{
		`(?m)^80 % chance to start between \d\d:\d\d and \d\d:\d\d, likely \d\d:\d\d$`,
		`(?m)^this band has held \d+ % of \d+ past forecasts \(waits of 15 min to 1 h: \d+ % of \d+\)$`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is not in\n%s", want, out)
		}
	}
}

func TestForecast_SaysWhenABandIsNotCalibrated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ want, flags string }{
		{"not calibrated: 12 of 30 starts known", "--nodes 2 --duration 1h --calibrate 12"},
		{"not calibrated: 0 of 30 starts known", "--nodes 2 --duration 1h --calibrate 0"},
	} {
		out, messages, code := workloadCommand(append([]string{"forecast", lookFile(t, waitedLook(40))}, strings.Fields(c.flags)...)...)
		if code != 0 || !strings.Contains(out, "\n"+c.want+"\n") || strings.Contains(out, "has held") {
			t.Errorf("%s: %s%s", c.flags, out, messages)
		}
	}
	idle := strings.Replace(waitedLook(40), `"state": "running"`, `"state": "held"`, 1)
	out, _, _ := workloadCommand("forecast", lookFile(t, idle), "--nodes", "2", "--duration", "1h")
	if !strings.Contains(out, "\nstarts at once\n") || strings.Contains(out, "calibrated") || strings.Contains(out, "chance") {
		t.Errorf("a job that starts at once: %s", out)
	}
	if b := bandedOf(t, idle, "--nodes", "2", "--duration", "1h"); !b.StartsNow || b.Median != nil || b.Calibrated {
		t.Errorf("a job that starts at once: %+v", b)
	}
	if b := bandedOf(t, strings.Replace(busyLook, "ENDED", "", 1), "--nodes", "2", "--duration", "1h"); b.Median != nil || b.Draws != 0 || b.Calibrated {
		t.Errorf("without history: %+v", b)
	}
}

func TestForecast_ReportsWhatCameOfPastForecasts(t *testing.T) {
	t.Parallel()
	out, messages, code := workloadCommand("forecast", lookFile(t, waitedLook(60)), "--nodes", "2", "--duration", "1h", "--report", "--json")
	var a struct {
		Level   int
		Classes []struct {
			Of                        string
			Forecasts                 int
			Held, Below, Above, Width *float64
		}
		Quarters []struct{ Forecasts int }
	}
	if err := json.Unmarshal([]byte(out), &a); code != 0 || err != nil || a.Level != 80 || len(a.Classes) != 6 || len(a.Quarters) != 4 {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, messages)
	}
	all, sum := a.Classes[0], 0
	for _, q := range a.Quarters {
		sum += q.Forecasts
	}
	if share := *all.Held + *all.Below + *all.Above; all.Forecasts != sum || sum < 50 || share < .999 || share > 1.001 {
		t.Errorf("all %+v, quarters of %d", all, sum)
	}
	out, _, _ = workloadCommand("forecast", lookFile(t, waitedLook(60)), "--nodes", "2", "--duration", "1h", "--report")
	if !strings.Contains(out, "waits of 15 min to 1 h") || !strings.Contains(out, "quarter 4 of the record") || strings.Contains(out, "by limits") {
		t.Error(out)
	}
}

func TestForecast_RefusesWhatItCannotCalibrate(t *testing.T) {
	t.Parallel()
	look := strings.Replace(busyLook, "ENDED", "", 1)
	for args, want := range map[string]string{
		"--level 85":     "--level 85: must be 50, 80, 90 or 95",
		"--calibrate -1": "--calibrate -1: must be 0 to 100000",
		"--calibrate 50": "--calibrate: no record says when jobs started",
	} {
		_, messages, code := workloadCommand(append([]string{"forecast", lookFile(t, look), "--nodes", "2", "--duration", "1h"}, strings.Fields(args)...)...)
		if code != 2 || !strings.Contains(messages, want) {
			t.Errorf("%s: exit %d, %q", args, code, messages)
		}
	}
	if _, messages, code := workloadCommand("forecast", lookFile(t, look), "--nodes", "2", "--duration", "1h", "--report"); code != 1 || !strings.Contains(messages, "no past forecasts to report") {
		t.Errorf("--report without a record: exit %d, %q", code, messages)
	}
}

package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/policy/shadow"
)

// ofShadow are the flags of bourse site that go with --shadow.
var ofShadow = []string{"record", "slurm-conf", "qos", "assoc", "zone", "events", "every", "for", "demand", "asks", "report", "json"}

// A run of a real controller, Slurm 22.05.8, is followed in virtual time. The report of the file
// of events is the same, and so are plain sums of what the file says; windows may be asked for by a record of their own. What contradicts itself is refused.
func TestSiteShadow_FollowsARecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, events := filepath.Join(dir, "north.toml"), filepath.Join(dir, "events.jsonl")
	const text = "name = \"north\"\n[[group]]\nname = \"batch\"\nnodes = 8\nperformance = 1.0\nprice = 2.0\n[cluster]\nkind = \"slurm\"\npartition = \"batch\"\nholder = \"mail\"\n" +
		"[[account]]\nuser = \"*\"\nas = \"games\"\n[listen]\naddress = \"127.0.0.1:7400\"\n[gossip]\naddress = \"127.0.0.1:7401\"\nvo = \"vo1\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	dump := filepath.Join("..", "..", "workload", "slurmdump", "testdata", "a")
	record := []string{"site", file, "--shadow", "--record", dump + ".sacct", "--slurm-conf", dump + ".conf", "--every", "5s", "--demand", "0.5", "--events", events}
	out, messages, err := runCommand(t.Context(), append(record, "--json")...)
	var r shadow.Report
	if err == nil {
		err = json.Unmarshal([]byte(out), &r)
	}
	if err != nil || r.Site != "north" || r.Sold < 10 || r.Sold+len(r.Refused) > r.Asked || r.Failed != 0 || r.Busy == 0 || r.Income() == 0 {
		t.Fatalf("%v %s\n%+v", err, messages, r)
	}
	if again, _, err := runCommand(t.Context(), "site", file, "--shadow", "--report", "--events", events, "--json"); err != nil || again != out {
		t.Errorf("%v, the report of the events is\n%s\nand was\n%s", err, again, out)
	}
	summedUp(t, events, &r)
	shown, _, err := runCommand(t.Context(), "site", file, "--shadow", "--report", "--events", events)
	for _, want := range []string{"nothing was reserved", "would have been sold", "longer waits, by plan", "verdict                        too little to tell\n", "08:00"} {
		if err != nil || !strings.Contains(shown, want) {
			t.Errorf("%v, no %q in\n%s", err, want, shown)
		}
	}
	site, _, err := newRoot().Find([]string{"site"})
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range ofShadow {
		value := valueFor(site.Flags().Lookup(flag))
		if flag == "zone" {
			value = "UTC"
		}
		args := []string{"site", file, "--" + flag + "=" + value}
		if _, _, err := runCommand(t.Context(), args...); err == nil || !strings.Contains(err.Error(), "--"+flag+" needs --shadow") {
			t.Errorf("%v: %v", args, err)
		}
	}
	asks := filepath.Join(dir, "asks.csv")
	if err := os.WriteFile(asks, []byte("submit,nodes,requested_time\n0,2,60\n120,9,60\n180,1,120\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := []string{"site", file, "--shadow", "--record", dump + ".sacct", "--slurm-conf", dump + ".conf", "--asks", asks}
	if out, _, err := runCommand(t.Context(), asked...); err != nil || !strings.Contains(out, "3 of 3 recorded") || !strings.Contains(out, "1, 0.1 node-hours: too wide") {
		t.Errorf("a record of windows: %v\n%s", err, out)
	}
	for want, args := range map[string][]string{
		"two demands":        append(asked, "--demand", "0.2"),
		"has events already": record,
		"from 5s to 1h":      {"site", file, "--shadow", "--every", "1s"},
		"go with --record":   {"site", file, "--shadow", "--slurm-conf", file},
		"above 0":            {"site", file, "--shadow", "--demand", "0"},
		"no such file":       {"site", file, "--shadow", "--report"},
	} {
		if _, _, err := runCommand(t.Context(), args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

// summedUp holds a report against sums of the lines of its file of events, read without the
// types that wrote them.
func summedUp(t *testing.T, events string, r *shadow.Report) {
	t.Helper()
	text, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	type window struct {
		Nodes, Length, By float64 // times in seconds, money in credits
		Fare              struct{ Base, Additive float64 }
		Delayed           []struct {
			Job       string
			Nodes, By float64
		}
	}
	var looks, sold, refused, inTheWay int
	var soldTime, fares, delayed, met float64
	late := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		var e struct {
			Looked                  *struct{}
			Sold, Refused, InTheWay *window
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Looked != nil:
			looks++
		case e.Sold != nil:
			sold++
			soldTime += e.Sold.Nodes * e.Sold.Length
			fares += e.Sold.Fare.Base + e.Sold.Fare.Additive
			for _, d := range e.Sold.Delayed {
				delayed += d.Nodes * d.By
				late[d.Job] = true
			}
		case e.Refused != nil:
			refused++
		case e.InTheWay != nil:
			inTheWay++
			met += e.InTheWay.Nodes * e.InTheWay.By
		}
	}
	whole := func(x, unit float64) int { return int(math.Round(x * unit)) }
	got := []int{r.Looks, r.Sold, r.Asked, int(r.SoldTime), int(r.Income()), r.Delayed.Jobs, int(r.Delayed.Time), r.InTheWay.Jobs, int(r.InTheWay.Time)}
	want := []int{looks, sold, sold + refused, whole(soldTime, 1e3), whole(fares, 1e6), len(late), whole(delayed, 1e3), inTheWay, whole(met, 1e3)}
	if !slices.Equal(got, want) {
		t.Errorf("the report says %v, its events %v", got, want)
	}
}

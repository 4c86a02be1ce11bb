package shadow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/shadow"
)

// siteFile is the file of a site beside Slurm, without the certificates that a shadow needs not.
const siteFile = `name = "north"
sell = false
[[group]]
name = "batch"
nodes = 4
performance = 1.0
price = 2.0
[cluster]
kind = "slurm"
partition = "batch"
holder = "mail"
[[account]]
user = "*"
as = "games"
[listen]
address = "127.0.0.1:7400"
[gossip]
address = "127.0.0.1:7401"
vo = "vo1"
`

func site(t *testing.T, text string) *configs.SiteProcess {
	t.Helper()
	cfg, err := configs.ParseSiteProcess(filepath.Join(t.TempDir(), "site.toml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// printing makes commands that print what Slurm 22.05 has printed, of four idle nodes. The queue
// is empty at first, then fails once, then has a job that waits. Each call leaves a line in
// the file "asked".
func printing(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	many := func(from, list, to string, n, like int, each func(i int, x map[string]any)) {
		var all map[string]any
		text, err := os.ReadFile("../../cluster/slurm/testdata/22.05/" + from)
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil {
			t.Fatal(err)
		}
		out := []any{}
		for i := range n {
			x := maps.Clone(all[list].([]any)[like].(map[string]any))
			each(i, x)
			out = append(out, x)
		}
		all[list] = out
		if text, err = json.Marshal(all); err != nil {
			t.Fatal(err)
		}
		write(to, string(text))
	}
	many("sinfo.json", "nodes", "sinfo.json", 4, 0, func(i int, x map[string]any) {
		x["name"], x["state"], x["alloc_cpus"] = fmt.Sprintf("n%d", i), "idle", 0
	})
	many("squeue.json", "jobs", "1", 0, 3, nil)
	many("squeue.json", "jobs", "3", 1, 3, func(_ int, x map[string]any) {
		x["job_id"], x["partition"], x["node_count"], x["time_limit"], x["submit_time"] = 5000, "batch", 3, 90, time.Now().Add(time.Hour).Unix()
	})
	for name, script := range map[string]string{
		"squeue": `n=$(grep -c squeue asked); if [ "$n" = 2 ]; then echo the controller sleeps >&2; exit 1; fi; [ "$n" -lt 3 ] || n=3; cat $n`,
		"sinfo":  "cat sinfo.json",
		"scontrol": `case "$2" in config) echo "SchedulerType = sched/backfill"; echo "PriorityType = priority/basic";;
partition) echo "PartitionName=batch Nodes=n[0-3] MaxTime=UNLIMITED State=UP TotalCPUs=4 TotalNodes=4";; *) echo No reservations in the system;; esac`,
		"sacctmgr": "exit 1",
	} {
		write(name, "#!/bin/sh\ncd "+folder+"\necho "+name+" $* >>asked\n"+script+"\n")
	}
	return folder
}

// until runs a shadow until its file of events has as many as it wants of a kind.
func until(t *testing.T, o Options, kind string, n int) shadow.Report {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cfg := site(t, siteFile)
	var r shadow.Report
	done := make(chan error)
	go func() {
		var err error
		r, err = Run(ctx, cfg, o)
		done <- err
	}()
	for patience := time.After(2 * time.Minute); ; {
		text, _ := os.ReadFile(o.Events)
		if bytes.Count(text, []byte(`"`+kind+`":`)) >= n {
			stop()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			return r
		}
		select {
		case err := <-done:
			t.Fatalf("it ended: %v\n%s", err, text)
		case <-patience:
			t.Fatalf("no %s:\n%.3000s", kind, text)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// A shadow beside a cluster runs none of Slurm's commands but those that show something. It
// goes on after a look that failed, and after a restart, without asking twice for the same
// job; the report is that of the file.
func TestRun_OnlyLooks(t *testing.T) {
	t.Parallel()
	folder := printing(t)
	var messages bytes.Buffer
	o := Options{Every: 10, Share: shadow.Millionths, Commands: folder, Events: filepath.Join(t.TempDir(), "events.jsonl"), Messages: &messages}
	until(t, o, "sold", 1)
	var sold shadow.Event
	size, err := Read(o.Events, func(e shadow.Event) {
		if e.Sold != nil {
			sold = e
		}
	})
	if s := sold.Sold; err != nil || s.Job != "5000" || len(s.Names) != 3 || s.Length != 90*grid.Minute || s.Start != sold.At || s.Fare != (grid.Fare{Base: 9_000_000}) {
		t.Errorf("%v %+v", err, s)
	}
	if err := os.WriteFile(o.Events, append(read(t, o.Events)[:size:size], `{"at":1`...), 0o600); err != nil { // it was killed
		t.Fatal(err)
	}
	r := until(t, o, "began", 2)
	var tally shadow.Tally
	if _, err := Read(o.Events, tally.Add); err != nil || !reflect.DeepEqual(tally.Report(), r) || r.Sold != 1 || r.Failed != 1 || r.SoldTime != 270*grid.Minute {
		t.Errorf("%v, the report %+v, of the file %+v", err, r, tally.Report())
	}
	for line := range strings.Lines(string(read(t, filepath.Join(folder, "asked")))) {
		if name, verb, _ := strings.Cut(strings.TrimSpace(line), " "); name != "squeue" && name != "sinfo" && !strings.HasPrefix(verb, "show ") {
			t.Errorf("it has run %s", line)
		}
	}
	if said := messages.String(); !strings.Contains(said, "the controller sleeps") || strings.Count(said, "nothing is reserved") < 2 {
		t.Errorf("it said %s", said)
	}
	recorded := o
	recorded.Asks = filepath.Join(t.TempDir(), "asks.csv")
	if err := os.WriteFile(recorded.Asks, []byte("submit,nodes,requested_time\n100,2,3600\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), site(t, siteFile), recorded); err == nil || !strings.Contains(err.Error(), "another demand: local jobs, and now a record of 1 window") {
		t.Errorf("another demand: %v", err)
	}
	other := site(t, strings.Replace(siteFile, "north", "south", 1))
	if _, err := Run(t.Context(), other, o); err == nil || !strings.Contains(err.Error(), "events of site") {
		t.Errorf("another site's file: %v", err)
	}
	simulated := site(t, strings.Replace(siteFile, "kind = \"slurm\"\npartition = \"batch\"\nholder = \"mail\"\n[[account]]\nuser = \"*\"\nas = \"games\"", "", 1))
	if _, err := Run(t.Context(), simulated, o); err == nil || !strings.Contains(err.Error(), "follows Slurm alone") {
		t.Errorf("simulated nodes: %v", err)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A file that is none of events is refused, with its line.
func TestRead_RefusesWhatIsNone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "events.jsonl")
	for text, want := range map[string]string{
		"{\"at\":1,\"looked\":{\"nodes\":1}}\nname = 3\n": ":2: ",
		"{\"at\":1,\"nonsense\":2}\n":                     "nonsense",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file, func(shadow.Event) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A record of windows that were asked for counts from its first one on; what has no length is no
// window. The file's shares, limits and prices are the market's.
func TestTerms_OfAFileAndARecord(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "asks.csv")
	for text, want := range map[string][]shadow.Wanted{
		"submit,nodes,requested_time\n50,9,0\n100,2,3600\n400,1,60\n160,3,7200\n": {{After: 0, Nodes: 2, Length: grid.Hour}, {After: grid.Minute, Nodes: 3, Length: 2 * grid.Hour}, {After: 5 * grid.Minute, Nodes: 1, Length: grid.Minute}},
		"submit,nodes,requested_time\n50,9,0\n":                                   nil,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg := site(t, "vo_share = 0.25\nshare_span = \"1d\"\n"+siteFile)
		got, err := terms(cfg, Options{Asks: file, Share: 5})
		if !reflect.DeepEqual(got.Recorded, want) || (err == nil) != (want != nil) || err != nil && !strings.Contains(err.Error(), "asks for no window") {
			t.Errorf("%q: %v %v", text, got.Recorded, err)
		}
		if got.Share != 0 || got.VOShare != 250 || got.Span != grid.Day {
			t.Errorf("%+v", got)
		}
	}
}

// The file that docs/SHADOW.md has people begin with is one, and its shadow starts.
func TestShadow_TheFileOfThePage(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(string(read(t, "../../docs/SHADOW.md")), "```toml\n")
	text, _, _ := strings.Cut(rest, "```")
	cfg := site(t, text)
	got, err := terms(cfg, Options{Share: 7})
	if err != nil || follows(cfg) != nil || !cfg.SellsNothing || got.VOShare != 50 || got.Limits.MaxShare != 500 || got.Limits.MaxHorizon != 2*grid.Day {
		t.Errorf("%v %+v", err, got)
	}
}

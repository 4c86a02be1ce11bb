package configs

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/estimates"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/search"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// twoSites is the scenario that shows all keys every reader can rely on.
const twoSites = `name = "two-sites"
until = "30d"

[[site]]
name = "north"
policy = "easy"          # fcfs, easy, conservative, reserve=K; sla-edf, sla-lff, ...; libra, librarisk, edf
pricing = "adaptive"     # fixed, adaptive
[[site.group]]
name = "main"
nodes = 128
performance = 1.0
price = 1.0              # optional: memory, disk, os, arch, gpus, features
[site.workload]
trace = "SDSC-SP2-1998-4.2-cln.swf.gz"   # or model = "lublin", load = 0.7
days = 30

[[broker]]
name = "vo1"
budget = 50000.0         # credits
cycle = "30m"
horizon = "7d"
algorithm = "amp"        # amp, alp, amp-literal, best
minimize = "time"        # time, cost, finish
budget_limit = "auto"    # B*: auto (the formula) or credits
time_limit = "auto"      # T*
strategy = "batch"       # batch, alpha (with alpha = 0.5), earliest, shortest-queue, random
max_alternatives = 20
lead = "0s"
[broker.workload]
model = "uniform"
jobs = 200
`

func TestReadScenario_TwoSitesWithEveryDefault(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := ReadScenario(write(t, dir, "two-sites.toml", twoSites))
	if err != nil {
		t.Fatal(err)
	}
	want := &Scenario{
		Name: "two-sites", Until: 30 * grid.Day, Dir: dir, Source: Source{Name: "two-sites.toml", Text: twoSites},
		Sites: []Site{{
			Name: "north", Policy: backfill.EASY, Pricing: pricing.Adaptive, Overrun: "kill", Estimates: estimates.Request,
			Groups:  []grid.Group{{Site: "north", Name: "main", Nodes: 128, Performance: 1000, Price: 1_000_000}},
			Queues:  []Queue{{Rate: One, DelayCost: One}},
			Limits:  Limits{MaxHorizon: grid.MaxDuration, MaxShare: One},
			VOShare: One, Hold: 30 * grid.Second, InDoubt: 15 * grid.Minute, QueueLimit: 100_000, RefundFullUntil: One / 2,
			Leaves:   30 * grid.Day,
			Workload: &Workload{Trace: "SDSC-SP2-1998-4.2-cln.swf.gz", Days: 30 * grid.Day, Processors: 128, NeverRan: "drop"},
		}},
		Brokers: []Broker{{
			Name: "vo1", Budget: 50_000 * grid.Credit, BudgetUntil: Moment{After: 30 * grid.Day}, Cycle: 30 * grid.Minute, Horizon: 7 * grid.Day,
			Algorithm: search.AMP, Minimize: "time", Urgency: grid.DefaultUrgency(), Strategy: choice.Batch,
			MaxAlternatives: 20, BatchSize: 100, MaxWaiting: 100_000,
			Workload: &VOWorkload{
				Model: "uniform", Days: 30 * grid.Day, Jobs: 200, Nodes: keys.FromTo(1, 16),
				Length:         keys.FromTo(10*grid.Minute, 4*grid.Hour),
				MinPerformance: keys.FromTo[grid.Performance](500, 1000),
				MaxPrice:       keys.FromTo[Thousandths](1000, 2000),
				Deadline:       7 * grid.Day,
				Fix:            One,
				Run:            keys.FromTo(One, One),
				CancelAt:       keys.FromTo(0, One),
				ModifyAt:       keys.FromTo(0, One),
				FailsAfter:     keys.FromTo(0, One),
				ModifyLength:   keys.FromTo[Thousandths](500, 1500), Composed: noParts,
			},
		}},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
}

func TestReadScenario_EveryKey(t *testing.T) {
	t.Parallel()
	s, err := ParseScenario("f.toml", []byte(`
until = 3600.5
[[site]]
name = "a"
policy = "reserve=4"
pricing = "fixed"
overrun = "extend"
vo_share = 0.25
hold = "10s"
in_doubt = "1m"
queue_limit = 50
cap = 7200
penalty = 0.1
refund_full_until = 0.25
holding_fee = 0.02
joins = "10m"
leaves = 3600
queue = [ { name = "express", priority = 5, rate = 2, delay_cost = 0.5 }, { name = "standby", priority = -1 } ]
[site.limits]
min_notice = "1h"
max_horizon = "30d"
max_share = 0.5
users = ["ana"]
[[site.group]]
name = "g"
nodes = 1
price = 3
memory = "64GiB"
disk = "1.5TB"
os = "linux"
arch = "amd64"
gpus = 2
features = ["avx512"]
[[site.group]]
name = "h"
nodes = 3
price = 1
[site.workload]
trace = "/abs/LCG.sacct.gz"
zone = "Europe/Berlin"
skip = 3
days = 0.5
partition = 7
copy = 0.2
never_ran = "zero"
procs = 10
queues = { 1 = "express", 5 = "standby", 3 = "" }
[[site]]
name = "b"
group = [ { name = "g", nodes = 8, price = 2 } ]
[site.workload]
model = "uniform"
load = 0.9
jobs = 10
nodes = [2, 4]
length = ["1m", 3600]
[[broker]]
name = "vo"
budget = 10
cycle = "1h"
horizon = "1d"
algorithm = "best"
minimize = "cost"
weights = { finish = 0.5 }
budget_limit = 7.5
time_limit = "2d"
strategy = "batch"
max_alternatives = 3
batch_size = 1
lead = "1m"
lost_after = "5m"
quota = { zoe = 2, ana = 1.5 }
max_waiting = 500
[[broker.user]]
name = "zoe"
share = 3
priority = -1
[[broker.user]]
name = "ana"
max_waiting = 9
[broker.workload]
trace = "vo.parquet"
zone = "America/New_York"
skip = 1
days = 1
jobs = 20
partition = 2
min_performance = [0.25, 2]
max_price = [0.5, 0.75]
deadline = "6h"
run = [0.2, 1.0]
ahead = "1h"
cancel = 0.1
cancel_at = [0, 0.5]
modify = 0.05
modify_length = [1, 2]
`))
	if err != nil {
		t.Fatal(err)
	}
	a, b, vo := s.Sites[0], s.Sites[1], s.Brokers[0]
	machine := grid.Machine{Memory: 64 << 30, Disk: 1_500_000_000_000, GPUs: 2, OS: "linux", Arch: "amd64", Features: []string{"avx512"}}
	if !reflect.DeepEqual(a.Groups[0].Machine, machine) {
		t.Errorf("machine %+v", a.Groups[0].Machine)
	}
	if want := []Queue{{Rate: One, DelayCost: One}, {Name: "express", Priority: 5, Rate: 2 * One, DelayCost: One / 2}, {Name: "standby", Priority: -1, Rate: One, DelayCost: One}}; !reflect.DeepEqual(a.Queues, want) {
		t.Errorf("queues %+v", a.Queues)
	}
	if want := (Limits{grid.Hour, 30 * grid.Day, One / 2, []string{"ana"}}); !reflect.DeepEqual(a.Limits, want) {
		t.Errorf("limits %+v", a.Limits)
	}
	if want := (&Workload{Trace: "/abs/LCG.sacct.gz", Zone: zoneNamed(t, "Europe/Berlin"), Skip: 3, Days: 12 * grid.Hour, Partition: 7, Copy: 200, NeverRan: "zero",
		Processors: 10, Queues: map[int]int{1: 1, 5: 2, 3: 0}}); !reflect.DeepEqual(a.Workload, want) {
		t.Errorf("workload %+v", a.Workload)
	}
	if want := (&Workload{Model: "uniform", Load: 900, Jobs: 10, Nodes: keys.FromTo(2, 4), Days: 3600500, Processors: 8,
		Length: keys.FromTo(grid.Minute, grid.Hour)}); !reflect.DeepEqual(b.Workload, want) {
		t.Errorf("workload %+v", b.Workload)
	}
	if a.Policy != (backfill.Reserving(4)) || a.Pricing != pricing.Fixed || a.Overrun != "extend" || a.VOShare != 250 ||
		a.Hold != 10_000 || a.InDoubt != 60_000 || a.QueueLimit != 50 || a.Cap != 7200 || a.Penalty != 100 || a.RefundFullUntil != 250 || a.HoldingFee != 20 ||
		a.Joins != 10*grid.Minute || a.Leaves != grid.Hour || b.Joins != 0 || b.Leaves != 3600500 || a.Nodes() != 4 || b.Policy != backfill.EASY {
		t.Errorf("site %+v", a)
	}
	if vo.Weights != (Weights{Finish: One / 2}) || *vo.BudgetLimit != 7_500_000 || *vo.TimeLimit != 2*grid.Day ||
		vo.BatchSize != 1 || vo.MaxAlternatives != 3 || vo.Lead != grid.Minute || *vo.LostAfter != 5*grid.Minute || vo.NeverLost ||
		!reflect.DeepEqual(vo.Quotas, []Quota{{"ana", 1_500_000}, {"zoe", 2_000_000}}) ||
		vo.MaxWaiting != 500 || !reflect.DeepEqual(vo.Users, []User{{"zoe", 3, -1, 500, grid.Grants{}}, {"ana", 1, 0, 9, grid.Grants{}}}) {
		t.Errorf("broker %+v", vo)
	}
	if want := (&VOWorkload{Trace: "vo.parquet", Zone: zoneNamed(t, "America/New_York"), Skip: 1, Days: grid.Day, Jobs: 20, Partition: 2, MinPerformance: keys.FromTo[grid.Performance](250, 2000),
		MaxPrice: keys.FromTo[Thousandths](500, 750), Deadline: 6 * grid.Hour, Fix: One,
		Ahead: grid.Hour, Run: keys.FromTo[Thousandths](200, 1000), FailsAfter: keys.FromTo(0, One), Cancel: 100, CancelAt: keys.FromTo[Thousandths](0, 500), Modify: 50, ModifyAt: keys.FromTo(0, One), ModifyLength: keys.FromTo[Thousandths](1000, 2000), Composed: noParts}); !reflect.DeepEqual(vo.Workload, want) {
		t.Errorf("VO workload %+v", vo.Workload)
	}
	// Site a: (1x3 + 3x1)/4 = 1.5; site b: 2; their mean is 1.75.
	if s.MeanPrice() != 1_750_000 || s.Until != 3600500 || s.Name != "scenario" {
		t.Errorf("mean price %v, until %v, name %q", s.MeanPrice(), s.Until, s.Name)
	}
}

func zoneNamed(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestResolveTraces_AgainstTheScenarioOrTheFolderOfTraces(t *testing.T) {
	t.Parallel()
	dir, traces := t.TempDir(), t.TempDir()
	file := write(t, dir, "two-sites.toml", twoSites)
	const trace = "SDSC-SP2-1998-4.2-cln.swf.gz"
	read := func() *Scenario {
		s, err := ReadScenario(file)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if err := read().ResolveTraces(""); err == nil || !strings.Contains(err.Error(), "--traces") || !strings.Contains(err.Error(), "north") {
		t.Errorf("a trace that is not there: %v", err)
	}
	want := write(t, traces, trace, "")
	s := read()
	if err := s.ResolveTraces(traces); err != nil || s.Sites[0].Workload.Trace != want {
		t.Errorf("%v %q", err, s.Sites[0].Workload.Trace)
	}
	want = write(t, dir, trace, "")
	s = read()
	if err := s.ResolveTraces(""); err != nil || s.Sites[0].Workload.Trace != want {
		t.Errorf("%v %q", err, s.Sites[0].Workload.Trace)
	}
}

// wave is the batch that shows all keys of a job.
const wave = `[[job]]
name = "wave"
user = "ana"             # optional
nodes = 16
length = "2h"            # at performance 1
min_performance = 1.0
max_price = 2.5          # credits per node-hour; or budget = 100.0
ready = "0s"             # after submission, or an RFC 3339 time
deadline = "1d"
priority = 10            # higher first
flexible = "4h"          # may start up to this later once accepted
spread = "any"           # any, one-site
require = { memory = "64GiB", features = ["avx512"] }   # also disk, os, arch, gpus
after = []               # names of jobs that must have ended; gap = "0s" after the last of them
`

func TestReadBatch_Wave(t *testing.T) {
	t.Parallel()
	b, err := ReadBatch(write(t, t.TempDir(), "wave.toml", wave))
	if err != nil {
		t.Fatal(err)
	}
	job := b.Jobs[0].At(5000, time.Time{})
	want := grid.Job{
		Request: grid.Request{
			Nodes: 16, Length: 2 * grid.Hour, MinPerformance: grid.Unit, MaxPrice: 2_500_000, Budget: 80 * grid.Credit,
			Ready: 5000, Deadline: grid.Time(5000).Add(grid.Day),
			Require:  grid.Requirement{Memory: 64 << 30, Features: []string{"avx512"}},
			Flexible: 4 * grid.Hour,
		},
		Name: "wave", User: "ana", Submit: 5000, Priority: 10,
	}
	if !reflect.DeepEqual(job, want) || b.Jobs[0].Flexible != 4*grid.Hour {
		t.Errorf("got  %+v\nwant %+v", job, want)
	}
}

func TestReadBatch_PriceFromBudgetAndDates(t *testing.T) {
	t.Parallel()
	b, err := ParseBatch("f.toml", []byte(`
[[job]]
name = "tide"
nodes = 10
length = "1h"
run = "30m"
min_performance = 0.5
budget = 100.0
spread = "one-site"
ready = 1970-01-01T01:00:00+01:00
deadline = "1970-01-01T01:00:10Z"
[[job]]
name = "ebb"
nodes = 1
length = 1
max_price = 0
`))
	if err != nil {
		t.Fatal(err)
	}
	j := b.Jobs[0].At(3000, time.Unix(0, 0))
	// 100 credits for 10 nodes and 2 h each: 5 a node-hour.
	if j.MaxPrice != 5_000_000 || j.Budget != 100*grid.Credit || !j.OneSite || j.Run != 30*grid.Minute {
		t.Errorf("%+v", j)
	}
	if j.Ready != 3000 || j.Deadline != 3_610_000 { // ready at the epoch, but submitted later
		t.Errorf("ready %v deadline %v", j.Ready, j.Deadline)
	}
	if e := b.Jobs[1].At(3000, time.Unix(0, 0)); e.Deadline != grid.Never || e.Budget != 0 {
		t.Errorf("%+v", e)
	}
}

func TestReadScenario_JobsOfItsOwnAndOfABatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "wave.toml", wave+"submit = \"90m\"\n")
	world, _, _ := strings.Cut(twoSites, "[broker.workload]")
	own := world + strings.Replace(strings.Replace(wave, "[[job]]", "[[broker.job]]", 1), "ready", "submit = \"90m\"\nready", 1)
	for name, text := range map[string]string{"own.toml": own, "batch.toml": world + "batch = \"wave.toml\"\n"} {
		s, err := ReadScenario(write(t, dir, name, text))
		if err != nil {
			t.Fatal(err)
		}
		if j := s.Brokers[0].Jobs; len(j) != 1 || j[0].Name != "wave" || j[0].Submit != 90*grid.Minute {
			t.Errorf("%s: %+v", name, j)
		}
	}
	write(t, dir, "wave.toml", strings.Replace(wave, `"0s"`, `"2026-01-01T00:00:00Z"`, 1))
	if _, err := ReadScenario(filepath.Join(dir, "batch.toml")); err == nil || !strings.Contains(err.Error(), "wave.toml:8: job.ready") {
		t.Errorf("a date in a scenario's batch: %v", err)
	}
	if _, err := ReadScenario(write(t, dir, "none.toml", world+"batch = \"none\"\n")); err == nil || !strings.Contains(err.Error(), "vo1") {
		t.Errorf("a batch that is not there: %v", err)
	}
}

func TestReadBroker_AsOneTableOrTheFirstOfAnArray(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"[broker]", "[[broker]]"} {
		b, err := ParseBroker("broker.toml", []byte(strings.Replace(smallBroker, "[broker]", head, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if b.Name != "vo1" || b.Lead != grid.Minute || b.BudgetLimit != nil {
			t.Errorf("%s: %+v", head, b)
		}
	}
}

func TestCheck_KnowsFilesByTheirTables(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		twoSites:    `scenario "two-sites": 1 site, 1 group, 128 nodes, 1 broker, 200 jobs, 1 trace, until 30d`,
		figure1:     `site "figure1": 1 group, 5 nodes, 4 jobs`,
		smallBroker: `broker "vo1"`,
		wave:        `batch: 1 job`,
	} {
		c, err := Check(write(t, t.TempDir(), "f.toml", text))
		if err != nil {
			t.Fatal(err)
		}
		if c.String() != want {
			t.Errorf("got  %v\nwant %s", c, want)
		}
	}
}

// noParts is what a workload says of jobs of parts if the file does not.
var noParts = Composed{Parts: keys.FromTo(2, 2), Nodes: keys.FromTo(One/4, One), Length: keys.FromTo(One/4, One)}

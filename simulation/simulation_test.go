package simulation

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// record runs a scenario with all invariants on and returns its files.
func record(t *testing.T, sc *configs.Scenario, seed uint64) (*report.Report, string) {
	t.Helper()
	var files, events bytes.Buffer
	s := &Simulation{Scenario: sc, Workloads: NewWorkloads(), Check: true}
	r, err := s.Run(seed, Record{Keep: true, Events: &events})
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range []func() error{
		func() error { return r.WriteSummary(&files) },
		func() error { return r.WriteJobs(&files) },
		func() error { return r.WriteGantt(&files) },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	return r, files.String() + events.String()
}

func TestSimulation_DefaultKeepsInvariantsAndShowsSomethingWorthSeeing(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 5; seed++ {
		sc, err := configs.Preset("default")
		if err != nil {
			t.Fatal(err)
		}
		r, _ := record(t, sc, seed)
		b := r.Summary.Brokers[0]
		if b.Jobs.Placed < b.Jobs.Submitted/3 || b.Jobs.CoAllocated == 0 || b.Transactions.Open != 0 {
			t.Errorf("seed %d: %+v, %d transactions open", seed, b.Jobs, b.Transactions.Open)
		}
		for _, s := range r.Summary.Sites {
			if s.Legs == 0 || s.Local.Started == 0 {
				t.Errorf("seed %d: nothing happens on %s", seed, s.Name)
			}
		}
	}
}

func TestSimulation_SameSeedSameBytesAnotherSeedNot(t *testing.T) {
	t.Parallel()
	sc, err := configs.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	_, a := record(t, sc, 7)
	_, b := record(t, sc, 7)
	_, c := record(t, sc, 8)
	if a != b {
		t.Error("one seed run twice gives different files")
	}
	if a == c {
		t.Error("two seeds give the same files")
	}
}

func TestSimulation_ThreeTraces(t *testing.T) {
	t.Parallel()
	const dir = "../../shared/traces"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the traces are not there:", err)
	}
	sc, err := configs.Preset("three-traces")
	if err != nil {
		t.Fatal(err)
	}
	if err := sc.ResolveTraces(dir); err != nil {
		t.Fatal(err)
	}
	r, _ := record(t, sc, 1)
	if b := r.Summary.Brokers[0]; b.Jobs.Submitted != 1000 || b.Jobs.Placed < 900 {
		t.Errorf("jobs of the VO: %+v", b.Jobs)
	}
	for _, s := range r.Summary.Sites {
		if s.Name == "sdsc" && s.Local.Started+s.Local.Waiting != 2731 {
			t.Errorf("sdsc has %d + %d local jobs of its first 30 days, the trace 2731", s.Local.Started, s.Local.Waiting)
		}
	}
}

// TestSimulation_RandomWorldsKeepInvariants draws scenarios of all policies,
// prices, algorithms and goals, several brokers on the same sites, and holds
// every step of them against the invariants.
func TestSimulation_RandomWorldsKeepInvariants(t *testing.T) {
	t.Parallel()
	worlds := thorough.Count(60, 10)
	if testing.Short() {
		worlds = 10
	}
	placed := 0
	for seed := range uint64(worlds) {
		text := randomScenario(rand.New(rand.NewPCG(seed, 1)))
		sc, err := configs.ParseScenario(fmt.Sprintf("world-%d.toml", seed), []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		s := &Simulation{Scenario: sc, Workloads: NewWorkloads(), Check: true}
		r, err := s.Run(seed, Record{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, b := range r.Summary.Brokers {
			placed += b.Jobs.Placed
		}
	}
	if placed < worlds*10 {
		t.Errorf("only %d jobs placed in %d worlds: nothing was tested", placed, worlds)
	}
}

func randomScenario(r *rand.Rand) string {
	var b strings.Builder
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	fmt.Fprintf(&b, "name = \"world\"\nuntil = \"2d\"\n")
	for i := range 1 + r.IntN(4) {
		fmt.Fprintf(&b, "[[site]]\nname = \"s%d\"\npolicy = %q\npricing = %q\nvo_share = %s\n", i,
			pick("fcfs", "easy", "conservative", "reserve=3", "first-fit"), pick("adaptive", "adaptive", "fixed"), pick("1.0", "1.0", "0.2"))
		if r.IntN(3) == 0 {
			fmt.Fprintf(&b, "[site.limits]\nmin_notice = %q\nmax_share = 0.6\n", pick("0s", "10m"))
		}
		for g := range 1 + r.IntN(2) {
			fmt.Fprintf(&b, "[[site.group]]\nname = \"g%d\"\nnodes = %d\nperformance = %s\nprice = %s\n", g,
				4+r.IntN(60), pick("0.5", "1.0", "1.333", "2.0"), pick("0.0", "0.7", "1.0", "2.5"))
		}
		fmt.Fprintf(&b, "[site.workload]\nmodel = \"lublin\"\nload = %s\n", pick("0.3", "0.8", "1.2"))
	}
	for i := range 1 + r.IntN(3) {
		fmt.Fprintf(&b, "[[broker]]\nname = \"vo%d\"\nbudget = %s\ncycle = %q\nhorizon = \"1d\"\nalgorithm = %q\nminimize = %q\nmax_alternatives = %d\nbatch_size = %s\n",
			i, pick("50.0", "500.0", "100000.0"), pick("10m", "30m"), pick(names.Of(search.Algorithms())...),
			pick("time", "cost", "finish"), 1+r.IntN(6), pick("1", "5", "100"))
		fmt.Fprintf(&b, "[broker.workload]\nmodel = \"uniform\"\njobs = 60\nnodes = [1, %d]\nmax_price = [0.5, 2.0]\n", 4+r.IntN(40))
	}
	return b.String()
}

// The second partition is busy a day later than the first and stays so.
func TestWorkloads_PartitionsOfOneLogKeepItsClock(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "grid.swf")
	const text = `1 1000 -1 -1 1 -1 -1 1 60 -1 0 1 1 1 1 1 -1 -1
2 1100 -1 50 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1
3 87400 -1 50 1 -1 -1 1 60 -1 1 1 1 1 1 2 -1 -1
4 173800 -1 50 1 -1 -1 1 60 -1 1 1 1 1 1 2 -1 -1
`
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w := NewWorkloads()
	for _, c := range []struct {
		partition int
		want      []grid.Time
	}{{0, []grid.Time{100_000, 86_400_000}}, {1, []grid.Time{100_000}}, {2, []grid.Time{86_400_000}}} {
		local, err := w.Local(&configs.Site{Name: "a", Workload: &configs.Workload{Trace: log, Days: 2 * grid.Day, Partition: c.partition}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		vo, err := w.vo(&configs.Broker{Name: "b", Workload: &configs.VOWorkload{Trace: log, Days: 2 * grid.Day, Partition: c.partition,
			MinPerformance: configs.Range[grid.Performance]{Lo: 1000, Hi: 1000}, Deadline: grid.Day,
			MaxPrice: configs.Range[configs.Thousandths]{Lo: 1000, Hi: 2000}}}, 1_000_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		var a, b []grid.Time
		for i := range local {
			a = append(a, local[i].Submit)
		}
		for i := range vo {
			b = append(b, vo[i].Submit)
		}
		if !slices.Equal(a, c.want) || !slices.Equal(b, c.want) {
			t.Errorf("partition %d: local jobs at %v, the VO's at %v, want %v", c.partition, a, b, c.want)
		}
	}
	_, err := w.Local(&configs.Site{Name: "a", Workload: &configs.Workload{Trace: log, Days: 2 * grid.Day, Partition: 3}}, 1)
	if err == nil || !strings.Contains(err.Error(), "no records of partition 3; name one that has: 1, 2; or leave the site out") {
		t.Errorf("a partition without records: %v, which names no remedy", err)
	}
}

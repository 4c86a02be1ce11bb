package simulation

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/formula"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

func ordered(t testing.TB, policy, order, fill string) backfill.Policy {
	t.Helper()
	p, err := backfill.ParsePolicy(policy)
	if err == nil {
		p, err = p.Ordered(order, fill)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// By hand: four nodes, runs equal estimates.
func TestRunReplay_OrdersOfTheExampleByHand(t *testing.T) {
	t.Parallel()
	var jobs []grid.LocalJob
	for i, j := range [][3]int64{{0, 4, 10}, {1, 3, 10}, {2, 1, 2}, {3, 2, 4}, {4, 1, 12}} {
		jobs = append(jobs, grid.LocalJob{ID: int64(i + 1), Submit: grid.Time(j[0] * 1000), Nodes: int(j[1]), Run: grid.Duration(j[2] * 1000), Estimate: grid.Duration(j[2] * 1000)})
	}
	for _, x := range []struct{ policy, order, want string }{
		{"easy", "fcfs", "0 10 10 20 12"},
		{"easy", "sjf", "0 14 10 10 10"},
		{"easy", "ljf", "0 10 20 20 10"},
		{"fcfs", "fcfs", "0 10 10 20 20"},
		{"fcfs", "sjf", "0 14 10 10 14"},
		{"fcfs", "saf", "0 14 10 10 10"},
	} {
		r := replay(t, jobs, ReplayOptions{Nodes: 4, Policy: ordered(t, x.policy, x.order, "")})
		var starts []string
		for i := range r.Outcomes {
			starts = append(starts, strconv.FormatInt(int64(r.Outcomes[i].Start/1000), 10))
		}
		if got := strings.Join(starts, " "); got != x.want {
			t.Errorf("%s by %s starts %s, want %s", x.policy, x.order, got, x.want)
		}
	}
}

//go:embed testdata/orders.txt
var orderCases string

// Schedules of another program are the same job by job.
func TestRunReplay_OrdersAreThoseOfAnotherProgram(t *testing.T) {
	t.Parallel()
	logs := map[string][]string{}
	for line := range strings.Lines(orderCases) {
		if f := strings.Split(strings.TrimSpace(line), "|"); len(f) == 13 {
			logs[f[0]] = append(logs[f[0]], line)
		}
	}
	for _, name := range []string{"SDSC-SP2-1998-4.2-cln.swf.gz", "KTH-SP2-1996-2.1-cln.swf.gz", "lublin1.swf"} {
		if len(logs[name]) != 26 {
			t.Errorf("%d cases of %s, want 26", len(logs[name]), name)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := lublin(t)
			if name != "lublin1.swf" {
				file = workloadtest.Shared(t, "traces", name)
			}
			for _, line := range logs[name] {
				checkSchedule(t, file, strings.Split(strings.TrimSpace(line), "|"))
			}
		})
	}
}

// lublin is the log that bourse generate --model lublin --jobs 2000 --procs 256 --seed 1 draws.
func lublin(t *testing.T) string {
	t.Helper()
	jobs, err := workload.Lublin{Nodes: 256, Load: 0, Seed: 1}.Jobs(2000)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "lublin1.swf")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := workload.Write(f, workload.FromJobs(workload.Header{}, jobs)); err != nil {
		t.Fatal(err)
	}
	return file
}

// checkSchedule replays a case of testdata/orders.txt, given by its fields.
func checkSchedule(t *testing.T, file string, f []string) {
	t.Helper()
	number := func(i int) float64 {
		x, err := strconv.ParseFloat(f[i], 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	trace, err := workload.Open(file, workload.Options{Skip: int(number(2))})
	if err != nil {
		t.Fatal(err)
	}
	trace.Records = trace.Records[:int(number(3))]
	jobs, _ := trace.Jobs(workload.JobOptions{})
	r := replay(t, jobs, ReplayOptions{Nodes: int(number(1)), Policy: ordered(t, f[4], f[5], f[6])})
	lines, longest, last := sha256.New(), grid.Duration(0), grid.Time(0)
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		fmt.Fprintf(lines, "%d,%d\n", o.Job.ID, o.Start/1000)
		longest, last = max(longest, o.Wait()), max(last, o.End)
	}
	s := r.Summary(false)
	if got := hex.EncodeToString(lines.Sum(nil)); got != f[12] || s.Jobs != int(number(7)) || math.Abs(s.MeanWait-number(8)) > 1e-6 ||
		math.Abs(s.BoundedSlowdown-number(9)) > 1e-6 || longest.Seconds() != number(10) || last.Sub(0).Seconds() != number(11) {
		t.Errorf("%v: %d jobs, wait %v, slowdown %v, longest %v, last end %v, schedule %s", f[4:], s.Jobs, s.MeanWait, s.BoundedSlowdown, longest, last, got)
	}
}

// A formula equal to a named policy gives the policy's bytes, even where it is computed
// differently: "usage + 0" is computed, "usage" is the policy.
func TestRunReplay_OrdersHaveTwins(t *testing.T) {
	t.Parallel()
	jobs := workloadtest.Drawn(3000, 64, 0.95, 1)
	for i := range jobs {
		jobs[i].User = int64(i*i) % 17
		jobs[i].Queue = i % 3
	}
	for _, x := range []struct{ policy, twin, order, fill string }{
		{"easy", "easy", "fcfs", ""},
		{"easy", "easy", "submit + 0", ""},
		{"fcfs", "fcfs", "submit", ""},
		{"reserve=3", "reserve=3", "-wait", ""},
		{"first-fit", "first-fit", "submit * 2", ""},
		{"easy-fair", "easy", "usage", ""},
		{"easy-fair", "easy", "usage + 0", ""},
		{"fcfs-fair", "fcfs", "usage + 0", ""},
		{"easy-sjbf", "easy", "", "estimate"},
		{"easy-sjbf", "easy", "", "predicted"},
		{"easy-sjbf", "easy", "submit - 3", "predicted * 2"},
		{"easy-fair-sjbf", "easy", "usage", "estimate"},
		{"reserve=4-sjbf", "reserve=4", "", "estimate"},
		{"easy", "easy", "", "submit"},
		{"easy", "easy", "", "-wait"},
	} {
		for _, limits := range []bool{false, true} {
			options := func(p backfill.Policy) (opt ReplayOptions) {
				opt = ReplayOptions{Nodes: 64, Policy: p}
				if limits {
					opt.Limits.UserRunning = 2
				}
				return opt
			}
			want, got := replay(t, jobs, options(ordered(t, x.policy, "", ""))), replay(t, jobs, options(ordered(t, x.twin, x.order, x.fill)))
			if !slices.Equal(got.Outcomes, want.Outcomes) {
				t.Errorf("%s by %q, overtaking by %q, is not %s (limits %v)", x.twin, x.order, x.fill, x.policy, limits)
			}
		}
	}
}

// A value that is no number comes last, and is counted by job.
func TestRunReplay_CountsValuesThatAreNoNumber(t *testing.T) {
	t.Parallel()
	jobs := workloadtest.Drawn(500, 16, 0.95, 1)
	r := replay(t, jobs, ReplayOptions{Nodes: 16, Policy: ordered(t, "easy", "sqrt(nodes - 3)", "")})
	small := 0
	for i := range jobs {
		if jobs[i].Nodes < 3 && jobs[i].Nodes <= 16 {
			small++
		}
	}
	if r.NoNumber != small || small == 0 {
		t.Errorf("%d jobs had no number, want %d", r.NoNumber, small)
	}
}

// BenchmarkRunReplay_Orders: what an order costs over the whole of SDSC-SP2; compare with fcfs.
func BenchmarkRunReplay_Orders(b *testing.B) {
	jobs := workloadtest.SDSC(b, 0)
	for _, x := range formula.Orders() {
		b.Run(x.Name, func(b *testing.B) {
			for b.Loop() {
				if _, err := RunReplay(jobs, ReplayOptions{Nodes: 128, Policy: ordered(b, "easy", x.Name, "")}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

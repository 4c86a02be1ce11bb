package studies

import (
	"encoding/csv"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"bourse"
	"bourse/policy/backfill"
	"bourse/policy/choice"
	"bourse/workload"
)

// shared finds a file beside the module's root, or skips.
func shared(tb testing.TB, path ...string) string {
	tb.Helper()
	file := filepath.Join(append([]string{"..", "..", "shared"}, path...)...)
	if _, err := os.Stat(file); err != nil {
		tb.Skipf("the file %s is absent: %v", filepath.Join(path...), err)
	}
	return file
}

func sdsc(tb testing.TB, span bourse.Duration) []bourse.LocalJob {
	tb.Helper()
	t, err := workload.Open(shared(tb, "traces", "SDSC-SP2-1998-4.2-cln.swf.gz"), workload.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	jobs, _ := t.Jobs(workload.JobOptions{Span: span})
	return jobs
}

func replay(tb testing.TB, jobs []bourse.LocalJob, opt ReplayOptions) *Replay {
	tb.Helper()
	r, err := RunReplay(jobs, opt)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// golden reads job,start.
func golden(t *testing.T, name string) map[int64]bourse.Time {
	t.Helper()
	f, err := os.Open(shared(t, "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	starts := map[int64]bourse.Time{}
	for _, row := range rows[1:] {
		job, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if starts[job], err = bourse.ParseTime(row[1]); err != nil {
			t.Fatal(err)
		}
	}
	return starts
}

func TestReplay_SDSC30DaysEqualsIndependentPrograms(t *testing.T) {
	t.Parallel()
	for _, p := range []backfill.Policy{backfill.EASY, backfill.Conservative} {
		want := golden(t, p.String()+"-sdsc-30days.csv")
		r := replay(t, sdsc(t, 30*bourse.Day), ReplayOptions{Nodes: 128, Policy: p})
		wrong := 0
		for _, o := range r.Outcomes {
			at, ok := want[o.Job.ID]
			if !ok || at != o.Start {
				if wrong++; wrong < 5 {
					t.Errorf("%v: job %d starts at %v, want %v (%v)", p, o.Job.ID, o.Start, at, ok)
				}
			}
		}
		if wrong > 0 || len(r.Outcomes) != len(want) {
			t.Errorf("%v: %d of %d jobs differ, %d wanted", p, wrong, len(r.Outcomes), len(want))
		}
	}
}

func TestReplay_AllJobsOfSDSCRun(t *testing.T) {
	t.Parallel()
	jobs := sdsc(t, 0)
	for _, p := range []backfill.Policy{backfill.FCFS, backfill.FirstFit, backfill.EASY, {Backfill: true, Reserve: 8}, backfill.Conservative} {
		r := replay(t, jobs, ReplayOptions{Nodes: 128, Policy: p})
		if s := r.Summary(false); s.Jobs != 54034 {
			t.Errorf("%v: %d jobs ran, want 54,034", p, s.Jobs)
		}
		overbooked(t, r)
	}
}

// overbooked fails if ever more nodes are taken than there are.
func overbooked(t *testing.T, r *Replay) {
	t.Helper()
	type change struct {
		at bourse.Time
		n  int
	}
	var changes []change
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Ran() {
			if o.Start < o.Job.Submit || o.End < o.Start {
				t.Fatalf("job %d: submit %v, start %v, end %v", o.Job.ID, o.Job.Submit, o.Start, o.End)
			}
			changes = append(changes, change{o.Start, o.Job.Nodes}, change{o.End, -o.Job.Nodes})
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		if a.at != b.at {
			return int(min(max(a.at-b.at, -1), 1))
		}
		return a.n - b.n
	})
	busy := 0
	for _, c := range changes {
		if busy += c.n; busy > r.Nodes {
			t.Fatalf("%d of %d nodes are busy at %v", busy, r.Nodes, c.at)
		}
	}
}

func TestReplay_ReservationsAreKeptAndPriced(t *testing.T) {
	t.Parallel()
	jobs := replayWorkload(2000, 64, 0.8, 1)
	for _, p := range []backfill.Policy{backfill.EASY, backfill.Conservative} {
		opt := ReplayOptions{Nodes: 64, Policy: p, Reservations: 0.1, Copy: 0.2, Seed: 7}
		r := replay(t, jobs, opt)
		overbooked(t, r)
		s := r.Summary(true)
		if s.Jobs != 2400 || s.Reservations != 240 {
			t.Errorf("%v: %d jobs, %d reservations, want 2400 and 240", p, s.Jobs, s.Reservations)
		}
		again := replay(t, jobs, opt)
		if !slices.Equal(r.Outcomes, again.Outcomes) {
			t.Errorf("%v: the same seed gave another replay", p)
		}
		opt.Alpha = 1_000_000
		if s := replay(t, jobs, opt).Summary(true); s.MeanPriceSU != 0 || s.ShareFree != 1 {
			t.Errorf("%v: at alpha 1 all should be free: %+v", p, *s.ReservationSummary)
		}
	}
}

func TestReplay_OverloadIsSaid(t *testing.T) {
	t.Parallel()
	_, err := RunReplay(replayWorkload(2000, 64, 3, 1), ReplayOptions{Nodes: 64, Policy: backfill.EASY, Limit: 100})
	var over *OverloadError
	if !errors.As(err, &over) || over.Limit != 100 {
		t.Errorf("error %v, want an overload at 100 jobs", err)
	}
}

func TestReplay_TooLargeJobsAreRefusedAndCounted(t *testing.T) {
	t.Parallel()
	r := replay(t, []bourse.LocalJob{
		{ID: 1, Nodes: 5, Run: 10, Estimate: 10}, {ID: 1, Nodes: 4, Run: 10, Estimate: 5}, {ID: 2, Nodes: 4},
	}, ReplayOptions{Nodes: 4, Policy: backfill.EASY})
	if r.Refused != 1 || r.Outcomes[0].Ran() {
		t.Errorf("refused %d", r.Refused)
	}
	if o := r.Outcomes[1]; o.Start != 0 || o.End != 5 {
		t.Errorf("an overrun is killed at its estimate: %+v", o)
	}
	if o := r.Outcomes[2]; o.Start != 5 || o.End != 5 {
		t.Errorf("a job that never ran takes no time: %+v", o)
	}
}

func TestReplay_ExtendMovesThePlannedEndOn(t *testing.T) {
	t.Parallel()
	for _, p := range []backfill.Policy{backfill.EASY, backfill.Conservative} {
		r := replay(t, []bourse.LocalJob{
			{ID: 1, Nodes: 4, Run: 25, Estimate: 10}, {ID: 2, Nodes: 4, Run: 3, Estimate: 3},
		}, ReplayOptions{Nodes: 4, Policy: p, Extend: true})
		if o := r.Outcomes; o[0].End != 25 || o[1].Start != 25 {
			t.Errorf("%v: %+v", p, o)
		}
	}
	if _, err := RunReplay(nil, ReplayOptions{Nodes: 4, Extend: true, Reservations: 0.1}); err == nil {
		t.Error("extend with reservations gave no error")
	}
}

// replayWorkload draws jobs whose sizes are mostly powers of two, whose runs spread
// over three decades and whose estimates are a few times the run.
func replayWorkload(n, nodes int, load float64, seed uint64) []bourse.LocalJob {
	r := rand.New(rand.NewPCG(seed, 0))
	jobs := make([]bourse.LocalJob, n)
	var at bourse.Time
	var work float64
	for i := range jobs {
		size := 1 << r.IntN(7)
		if r.IntN(4) == 0 {
			size = 1 + r.IntN(nodes)
		}
		run := bourse.Duration(1+r.IntN(10)) * bourse.Minute
		for range r.IntN(4) {
			run *= 3
		}
		j := bourse.LocalJob{ID: int64(i + 1), Submit: at, Nodes: min(size, nodes), Run: run, Estimate: run * bourse.Duration(1+r.IntN(4))}
		jobs[i] = j
		work += float64(j.Nodes) * float64(run)
		at = bourse.Time(work / (load * float64(nodes)))
	}
	return jobs
}

func benchReplay(b *testing.B, jobs []bourse.LocalJob, opt ReplayOptions) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := RunReplay(jobs, opt); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(jobs))*(1+opt.Copy)*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

func BenchmarkReplay_SDSC54034_EASY(b *testing.B) {
	benchReplay(b, sdsc(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.EASY})
}

func BenchmarkReplay_SDSC54034_Conservative(b *testing.B) {
	benchReplay(b, sdsc(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.Conservative})
}

func BenchmarkReplay_SDSC54034_FCFS(b *testing.B) {
	benchReplay(b, sdsc(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.FCFS})
}

func BenchmarkReplay_SDSC54034_Reserve8(b *testing.B) {
	benchReplay(b, sdsc(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.Policy{Backfill: true, Reserve: 8}})
}

func BenchmarkReplay_SDSC75648_EASY_Overload40(b *testing.B) {
	benchReplay(b, sdsc(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.EASY, Copy: 0.4})
}

func BenchmarkReplay_SDSC75648_Conservative_Overload40(b *testing.B) {
	benchReplay(b, sdsc(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.Conservative, Copy: 0.4})
}

func BenchmarkReplay_SDSC54034_EASY_Reservations10(b *testing.B) {
	benchReplay(b, sdsc(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.EASY, Reservations: 0.1})
}

// The whole list of each reservation counts.
func BenchmarkReplay_SDSC54034_EASY_Reservations10_AlphaHalf(b *testing.B) {
	benchReplay(b, sdsc(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.EASY, Reservations: 0.1, Alpha: choice.One / 2})
}

func BenchmarkReplay_Generated20000_EASY(b *testing.B) {
	benchReplay(b, replayWorkload(20000, 128, 0.85, 1), ReplayOptions{Nodes: 128, Policy: backfill.EASY})
}

func BenchmarkReplay_Generated20000_Conservative(b *testing.B) {
	benchReplay(b, replayWorkload(20000, 128, 0.85, 1), ReplayOptions{Nodes: 128, Policy: backfill.Conservative})
}

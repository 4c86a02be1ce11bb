package simulation

import (
	"encoding/csv"
	"errors"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

func replay(tb testing.TB, jobs []grid.LocalJob, opt ReplayOptions) *Replay {
	tb.Helper()
	r, err := RunReplay(jobs, opt)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// golden reads job,start.
func golden(t *testing.T, name string) map[int64]grid.Time {
	t.Helper()
	f, err := os.Open(workloadtest.Shared(t, "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	starts := map[int64]grid.Time{}
	for _, row := range rows[1:] {
		job, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if starts[job], err = grid.ParseTime(row[1]); err != nil {
			t.Fatal(err)
		}
	}
	return starts
}

func TestReplay_SDSC30DaysEqualsIndependentPrograms(t *testing.T) {
	t.Parallel()
	for _, p := range []backfill.Policy{backfill.EASY, backfill.Conservative} {
		want := golden(t, p.String()+"-sdsc-30days.csv")
		r := replay(t, workloadtest.SDSC(t, 30*grid.Day), ReplayOptions{Nodes: 128, Policy: p})
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
	jobs := workloadtest.SDSC(t, 0)
	for _, p := range []backfill.Policy{backfill.FCFS, backfill.FirstFit, backfill.EASY, backfill.Reserving(8), backfill.Conservative} {
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
		at grid.Time
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
	jobs := workloadtest.Drawn(2000, 64, 0.8, 1)
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
	_, err := RunReplay(workloadtest.Drawn(2000, 64, 3, 1), ReplayOptions{Nodes: 64, Policy: backfill.EASY, Limit: 100})
	var over *OverloadError
	if !errors.As(err, &over) || over.Limit != 100 {
		t.Errorf("error %v, want an overload at 100 jobs", err)
	}
}

func TestReplay_TooLargeJobsAreRefusedAndCounted(t *testing.T) {
	t.Parallel()
	r := replay(t, []grid.LocalJob{
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
		r := replay(t, []grid.LocalJob{
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

func benchReplay(b *testing.B, jobs []grid.LocalJob, opt ReplayOptions) {
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
	benchReplay(b, workloadtest.SDSC(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.EASY})
}

func BenchmarkReplay_SDSC54034_Conservative(b *testing.B) {
	benchReplay(b, workloadtest.SDSC(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.Conservative})
}

func BenchmarkReplay_SDSC54034_FCFS(b *testing.B) {
	benchReplay(b, workloadtest.SDSC(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.FCFS})
}

func BenchmarkReplay_SDSC54034_Reserve8(b *testing.B) {
	benchReplay(b, workloadtest.SDSC(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.Reserving(8)})
}

func BenchmarkReplay_SDSC75648_EASY_Overload40(b *testing.B) {
	benchReplay(b, workloadtest.SDSC(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.EASY, Copy: 0.4})
}

func BenchmarkReplay_SDSC75648_Conservative_Overload40(b *testing.B) {
	benchReplay(b, workloadtest.SDSC(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.Conservative, Copy: 0.4})
}

func BenchmarkReplay_SDSC54034_EASY_Reservations10(b *testing.B) {
	benchReplay(b, workloadtest.SDSC(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.EASY, Reservations: 0.1})
}

// The whole list of each reservation counts.
func BenchmarkReplay_SDSC54034_EASY_Reservations10_AlphaHalf(b *testing.B) {
	benchReplay(b, workloadtest.SDSC(b, 0), ReplayOptions{Nodes: 128, Policy: backfill.EASY, Reservations: 0.1, Alpha: choice.One / 2})
}

func BenchmarkReplay_Generated20000_EASY(b *testing.B) {
	benchReplay(b, workloadtest.Drawn(20000, 128, 0.85, 1), ReplayOptions{Nodes: 128, Policy: backfill.EASY})
}

func benchTogether(b *testing.B, n int) {
	b.Helper()
	jobs := workloadtest.Drawn(n, 128, 1, 1)
	for i := range jobs {
		jobs[i].Submit = 0
	}
	benchReplay(b, jobs, ReplayOptions{Nodes: 128, Policy: backfill.Conservative})
}

// All jobs wait from the beginning: after each early end most of the queue moves up.
func BenchmarkReplay_Together1000_Conservative(b *testing.B)  { benchTogether(b, 1000) }
func BenchmarkReplay_Together3000_Conservative(b *testing.B)  { benchTogether(b, 3000) }
func BenchmarkReplay_Together10000_Conservative(b *testing.B) { benchTogether(b, 10000) }
func BenchmarkReplay_Together30000_Conservative(b *testing.B) {
	if testing.Short() {
		b.Skip("takes half a minute")
	}
	benchTogether(b, 30000)
}

func BenchmarkReplay_Generated20000_Conservative(b *testing.B) {
	benchReplay(b, workloadtest.Drawn(20000, 128, 0.85, 1), ReplayOptions{Nodes: 128, Policy: backfill.Conservative})
}

// Without a job the others do as if the list had never held it.
func TestReplay_WithoutAJobIsTheListWithoutIt(t *testing.T) {
	t.Parallel()
	jobs := workloadtest.Drawn(400, 64, 0.9, 3)
	for _, place := range []int{1, 2, 77, len(jobs)} {
		opt := ReplayOptions{Nodes: 64, Policy: backfill.EASY}
		shorter := append(append([]grid.LocalJob{}, jobs[:place-1]...), jobs[place:]...)
		want := replay(t, shorter, opt)
		opt.Without = place
		got := replay(t, jobs, opt)
		if got.Outcomes[place-1].Ran() {
			t.Fatalf("job %d ran", place)
		}
		rest := append(append([]Outcome{}, got.Outcomes[:place-1]...), got.Outcomes[place:]...)
		if !reflect.DeepEqual(rest, want.Outcomes) {
			t.Errorf("without job %d the others ran otherwise than in the list without it", place)
		}
	}
}

// Notice moves the start wanted, and the delays kept make up each price.
func TestReplay_NoticeIsKeptAndDelaysMakeUpThePrice(t *testing.T) {
	t.Parallel()
	for _, notice := range []grid.Duration{0, 2 * grid.Hour} {
		r := replay(t, workloadtest.Drawn(1500, 64, 0.9, 4), ReplayOptions{
			Nodes: 64, Policy: backfill.EASY, Reservations: 0.2, Seed: 5, Notice: notice, Delays: true,
		})
		overbooked(t, r)
		charged := 0
		for i := range r.Outcomes {
			o := &r.Outcomes[i]
			if !o.Reserved() {
				if r.Delays[i] != nil {
					t.Fatalf("job %d is no reservation and was charged", i)
				}
				continue
			}
			if o.Wait() < notice {
				t.Errorf("reservation %d starts %v after it asked, notice %v", i, o.Wait(), notice)
			}
			sum := grid.Duration(0)
			for _, d := range r.Delays[i] {
				sum += grid.Duration(d.Nodes) * d.By
			}
			if sum != o.Additive {
				t.Errorf("reservation %d pays %v for delays of %v", i, o.Additive, sum)
			}
			if sum > 0 {
				charged++
			}
		}
		if charged < 10 {
			t.Errorf("only %d reservations were charged", charged)
		}
	}
}

// A preference of its own for each reservation does not depend on the policy, and
// lies between the extremes in price.
func TestReplay_MixedAlphasPayBetweenTheExtremes(t *testing.T) {
	t.Parallel()
	jobs := workloadtest.Drawn(1500, 64, 0.9, 6)
	opt := ReplayOptions{Nodes: 64, Policy: backfill.EASY, Reservations: 0.2, Seed: 5}
	dear := replay(t, jobs, opt).Summary(true).MeanPriceSU
	opt.Mixed = true
	for _, opt.Tenths = range []bool{false, true} {
		mixed := replay(t, jobs, opt).Summary(true)
		if mixed.MeanPriceSU <= 0 || mixed.MeanPriceSU >= dear {
			t.Errorf("mixed alphas, in tenths %t, pay %v, alpha 0 pays %v", opt.Tenths, mixed.MeanPriceSU, dear)
		}
	}
}

// Jobs of a queue of higher priority wait less.
func TestReplay_AQueueOfHigherPriorityIsQuicker(t *testing.T) {
	t.Parallel()
	jobs := workloadtest.Drawn(1500, 64, 0.9, 7)
	chosen := DrawReservations(jobs, 64, 0.2, 8)
	waits := func(priority int) (sum grid.Duration) {
		list := append([]grid.LocalJob{}, jobs...)
		for i := range list {
			if chosen[i] {
				list[i].Queue = 1
			}
		}
		r := replay(t, list, ReplayOptions{Nodes: 64, Policy: backfill.EASY, Queues: []queue.Named{{DelayCost: 1000}, {Priority: priority, DelayCost: 1000}}})
		for i := range r.Outcomes {
			if chosen[i] {
				sum += r.Outcomes[i].Wait()
			}
		}
		return sum
	}
	if quick, plain := waits(1), waits(0); quick*2 > plain {
		t.Errorf("high priority waits %v s, no priority %v s", quick, plain)
	}
}

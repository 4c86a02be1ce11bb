package simulation

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

// RunReplay, which keeps the whole list, is the naive twin of the streamed one.
func TestStreamReplay_TellsTheOutcomesOfTheWholeListInItsOrder(t *testing.T) {
	t.Parallel()
	jobs := workloadtest.Drawn(6000, 64, 0.95, 11)
	for i := range jobs {
		if i%500 == 7 {
			jobs[i].Nodes = 65 // is refused
		}
		if i%7 == 0 {
			jobs[i].Run *= 2 // runs past its estimate, or is killed there
		}
	}
	for _, p := range []backfill.Policy{backfill.FCFS, backfill.EASY, backfill.Conservative} {
		for _, extend := range []bool{false, true} {
			opt := ReplayOptions{Nodes: 64, Policy: p, Extend: extend}
			whole := replay(t, jobs, opt)
			var told []Outcome
			var figures Figures
			counts, err := StreamReplay(queue.Jobs(jobs), opt, func(o *Outcome) {
				told = append(told, *o)
				figures.Add(o)
			})
			if err != nil || counts != whole.Counts || !slices.Equal(told, whole.Outcomes) {
				t.Fatalf("%v, extend %v: error %v, %d of %d refused, %d of %d outcomes, or other ones", p, extend, err, counts.Refused, whole.Refused, len(told), len(whole.Outcomes))
			}
			if got, want := figures.Summary(64), whole.Summary(false); got != want || figures.Classes() != whole.Classes() {
				t.Errorf("%v, extend %v: the figures are %+v, of the whole list %+v", p, extend, got, want)
			}
		}
	}
}

func TestStreamReplay_ForgetsWhatIsOver(t *testing.T) {
	t.Parallel()
	n, waiting, most := 0, 0, 0
	_, err := StreamReplay(func() (grid.LocalJob, bool) {
		n++
		waiting++
		most = max(most, waiting)
		return grid.LocalJob{ID: int64(n), Nodes: 1, Submit: grid.Time(n) * 1000, Run: 1500, Estimate: 2000}, n <= 100_000
	}, ReplayOptions{Nodes: 4, Policy: backfill.EASY}, func(*Outcome) { waiting-- })
	if err != nil || most > 10 {
		t.Errorf("error %v; %d outcomes were kept at once, of which 2 jobs run", err, most)
	}
}

func TestStreamReplay_OverloadIsSaid(t *testing.T) {
	t.Parallel()
	_, err := StreamReplay(queue.Jobs(workloadtest.Drawn(2000, 64, 3, 1)), ReplayOptions{Nodes: 64, Policy: backfill.EASY, Limit: 100}, func(*Outcome) {})
	var over *OverloadError
	if !errors.As(err, &over) || over.Limit != 100 {
		t.Errorf("error %v, want an overload at 100 jobs", err)
	}
}

// Reading included: a file of 65 MB, of which some megabytes are in memory.
func BenchmarkStreamReplay_1000000Jobs_EASY(b *testing.B) {
	const size = 1_000_000
	file := filepath.Join(b.TempDir(), "million.swf")
	f, err := os.Create(file)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for _, j := range workloadtest.Drawn(size, 128, 0.7, 1) {
		fmt.Fprintf(w, "%d %d -1 %d %d %d -1 %d %d -1 1 17 1 -1 0 -1 -1 -1\n", j.ID, j.Submit/1000, j.Run/1000, j.Nodes, j.Run/1000, j.Nodes, j.Estimate/1000)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		feed, err := workload.OpenFeed(file, workload.Options{}, workload.JobOptions{})
		if err != nil {
			b.Fatal(err)
		}
		var figures Figures
		if _, err := StreamReplay(feed.Next, ReplayOptions{Nodes: 128, Policy: backfill.EASY}, figures.Add); err != nil {
			b.Fatal(err)
		}
		if _, records, _, err := feed.End(); err != nil || records != size || figures.Summary(128).Jobs == 0 {
			b.Fatalf("%d records were read: %v", records, err)
		}
		feed.Close()
	}
}

// A large machine, where a thousand jobs run at once; the jobs are drawn beside. With one
// node in five idle nobody waits, with one in two hundred some always do.
func BenchmarkStreamReplay_2000000Jobs_10000Nodes_EASY(b *testing.B) {
	const size, nodes = 2_000_000, 10_000
	for _, load := range []int{800, 995} {
		b.Run(fmt.Sprintf("load=%d", load), func(b *testing.B) {
			if testing.Short() && load > 900 {
				b.Skip("takes some ten seconds")
			}
			const work = 36_909 // node-seconds of a job
			span := grid.Duration(int64(size) * work * 1000 / nodes * 1000 / int64(load))
			for b.Loop() {
				next, err := workload.Uniform{Nodes: nodes, Seed: 1}.Each(size, span)
				if err != nil {
					b.Fatal(err)
				}
				var figures Figures
				if _, err := StreamReplay(next, ReplayOptions{Nodes: nodes, Policy: backfill.EASY}, figures.Add); err != nil {
					b.Fatal(err)
				}
				if s := figures.Summary(nodes); s.Jobs != size || s.Utilisation < float64(load)/1000-0.01 {
					b.Fatalf("%+v", s)
				}
			}
		})
	}
}

package explain

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// largeJournal is a folder with the journal of a broker of 20 sites: a job, placed
// in a cycle of its own, and then 250 MB of others' cycles, with what is free at the
// sites in 100 steps each, and of others' jobs.
func largeJournal(b *testing.B) *journal.Folder {
	b.Helper()
	folder := b.TempDir()
	g := newGrid(b)
	g.cfg.Explain, g.cfg.Horizon = 1<<30, 7*grid.Day
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 20 {
		s := g.site(fmt.Sprintf("s%03d", i), 256, grid.Price(500_000+rng.IntN(2_000_000)))
		for range 50 {
			from := grid.Time(rng.IntN(600_000)) * sec
			s.free.Add(from, from.Add(grid.Duration(1+rng.IntN(40_000))*grid.Second), -1)
		}
	}
	g.start()
	g.submit(job("wave-abcdefgh", 4, grid.Hour, 100*grid.Credit))
	g.run(0)
	disk, err := journal.OpenFolder(folder)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = disk.Close() })
	j, err := journal.Open(disk, journal.Options{Agent: "broker:vo1"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	var seen facts.CycleSeen
	for at, f := range g.journal() {
		if f, ok := f.(facts.CycleSeen); ok {
			seen = f
		}
		if err := j.Append(at, f); err != nil {
			b.Fatal(err)
		}
	}
	for i := 0; i%64 > 0 || size(b, folder) < 250_000_000; i++ {
		at := g.now.Add(grid.Duration(i) * grid.Second)
		seen.Cycle, seen.Jobs = uint64(i+2), []facts.CycleJob{{Name: fmt.Sprintf("job%d-abcdefgh", i)}}
		recorded := []agents.Fact{seen, facts.CyclePlanned{Cycle: seen.Cycle}}
		for k := range 10 {
			tx := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: uint64(10*i + k + 10)}
			leg, name := grid.LegID{Tx: tx}, fmt.Sprintf("job%d-%d", i, k)
			recorded = append(recorded, facts.JobSubmitted{Job: job(name, 4, grid.Hour, 100*grid.Credit)},
				facts.TxBegun{Tx: tx, Job: name, Sites: []string{"north"}, Legs: []grid.Leg{{Group: "main"}}, Limits: []grid.Credits{1}},
				facts.LegPriced{Leg: leg}, facts.TxDecided{Tx: tx, Job: name, Commit: true}, facts.LegClosed{Leg: leg, Commit: true})
		}
		for _, f := range append(recorded, facts.CycleClosed{Cycle: seen.Cycle}) {
			if err := j.Append(at, f); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := j.Sync(); err != nil {
		b.Fatal(err)
	}
	return disk
}

// size is how many bytes the first segment has.
func size(b *testing.B, folder string) int64 {
	info, err := os.Stat(filepath.Join(folder, "00000001.journal"))
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// BenchmarkExplain_Journal250MB explains a job whose facts are at the beginning of a long
// journal, once with all facts decoded and once with those that a sieve finds.
func BenchmarkExplain_Journal250MB(b *testing.B) {
	disk := largeJournal(b)
	b.Run("decoded", func(b *testing.B) {
		recorded := 0
		for b.Loop() {
			recorded = 0
			_, err := Explain(func(yield func(grid.Time, agents.Fact) bool) {
				_, _ = journal.Read(disk, journal.NewCodec(), func(r journal.Record) error {
					recorded++
					yield(r.At, r.Fact)
					return nil
				})
			}, "wave-abcdefgh", Options{})
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(recorded), "facts")
	})
	b.Run("sieved", func(b *testing.B) {
		for b.Loop() {
			sifted(b, disk, 0, "wave-abcdefgh")
		}
	})
}

// BenchmarkExplain_LongJournal is a look at a million facts of other jobs.
func BenchmarkExplain_LongJournal(b *testing.B) {
	g := newGrid(b)
	g.site("north", 4, 3_600_000)
	g.start()
	g.submit(job("wave", 4, 1000*grid.Second, 4*grid.Credit))
	g.run(0)
	others := make([]agents.Fact, 0, 1_000_000)
	for i := range 200_000 {
		id := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: uint64(i + 10)}
		leg := grid.LegID{Tx: id}
		name := fmt.Sprint("job", i)
		others = append(others, facts.JobSubmitted{Job: grid.Job{Name: name}},
			facts.TxBegun{Tx: id, Job: name, Sites: []string{"north"}, Legs: []grid.Leg{{Group: "main"}}, Limits: []grid.Credits{1}},
			facts.LegPriced{Leg: leg}, facts.TxDecided{Tx: id, Job: name, Commit: true}, facts.LegClosed{Leg: leg, Commit: true})
	}
	all := func(yield func(grid.Time, agents.Fact) bool) {
		for at, f := range g.journal() {
			if !yield(at, f) {
				return
			}
		}
		for _, f := range others {
			if !yield(g.now, f) {
				return
			}
		}
	}
	for b.Loop() {
		if _, err := Explain(all, "wave", Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExplain_LargeCycle is an explanation of one job of 50 over 100 groups
// with 100 steps each, as far as the bound on work lets it go.
func BenchmarkExplain_LargeCycle(b *testing.B) {
	for _, size := range []struct{ sites, steps, jobs int }{{5, 50, 1}, {20, 100, 20}, {100, 100, 50}} {
		b.Run(fmt.Sprintf("sites=%d/steps=%d/jobs=%d", size.sites, size.steps, size.jobs), func(b *testing.B) {
			if testing.Short() && size.sites > 20 {
				b.Skip("takes some ten seconds")
			}
			g := newGrid(b)
			g.cfg.Explain, g.cfg.MaxAlternatives, g.cfg.Horizon = 1<<30, 20, 7*grid.Day
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range size.sites {
				s := g.site(fmt.Sprintf("s%03d", i), 256, grid.Price(500_000+rng.IntN(2_000_000)))
				for range size.steps / 2 {
					from := grid.Time(rng.IntN(600_000)) * sec
					to := from.Add(grid.Duration(1+rng.IntN(40_000)) * grid.Second)
					if n := s.free.Min(from, to); n > 0 {
						s.free.Add(from, to, -1-rng.IntN(n))
					}
				}
			}
			g.start()
			for i := range size.jobs {
				j := job(fmt.Sprint("j", i), 1+rng.IntN(600), grid.Duration(600+rng.IntN(14_000))*grid.Second, grid.Credits(1000)*grid.Credit)
				g.submit(j)
			}
			g.run(0)
			var e *Explanation
			for b.Loop() {
				e = g.explain("j0")
			}
			bytes := 0
			for _, f := range g.facts {
				if f, ok := f.(facts.CycleSeen); ok {
					for _, s := range f.Sites {
						for _, x := range s.Groups {
							bytes += len(x.Free) + len(x.Clear)
						}
					}
				}
			}
			b.ReportMetric(float64(bytes), "curveBytes")
			b.ReportMetric(float64(len(e.Changes)+len(e.Tried)), "answers")
		})
	}
}

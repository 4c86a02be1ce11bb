package simulation

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/forecast"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

// Forecasts at submissions that find 400 to 600 jobs waiting, about a hundred of each log, 100 draws
// each, without calibration: the processor time of one, collection of garbage included. The logs
// themselves have no such crowds; with copies of a part of their jobs they do.
func BenchmarkForecast_400To600Wait(b *testing.B) {
	for _, c := range []struct {
		name, file  string
		nodes, skip int
		copies      float64
	}{{"SDSC", "SDSC-SP2-1998-4.2-cln.swf.gz", 128, 0, .15}, {"CTC", "CTC-SP2-derived.swf.gz", 430, 3, .4}} {
		trace, err := workload.Open(workloadtest.Shared(b, "traces", c.file), workload.Options{Skip: c.skip})
		if err != nil {
			b.Fatal(err)
		}
		jobs, _ := trace.Jobs(workload.JobOptions{})
		if jobs, err = CopyJobs(jobs, c.copies, 1); err != nil {
			b.Fatal(err)
		}
		for _, later := range []bool{true, false} {
			b.Run(c.name+map[bool]string{true: "/Later14Days", false: "/NoneLater"}[later], func(b *testing.B) {
				for b.Loop() {
					cpu, ahead, waiting := forecastsOfCrowds(b, jobs, c.nodes, later)
					b.ReportMetric(float64(len(cpu)), "forecasts")
					sum := time.Duration(0)
					for _, t := range cpu {
						sum += t
					}
					b.ReportMetric(sum.Seconds()*1000/float64(len(cpu)), "ms/mean")
					b.ReportMetric(cpu[len(cpu)/2].Seconds()*1000, "ms/median")
					b.ReportMetric(cpu[len(cpu)-1].Seconds()*1000, "ms/most")
					b.ReportMetric(float64(len(cpu)-atMost(cpu, 50*time.Millisecond)), "above-50ms")
					b.ReportMetric(ahead[len(ahead)/2]/3600, "h/ahead")
					b.ReportMetric(float64(waiting[len(waiting)/2]), "waiting")
				}
			})
		}
	}
}

// forecastsOfCrowds replays jobs, and returns in order what a forecast of each 16th crowd takes, how
// far ahead its median is, and how many wait.
func forecastsOfCrowds(b *testing.B, jobs []grid.LocalJob, nodes int, later bool) (cpu []time.Duration, ahead []float64, waiting []int) {
	f, met := &forecast.Forecaster{}, 0
	opt := ReplayOptions{Nodes: nodes, Policy: backfill.EASY}
	opt.Submitted = func(place int, s *backfill.State) {
		j := &jobs[place-1]
		if j.Nodes < 1 || j.Nodes > opt.Nodes {
			return
		}
		if n := len(s.Queue); n >= 400 && n <= 600 {
			if met++; met%16 == 1 {
				g := *f
				if !later {
					g.Submissions = forecast.Submissions{}
				}
				before := processorTime(b)
				d := g.Draw(s, forecast.Job{Nodes: j.Nodes, Limit: j.Limit(), Place: forecast.Last}, 100, rand.New(rand.NewPCG(1, uint64(place))))
				if d != nil {
					cpu, ahead, waiting = append(cpu, processorTime(b)-before), append(ahead, d.At(.5)), append(waiting, n)
				}
			}
		}
		f.Submitted(int64(place), UserName(j.User), s.Now, j.Nodes, j.Limit())
	}
	opt.Started = func(place int, at grid.Time) { f.Started(int64(place), at) }
	opt.Ended = func(place int, at grid.Time) { f.Ended(int64(place), at) }
	if _, err := RunReplay(jobs, opt); err != nil {
		b.Fatal(err)
	}
	if len(cpu) == 0 {
		b.Fatal("no such crowd")
	}
	slices.Sort(cpu)
	slices.Sort(ahead)
	slices.Sort(waiting)
	return cpu, ahead, waiting
}

// atMost is how many of sorted times are within a bound.
func atMost(list []time.Duration, bound time.Duration) int {
	n, _ := slices.BinarySearch(list, bound+1)
	return n
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

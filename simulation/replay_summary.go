package simulation

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/workload"
)

// ReplaySummary is a replay in figures. Times are in seconds; means over no
// jobs are 0.
type ReplaySummary struct {
	Jobs            int     `json:"jobs"` // that ran, reservations included
	MeanWait        float64 `json:"meanWait"`
	BoundedSlowdown float64 `json:"boundedSlowdown"` // threshold 10 s
	Utilisation     float64 `json:"utilisation"`     // sum n x run / (P x makespan)
	Makespan        float64 `json:"makespan"`        // first submit to last end
	*ReservationSummary
}

// ReservationSummary has the figures of a replay's reservations. A price is the additive
// part f; one SU is 3600 node-seconds.
type ReservationSummary struct {
	Reservations           int     `json:"reservations"`
	MeanPriceSU            float64 `json:"meanPriceSU"`
	ShareFree              float64 `json:"shareFree"`              // f = 0
	ShareBelowHighPriority float64 `json:"shareBelowHighPriority"` // rho = f / (n x d) < 1
	ReservationWait        float64 `json:"reservationWait"`        // mean, of reservations
	LocalWait              float64 `json:"localWait"`              // mean, of the other jobs
}

// SlowdownThreshold keeps very short jobs from dominating the bounded slowdown.
const SlowdownThreshold = workload.SlowdownBound

// Figures adds up the figures of a replay, outcome by outcome, in the order of the trace, on
// which sums of floats depend. The zero Figures has no outcomes.
type Figures struct {
	s           ReplaySummary
	work        float64
	first, last grid.Time
	classes     [backfill.Reservation + 1]int
}

// Add adds one outcome; a job that never started does not count.
func (f *Figures) Add(o *Outcome) {
	if !o.Ran() {
		return
	}
	if f.s.Jobs == 0 {
		f.first, f.last = grid.Never, -grid.Never
	}
	run := o.End.Sub(o.Start)
	f.s.Jobs++
	f.s.MeanWait += o.Wait().Seconds()
	f.s.BoundedSlowdown += o.slowdown()
	f.work += float64(o.Job.Nodes) * run.Seconds()
	f.first, f.last = min(f.first, o.Job.Submit), max(f.last, o.End)
	f.classes[o.Class]++
}

// Summary returns the figures so far, on that many nodes, without those of reservations.
func (f *Figures) Summary(nodes int) ReplaySummary {
	s := f.s
	if s.Jobs > 0 {
		s.MeanWait /= float64(s.Jobs)
		s.BoundedSlowdown /= float64(s.Jobs)
		s.Makespan = f.last.Sub(f.first).Seconds()
	}
	if s.Makespan > 0 {
		s.Utilisation = f.work / (float64(nodes) * s.Makespan)
	}
	return s
}

// Classes counts the jobs that ran by the class of their start.
func (f *Figures) Classes() [backfill.Reservation + 1]int { return f.classes }

// figures returns the figures of all outcomes.
func (r *Replay) figures() (f Figures) {
	for i := range r.Outcomes {
		f.Add(&r.Outcomes[i])
	}
	return f
}

// Summary computes the figures; those of reservations only if withReservations.
func (r *Replay) Summary(withReservations bool) ReplaySummary {
	f := r.figures()
	s := f.Summary(r.Nodes)
	if withReservations {
		s.ReservationSummary = r.reservations()
	}
	return s
}

func (r *Replay) reservations() *ReservationSummary {
	s := &ReservationSummary{}
	locals, free, below := 0, 0, 0
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		switch {
		case !o.Ran():
		case o.Reserved():
			s.Reservations++
			s.MeanPriceSU += o.Additive.Hours()
			s.ReservationWait += o.Wait().Seconds()
			if o.Additive == 0 {
				free++
			}
			if o.Additive < grid.Duration(o.Job.Nodes)*o.End.Sub(o.Start) {
				below++
			}
		default:
			locals++
			s.LocalWait += o.Wait().Seconds()
		}
	}
	if n := float64(s.Reservations); n > 0 {
		s.MeanPriceSU /= n
		s.ReservationWait /= n
		s.ShareFree = float64(free) / n
		s.ShareBelowHighPriority = float64(below) / n
	}
	if locals > 0 {
		s.LocalWait /= float64(locals)
	}
	return s
}

// Classes counts the jobs that ran by the class of their start.
func (r *Replay) Classes() [backfill.Reservation + 1]int {
	f := r.figures()
	return f.Classes()
}

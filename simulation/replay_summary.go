package simulation

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/backfill"
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

// ReservationSummary is what a replay tells of its reservations. A price is the
// additive part f; one SU is 3600 node-seconds.
type ReservationSummary struct {
	Reservations           int     `json:"reservations"`
	MeanPriceSU            float64 `json:"meanPriceSU"`
	ShareFree              float64 `json:"shareFree"`              // f = 0
	ShareBelowHighPriority float64 `json:"shareBelowHighPriority"` // rho = f / (n x d) < 1
	ReservationWait        float64 `json:"reservationWait"`        // mean, of reservations
	LocalWait              float64 `json:"localWait"`              // mean, of the other jobs
}

// SlowdownThreshold keeps very short jobs from ruling the bounded slowdown.
const SlowdownThreshold = 10 * bourse.Second

// Summary computes the figures; those of reservations only if withReservations.
func (r *Replay) Summary(withReservations bool) ReplaySummary {
	var s ReplaySummary
	var work float64
	first, last := bourse.Never, -bourse.Never
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if !o.Ran() {
			continue
		}
		run := o.End.Sub(o.Start)
		s.Jobs++
		s.MeanWait += o.Wait().Seconds()
		s.BoundedSlowdown += max(1, (o.Wait()+run).Seconds()/max(run, SlowdownThreshold).Seconds())
		work += float64(o.Job.Nodes) * run.Seconds()
		first, last = min(first, o.Job.Submit), max(last, o.End)
	}
	if s.Jobs > 0 {
		s.MeanWait /= float64(s.Jobs)
		s.BoundedSlowdown /= float64(s.Jobs)
		s.Makespan = last.Sub(first).Seconds()
	}
	if s.Makespan > 0 {
		s.Utilisation = work / (float64(r.Nodes) * s.Makespan)
	}
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
			if o.Additive < bourse.Duration(o.Job.Nodes)*o.End.Sub(o.Start) {
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
	var n [backfill.Reservation + 1]int
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Ran() {
			n[o.Class]++
		}
	}
	return n
}

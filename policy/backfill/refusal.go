package backfill

import (
	"fmt"

	"bourse"
)

// Refusal says why n nodes cannot be reserved over [start, end), with who is in
// the way; the zero Reason if they can. The queue has no say.
func (s *State) Refusal(n int, start, end bourse.Time) bourse.Reason {
	switch {
	case start < s.Now:
		return bourse.Reason{Code: bourse.Past, Detail: fmt.Sprintf("start %v lies before now, %v", start, s.Now)}
	case n > s.Nodes:
		return bourse.Reason{Code: bourse.TooLarge, Detail: fmt.Sprintf("%d nodes of %d", n, s.Nodes)}
	}
	at := start
	if s.Free.At(start) >= n {
		if at = s.firstBelow(n, start, end); at == bourse.Never {
			return bourse.Reason{}
		}
	}
	return bourse.Reason{
		Code:   bourse.Busy,
		Detail: fmt.Sprintf("%d nodes are wanted, %d free at %v: %s", n, max(0, s.Free.At(at)), at, s.holder(at)),
	}
}

// firstBelow is the first step in [start, end) with less than n free, or Never.
func (s *State) firstBelow(n int, start, end bourse.Time) bourse.Time {
	for _, step := range s.Free {
		if step.At > start && step.At < end && step.Free < n {
			return step.At
		}
	}
	return bourse.Never
}

// holder names who holds nodes at an instant: a reservation before a running
// job, and of several the one that ends last.
func (s *State) holder(at bourse.Time) string {
	word, last := "", bourse.Time(-1<<62)
	for _, r := range s.Reserved {
		if r.Start <= at && at < r.End && r.End > last {
			last, word = r.End, fmt.Sprintf("reservation %d holds %d until %v", r.ID, r.Nodes, r.End)
		}
	}
	if word != "" {
		return word
	}
	for _, r := range s.Running {
		if at < r.End && r.End > last {
			last, word = r.End, fmt.Sprintf("job %d runs on %d until %v", r.ID, r.Nodes, r.End)
		}
	}
	return word
}

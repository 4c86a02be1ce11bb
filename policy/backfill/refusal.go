package backfill

import (
	"fmt"

	"github.com/bourse-grid/bourse"
)

// Block is the piece of work that keeps a reservation from being admissible:
// at the first instant that is short of nodes, the one whose end is the first
// to bring enough of them back.
type Block struct {
	At       bourse.Time // the first instant that is short
	Free     int         // nodes free then
	Reserved bool        // a reservation; else a running job
	ID       int64       // of the job or the reservation; 0 if Nodes is 0
	Nodes    int         // it holds; 0: nothing in the state explains it
	Until    bourse.Time // its (estimated) end
}

// Refusal says why n nodes over [start, start+d) are not admissible: Past,
// TooLarge, or Busy with the running job or the reservation that is in the way.
// It is the zero Reason where they are; the queue has no say.
func (s *State) Refusal(start bourse.Time, n int, d bourse.Duration) bourse.Reason {
	switch {
	case start < s.Now:
		return bourse.Because(bourse.Past, "start %v lies before now, %v", start, s.Now)
	case n > s.Nodes:
		return bourse.Reason{Code: bourse.TooLarge, Detail: fmt.Sprintf("%d nodes are asked, the group has %d", n, s.Nodes)}
	}
	block, ok := s.InTheWay(start, n, d)
	if !ok {
		return bourse.Reason{}
	}
	name := ""
	if !block.Reserved { // the number of a reservation is the cluster's own
		name = fmt.Sprint(block.ID)
	}
	return block.Reason(n, name)
}

// Reason puts the block into words for a request of n nodes; name is what
// people call the job or the reservation, "" where they have no name for it.
func (k Block) Reason(n int, name string) bourse.Reason {
	text := bourse.Say("%d free at %v, %d needed", k.Free, k.At, n)
	if k.Nodes > 0 {
		kind := "running job"
		if k.Reserved {
			kind = "reservation"
		}
		who := kind + " " + name
		if name == "" {
			who = "a " + kind
		}
		text += bourse.Say(": %s holds %d until %v", who, k.Nodes, k.Until)
	}
	return bourse.Reason{Code: bourse.Busy, Detail: string(text)}
}

// InTheWay finds what stands in the way of n nodes over [start, start+d), start
// not before now; ok is false if nothing does. Equal ends: running jobs before
// reservations, then in the state's order.
func (s *State) InTheWay(start bourse.Time, n int, d bourse.Duration) (k Block, ok bool) {
	free := s.Firm()
	low := start
	for i := 0; ; i++ {
		if i == len(free) || free[i].At >= start.Add(d) {
			return Block{}, false
		}
		last := i+1 == len(free) || free[i+1].At > start
		if last && free[i].Free < n {
			low = max(start, free[i].At)
			k = Block{At: low, Free: free[i].Free}
			break
		}
	}
	have := k.Free
	after := bourse.Time(-bourse.Never) // ends looked at so far
	for have < n {
		next, found := s.nextToEnd(low, after)
		if !found {
			return k, true
		}
		after = next.Until
		k.Reserved, k.ID, k.Nodes, k.Until = next.Reserved, next.ID, next.Nodes, next.Until
		have += s.endingAt(low, after)
	}
	return k, true
}

// nextToEnd is the work that holds nodes at t and ends first after that instant.
func (s *State) nextToEnd(t, after bourse.Time) (k Block, found bool) {
	k.Until = bourse.Never
	for _, r := range s.Running {
		if end := r.Last(); r.Start <= t && t < end && after < end && end < k.Until {
			k, found = Block{ID: r.ID, Nodes: r.Nodes, Until: end}, true
		}
	}
	for _, r := range s.Reserved {
		if r.Start <= t && t < r.End && after < r.End && r.End < k.Until {
			k, found = Block{Reserved: true, ID: r.ID, Nodes: r.Nodes, Until: r.End}, true
		}
	}
	return k, found
}

// endingAt is how many nodes come back at end from work that holds them at t.
func (s *State) endingAt(t, end bourse.Time) (n int) {
	for _, r := range s.Running {
		if r.Last() == end && r.Start <= t {
			n += r.Nodes
		}
	}
	for _, r := range s.Reserved {
		if r.End == end && r.Start <= t {
			n += r.Nodes
		}
	}
	return n
}

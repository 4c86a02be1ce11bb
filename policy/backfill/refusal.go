package backfill

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// Block is the work that prevents a reservation: at the first instant with too few free
// nodes, the job or reservation whose end is the first to bring back enough of them.
type Block struct {
	At       grid.Time // the first instant with too few free nodes
	Free     int       // nodes free then
	Reserved bool      // a reservation; else a running job
	ID       int64     // of the job or the reservation; 0 if Nodes is 0
	Nodes    int       // nodes it holds; 0: nothing in the state explains the shortage
	Until    grid.Time // its (estimated) end
}

// Refusal says why n nodes cannot be reserved over [start, start+d): Past, TooLarge, or
// Busy with the running job or reservation that is in the way. If they can be reserved, it
// returns the zero Reason. The queue has no say.
func (s *State) Refusal(start grid.Time, n int, d grid.Duration) grid.Reason {
	switch {
	case start < s.Now:
		return grid.Because(grid.Past, "start %v lies before now, %v", start, s.Now)
	case n > s.Nodes:
		return grid.Reason{Code: grid.TooLarge, Detail: fmt.Sprintf("%s asked, the group has %d", grid.Count(n, "node is", "nodes are"), s.Nodes)}
	}
	block, ok := s.InTheWay(start, n, d)
	if !ok {
		return grid.Reason{}
	}
	name := ""
	if !block.Reserved { // reservation numbers are internal to the cluster
		name = fmt.Sprint(block.ID)
	}
	return block.Reason(n, name)
}

// Reason describes the block to someone who asked for n nodes. name is what users call the
// job or reservation, or "" if they have no name for it.
func (k Block) Reason(n int, name string) grid.Reason {
	text := grid.Say("%d free at %v, %d needed", k.Free, k.At, n)
	if k.Nodes > 0 {
		kind := "running job"
		if k.Reserved {
			kind = "reservation"
		}
		who := kind + " " + name
		if name == "" {
			who = "a " + kind
		}
		text += grid.Say(": %s holds %d until %v", who, k.Nodes, k.Until)
	}
	return grid.Reason{Code: grid.Busy, Detail: string(text)}
}

// InTheWay finds what prevents n nodes from being reserved over [start, start+d). start
// must not lie before s.Now. ok is false if nothing does. Of several that end together, a
// running job comes before a reservation, then the order of the state decides.
func (s *State) InTheWay(start grid.Time, n int, d grid.Duration) (k Block, ok bool) {
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
	after := grid.Time(-grid.Never) // ends looked at so far
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

// nextToEnd returns the work that holds nodes at t and is the first to end later than
// after.
func (s *State) nextToEnd(t, after grid.Time) (k Block, found bool) {
	k.Until = grid.Never
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

// endingAt returns how many nodes come back at end from work that holds them at t.
func (s *State) endingAt(t, end grid.Time) (n int) {
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

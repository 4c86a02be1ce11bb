package gather

// pilot is one job that was submitted for a part.
type pilot struct {
	part, number int   // the number counts the pilots of the part, from 0
	limit        int64 // asked for
	submitted    int64 // or, of one that kept its place, when its begin was moved to now
	placed       bool  // it waits with a far begin, and is not to begin yet
	granted      int64 // seconds from its begin
	begin, end   int64 // as its manager says; unseen until then
	worked       int64 // the start of the window that was committed on its nodes; 0: there is none
	given        bool  // given up by us: released or cancelled, its end is not yet seen
}

// unseen is the begin or end of a pilot of which neither is known.
const unseen = -1

func (p *pilot) runs() bool { return p.begin != unseen && p.end == unseen && !p.given }

func (p *pilot) waits() bool { return p.begin == unseen && p.end == unseen && !p.given && !p.placed }

// spends is what a pilot counts for each of its nodes: what it is granted until its end is
// seen, then what it idled. No cut line, killed agent or unseen end can make it more.
func (p *pilot) spends() int64 {
	switch {
	case p.end == unseen:
		return p.granted
	case p.begin == unseen:
		return 0
	case p.worked > 0:
		return max(0, min(p.end, p.worked)-p.begin)
	}
	return p.end - p.begin
}

// State is how a pilot was seen.
type State uint8

// What can be seen of a pilot. Of one that waits nothing need be said.
const (
	Running  State = iota
	Ended          // it is over; Begin is Never if it never began
	Denied         // its manager has refused it
	Unsent         // its submission has failed and it is not there: nobody has refused it
	Vanished       // it is over, and nobody knows how long it idled: all that it was granted counts
)

// Never is the begin of a pilot that ended before it began.
const Never = unseen

// Sight is what a look shows of a pilot. Sights may be late, repeated or missing, in any
// order: what is granted counts until an end is seen.
type Sight struct {
	Part, Pilot int
	State       State
	Begin, End  int64  // seconds, by the manager
	Words       string // the manager's, of a denial or a short life
}

// Look is what is known at a round.
type Look struct {
	At     int64
	Pilots []Sight
	Fits   []bool // by part: it would start now, or from its place; nil: none
	Room   []int  // by part: how many more pilots its cluster takes, of all jobs; nil: not bounded
}

// Seen takes in what is seen between rounds.
func (g *Gather) Seen(list ...Sight) { g.see(list) }

// see takes sights in. A pilot that ended by itself frees its part from the next round on.
func (g *Gather) see(list []Sight) {
	for _, s := range list {
		p := g.find(s.Part, s.Pilot)
		if p == nil || p.end != unseen {
			continue
		}
		if s.State == Running {
			p.begin, p.placed = p.first(s.Begin), false
			continue
		}
		own := !p.given
		p.over(s, g.now)
		if !own {
			continue
		}
		part := &g.parts[s.Part]
		part.pilot, part.lostAt = nil, g.now
		switch {
		case s.State == Unsent:
		case s.State == Denied || p.begin == unseen || p.end-p.begin < shortLife:
			part.denials++
			part.words = s.Words
		default:
			part.denials = 0
		}
	}
	g.forget()
}

// over takes the end of a pilot.
func (p *pilot) over(s Sight, now int64) {
	never := s.State == Denied || s.State == Unsent || s.Begin == Never
	switch {
	case s.State == Vanished, never && p.begin != unseen: // it was seen to begin: whoever says never does not know
		p.begin = max(p.begin, 0)
		p.end = p.begin + p.granted
	case never:
		p.begin, p.end = unseen, now
	default:
		p.begin, p.end = p.first(s.Begin), max(s.End, s.Begin)
	}
}

// first is when a pilot began that is said to have begun at an instant: a manager that has requeued
// it says when it did last.
func (p *pilot) first(said int64) int64 {
	if p.begin != unseen {
		return min(p.begin, said)
	}
	return said
}

// find returns a pilot that may still count more, or nil.
func (g *Gather) find(part, number int) *pilot {
	for _, p := range g.pilots {
		if p.part == part && p.number == number {
			return p
		}
	}
	return nil
}

// forget adds up the pilots whose ends were seen.
func (g *Gather) forget() {
	kept := g.pilots[:0]
	for _, p := range g.pilots {
		if p.end == unseen {
			kept = append(kept, p)
			continue
		}
		g.over += g.order.Parts[p.part].Nodes * p.spends()
	}
	clear(g.pilots[len(kept):])
	g.pilots = kept
}

// Spent is what counts as spent of pilots that the job no longer has: node-seconds.
func (g *Gather) Spent() int64 {
	sum := g.over
	for _, p := range g.pilots {
		if p.given {
			sum += g.order.Parts[p.part].Nodes * p.spends()
		}
	}
	return sum
}

// unsettled reports whether the end of a pilot that was given up is yet to be seen: what
// counts as spent may become less.
func (g *Gather) unsettled() bool {
	for _, p := range g.pilots {
		if p.given {
			return true
		}
	}
	return false
}

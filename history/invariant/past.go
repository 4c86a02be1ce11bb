package invariant

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// A site that was put back from an older copy of its journal has answered what the journal
// does not have any more. Its brokers tell it again what is still to come; of what is over
// nobody needs to. The proofs that brokers keep show which legs these are: they are exempt,
// and one note for each site says so.

// past are the legs that sites' journals have provably lost.
type past struct {
	sites []*Trail
	legs  map[*Trail]int
	first map[*Trail]grid.LegID
}

func (p *past) add(s *Trail, id grid.LegID) {
	if p.legs == nil {
		p.legs, p.first = map[*Trail]int{}, map[*Trail]grid.LegID{}
	}
	if p.legs[s] == 0 {
		p.sites = append(p.sites, s)
		p.first[s] = id
	}
	p.legs[s]++
}

// tellPast notes of each such site how many legs there are.
func (a *Audit) tellPast() {
	for _, s := range a.past.sites {
		a.find(Finding{Invariant: "I2", Agent: s.agent, Place: s.last, At: s.at, Note: true,
			What: fmt.Sprintf("its journal does not have answers that brokers keep of %d legs, the first %v: right only if an older copy of it was put back. What both sides know of them is not compared",
				a.past.legs[s], a.past.first[s])})
	}
}

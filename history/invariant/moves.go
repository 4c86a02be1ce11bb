package invariant

import (
	"fmt"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I27: a move is both or neither. A part of a window is given back for another window only
// once what replaces it is confirmed; a part that nothing replaces, once any part of the
// other window is. If the other comes to nothing, all of the old one stays; where the other
// stands, nothing of it does.

// moves is the rule I27 by a broker's journal.
type moves struct {
	*journal
	jobs   jobs
	doubts []doubt // of this step: what ended may be said before what it ended for
}

// doubt is a part that was given back, and where that stands.
type doubt struct {
	x     *tx
	leg   int
	at    grid.Time
	place Place
}

// ends takes the end of a leg.
func (r *moves) ends(x *tx, f facts.LegDone) {
	if f.State == grid.Released && r.whole && !r.audit.exempts(x) && r.kept(x, f.Leg.Leg) != "" {
		r.doubts = append(r.doubts, doubt{x, f.Leg.Leg, r.at, r.last})
	}
}

// settle judges, when a step is over, what it has given back.
func (r *moves) settle(at grid.Time) {
	if len(r.doubts) > 0 && at != r.doubts[0].at {
		r.judge(false)
	}
}

// judge does so. note: the step may go on in facts that are not there.
func (r *moves) judge(note bool) {
	for _, d := range r.doubts {
		if why := r.kept(d.x, d.leg); why != "" && !r.audit.exempts(d.x) {
			r.audit.find(Finding{Invariant: "I27", Agent: r.agent, Place: d.place, At: d.at, What: why, Note: note})
		}
	}
	r.doubts = r.doubts[:0]
}

// kept says why a part of a window must be kept; "" if it may be given back.
func (r *moves) kept(x *tx, leg int) string {
	id, m := grid.LegID{Tx: x.begun.Tx, Leg: leg}, x.by
	switch {
	case x.broken || r.jobs.named(x.begun.Job).withdrawn:
		return ""
	case m == nil:
		return fmt.Sprintf("leg %v of job %s is given back, and its window is neither moved nor broken, nor is its job given up", id, x.begun.Job)
	}
	confirmed, open := false, false
	own := -1 // the leg of the move that takes its place
	for i := range m.legs {
		confirmed, open = confirmed || m.legs[i].confirmed, open || !m.legs[i].closed
		if i < len(m.begun.Replaces) && m.begun.Replaces[i] == id {
			own = i
		}
	}
	switch {
	case !confirmed && open:
		return fmt.Sprintf("leg %v of job %s is given back for %v, of which nothing is confirmed yet", id, x.begun.Job, m.begun.Tx)
	case own >= 0 && !m.legs[own].closed:
		return fmt.Sprintf("leg %v of job %s is given back for leg %d of %v, which is not confirmed yet", id, x.begun.Job, own, m.begun.Tx)
	}
	return ""
}

// both checks, at rest, that of a window nothing stands whose place another has taken: the
// facts of all agents are seen together.
func (a *Audit) both(t *Trail, m *tx) {
	for _, x := range m.old {
		for i := range x.legs {
			id := grid.LegID{Tx: x.begun.Tx, Leg: i}
			if s := a.trails[site(x.begun.Sites[i])]; s != nil && s.legs[id] != nil && s.legs[id].stands() {
				t.breaks("I27", "at rest leg %v of job %s is %v, and %v has taken its place", id, x.begun.Job, s.legs[id].State, m.begun.Tx)
			}
		}
	}
}

// stands reports whether a leg is bought and not over.
func (l *siteLeg) stands() bool { return l.State == grid.Confirmed || l.State == grid.Running }

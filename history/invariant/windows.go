package invariant

import (
	"fmt"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I9: a committed window obeys its request, and no leg runs, or is settled, before
// its window begins.

// Window is a committed window, or the repair of a part of one, beside what its job
// asks for.
type Window struct {
	Asks  grid.Request
	Sites []string // leg by leg
	Legs  []grid.Leg
	Parts []string     // leg by leg, of a job of parts
	Cost  grid.Credits // of the legs, at the prices that bind

	// Of a repair: the nodes of the leg that it stands in for, its start and its part, the
	// other legs that stand, what the window has cost so far, less what came back, and the
	// penalties that it may spend as well.
	Repairs   bool
	Nodes     int
	At        grid.Time
	Part      string
	Others    []Standing
	Spent     grid.Credits
	Penalties grid.Credits

	Group    func(site, group string) (grid.Group, bool) // nil: groups are not known
	PriceCap bool                                        // ALP: no node may cost more than the job's price
}

// Obeys says what of the request the window does not meet.
func (w *Window) Obeys() error {
	nodes := 0
	for _, l := range w.Legs {
		nodes += l.Nodes
	}
	ask, want := w.Asks, w.Nodes
	if !w.Repairs {
		ask = ask.At(ask.SizeOn(nodes)) // a moldable job has several
		want = ask.Nodes
	}
	if err := w.eachLeg(&ask); err != nil {
		return err
	}
	if nodes != want {
		return fmt.Errorf("%d nodes instead of %d", nodes, want)
	}
	if cost := w.Cost.Plus(w.Spent); cost > ask.Budget.Plus(w.Penalties) {
		return fmt.Errorf("costs %v, its budget is %v", cost, ask.Budget.Plus(w.Penalties))
	}
	return nil
}

// eachLeg holds each leg to the request, or to that of its part.
func (w *Window) eachLeg(ask *grid.Request) error {
	if ask.Composed() {
		return w.eachPart(ask)
	}
	for i, l := range w.Legs {
		switch {
		case l.Start != w.Legs[0].Start:
			return fmt.Errorf("parts start at %v and %v", w.Legs[0].Start, l.Start)
		case ask.OneSite && w.Sites[i] != w.Sites[0]:
			return fmt.Errorf("parts at %s and %s, one site was asked for", w.Sites[0], w.Sites[i])
		}
		if err := w.leg(i, l, ask); err != nil {
			return err
		}
	}
	return nil
}

// leg holds one leg to the request.
func (w *Window) leg(i int, l grid.Leg, ask *grid.Request) error {
	switch {
	case w.Repairs && l.Start != w.At:
		return fmt.Errorf("it starts at %v, and what it repairs at %v", l.Start, w.At)
	case l.Start < ask.Ready || l.End > ask.Deadline:
		return fmt.Errorf("[%v, %v) is outside ready %v and deadline %v", l.Start, l.End, ask.Ready, ask.Deadline)
	case !grid.May(w.Sites[i], ask.Sites, ask.Avoid):
		return fmt.Errorf("%s is not among the sites it allows", w.Sites[i])
	case l.Work > 0 && (l.Work != ask.Length || len(w.Legs) > 1):
		return fmt.Errorf("a share of %v of %s, for a length of %v in %d parts", l.Work, w.Sites[i], ask.Length, len(w.Legs))
	case w.Group == nil:
		return nil
	}
	g, ok := w.Group(w.Sites[i], l.Group)
	switch {
	case !ok:
		return fmt.Errorf("no group %s at %s", l.Group, w.Sites[i])
	case l.Work == 0 && (!w.Repairs || len(ask.Sizes) == 0) && l.Duration() < g.Performance.Runtime(ask.Length):
		return fmt.Errorf("%v at %s is too short for a length of %v at performance %v", l.Duration(), g.Site, ask.Length, g.Performance)
	case g.Performance < ask.MinPerformance:
		return fmt.Errorf("performance %v of %s is below %v", g.Performance, g.Site, ask.MinPerformance)
	case !ask.Require.MetBy(g.Machine):
		return fmt.Errorf("%s lacks %s", g.Site, ask.Require.Unmet(g.Machine))
	case w.PriceCap && ask.Portion.Price(&g, g.Dearest(l.Start, l.End)) > ask.MaxPrice:
		return fmt.Errorf("price %v of %s is above the cap %v", g.Dearest(l.Start, l.End), g.Site, ask.MaxPrice)
	}
	return nil
}

// windows is the rule I9, with what each job asks for.
type windows struct {
	*journal
	txs      transactions
	parts    map[grid.TxID][]grid.TxID // of a window: the transaction that placed it, and its repairs
	requests map[string]grid.Request   // by job, what each asks for now
}

// asks notes what a job asks for.
func (r *windows) asks(j *grid.Job) { r.requests[j.Name] = j.Request }

// begun notes to which window a transaction belongs.
func (r *windows) begun(id grid.TxID) {
	window := r.window(id)
	r.parts[window] = append(r.parts[window], id)
}

// obeys checks a committed window against its request, as far as its broker's journal
// has both and the groups are known.
func (r *windows) obeys(x *tx) {
	f := &x.begun
	asks, ok := r.requests[f.Job]
	if f.Request.Nodes > 0 { // a move: what is asked from its COMMIT on
		if was := asks; ok {
			x.was = &was
		}
		asks, ok = f.Request, true
		r.requests[f.Job] = asks
	}
	w := Window{Asks: asks, Sites: f.Sites, Legs: f.Legs, Parts: f.Parts, Group: r.audit.groups}
	if r.audit.capped != nil {
		w.PriceCap = r.audit.capped(f.Tx.Broker)
	}
	nodes := 0
	for i, l := range f.Legs {
		if r.audit.exempt[grid.LegID{Tx: f.Tx, Leg: i}] {
			return
		}
		nodes += l.Nodes
		w.Cost = w.Cost.Plus(x.legs[i].fare.Total())
	}
	if id := f.Repairs; id != (grid.LegID{}) {
		lost := r.txs[id.Tx]
		if lost == nil || id.Leg >= len(lost.begun.Legs) {
			return // of a journal that has lost its beginning
		}
		w.Mends(&lost.begun, id.Leg)
		w.Others = r.stand(x)
		w.Spent, w.Penalties = r.spent(x)
	}
	if !ok {
		if r.audit.together {
			r.breaks("I9", "%v commits job %q, which nobody submitted", f.Tx, f.Job)
		}
		w.Asks = grid.Request{Nodes: nodes, Ready: -grid.MaxTime, Deadline: grid.Never, Budget: grid.MaxCredits}
		w.PriceCap = false
	}
	if err := w.Obeys(); err != nil {
		r.breaks("I9", "%v of job %s: %v", f.Tx, f.Job, err)
	}
}

// stand are the legs, but those of a transaction itself, that stand of the window to which it
// belongs.
func (r *windows) stand(x *tx) (list []Standing) {
	for _, id := range r.parts[r.window(x.begun.Tx)] {
		o := r.txs[id]
		if o == x || o == nil || !o.decided || !o.commit {
			continue
		}
		for i := range o.legs {
			if l := &o.legs[i]; !l.lost && !(l.done && l.state == grid.Lost) {
				list = append(list, StandingOf(&o.begun, i))
			}
		}
	}
	return list
}

// asksAgain restores what a job asked for before a move that came to nothing.
func (r *windows) asksAgain(x *tx) {
	if x.was != nil {
		r.requests[x.begun.Job], x.was = *x.was, nil
	}
}

// spent is what was posted for the window that a transaction repairs, less refunds, and
// the penalties that its sites have paid. An earlier window of the job that was lost does
// not count, even if parts of it have run: the budget is that of one window.
func (r *windows) spent(x *tx) (net, penalties grid.Credits) {
	for _, id := range r.parts[r.window(x.begun.Tx)] {
		for i := range r.txs[id].legs {
			l := &r.txs[id].legs[i]
			net += l.posted - l.back
			penalties += l.penalty
		}
	}
	return net, penalties
}

// window is the transaction that placed the window which another one repairs: itself, if
// it repairs nothing.
func (r *windows) window(id grid.TxID) grid.TxID {
	for x := r.txs[id]; x != nil && x.begun.Repairs != (grid.LegID{}); x = r.txs[id] {
		id = x.begun.Repairs.Tx
	}
	return id
}

// startsInTime holds a leg that runs, or is settled, at its site to its window.
func (r *windows) startsInTime(at grid.Time, f *facts.LegMoved) {
	if (f.State == grid.Running || f.State == grid.Settled) && f.Flex.Early(f.What, at) && !r.audit.exempt[f.Leg] {
		r.breaks("I9", "leg %v is %v at %v, and its window begins at %v", f.Leg, f.State, at, f.What.Start)
	}
}

// endsInTime holds a leg that is settled, by its broker, to its window.
func (r *windows) endsInTime(f facts.LegDone, x *tx) {
	if i := f.Leg.Leg; f.State == grid.Settled && i < len(x.begun.Legs) && x.begun.Flex.Early(x.begun.Legs[i], r.at) && !r.audit.exempt[f.Leg] {
		r.breaks("I9", "leg %v is settled at %v, and its window begins at %v", f.Leg, r.at, x.begun.Legs[i].Start)
	}
}

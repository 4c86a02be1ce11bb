package history

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Turns makes turns from a broker's facts, which must be given in order. It remembers at most
// maxFollowed transactions and drops the oldest. Turns of an unknown transaction have no job.
// The zero Turns is ready for use.
type Turns struct {
	// Find, if set, returns a transaction in its state after the fact that is given to Take.
	// Turns then remembers only adopted transactions that Find does not know. Find is for
	// callers that follow transactions themselves, or can ask the broker.
	Find func(grid.TxID) (Transaction, bool)

	txs   map[grid.TxID]*Transaction
	order []grid.TxID
	// By job: the transactions that make up its window, if part of it was repaired.
	repaired map[string][]grid.TxID
}

// maxFollowed bounds the remembered transactions to about 100 MB.
const maxFollowed = 200_000

// Take returns the turns that follow from a fact. Most facts have none.
func (t *Turns) Take(at grid.Time, f agents.Fact) []Turn {
	turn := func(job string, what What, r grid.Reason, format string, args ...any) []Turn {
		return []Turn{{At: at, Job: job, What: what, Reason: r, Words: grid.Say(format, args...)}}
	}
	switch f := f.(type) {
	case facts.JobSubmitted:
		if a := f.Job.Array; a.Some() {
			return turn(f.Job.Name, Submitted, grid.Reason{}, "submitted: an array of %s (%s), each of %s for %s, at most %v credits",
				grid.Count(a.Indices.Len(), "element"), a.String(), grid.Count(f.Job.Nodes, "node"), f.Job.Length.Words(), f.Job.Budget)
		}
		return turn(f.Job.Name, Submitted, grid.Reason{}, "submitted: %s for %s, at most %v credits", grid.Count(f.Job.Nodes, "node"), f.Job.Length.Words(), f.Job.Budget)
	case facts.ElementsBegun, facts.ElementsDropped, facts.ArrayOver:
		return ofArray(at, f)
	case facts.SubmissionRefused:
		return turn(f.Job, NotTaken, f.Reason, "not taken: %v", f.Reason)
	case facts.JobPostponed:
		if f.Final {
			return turn(f.Job, Abandoned, f.Reason, "abandoned: %v", f.Reason)
		}
		return turn(f.Job, Postponed, f.Reason, "waits: %v", f.Reason)
	case facts.Gathered:
		return ofGathered(at, f)
	case facts.JobBroken:
		delete(t.repaired, f.Job)
		return turn(f.Job, Broken, f.Reason, "its window is broken and given back, it waits again: %v", f.Reason)
	case facts.JobCancelled:
		if f.Reason.Refused() {
			return turn(f.Job, Abandoned, f.Reason, "abandoned: %v", f.Reason)
		}
		return turn(f.Job, Withdrawn, grid.Reason{}, "withdrawn by its user")
	case facts.JobsForgotten:
		for _, name := range f.Jobs {
			delete(t.repaired, name)
		}
		list := make([]Turn, len(f.Jobs))
		for i, name := range f.Jobs {
			list[i] = turn(name, Forgotten, grid.Reason{}, "forgotten, long after its end")[0]
		}
		return list
	case facts.BrokerImage:
		t.image(f)
		return nil
	case facts.LegAdopted:
		t.adopt(at, f)
		return nil
	case facts.TxForgotten:
		for _, id := range f.Txs {
			delete(t.txs, id)
		}
		return nil
	}
	return t.ofTx(at, f)
}

// image starts again from a broker's image, or adds a further part of it.
func (t *Turns) image(f facts.BrokerImage) {
	if f.Part == 0 {
		t.txs, t.order, t.repaired = nil, nil, nil
	}
	for i := range f.Txs {
		m := &f.Txs[i]
		x := t.follow(Begin(m.TxBegun))
		if x.Commit = m.State == grid.TxCommitted; x.Commit {
			t.committed(x)
		}
		if x.Commit && x.Becomes == Moved && slices.ContainsFunc(m.Memory, func(r facts.LegRecord) bool { return r.Charged }) {
			delete(t.repaired, x.Job)
		}
		for k, r := range m.Memory {
			x.Legs[k].Fare, x.Legs[k].State, x.Legs[k].Failed = r.Fare, r.State, r.Result.Failure()
			if r.State.Terminal() {
				x.Open--
			}
		}
	}
}

// follow remembers a transaction.
func (t *Turns) follow(x Transaction) *Transaction {
	if t.txs == nil {
		t.txs = map[grid.TxID]*Transaction{}
	}
	t.txs[x.Tx] = &x
	t.order = append(t.order, x.Tx)
	for len(t.txs) > maxFollowed || len(t.order) > 2*maxFollowed {
		delete(t.txs, t.order[0])
		t.order = t.order[1:]
	}
	return &x
}

// after returns the state of a transaction after a fact; an empty one if it is unknown.
func (t *Turns) after(at grid.Time, id grid.TxID, f agents.Fact) *Transaction {
	if t.Find != nil {
		if x, ok := t.Find(id); ok {
			return &x
		}
	}
	x := t.txs[id]
	if x == nil {
		x = &Transaction{Tx: id, Becomes: Placed}
	}
	x.Take(at, f)
	return x
}

// committed records which transactions make up a job's window from now on.
func (t *Turns) committed(x *Transaction) {
	switch x.Becomes {
	case Placed:
		delete(t.repaired, x.Job)
		return
	case Moved: // it replaces the window when its first leg is confirmed
		return
	}
	if t.repaired == nil || len(t.repaired) >= maxFollowed {
		t.repaired = map[string][]grid.TxID{}
	}
	for _, id := range []grid.TxID{x.Repairs.Tx, x.Tx} {
		if list := t.repaired[x.Job]; !slices.Contains(list, id) {
			t.repaired[x.Job] = append(list, id)
		}
	}
}

// whole reports whether the whole window of a transaction has ended.
func (t *Turns) whole(x *Transaction) bool {
	return x.Open <= 0 && x.Others <= 0 && !slices.ContainsFunc(t.repaired[x.Job], func(id grid.TxID) bool {
		if id == x.Tx {
			return false
		}
		if t.Find != nil {
			if other, ok := t.Find(id); ok {
				return other.Open > 0
			}
		}
		other := t.txs[id]
		return other != nil && other.Open > 0
	})
}

// failure says which work of the whole window of a transaction failed; no reason: none did.
// The window's transactions are asked in order of commitment.
func (t *Turns) failure(x *Transaction) grid.Reason {
	list := t.repaired[x.Job]
	if !slices.Contains(list, x.Tx) {
		list = append(slices.Clone(list), x.Tx)
	}
	for _, id := range list {
		other := t.txs[id]
		if t.Find != nil {
			if found, ok := t.Find(id); ok {
				other = &found
			}
		}
		if id == x.Tx {
			other = x
		}
		if other == nil {
			continue
		}
		if why := other.Failure(); why.Refused() {
			return why
		}
	}
	return grid.Reason{}
}

// ofTx returns the turns of a fact about a transaction.
func (t *Turns) ofTx(at grid.Time, f agents.Fact) []Turn {
	var x *Transaction
	turn := func(what What, leg int, amount grid.Credits, r grid.Reason, format string, args ...any) Turn {
		u := Turn{At: at, Job: x.Job, What: what, Tx: x.Tx.String(), Start: x.start(), Amount: amount, Reason: r, Words: grid.Say(format, args...)}
		if leg >= 0 {
			u.Site = x.site(leg)
		}
		return u
	}
	none := grid.Reason{}
	switch f := f.(type) {
	case facts.TxBegun:
		if first := Begin(f); t.Find != nil {
			x = &first
		} else {
			x = t.follow(first)
		}
		var most grid.Credits
		for _, l := range f.Limits {
			most = most.Plus(l)
		}
		return []Turn{turn(Trying, -1, most, none, "%s, for at most %v credits", x.window("asks to hold"), most)}
	case facts.LegPriced:
		x = t.after(at, f.Leg.Tx, f)
		return []Turn{turn(Priced, f.Leg.Leg, f.Fare.Total(), none, "%s holds its part at %v credits", x.at(f.Leg.Leg), f.Fare.Total())}
	case facts.TxDecided:
		x = t.after(at, f.Tx, f)
		if !f.Commit {
			return []Turn{turn(TryFailed, -1, 0, f.Reason, "that came to nothing: %v", f.Reason)}
		}
		t.committed(x)
		return []Turn{turn(x.Becomes, -1, x.price(), none, "%s, for %v credits", x.window(string(x.Becomes)+":"), x.price())}
	case facts.TxReversed:
		x = t.after(at, f.Tx, f)
		if list := t.repaired[x.Job]; list != nil {
			t.repaired[x.Job] = slices.DeleteFunc(list, func(id grid.TxID) bool { return id == x.Tx })
		}
		return []Turn{turn(Reversed, -1, 0, f.Reason, "taken back: %v", f.Reason)}
	case facts.LegShifted, facts.ShiftOffered, facts.OfferClosed:
		return t.shift(at, f)
	case facts.LegStarted:
		x = t.after(at, f.Leg.Tx, f)
		u := turn(Started, f.Leg.Leg, 0, none, "runs at %s", x.at(f.Leg.Leg))
		u.leg = f.Leg
		return []Turn{u}
	case facts.LegClosed:
		x = t.after(at, f.Leg.Tx, f)
		switch {
		case f.Commit:
			if x.Becomes == Moved {
				delete(t.repaired, x.Job)
			}
			return []Turn{turn(Confirmed, f.Leg.Leg, f.Posted, none, "%s has confirmed its part, %v credits are paid", x.at(f.Leg.Leg), f.Posted)}
		case x.loses(f):
			return []Turn{turn(LegLost, f.Leg.Leg, 0, f.Reason, "its part at %s is gone, nothing was paid for it: %v", x.at(f.Leg.Leg), f.Reason)}
		}
	case facts.LegDone:
		x = t.after(at, f.Leg.Tx, f)
		return t.done(at, x, f)
	}
	return nil
}

// adopt adds a leg that its site has listed. Its transaction may be unknown.
func (t *Turns) adopt(at grid.Time, f facts.LegAdopted) {
	if t.Find != nil {
		if _, ok := t.Find(f.Leg.Tx); ok {
			return
		}
	}
	x := t.txs[f.Leg.Tx]
	if x == nil {
		x = t.follow(Transaction{Tx: f.Leg.Tx, Job: f.Job, Becomes: Placed})
	}
	x.Take(at, f)
}

// shift returns the turns of a fact about moving a flexible leg.
func (t *Turns) shift(at grid.Time, f agents.Fact) []Turn {
	var x *Transaction
	turn := func(what What, leg int, start grid.Time, format string, args ...any) []Turn {
		return []Turn{{At: at, Job: x.Job, What: what, Tx: x.Tx.String(), Site: x.site(leg), Start: start, Words: grid.Say(format, args...)}}
	}
	switch f := f.(type) {
	case facts.LegShifted:
		x = t.after(at, f.Leg.Tx, f)
		verb := "has moved its part within its window"
		if f.Fixed {
			verb = "has fixed its part where it lies"
		}
		return turn(Shifted, f.Leg.Leg, f.Start, "%s %s", x.at(f.Leg.Leg), verb)
	case facts.ShiftOffered:
		x = t.after(at, f.Leg.Tx, f)
		list := turn(Offered, f.Leg.Leg, f.Start, "%s offers %v credits for its place, and another one", x.at(f.Leg.Leg), f.Pay)
		list[0].End, list[0].Amount = f.End, f.Pay
		return list
	case facts.OfferClosed:
		x = t.after(at, f.Leg.Tx, f)
		why := grid.Phrase("is rejected")
		switch {
		case f.State == facts.OfferExpired:
			why = "was not answered in time"
		case f.Reason.Refused():
			why = grid.Say("came to nothing: %v", f.Reason)
		}
		list := turn(OfferOver, f.Leg.Leg, 0, "the offer of %s for its place %s", x.at(f.Leg.Leg), why)
		list[0].Reason = f.Reason
		return list
	}
	return nil
}

// done returns the turns for the end of a leg and, with the last leg, of its window.
func (t *Turns) done(at grid.Time, x *Transaction, f facts.LegDone) []Turn {
	u := Turn{At: at, Job: x.Job, What: LegEnded, Tx: x.Tx.String(), Site: x.site(f.Leg.Leg), Start: x.start(), End: f.End, Amount: f.Refund, Reason: f.Reason, leg: f.Leg}
	back := grid.Phrase("")
	if f.Refund > 0 {
		back = grid.Say(", %v credits come back", f.Refund)
	}
	if f.Penalty > 0 {
		back += grid.Say(", and %v as a penalty", f.Penalty)
	}
	switch f.State {
	case grid.Lost:
		u.What, u.Words = LegLost, grid.Say("its part at %s is lost%s: %v", x.at(f.Leg.Leg), back, f.Reason)
	case grid.Released:
		u.Words = grid.Say("its part at %s is given back%s", x.at(f.Leg.Leg), back)
	default:
		u.Words = grid.Say("its work at %s has ended%v%s", x.at(f.Leg.Leg), f.Result.Words(), back)
	}
	if !t.whole(x) || f.State == grid.Lost || f.State == grid.Released || x.Job == "" {
		return []Turn{u}
	}
	over := Turn{At: at, Job: x.Job, What: Done, Tx: u.Tx, Start: u.Start, End: f.End, Words: "its window is over"}
	if why := t.failure(x); why.Refused() {
		over.What, over.Reason, over.Words = Failed, why, grid.Say("failed: %v", why)
	}
	return []Turn{u, over}
}

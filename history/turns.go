package history

import (
	"fmt"
	"slices"

	"bourse"
	"bourse/agents"
)

// Turns tells the turns of jobs from a broker's facts, in order. It remembers the
// transactions that are not over, no more than maxFollowed, the oldest being
// dropped: turns of a transaction that it has not seen begin are told without the
// job's name. The zero Turns is ready.
type Turns struct {
	// Find, where it is set, is asked for each transaction instead, and nothing is
	// remembered: for who has the broker at hand.
	Find func(bourse.TxID) (Transaction, bool)

	txs   map[bourse.TxID]*Transaction
	order []bourse.TxID
}

// Transaction is what the turns of a transaction are told from, beside the facts.
type Transaction struct {
	Tx      bourse.TxID
	Job     string
	Sites   []string // leg by leg, "" where it is not known
	Legs    []bourse.Leg
	Fares   []bourse.Credits // at the price that binds
	Open    int              // legs that are not over
	Commit  bool
	Becomes What // its COMMIT: Placed, Repaired or Moved
}

// Becomes is what the COMMIT of a transaction means for its job: the transaction
// stands in for a leg, moves the job's window, or is its window.
func Becomes(repairs bourse.LegID, moves bool) What {
	switch {
	case repairs != (bourse.LegID{}):
		return Repaired
	case moves:
		return Moved
	}
	return Placed
}

// maxFollowed bounds the transactions that are remembered: some 100 MB.
const maxFollowed = 200_000

// Take tells what has become of a job by a fact; none of most facts.
func (t *Turns) Take(at bourse.Time, f agents.Fact) []Turn {
	turn := func(job string, what What, r bourse.Reason, format string, args ...any) []Turn {
		return []Turn{{At: at, Job: job, What: what, Reason: r, Words: bourse.Say(format, args...)}}
	}
	switch f := f.(type) {
	case bourse.JobSubmitted:
		return turn(f.Job.Name, Submitted, bourse.Reason{}, "submitted: %d nodes for %s, at most %v credits", f.Job.Nodes, f.Job.Length.Words(), f.Job.Budget)
	case bourse.SubmissionRefused:
		return turn(f.Job, NotTaken, f.Reason, "not taken: %v", f.Reason)
	case bourse.JobPostponed:
		if f.Final {
			return turn(f.Job, Abandoned, f.Reason, "abandoned: %v", f.Reason)
		}
		return turn(f.Job, Postponed, f.Reason, "waits: %v", f.Reason)
	case bourse.JobBroken:
		return turn(f.Job, Broken, f.Reason, "its window is broken and given back, it waits again: %v", f.Reason)
	case bourse.JobCancelled:
		if f.Reason.Refused() {
			return turn(f.Job, Withdrawn, f.Reason, "withdrawn: %v", f.Reason)
		}
		return turn(f.Job, Withdrawn, bourse.Reason{}, "withdrawn by its user")
	case bourse.JobsForgotten:
		list := make([]Turn, len(f.Jobs))
		for i, name := range f.Jobs {
			list[i] = turn(name, Forgotten, bourse.Reason{}, "forgotten, long after its end")[0]
		}
		return list
	case bourse.BrokerImage:
		t.image(f)
		return nil
	case bourse.TxForgotten:
		for _, id := range f.Txs {
			delete(t.txs, id)
		}
		return nil
	}
	return t.ofTx(at, f)
}

// image begins with what a broker remembers, or goes on with a part of it.
func (t *Turns) image(f bourse.BrokerImage) {
	if f.Part == 0 {
		t.txs, t.order = nil, nil
	}
	for i := range f.Txs {
		m := &f.Txs[i]
		x := t.follow(m.TxBegun)
		x.Commit = m.State == bourse.TxCommitted
		for k, r := range m.Memory {
			x.Fares[k] = r.Fare.Total()
			if r.State.Terminal() {
				x.Open--
			}
		}
	}
}

// follow remembers a transaction.
func (t *Turns) follow(f bourse.TxBegun) *Transaction {
	if t.txs == nil {
		t.txs = map[bourse.TxID]*Transaction{}
	}
	x := &Transaction{Tx: f.Tx, Job: f.Job, Sites: f.Sites, Legs: f.Legs, Fares: make([]bourse.Credits, len(f.Legs)), Open: len(f.Legs),
		Becomes: Becomes(f.Repairs, f.Request.Nodes > 0)}
	if t.Find != nil {
		return x
	}
	t.txs[f.Tx] = x
	t.order = append(t.order, f.Tx)
	for len(t.txs) > maxFollowed || len(t.order) > 2*maxFollowed {
		delete(t.txs, t.order[0])
		t.order = t.order[1:]
	}
	return x
}

// find is the transaction of an identity, an empty one if it is not known.
func (t *Turns) find(id bourse.TxID) *Transaction {
	if t.Find != nil {
		if x, ok := t.Find(id); ok {
			return &x
		}
	} else if x := t.txs[id]; x != nil {
		return x
	}
	return &Transaction{Tx: id, Becomes: Placed}
}

// site is the site that carries a leg, "" if that is not known.
func (x *Transaction) site(leg int) string {
	if leg < 0 || leg >= len(x.Sites) {
		return ""
	}
	return x.Sites[leg]
}

// start is the common start of the legs.
func (x *Transaction) start() bourse.Time {
	for i := range x.Legs {
		if l := &x.Legs[i]; l.Nodes > 0 {
			return l.Start
		}
	}
	return 0
}

// ofTx tells the turns that belong to a transaction.
func (t *Turns) ofTx(at bourse.Time, f agents.Fact) []Turn {
	var x *Transaction
	turn := func(what What, leg int, amount bourse.Credits, r bourse.Reason, format string, args ...any) Turn {
		u := Turn{At: at, Job: x.Job, What: what, Tx: x.Tx.String(), Start: x.start(), Amount: amount, Reason: r, Words: bourse.Say(format, args...)}
		if leg >= 0 {
			u.Site = x.site(leg)
		}
		return u
	}
	none := bourse.Reason{}
	switch f := f.(type) {
	case bourse.TxBegun:
		x = t.follow(f)
		var most bourse.Credits
		for _, l := range f.Limits {
			most = most.Plus(l)
		}
		return []Turn{turn(Trying, -1, most, none, "%s, for at most %v credits", x.window("asks to hold"), most)}
	case bourse.LegPriced:
		x = t.find(f.Leg.Tx)
		if f.Leg.Leg >= 0 && f.Leg.Leg < len(x.Fares) {
			x.Fares[f.Leg.Leg] = f.Fare.Total()
		}
		return []Turn{turn(Priced, f.Leg.Leg, f.Fare.Total(), none, "%s holds its part at %v credits", x.at(f.Leg.Leg), f.Fare.Total())}
	case bourse.TxDecided:
		x = t.find(f.Tx)
		if !f.Commit {
			return []Turn{turn(TryFailed, -1, 0, f.Reason, "that came to nothing: %v", f.Reason)}
		}
		x.Commit = true
		return []Turn{turn(x.Becomes, -1, x.price(), none, "%s, for %v credits", x.window(string(x.Becomes)+":"), x.price())}
	case bourse.TxReversed:
		x = t.find(f.Tx)
		return []Turn{turn(Reversed, -1, 0, f.Reason, "taken back: %v", f.Reason)}
	case bourse.LegShifted, bourse.ShiftOffered, bourse.OfferClosed:
		return t.shift(at, f)
	case bourse.LegAdopted:
		t.adopt(f)
		return nil
	case bourse.LegStarted:
		x = t.find(f.Leg.Tx)
		return []Turn{turn(Started, f.Leg.Leg, 0, none, "runs at %s", x.at(f.Leg.Leg))}
	case bourse.LegClosed:
		x = t.find(f.Leg.Tx)
		switch {
		case f.Commit:
			return []Turn{turn(Confirmed, f.Leg.Leg, f.Posted, none, "%s has confirmed its part, %v credits are paid", x.at(f.Leg.Leg), f.Posted)}
		case x.Commit && f.Reason.Refused():
			x.Open--
			return []Turn{turn(LegLost, f.Leg.Leg, 0, f.Reason, "its part at %s is gone, nothing was paid for it: %v", x.at(f.Leg.Leg), f.Reason)}
		}
	case bourse.LegDone:
		x = t.find(f.Leg.Tx)
		return t.done(at, x, f)
	}
	return nil
}

// adopt takes a leg that its site has listed: one of several, perhaps, in no order.
func (t *Turns) adopt(f bourse.LegAdopted) {
	x := t.txs[f.Leg.Tx]
	if x == nil {
		t.follow(bourse.TxBegun{Tx: f.Leg.Tx, Job: f.Job})
		x = t.find(f.Leg.Tx)
	}
	x.Sites, x.Legs = slices.Clone(x.Sites), slices.Clone(x.Legs) // they may be those of an image
	for len(x.Legs) <= f.Leg.Leg {
		x.Sites, x.Legs, x.Fares = append(x.Sites, ""), append(x.Legs, bourse.Leg{}), append(x.Fares, 0)
	}
	x.Sites[f.Leg.Leg], x.Legs[f.Leg.Leg], x.Fares[f.Leg.Leg] = f.Site, f.What, f.Fare.Total()
	x.Open++
}

// shift tells what has become of the place of a leg with a window.
func (t *Turns) shift(at bourse.Time, f agents.Fact) []Turn {
	var x *Transaction
	turn := func(what What, leg int, start bourse.Time, format string, args ...any) []Turn {
		return []Turn{{At: at, Job: x.Job, What: what, Tx: x.Tx.String(), Site: x.site(leg), Start: start, Words: bourse.Say(format, args...)}}
	}
	switch f := f.(type) {
	case bourse.LegShifted:
		x = t.find(f.Leg.Tx)
		verb := "has moved its part within its window"
		if f.Fixed {
			verb = "has fixed its part where it lies"
		}
		return turn(Shifted, f.Leg.Leg, f.Start, "%s %s", x.at(f.Leg.Leg), verb)
	case bourse.ShiftOffered:
		x = t.find(f.Leg.Tx)
		list := turn(Offered, f.Leg.Leg, f.Start, "%s offers %v credits for its place, and another one", x.at(f.Leg.Leg), f.Pay)
		list[0].End, list[0].Amount = f.End, f.Pay
		return list
	case bourse.OfferClosed:
		x = t.find(f.Leg.Tx)
		why := bourse.Phrase("is rejected")
		switch {
		case f.State == bourse.OfferExpired:
			why = "was not answered in time"
		case f.Reason.Refused():
			why = bourse.Say("came to nothing: %v", f.Reason)
		}
		list := turn(OfferOver, f.Leg.Leg, 0, "the offer of %s for its place %s", x.at(f.Leg.Leg), why)
		list[0].Reason = f.Reason
		return list
	}
	return nil
}

// done tells of the end of a leg and, with the last one, of its window.
func (t *Turns) done(at bourse.Time, x *Transaction, f bourse.LegDone) []Turn {
	u := Turn{At: at, Job: x.Job, What: LegEnded, Tx: x.Tx.String(), Site: x.site(f.Leg.Leg), Start: x.start(), End: f.End, Amount: f.Refund, Reason: f.Reason}
	back := bourse.Phrase("")
	if f.Refund > 0 {
		back = bourse.Say(", %v credits come back", f.Refund)
	}
	if f.Penalty > 0 {
		back += bourse.Say(", and %v as a penalty", f.Penalty)
	}
	switch f.State {
	case bourse.Lost:
		u.What, u.Words = LegLost, bourse.Say("its part at %s is lost%s: %v", x.at(f.Leg.Leg), back, f.Reason)
	case bourse.Released:
		u.Words = bourse.Say("its part at %s is given back%s", x.at(f.Leg.Leg), back)
	default:
		u.Words = bourse.Say("its work at %s has ended%s", x.at(f.Leg.Leg), back)
	}
	if x.Open--; x.Open > 0 || f.State == bourse.Lost || f.State == bourse.Released || x.Job == "" {
		return []Turn{u}
	}
	return []Turn{u, {At: at, Job: x.Job, What: Done, Tx: u.Tx, Start: u.Start, End: f.End, Words: "its window is over"}}
}

// at names a leg's site for people.
func (x *Transaction) at(leg int) string {
	if s := x.site(leg); s != "" {
		return s
	}
	return "a site"
}

// window shows what a transaction is about.
func (x *Transaction) window(verb string) string {
	s := verb
	for i, l := range x.Legs {
		if l.Nodes == 0 { // of a transaction that was adopted: nobody has listed it
			continue
		}
		if s != verb {
			s += ","
		}
		s += fmt.Sprintf(" %d nodes of %s/%s", l.Nodes, x.at(i), l.Group)
	}
	return s
}

// price is the sum of the prices that bind.
func (x *Transaction) price() bourse.Credits {
	var sum bourse.Credits
	for _, c := range x.Fares {
		sum = sum.Plus(c)
	}
	return sum
}

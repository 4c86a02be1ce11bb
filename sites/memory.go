package sites

import (
	"cmp"
	"fmt"
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/agents/plant"
)

// memory is what a site must not forget: it changes only by applying facts, so
// that a restart, which replays them, comes to the same.
type memory struct {
	facts  uint64 // recorded so far
	lives  map[string]*life
	legs   map[bourse.LegID]*leg // and those that are asked
	kept   []*leg                // in order of their first facts
	tombs  []*leg                // cancelled before they were known, oldest first
	keptOf map[string]int        // by broker
	part   int                   // legs of one part of an image
	open   openLegs
	ledger bourse.Ledger[bourse.LegID]
	epochs []bourse.SiteEpoch // its own lives, as far as they prove their answers
	wishes
}

// leg is one leg of a transaction as its site sees it.
type leg struct {
	bourse.LegMoved             // the last that was recorded of it; Asked: nothing yet
	tomb            bool        // cancelled before it was known
	charged         bool        // it was confirmed once
	noted           bool        // the broker has acknowledged what became of it
	heldAt, at      bourse.Time // when it was held, and when it moved last
	place           int         // in open
	turn, told      uint32      // of its last shift, and of those that its broker has noted
	lastOffer       *offer      // that was made for it; nil: none, as for most

	// Of this life only.
	ends bourse.Time // of the hold or the doubt: later alarms are stale
	duty duty        // what the cluster has not acknowledged
}

func newMemory() memory {
	return memory{part: maxPart, lives: map[string]*life{}, legs: map[bourse.LegID]*leg{}, keptOf: map[string]int{}}
}

// openLegs are those that hold nodes, in order of their holds. A leg leaves a
// gap; the gaps are closed when they are the most, so that neither costs a walk.
type openLegs struct {
	list []*leg
	gaps int
}

func (o *openLegs) add(l *leg) {
	l.place = len(o.list)
	o.list = append(o.list, l)
}

func (o *openLegs) remove(l *leg) {
	o.list[l.place] = nil
	if o.gaps++; 2*o.gaps <= len(o.list) {
		return
	}
	o.list = slices.DeleteFunc(o.list, func(l *leg) bool { return l == nil })
	for i, l := range o.list {
		l.place = i
	}
	o.gaps = 0
}

// each visits the open legs; the set must not be changed meanwhile.
func (o *openLegs) each(yield func(*leg) bool) {
	for _, l := range o.list {
		if l != nil && !yield(l) {
			return
		}
	}
}

// record records a fact and applies it: the only way the memory changes.
func (s *Site) record(t step, f agents.Fact) {
	t.out.Record(f)
	s.apply(t.now, f)
}

// apply brings the memory up to a fact that was recorded at an instant.
func (m *memory) apply(at bourse.Time, f agents.Fact) {
	m.facts++
	switch f := f.(type) {
	case bourse.LegMoved:
		m.moved(at, f)
	case bourse.LegRestored:
		m.restored(at, f)
	case bourse.LegShifted:
		m.shifted(f)
	case bourse.ShiftNoted:
		l := m.legs[f.Leg]
		l.told = max(l.told, f.Turn)
	case bourse.ShiftOffered:
		l := m.legs[f.Leg]
		l.lastOffer = &offer{Leg: f.Leg, ShiftOffer: f.ShiftOffer, State: bourse.OfferOpen, For: f.For}
	case bourse.OfferClosed:
		l := m.legs[f.Leg]
		l.lastOffer.State, l.lastOffer.Reason = f.State, f.Reason
	case bourse.SiteBegun:
		m.lived(f)
	case bourse.LifeSeen:
		x := m.lives[f.Broker]
		if x == nil {
			x = &life{broker: f.Broker}
			m.lives[f.Broker] = x
		}
		x.see(f)
	case bourse.LifeListed:
		m.lives[f.Broker].listed = f.Incarnation
	case bourse.Tombstone:
		l := m.keep(f.Leg)
		l.tomb, l.State, l.at, l.noted = true, bourse.Cancelled, at, true
		m.tombs = append(m.tombs, l)
	case bourse.NoticeNoted:
		m.legs[f.Leg].noted = true
	case bourse.LegsForgotten:
		m.drop(f.Legs)
	case bourse.SiteImage:
		m.load(f)
	case bourse.SiteDrained, bourse.SiteClosed, bourse.SiteOpened, bourse.MaintenanceSet, bourse.MaintenanceOver:
		m.wishes.apply(f)
	default:
		panic(fmt.Sprintf("sites: cannot apply %s", f.Kind()))
	}
}

// keep returns the leg of a name, remembered from now on.
func (m *memory) keep(id bourse.LegID) *leg {
	l := m.legs[id]
	if l == nil {
		l = &leg{}
		l.Leg = id
		m.legs[id] = l
	}
	m.kept = append(m.kept, l)
	m.keptOf[id.Tx.Broker]++
	return l
}

// moved takes a leg along the state table, and its money with it.
func (m *memory) moved(at bourse.Time, f bourse.LegMoved) {
	l := m.legs[f.Leg]
	if l == nil || l.State == bourse.Asked {
		l = m.keep(f.Leg)
	}
	was := l.State
	if !was.CanMove(f.State) {
		panic(fmt.Sprintf("sites: leg %v cannot go from %v to %v", f.Leg, was, f.State))
	}
	l.LegMoved, l.at = f, at
	if f.State == bourse.Held {
		l.heldAt = at
		m.open.add(l)
	}
	m.book(l, was)
	if was.Blocks() && f.State.Terminal() {
		m.open.remove(l)
	}
}

// book does what a move means for the money: income is pending while a leg is
// held or prepared, posted when it is confirmed, and void when it never is.
// What is given back later is a new posting.
func (m *memory) book(l *leg, was bourse.LegState) {
	switch {
	case l.State == bourse.Held:
		m.ledger.Reserve(l.Leg, m.transfer(l, l.Fare.Total()))
	case l.State == bourse.Confirmed:
		m.ledger.Post(l.Leg)
		l.charged = true
		if old := m.legs[l.Replaces]; old != nil && old.charged {
			l.heldAt = min(l.heldAt, old.heldAt) // a move gives no new notice
			if l.Offer > 0 && l.Offer == old.offer().Number {
				old.lastOffer.State, old.lastOffer.Reason = bourse.OfferAccepted, bourse.Reason{}
			}
		}
	case l.State.Terminal() && (was == bourse.Held || was == bourse.Prepared):
		if plant.On("forget-void") && l.State == bourse.Heuristic {
			return
		}
		m.ledger.Void(l.Leg)
	case l.State == bourse.Released || l.State == bourse.Lost:
		m.giveBack(l)
	}
}

func (m *memory) giveBack(l *leg) {
	back := l.Refund.Plus(l.Penalty)
	if plant.On("double-refund") {
		back = back.Plus(l.Refund)
	}
	x := m.transfer(l, back)
	x.From, x.To = x.To, x.From
	m.ledger.Pay(x)
}

// transfer pays for a leg: from its broker's account to the income of all legs.
func (m *memory) transfer(l *leg, amount bourse.Credits) bourse.Transfer {
	return bourse.Transfer{From: account(l), To: income, Amount: amount}
}

// income is the account that all legs are paid to, account the one that a leg is
// paid from.
const income = "income"

func account(l *leg) string { return "broker:" + l.Leg.Tx.Broker }

// restored takes a leg as its broker says it was.
func (m *memory) restored(at bourse.Time, f bourse.LegRestored) {
	l := m.legs[f.Was.Leg]
	if l != nil && l.tomb { // from now on it counts as new
		m.drop([]bourse.LegID{l.Leg})
		l = nil
	}
	if l == nil || l.State == bourse.Asked {
		l = m.keep(f.Was.Leg)
	}
	was := l.State
	if was == bourse.Held || was == bourse.Prepared {
		m.ledger.Void(l.Leg)
	}
	l.LegMoved, l.at, l.heldAt = f.Was, at, f.Held
	l.noted = true // its broker knows: it has said so
	switch l.State {
	case bourse.Held, bourse.Prepared:
		m.ledger.Reserve(l.Leg, m.transfer(l, l.Fare.Total()))
		l.noted = false
	case bourse.Confirmed, bourse.Running, bourse.Settled, bourse.Released, bourse.Lost:
		if !l.charged && (l.State != bourse.Lost || l.Refund > 0) {
			m.ledger.Pay(m.transfer(l, l.Fare.Total()))
			l.charged = true
		}
		if l.State == bourse.Released || l.State == bourse.Lost {
			m.giveBack(l)
		}
		l.noted = l.State.Terminal()
	}
	switch {
	case l.State.Blocks() && !was.Blocks():
		m.open.add(l)
	case !l.State.Blocks() && was.Blocks():
		m.open.remove(l)
	}
}

// drop forgets legs that are over.
func (m *memory) drop(ids []bourse.LegID) {
	for _, id := range ids {
		delete(m.legs, id)
		if m.keptOf[id.Tx.Broker]--; m.keptOf[id.Tx.Broker] <= 0 {
			delete(m.keptOf, id.Tx.Broker)
		}
	}
	gone := func(l *leg) bool { return m.legs[l.Leg] != l }
	m.kept = slices.DeleteFunc(m.kept, gone)
	m.tombs = slices.DeleteFunc(m.tombs, gone)
}

// Ledger shows the site's accounts: what each broker owes and has paid.
func (m *memory) Ledger() *bourse.Ledger[bourse.LegID] { return &m.ledger }

// maxPart is how many legs one part of an image has at most: some 500 kB of a
// journal.
const maxPart = 1000

// Image returns all that the site keeps as one fact.
func (m *memory) Image() agents.Fact {
	f := m.common()
	m.listed(&f, 0, len(m.kept))
	return f
}

// Parts is how many facts the image takes, of a thousand legs each.
func (m *memory) Parts() int { return max((len(m.kept)+m.part-1)/m.part, 1) }

// Part returns the i-th of them.
func (m *memory) Part(i int) agents.Fact {
	var f bourse.SiteImage
	if i == 0 {
		f = m.common()
	}
	if n := m.Parts(); n > 1 {
		f.Part, f.Parts = i, n
	}
	m.listed(&f, i*m.part, min((i+1)*m.part, len(m.kept)))
	return f
}

// common is what an image has beside legs.
func (m *memory) common() bourse.SiteImage {
	f := bourse.SiteImage{Facts: m.facts, Accounts: m.ledger.Accounts(),
		Drain: m.drain, Closed: slices.Clone(m.closed), Maintained: m.maintained, Epochs: slices.Clone(m.epochs)}
	for _, x := range m.maintenance {
		f.Maintenance = append(f.Maintenance, x.MaintenanceSet)
	}
	for _, x := range m.lives {
		for _, seen := range x.seen {
			f.Lives = append(f.Lives, bourse.SiteLife{LifeSeen: seen, Listed: seen.Incarnation == x.listed})
		}
	}
	slices.SortFunc(f.Lives, func(a, b bourse.SiteLife) int {
		return cmp.Or(cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.Incarnation, b.Incarnation))
	})
	return f
}

// listed adds to an image the legs from place from to place to.
func (m *memory) listed(f *bourse.SiteImage, from, to int) {
	for _, l := range m.kept[from:to] {
		f.Legs = append(f.Legs, bourse.LegMemory{LegMoved: l.LegMoved, Tomb: l.tomb, Charged: l.charged,
			Noted: l.noted, HeldAt: l.heldAt, At: l.at, Turn: l.turn, Told: l.told, Offered: bourse.JobOffer(l.offer())})
	}
}

// load begins with an image, or goes on with another part of it.
func (m *memory) load(f bourse.SiteImage) {
	if f.Part == 0 {
		m.loadCommon(f)
	} else {
		m.facts-- // it is no fact
	}
	m.loadLegs(f.Legs)
}

// loadCommon takes what an image has beside legs.
func (m *memory) loadCommon(f bourse.SiteImage) {
	*m = newMemory()
	m.facts, m.epochs = f.Facts, slices.Clone(f.Epochs)
	m.ledger.Load(f.Accounts)
	m.drain, m.closed = f.Drain, slices.Clone(f.Closed)
	for _, x := range f.Maintenance {
		m.wishes.apply(x)
	}
	m.maintained = f.Maintained
	for _, x := range f.Lives {
		l := m.lives[x.Broker]
		if l == nil {
			l = &life{broker: x.Broker}
			m.lives[x.Broker] = l
		}
		l.see(x.LifeSeen)
		if x.Listed {
			l.listed = x.Incarnation
		}
	}
}

func (m *memory) loadLegs(legs []bourse.LegMemory) {
	for _, x := range legs {
		l := m.keep(x.Leg)
		l.LegMoved, l.tomb, l.charged, l.noted, l.heldAt, l.at = x.LegMoved, x.Tomb, x.Charged, x.Noted, x.HeldAt, x.At
		l.turn, l.told = x.Turn, x.Told
		if x.Offered.Number > 0 {
			o := offer(x.Offered)
			l.lastOffer = &o
		}
		if l.tomb {
			m.tombs = append(m.tombs, l)
		}
		if l.State.Blocks() {
			m.open.add(l)
		}
		if l.State == bourse.Held || l.State == bourse.Prepared {
			m.ledger.Reserve(l.Leg, m.transfer(l, l.Fare.Total()))
		}
	}
}

// OpenLegs shows the legs that hold nodes, in order of their holds, for reports
// and checks.
func (s *Site) OpenLegs() []OpenLeg {
	list := make([]OpenLeg, 0, len(s.open.list)-s.open.gaps)
	for l := range s.open.each {
		list = append(list, s.openLeg(l))
	}
	return list
}

func (s *Site) openLeg(l *leg) OpenLeg {
	return OpenLeg{Leg: l.Leg, Broker: s.life(l.Leg.Tx.Broker).address(), Job: l.Job, User: l.User,
		What: l.What, State: l.State, Fare: l.Fare, Limit: l.ends}
}

// OpenLeg is a leg that holds nodes.
type OpenLeg struct {
	Leg    bourse.LegID    `json:"leg"`
	Broker agents.ID       `json:"broker"`
	Job    string          `json:"job"`
	User   string          `json:"user,omitempty"`
	What   bourse.Leg      `json:"what"`
	State  bourse.LegState `json:"state"`
	Fare   bourse.Fare     `json:"fare"`
	Limit  bourse.Time     `json:"limit,omitempty"` // held or prepared: when that ends
}

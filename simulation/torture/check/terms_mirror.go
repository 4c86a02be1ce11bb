package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// What a broker's record says of terms and of money paid in, folded without the broker's code and
// without that of history/invariant. An acknowledged grant, file or deposit is on record (I11) and
// counts from then on, in every life; a deposit is paid in once (I6); a period of the budget begins
// when it is due and adds what it should (I8); nobody buys beyond the terms (I31).

// holderKey is a user or a tenant.
type holderKey struct{ user, tenant string }

func keyOf(h grid.Holder) holderKey { return holderKey{h.User, h.Tenant} }

// holders are terms as a file or an operator has set them. The tenant of a user is one of its
// terms, by name.
type holders map[holderKey]map[string]any

const inTenant = "in"

func (x holders) set(h grid.Holder, drop []string) {
	terms := maps.Clone(x[keyOf(h)])
	if terms == nil {
		terms = map[string]any{}
	}
	for name, v := range h.Terms {
		terms[name] = v
	}
	if h.In != "" {
		terms[inTenant] = h.In
	}
	for _, name := range drop {
		delete(terms, name)
	}
	if x[keyOf(h)] = terms; len(terms) == 0 {
		delete(x, keyOf(h))
	}
}

func holdersOf(list []grid.Holder) holders {
	x := holders{}
	for _, h := range list {
		x.set(h, nil)
	}
	return x
}

// allowed is a broker's record of terms and of money paid in.
type allowed struct {
	file, granted holders
	changed       bool // since they were compared with the broker's
	deposits      map[string]grid.Credits
	opened        bool      // a period of the budget
	until         grid.Time // the end of the first period
	period        int64
	in            grid.Credits // paid in
}

func newAllowed() allowed {
	return allowed{file: holders{}, granted: holders{}, deposits: map[string]grid.Credits{}}
}

// allows takes what a broker records of terms and of money paid in.
func (x *allowed) allows(f agents.Fact) {
	switch f := f.(type) {
	case facts.LifeBegun:
		x.changed = true
	case facts.TermsRead:
		x.file, x.changed = holdersOf(f.Holders), true
	case facts.TermsGranted:
		x.granted.set(f.Holder, f.Drop)
		x.changed = true
	case facts.Deposited:
		x.deposits[f.Key] = f.Credits
		x.in += f.Credits
	case facts.BudgetOpened:
		if !x.opened {
			x.opened, x.until, x.in = true, f.Until, f.Credits
		} else if f.Period != x.period {
			x.in += f.Credits
		}
		x.period = f.Period
	}
}

// term is what counts of a user or a tenant: what was granted before what is in the file, and what
// is set by name before what is set for everyone.
func (x *allowed) term(k holderKey, name string) any {
	who := []holderKey{k}
	if k.tenant == "" {
		who = append(who, holderKey{user: grid.Everyone})
	}
	for _, k := range who {
		for _, list := range []holders{x.granted, x.file} {
			if v, set := list[k][name]; set {
				return v
			}
		}
	}
	return nil
}

// tenantOf is the tenant that a user is in, "" for none.
func (x *allowed) tenantOf(user string) string {
	if in, _ := x.term(holderKey{user: user}, inTenant).(string); in != grid.Nobody {
		return in
	}
	return ""
}

// paysIn checks what is paid in to a broker before it is taken in.
func (c *Checker) paysIn(s *sim.Step, m *mirror, f agents.Fact) error {
	if !c.w.Termed() {
		return nil
	}
	x := &m.allowed
	switch f := f.(type) {
	case facts.Deposited:
		if _, again := x.deposits[f.Key]; again {
			return fmt.Errorf("I6: deposit %s is paid in twice at %s", f.Key, m.id)
		}
	case facts.BudgetOpened:
		config := c.brokerConfig(m.id)
		periods, due := f.Period-x.period, int64(s.Now.Add(config.BudgetPeriod).Sub(x.until)/config.BudgetPeriod)
		if !x.opened {
			periods, due = 1, 0
		}
		if f.Period > max(due, x.period) {
			return fmt.Errorf("I8: at %v %s begins period %d of its budget, and %d is due", s.Now, m.id, f.Period, due)
		}
		if want := config.Budget.Times(int(periods)); f.Credits != want {
			return fmt.Errorf("I8: %s begins period %d of its budget with %v, not with %v", m.id, f.Period, f.Credits, want)
		}
	}
	return nil
}

// permits checks a transaction that has just been begun against the terms of its user and of the
// user's tenant.
func (c *Checker) permits(m *mirror, f facts.TxBegun) error {
	if !c.w.Termed() {
		return nil
	}
	user := m.jobs[f.Job].User
	if err := c.buys(m, f, holderKey{user: user}, func(u string) bool { return u == user }); err != nil {
		return err
	}
	in := m.allowed.tenantOf(user)
	if in == "" {
		return nil
	}
	return c.buys(m, f, holderKey{tenant: in}, func(u string) bool { return m.allowed.tenantOf(u) == in })
}

// buys checks what a user or a tenant has with a transaction that is begun: nodes at once, by where
// the legs lie, and what is paid and promised. All of a run is on one day, and so in one period.
func (c *Checker) buys(m *mirror, f facts.TxBegun, k holderKey, of func(user string) bool) error {
	most, bound := m.allowed.term(k, grid.TermMaxNodes).(int64)
	credits, priced := m.allowed.term(k, grid.TermCredits).(int64)
	var due grid.Credits
	var legs []grid.Leg
	for _, id := range m.begun {
		t := m.txs[id]
		if !of(m.jobs[t.begun.Job].User) || t.decided && !t.commit {
			continue
		}
		gives := id != f.Tx && t.decided && f.Request.Nodes > 0 && t.begun.Job == f.Job // its window, for this one
		for i, what := range t.begun.Legs {
			leg := grid.LegID{Tx: id, Leg: i}
			closed, known := m.closed[leg]
			over, done := m.done[leg]
			due += max(0, m.promised.legs[leg]+closed.Posted-over.Refund-over.Penalty) // a claim is the VO's
			if !gives && !done && (!known || closed.Commit) {
				legs = append(legs, what)
			}
		}
	}
	who := grid.Holder{User: k.user, Tenant: k.tenant}.Words()
	if priced && due > grid.Credits(credits) {
		return fmt.Errorf("I31: %s of %s may spend %v, and with %v it comes to %v", who, m.id, grid.Credits(credits), f.Tx, due)
	}
	for _, l := range f.Legs { // the most are held where one begins
		for _, at := range append([]grid.Leg{l}, legs...) {
			if at.Start < l.Start || at.Start >= l.End {
				continue
			}
			n := 0
			for _, o := range legs {
				if o.Start <= at.Start && at.Start < o.End {
					n += o.Nodes
				}
			}
			if bound && int64(n) > most {
				return fmt.Errorf("I31: %s of %s may have %d nodes at once, and with %v has %d at %v", who, m.id, most, f.Tx, n, at.Start)
			}
		}
	}
	return nil
}

// acknowledges checks that what an operator is told to be done is on record (I11).
func (c *Checker) acknowledges(s *sim.Step, m *mirror) error {
	if !c.w.Termed() || !slices.ContainsFunc(s.Sends, func(o agents.Send) bool { r, ok := o.Message.(agents.OperatorReply); return ok && !r.Reason.Refused() }) {
		return nil
	}
	x := &m.allowed
	missing := false
	switch q := s.Message.(type) {
	case agents.Deposit:
		missing = x.deposits[q.Key] != q.Credits
	case agents.ReadTerms:
		missing = !maps.EqualFunc(x.file, holdersOf(q.Holders), maps.Equal)
	case agents.GrantTerms:
		after := holders{keyOf(q.Holder): x.granted[keyOf(q.Holder)]}
		after.set(q.Holder, q.Drop)
		missing = !maps.Equal(after[keyOf(q.Holder)], x.granted[keyOf(q.Holder)])
	}
	if missing {
		return fmt.Errorf("I11: %s acknowledges %+v, which is not on record", m.id, s.Message)
	}
	return nil
}

// goesBy checks that a broker goes by the terms on its record, and that just that money was paid in
// which its record says.
func (c *Checker) goesBy(b *broker.Broker, m *mirror) error {
	x := &m.allowed
	if !c.w.Termed() || !x.opened {
		return nil
	}
	if in := b.Ledger().Account("treasury").Debit; in != x.in {
		return fmt.Errorf("I8: by its ledger %v were paid in to %s, by its record %v", in, m.id, x.in)
	}
	if !x.changed {
		return nil
	}
	x.changed = false
	has := b.Image().(facts.BrokerImage).Tenancy
	if !maps.EqualFunc(holdersOf(has.Granted), x.granted, maps.Equal) || !maps.EqualFunc(holdersOf(has.File), x.file, maps.Equal) {
		return fmt.Errorf("I11: %s goes by the terms %v and %v, on record are %v and %v", m.id, has.File, has.Granted, x.file, x.granted)
	}
	return nil
}

func (c *Checker) brokerConfig(id agents.ID) *broker.Config {
	for i := range c.w.Brokers {
		if world.BrokerID(c.w.Brokers[i].Config.Name) == id {
			return &c.w.Brokers[i].Config
		}
	}
	panic("torture: no broker " + string(id))
}

package broker

import (
	"maps"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// operator carries out the commands of the VO's operator: terms of users and tenants, and
// deposits.
type operator struct{ *memory }

// recordFile records the terms in the broker's configuration file, if they differ from
// those on record. A file without terms is recorded only after one with terms.
func (op *operator) recordFile(list []grid.Holder, out *agents.Outbox) {
	if op.Tenancy.Differs(list) {
		op.Record(facts.TermsRead{Holders: list}, out)
	}
}

// readTerms takes the terms of the configuration file after it was read again.
func (op *operator) readTerms(from agents.ID, m agents.ReadTerms, out *agents.Outbox) {
	if !strings.HasPrefix(string(from), "operator:") {
		op.stray++
		return
	}
	c := op.cfg
	c.Users, c.Quotas, c.Holders = nil, nil, m.Holders
	if err := c.checkUsers(); err != nil {
		out.Send(from, agents.OperatorReply{To: m.Kind(), Reason: reason(grid.Invalid, "%v", err)})
		return
	}
	out.Row("B141")
	op.recordFile(m.Holders, out)
	out.Send(from, agents.OperatorReply{To: m.Kind()})
}

// grantTerms handles an operator's grant to a user or a tenant.
func (op *operator) grantTerms(from agents.ID, m agents.GrantTerms, out *agents.Outbox) {
	by, ok := strings.CutPrefix(string(from), "operator:")
	if !ok {
		op.stray++
		return
	}
	f := facts.TermsGranted{Holder: m.Holder, Drop: m.Drop, By: by}
	out.Row("B141")
	why := op.Tenancy.RefusesGrant(f)
	if !why.Refused() && op.Tenancy.Changes(f) {
		op.Record(f, out)
	}
	out.Send(from, agents.OperatorReply{To: m.Kind(), Reason: why})
}

// Terms are the configuration's terms of users and tenants, in order, for
// agents.ReadTerms.
func (c *Config) Terms() []grid.Holder { return c.holders() }

// holders are the configuration's terms of users and tenants, in order.
func (c *Config) holders() []grid.Holder {
	list := slices.SortedFunc(slices.Values(c.Holders), grid.Holder.Compare)
	put := func(user, term string, value int64) {
		i, found := slices.BinarySearchFunc(list, grid.Holder{User: user}, grid.Holder.Compare)
		if !found {
			list = slices.Insert(list, i, grid.Holder{User: user})
		}
		terms := grid.Grants{term: value}
		maps.Copy(terms, list[i].Terms)
		list[i].Terms = terms
	}
	for user, t := range c.Users {
		for _, x := range []struct {
			term  string
			value int
		}{{grid.TermShare, t.Share}, {grid.TermPriority, t.Priority}, {grid.TermMaxWaiting, t.MaxWaiting}} {
			if x.value != 0 {
				put(user, x.term, int64(x.value))
			}
		}
	}
	for user, q := range c.Quotas {
		put(user, grid.TermQuota, int64(q))
	}
	if c.MaxWaiting != tenancy.DefaultMaxWaiting {
		put(grid.Everyone, grid.TermMaxWaiting, int64(c.MaxWaiting))
	}
	return list
}

package broker

import (
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// maxHolders bounds the users and tenants with terms granted by operators.
const maxHolders = 20_000

// operator carries out the commands of the VO's operator: terms of users and tenants, and
// deposits.
type operator struct{ *memory }

// recordFile records the terms in the broker's configuration file, if they differ from
// those on record. A file without terms is recorded only after one with terms.
func (op *operator) recordFile(list []grid.Holder, out *agents.Outbox) {
	x := &op.tenancy
	if !x.read && len(list) == 0 || x.read && slices.EqualFunc(x.file, list, grid.Holder.Equal) {
		return
	}
	op.record(facts.TermsRead{Holders: list}, out)
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
	why := op.refusesGrant(f)
	if after := grant(op.tenancy.granted, f); !why.Refused() && !slices.EqualFunc(after, op.tenancy.granted, grid.Holder.Equal) {
		op.record(f, out)
	}
	out.Send(from, agents.OperatorReply{To: m.Kind(), Reason: why})
}

func (op *operator) refusesGrant(f facts.TermsGranted) grid.Reason {
	if err := grid.CheckHolder(f.Holder); err != nil {
		return reason(grid.Invalid, "%v", err)
	}
	for _, name := range f.Drop {
		if _, err := grid.FindTerm(name); err != nil && name != dropIn {
			return reason(grid.Invalid, "%v, or %s", err, dropIn)
		}
	}
	if in := f.In; in != "" && in != grid.Nobody && !op.tenancy.known(in) {
		return reason(grid.Unknown, "there is no tenant %q; give it a term first, such as share=1", in)
	}
	if find(op.tenancy.granted, f.Holder) == nil && len(op.tenancy.granted) >= maxHolders {
		return reason(grid.QueueFull, "%d users and tenants have been granted terms, the most there may be; give them by the broker's file, or everyone else (%s) some", maxHolders, grid.Everyone)
	}
	return grid.Reason{}
}

// known reports whether there is a tenant of that name.
func (x *tenancy) known(tenant string) bool {
	for _, list := range [][]grid.Holder{x.file, x.granted} {
		for i := range list {
			if list[i].Tenant == tenant || list[i].In == tenant {
				return true
			}
		}
	}
	return false
}

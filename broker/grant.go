package broker

import (
	"slices"
	"strings"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// maxHolders bounds the users and tenants with terms granted by operators.
const maxHolders = 20_000

// operator carries out the commands of the VO's operator: terms of users and tenants, and
// deposits.
type operator struct{ *memory }

// recordFile records the terms in the broker's configuration file, if they differ from
// those on record. A file without terms is recorded only after one with terms.
func (op *operator) recordFile(list []bourse.Holder, out *agents.Outbox) {
	x := &op.tenancy
	if !x.read && len(list) == 0 || x.read && slices.EqualFunc(x.file, list, bourse.Holder.Equal) {
		return
	}
	op.record(bourse.TermsRead{Holders: list}, out)
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
		out.Send(from, agents.OperatorReply{To: m.Kind(), Reason: reason(bourse.Invalid, "%v", err)})
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
	f := bourse.TermsGranted{Holder: m.Holder, Drop: m.Drop, By: by}
	why := op.refusesGrant(f)
	if after := grant(op.tenancy.granted, f); !why.Refused() && !slices.EqualFunc(after, op.tenancy.granted, bourse.Holder.Equal) {
		op.record(f, out)
	}
	out.Send(from, agents.OperatorReply{To: m.Kind(), Reason: why})
}

func (op *operator) refusesGrant(f bourse.TermsGranted) bourse.Reason {
	if err := bourse.CheckHolder(f.Holder); err != nil {
		return reason(bourse.Invalid, "%v", err)
	}
	for _, name := range f.Drop {
		if _, err := bourse.FindTerm(name); err != nil && name != dropIn {
			return reason(bourse.Invalid, "%v, or %s", err, dropIn)
		}
	}
	if in := f.In; in != "" && in != bourse.Nobody && !op.tenancy.known(in) {
		return reason(bourse.Unknown, "there is no tenant %q; give it a term first, such as share=1", in)
	}
	if find(op.tenancy.granted, f.Holder) == nil && len(op.tenancy.granted) >= maxHolders {
		return reason(bourse.QueueFull, "%d users and tenants have been granted terms, the most there may be; give them by the broker's file, or everyone else (%s) some", maxHolders, bourse.Everyone)
	}
	return bourse.Reason{}
}

// known reports whether there is a tenant of that name.
func (x *tenancy) known(tenant string) bool {
	for _, list := range [][]bourse.Holder{x.file, x.granted} {
		for i := range list {
			if list[i].Tenant == tenant || list[i].In == tenant {
				return true
			}
		}
	}
	return false
}

package tenancy

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// maxHolders bounds the users and tenants with terms granted by operators.
const maxHolders = 20_000

// OnRecord reports whether the terms of a configuration file are on record.
func (x *Tenancy) OnRecord() bool { return x.read }

// Differs reports whether the terms of a configuration file, in order, must be recorded: they
// differ from those on record. No terms are recorded only after some.
func (x *Tenancy) Differs(list []grid.Holder) bool {
	if x.read {
		return !slices.EqualFunc(x.file, list, grid.Holder.Equal)
	}
	return len(list) > 0
}

// ApplyRead applies the terms of a configuration file.
func (x *Tenancy) ApplyRead(f facts.TermsRead) {
	x.file, x.read = f.Holders, true
	x.changed()
}

// ApplyGranted applies what an operator has granted or dropped.
func (x *Tenancy) ApplyGranted(f facts.TermsGranted) {
	x.granted = grant(x.granted, f)
	x.changed()
}

// Changes reports whether a grant makes any difference to those on record.
func (x *Tenancy) Changes(f facts.TermsGranted) bool {
	return !slices.EqualFunc(grant(x.granted, f), x.granted, grid.Holder.Equal)
}

// RefusesGrant says why an operator's grant is refused; no reason: it is not.
func (x *Tenancy) RefusesGrant(f facts.TermsGranted) grid.Reason {
	if err := grid.CheckHolder(f.Holder); err != nil {
		return grid.Because(grid.Invalid, "%v", err)
	}
	for _, name := range f.Drop {
		if _, err := grid.FindTerm(name); err != nil && name != dropIn {
			return grid.Because(grid.Invalid, "%v, or %s", err, dropIn)
		}
	}
	if in := f.In; in != "" && in != grid.Nobody && !x.known(in) {
		return grid.Because(grid.Unknown, "there is no tenant %q; give it a term first, such as share=1", in)
	}
	if find(x.granted, f.Holder) == nil && len(x.granted) >= maxHolders {
		return grid.Because(grid.QueueFull, "%d users and tenants have been granted terms, the most there may be; give them by the broker's file, or everyone else (%s) some", maxHolders, grid.Everyone)
	}
	return grid.Reason{}
}

// known reports whether there is a tenant of that name.
func (x *Tenancy) known(tenant string) bool {
	for _, list := range [][]grid.Holder{x.file, x.granted} {
		for i := range list {
			if list[i].Tenant == tenant || list[i].In == tenant {
				return true
			}
		}
	}
	return false
}

// grant returns a copy of a list with what an operator has granted or dropped.
func grant(list []grid.Holder, f facts.TermsGranted) []grid.Holder {
	list = slices.Clone(list)
	i, found := slices.BinarySearchFunc(list, f.Holder, grid.Holder.Compare)
	if !found {
		list = slices.Insert(list, i, grid.Holder{User: f.User, Tenant: f.Tenant})
	}
	h := &list[i]
	terms := grid.Grants{}
	maps.Copy(terms, h.Terms)
	maps.Copy(terms, f.Terms)
	h.In = cmp.Or(f.In, h.In)
	for _, name := range f.Drop {
		if delete(terms, name); name == dropIn {
			h.In = ""
		}
	}
	if h.Terms = terms; len(terms) == 0 {
		h.Terms = nil
	}
	if len(terms) == 0 && h.In == "" {
		list = slices.Delete(list, i, i+1)
	}
	return list
}

// dropIn, among the terms to drop, removes the user from its tenant.
const dropIn = "in"

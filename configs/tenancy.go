package configs

import (
	"slices"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
)

// Tenant is a group of users of a VO.
type Tenant struct {
	Name    string
	Members []string // users; "*": all users who are in no other tenant
	Terms   grid.Grants
}

// maxTenants bounds the tenants of a broker.
const maxTenants = 1000

// keys lists the keys of a tenant.
func (x *Tenant) keys(names, members map[string]int) keys.List {
	x.Terms = grid.Grants{}
	return slices.Concat(keys.List{
		keys.Named("name", &x.Name, names, "physics", "name of the tenant"),
		keys.Texts("members", &x.Members, "its users; \"*\": all users who are in no other tenant"),
		keys.Rule(func(t *keys.Table) {
			if t.Clean("name") && (x.Name == grid.Nobody || x.Name == grid.Everyone) {
				t.Wrong("name", "%q is not a valid name for a tenant", x.Name)
			}
			for i, m := range x.Members {
				if members[m]++; members[m] > 1 {
					t.WrongAt(t.Path.Key("members").At(i), "%q is listed twice; must be in one tenant, once", m)
				} else if err := grid.CheckName(m); err != nil {
					t.WrongAt(t.Path.Key("members").At(i), "%v", err)
				}
			}
		}),
	}, terms(x.Terms, func(t grid.Term) bool { return !t.UserOnly }))
}

// terms lists the keys of the terms that which selects. Terms that are not given are not
// set.
func terms(to grid.Grants, which func(grid.Term) bool) keys.List {
	var list keys.List
	for _, x := range grid.TermList() {
		if !which(x) {
			continue
		}
		kinds := map[grid.TermUnit]string{grid.Number: "whole number", grid.NodeHours: "node-hours", grid.CreditUnits: "credits", grid.Days: "duration"}
		def := map[string]string{grid.TermShare: "1", grid.TermPriority: "0", grid.TermPeriod: `"30d"`}[x.Name]
		limits := x.Words(x.Min) + ".." + x.Words(x.Max)
		k := keys.Custom(x.Name, keys.About{Kind: kinds[x.Unit], Limits: limits}, func(t *keys.Table, key string) {
			if v, ok := term(t, key, x); ok {
				to[x.Name] = v
			}
		}, x.Doc)
		if def == "" {
			def = "none"
		}
		list = append(list, k.ByDefault(def))
	}
	return list
}

// term reads a term, if it is given and valid.
func term(t *keys.Table, key string, x grid.Term) (v int64, ok bool) {
	if !t.Has(key) {
		return 0, false
	}
	switch x.Unit {
	case grid.Number:
		v = int64(t.Whole(key, int(x.Min), int(x.Min), int(x.Max)))
	case grid.Days:
		v = int64(t.Span(key, grid.DefaultPeriod, grid.Day))
	case grid.CreditUnits, grid.NodeHours:
		c := keys.Value[grid.Credits](t, key, 0)
		if v = int64(c); x.Unit == grid.NodeHours {
			v, _ = x.Parse(c.String())
		}
	}
	if !t.Clean(key) {
		return 0, false
	}
	if err := x.Check(v); err != nil {
		t.Wrong(key, "%v", err)
		return 0, false
	}
	return v, true
}

// holders lists, in order, the tenants of a broker, the members of each, and the terms of
// users other than those in broker.UserTerms.
func (b *Broker) holders() []grid.Holder {
	var list []grid.Holder
	at := func(h grid.Holder) *grid.Holder {
		i, found := slices.BinarySearchFunc(list, h, grid.Holder.Compare)
		if !found {
			list = slices.Insert(list, i, h)
		}
		return &list[i]
	}
	for _, x := range b.Tenants {
		at(grid.Holder{Tenant: x.Name}).Terms = x.Terms
		for _, m := range x.Members {
			at(grid.Holder{User: m}).In = x.Name
		}
	}
	for _, u := range b.Users {
		if len(u.Terms) > 0 {
			at(grid.Holder{User: u.Name}).Terms = u.Terms
		}
	}
	return list
}

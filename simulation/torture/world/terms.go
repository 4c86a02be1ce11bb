package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// Terms: in one world of sixteen each VO's operator says how much users and tenants may have,
// changes that in the middle of everything, and pays in; and budgets are for periods. check/terms_mirror.go
// judges what comes of that.

// OperatorGrant is what the operator of a VO wants of its broker: other terms of a user or a
// tenant, a deposit, or another file. Host is the VO's users, Size says which of these it is.
const OperatorGrant sim.Kind = "operator-grant"

// termed reports whether users have terms in the world of a seed.
func termed(seed uint64) bool { return seed%16 == 6 }

// drawTerms gives brokers files with terms, and budgets for periods.
func (w *World) drawTerms() {
	r := rand.New(rand.NewPCG(w.seed, streamTerms))
	for i := range w.Brokers {
		c := &w.Brokers[i].Config
		c.BudgetPeriod = grid.Duration(15+r.IntN(20)) * grid.Minute
		c.Budget /= 3
		if r.IntN(3) == 0 {
			c.BudgetUntil = grid.Duration(60+r.IntN(60)) * grid.Minute
		}
		c.Quotas, c.Holders = nil, drawHolders(r)
	}
}

// The tenants of such worlds; every user is in one of them, or in none.
const (
	lab    = "lab"
	guests = "guests"
)

// drawHolders draws a file of terms, in the order of holders.
func drawHolders(r *rand.Rand) []grid.Holder {
	list := []grid.Holder{
		{Tenant: guests}, {Tenant: lab},
		{User: grid.Everyone, In: guests}, {User: "ana", In: lab}, {User: "ben", In: grid.Nobody}, {User: "eva"},
	}
	for i := range list {
		list[i].Terms = drawGrants(r, list[i])
	}
	return slices.DeleteFunc(list, func(h grid.Holder) bool { return h.In == "" && len(h.Terms) == 0 })
}

// drawGrants draws some terms for a user or a tenant: so low that they are reached.
func drawGrants(r *rand.Rand, h grid.Holder) grid.Grants {
	terms := grid.Grants{}
	for _, t := range []struct {
		name        string
		least, most int64
	}{
		{grid.TermShare, 1, 5}, {grid.TermPriority, -2, 3}, {grid.TermMaxPriority, 0, 2}, {grid.TermMaxWaiting, 2, 8},
		{grid.TermMaxNodes, 8, 30}, {grid.TermNodeHours, grid.NodeHour, 8 * grid.NodeHour},
		{grid.TermCredits, 3 * int64(grid.Credit), 40 * int64(grid.Credit)}, {grid.TermQuota, 10 * int64(grid.Credit), 60 * int64(grid.Credit)},
	} {
		value := t.least + r.Int64N(t.most-t.least+1)
		if r.IntN(3) > 0 || t.name == grid.TermQuota && (h.Tenant != "" || h.User == grid.Everyone) {
			continue
		}
		terms[t.name] = value
	}
	if r.IntN(4) == 0 {
		terms[grid.TermPeriod] = int64(grid.Day) * (1 + r.Int64N(31))
	}
	return terms
}

// granted is how many wishes the operators of such a world have.
const granted = 36

// termsFaults draws what operators want, from a stream of its own.
func termsFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamTermsFaults))
	for range granted {
		list = append(list, sim.Fault{Kind: OperatorGrant, Host: UsersID(BrokerNames[r.IntN(len(BrokerNames))]), Salt: 1 + r.Uint64N(1<<32), Size: r.Int64N(6),
			At: Start.Add(grid.Duration(r.Int64N(int64(Storm - 10*grid.Minute))))})
	}
	return list
}

// grant has the operator of a VO say what it wants.
func (w *World) grant(f sim.Fault) {
	r := rand.New(rand.NewPCG(f.Salt, streamTermsFaults))
	to := BrokerID(strings.TrimPrefix(string(f.Host), "users:"))
	var m agents.Message
	switch f.Size {
	case 0:
		m = agents.ReadTerms{Holders: drawHolders(r)}
	case 1:
		m = agents.Deposit{Key: fmt.Sprint("d", f.Salt), Credits: grid.Credits(1+r.IntN(20)) * grid.Credit}
	default:
		m = drawGrant(r)
	}
	w.Post(w.Now(), grantorID, wanted{to, m})
}

// healTerms has operators lift all bounds when the faults are over. A broker whose users may have
// nothing more asks no site, and an earlier life that goes on after a later one learns only from a
// site's answer that it is over.
func (w *World) healTerms() {
	if !termed(w.seed) {
		return
	}
	for _, name := range BrokerNames {
		for _, h := range []grid.Holder{{Tenant: lab}, {Tenant: guests}, {User: "ana"}, {User: "ben"}, {User: "eva"}} {
			h.Terms = grid.Grants{}
			for _, t := range grid.TermList() {
				switch t.Name {
				case grid.TermMaxNodes, grid.TermNodeHours, grid.TermCredits:
					h.Terms[t.Name] = t.Max
				}
			}
			w.Post(w.Now(), grantorID, wanted{BrokerID(name), agents.GrantTerms{Holder: h}})
		}
	}
}

// drawGrant draws a grant to a user or a tenant. Some put a user into a tenant that nobody knows.
func drawGrant(r *rand.Rand) agents.GrantTerms {
	h := []grid.Holder{{User: "ana"}, {User: "ben"}, {User: "eva"}, {User: grid.Everyone}, {Tenant: lab}, {Tenant: guests}}[r.IntN(6)]
	if h.User != "" && r.IntN(3) == 0 {
		h.In = []string{lab, guests, grid.Nobody, "nowhere"}[r.IntN(4)]
	}
	h.Terms = drawGrants(r, h)
	m := agents.GrantTerms{Holder: h}
	if r.IntN(3) == 0 {
		for _, t := range grid.TermList() {
			if _, set := h.Terms[t.Name]; !set && r.IntN(2) == 0 {
				m.Drop = append(m.Drop, t.Name)
			}
		}
	}
	return m
}

// grantorID is the operator of all VOs.
const grantorID agents.ID = "operator:gus"

// grantor tells brokers what it wants, to each one thing after the other, and each again until it
// is answered.
type grantor struct{ wants []wanted }

// wanted is what a broker is to be told, and the grantor's own message to begin with that.
type wanted struct {
	broker agents.ID
	m      agents.Message
}

// Kind names the message.
func (wanted) Kind() string { return "Wanted" }

// Step says what is next, and again what was not answered.
func (g *grantor) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case wanted:
		if g.wants = append(g.wants, m); g.next(m.broker) == len(g.wants)-1 {
			out.Send(m.broker, m.m)
		}
		if len(g.wants) == 1 {
			out.Alarm(now.Add(again), sayAgain{})
		}
	case agents.OperatorReply:
		if i := g.next(from); i >= 0 && g.wants[i].m.Kind() == m.To {
			if g.wants = slices.Delete(g.wants, i, i+1); g.next(from) >= 0 {
				out.Send(from, g.wants[g.next(from)].m)
			}
		}
	case sayAgain:
		for i := range g.wants {
			if g.next(g.wants[i].broker) == i {
				out.Send(g.wants[i].broker, g.wants[i].m)
			}
		}
		if len(g.wants) > 0 {
			out.Alarm(now.Add(again), sayAgain{})
		}
	}
}

// next is the first that a broker is to be told, or -1.
func (g *grantor) next(broker agents.ID) int {
	return slices.IndexFunc(g.wants, func(x wanted) bool { return x.broker == broker })
}

package web

import (
	"context"
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/broker/accounts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
)

// maxSteps is how many steps of a group's offer are shown.
const maxSteps = 200

// maxPrices is how many changes of a group's price are shown.
const maxPrices = 48

// maxUsers is how many users' spending is shown, in order of name.
const maxUsers = 5000

type (
	sitesOutput struct{ Body api.SiteList }
	lostInput   struct {
		Site string `path:"site" maxLength:"100"`
		Body api.LostWish
	}
	foundInput struct {
		Site string `path:"site" maxLength:"100"`
	}
	offersInput struct {
		Site string `query:"site" doc:"only of this site"`
	}
	offersOutput struct{ Body api.OfferList }

	reservationsInput struct {
		User  string `query:"user" doc:"only of this user; only operators may ask for others"`
		Skip  int    `query:"skip" minimum:"0" doc:"next of the previous page"`
		Limit int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"rows of the page"`
	}
	reservationsOutput struct{ Body api.ReservationList }
	accountsOutput     struct{ Body api.Accounts }
)

// market shows a broker's knowledge of its sites, and its money.
type market struct{ *agent }

func (s *market) sites(ctx context.Context, _ *struct{}) (*sitesOutput, error) {
	s.look(ctx, caller(ctx))
	out := &sitesOutput{}
	err := s.broker(ctx, func(now grid.Time, b *broker.Broker) {
		out.Body.Sites = sitesOf(b, now)
	})
	return out, err
}

// sitesOf lists the sites that a broker knows.
func sitesOf(b *broker.Broker, now grid.Time) []api.Site {
	list := []api.Site{}
	for v := range b.Sites() {
		x := api.Site{Name: v.Name, State: siteState(&v), Member: v.Member, Listed: v.Listed, Answer: v.Answer, Asked: api.Instant(v.Asked), Refusal: api.ReasonOf(v.Refusal),
			Silent: api.Seconds{Duration: v.Silent}, Broken: v.Broken, Last: api.Instant(v.Last)}
		if l := v.Lost; l != nil {
			x.Lost = &api.SiteLoss{Since: api.Instant(l.Since), Operator: l.Wish, Reason: l.Reason.String()}
		}
		for i := range v.Groups {
			x.Groups = append(x.Groups, groupOf(&v.Groups[i], now))
		}
		list = append(list, x)
	}
	return list
}

// siteState is the state of a site in one word.
func siteState(v *broker.SiteView) string {
	switch {
	case v.Lost != nil:
		return "lost"
	case !v.Member:
		return "left"
	case v.Refusal.Code == grid.Draining:
		return "drained"
	case v.Answer == "":
		return "not-asked"
	}
	return v.Answer
}

func groupOf(g *agents.GroupOffer, now grid.Time) api.Group {
	return api.Group{Name: g.Group.Name, Nodes: g.Group.Nodes, Free: max(at(g.Admissible, now), 0), Clear: max(at(g.Clear, now), 0),
		Performance: api.Performance{Performance: g.Group.Performance}, Price: api.Price{Price: g.Group.PriceAt(now)}, Longest: api.Seconds{Duration: g.Group.Longest}, Shares: sharesOf(&g.Group, now)}
}

// sharesOf is how a group divides its nodes; nothing if it does not.
func sharesOf(g *grid.Group, now grid.Time) (s api.Shares) {
	if g.Divided() > 1 {
		s = api.Shares{Slices: g.Slices, Cores: g.Cores, GPUs: g.Machine.GPUs}
		if s.GPUs > 0 {
			s.GPUPrice.Price = grid.Price(grid.Credits(g.PriceAt(now)).Over(1, int64(s.GPUs)))
		}
	}
	return s
}

// at is how many nodes an offer, which may be empty, has free at an instant.
func at(p grid.Profile, now grid.Time) int {
	if len(p) == 0 {
		return 0
	}
	return p.At(now)
}

func (s *market) offers(ctx context.Context, in *offersInput) (*offersOutput, error) {
	s.look(ctx, caller(ctx))
	out := &offersOutput{api.OfferList{Offers: []api.Offer{}}}
	known := in.Site == ""
	err := s.broker(ctx, func(now grid.Time, b *broker.Broker) {
		for v := range b.Sites() {
			if in.Site != "" && v.Name != in.Site {
				continue
			}
			known = true
			if !v.Member {
				continue // its old offers no longer count
			}
			for i := range v.Groups {
				out.Body.Offers = append(out.Body.Offers, offerOf(v.Name, v.Now, &v.Groups[i]))
			}
		}
	})
	if err == nil && !known {
		err = huma.Error404NotFound(fmt.Sprintf("the broker knows no site %q; bourse sites lists its sites", in.Site))
	}
	return out, err
}

// offerOf shows a group's offer: the steps of both of its profiles.
func offerOf(site string, now grid.Time, g *agents.GroupOffer) api.Offer {
	o := api.Offer{Site: site, At: api.Instant(now), Group: g.Group.Name, Nodes: g.Group.Nodes,
		Performance: api.Performance{Performance: g.Group.Performance}, Price: api.Price{Price: g.Group.PriceAt(now)}, Machine: api.Machine(g.Group.Machine), Longest: api.Seconds{Duration: g.Group.Longest}, Shares: sharesOf(&g.Group, now)}
	for t := g.Group.Curve.Next(now); t < grid.Never && len(o.Prices) < maxPrices; t = g.Group.Curve.Next(t) {
		o.Prices = append(o.Prices, api.PriceStep{From: api.Instant(t), Price: api.Price{Price: g.Group.PriceAt(t)}})
	}
	for i, k := 0, 0; i < len(g.Admissible) || k < len(g.Clear); {
		if len(o.Free) == maxSteps {
			o.More = true
			break
		}
		t := grid.Never
		if i < len(g.Admissible) {
			t = g.Admissible[i].At
		}
		if k < len(g.Clear) {
			t = min(t, g.Clear[k].At)
		}
		for i < len(g.Admissible) && g.Admissible[i].At <= t {
			i++
		}
		for k < len(g.Clear) && g.Clear[k].At <= t {
			k++
		}
		o.Free = append(o.Free, api.FreeStep{From: api.Instant(t), Free: max(at(g.Admissible, t), 0), Clear: max(at(g.Clear, t), 0)})
	}
	return o
}

func (s *market) reservations(ctx context.Context, in *reservationsInput) (*reservationsOutput, error) {
	who := caller(ctx)
	user := in.User
	if who.Role == User && user == "" {
		user = who.Name
	}
	if user != "" && !who.sees(user) {
		return nil, huma.Error403Forbidden(fmt.Sprintf("you may not see the reservations of %q; you are %q", user, who.Name))
	}
	limit := min(in.Limit, s.opt.Limits.Page)
	out := &reservationsOutput{api.ReservationList{Reservations: []api.Reservation{}}}
	err := s.broker(ctx, func(_ grid.Time, b *broker.Broker) {
		list, more := b.Reservations(user, in.Skip, limit)
		for i := range list {
			r := &list[i]
			out.Body.Reservations = append(out.Body.Reservations, api.Reservation{Leg: r.ID.String(), Job: r.Job, User: r.User,
				Site: r.Site, Group: r.Group, Nodes: r.Nodes, Start: api.Instant(r.Start), End: api.Instant(r.End),
				State: r.State.String(), Cost: api.Credits{Credits: r.Fare.Total()}})
		}
		if more {
			out.Body.Next = in.Skip + len(list)
		}
	})
	return out, err
}

func (s *market) accounts(ctx context.Context, _ *struct{}) (*accountsOutput, error) {
	out := &accountsOutput{}
	err := s.broker(ctx, func(now grid.Time, b *broker.Broker) { out.Body = accountsOf(b, caller(ctx), now) })
	return out, err
}

// accountsOf is a VO's money, as far as the caller may see it.
func accountsOf(b *broker.Broker, who Caller, now grid.Time) api.Accounts {
	a := api.Accounts{VO: b.Name(), Users: []api.Spend{}}
	if who.Role == User {
		a.Users = append(a.Users, spendOf(b.Spending(who.Name)))
		return a
	}
	left, pending := b.Left(), b.Ledger().Account(b.Account()).PendingDebit
	a.Money = &api.VO{Budget: api.Credits{Credits: b.Budget()}, Pending: api.Credits{Credits: pending}, Left: api.Credits{Credits: left}, Spent: api.Credits{Credits: b.Budget() - left - pending},
		Pace: paceOf(b.Pace(now))}
	users := b.Users()
	a.More = max(0, len(users)-maxUsers)
	for _, user := range users[:min(len(users), maxUsers)] {
		a.Users = append(a.Users, spendOf(b.Spending(user)))
	}
	if all := b.Spending(""); all.Spent > 0 || all.Pending > 0 {
		a.Users = append(a.Users, spendOf(all))
	}
	return a
}

// paceOf shows a pace; nil if there is none.
func paceOf(p accounts.Pace, paced bool) *api.Pace {
	if !paced {
		return nil
	}
	x := &api.Pace{From: api.Instant(p.From), Until: api.InstantOf(p.Until), For: api.Credits{Credits: p.Had}, Used: api.Credits{Credits: p.Used}, Weight: api.Credits{Credits: p.Weight}, Words: api.Dated(string(p.Words()))}
	if p.Known {
		x.Foreseen = &api.Credits{Credits: p.Foreseen}
	}
	return x
}

func spendOf(v broker.Spending) api.Spend {
	x := api.Spend{User: v.User, Spent: api.Credits{Credits: v.Spent}, Pending: api.Credits{Credits: v.Pending}, Tenant: v.Tenant}
	if v.Quota < grid.MaxCredits {
		x.Quota, x.Left = &api.Credits{Credits: v.Quota}, &api.Credits{Credits: v.Left}
	}
	return x
}

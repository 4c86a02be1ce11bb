package web

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/broker/accounts"
	"github.com/bourse-grid/bourse/grid"
)

// Site is a site as the broker knows it.
type Site struct {
	Name    string    `json:"name"`
	State   string    `json:"state" enum:"usable,drained,closed,silent,skewed,not-asked,left,lost" doc:"its state by its latest answer. drained: it accepts nothing new; closed: it accepts nothing from this VO, or its offers are invalid; for the others see answer, asked, member and lost"`
	Member  bool      `json:"member" doc:"the broker asks it for offers; otherwise it has left"`
	Listed  bool      `json:"listed" doc:"since the broker's last start, it has listed the legs that it carries"`
	Answer  string    `json:"answer,omitempty" enum:"silent,closed,skewed,usable" doc:"its answer to the last request for offers, or its latest word since; skewed: its clock is more than 2 s off"`
	Asked   Instant   `json:"asked,omitzero" doc:"when the last request was made"`
	Refusal *Reason   `json:"refusal,omitempty" doc:"why it is closed"`
	Lost    *SiteLoss `json:"lost,omitempty" doc:"present if it is lost: the broker gave up its legs, and asks it only what became of them"`
	Silent  Seconds   `json:"silent,omitzero" doc:"how long it has left questions unanswered"`
	Broken  uint64    `json:"brokenWords,omitempty" doc:"times that it has said what cannot be, or has taken back at once what it had confirmed"`
	Last    Instant   `json:"lastUntil,omitzero" doc:"until then it comes last, for its broken words: a job gets a window there only if it finds none elsewhere"`
	Groups  []Group   `json:"groups,omitempty"`
}

// SiteLoss says how a site was lost.
type SiteLoss struct {
	Since    Instant `json:"since"`
	Operator bool    `json:"operator" doc:"true: an operator declared it lost, and must take that back before it is used again. false: it was silent, and is used again once it answers"`
	Reason   string  `json:"reason"`
}

// LostWish says that a site will not come back.
type LostWish struct {
	Why string `json:"why,omitempty" maxLength:"256" doc:"reason, shown to the owners of the jobs"`
}

// Group is a group of nodes, with what is free now.
type Group struct {
	Name        string      `json:"name"`
	Nodes       int         `json:"nodes"`
	Free        int         `json:"free" doc:"nodes that can be reserved now"`
	Clear       int         `json:"clear" doc:"nodes that can be reserved now at the base price"`
	Performance Performance `json:"performance"`
	Price       Price       `json:"price" doc:"base price now"`
	Longest     Seconds     `json:"longest,omitzero" doc:"the longest window that is allowed; absent: any"`
}

// SiteList is all sites that the broker knows, in order of name.
type SiteList struct {
	Sites []Site `json:"sites"`
}

// Offer is what one group offers over time.
type Offer struct {
	Site        string      `json:"site"`
	At          Instant     `json:"at" doc:"by the site's clock"`
	Group       string      `json:"group"`
	Nodes       int         `json:"nodes"`
	Performance Performance `json:"performance"`
	Price       Price       `json:"price" doc:"base price then"`
	Prices      []PriceStep `json:"prices,omitempty" doc:"its first changes after that; absent: it does not change"`
	Machine     Machine     `json:"machine"`
	Longest     Seconds     `json:"longest,omitzero" doc:"the longest window that is allowed; absent: any"`
	Free        []FreeStep  `json:"free" doc:"each step applies until the next, the last one until the horizon"`
	More        bool        `json:"more,omitempty" doc:"there are more steps than are shown"`
}

// FreeStep is how many nodes are free from an instant on.
type FreeStep struct {
	From  Instant `json:"from"`
	Free  int     `json:"free" doc:"nodes that can be reserved"`
	Clear int     `json:"clear" doc:"nodes that can be reserved at the base price"`
}

// PriceStep is the base price from an instant on.
type PriceStep struct {
	From  Instant `json:"from"`
	Price Price   `json:"price"`
}

// OfferList is what sites offer.
type OfferList struct {
	Offers []Offer `json:"offers"`
}

// maxSteps is how many steps of a group's offer are shown.
const maxSteps = 200

// maxPrices is how many changes of a group's price are shown.
const maxPrices = 48

// maxUsers is how many users' spending is shown, in order of name.
const maxUsers = 5000

// Reservation is a committed leg that has not ended.
type Reservation struct {
	Leg    string  `json:"leg" doc:"broker/life/transaction.leg"`
	Job    string  `json:"job,omitempty"`
	User   string  `json:"user,omitempty"`
	Broker string  `json:"broker,omitempty" doc:"at a site: the broker that owns it"`
	Site   string  `json:"site"`
	Group  string  `json:"group"`
	Nodes  int     `json:"nodes"`
	Start  Instant `json:"start"`
	End    Instant `json:"end"`
	State  string  `json:"state"`
	Cost   Credits `json:"cost"`
}

// ReservationList is a page of reservations.
type ReservationList struct {
	Reservations []Reservation `json:"reservations"`
	Next         int           `json:"next,omitempty" doc:"skip= for the next page; absent: this is the last"`
}

// Accounts is the money of a VO.
type Accounts struct {
	VO    string  `json:"vo"`
	Money *VO     `json:"money,omitempty" doc:"of the VO as a whole; only for operators"`
	Users []Spend `json:"users" doc:"users see only their own row"`
	More  int     `json:"more,omitempty" doc:"number of users beyond the first 5,000, which are not shown"`
}

// VO is the VO's own money.
type VO struct {
	Budget  Credits `json:"budget" doc:"paid in altogether: the budget, the budgets of later periods, and deposits"`
	Spent   Credits `json:"spent" doc:"net of refunds"`
	Pending Credits `json:"pending" doc:"promised for legs that are held"`
	Left    Credits `json:"left"`
	Pace    *Pace   `json:"pace,omitempty" doc:"how well the budget lasts for its time; absent if the budget has no time"`
}

// Pace is how well a budget lasts for its time.
type Pace struct {
	From     Instant  `json:"from"`
	Until    Instant  `json:"until,omitzero"`
	For      Credits  `json:"for" doc:"credits for that time: left over from before, the budget, and deposits"`
	Used     Credits  `json:"used" doc:"spent and pending of that"`
	Foreseen *Credits `json:"foreseen,omitempty" doc:"projected use by the end, at the rate so far; absent in the first 2 % of the time"`
	Weight   Credits  `json:"weight" doc:"weight of a credit when windows are chosen by value: above 1 while spending is ahead of the budget"`
	Words    string   `json:"words" doc:"the same in words"`
}

// Spend is what one user has used.
type Spend struct {
	User    string   `json:"user" doc:"empty: jobs without a user"`
	Spent   Credits  `json:"spent" doc:"net of refunds"`
	Pending Credits  `json:"pending"`
	Quota   *Credits `json:"quota,omitempty" doc:"absent: the user has no quota"`
	Left    *Credits `json:"left,omitempty" doc:"under the quota"`
	Tenant  string   `json:"tenant,omitempty" doc:"the user's group of users; /v1/tenancy has its limits"`
}

type (
	sitesOutput struct{ Body SiteList }
	lostInput   struct {
		Site string `path:"site" maxLength:"100"`
		Body LostWish
	}
	foundInput struct {
		Site string `path:"site" maxLength:"100"`
	}
	offersInput struct {
		Site string `query:"site" doc:"only of this site"`
	}
	offersOutput struct{ Body OfferList }

	reservationsInput struct {
		User  string `query:"user" doc:"only of this user; only operators may ask for others"`
		Skip  int    `query:"skip" minimum:"0" doc:"next of the previous page"`
		Limit int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"rows of the page"`
	}
	reservationsOutput struct{ Body ReservationList }
	accountsOutput     struct{ Body Accounts }
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
func sitesOf(b *broker.Broker, now grid.Time) []Site {
	list := []Site{}
	for v := range b.Sites() {
		x := Site{Name: v.Name, State: siteState(&v), Member: v.Member, Listed: v.Listed, Answer: v.Answer, Asked: Instant(v.Asked), Refusal: reasonOf(v.Refusal),
			Silent: Seconds{v.Silent}, Broken: v.Broken, Last: Instant(v.Last)}
		if l := v.Lost; l != nil {
			x.Lost = &SiteLoss{Instant(l.Since), l.Wish, l.Reason.String()}
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

func groupOf(g *agents.GroupOffer, now grid.Time) Group {
	return Group{Name: g.Group.Name, Nodes: g.Group.Nodes, Free: max(at(g.Admissible, now), 0), Clear: max(at(g.Clear, now), 0),
		Performance: Performance{g.Group.Performance}, Price: Price{g.Group.PriceAt(now)}, Longest: Seconds{g.Group.Longest}}
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
	out := &offersOutput{OfferList{Offers: []Offer{}}}
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
func offerOf(site string, now grid.Time, g *agents.GroupOffer) Offer {
	o := Offer{Site: site, At: Instant(now), Group: g.Group.Name, Nodes: g.Group.Nodes,
		Performance: Performance{g.Group.Performance}, Price: Price{g.Group.PriceAt(now)}, Machine: Machine(g.Group.Machine), Longest: Seconds{g.Group.Longest}}
	for t := g.Group.Curve.Next(now); t < grid.Never && len(o.Prices) < maxPrices; t = g.Group.Curve.Next(t) {
		o.Prices = append(o.Prices, PriceStep{Instant(t), Price{g.Group.PriceAt(t)}})
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
		o.Free = append(o.Free, FreeStep{Instant(t), max(at(g.Admissible, t), 0), max(at(g.Clear, t), 0)})
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
	out := &reservationsOutput{ReservationList{Reservations: []Reservation{}}}
	err := s.broker(ctx, func(_ grid.Time, b *broker.Broker) {
		list, more := b.Reservations(user, in.Skip, limit)
		for i := range list {
			r := &list[i]
			out.Body.Reservations = append(out.Body.Reservations, Reservation{Leg: r.ID.String(), Job: r.Job, User: r.User,
				Site: r.Site, Group: r.Group, Nodes: r.Nodes, Start: Instant(r.Start), End: Instant(r.End),
				State: r.State.String(), Cost: Credits{r.Fare.Total()}})
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
func accountsOf(b *broker.Broker, who Caller, now grid.Time) Accounts {
	a := Accounts{VO: b.Name(), Users: []Spend{}}
	if who.Role == User {
		a.Users = append(a.Users, spendOf(b.Spending(who.Name)))
		return a
	}
	left, pending := b.Left(), b.Ledger().Account(b.Account()).PendingDebit
	a.Money = &VO{Budget: Credits{b.Budget()}, Pending: Credits{pending}, Left: Credits{left}, Spent: Credits{b.Budget() - left - pending},
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
func paceOf(p accounts.Pace, paced bool) *Pace {
	if !paced {
		return nil
	}
	x := &Pace{From: Instant(p.From), Until: instant(p.Until), For: Credits{p.Had}, Used: Credits{p.Used}, Weight: Credits{p.Weight}, Words: dated(string(p.Words()))}
	if p.Known {
		x.Foreseen = &Credits{p.Foreseen}
	}
	return x
}

func spendOf(v broker.Spending) Spend {
	x := Spend{User: v.User, Spent: Credits{v.Spent}, Pending: Credits{v.Pending}, Tenant: v.Tenant}
	if v.Quota < grid.MaxCredits {
		x.Quota, x.Left = &Credits{v.Quota}, &Credits{v.Left}
	}
	return x
}

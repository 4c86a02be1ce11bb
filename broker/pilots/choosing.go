package pilots

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A job for a queue goes as a whole to one site. Which one is chosen once: the sites are asked
// when the job would begin that came last in their queues, and it goes where that is soonest by
// the median of the forecast. From then on it is gathered as any job, of the one part that it is.

// choice is the question to the sites.
type choice struct {
	sites   []string
	answers []*agents.Pilots // by site
}

// mostChoices bounds the sites that are asked for one job, in order of name. A job that names
// sites is asked for there alone.
const mostChoices = 64

// choose asks the sites.
func (gs *Gathers) choose(now grid.Time, x *job, out *agents.Outbox) {
	c := &choice{}
	for p := range gs.rec.Peers.All() {
		if p.Usable() && grid.May(p.Name(), x.job.Sites, x.job.Avoid) && len(c.sites) < mostChoices {
			c.sites = append(c.sites, p.Name())
		}
	}
	c.answers = make([]*agents.Pilots, len(c.sites))
	x.choice, x.ref = c, gs.nextRef()
	o := x.order()
	for _, site := range c.sites {
		out.Send(transaction.SiteID(site), agents.PilotsRequest{Ref: x.ref, Broker: gs.name, Job: x.job.Name, User: x.job.User,
			Nodes: x.job.Nodes, Limit: grid.Duration(o.Limit(0)) * grid.Second, Foresee: true})
	}
	if len(c.sites) == 0 {
		gs.chosen(now, x, out)
		return
	}
	out.Alarm(now.Add(gs.wait), waited{x.job.Name, x.ref})
}

// likely takes a site's answer. The last one ends the wait.
func (gs *Gathers) likely(now grid.Time, x *job, from agents.ID, m agents.Pilots, out *agents.Outbox) {
	c := x.choice
	i := slices.IndexFunc(c.sites, func(s string) bool { return transaction.SiteID(s) == from })
	if i < 0 || c.answers[i] != nil {
		return
	}
	if c.answers[i] = &m; !slices.Contains(c.answers, nil) {
		gs.chosen(now, x, out)
	}
}

// chosen sends the job to a queue, or says why it goes to none yet.
func (gs *Gathers) chosen(now grid.Time, x *job, out *agents.Outbox) {
	c := x.choice
	x.choice, x.asked, x.ref = nil, x.ref, 0
	if !x.job.State.Open() {
		gs.at(x, now, out)
		return
	}
	best := c.best(x)
	if best < 0 {
		final := max(x.job.Submit, x.job.Ready).Add(x.job.Gather.Deadline) <= now || now.Add(x.job.Length) >= x.job.Deadline
		if final {
			gs.rec.Record(facts.JobPostponed{Job: x.job.Name, Reason: c.why(), Final: true}, out)
		} else {
			gs.postpone(x, c.why(), out)
		}
		gs.at(x, now.Add(grid.Minute), out)
		return
	}
	x.parts[0].Sites = []string{c.sites[best]}
	x.open(now, gs)
	x.state.Parts[0].Likely = c.answers[best].Likely
	x.begins()
	x.take(0, *c.answers[best])
	gs.round(now, x, out)
}

// best is the site in whose queue the job will probably begin first, of equal ones the first by
// name; -1: none that takes it says so.
func (c *choice) best(x *job) int {
	best := -1
	for i, a := range c.answers {
		if a == nil || a.Refusal.Refused() || a.Group == "" || a.Room < 1 || !a.Likely.Known() || a.Likely.Median == grid.Never {
			continue
		}
		if cost := grid.Cost(a.Price, x.job.Length).Times(x.job.Nodes); cost > x.job.Budget {
			continue
		}
		if best < 0 || a.Likely.Sooner(&c.answers[best].Likely) {
			best = i
		}
	}
	return best
}

// why is why it goes to no queue.
func (c *choice) why() grid.Reason {
	if len(c.sites) == 0 {
		return grid.Because(grid.NoOffer, "no site that it allows is there")
	}
	for i, a := range c.answers {
		if a != nil && a.Refusal.Refused() && a.Refusal.Code != grid.NotAllowed {
			return grid.Because(a.Refusal.Code, "no queue takes it; %s: %s", c.sites[i], a.Refusal.Detail)
		}
	}
	return grid.Because(grid.NoOffer, "none of %s takes jobs into its queue, forecasts that, and costs no more than the budget (claims = \"pilots\" and forecast = true)", grid.Count(len(c.sites), "site"))
}

package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/grid"
)

// What a broker can say of jobs that nobody has submitted: what they would get, from what the
// sites last offered to a cycle or to somebody who looked at them, and the price cap of those
// that come without a price. Nothing is recorded, and nothing is held.

type (
	// Foresight is what a plan of such jobs needs.
	Foresight = planning.Foresight
	// Foreseen is what such a job would get.
	Foreseen = planning.Foreseen
	// Prospect is its outcome in one of these plans.
	Prospect = planning.JobOutcome
)

// Foresee plans the jobs, which needs no turn of the broker. It costs three plans. look puts a
// question to the broker, and has its answer: what sites would charge. It is nil, or answers
// nothing, where none is to be asked: prices may then be more than is shown.
func Foresee(f *Foresight, look func(agents.PricesLook) agents.PricesLooked) []Foreseen {
	if look == nil {
		return new(planning.Planner).Foresee(f, nil, nil)
	}
	return new(planning.Planner).Foresee(f, func(wanted []planning.Wanted, together bool) [][]grid.Quote {
		m := agents.PricesLook{At: make([]agents.LegsAt, len(wanted)), Together: together}
		for i, w := range wanted {
			m.At[i] = agents.LegsAt{Site: f.Input.Sites[i].Name, Users: w.Users, Legs: w.Legs}
		}
		return look(m).Quotes
	}, func(wanted [][]grid.Queueing) [][]grid.BestEffort {
		m := agents.PricesLook{At: make([]agents.LegsAt, len(wanted))}
		for i, w := range wanted {
			m.At[i] = agents.LegsAt{Site: f.Input.Sites[i].Name, Queued: w}
		}
		return look(m).BestEffort
	})
}

// Foresee gathers what a plan of these jobs needs. An earlier job of the list that a later one
// comes after must be named as it is there. The result shares nothing that the broker changes,
// so it may be planned elsewhere.
func (b *Broker) Foresee(now grid.Time, jobs []grid.Job) *Foresight {
	sch := b.scheduler
	from := max(now, sch.next).Add(b.mem.cfg.Lead)
	f := &Foresight{After: make([][]int, len(jobs)), Gaps: make([]grid.Duration, len(jobs)), Known: make([]grid.Reason, len(jobs)), Queue: make([]bool, len(jobs))}
	f.Input = planning.Input{Cycle: sch.Cycles + 1, From: from, Horizon: now.Add(b.mem.cfg.Horizon), Terms: sch.terms(), Sites: b.offered(), Away: sch.someAway()}
	f.Funds = planning.Quotes{Left: b.mem.Accounts.Left(), Away: f.Input.Away, Quotas: map[string]grid.Credits{}}
	names := make([]string, len(f.Input.Sites))
	for i := range names {
		names[i] = f.Input.Sites[i].Name
	}
	place := map[string]int{}
	for i := range jobs {
		j := jobs[i]
		beside := j.After
		j.After = nil
		for _, d := range beside {
			switch k, here := place[d.Job]; {
			case !here:
				j.After = append(j.After, d)
			case !d.On.Foreseen():
				f.Known[i] = reason(grid.After, "it runs only if %s %s, which nobody foresees", jobs[k].Origin.Label, grid.Phrase(d.On.Says()))
			default:
				f.After[i] = append(f.After[i], k)
			}
		}
		place[jobs[i].Name], f.Gaps[i], f.Queue[i] = i, j.Gap, j.Gather != nil && j.Gather.Queue
		f.Input.Jobs = append(f.Input.Jobs, b.foreseen(now, &j, names, f, i))
		if _, bound := b.mem.Accounts.Quota(j.User); bound {
			f.Funds.Quotas[j.User] = b.mem.Accounts.UserLeft(j.User)
		}
	}
	return f
}

// ForeseeAgain is the Foresee of a broker for a job that waits there, as it was submitted; nil:
// there is none of that name.
func ForeseeAgain(b *Broker, now grid.Time, name string) *Foresight {
	j := b.mem.Names[name]
	if j == nil || j.Stub || j.State != grid.JobWaiting {
		return nil
	}
	return b.Foresee(now, []grid.Job{*j.Submitted()})
}

// foreseen is a job as a cycle would see it, with what is known to be in its way.
func (b *Broker) foreseen(now grid.Time, x *grid.Job, sites []string, f *Foresight, i int) planning.Job {
	b.intake.level(now, x)
	fill(x)
	why := b.intake.refusal(now, x)
	j := jobs.NewJob(*x)
	out := planning.Job{Name: x.Origin.Label, User: x.User, Submit: now, Priority: x.Priority, Request: j.Request(), Deadline: x.Deadline,
		Barred: b.mem.Trust.Among(now, x.User, slices.Values(sites))}
	for _, d := range x.After {
		if why.Refused() {
			break
		}
		at, known := jobs.Need{Job: b.mem.Names[d.Job], On: d.On}.Ends()
		if !known {
			why = reason(grid.After, "when %s is over, which it comes after, is not known yet", d.Job)
		}
		out.Request.Ready = max(out.Request.Ready, at.Add(x.Gap))
	}
	if b.mem.Tenancy.Bound(x.User) && !why.Refused() {
		ready, bound := b.mem.Tenancy.Chance(j.Need(), f.Input.From, f.Input.Horizon)
		if ready == grid.Never {
			why = bound
		}
		out.Request.Ready, out.Bound = max(out.Request.Ready, ready), bound
	}
	if !f.Known[i].Refused() {
		f.Known[i] = why
	}
	return out
}

// offered is the latest answer of each site that is used, in order of name.
func (b *Broker) offered() []planning.Site {
	var list []planning.Site
	opened, _ := b.scheduler.opened()
	for p := range b.mem.Peers.All() {
		if !p.Usable() {
			continue
		}
		s := planning.Site{Name: p.Name()}
		if x := b.scheduler.answer(p.ID()); x != nil {
			s = *x
		}
		if g := b.glances.of(p.ID()); g.asked > opened && g.site.Name != "" {
			s = g.site
		}
		list = append(list, s)
	}
	return slices.Clip(list)
}

// capTimes is how many times the mean base price a job may pay by default.
const capTimes = 3

// Never is why a request can never be served by what all sites have; no reason: it may be, or what
// they have is not known. It is what a submission is judged by.
func Never(b *Broker, now grid.Time, r *grid.Request) grid.Reason {
	if x, known := b.asking.reach(now); known {
		return x.Never(r, now)
	}
	return grid.Reason{}
}

// PriceCap is the most per node-hour that a job pays which gives neither a price nor a budget:
// Config.PriceCap or, without one, three times the mean base price of the sites that suit it.
// It reports false where no site that suits is known in this life.
func (b *Broker) PriceCap(now grid.Time, r *grid.Request) (grid.Price, bool) {
	if b.mem.cfg.PriceCap != nil {
		return *b.mem.cfg.PriceCap, true
	}
	var x planning.Reach
	for p := range b.mem.Peers.All() {
		if p.Usable() {
			x.Add(p.Name(), b.asking.of(p.ID()).has)
		}
	}
	mean, known := x.MeanPrice(r, now)
	return min(capTimes*mean, grid.MaxPrice), known
}

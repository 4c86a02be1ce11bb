package pilots

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
)

// ask asks the sites what is there, and tells them what is wanted.
func (gs *Gathers) ask(now grid.Time, x *job, out *agents.Outbox) {
	x.ref, x.waits = gs.nextRef(), make([]bool, len(x.state.Parts))
	x.begins()
	for i := range x.waits {
		x.waits[i] = true
		if m, ok := x.late[i]; ok {
			x.take(i, m)
		}
	}
	x.late, x.asked = nil, x.ref
	gs.tell(x, out)
	out.Alarm(now.Add(x.patience(now, gs.wait)), waited{x.job.Name, x.ref})
}

// A round waits leastWait at least, and otherwise ends so early that a pilot which idles has grantIn left:
// in that time it is granted more.
const (
	leastWait = 10 * grid.Second
	grantIn   = agents.PilotLeaves + 10*grid.Second
)

// patience is for how much of wait a round waits. No pilot leaves because another one's site is slow.
func (x *job) patience(now grid.Time, wait grid.Duration) grid.Duration {
	for _, p := range x.state.Pilots {
		if p.Begin < 0 || p.Given || p.Worked > 0 {
			continue
		}
		over := x.state.Zero.Add(grid.Duration(p.Begin+p.Granted) * grid.Second)
		wait = min(wait, max(over.Sub(now)-grantIn, leastWait))
	}
	return wait
}

// nextRef numbers a request. The upper half is the life, so that a site knows a request of an earlier
// one, and no answer to that is taken for one to this.
func (gs *Gathers) nextRef() uint64 {
	gs.ref = max(gs.ref, uint64(gs.rec.Lives.Current().Incarnation)<<32) + 1
	return gs.ref
}

// begins has nothing been seen in this round.
func (x *job) begins() {
	n := len(x.state.Parts)
	x.look, x.owes = gather.Look{Fits: make([]bool, n), Room: make([]int, n)}, map[grid.LegID]owed{}
}

// tell sends each site all that is wanted of it.
func (gs *Gathers) tell(x *job, out *agents.Outbox) {
	o := x.order()
	for i := range x.state.Parts {
		p := &x.state.Parts[i]
		m := agents.PilotsRequest{Ref: cmp.Or(x.ref, x.asked), Broker: gs.name, Job: x.job.Name, User: x.job.User, Group: p.Group,
			Nodes: x.parts[i].Nodes, Limit: grid.Duration(o.Limit(i)) * grid.Second, Price: p.Price}
		if x.g != nil {
			x.g.Wants(func(part, number int, granted int64, leave bool) {
				if part == i && len(m.Orders) < agents.MaxPilots {
					m.Orders = append(m.Orders, agents.PilotOrder{Pilot: x.pilot(part, number), Granted: grid.Duration(granted) * grid.Second, Leave: leave})
				}
			})
		}
		out.Send(transaction.SiteID(p.Site), m)
	}
}

// pilot is the identity of a pilot.
func (x *job) pilot(part, number int) grid.LegID {
	return grid.LegID{Tx: x.state.ID, Leg: part + grid.MaxParts*number}
}

// whose is the job that an answer is about: by the request of its present round or the last, else by its
// pilots.
func (gs *Gathers) whose(m *agents.Pilots) (x *job) {
	for _, o := range gs.of {
		switch {
		case m.Ref != 0 && (o.ref == m.Ref || o.asked == m.Ref):
			return o
		case len(m.Pilots) > 0 && o.state.ID == m.Pilots[0].Pilot.Tx:
			x = o
		}
	}
	return x
}

// Answered takes a site's answer. The last awaited one ends the wait.
func (gs *Gathers) Answered(now grid.Time, from agents.ID, m agents.Pilots, out *agents.Outbox) {
	x := gs.whose(&m)
	if x == nil {
		return // it is of an earlier round, and says nothing of a pilot
	}
	if x.choice != nil {
		if x.ref == m.Ref {
			gs.likely(now, x, from, m, out)
		}
		return
	}
	i := slices.IndexFunc(x.state.Parts, func(p grid.GatheringPart) bool { return transaction.SiteID(p.Site) == from })
	if i >= 0 && x.ref == 0 && x.asked == m.Ref && x.news(i, m) {
		gs.sooner(now, x, m, out)
		return
	}
	if i >= 0 && (x.ref == 0 || x.ref != m.Ref) {
		x.tooLate(i, m)
	}
	if i < 0 || x.ref == 0 || x.ref != m.Ref {
		return
	}
	if !x.waits[i] {
		if x.news(i, m) { // it has answered before, and a pilot has begun since, while another site is awaited
			x.take(i, m)
		}
		return
	}
	x.waits[i] = false
	x.take(i, m)
	gs.dearer(x, i, m.Price)
	if m.Refusal.Refused() && x.g == nil {
		gs.postpone(x, m.Refusal, out)
	}
	if !slices.Contains(x.waits, true) {
		gs.round(now, x, out)
	}
}

// news reports whether an answer after its round says that a pilot runs which the job waits for: it
// would have left before the next round is due, or soon after.
func (x *job) news(i int, m agents.Pilots) bool {
	begun := slices.ContainsFunc(x.state.Pilots, func(p grid.GatheringPilot) bool {
		return p.Part == i && p.Begin < 0 && !p.Given && slices.ContainsFunc(m.Pilots, func(is agents.PilotIs) bool {
			return is.State == grid.PilotRuns && is.Pilot == x.pilot(i, p.Number)
		})
	})
	return begun && x.tx == nil && x.job.State == grid.JobWaiting
}

// sooner has the next round now. A job of one part needs nobody else's answer.
func (gs *Gathers) sooner(now grid.Time, x *job, m agents.Pilots, out *agents.Outbox) {
	if len(x.state.Parts) > 1 {
		gs.at(x, now, out)
		return
	}
	x.begins()
	x.take(0, m)
	gs.round(now, x, out)
}

// tooLate keeps of an answer that comes after its round which pilots are over: the next round takes
// that in, however old the answer is, because what is over stays so. A site whose looks take longer
// than rounds would never be heard.
func (x *job) tooLate(i int, m agents.Pilots) {
	m.Fits, m.Room = false, 0
	m.Pilots = slices.DeleteFunc(slices.Clone(m.Pilots), func(is agents.PilotIs) bool { return !is.State.Over() })
	if x.late == nil {
		x.late = map[int]agents.Pilots{}
	}
	for _, was := range x.late[i].Pilots { // of another answer, that has said more
		if len(m.Pilots) < agents.MaxPilots && !slices.ContainsFunc(m.Pilots, func(is agents.PilotIs) bool { return is.Pilot == was.Pilot }) {
			m.Pilots = append(m.Pilots, was)
		}
	}
	x.late[i] = m
}

// take takes what a site says of a part.
func (x *job) take(i int, m agents.Pilots) {
	p := &x.state.Parts[i]
	if p.Group == "" && m.Group != "" {
		p.Group, p.Cluster, p.Price = m.Group, m.Cluster, m.Price
	}
	x.look.Fits[i], x.look.Room[i] = m.Fits && !m.Refusal.Refused(), m.Room
	for _, is := range m.Pilots {
		part, number := is.Pilot.Leg%grid.MaxParts, is.Pilot.Leg/grid.MaxParts
		again := slices.ContainsFunc(x.look.Pilots, func(s gather.Sight) bool { return s.Part == i && s.Pilot == number })
		if is.Pilot.Tx != x.state.ID || part != i || again { // one that a site names twice would be paid twice
			continue
		}
		s := gather.Sight{Part: i, Pilot: number, Begin: gather.Never, Words: is.Reason.Detail}
		if is.Begin > 0 {
			s.Begin = x.seconds(is.Begin)
		}
		switch is.State {
		case grid.PilotRuns:
			s.State = gather.Running
		case grid.PilotDenied:
			s.State = gather.Denied
		case grid.PilotUnknown:
			s.State = gather.Vanished
		case grid.PilotOver:
			if is.Begin == 0 && is.Reason.Code == grid.NoCluster {
				s.State = gather.Unsent
				break
			}
			s.State, s.End = gather.Ended, x.seconds(is.End.Add(grid.Second-1))
			x.owes[is.Pilot] = owed{is.Idled, is.Cost}
		default:
			continue
		}
		x.look.Pilots = append(x.look.Pilots, s)
	}
}

// waited ends the wait: the round goes on with what is known.
func (gs *Gathers) waited(now grid.Time, m waited, out *agents.Outbox) {
	switch x := gs.of[gs.rec.Names[m.Job]]; {
	case x == nil || x.ref != m.Ref:
	case x.choice != nil:
		gs.chosen(now, x, out)
	case slices.Contains(x.waits, true):
		gs.round(now, x, out)
	}
}

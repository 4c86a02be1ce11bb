package broker

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
)

// gathers brings together the parts of jobs at sites without reservations ("Co-start without
// rights"). For each such job it asks the sites of its parts what is there, in rounds, has
// policy/gather decide what is to be done, records that, and tells the sites. Once all pilots
// run it begins a transaction like any other, whose legs have the pilots' nodes.
//
// All that lasts is in the job's Gathering. A round that is lost with its process is asked for
// again, and what a site was not told it is told with the next request: each says all.
type gathers struct {
	*memory
	co  *transaction.Coordinator
	of  map[*jobs.Job]*gatherJob
	ref uint64 // of the last requests
}

// gatherJob is a job that is gathered, in this life.
type gatherJob struct {
	job   *jobs.Job
	state grid.Gathering
	g     *gather.Gather // nil until every site has named its group
	next  grid.Time      // of the next round
	tx    *transaction.Tx

	ref   uint64 // of the requests of this round; 0: there is none
	waits []bool // by part: its answer is awaited
	look  gather.Look
}

// gatherDue begins a round, gatherWait ends the wait for its answers.
type (
	gatherDue struct {
		Job string
		At  grid.Time
	}
	gatherWait struct {
		Job string
		Ref uint64
	}
)

// Kind names the alarm.
func (gatherDue) Kind() string  { return "GatherDue" }
func (gatherWait) Kind() string { return "GatherWait" }

// settleEvery is how often sites are asked about the pilots of a job that is placed or over.
const settleEvery = grid.Minute

// begin begins to gather a job, or goes on after a restart.
func (gs *gathers) begin(now grid.Time, j *jobs.Job, out *agents.Outbox) {
	if j.Gather == nil || gs.of[j] != nil {
		return
	}
	x := &gatherJob{job: j}
	if was := j.Gathering(); was != nil {
		x.state = *was
		x.state.Parts = slices.Clone(was.Parts)
		x.revive()
	} else if !j.State.Queued() {
		return
	}
	gs.of[j] = x
	gs.at(x, max(now, j.Ready), out)
}

// at sets when the next round of a job is.
func (gs *gathers) at(x *gatherJob, when grid.Time, out *agents.Outbox) {
	x.next = when
	out.Alarm(when, gatherDue{x.job.Name, when})
}

// revive makes the gather that the state describes.
func (x *gatherJob) revive() {
	o := x.order()
	x.g = gather.Restore(o, &x.state)
}

// order is what is to be gathered.
func (x *gatherJob) order() gather.Order {
	j := x.job
	o := gather.Order{Length: lengthOf(j), Waste: j.Gather.Waste, Deadline: int64(j.Gather.Deadline / grid.Second)}
	for i := range j.Parts {
		p := gather.Part{Nodes: int64(j.Parts[i].Nodes), Cluster: int64(j.Parts[i].Nodes)}
		if i < len(x.state.Parts) && x.state.Parts[i].Cluster > 0 {
			p.Cluster = int64(x.state.Parts[i].Cluster)
		}
		o.Parts = append(o.Parts, p)
	}
	return o
}

// lengthOf is how long its parts run.
func lengthOf(j *jobs.Job) int64 {
	if len(j.Parts) == 0 {
		return 0
	}
	return seconds(j.Parts[0].Length)
}

func seconds(d grid.Duration) int64 { return int64((d + grid.Second - 1) / grid.Second) }

// due begins a round.
func (gs *gathers) due(now grid.Time, m gatherDue, out *agents.Outbox) {
	x := gs.of[gs.Names[m.Job]]
	if x == nil || x.next != m.At {
		return // it is out of date
	}
	switch gone := gs.Names[x.job.Name] != x.job; {
	case gone, !x.job.State.Open() && (x.g == nil || !x.g.Unsettled()):
		gs.end(now, x, out)
		return
	case x.job.State == grid.JobWaiting && x.job.Held: // what it comes after is not placed yet
		gs.at(x, now.Add(grid.Minute), out)
		return
	}
	if x.state.Parts == nil {
		x.open(now, gs)
	}
	x.reconcile(now, gs)
	gs.ask(now, x, out)
}

// open names the gather.
func (x *gatherJob) open(now grid.Time, gs *gathers) {
	h := fnv.New64a()
	h.Write([]byte(x.job.Name))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(x.job.Submit)))
	life := gs.Lives.Current()
	x.state = grid.Gathering{Zero: now, ID: grid.TxID{Broker: gs.cfg.Name, Incarnation: life.Incarnation, Nonce: life.Nonce, Seq: h.Sum64() | 1<<63}}
	for i := range x.job.Parts {
		x.state.Parts = append(x.state.Parts, grid.GatheringPart{Site: x.job.Parts[i].Sites[0], Lost: gather.None})
	}
}

// reconcile brings the gather to where the job is: a transaction that a restart has cut off was
// aborted or committed, a window is lost, or the job is over.
func (x *gatherJob) reconcile(now grid.Time, gs *gathers) {
	if x.g == nil {
		return
	}
	at := x.seconds(now)
	switch s := x.job.State; {
	case !s.Open():
		x.g.Withdraw(at)
		x.g.Fallen(at)
	case x.g.Phase() != gather.Committing || x.tx != nil:
	case s == grid.JobWaiting && x.worked(): // the window is lost
		x.g.Fallen(at)
	case s == grid.JobWaiting:
		x.g.Aborted(at)
	case s == grid.JobPlaced && !x.worked():
		x.g.Whole()
	}
}

// worked reports whether the record says that the window was committed.
func (x *gatherJob) worked() bool {
	return slices.ContainsFunc(x.state.Pilots, func(p grid.GatheringPilot) bool { return p.Worked > 0 })
}

// seconds is an instant in the gather's time.
func (x *gatherJob) seconds(at grid.Time) int64 { return int64(at.Sub(x.state.Zero) / grid.Second) }

// ask asks the sites what is there, and tells them what is wanted.
func (gs *gathers) ask(now grid.Time, x *gatherJob, out *agents.Outbox) {
	gs.ref++
	x.ref, x.waits = gs.ref, make([]bool, len(x.state.Parts))
	n := len(x.state.Parts)
	x.look = gather.Look{Fits: make([]bool, n), Room: make([]int, n)}
	for i := range x.waits {
		x.waits[i] = true
	}
	gs.tell(x, out)
	out.Alarm(now.Add(gs.cfg.OfferWait), gatherWait{x.job.Name, x.ref})
}

// tell sends each site all that is wanted of it.
func (gs *gathers) tell(x *gatherJob, out *agents.Outbox) {
	o := x.order()
	for i := range x.state.Parts {
		p := &x.state.Parts[i]
		m := agents.PilotsRequest{Ref: x.ref, Broker: gs.cfg.Name, Job: x.job.Name, User: x.job.User, Group: p.Group,
			Nodes: x.job.Parts[i].Nodes, Limit: grid.Duration(o.Limit(i)) * grid.Second}
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
func (x *gatherJob) pilot(part, number int) grid.LegID {
	return grid.LegID{Tx: x.state.ID, Leg: part + grid.MaxParts*number}
}

// answered takes a site's answer. The last awaited one ends the wait.
func (gs *gathers) answered(now grid.Time, from agents.ID, m agents.Pilots, out *agents.Outbox) {
	var x *gatherJob
	for _, o := range gs.of {
		if o.ref == m.Ref && m.Ref != 0 {
			x = o
		}
	}
	if x == nil {
		return // it came too late
	}
	i := slices.IndexFunc(x.state.Parts, func(p grid.GatheringPart) bool { return transaction.SiteID(p.Site) == from })
	if i < 0 || !x.waits[i] {
		return
	}
	x.waits[i] = false
	x.take(i, m)
	if m.Refusal.Refused() && x.g == nil {
		gs.wait(x, m.Refusal, out)
	}
	if !slices.Contains(x.waits, true) {
		gs.round(now, x, out)
	}
}

// take takes what a site says of a part.
func (x *gatherJob) take(i int, m agents.Pilots) {
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
			s.State, s.End = gather.Ended, x.seconds(is.End.Add(grid.Second-1))
		default:
			continue
		}
		x.look.Pilots = append(x.look.Pilots, s)
	}
}

// waited ends the wait: the round goes on with what is known.
func (gs *gathers) waited(now grid.Time, m gatherWait, out *agents.Outbox) {
	if x := gs.of[gs.Names[m.Job]]; x != nil && x.ref == m.Ref && slices.Contains(x.waits, true) {
		gs.round(now, x, out)
	}
}

// wait says why nothing is gathered yet.
func (gs *gathers) wait(x *gatherJob, why grid.Reason, out *agents.Outbox) {
	if x.job.State == grid.JobWaiting && x.job.Reason != why {
		gs.Record(facts.JobPostponed{Job: x.job.Name, Reason: why}, out)
	}
}

// round decides what is to be done, records it, and does it.
func (gs *gathers) round(now grid.Time, x *gatherJob, out *agents.Outbox) {
	x.ref, x.waits = 0, nil
	if !gs.ready(now, x, out) {
		if x.job.State.Open() {
			gs.at(x, now.Add(grid.Minute), out)
		} else {
			gs.at(x, now, out)
		}
		return
	}
	f := facts.Gathered{Job: x.job.Name}
	before, had := x.state, x.job.Gathering() != nil
	for _, s := range x.look.Pilots {
		if idle, over := x.g.Idle(s); over {
			p := &x.state.Parts[s.Part]
			paid := gs.idling(p.Price, idle)
			f.Idled = append(f.Idled, facts.PilotIdled{Pilot: x.pilot(s.Part, s.Pilot), Site: p.Site, Idle: idle, Posted: paid})
		}
	}
	x.look.At = x.seconds(now)
	acts := x.decide(now)
	x.state.Pilots, x.state.Try = nil, nil
	x.state.Parts = slices.Clone(x.state.Parts)
	x.g.Save(&x.state)
	for _, a := range acts {
		f.Acts = append(f.Acts, facts.GatherAct{Do: a.Do.String(), Part: a.Part, Pilot: a.Pilot, Value: a.Value, Why: string(a.Why)})
	}
	if len(f.Acts)+len(f.Idled) > 0 || had && !before.Same(&x.state) {
		gs.record(x, f, out)
	}
	gs.carryOut(now, x, acts, out)
}

// decide follows the rules. While a transaction or a window is there, it only sees.
func (x *gatherJob) decide(now grid.Time) []gather.Act {
	switch j := x.job; {
	case j.State != grid.JobWaiting:
		x.g.Seen(x.look.Pilots...)
		return nil
	case now.Add(j.Parts[0].Length) >= j.Deadline:
		x.g.Seen(x.look.Pilots...)
		return x.g.Withdraw(x.look.At)
	}
	return x.g.Round(x.look)
}

// ready reports whether the rules can be followed: every site has named its group, what is to be
// gathered makes sense there, and there is money.
func (gs *gathers) ready(now grid.Time, x *gatherJob, out *agents.Outbox) bool {
	if x.g != nil {
		return true
	}
	if !x.job.State.Open() {
		return false
	}
	deadline := x.state.Zero.Add(x.job.Gather.Deadline) <= now
	if i := slices.IndexFunc(x.state.Parts, func(p grid.GatheringPart) bool { return p.Group == "" }); i >= 0 {
		if deadline {
			gs.Record(facts.JobPostponed{Job: x.job.Name, Reason: reason(grid.Expired, "its deadline to be gathered has passed, and %s has not answered", x.state.Parts[i].Site), Final: true}, out)
		}
		return false
	}
	o := x.order()
	if err := o.Check(); err != nil {
		gs.Record(facts.JobPostponed{Job: x.job.Name, Reason: reason(grid.Invalid, "gather: %v", err), Final: true}, out)
		return false
	}
	if cost := x.cost(); cost > x.job.Budget {
		gs.Record(facts.JobPostponed{Job: x.job.Name, Reason: reason(grid.OverBudget, "its work costs %v credits, the budget is %v", cost, x.job.Budget), Final: true}, out)
		return false
	}
	x.g = gather.New(o)
	if need, room := x.aside(), gs.room(x); need > room {
		x.g = nil
		why := reason(grid.NoMoney, "its work and what its pilots may idle cost up to %v credits, and %v are left", need, room)
		if deadline {
			gs.Record(facts.JobPostponed{Job: x.job.Name, Reason: why, Final: true}, out)
		} else {
			gs.wait(x, why, out)
		}
		return false
	}
	return true
}

// carryOut does what was decided, and sets when the next round is.
func (gs *gathers) carryOut(now grid.Time, x *gatherJob, acts []gather.Act, out *agents.Outbox) {
	commit := false
	for _, a := range acts {
		switch a.Do {
		case gather.Commit:
			commit = true
		case gather.GiveUp:
			gs.Record(facts.JobPostponed{Job: x.job.Name, Reason: givenUp(a), Final: true}, out)
		}
	}
	if len(acts) > 0 {
		gs.tell(x, out)
	}
	if commit {
		gs.commit(now, x, out)
	}
	next := now.Add(settleEvery)
	if x.job.State == grid.JobWaiting {
		next = max(x.state.Zero.Add(grid.Duration(x.g.Next())*grid.Second), now.Add(grid.Second))
	}
	gs.at(x, next, out)
}

// givenUp is why a job is abandoned, in words.
func givenUp(a gather.Act) grid.Reason {
	switch a.Why {
	case gather.ByDeadline, gather.ByWithdrawn:
		return reason(grid.Expired, "its deadline to be gathered has passed (deadline)")
	case gather.ByWaste:
		return reason(grid.LimitTime, "its pilots have idled all that they may (waste)")
	}
	return reason(grid.NotAllowed, "its pilots were refused: %s", a.Words)
}

// Package pilots brings together the parts of jobs at sites without reservations, by pilots
// ("Co-start without rights"): when which site is asked, what of that is put on record, and what
// is set aside and paid for. What is to be done is decided by policy/gather, and what a window on
// the pilots' nodes is by broker/transaction.
//
//	pilots.go    a job's gather from its begin to its end
//	choosing.go  the queue that a job goes into
//	asking.go    what sites are asked and told, and what they answer
//	round.go     a round: what follows from the answers
//	commit.go    the transaction on the pilots' nodes
//	money.go     what is set aside
//	words.go     how far a job is, for people
package pilots

import (
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
)

// Gathers brings together the parts of jobs at sites without reservations ("Co-start without
// rights"). For each such job it asks the sites of its parts what is there, in rounds, has
// policy/gather decide what is to be done, records that, and tells the sites. Once all pilots
// run it begins a transaction like any other, whose legs have the pilots' nodes.
//
// All that lasts is in the job's Gathering. A round that is lost with its process is asked for
// again, and what a site was not told it is told with the next request: each says all.
type Gathers struct {
	rec  *jobs.State
	co   *transaction.Coordinator
	name string        // of the broker
	wait grid.Duration // for the answers of a round; see patience
	of   map[*jobs.Job]*job
	ref  uint64 // of the last requests
}

// RoundWait is how long a broker that serves waits for the answers of a round. A site answers when a look
// has come that began after the question. Over ssh one is made every 10 s at most, and may take as
// long: with the 10 s that offers are awaited, about every second round would end without its answer.
const RoundWait = 25 * grid.Second

// New returns the gathers of a broker of that name, which waits so long for the answers of a round.
func New(name string, wait grid.Duration, rec *jobs.State, co *transaction.Coordinator) *Gathers {
	return &Gathers{rec: rec, co: co, name: name, wait: wait, of: map[*jobs.Job]*job{}}
}

// job is a job that is gathered, in this life.
type job struct {
	job   *jobs.Job
	parts []grid.JobPart // that are gathered; of one that has not found its queue without a site
	state grid.Gathering
	g     *gather.Gather // nil until every site has named its group
	next  grid.Time      // of the next round
	tx    *transaction.Tx

	ref   uint64                // of the requests of this round; 0: there is none
	asked uint64                // of those of the last round that was begun
	late  map[int]agents.Pilots // by part: what came after its round, for the next
	waits []bool                // by part: its answer is awaited
	look  gather.Look
	owes  map[grid.LegID]owed // for pilots that are over, as their sites say at this round

	choice *choice // of the queue that it goes into, while sites are asked
}

// owed is what a site charges for a pilot.
type owed struct {
	idled grid.Duration // the time of its nodes
	cost  grid.Credits
}

// due begins a round, waited ends the wait for its answers.
type (
	due struct {
		Job string
		At  grid.Time
	}
	waited struct {
		Job string
		Ref uint64
	}
)

// Kind names the alarm.
func (due) Kind() string    { return "GatherDue" }
func (waited) Kind() string { return "GatherWait" }

// Alarm takes an alarm that a gather has set, and reports false if m is none.
func (gs *Gathers) Alarm(now grid.Time, m agents.Message, out *agents.Outbox) bool {
	switch m := m.(type) {
	case due:
		gs.due(now, m, out)
	case waited:
		gs.waited(now, m, out)
	default:
		return false
	}
	return true
}

// settleEvery is how often sites are asked about the pilots of a job that is placed or over.
const settleEvery = grid.Minute

// Begin begins to gather a job, or goes on after a restart.
func (gs *Gathers) Begin(now grid.Time, j *jobs.Job, out *agents.Outbox) {
	if j.Gather == nil || gs.of[j] != nil {
		return
	}
	x := newJob(j)
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
func (gs *Gathers) at(x *job, when grid.Time, out *agents.Outbox) {
	x.next = when
	out.Alarm(when, due{x.job.Name, when})
}

// revive makes the gather that the state describes.
func (x *job) revive() {
	o := x.order()
	x.g = gather.Restore(o, &x.state)
}

// order is what is to be gathered.
func (x *job) order() gather.Order {
	j, parts := x.job, x.parts
	o := gather.Order{Length: lengthOf(parts), Waste: j.Gather.Waste, Deadline: int64(j.Gather.Deadline / grid.Second), Alone: j.Gather.Queue}
	for i := range parts {
		p := gather.Part{Nodes: int64(parts[i].Nodes), Cluster: int64(parts[i].Nodes)}
		if i < len(x.state.Parts) && x.state.Parts[i].Cluster > 0 {
			p.Cluster = int64(x.state.Parts[i].Cluster)
		}
		o.Parts = append(o.Parts, p)
	}
	return o
}

// newJob is a job as it is gathered. One for a queue is a job of one part, which has no name and
// finds its site first; nothing else tells the two apart.
func newJob(j *jobs.Job) *job {
	x := &job{job: j, parts: j.Parts}
	if j.Gather.Queue {
		x.parts = []grid.JobPart{{Nodes: j.Nodes, Length: j.Length, Run: j.Run}}
	}
	return x
}

// lengthOf is how long parts run.
func lengthOf(parts []grid.JobPart) int64 {
	if len(parts) == 0 {
		return 0
	}
	return seconds(parts[0].Length)
}

func seconds(d grid.Duration) int64 { return int64((d + grid.Second - 1) / grid.Second) }

// due begins a round.
func (gs *Gathers) due(now grid.Time, m due, out *agents.Outbox) {
	x := gs.of[gs.rec.Names[m.Job]]
	if x == nil || x.next != m.At {
		return // it is out of date
	}
	switch gone := gs.rec.Names[x.job.Name] != x.job; {
	case x.tx != nil && (gone || !x.job.State.Open()): // its outcome comes first, and goes on
		gs.at(x, now.Add(settleEvery), out)
		return
	case gone, !x.job.State.Open() && (x.g == nil || !x.g.Unsettled()):
		gs.end(now, x, out)
		return
	case x.held() && (x.g == nil || !x.g.Unsettled()): // nothing is to be asked for, or paid
		gs.at(x, now.Add(grid.Minute), out)
		return
	}
	if x.state.Parts == nil {
		if len(x.parts[0].Sites) == 0 {
			gs.choose(now, x, out)
			return
		}
		x.open(now, gs)
	}
	x.reconcile(now, gs)
	gs.ask(now, x, out)
}

// open names the gather.
func (x *job) open(now grid.Time, gs *Gathers) {
	h := fnv.New64a()
	h.Write([]byte(x.job.Name))
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(x.job.Submit)))
	life := gs.rec.Lives.Current()
	x.state = grid.Gathering{Zero: now, ID: grid.TxID{Broker: gs.name, Incarnation: life.Incarnation, Nonce: life.Nonce, Seq: h.Sum64() | 1<<63}}
	for i := range x.parts {
		x.state.Parts = append(x.state.Parts, grid.GatheringPart{Site: x.parts[i].Sites[0], Lost: gather.None})
	}
}

// reconcile brings the gather to where the job is: a transaction that a restart has cut off was
// aborted or committed, a window is lost, or the job is over.
func (x *job) reconcile(now grid.Time, gs *Gathers) {
	if x.g == nil {
		return
	}
	at := x.seconds(now)
	switch s := x.job.State; {
	case x.tx != nil: // its outcome is awaited, whatever the job is by now
	case !s.Open():
		x.g.Withdraw(at)
		x.g.Fallen(at)
	case x.held():
		x.g.Fallen(at)
	case x.g.Phase() != gather.Committing:
	case s == grid.JobWaiting && x.worked(): // the window is lost
		x.g.Fallen(at)
	case s == grid.JobWaiting:
		x.g.Aborted(at)
	case s == grid.JobPlaced && !x.worked():
		x.g.Whole()
	}
}

// held reports whether what the job comes after is not placed, or not any more. Its pilots are then
// to leave, and until all are settled their sites are asked.
func (x *job) held() bool { return x.job.State == grid.JobWaiting && x.job.Held }

// worked reports whether the record says that the window was committed.
func (x *job) worked() bool {
	return slices.ContainsFunc(x.state.Pilots, func(p grid.GatheringPilot) bool { return p.Worked > 0 })
}

// seconds is an instant in the gather's time.
func (x *job) seconds(at grid.Time) int64 { return int64(at.Sub(x.state.Zero) / grid.Second) }

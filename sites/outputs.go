package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// outputs passes what the work of legs has printed, and the files of its folder, from the
// cluster to brokers whose users ask for it. It is of this life only: a broker that gets no answer asks again.
type outputs struct {
	*memory
	asked  map[uint64]reading // by the number of the request to the cluster
	number uint64             // of the last request
	second grid.Time          // in which the last requests came
	served int                // how many of them were passed on

	servedOf map[string]int // the same, by VO at a site of several
}

// reading is a broker's request to read output.
type reading struct {
	broker agents.ID
	leg    grid.LegID
	ref    uint64 // the broker's
	at     grid.Time
}

// Bounds on readings: in a second, waiting for the cluster, and on each wait. With 64 KiB
// each, a site passes on at most 2 MiB a second.
const (
	maxReads    = 32
	maxReadings = 256
	readingWait = 30 * grid.Second
)

// costs is how many of a second's readings a reading counts as: for a list the cluster walks
// through a folder, for a digest it reads a whole file.
var costs = [grid.Readings]int{grid.ReadOutput: 1, grid.ReadErrors: 1, grid.ReadList: 8, grid.ReadFile: 1, grid.ReadDigest: 8}

// requested passes a broker's request on to the cluster.
func (o *outputs) requested(t step, m agents.LegOutputRequest) {
	no := func(code grid.Code, format string, args ...any) {
		t.reply(agents.LegOutput{Leg: m.Leg, Ref: m.Ref, Failure: refused(code, format, args...).Refusal})
	}
	if t.now >= o.second.Add(grid.Second) || t.now < o.second {
		o.second, o.served = t.now, 0
		clear(o.servedOf)
	}
	if err := m.Source.Check(); err != nil {
		no(grid.Invalid, "%v", err)
		return
	}
	l, cost := o.legs[m.Leg], costs[m.Source.What]
	switch {
	case l != nil && !l.tomb && l.State < grid.Confirmed:
		no(grid.BadState, "this part is %v; its work begins once it is confirmed", l.State)
		return
	case o.served+cost > maxReads || !o.room(t.now) || !o.roomOf(t.from, cost):
		no(grid.QueueFull, "%s is asked for too much output at once; ask again in a second", o.cfg.Name)
		return
	}
	o.served += cost
	o.take(t.from, cost)
	o.number++
	o.asked[o.number] = reading{broker: t.from, leg: m.Leg, ref: m.Ref, at: t.now}
	r := agents.ClusterOutputRequest{Leg: m.Leg, Ref: o.number, Source: m.Source, From: m.From}
	if l != nil && !l.tomb { // files are kept for longer than a leg is remembered
		if x := l.onNodes().Result; x != nil {
			r.File = x.Output
		}
	}
	t.out.Send(o.cfg.Cluster, r)
}

// room reports whether one more request may wait. It drops those that the cluster has not
// answered for a while.
func (o *outputs) room(now grid.Time) bool {
	if o.asked == nil {
		o.asked = map[uint64]reading{}
	}
	if len(o.asked) < maxReadings {
		return true
	}
	for n, r := range o.asked {
		if r.at.Add(readingWait) <= now {
			delete(o.asked, n)
		}
	}
	return len(o.asked) < maxReadings
}

// roomOf reports whether one more request of the sender's VO may be passed on.
func (o *outputs) roomOf(from agents.ID, cost int) bool {
	vo := voOf(from)
	if vo == "" {
		return true
	}
	waits := 0
	for _, r := range o.asked {
		if voOf(r.broker) == vo {
			waits++
		}
	}
	return o.servedOf[vo]+cost <= max(cost, o.cfg.ofVO(maxReads)) && waits < o.cfg.ofVO(maxReadings)
}

// take counts a request that is passed on.
func (o *outputs) take(from agents.ID, cost int) {
	if vo := voOf(from); vo != "" {
		if o.servedOf == nil {
			o.servedOf = map[string]int{}
		}
		o.servedOf[vo] += cost
	}
}

// answered passes the cluster's answer on to the broker.
func (o *outputs) answered(t step, m agents.ClusterOutput) {
	r, ok := o.asked[m.Ref]
	if !ok || r.leg != m.Leg {
		return // it came twice or too late
	}
	delete(o.asked, m.Ref)
	t.out.Send(r.broker, agents.LegOutput{Leg: r.leg, Ref: r.ref, What: m.What, From: max(m.From, 0), Size: max(m.Size, 0), Data: m.Data[:min(len(m.Data), grid.MaxTail)],
		Files: m.Files[:min(len(m.Files), grid.MaxFiles)], Failure: m.Failure})
}

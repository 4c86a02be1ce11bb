package sites

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// outputs pass on what the work of legs has printed, from the cluster to brokers
// whose users want to read it. They are of this life only: who is not answered asks
// again.
type outputs struct {
	*memory
	asked  map[uint64]reading // by the number under which the cluster is asked
	number uint64
	second bourse.Time // in which the last ones came
	served int         // and how many of them were passed on

	servedOf map[string]int // of each of several VOs
}

// reading is what a broker wants to read.
type reading struct {
	broker agents.ID
	leg    bourse.LegID
	ref    uint64 // the broker's
	at     bourse.Time
}

// Bounds of what is read: of a second, of what waits for the cluster, and of each
// wait. With 64 KiB each, a site hands out 2 MiB a second at most.
const (
	maxReads    = 32
	maxReadings = 256
	readingWait = 30 * bourse.Second
)

// requested asks the cluster.
func (o *outputs) requested(t step, m agents.LegOutputRequest) {
	no := func(code bourse.Code, format string, args ...any) {
		t.reply(agents.LegOutput{Leg: m.Leg, Ref: m.Ref, Failure: refused(code, format, args...).Refusal})
	}
	if t.now >= o.second.Add(bourse.Second) || t.now < o.second {
		o.second, o.served = t.now, 0
		clear(o.servedOf)
	}
	l := o.legs[m.Leg]
	switch {
	case l == nil || l.tomb:
		no(bourse.Unknown, "%s does not know this part any more; it forgets them a day after their end", o.cfg.Name)
		return
	case l.State < bourse.Confirmed:
		no(bourse.BadState, "this part is %v; its work begins once it is confirmed", l.State)
		return
	case o.served >= maxReads || !o.room(t.now) || !o.roomOf(t.from):
		no(bourse.QueueFull, "%s is asked for too much output at once; ask again in a second", o.cfg.Name)
		return
	}
	o.served++
	o.take(t.from)
	o.number++
	o.asked[o.number] = reading{broker: t.from, leg: m.Leg, ref: m.Ref, at: t.now}
	r := agents.ClusterOutputRequest{Leg: m.Leg, Ref: o.number, From: m.From}
	if x := l.onNodes().Result; x != nil {
		r.File = x.Output
	}
	t.out.Send(o.cfg.Cluster, r)
}

// room reports whether one more may wait. Those that the cluster has not answered for
// a while are not waited for any more.
func (o *outputs) room(now bourse.Time) bool {
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

// roomOf reports whether one more of a VO of several may be passed on.
func (o *outputs) roomOf(from agents.ID) bool {
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
	return o.servedOf[vo] < o.cfg.ofVO(maxReads) && waits < o.cfg.ofVO(maxReadings)
}

// take counts one that is passed on.
func (o *outputs) take(from agents.ID) {
	if vo := voOf(from); vo != "" {
		if o.servedOf == nil {
			o.servedOf = map[string]int{}
		}
		o.servedOf[vo]++
	}
}

// answered hands on what the cluster has said.
func (o *outputs) answered(t step, m agents.ClusterOutput) {
	r, ok := o.asked[m.Ref]
	if !ok || r.leg != m.Leg {
		return // an answer that came twice, or too late
	}
	delete(o.asked, m.Ref)
	t.out.Send(r.broker, agents.LegOutput{Leg: r.leg, Ref: r.ref, From: max(m.From, 0), Size: max(m.Size, 0), Data: m.Data[:min(len(m.Data), bourse.MaxTail)], Failure: m.Failure})
}

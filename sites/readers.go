package sites

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// readers are the brokers that have asked anything in this life of the site. They are told
// at once when the site drains, closes or accepts legs again; otherwise they would hear of
// it only when they next have a job to place. It is told once and not repeated, since the
// next offers say the same. Row S122.
type readers struct {
	mem  *memory
	list []agents.ID // in order
}

// drainOver is the end of a drain.
type drainOver struct{ until grid.Time }

// Kind names the alarm.
func (drainOver) Kind() string { return "DrainOver" }

// add remembers a broker, up to maxBrokers, and up to maxBrokersOfVO for one of several VOs.
func (r *readers) add(id agents.ID) {
	if _, broker := brokerOf(id); !broker {
		return
	}
	if i, there := slices.BinarySearch(r.list, id); !there && len(r.list) < maxBrokers && r.ofVO(voOf(id)) < maxBrokersOfVO {
		r.list = slices.Insert(r.list, i, id)
	}
}

// ofVO counts the readers of one of several VOs.
func (r *readers) ofVO(vo string) (n int) {
	if vo == "" {
		return 0
	}
	from, _ := slices.BinarySearch(r.list, agents.ID("broker:"+grid.InVO(vo, "")))
	for _, id := range r.list[from:] {
		if voOf(id) != vo {
			break
		}
		n++
	}
	return n
}

// tell tells all readers whether the site accepts anything new from their VOs.
func (r *readers) tell(t step) {
	t.out.Row("S122")
	r.watch(t)
	for _, id := range r.list {
		r.tellOne(t, id)
	}
}

// watch sets the alarm for the end of a drain.
func (r *readers) watch(t step) {
	if until := r.mem.drain.Until; t.now < until && until < grid.Never {
		t.out.Alarm(until, drainOver{until})
	}
}

// begin tells a new life of a broker if the site accepts nothing new.
func (r *readers) begin(t step) {
	r.add(t.from)
	if vo, broker := brokerOf(t.from); broker && r.mem.barred(t.now, vo, "").Refused() {
		t.out.Row("S122")
		r.tellOne(t, t.from)
	}
}

func (r *readers) tellOne(t step, id agents.ID) {
	vo, _ := brokerOf(id)
	t.out.Send(id, agents.Offers{Now: t.now, Refusal: r.mem.barred(t.now, vo, ""), Stamp: r.mem.stamp()})
}

// over tells all readers that a drain has ended by itself.
func (r *readers) over(t step, m drainOver) {
	if r.mem.drain.Until == m.until {
		r.tell(t)
	}
}

package broker

import (
	"bourse"
)

// A moldable job can run in several sizes. Its alternatives are of all of them, so
// that a selection may choose; where a size is chosen before a window, it is the
// one preferred among those that can be had (bourse.Request.Preferred). A window
// that was committed keeps its size: what stands in for a leg of it is of the same
// length. Which size that is follows from its legs, whose nodes are those of one.

// size is the size preferred among the alternatives that can be had; zero if there
// is none.
func (p *plan) size(can func(*alternative) bool) bourse.Size {
	if len(p.request.Sizes) == 0 {
		return p.request.Preferred()[0]
	}
	for _, z := range p.request.Preferred() {
		for i := range p.alternatives {
			if a := &p.alternatives[i]; a.size == z && can(a) {
				return z
			}
		}
	}
	return bourse.Size{}
}

// parts are the slots that hold each of a job's alternatives by itself: those of a
// rigid job never overlap, and those of different sizes may.
func (p *plan) parts() []bourse.Part {
	var list []bourse.Part
	for k := range p.alternatives {
		for _, l := range p.alternatives[k].legs {
			if l.what.Work == 0 { // else it is of no slot
				list = append(list, bourse.Part{Group: l.group, Count: int32(l.what.Nodes), Start: l.what.Start, End: l.what.End})
			}
		}
	}
	if len(p.request.Sizes) > 0 {
		list = bourse.Cover(list)
	}
	return list
}

// sizeOf is the size of the window that a transaction belongs to: one that stands
// in for a leg is a part of another's. Of a window that is not known whole it is
// what the job asks for first of all.
func (b *Broker) sizeOf(t *transaction) bourse.Size {
	for t.repairs != (bourse.LegID{}) {
		of := b.txs[t.repairs.Tx]
		if of == nil {
			break
		}
		t = of
	}
	nodes := 0
	for i := range t.legs {
		nodes += t.legs[i].what.Nodes
	}
	return t.job.SizeOn(nodes)
}

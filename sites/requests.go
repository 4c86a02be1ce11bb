package sites

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// requests are those that need the cluster's state, in line. They are served one
// at a time in order of arrival, so that each sees what the one before it has
// locked. At a site of several VOs they take turns, so that a request waits for as many
// of another VO as of its own at most, and each VO has its part of the line. Whoever put
// a request there is told when it is first.
type requests struct {
	cfg     *Config
	view    *view
	retries *retries

	line     []request
	asked    map[requestName]agents.Message // requests for offers and quotes in line
	head     int
	parts    map[string]*part // of the line, by VO of several; "": of nobody in particular
	question question         // what the cluster is asked for the first in line
	ref      uint64           // of that question; refs of another life are none of this one
}

// client puts requests in line.
type client interface {
	// ready serves a request that is first in line, now that the cluster's state
	// has come. It reports whether the request needs nodes, and so comes from a
	// holder.
	ready(t step, k *request) bool
}

// holder is a client whose requests need nodes.
type holder interface {
	client
	// nodes is what the cluster is asked to lock for the request.
	nodes(now bourse.Time, k *request) agents.ClusterHold
	// granted takes the cluster's answer.
	granted(t step, k *request, m agents.ClusterHeld)
}

// Those whose requests need nodes.
var _ = []holder{(*participant)(nil), (*operator)(nil), (*recovery)(nil)}

// question is what the site waits for.
type question uint8

const (
	nothing question = iota
	state
	nodes
	locks
)

// request is what waits for the cluster.
type request struct {
	client   client // none of the inventory
	from     agents.ID
	m        agents.Message
	leg      *leg                // of a Hold or a Reassert
	restored *bourse.LegRestored // of a Reassert: what is recorded if the nodes are had
	turn     uint64              // of its VO; those of one turn are served before all of the next
}

// part is what one of several VOs has in line.
type part struct {
	waits int    // not 0
	turn  uint64 // of the last one
}

// voOf is the VO of several that a request is of, "" if none is.
func voOf(from agents.ID) string {
	name, broker := brokerOf(from)
	if vo, _, several := bourse.CutVO(name); broker && several {
		return vo
	}
	return ""
}

// requestName is by what a request that comes again is found in line.
type requestName struct {
	from  agents.ID
	quote bool
	set   bool // of quotes
	ref   uint64
}

func (k request) name() (requestName, bool) {
	switch m := k.m.(type) {
	case agents.OfferRequest:
		return requestName{from: k.from, ref: m.Cycle}, true
	case agents.QuoteRequest:
		return requestName{from: k.from, quote: true, set: m.Together, ref: m.Ref}, true
	}
	return requestName{}, false
}

// repeats reports whether a request is the same as one of its name that waits, if
// any does.
func repeats(waits, m agents.Message) bool {
	switch m := m.(type) {
	case agents.OfferRequest:
		return waits == m
	case agents.QuoteRequest:
		x, ok := waits.(agents.QuoteRequest)
		return ok && slices.Equal(m.Users, x.Users) && slices.Equal(m.Legs, x.Legs)
	}
	return false
}

func (q *requests) waiting() int { return len(q.line) - q.head }

func (q *requests) first() *request { return &q.line[q.head] }

// done takes the first out. What waits moves to the front once it is the smaller
// half, so that a line that is never empty keeps no more than twice what waits.
func (q *requests) done() {
	if name, named := q.first().name(); named {
		delete(q.asked, name)
	}
	vo := voOf(q.first().from)
	if p := q.parts[vo]; p != nil && p.waits > 1 {
		p.waits--
	} else {
		delete(q.parts, vo)
	}
	q.line[q.head] = request{}
	if q.head++; 2*q.head >= len(q.line) {
		n := copy(q.line, q.line[q.head:])
		clear(q.line[n:])
		q.line, q.head = q.line[:n], 0
	}
}

// each visits what waits; the line must not be changed meanwhile.
func (q *requests) each(yield func(*request) bool) {
	for i := q.head; i < len(q.line); i++ {
		if !yield(&q.line[i]) {
			return
		}
	}
}

// asking returns the request that the cluster is asked for nodes for, or nil.
func (q *requests) asking() *request {
	if q.question != nodes {
		return nil
	}
	return q.first()
}

// begin begins a life: no answer to a question of an earlier one is taken.
func (q *requests) begin(nonce uint64) { q.ref = nonce }

// open reports whether the cluster has a question to answer.
func (q *requests) open() bool { return q.question != nothing }

// full is the refusal for a line that is full, or in which the sender's VO has as much as
// it may of several; none if there is room.
func (q *requests) full(from agents.ID) bourse.Reason {
	if vo := voOf(from); vo != "" && q.parts[vo] != nil && q.parts[vo].waits >= q.cfg.ofVO(q.cfg.MaxWork) {
		return bourse.Because(bourse.QueueFull, "%d requests of %s already wait for %s's cluster", q.parts[vo].waits, vo, q.cfg.Name)
	}
	if q.waiting() < q.cfg.MaxWork {
		return bourse.Reason{}
	}
	return bourse.Reason{Code: bourse.QueueFull,
		Detail: fmt.Sprintf("%d requests already wait for %s's cluster", q.cfg.MaxWork, q.cfg.Name)}
}

// restoring reports whether a leg that the site does not know waits in line for its
// nodes to be had again.
func (q *requests) restoring(id bourse.LegID) bool {
	for k := range q.each {
		if k.restored != nil && k.leg.Leg == id {
			return true
		}
	}
	return false
}

// repeated reports whether the same request for offers or quotes waits already: it
// is answered once. Row S116.
func (q *requests) repeated(k request) bool {
	name, named := k.name()
	return named && repeats(q.asked[name], k.m)
}

// add puts a request in line. Whoever may be refused asks full first.
func (q *requests) add(t step, k request) {
	if name, named := k.name(); named {
		if q.asked == nil {
			q.asked = map[requestName]agents.Message{}
		}
		q.asked[name] = k.m
	}
	q.line = slices.Insert(q.line, q.place(&k), k)
	if q.waiting() == 1 {
		q.ask(t)
	}
}

// place is where in line a request stands: behind all whose turn is no later. Whoever has
// none in line has the turn after the one that is served.
func (q *requests) place(k *request) int {
	vo := voOf(k.from)
	p := q.parts[vo]
	if p == nil {
		p = &part{}
		if q.waiting() > 0 {
			p.turn = q.first().turn
		}
		if q.parts == nil {
			q.parts = map[string]*part{}
		}
		q.parts[vo] = p
	}
	p.waits++
	p.turn++
	k.turn = p.turn
	at := len(q.line)
	for at > q.head+1 && q.line[at-1].turn > k.turn {
		at--
	}
	return at
}

// ask asks the cluster what the first in line needs.
func (q *requests) ask(t step) { q.put(t, q.first().needs()) }

// needs is what the cluster is asked first.
func (k *request) needs() question {
	if _, ok := k.m.(inventoryDue); ok {
		return locks
	}
	return state
}

// put puts a new question to the cluster, and sees to it that it is asked again.
func (q *requests) put(t step, what question) {
	q.question = what
	q.ref++
	q.say(t)
	q.retries.renew(t, theQuestion, lastWait)
}

// say sends the question that is open.
func (q *requests) say(t step) {
	switch q.question {
	case state:
		t.out.Send(q.cfg.Cluster, agents.SnapshotRequest{Ref: q.ref, Have: q.view.seen()})
	case locks:
		t.out.Send(q.cfg.Cluster, agents.ClusterInventory{Ref: q.ref})
	case nodes:
		k := q.first()
		t.out.Send(q.cfg.Cluster, k.client.(holder).nodes(t.now, k))
	}
}

// next goes on to the next in line.
func (q *requests) next(t step) {
	q.done()
	q.question = nothing
	if q.waiting() > 0 {
		q.ask(t)
	}
}

// snapshot takes the state that was asked for.
func (q *requests) snapshot(t step, m agents.Snapshot) {
	if q.question != state || m.Ref != q.ref || !q.view.follows(m) {
		return // an answer that came twice, or too late
	}
	q.view.update(m)
	q.serve(t)
}

// serve answers requests from the state just received. What only reads goes on
// with the same state; a hold changes it, so what follows it asks again.
func (q *requests) serve(t step) {
	for q.waiting() > 0 {
		k := q.first()
		if k.needs() == locks {
			q.ask(t)
			return
		}
		if k.client.ready(t, k) {
			q.put(t, nodes)
			return // the cluster's answer goes on
		}
		q.done()
	}
	q.question = nothing
}

// held hands the cluster's answer about nodes to the request that asked for them;
// false if none did.
func (q *requests) held(t step, m agents.ClusterHeld) bool {
	k := q.asking()
	if k == nil || k.leg.Leg != m.Leg {
		return false
	}
	k.client.(holder).granted(t, k, m)
	q.next(t)
	return true
}

// looking reports whether the cluster is asked what it keeps, by that question.
func (q *requests) looking(ref uint64) bool { return q.question == locks && ref == q.ref }

package sites

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// requests is the line of requests that need the cluster's state. They are served one at
// a time in order of arrival, so that each sees what the one before it has locked. At a
// site of several VOs the VOs take turns: a request waits for no more requests of another
// VO than of its own, and each VO may fill only its part of the line. The client that put
// a request in line is told when it is first.
type requests struct {
	cfg     *Config
	view    *view
	retries *retries

	line     []request
	asked    map[requestName]agents.Message // the requests for offers and quotes in line
	head     int                            // index of the first in line
	parts    map[string]*part               // of the line, by VO; "": requests of no VO
	question question                       // what the cluster is being asked for the first in line
	foreseen []grid.BestEffort              // the cluster's answer to the Queued of the first in line
	ref      uint64                         // of that question; no two lives share any
}

// client puts requests in line.
type client interface {
	// ready serves the request that is first in line, on the cluster's state just
	// received. It reports whether the request needs nodes; its client must then be a
	// holder.
	ready(t step, k *request) bool
}

// holder is a client whose requests need nodes.
type holder interface {
	client
	// nodes is the order to the cluster to lock nodes for the request.
	nodes(k *request) agents.ClusterHold
	// granted handles the cluster's answer.
	granted(t step, k *request, m agents.ClusterHeld)
}

// The clients whose requests need nodes.
var _ = []holder{(*participant)(nil), (*operator)(nil), (*recovery)(nil)}

// question is what the site is waiting for the cluster to answer.
type question uint8

const (
	nothing question = iota
	state
	nodes
	locks
	settings
)

// request is a request in line.
type request struct {
	client   client // nil for the inventory and a Reload
	from     agents.ID
	m        agents.Message
	leg      *leg               // of a Hold, a Reassert or a Maintenance
	restored *facts.LegRestored // of a Reassert: what to record if the cluster has the nodes
	turn     uint64             // of its VO; requests of lower turns are served first
}

// part is what one of several VOs has in line.
type part struct {
	waits int    // requests in line, at least 1
	turn  uint64 // of the last one
}

// voOf is the VO that a request comes from, "" at a site of one VO or if it comes from no
// broker.
func voOf(from agents.ID) string {
	name, broker := brokerOf(from)
	if vo, _, several := grid.CutVO(name); broker && several {
		return vo
	}
	return ""
}

// requestName identifies a request, to recognise it when it comes again.
type requestName struct {
	from  agents.ID
	quote bool
	set   bool // for quotes of a set
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

// repeats reports whether m is the same request as the waiting one of its name, if there is
// one.
func repeats(waits, m agents.Message) bool {
	switch m := m.(type) {
	case agents.OfferRequest:
		return waits == m
	case agents.QuoteRequest:
		x, ok := waits.(agents.QuoteRequest)
		return ok && slices.Equal(m.Users, x.Users) && slices.Equal(m.Legs, x.Legs) && slices.Equal(m.Queued, x.Queued)
	}
	return false
}

func (q *requests) waiting() int { return len(q.line) - q.head }

func (q *requests) first() *request { return &q.line[q.head] }

// done removes the first request. The rest moves to the front of the slice once it is the
// smaller half, so that even a line that is never empty takes at most twice its length.
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

// each ranges over the requests in line, which must not be changed meanwhile.
func (q *requests) each(yield func(*request) bool) {
	for i := q.head; i < len(q.line); i++ {
		if !yield(&q.line[i]) {
			return
		}
	}
}

// asking returns the request for which the cluster is being asked for nodes, or nil.
func (q *requests) asking() *request {
	if q.question != nodes {
		return nil
	}
	return q.first()
}

// begin begins a life, which ignores answers to an earlier life's questions.
func (q *requests) begin(nonce uint64) { q.ref = nonce }

// open reports whether the cluster has yet to answer a question.
func (q *requests) open() bool { return q.question != nothing }

// full is the refusal if the line, or the part of it for the sender's VO, is full; no
// reason: there is room.
func (q *requests) full(from agents.ID) grid.Reason {
	if vo := voOf(from); vo != "" && q.parts[vo] != nil && q.parts[vo].waits >= q.cfg.ofVO(q.cfg.MaxWork) {
		return grid.Because(grid.QueueFull, "%d requests of %s already wait for %s's cluster", q.parts[vo].waits, vo, q.cfg.Name)
	}
	if q.waiting() < q.cfg.MaxWork {
		return grid.Reason{}
	}
	return grid.Reason{Code: grid.QueueFull,
		Detail: fmt.Sprintf("%d requests already wait for %s's cluster", q.cfg.MaxWork, q.cfg.Name)}
}

// restoring reports whether a request to restore a leg's nodes is in line.
func (q *requests) restoring(id grid.LegID) bool {
	for k := range q.each {
		if k.restored != nil && k.leg.Leg == id {
			return true
		}
	}
	return false
}

// repeated reports whether the same request for offers or quotes is in line already. It is
// answered only once. Row S116.
func (q *requests) repeated(k request) bool {
	name, named := k.name()
	return named && repeats(q.asked[name], k.m)
}

// add puts a request in line. It does not check for room: callers that can be refused call
// full first.
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

// place is a new request's place in line: behind all whose turn is no later. A VO without
// requests in line gets the turn after the one being served.
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

// ask asks the cluster for what the first request needs.
func (q *requests) ask(t step) { q.put(t, q.first().needs()) }

// needs is the first question to the cluster for a request.
func (k *request) needs() question {
	switch k.m.(type) {
	case inventoryDue:
		return locks
	case agents.Reload:
		return settings
	}
	return state
}

// put asks the cluster a new question, and starts repeating it.
func (q *requests) put(t step, what question) {
	q.question = what
	q.ref++
	q.say(t)
	q.retries.renew(t, theQuestion, lastWait)
}

// say sends the open question.
func (q *requests) say(t step) {
	switch q.question {
	case state:
		t.out.Send(q.cfg.Cluster, agents.SnapshotRequest{Ref: q.ref, Have: q.view.seen(), Queued: q.first().queued()})
	case locks:
		t.out.Send(q.cfg.Cluster, agents.ClusterInventory{Ref: q.ref})
	case settings:
		m := q.first().m.(agents.Reload)
		t.out.Send(q.cfg.Cluster, agents.ClusterReload{Ref: q.ref, To: m.Cluster, Nonce: m.Nonce, Dry: m.Dry, Force: m.Force, Why: m.Why})
	case nodes:
		k := q.first()
		t.out.Send(q.cfg.Cluster, k.client.(holder).nodes(k))
	}
}

// next goes on to the next request in line.
func (q *requests) next(t step) {
	q.done()
	q.question = nothing
	if q.waiting() > 0 {
		q.ask(t)
	}
}

// snapshot takes the cluster's state that was asked for.
func (q *requests) snapshot(t step, m agents.Snapshot) {
	if q.question != state || m.Ref != q.ref || !q.view.follows(m) {
		return // it came twice or too late
	}
	q.view.update(m)
	q.foreseen = m.BestEffort
	q.serve(t)
	q.foreseen = nil
}

// answered is the cluster's answer to the Queued of the first request.
func (q *requests) answered() []grid.BestEffort { return q.foreseen }

// queued are the jobs of which a request asks when they would start in a queue.
func (k *request) queued() []grid.Queueing {
	m, _ := k.m.(agents.QuoteRequest)
	return m.Queued
}

// serve answers requests from the state just received. Requests that only read share that
// state; a hold changes it, so the request after it asks again, as does one about the queue.
func (q *requests) serve(t step) {
	for first := true; q.waiting() > 0; first = false {
		k := q.first()
		if k.needs() != state || !first && len(k.queued()) > 0 {
			q.ask(t)
			return
		}
		if k.client.ready(t, k) {
			q.put(t, nodes)
			return // goes on with the cluster's answer
		}
		q.done()
	}
	q.question = nothing
}

// held hands the cluster's answer about nodes to the request that asked for them. It
// reports false if none did.
func (q *requests) held(t step, m agents.ClusterHeld) bool {
	k := q.asking()
	if k == nil || k.leg.Leg != m.Leg {
		return false
	}
	k.client.(holder).granted(t, k, m)
	q.next(t)
	return true
}

// looking reports whether ref is the open question for the cluster's inventory.
func (q *requests) looking(ref uint64) bool { return q.question == locks && ref == q.ref }

// reloading reports whether a Reload is in line.
func (q *requests) reloading() bool {
	for k := range q.each {
		if k.needs() == settings {
			return true
		}
	}
	return false
}

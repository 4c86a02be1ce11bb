package invariant

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Place is where a fact stands.
type Place struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	Number uint64 `json:"number"` // of the fact in its journal
}

// Finding is something that breaks a rule, or that somebody should look at.
type Finding struct {
	Invariant string    `json:"invariant"` // I1, ...
	Agent     agents.ID `json:"agent"`     // whose journal shows it
	Place
	At   grid.Time `json:"at"`
	What string    `json:"what"`
	Note bool      `json:"note,omitempty"` // it may be right: the journal alone does not show it

	// Alike is how many further notes say the same of the same agent, about other legs or
	// at other places.
	Alike int `json:"alike,omitempty"`

	kind string // what a note says, without its figures
}

// noteKind is what notes that are told as one have in common.
type noteKind struct {
	invariant string
	agent     agents.ID
	kind      string
}

// Counts is what the journals hold.
type Counts struct {
	Facts        int `json:"facts"`
	Legs         int `json:"legs"`         // seen at sites
	Transactions int `json:"transactions"` // begun by brokers
	Committed    int `json:"committed"`
	Aborted      int `json:"aborted"`
	InFlight     int `json:"inFlight"` // legs that have not heard of their decision
	Exempt       int `json:"exempt"`   // legs that an amnesia names, or that their site's journal has provably lost
}

// maxFindings bounds what is kept; the first are the ones that matter.
const maxFindings = 1000

// Audit takes in journals, fact by fact.
type Audit struct {
	keys     map[string]agents.Key // of sites, by name
	nodes    map[string]int        // of groups, by "site/group" or, for all sites, "group"
	trails   map[agents.ID]*Trail
	order    []*Trail
	brokers  []*Trail // of them
	findings []Finding
	more     int              // findings beyond the bound
	notes    map[noteKind]int // the first of each kind, in findings
	exempt   map[grid.LegID]bool
	counts   Counts
	past     past

	groups func(site, group string) (grid.Group, bool) // nil: not known
	capped func(broker string) bool                    // whether the price of each node is capped

	allowed func(site string) (Allowance, bool) // by its operator; nil: not known

	together bool // the facts of all agents come as they are recorded, and messages take no time
	touched  []grid.TxID
}

// New returns an audit that knows no journal yet. nodes says how many nodes a
// group has, under "site/group" or "group"; groups that are not there are not
// held to I1.
func New(nodes map[string]int) *Audit {
	return &Audit{nodes: nodes, trails: map[agents.ID]*Trail{}, exempt: map[grid.LegID]bool{}}
}

// Know gives the key with which a site proves its answers: what it has restored is then
// checked with it.
func (a *Audit) Know(site string, key agents.Key) {
	if a.keys == nil {
		a.keys = map[string]agents.Key{}
	}
	a.keys[site] = key
}

// Groups gives what is known of the groups of all sites, and which brokers cap the
// price of each node, as ALP does: windows are then checked against that as well.
func (a *Audit) Groups(of func(site, group string) (grid.Group, bool), capped func(broker string) bool) {
	a.groups, a.capped = of, capped
}

// Watch says that the facts of all agents come in the order in which they were
// recorded, of a world in which messages take no time: call AtRest after each instant.
func (a *Audit) Watch() { a.together = true }

// LeaveOut leaves an agent's journal out of what is compared.
func (a *Audit) LeaveOut(agent agents.ID) {
	delete(a.trails, agent)
	of := func(t *Trail) bool { return t.agent == agent }
	a.order, a.brokers = slices.DeleteFunc(a.order, of), slices.DeleteFunc(a.brokers, of)
}

// Exempt exempts a leg from all rules from now on, as an amnesia that names it does.
func (a *Audit) Exempt(id grid.LegID) { a.exempt[id] = true }

// exempts reports whether an amnesia has named a leg of a transaction.
func (a *Audit) exempts(x *tx) bool {
	for i := range x.legs {
		if a.exempt[grid.LegID{Tx: x.begun.Tx, Leg: i}] {
			return true
		}
	}
	return false
}

// exemptsJob reports that of any part of a job's window.
func (a *Audit) exemptsJob(j *job) bool {
	return slices.ContainsFunc(j.window, a.exempts)
}

// Trail is the journal of one agent, as far as it has been read: the one fold of its
// facts, and the rules that each fact is checked against. A rule reads the fold and owns
// what it must remember besides.
//
// The fold is separate from history.Transaction on purpose: a view may believe what a
// fact says of a leg, an audit must check it against all facts before.
type Trail struct {
	*journal
	legs   siteLegs
	imaged imaged
	txs    transactions
	jobs   jobs

	// The rules, by number.
	nodes     nodes     // I1
	agreement agreement // I2
	decisions decisions // I3
	limits    limits    // I4
	states    states    // I5
	effects   effects   // I6
	lives     lives     // I7
	money     money     // I8
	windows   windows   // I9
	prices    prices    // I10
	votes     votes     // I15
	proofs    proofs    // I16
	promises  promises  // I17
	order     order     // I18
	moves     moves     // I27
	places    places    // I28
	bounds    bounds    // I31
	shares    shares    // I32
	arrays    arrays    // I33
}

// journal is what each rule knows of the journal that is read: whose it is, how far
// it has been read, and where to say what is broken.
type journal struct {
	audit *Audit
	agent agents.ID
	whole bool // from its first fact on: what has not been seen has not been
	begun bool
	last  Place
	at    grid.Time
}

// Trail returns the trail of an agent's journal.
func (a *Audit) Trail(agent agents.ID) *Trail {
	t := a.trails[agent]
	if t == nil {
		t = newTrail(&journal{audit: a, agent: agent})
		a.trails[agent] = t
		a.order = append(a.order, t)
		if agent == broker(t.name()) {
			a.brokers = append(a.brokers, t)
		}
	}
	return t
}

func newTrail(j *journal) *Trail {
	t := &Trail{journal: j, legs: siteLegs{}, txs: transactions{}, jobs: jobs{}}
	t.agreement, t.decisions, t.limits, t.states = agreement{j, t.txs}, decisions{j}, limits{j}, states{j}
	t.effects, t.lives = effects{j, t.txs}, lives{journal: j, all: map[facts.LifeBegun]bool{}}
	t.money, t.prices, t.votes = money{journal: j, legs: t.legs, gathers: map[string]*gathering{}}, prices{j}, votes{j}
	t.proofs, t.promises = proofs{journal: j}, promises{j}
	t.nodes = nodes{journal: j, legs: t.legs, promises: &t.promises, free: map[string]*grid.Profile{},
		replaced: map[grid.LegID]grid.LegID{}, jobs: map[localJob]claim{}, locks: map[grid.LegID]*lock{}, opened: map[opened]*sharing{}}
	t.windows = windows{j, t.txs, map[grid.TxID][]grid.TxID{}, map[string]grid.Request{}}
	t.order = order{journal: j, txs: t.txs, jobs: t.jobs, windows: map[string][]grid.TxID{}}
	t.moves, t.places = moves{journal: j, jobs: t.jobs}, places{j}
	t.bounds = bounds{journal: j, jobs: t.jobs, of: map[string]*userUse{}}
	t.shares = shares{journal: j}
	t.arrays = arrays{journal: j, jobs: t.jobs, windows: &t.windows}
	return t
}

// The addresses of agents.
func site(name string) agents.ID   { return agents.ID("site:" + name) }
func broker(name string) agents.ID { return agents.ID("broker:" + name) }

// name is the name of the journal's agent without its role.
func (j *journal) name() string {
	_, name, ok := strings.Cut(string(j.agent), ":")
	if !ok {
		return string(j.agent)
	}
	return name
}

// Take takes in the next fact of the journal. A journal whose first fact is not
// number 1 has lost its beginning; it must open with an image.
func (t *Trail) Take(p Place, at grid.Time, f agents.Fact) {
	if !t.begun {
		t.begun, t.whole = true, p.Number == 1
	}
	t.last, t.at = p, at
	switch f.(type) {
	case facts.SiteImage, facts.BrokerImage, facts.ClusterImage:
	default:
		t.audit.counts.Facts++
	}
	t.nodes.settle(f)
	t.order.settle(at)
	t.moves.settle(at)
	_ = t.ofCluster(at, f) || t.ofSite(at, f) || t.ofBroker(f)
}

// ofCluster takes a fact that a cluster records, and reports whether it is one.
func (t *Trail) ofCluster(at grid.Time, f agents.Fact) bool {
	switch f := f.(type) {
	case facts.JobStarted:
		t.nodes.started(at, f)
	case facts.JobEnded:
		t.nodes.ended(at, f)
	case facts.NodesLocked:
		t.nodes.locked(at, f)
	case facts.NodesFreed:
		t.nodes.freed(at, f)
	case facts.NodesMoved:
		t.nodes.moved(at, f)
	case facts.ClusterImage:
		t.nodes.set(at, f.Sizes)
		t.nodes.opens(at, f)
	case facts.WorkBegun:
		t.nodes.set(at, f.Groups)
	case facts.NodesSet: // a site records it too
		t.nodes.set(at, f.Groups)
	default:
		return false
	}
	return true
}

// ofSite takes a fact that a site records, and reports whether it is one. Brokers record LegShifted too.
func (t *Trail) ofSite(at grid.Time, f agents.Fact) bool {
	switch f := f.(type) {
	case facts.LegShifted:
		t.shifted(at, f)
	case facts.LegMoved:
		t.moved(at, f)
	case facts.LegRestored:
		t.restored(at, f)
	case facts.SiteBegun:
		t.nodes.set(at, f.Groups)
		t.proofs.begins(f)
	case facts.Tombstone:
		t.entomb(f.Leg)
	case facts.LegsForgotten:
		t.forgotten(f.Legs)
	case facts.SiteImage:
		t.image(f)
	case facts.ShiftNoted:
		t.places.noted(t.legs[f.Leg], f)
	default:
		return false
	}
	return true
}

// ofBroker takes a fact that a broker records, and reports whether it is one.
func (t *Trail) ofBroker(f agents.Fact) bool {
	switch f := f.(type) {
	case facts.TxBegun:
		t.txBegun(f)
	case facts.LegPriced:
		t.priced(f)
	case facts.LegProved:
		t.provedBy(f)
	case facts.TxDecided:
		t.decided(f)
	case facts.LegClosed:
		t.closed(f)
	case facts.LegDone:
		t.done(f)
	case facts.JobSubmitted:
		t.windows.asks(&f.Job)
		t.jobs.submitted(&f.Job)
		t.arrays.submitted(&f.Job)
	case facts.ElementsBegun:
		t.arrays.begins(f)
	case facts.ElementsDropped:
		t.arrays.drops(f)
	case facts.JobPostponed:
		if f.Final {
			t.jobs.named(f.Job).gone = true
		}
	case facts.JobBroken:
		t.jobs.broken(f.Job)
		t.order.touch(f.Job)
	case facts.JobCancelled:
		j := t.jobs.named(f.Job)
		j.withdrawn, j.gone = true, true
		t.order.touch(f.Job)
	case facts.Gathered:
		t.money.gathered(f)
	case facts.JobsForgotten:
		t.money.forgets(f.Jobs)
		for _, name := range f.Jobs {
			delete(t.jobs, name)
		}
	case facts.TermsRead:
		t.bounds.file, t.bounds.read = f.Holders, true
	case facts.TermsGranted:
		t.bounds.grants(f)
	case facts.LifeBegun:
		t.lives.begins(f)
	case facts.LifeFenced:
		t.lives.fence()
	case facts.TxReversed:
		t.reversed(f)
	case facts.TxForgotten:
		t.txForgotten(f.Txs)
	case facts.LegAdopted:
		t.adopted(f)
	case facts.Amnesia:
		for _, id := range f.Legs {
			t.audit.exempt[id] = true
		}
	case facts.BrokerImage:
		t.brokerImage(f)
	default:
		return false
	}
	return true
}

// breaks notes that an invariant does not hold at the present fact.
func (j *journal) breaks(invariant, format string, args ...any) {
	j.audit.find(Finding{Invariant: invariant, Agent: j.agent, Place: j.last, At: j.at, What: fmt.Sprintf(format, args...)})
}

// notes notes something that the journal alone cannot decide.
func (j *journal) notes(invariant, format string, args ...any) {
	j.audit.find(Finding{Invariant: invariant, Agent: j.agent, Place: j.last, At: j.at, What: fmt.Sprintf(format, args...), Note: true, kind: format})
}

// find adds a finding. Equal notes are one.
func (a *Audit) find(f Finding) {
	k := noteKind{f.Invariant, f.Agent, f.kind}
	if f.Note && f.kind != "" {
		if i, told := a.notes[k]; told {
			a.findings[i].Alike++
			return
		}
	}
	if len(a.findings) == maxFindings {
		a.more++
		return
	}
	if f.Note && f.kind != "" {
		if a.notes == nil {
			a.notes = map[noteKind]int{}
		}
		a.notes[k] = len(a.findings)
	}
	a.findings = append(a.findings, f)
}

// Found returns what was found so far in the journals one by one. The list is good
// until the next fact.
func (a *Audit) Found() []Finding { return a.findings }

// Settle says that the last step of each agent is whole: nothing that it recorded in its
// last instant is missing. A journal alone may be torn in the middle of a step.
func (a *Audit) Settle() {
	for _, t := range a.order {
		t.judge(false)
	}
}

// judge checks what only a whole step shows.
func (t *Trail) judge(note bool) {
	t.order.judge(note)
	t.moves.judge(note)
}

// Finish compares the journals with each other and returns what was found, in
// the order of the journals and of their facts, and what they hold. What only the last
// step of a journal shows is a note, unless Settle was called before. more says
// how many findings beyond the first thousand there are.
func (a *Audit) Finish() (found []Finding, more int, c Counts) {
	for _, t := range a.order {
		t.judge(true)
		for _, id := range sortedKeys(t.txs, compareTx) {
			a.across(t, t.txs[id])
		}
		a.orphans(t)
		a.counts.Legs += len(t.legs)
		a.counts.Transactions += len(t.txs)
	}
	a.tellPast()
	a.counts.Exempt = len(a.exempt)
	return a.findings, a.more, a.counts
}

func sortedKeys[K comparable, V any](m map[K]V, compare func(a, b K) int) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compare)
	return keys
}

func compareTx(a, b grid.TxID) int {
	return cmp.Or(cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.Incarnation, b.Incarnation),
		cmp.Compare(a.Nonce, b.Nonce), cmp.Compare(a.Seq, b.Seq))
}

func compareLeg(a, b grid.LegID) int {
	return cmp.Or(compareTx(a.Tx, b.Tx), cmp.Compare(a.Leg, b.Leg))
}

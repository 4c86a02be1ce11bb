package gather

// Gather is a job that is being gathered. Its order must pass Check.
type Gather struct {
	order  Order
	now    int64
	parts  []gathered
	pilots []*pilot // whose ends were not seen
	over   int64    // node-seconds idled by those whose ends were

	try   try
	tries int
	phase Phase
	why   Why
	start int64
	next  int64
	acts  []Act
}

// gathered is what there is of a part.
type gathered struct {
	pilot   *pilot // nil: none
	pilots  int    // submitted so far
	lostAt  int64  // the round that saw its last pilot end by itself
	denials int    // in a row
	words   string // of the last one
}

// try is a time in which pilots run, from the first that is seen to COMMIT or a release.
type try struct {
	open  bool
	share int64
	leads bool
	base  int64 // what was spent when it opened
}

// Phase is how far a gather is.
type Phase uint8

// All phases.
const (
	Gathering  Phase = iota
	Committing       // COMMIT was asked for; Aborted goes back
	Abandoned
)

// New begins to gather.
func New(o Order) *Gather {
	g := &Gather{order: o, parts: make([]gathered, len(o.Parts))}
	for i := range g.parts {
		g.parts[i].lostAt = unseen
	}
	return g
}

// Phase is how far it is.
func (g *Gather) Phase() Phase { return g.phase }

// Why is why it was abandoned.
func (g *Gather) Why() Why { return g.why }

// Start is the start that COMMIT was last asked for.
func (g *Gather) Start() int64 { return g.start }

// Next is when the next round is due.
func (g *Gather) Next() int64 { return g.next }

// Tries is how many tries were released.
func (g *Gather) Tries() int { return g.tries }

// Counted is the most that all pilots so far can come to: node-seconds, never above the
// allowance. It is what their idling is bounded by, whatever was not seen.
func (g *Gather) Counted() int64 { return g.Spent() + g.current() }

// Round is one round: it takes in what is seen and answers with what is to be done, by the
// first rule that applies; nothing once COMMIT was asked for or the job given up. Cost: the
// number of parts and of pilots whose ends are unseen.
func (g *Gather) Round(l Look) []Act {
	g.now, g.acts = l.At, nil
	g.see(l.Pilots)
	if g.phase != Gathering {
		return nil
	}
	running := g.running()
	if running > 0 && !g.try.open {
		g.open()
	}
	switch whole := running == len(g.parts); {
	case g.now >= g.order.Deadline && !whole: // 1
		g.abandon(ByDeadline, "")
	case g.denied() != nil:
		g.abandon(ByDenials, g.denied().words)
	case running > 0: // 2
		g.together(&l, whole)
	default:
		g.alone(&l)
	}
	g.next = g.now + roundEvery
	if g.running() > 0 {
		g.next = g.now + runningEvery
	}
	return g.acts
}

// Aborted says that the transaction that COMMIT was asked for has aborted: the pilots stay in
// the try.
func (g *Gather) Aborted(now int64) {
	if g.phase == Committing {
		g.phase, g.next = Gathering, now+runningEvery
	}
}

// Withdraw gives everything up.
func (g *Gather) Withdraw(now int64) []Act {
	g.now, g.acts = now, nil
	if g.phase == Gathering {
		g.abandon(ByWithdrawn, "")
	}
	return g.acts
}

// together is rule 2: some pilots run.
func (g *Gather) together(l *Look, whole bool) {
	short := false
	sum := g.lost()
	for i := range g.parts {
		p := g.parts[i].pilot
		if p == nil || !p.runs() {
			continue
		}
		short = short || p.begin+p.limit-g.now < g.order.Length+lengthSlack
		sum += g.order.Parts[i].Nodes * max(p.granted, g.now+ahead-p.begin)
	}
	if whole && !short && sum <= g.try.share { // a
		g.commit()
		return
	}
	more := g.lost() // b
	for i := range g.parts {
		more += g.order.Parts[i].Nodes * g.would(i)
	}
	if short || more > g.try.share {
		g.release()
		return
	}
	for i := range g.parts { // c
		switch p := g.parts[i].pilot; {
		case p == nil || p.placed:
			g.submit(l, i)
		case g.would(i) > p.granted:
			p.granted = g.would(i)
			g.act(Grant, i, p.granted, "")
		}
	}
}

// would is what a part would be granted after this round.
func (g *Gather) would(i int) int64 {
	switch p := g.parts[i].pilot; {
	case p == nil:
		return FirstGrant
	case p.runs() && p.begin+p.granted-g.now <= grantLow:
		return p.granted + MoreGrant
	default:
		return p.granted
	}
}

// alone is rules 3 to 5: no pilot runs.
func (g *Gather) alone(l *Look) {
	if g.try.open && g.lost()+g.order.need() > g.try.share {
		// Its pilots have died, and what is left of the share is not enough for new ones.
		g.tries++
		g.try = try{}
	}
	share, leads := g.share()
	if share == 0 { // 3
		if !g.unsettled() {
			g.abandon(ByWaste, "")
		}
		return
	}
	cancelled := false
	for i := range g.parts { // 4
		if p := g.parts[i].pilot; p != nil && p.waits() && p.submitted+beginWithin <= g.now && !(leads && i == g.order.Leader()) {
			g.giveUp(i, NotBegun)
			cancelled = true
		}
	}
	if cancelled {
		return
	}
	fits := true // 5: a part that waits does not start now, whatever was thought
	for i := range g.parts {
		p := g.parts[i].pilot
		fits = fits && l.Fits != nil && l.Fits[i] && (p == nil && g.may(l, i) || p != nil && p.placed)
	}
	for i := range g.parts {
		switch p := g.parts[i].pilot; {
		case p != nil && !p.placed:
		case fits || leads && i == g.order.Leader():
			g.submit(l, i)
		case p == nil && g.order.Place && g.may(l, i):
			g.add(i, true)
			g.act(Place, i, g.parts[i].pilot.limit, "")
		}
	}
}

// may reports whether a pilot of a part may be submitted at this round.
func (g *Gather) may(l *Look, i int) bool {
	return g.parts[i].lostAt < g.now && (l.Room == nil || l.Room[i] > 0)
}

// submit lets a part's pilot begin: a new one, or the one in its place.
func (g *Gather) submit(l *Look, i int) {
	if p := g.parts[i].pilot; p != nil {
		p.placed, p.submitted = false, g.now
		g.act(Begin, i, 0, "")
		return
	}
	if g.may(l, i) {
		g.add(i, false)
		g.act(Submit, i, g.parts[i].pilot.limit, "")
	}
}

func (g *Gather) add(i int, placed bool) {
	x := &g.parts[i]
	x.pilot = &pilot{part: i, number: x.pilots, limit: g.order.Limit(i), submitted: g.now, placed: placed, granted: FirstGrant, begin: unseen, end: unseen}
	x.pilots++
	g.pilots = append(g.pilots, x.pilot)
}

// release gives up all that run, and what waits, but for the leader if the next share has one.
// For that the pilots are taken to end now. Nothing relies on it: shares count grants.
func (g *Gather) release() {
	idled := g.Spent()
	for i := range g.parts {
		if p := g.parts[i].pilot; p != nil && p.runs() {
			idled += g.idled(i)
			g.giveUp(i, ByShare)
		}
	}
	_, leads := g.order.share(g.order.Allowance() - idled)
	for i := range g.parts {
		if p := g.parts[i].pilot; p != nil && !p.placed && !(leads && i == g.order.Leader()) {
			g.giveUp(i, ByShare)
		}
	}
	g.tries++
	g.try = try{}
}

// giveUp releases or cancels a part's pilot. One that keeps a place in line goes back to it.
func (g *Gather) giveUp(i int, why Why) {
	p := g.parts[i].pilot
	switch {
	case p.runs():
		g.act(Release, i, g.idled(i), why)
	case g.order.Place && why != ByDeadline && why != ByDenials && why != ByWithdrawn:
		p.placed = true
		g.act(Place, i, p.limit, why)
		return
	default:
		g.act(Cancel, i, 0, why)
	}
	p.given = true
	g.parts[i].pilot = nil
}

// abandon gives up what runs, then what waits, then the job.
func (g *Gather) abandon(why Why, words string) {
	for _, run := range []bool{true, false} {
		for i := range g.parts {
			if p := g.parts[i].pilot; p != nil && p.runs() == run {
				g.giveUp(i, why)
			}
		}
	}
	g.phase, g.why, g.try = Abandoned, why, try{}
	g.acts = append(g.acts, Act{At: g.now, Do: GiveUp, Part: None, Why: why, Words: words})
}

// commit asks for the transaction. Until it has aborted, the pilots may idle to its start.
func (g *Gather) commit() {
	g.start = g.now + ahead
	for i := range g.parts {
		p := g.parts[i].pilot
		p.granted = max(p.granted, g.start-p.begin)
	}
	g.phase = Committing
	g.acts = append(g.acts, Act{At: g.now, Do: Commit, Part: None, Value: g.start})
}

func (g *Gather) act(do Deed, i int, value int64, why Why) {
	g.acts = append(g.acts, Act{At: g.now, Do: do, Part: i, Pilot: g.parts[i].pilot.number, Value: value, Why: why})
}

// open opens a try with its share.
func (g *Gather) open() {
	share, leads := g.order.share(g.order.Allowance() - g.Spent())
	g.try = try{open: true, share: share, leads: leads, base: g.Spent()}
}

// share is that of the open try, else of the next one.
func (g *Gather) share() (share int64, leads bool) {
	if g.try.open {
		return g.try.share, g.try.leads
	}
	return g.order.share(g.order.Allowance() - g.Spent())
}

// lost is what pilots that the job no longer has count in the open try.
func (g *Gather) lost() int64 { return max(0, g.Spent()-g.try.base) }

// current is what is granted to the pilots that the job has.
func (g *Gather) current() (sum int64) {
	for i := range g.parts {
		if p := g.parts[i].pilot; p != nil {
			sum += g.order.Parts[i].Nodes * p.granted
		}
	}
	return sum
}

func (g *Gather) running() (n int) {
	for i := range g.parts {
		if p := g.parts[i].pilot; p != nil && p.runs() {
			n++
		}
	}
	return n
}

// idled is what a part's pilot has idled until now, in node-seconds.
func (g *Gather) idled(i int) int64 {
	return g.order.Parts[i].Nodes * max(0, g.now-g.parts[i].pilot.begin)
}

// denied is a part whose pilots are refused, or nil.
func (g *Gather) denied() *gathered {
	for i := range g.parts {
		if g.parts[i].denials >= mostDenials {
			return &g.parts[i]
		}
	}
	return nil
}

package broker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/story"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// siteWords is how sites speak in the stories.
var siteWords = story.Language{
	Kinds:  map[string]string{"Started": "LegStarted"},
	Orders: map[string]string{"Held": "Leg Fare Start End", "Settled": "Leg Charged", "Refused": "Leg Step Reason DecidedBy"},
	Usual:  map[string]agents.Message{"Held": agents.Held{Version: 1}},
}

// tale is a broker alone with a clock: the sites' words are the script's, but
// for offers, which every site of the story answers at once.
type tale struct {
	t      *testing.T
	cfg    Config
	b      *Broker
	now    grid.Time
	lives  uint64
	facts  []agents.Fact
	alarms []agents.Alarm
	free   map[agents.ID]int  // nodes that a site offers
	shared map[agents.ID]bool // whose nodes are time-shared
	queued map[agents.ID]bool // where jobs wait for all that is free
	skew   grid.Duration      // by which all sites' clocks are ahead
	sure   map[agents.ID]bool // who confirms again at once
	lost   agents.ID          // whose next request for offers is
	probes []uint64           // the requests that were only for a stamp
	seq    map[agents.ID]uint64
	from   map[agents.ID]uint64
	groups map[agents.ID]grid.Group // what a site offers, where that is not a node at a credit per 1000 s
	trace  strings.Builder

	taken map[agents.Row]bool

	asserts int // Reasserts to a site at once; 0: as many as always
}

// TestTransactionRows tells the story of every row of docs/TRANSACTION.md that is
// a broker's: what it is told, and all that it records, sends and books. In one of its
// stories at least the broker takes the row by its own word.
func TestTransactionRows(t *testing.T) {
	t.Parallel()
	told := story.WalkRows(t, "testdata/transaction", func(t *testing.T, taken map[agents.Row]bool) func(*testing.T, *datadriven.TestData) string {
		s := &tale{t: t, taken: taken}
		return func(_ *testing.T, d *datadriven.TestData) string {
			s.trace.Reset()
			s.command(d)
			s.remembersAll()
			return s.trace.String()
		}
	})
	for row, so := range told {
		if !so {
			t.Errorf("row %s has stories, and in none of them the broker takes it", row)
		}
	}
}

// Each row of the table has its story, and each story its row.
func TestTransactionRows_EachRowHasItsStory(t *testing.T) {
	t.Parallel()
	story.Rows(t, "../docs/TRANSACTION.md", "B", "testdata/transaction")
}

func (s *tale) command(d *datadriven.TestData) {
	a := story.Args{T: s.t, TestData: d}
	switch d.Cmd {
	case "broker":
		s.begin(d)
	case "submit":
		for line := range strings.Lines(d.Input) {
			s.step("users", agents.Submit{Job: story.Job(s.t, storyJob, line)})
		}
		s.step("", cycleDue{s.b.scheduler.next})
	case "after":
		s.after(a.Seconds("wait"))
	case "pause": // the process stands still: what is due meanwhile comes late
		s.now = s.now.Add(a.Seconds("wait"))
	case "crash":
		s.crash(d)
	case "group": // of what nodes a site offers are: "north performance=500 price=8 gpus=1"
		s.group(d)
	case "grant": // an operator grants "ana max_nodes=4", or drops "ana -max_nodes"
		user, terms := story.Line(d.Input)
		m := agents.GrantTerms{Holder: grid.Holder{User: user, Terms: grid.Grants{}}}
		for _, x := range terms {
			if name, ok := strings.CutPrefix(x.Key, "-"); ok {
				m.Drop = append(m.Drop, name)
				continue
			}
			m.Holder.Terms[x.Key] = int64(s.number(x.Value))
		}
		s.step("operator:olga", m)
	case "silent": // a site makes no offers any more
		s.free[transaction.SiteID(strings.TrimSpace(d.Input))] = -1
	case "sure": // sites confirm again whenever they are asked
		s.sure = map[agents.ID]bool{}
		for _, name := range strings.Fields(d.Input) {
			s.sure[transaction.SiteID(name)] = true
		}
	case "lose": // the next request for offers to a site is lost
		s.lost = transaction.SiteID(strings.TrimSpace(d.Input))
	case "heard": // whether any site answers
		fmt.Fprintf(&s.trace, "%v\n", !s.b.Unheard())
	case "shared": // a site's nodes are
		if s.shared == nil {
			s.shared = map[agents.ID]bool{}
		}
		s.shared[transaction.SiteID(strings.TrimSpace(d.Input))] = true
	case "queued":
		s.queued = map[agents.ID]bool{}
		for _, name := range strings.Fields(d.Input) {
			s.queued[transaction.SiteID(name)] = true
		}
	case "offer":
		for _, a := range d.CmdArgs {
			s.free[transaction.SiteID(a.Key)] = s.number(a.Vals[0])
		}
	case "skew": // all sites' clocks
		s.skew = a.Seconds("by")
	case "state": // of the legs, as their sites last said
		for _, t := range s.b.mem.Txs.All() {
			for i := range t.Legs() {
				fmt.Fprintf(&s.trace, "%v %v\n", t.LegID(i), t.Legs()[i].State())
			}
		}
		fmt.Fprintf(&s.trace, "%d early words\n", s.b.Early())
	case "user":
		s.user(d)
	case "accounts":
		s.trace.WriteString(accountWords(s.b))
	case "sites": // as operators see them
		for v := range s.b.Sites() {
			fmt.Fprintf(&s.trace, "%s used %t", v.Name, v.Member && v.Listed && v.Lost == nil)
			if v.Lost != nil {
				fmt.Fprintf(&s.trace, ", lost since %v: %v", v.Lost.Since, v.Lost.Reason)
			}
			if v.Refusal.Refused() {
				fmt.Fprintf(&s.trace, ", %s: %v", v.Answer, v.Refusal)
			}
			if v.Silent > 0 {
				fmt.Fprintf(&s.trace, ", silent for %v", v.Silent)
			}
			s.trace.WriteString("\n")
		}
	case "trust": // in sites
		for v := range s.b.Sites() {
			fmt.Fprintf(&s.trace, "%s: %d words broken", v.Name, v.Broken)
			if v.Last > 0 {
				fmt.Fprintf(&s.trace, ", comes last until %v", v.Last)
			}
			s.trace.WriteString("\n")
		}
	case "jobs":
		s.trace.WriteString(jobWords(s.b))
	case "offers": // to shift, as the jobs' users see them
		for _, j := range s.b.mem.Jobs {
			for _, o := range j.Offers() {
				fmt.Fprintf(&s.trace, "%s %d: %v of %s to [%v, %v) within [%v, %v) for %v until %v: %s%s\n", j.Name, o.N, o.Leg, o.Site,
					o.Start, o.End, o.Ready, o.Due, o.Pay, o.Expires, o.State, story.Also(", ", o.Reason))
			}
		}
	default: // a site speaks
		id := transaction.SiteID(d.Cmd)
		for line := range strings.Lines(d.Input) {
			line = strings.TrimSpace(line)
			fmt.Fprintf(&s.trace, "%v %s says %s\n", s.now, d.Cmd, line)
			s.step(id, s.parse(id, strings.Fields(line)))
		}
	}
}

// begin reads "broker sites=(north,south) nodes=4": a broker 1000 s into its
// first life, with a cycle every 1000 s and a lead of 60 s. "lost=auto": sites that
// are silent are lost, as they are by default; or after so many seconds.
func (s *tale) begin(d *datadriven.TestData) {
	s.cfg = Defaults("vo1")
	s.cfg.Minimize = grid.GoalTime // the papers' rule: of few alternatives the first is known by hand
	s.cfg.Cycle, s.cfg.Phase, s.cfg.Horizon = 1000*grid.Second, 0, 10_000*grid.Second
	s.cfg.Budget, s.cfg.Lead, s.cfg.MaxAlternatives, s.cfg.LostAfter = 100*grid.Credit, grid.Minute, 3, NeverLost
	s.free, s.seq, s.from = map[agents.ID]int{}, map[agents.ID]uint64{}, map[agents.ID]uint64{}
	for _, x := range d.CmdArgs {
		switch x.Key {
		case "sites":
			for _, name := range x.Vals {
				s.cfg.Sites = append(s.cfg.Sites, transaction.SiteID(name))
				s.free[transaction.SiteID(name)] = 4
			}
		case "lost":
			if s.cfg.LostAfter = 0; x.Vals[0] != "auto" {
				story.Value(s.t, x.String(), &s.cfg.LostAfter, x.Vals[0])
			}
		case "asserts":
			s.asserts = s.number(x.Vals[0])
		default:
			configure(s.t, &s.cfg, x)
		}
		if x.Key == "batch" {
			s.cfg.MaxCycles = 1
		}
	}
	s.start()
}

// start begins a life; its nonce is its number.
func (s *tale) start() {
	s.lives++
	s.alarms = nil
	s.b = New(s.cfg)
	if s.asserts > 0 {
		s.b.mem.Tx.BoundAsserts(s.asserts)
	}
	for _, f := range s.facts {
		s.b.Replay(0, f)
	}
	again := New(s.cfg)
	again.Replay(0, s.b.Image())
	if facts, image := accountWords(s.b), accountWords(again); facts != image {
		s.t.Errorf("life %d: by its facts the accounts are\n%sby its image\n%s", s.lives, facts, image)
	}
	s.step("", agents.Started{Nonce: s.lives})
}

// crash kills the broker and begins the next life from its facts; "forget=n": the
// last n are lost, an older journal.
func (s *tale) crash(d *datadriven.TestData) {
	n := 0
	if d.MaybeScanArgs(s.t, "forget", &n) {
		s.facts = s.facts[:len(s.facts)-n]
	}
	if d.HasArg("image") {
		s.facts = []agents.Fact{s.b.Image()}
	}
	s.start()
}

// group reads what nodes sites offer.
func (s *tale) group(d *datadriven.TestData) {
	if s.groups == nil {
		s.groups = map[agents.ID]grid.Group{}
	}
	for line := range strings.Lines(d.Input) {
		name, pairs := story.Line(line)
		g := grid.Group{Performance: grid.Unit, Price: 3_600_000}
		for _, p := range pairs {
			if err := story.Set(&g, map[string]string{"second": "Nodes"}, p.Key, p.Value); err != nil { // a group of so many nodes, beside
				s.t.Fatalf("%q: %v", line, err)
			}
			if p.Key == "price" { // of a node for 1000 s
				g.Price = g.Price * 36 / 10
			}
		}
		s.groups[transaction.SiteID(name)] = g
	}
}

// remembersAll holds what the broker would be from its facts against what it would be
// from its image: of the jobs and of all legs the same is known.
func (s *tale) remembersAll() {
	replayed, loaded := New(s.cfg), New(s.cfg)
	for _, f := range s.facts {
		replayed.Replay(0, f)
	}
	loaded.Replay(0, replayed.Image())
	facts, image := remembered(replayed), remembered(loaded)
	for i := range facts {
		if facts[i] != image[i] {
			s.t.Fatalf("by its facts it knows\n%s\nby its image\n%s", facts[i], image[i])
		}
	}
}

// remembered is what a broker knows of jobs and transactions, line by line.
func remembered(b *Broker) (lines []string) {
	for _, j := range b.mem.Jobs {
		ids := []grid.TxID{}
		for _, t := range j.Window() {
			ids = append(ids, t.ID())
		}
		lines = append(lines, fmt.Sprintf("%+v %v %v, before %+v, because %v, placed by %v", j.Whole(), j.State, j.Stub, j.Submitted(), j.Reason, ids))
	}
	for p := range b.mem.Peers.All() {
		lines = append(lines, fmt.Sprintf("%s has last sold to life %d", p.Name(), p.Dealt()))
	}
	var f facts.BrokerImage
	b.mem.Trust.Image(&f)
	lines = append(lines, fmt.Sprintf("sites are closed as in %+v, and have kept their words as in %+v", f.Barred, f.Trust))
	for _, t := range b.mem.Txs.All() {
		lines = append(lines, fmt.Sprintf("%v of %s %v is %+v", t.ID(), t.Job().Name, t.State(), story.Lasting(*t, passing...)))
		for i := range t.Legs() {
			lines = append(lines, fmt.Sprintf("leg %d is %v on record", i, t.Legs()[i].Recorded(b.mem.cfg.Explain > 0)))
		}
	}
	return lines
}

// passing are the fields of transactions and legs that are of one life only, or refer to it.
var passing = []string{"Tx.job", "Tx.state", "Tx.serial", "Tx.resolved", "Tx.sent", "Tx.until", "Tx.since", "few.asker", "few.run",
	"Leg.state", "Leg.late", "Leg.vouched", "Leg.returns"}

// after lets time pass.
func (s *tale) after(d grid.Duration) {
	until := s.now.Add(d)
	for {
		first := -1
		for i, a := range s.alarms {
			if a.At <= until && (first < 0 || a.At < s.alarms[first].At) {
				first = i
			}
		}
		if first < 0 {
			s.now = until
			return
		}
		a := s.alarms[first]
		s.alarms = slices.Delete(s.alarms, first, first+1)
		s.now = max(s.now, a.At)
		s.step("", a.Message)
	}
}

// step hands the broker a message, and answers what it asks for offers.
func (s *tale) step(from agents.ID, m agents.Message) {
	out := agents.Outbox{WantRows: true}
	s.b.Step(s.now, from, m, &out)
	for _, row := range out.Rows {
		s.taken[row] = true
	}
	s.facts = append(s.facts, out.Facts...)
	s.alarms = append(s.alarms, out.Alarms...)
	for _, f := range out.Facts {
		fmt.Fprintf(&s.trace, "%v * %s\n", s.now, traced.Say(f))
	}
	var offers []agents.Send
	for _, x := range out.Sends {
		if r, ok := x.Message.(agents.OfferRequest); ok {
			if s.b.scheduler.cycle.phase == idle && r.Cycle < transaction.ErrandRef {
				fmt.Fprintf(&s.trace, "%v -> %s: OfferRequest, does it answer?\n", s.now, short(x.To))
			}
			if r.Cycle >= transaction.ProbeRef {
				fmt.Fprintf(&s.trace, "%v -> %s: OfferRequest, for its stamp\n", s.now, short(x.To))
				s.probes = append(s.probes, r.Cycle)
			}
			if s.lost == x.To {
				s.lost = ""
				fmt.Fprintf(&s.trace, "%v -> %s: OfferRequest, which is lost\n", s.now, short(x.To))
				continue
			}
			if s.free[x.To] >= 0 {
				offers = append(offers, agents.Send{To: x.To, Message: s.offer(x.To, r)})
			}
			continue
		}
		if c, ok := x.Message.(agents.Confirm); ok && s.sure[x.To] {
			offers = append(offers, agents.Send{To: x.To, Message: agents.Confirmed{Leg: c.Leg, Stamp: s.stamp(x.To, []string{""})}})
			continue
		}
		fmt.Fprintf(&s.trace, "%v -> %s: %s\n", s.now, short(x.To), traced.Say(x.Message))
	}
	for _, x := range offers {
		s.step(x.To, x.Message)
	}
	if err := s.b.Ledger().Check(); err != nil || s.b.mem.Accounts.Left() < 0 {
		s.t.Fatalf("%v; %v credits left", err, s.b.mem.Accounts.Left())
	}
}

// offer shows what a site has free, at a credit per node and 1000 s.
func (s *tale) offer(id agents.ID, r agents.OfferRequest) agents.Message {
	p := grid.NewProfile(s.now, s.free[id])
	g := grid.Group{Site: transaction.SiteName(id), Name: "main", Nodes: 4, Performance: grid.Unit, Price: 3_600_000}
	if other, ok := s.groups[id]; ok {
		g.Performance, g.Price, g.Machine = other.Performance, other.Price, other.Machine
	}
	if s.shared[id] {
		none := grid.NewProfile(s.now, 0)
		return agents.Offers{Cycle: r.Cycle, Now: s.now, Stamp: s.stamp(id, []string{""}),
			Groups: []agents.GroupOffer{{Group: g, Admissible: none, Clear: none, Shared: true}}}
	}
	clear := p
	if s.queued[id] {
		clear = grid.NewProfile(s.now, 0)
	}
	m := agents.Offers{Cycle: r.Cycle, Now: s.now.Add(s.skew), Stamp: s.stamp(id, []string{""}),
		Groups: []agents.GroupOffer{{Group: g, Admissible: p, Clear: clear}}}
	if n := s.groups[id].Nodes; n > 0 && s.free[id] > 0 {
		g.Name, g.Nodes = "second", n
		p = grid.NewProfile(s.now, n)
		m.Groups = append(m.Groups, agents.GroupOffer{Group: g, Admissible: p, Clear: p})
	}
	return m
}

// stamp counts a site's replies; "@5/3" says epoch and sequence from now on,
// "~5/3" those of a reply that was long under way.
func (s *tale) stamp(id agents.ID, f []string) agents.Stamp {
	if last := f[len(f)-1]; strings.ContainsAny(last, "@~") {
		var st agents.Stamp
		if _, err := fmt.Sscanf(last[1:], "%d/%d", &st.Epoch, &st.Seq); err != nil {
			s.t.Fatal(err)
		}
		if last[0] == '@' {
			st.From = st.Seq // it has just begun
			s.from[id] = st.Seq
			s.seq[id] = st.Epoch<<32 | st.Seq
		}
		return st
	}
	if s.seq[id] == 0 {
		s.seq[id] = 1 << 32
	}
	s.seq[id]++
	return agents.Stamp{Epoch: s.seq[id] >> 32, Seq: s.seq[id] & (1<<32 - 1), From: s.from[id]}
}

// leg reads "1.0": leg 0 of the transaction of that sequence; "2/7.0": of life 2.
func (s *tale) leg(text string) (grid.LegID, error) {
	life, rest, found := strings.Cut(text, "/")
	if !found {
		life, rest = "", text
	}
	var id grid.LegID
	if _, err := fmt.Sscanf(rest, "%d.%d", &id.Tx.Seq, &id.Leg); err != nil {
		return id, fmt.Errorf("leg %q: %w", text, err)
	}
	if life != "" { // "2/5.0", or "2@9/5.0": of a process with another nonce
		life, nonce, other := strings.Cut(life, "@")
		if !other {
			nonce = life
		}
		id.Tx = grid.TxID{Broker: "vo1", Incarnation: uint32(s.number(life)), Nonce: uint64(s.number(nonce)), Seq: id.Tx.Seq}
		return id, nil
	}
	for _, t := range s.b.mem.Txs.All() {
		if t.ID().Seq == id.Tx.Seq {
			id.Tx = t.ID()
			return id, nil
		}
	}
	return id, fmt.Errorf("no transaction of sequence %d", id.Tx.Seq)
}

// user reads "cancel wave", "modify wave nodes=2", "joins west" or "leaves west";
// "cancel wave ben": as another user, "cancel wave from=2": from another address.
func (s *tale) user(d *datadriven.TestData) {
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		fmt.Fprintf(&s.trace, "%v %s\n", s.now, strings.TrimSpace(line))
		switch f[0] {
		case "cancel":
			m, from := agents.JobCancel{Job: f[1]}, agents.ID("users")
			if len(f) > 2 {
				if n, other := strings.CutPrefix(f[2], "from="); other {
					from = agents.ID("users#" + n)
				} else {
					m.User = f[2]
				}
			}
			s.step(from, m)
		case "modify":
			j := story.Job(s.t, storyJob, strings.Join(f[1:], " "))
			s.step("users", agents.JobModify{Job: f[1], User: j.User, Request: j.Request})
		case "accept", "reject": // "accept wave 1"
			m := agents.OfferAnswer{Job: f[1], N: s.number(f[2]), Accept: f[0] == "accept"}
			if len(f) > 3 {
				m.User = f[3]
			}
			s.step("users", m)
		case "lost": // "lost north new owner", by the operator
			s.step(s.who(d), agents.SiteLost{Site: transaction.SiteID(f[1]), Why: strings.Join(f[2:], " ")})
		case "found":
			s.step(s.who(d), agents.SiteFound{Site: transaction.SiteID(f[1])})
		case "joins":
			name := strings.Join(f[1:], " ")
			if _, known := s.free[transaction.SiteID(name)]; !known {
				s.free[transaction.SiteID(name)] = 4
			}
			s.step("discovery", agents.SiteJoined{Site: transaction.SiteID(name)})
		case "leaves":
			s.step("discovery", agents.SiteLeft{Site: transaction.SiteID(f[1])})
		default:
			s.t.Fatalf("unknown wish %q", line)
		}
	}
}

// who speaks: an operator, unless another one is named.
func (s *tale) who(d *datadriven.TestData) agents.ID {
	from := "operator:olga"
	d.MaybeScanArgs(s.t, "as", &from)
	return agents.ID(from)
}

// parse reads what a site says, such as "Held 1.0 4" or "Refused 1.0 Hold busy".
func (s *tale) parse(id agents.ID, f []string) agents.Message {
	st := s.stamp(id, f)
	if strings.ContainsAny(f[len(f)-1], "@~") {
		f = f[:len(f)-1]
	}
	money := func(i int) grid.Credits {
		if i >= len(f) {
			return 0
		}
		return s.credits(f[i])
	}
	if f[0] == "Quotes" { // what each of the legs asked for costs
		m := agents.Quotes{Ref: s.b.scheduler.cycle.quoteRef(), Stamp: st}
		if f[1] == "late" { // of the legs by themselves
			m.Ref, f = s.b.scheduler.cycle.number, f[1:]
		}
		for i, text := range f[1:] {
			if text[0] >= 'a' { // or why not
				m.Quotes = append(m.Quotes, grid.Quote{Refusal: reason(grid.Code(text), "%s", text)})
				continue
			}
			m.Quotes = append(m.Quotes, grid.Quote{Fare: grid.Fare{Base: money(i + 1)}})
		}
		return m
	}
	if f[0] == "Listing" {
		m := agents.Listing{Incarnation: s.b.mem.Lives.Current().Incarnation, Stamp: st}
		for _, text := range f[1:] {
			if life, ok := strings.CutPrefix(text, "life="); ok { // to the List of an earlier one
				m.Incarnation = uint32(s.number(life))
				continue
			}
			if text == "fenced" { // "fenced 7": by life 7
				m.Refusal = reason(grid.Fenced, "another one has spoken")
				m.Nonce, m.Latest = s.fenced(f)
				break
			}
			m.Legs = append(m.Legs, s.listed(text))
		}
		return m
	}
	if f[0] == "Offers" && len(f) > 1 && (f[1] == "drains" || f[1] == "opens") { // of no cycle
		m := agents.Offers{Now: s.now, Stamp: st}
		if f[1] == "drains" {
			m.Refusal = reason(grid.Draining, "%s takes nothing new", transaction.SiteName(id))
		}
		return m
	}
	if f[0] == "Offers" && len(f) > 1 && strings.HasPrefix(f[1], "probe=") { // "Offers probe=1": to the first one
		return agents.Offers{Cycle: s.probes[s.number(f[1][len("probe="):])-1], Now: s.now, Stamp: st}
	}
	if f[0] == "Offers" { // "Offers fenced": the last request is refused
		m := agents.Offers{Cycle: s.b.scheduler.cycle.number, Now: s.now, Stamp: st, Refusal: reason(grid.Fenced, "another one has spoken")}
		m.Nonce, m.Latest = s.fenced(f)
		return m
	}
	var proof, replaced grid.Proof // "Held 1.0 4 #7"; of a Confirmed "#9#8" with that of the leg replaced
	if last := f[len(f)-1]; strings.HasPrefix(last, "#") {
		first, second, _ := strings.Cut(last[1:], "#")
		proof, replaced = s.proof(proves[f[0]], first), s.proof(grid.Released, second)
		f = f[:len(f)-1]
	}
	language := siteWords
	language.Leg = s.leg
	m, err := language.Line(f)
	if err != nil {
		s.t.Fatal(err)
	}
	if x, ok := m.(agents.Settled); ok {
		x.End = s.now
		m = x
	}
	return story.With(story.With(story.With(m, "Stamp", st), "Proof", proof), "Replaced", replaced)
}

// proves says which state a message proves.
var proves = map[string]grid.LegState{"Held": grid.Held, "Confirmed": grid.Confirmed, "Shifted": grid.Confirmed,
	"Released": grid.Released, "Degraded": grid.Lost}

// fenced reads the end of "Offers fenced 7 to 99": the nonce of the request, that
// of this life if it does not say, and the life that has fenced it.
func (s *tale) fenced(f []string) (nonce uint64, latest uint32) {
	nonce = s.b.mem.Lives.Current().Nonce
	for i, word := range f {
		if word == "to" {
			nonce = uint64(s.number(f[i+1]))
		} else if i > 1 && f[i-1] == "fenced" {
			latest = uint32(s.number(word))
		}
	}
	return nonce, latest
}

// proof is a proof of a state, told from others by a number; none for "".
func (s *tale) proof(state grid.LegState, text string) grid.Proof {
	if text == "" {
		return grid.Proof{}
	}
	n := s.number(text)
	return grid.Proof{State: state, Epoch: 1, Seq: uint64(n), MAC: [grid.ProofMAC]byte{byte(n)}}
}

func (s *tale) number(text string) (n int) {
	story.Value(s.t, text, &n, text)
	return n
}

func (s *tale) credits(text string) (c grid.Credits) {
	story.Value(s.t, text, &c, text)
	return c
}

func (s *tale) at(text string) (at grid.Time) {
	story.Value(s.t, text, &at, text)
	return at
}

// listed reads "1.0=prepared:900:4:7": a leg, its state, the seconds left, its price
// and the number of its proof; "1.0=confirmed:0:4::160:1160" says also where it lies,
// "1.0=lost:0:4::::4:0.4" what came back and what was added. "+2:60:3060" behind that:
// its last shift and the window that it may move in.
func (s *tale) listed(text string) agents.ListedLeg {
	name, rest, _ := strings.Cut(text, "=")
	rest, moved, flexible := strings.Cut(rest, "+")
	f := strings.Split(rest, ":")
	leg, err := s.leg(name)
	if err != nil {
		s.t.Fatal(err)
	}
	l := agents.ListedLeg{Leg: leg, Job: "wave", Version: 1}
	if err := l.State.UnmarshalText([]byte(f[0])); err != nil {
		s.t.Fatal(err)
	}
	if len(f) > 1 {
		l.Left = grid.Duration(s.number(f[1])) * grid.Second
	}
	if len(f) > 2 {
		l.Fare.Base = s.credits(f[2])
	}
	if len(f) > 3 && f[3] != "" {
		l.Proof = s.proof(l.State, f[3])
		if l.State == grid.Prepared || l.State == grid.Running {
			l.Proof.State--
		}
	}
	if len(f) > 7 {
		l.Refund, l.Penalty = s.credits(f[6]), s.credits(f[7])
	}
	l.Limit, l.What = 5*grid.Credit, grid.Leg{Group: "main", Nodes: 4, Start: 60_000, End: 1_060_000}
	if own := s.b.mem.Txs.Lookup(l.Leg); own != nil && own.What().Nodes > 0 {
		l.What, l.Limit = own.What(), own.Limit()
		if own.Priced() || len(f) < 3 {
			l.Fare = own.Fare()
		}
	}
	if len(f) > 5 && f[4] != "" { // where its site has placed it
		l.What.Start, l.What.End = s.at(f[4]), s.at(f[5])
	}
	if f := strings.Split(moved, ":"); flexible {
		l.Shifts = uint32(s.number(f[0]))
		l.Flex = grid.Flex{Ready: s.at(f[1]), Due: s.at(f[2])}
	}
	return l
}

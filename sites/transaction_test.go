package sites

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/story"
	"github.com/bourse-grid/bourse/cluster/queue"
	timeshared "github.com/bourse-grid/bourse/cluster/share"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/admission"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/sla"
)

// unnamed are the rows whose deed is not the site's: it cannot know what it has forgotten, and
// the others are its cluster's.
var unnamed = map[agents.Row]bool{"S19": true, "S85": true, "S93": true}

// TestTransaction_Rows plays the stories of testdata/transaction, one for each
// row of the site's table in docs/TRANSACTION.md, and in one of them the site takes that row
// by its own word. The golden output is all that
// is said, recorded and posted. The commands are
//
//	site nodes=N price=P lead=S cap=NODE-SECONDS jobs=...   a site and its cluster
//	site sla=ORDER disclose=WHAT flexible=SHARE ...         one that makes promises
//	site shared=libra urgency=THOUSANDTHS                   one of time-shared nodes; its local jobs have deadlines
//	site key                                                one that proves its answers
//	hold LEG nodes=N start=S end=S limit=CREDITS ...        and the other messages
//	quote together                                          of the legs below it: nodes, start, end
//	reassert LEG state=STATE ... proof=STATE of=LEG         with the last proof that the site gave of that state and leg, as
//	                                                        asserted if none is said; or with none, or one that is forged;
//	                                                        heard=N: the broker has had the leg's first N proofs only
//	advance to=S                                            time passes
//	quiet-advance to=S                                      the same, leaving out the inquiries
//	stale                                                   all nodes fail after the next snapshot
//	cluster silent | lossy | deaf | answers                  what reaches it, and the site
//	lost releases=N                                         so many get lost on their way to the cluster
//	lose nodes=N for=S                                      nodes fail
//	fails KIND                                              messages of that kind are refused, for their receiver has failed over them; none: of no kind
//	forget lock=LEG                                         the cluster gives up what it keeps for a leg, unasked
//	drain, resume, close, open, maintain NAME, unmaintain NAME   an operator's messages
//	reload nodes=N price=P name=SITE times=N dry force why=WHY   other settings of site and cluster
//	odd                                                     a message of a kind that the site does not know
//	status                                                  what the operator sees
//	restart keep=FACTS | image seed=N | keyless             the site begins again from its facts, the first of them, or its image
//	site durable                                            one whose cluster has a journal too
//	copy cluster; restart past                              its journal is copied; the cluster begins again with the copy, and the site
//	granted LEG                                             the cluster's answer to a hold comes, late
//	legs; accounts; locks                                   what the site keeps, and the cluster
func TestTransaction_Rows(t *testing.T) {
	t.Parallel()
	told := story.WalkRows(t, "testdata/transaction", func(_ *testing.T, taken map[agents.Row]bool) func(*testing.T, *datadriven.TestData) string {
		var s *tale
		return func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "site" {
				s = storySite(t, d)
				return ""
			}
			s.trace = nil
			s.play(t, d)
			maps.Copy(taken, s.taken)
			if len(s.trace) == 0 {
				return ""
			}
			return strings.Join(s.trace, "\n") + "\n"
		}
	})
	for row, so := range told {
		if so == unnamed[row] {
			t.Errorf("stories of row %s: in one of them the site takes it: %t", row, so)
		}
	}
}

// play plays one command.
func (s *tale) play(t *testing.T, d *datadriven.TestData) {
	a := story.Args{T: t, TestData: d}
	switch d.Cmd {
	case "advance":
		s.advance(a.At("to"))
	case "quiet-advance": // all but how often it inquires
		s.advance(a.At("to"))
		s.trace = slices.DeleteFunc(s.trace, func(line string) bool { return strings.Contains(line, "Inquire") })
	case "stale":
		s.stale = true
	case "cluster":
		s.silent, s.lossy, s.deaf = d.HasArg("silent"), d.HasArg("lossy"), d.HasArg("deaf")
	case "lost": // on their way
		s.loses = a.Number("releases", 1)
	case "says": // the cluster, of a leg, whatever is true
		leg := storyLeg(a, d.CmdArgs[1].Key)
		said := map[string]agents.Message{"started": agents.ClusterStarted{Leg: leg}, "ended": agents.ClusterEnded{Leg: leg, End: a.At("end")},
			"confirmed": agents.ClusterDone{Leg: leg, Step: agents.ClusterConfirm{}.Kind()}, "released": agents.ClusterDone{Leg: leg, Step: agents.ClusterRelease{}.Kind()}}
		s.say(theCluster, said[d.CmdArgs[0].Key])
	case "early":
		s.note("%d early words", s.site.Early())
	case "lose":
		s.put(theCluster, "", agents.NodesLost{Group: "main", Count: a.Number("nodes", 1), For: a.Seconds("for")})
		s.settle()
	case "restart":
		if d.HasArg("keep") { // an older journal
			s.facts = s.facts[:a.Number("keep", 0)]
		}
		if d.HasArg("image") {
			s.facts = []recorded{{s.now, s.site.Image()}}
		}
		if d.HasArg("seed") { // its key is lost: another one was made
			s.cfg.Key = agents.DerivedKey(uint64(a.Number("seed", 1)), s.cfg.Name)
		}
		if d.HasArg("keyless") {
			s.cfg.Key = nil
		}
		if d.HasArg("past") {
			s.restored()
		}
		s.born()
	case "copy":
		s.disk.copied = len(s.disk.facts)
	case "granted":
		s.put(theSite, agents.ID(a.Text("from", string(theCluster))), agents.ClusterHeld{Leg: storyLeg(a, d.CmdArgs[0].Key)})
		s.settle()
	case "fails":
		s.fails = ""
		if len(d.CmdArgs) > 0 {
			s.fails = d.CmdArgs[0].Key
		}
	case "forget":
		for id := range s.locks() {
			if strings.HasPrefix(id.String(), a.Text("lock", "")) {
				s.forget(id)
			}
		}
	case "status":
		s.status()
	case "drain", "resume", "close", "open", "maintain", "unmaintain":
		from := agents.ID(a.Text("from", "operator:olga"))
		for range a.Number("times", 1) {
			s.say(from, s.message(a))
		}
	case "reload":
		s.reload(a)
	case "odd":
		s.say(agents.ID(a.Text("from", "broker:vo1")), odd{})
	case "locks":
		byName := func(a, b grid.LegID) int { return strings.Compare(a.String(), b.String()) }
		locks := s.locks()
		for _, id := range slices.SortedFunc(maps.Keys(locks), byName) {
			if gives(locks[id]) {
				s.note("  the cluster keeps nodes for %v", id)
			}
		}
	case "legs":
		for _, l := range s.site.kept {
			where := ""
			if l.Flex != (grid.Flex{}) {
				where = fmt.Sprintf(" over [%v, %v) within [%v, %v)", l.What.Start, l.What.End, l.Flex.Ready, l.Flex.Due)
			}
			s.note("  %v %v%s", l.Leg, l.State, where)
		}
	case "accounts":
		for _, x := range s.site.Ledger().Accounts() {
			s.note("  %s out %v in %v pending out %v in %v", x.Name, x.Debit, x.Credit, x.PendingDebit, x.PendingCredit)
		}
	default:
		from := agents.ID("broker:vo1")
		if d.HasArg("from") {
			from = agents.ID(a.Text("from", ""))
		}
		for range a.Number("times", 1) {
			s.say(from, s.message(a))
		}
	}
}

// proofOf is the proof that a Reassert comes with: the last that the site gave of a
// leg.
func (s *tale) proofOf(a story.Args, m *agents.Reassert) grid.Proof {
	id, state := m.Leg.Leg, m.Leg.State
	if a.HasArg("of") { // another leg's
		id = storyLeg(a, a.Text("of", ""))
	}
	switch word := a.Text("proof", ""); word {
	case "":
		if state == grid.Prepared {
			state = grid.Held
		}
	case "none":
		return grid.Proof{}
	case "forged": // by somebody who has another key
		return agents.DerivedKey(2, s.cfg.Name).Prove(&m.Leg, agents.Stamp{Epoch: 1, Seq: 1000})
	default:
		if err := state.UnmarshalText([]byte(word)); err != nil {
			a.T.Fatal(err)
		}
	}
	var last grid.Proof
	for _, p := range s.proofs[id][:a.Number("heard", len(s.proofs[id]))] {
		if p.State == state {
			last = p
		}
	}
	return last
}

// odd is a message of an unknown type.
type odd struct{}

func (odd) Kind() string { return "Odd" }

// status writes down what the site's operator sees.
func (s *tale) status() {
	x := s.site.Status(s.now, 10, 2*grid.Hour)
	if x.Drained != nil {
		s.note("  drained until %v", x.Drained.Until)
	}
	for _, c := range x.Closed {
		s.note("  closed to %q %q", c.VO, c.User)
	}
	for _, m := range x.Maintenance {
		s.note("  maintenance %s of %d nodes over [%v, %v)", m.Name, m.What.Nodes, m.What.Start, m.What.End)
	}
	for _, l := range x.Legs {
		s.note("  %v %v", l.Leg, l.State)
	}
	for _, g := range x.Groups {
		line := ""
		for _, step := range g.Admissible {
			line += fmt.Sprintf(" %d from %v", step.Free, step.At)
		}
		s.note("  %s:%s", g.Group.Name, line)
	}
	if x.Stray > 0 {
		s.note("  %d strays", x.Stray)
	}
}

// storySite reads "site nodes=4 price=36 lead=10 jobs=(7 nodes=2 run=100 at=0)".
func storySite(t *testing.T, d *datadriven.TestData) *tale {
	a := story.Args{T: t, TestData: d}
	cfg := storyConfig(a.Number("nodes", 4))
	cfg.Groups[0].Price = grid.Price(a.Credits("price", grid.Credits(cfg.Groups[0].Price)))
	cfg.Cap = int64(a.Number("cap", 0)) * 1000
	cfg.MaxWork = a.Number("work", 100)
	cfg.VOShare = a.Number("share", 1000)
	cfg.Penalty = a.Number("penalty", 100)
	cfg.MaxKept = a.Number("kept", 0)
	cfg.ScheduleOnly = d.HasArg("schedule-only")
	if d.HasArg("key") {
		cfg.Key = agents.DerivedKey(uint64(a.Number("seed", 1)), cfg.Name)
	}
	if d.HasArg("own") {
		cfg.VOShares = map[string]int{"vo1": a.Number("own", 1000)}
	}
	cfg.Pricing = pricing.Adaptive
	if d.HasArg("nolead") {
		cfg.Lead = 0
	}
	var promises *queue.PromiseOptions
	if d.HasArg("sla") {
		promises = storyPromises(a, &cfg)
	}
	var jobs []grid.LocalJob
	for line := range strings.Lines(d.Input) { // "7 nodes=2 run=100 at=0"
		var j grid.LocalJob
		var run, at int64
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "%d nodes=%d run=%d at=%d", &j.ID, &j.Nodes, &run, &at); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		j.Run, j.Submit = grid.Duration(run)*grid.Second, grid.Time(at*1000)
		j.Estimate = j.Run
		jobs = append(jobs, j)
	}
	if d.HasArg("shared") {
		return sharedStory(a, cfg, jobs)
	}
	if d.HasArg("durable") {
		return durableStory(cfg, promises)
	}
	return newStory(cfg, backfill.EASY, jobs, promises)
}

// sharedStory is a site of time-shared nodes. The deadlines of its local jobs are
// twice their estimates after they come.
func sharedStory(a story.Args, cfg Config, jobs []grid.LocalJob) *tale {
	control, err := admission.ParseControl(a.Text("shared", "libra"))
	if err != nil {
		a.T.Fatal(err)
	}
	cfg.Urgency = a.Number("urgency", 0)
	var local []timeshared.Job
	for _, j := range jobs {
		local = append(local, timeshared.Job{LocalJob: j, Deadline: j.Submit.Add(2 * j.Estimate)})
	}
	return storyOf(cfg, timeshared.New(cfg.Groups, timeshared.Options{Control: control}, func(int, grid.Time, grid.Time) func() (timeshared.Job, bool) {
		return timeshared.Jobs(local)
	}))
}

// storyPromises reads "sla=edf disclose=closed flexible=1000 deadline=5000".
func storyPromises(a story.Args, cfg *Config) *queue.PromiseOptions {
	opt := sla.Options{Shares: pricing.DefaultFlexibility, MaxPhi: 1000, Waiting: 100, Price: cfg.Groups[0].Price}
	cfg.Promises = &Promises{Schedule: opt, Shares: opt.Shares, Ask: a.Number("ask", 0)}
	cfg.Limits.MaxShare = a.Number("max-share", 1000)
	var err error
	if opt.Order, err = sla.ParseOrder(a.Text("sla", "edf")); err != nil {
		a.T.Fatal(err)
	}
	if cfg.Promises.Disclose, err = sla.ParseDisclosure(a.Text("disclose", "full")); err != nil {
		a.T.Fatal(err)
	}
	cfg.Promises.Schedule.Order = opt.Order
	return &queue.PromiseOptions{Schedule: opt, Flexible: a.Number("flexible", 0), Deadline: a.Number("deadline", 1000), Fix: a.Number("localfix", 0)}
}

// legNamed reads "vo1/2/7.0"; the nonce of a life is its incarnation.
func legNamed(s string) (id grid.LegID, err error) {
	m := legName.FindStringSubmatch(s)
	if m == nil {
		return id, fmt.Errorf("%q is no leg", s)
	}
	n := func(i int) uint64 {
		v, _ := strconv.ParseUint(m[i], 10, 32)
		return v
	}
	return grid.LegID{Tx: grid.TxID{Broker: m[1], Incarnation: uint32(n(2)), Nonce: n(2), Seq: n(3)}, Leg: int(n(4))}, nil
}

var legName = regexp.MustCompile(`^(\w+)/(\d+)/(\d+)\.(\d+)$`)

// storyLeg is the leg of that name; "nonce=9" is of another process with the same one.
func storyLeg(a story.Args, name string) grid.LegID {
	id, err := legNamed(name)
	if err != nil {
		a.T.Fatal(err)
	}
	id.Tx.Nonce = uint64(a.Number("nonce", int(id.Tx.Nonce)))
	return id
}

// message reads the message that a command stands for.
func (s *tale) message(a story.Args) agents.Message {
	if a.Cmd == "quote" {
		return quote(a)
	}
	language := spoken
	language.Leg = func(text string) (grid.LegID, error) { return storyLeg(a, text), nil }
	if a.Cmd != "list" && a.Cmd != "offers" { // the leg's
		language.Ours = append(slices.Clone(language.Ours), "nonce")
	}
	m, err := language.Command(a.Cmd, a.CmdArgs)
	if err != nil {
		a.Fatalf(a.T, "%v", err)
	}
	switch m := m.(type) {
	case agents.Hold:
		if m.Replaces != (grid.LegID{}) && m.Version == 0 {
			m.Version = 1
		}
		return m
	case agents.List:
		m.Broker = "vo1"
		m.Nonce = max(m.Nonce, uint64(m.Incarnation))
		return m
	case agents.OfferRequest:
		m.Nonce = max(m.Nonce, uint64(m.Incarnation))
		return m
	case agents.Reassert:
		m.Incarnation = max(m.Incarnation, m.Leg.Leg.Tx.Incarnation)
		m.Nonce = max(m.Nonce, uint64(m.Incarnation))
		m.Leg.Proof = s.proofOf(a, &m)
		return m
	}
	return m
}

// quote reads one leg, or several, each on a line "nodes start end".
func quote(a story.Args) agents.QuoteRequest {
	m := agents.QuoteRequest{Together: a.HasArg("together")}
	for line := range strings.Lines(a.Input) {
		var nodes int
		var start, end grid.Time
		if _, err := fmt.Sscan(line, &nodes, &start, &end); err != nil {
			a.T.Fatalf("%q: %v", line, err)
		}
		m.Legs = append(m.Legs, window(nodes, start, end))
	}
	if len(m.Legs) == 0 {
		l := oneNode
		l.Nodes, l.Start, l.End, l.Work = a.Number("nodes", 1), a.At("start"), a.At("end"), a.Seconds("work")
		m.Legs = []grid.Leg{l}
	}
	return m
}

// Every row of the document has its story, and every story its row.
func TestTransaction_EveryRowHasItsStory(t *testing.T) {
	t.Parallel()
	story.Rows(t, "../docs/TRANSACTION.md", "S", "testdata/transaction")
}

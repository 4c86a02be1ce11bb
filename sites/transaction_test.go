package sites

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/agents"
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
//	odd                                                     a message of a kind that the site does not know
//	status                                                  what the operator sees
//	restart keep=FACTS | image seed=N | keyless             the site begins again from its facts, the first of them, or its image
//	site durable                                            one whose cluster has a journal too
//	copy cluster; restart past                              its journal is copied; the cluster begins again with the copy, and the site
//	granted LEG                                             the cluster's answer to a hold comes, late
//	legs; accounts; locks                                   what the site keeps, and the cluster
func TestTransaction_Rows(t *testing.T) {
	t.Parallel()
	told, taken := map[agents.Row]bool{}, map[agents.Row]bool{}
	datadriven.Walk(t, "testdata/transaction", func(t *testing.T, path string) {
		var s *story
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
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
		})
		row, _, _ := strings.Cut(filepath.Base(path), "-")
		told[agents.Row(row)] = told[agents.Row(row)] || taken[agents.Row(row)]
		clear(taken)
	})
	for row, so := range told {
		if so == unnamed[row] {
			t.Errorf("stories of row %s: in one of them the site takes it: %t", row, so)
		}
	}
}

// play plays one command.
func (s *story) play(t *testing.T, d *datadriven.TestData) {
	a := storyArgs{t, d}
	switch d.Cmd {
	case "advance":
		s.advance(grid.Time(a.seconds("to")))
	case "quiet-advance": // all but how often it inquires
		s.advance(grid.Time(a.seconds("to")))
		s.trace = slices.DeleteFunc(s.trace, func(line string) bool { return strings.Contains(line, "Inquire") })
	case "stale":
		s.stale = true
	case "cluster":
		s.silent, s.lossy, s.deaf = d.HasArg("silent"), d.HasArg("lossy"), d.HasArg("deaf")
	case "lost": // on their way
		s.loses = a.number("releases", 1)
	case "says": // the cluster, of a leg, whatever is true
		leg := a.leg(d.CmdArgs[1].Key)
		said := map[string]agents.Message{"started": agents.ClusterStarted{Leg: leg}, "ended": agents.ClusterEnded{Leg: leg, End: grid.Time(a.seconds("end"))},
			"confirmed": agents.ClusterDone{Leg: leg, Step: agents.ClusterConfirm{}.Kind()}, "released": agents.ClusterDone{Leg: leg, Step: agents.ClusterRelease{}.Kind()}}
		s.say(theCluster, said[d.CmdArgs[0].Key])
	case "early":
		s.note("%d early words", s.site.Early())
	case "lose":
		s.put(theCluster, "", agents.NodesLost{Group: "main", Count: a.number("nodes", 1), For: a.seconds("for")})
		s.settle()
	case "restart":
		if d.HasArg("keep") { // an older journal
			s.facts = s.facts[:a.number("keep", 0)]
		}
		if d.HasArg("image") {
			s.facts = []recorded{{s.now, s.site.Image()}}
		}
		if d.HasArg("seed") { // its key is lost: another one was made
			s.cfg.Key = agents.DerivedKey(uint64(a.number("seed", 1)), s.cfg.Name)
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
		s.put(theSite, agents.ID(a.text("from", string(theCluster))), agents.ClusterHeld{Leg: a.leg(d.CmdArgs[0].Key)})
		s.settle()
	case "fails":
		s.fails = ""
		if len(d.CmdArgs) > 0 {
			s.fails = d.CmdArgs[0].Key
		}
	case "forget":
		for id := range s.locks() {
			if strings.HasPrefix(id.String(), a.text("lock", "")) {
				s.forget(id)
			}
		}
	case "status":
		s.status()
	case "drain", "resume", "close", "open", "maintain", "unmaintain":
		from := agents.ID(a.text("from", "operator:olga"))
		for range a.number("times", 1) {
			s.say(from, a.wish())
		}
	case "odd":
		s.say(agents.ID(a.text("from", "broker:vo1")), odd{})
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
			from = agents.ID(a.text("from", ""))
		}
		for range a.number("times", 1) {
			m := a.message()
			if x, ok := m.(agents.Reassert); ok {
				x.Leg.Proof = s.proofOf(a, &x)
				m = x
			}
			s.say(from, m)
		}
	}
}

// proofOf is the proof that a Reassert comes with: the last that the site gave of a
// leg.
func (s *story) proofOf(a storyArgs, m *agents.Reassert) grid.Proof {
	id, state := m.Leg.Leg, m.Leg.State
	if a.d.HasArg("of") { // another leg's
		id = a.leg(a.text("of", ""))
	}
	switch word := a.text("proof", ""); word {
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
			a.t.Fatal(err)
		}
	}
	var last grid.Proof
	for _, p := range s.proofs[id][:a.number("heard", len(s.proofs[id]))] {
		if p.State == state {
			last = p
		}
	}
	return last
}

// odd is a message of an unknown type.
type odd struct{}

func (odd) Kind() string { return "Odd" }

// wish reads an operator's message.
func (a storyArgs) wish() agents.Message {
	switch a.d.Cmd {
	case "drain":
		return agents.Drain{Until: grid.Time(a.seconds("until")), Why: a.text("why", "")}
	case "resume":
		return agents.Resume{}
	case "close":
		return agents.Close{VO: a.text("vo", ""), User: a.text("user", ""), Why: a.text("why", "")}
	case "open":
		return agents.Open{VO: a.text("vo", ""), User: a.text("user", "")}
	case "maintain":
		w := a.what()
		return agents.Maintenance{Name: a.d.CmdArgs[0].Key, Group: w.Group, Nodes: a.number("nodes", 0), Start: w.Start, End: w.End,
			Force: a.d.HasArg("force"), Why: a.text("why", "")}
	}
	return agents.MaintenanceCancel{Name: a.d.CmdArgs[0].Key}
}

// status writes down what the site's operator sees.
func (s *story) status() {
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
func storySite(t *testing.T, d *datadriven.TestData) *story {
	a := storyArgs{t, d}
	cfg := storyConfig(a.number("nodes", 4))
	cfg.Groups[0].Price = grid.Price(a.credits("price", cfg.Groups[0].Price.String()))
	cfg.Cap = int64(a.number("cap", 0)) * 1000
	cfg.MaxWork = a.number("work", 100)
	cfg.VOShare = a.number("share", 1000)
	cfg.Penalty = a.number("penalty", 100)
	cfg.MaxKept = a.number("kept", 0)
	cfg.ScheduleOnly = d.HasArg("schedule-only")
	if d.HasArg("key") {
		cfg.Key = agents.DerivedKey(uint64(a.number("seed", 1)), cfg.Name)
	}
	if d.HasArg("own") {
		cfg.VOShares = map[string]int{"vo1": a.number("own", 1000)}
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
func sharedStory(a storyArgs, cfg Config, jobs []grid.LocalJob) *story {
	control, err := admission.ParseControl(a.text("shared", "libra"))
	if err != nil {
		a.t.Fatal(err)
	}
	cfg.Urgency = a.number("urgency", 0)
	var local []timeshared.Job
	for _, j := range jobs {
		local = append(local, timeshared.Job{LocalJob: j, Deadline: j.Submit.Add(2 * j.Estimate)})
	}
	return storyOf(cfg, timeshared.New(cfg.Groups, timeshared.Options{Control: control}, func(int, grid.Time, grid.Time) func() (timeshared.Job, bool) {
		return timeshared.Jobs(local)
	}))
}

// storyPromises reads "sla=edf disclose=closed flexible=1000 deadline=5000".
func storyPromises(a storyArgs, cfg *Config) *queue.PromiseOptions {
	opt := sla.Options{Shares: pricing.DefaultFlexibility, MaxPhi: 1000, Waiting: 100, Price: cfg.Groups[0].Price}
	cfg.Promises = &Promises{Schedule: opt, Shares: opt.Shares, Ask: a.number("ask", 0)}
	cfg.Limits.MaxShare = a.number("max-share", 1000)
	var err error
	if opt.Order, err = sla.ParseOrder(a.text("sla", "edf")); err != nil {
		a.t.Fatal(err)
	}
	if cfg.Promises.Disclose, err = sla.ParseDisclosure(a.text("disclose", "full")); err != nil {
		a.t.Fatal(err)
	}
	cfg.Promises.Schedule.Order = opt.Order
	return &queue.PromiseOptions{Schedule: opt, Flexible: a.number("flexible", 0), Deadline: a.number("deadline", 1000), Fix: a.number("localfix", 0)}
}

// storyArgs reads the arguments of a command.
type storyArgs struct {
	t *testing.T
	d *datadriven.TestData
}

func (a storyArgs) text(key, otherwise string) string {
	a.d.MaybeScanArgs(a.t, key, &otherwise)
	return otherwise
}

func (a storyArgs) number(key string, otherwise int) int {
	a.d.MaybeScanArgs(a.t, key, &otherwise)
	return otherwise
}

func (a storyArgs) seconds(key string) grid.Duration {
	v, err := grid.ParseDuration(a.text(key, "0"))
	if err != nil {
		a.t.Fatalf("%s: %v", key, err)
	}
	return v
}

func (a storyArgs) credits(key, otherwise string) grid.Credits {
	text, below := strings.CutPrefix(a.text(key, otherwise), "-")
	v, err := grid.ParseCredits(text)
	if err != nil {
		a.t.Fatalf("%s: %v", key, err)
	}
	if below {
		return -v
	}
	return v
}

// leg reads "vo1/2/7.0"; the nonce of a life is its incarnation, or what is said.
func (a storyArgs) leg(s string) grid.LegID {
	m := legName.FindStringSubmatch(s)
	if m == nil {
		a.t.Fatalf("%q is no leg", s)
	}
	n := func(i int) uint64 {
		v, _ := strconv.ParseUint(m[i], 10, 32)
		return v
	}
	id := grid.LegID{Tx: grid.TxID{Broker: m[1], Incarnation: uint32(n(2)), Nonce: n(2), Seq: n(3)}, Leg: int(n(4))}
	if a.d.HasArg("nonce") {
		id.Tx.Nonce = uint64(a.number("nonce", 0))
	}
	return id
}

var legName = regexp.MustCompile(`^(\w+)/(\d+)/(\d+)\.(\d+)$`)

func (a storyArgs) what() grid.Leg {
	return grid.Leg{Group: a.text("group", "main"), Nodes: a.number("nodes", 1),
		Start: grid.Time(a.seconds("start")), End: grid.Time(a.seconds("end")), Work: a.seconds("work")}
}

// quote reads one leg, or several, each on a line "nodes start end".
func (a storyArgs) quote() agents.QuoteRequest {
	m := agents.QuoteRequest{Together: a.d.HasArg("together")}
	for line := range strings.Lines(a.d.Input) {
		var nodes int
		var start, end grid.Time
		if _, err := fmt.Sscan(line, &nodes, &start, &end); err != nil {
			a.t.Fatalf("%q: %v", line, err)
		}
		m.Legs = append(m.Legs, window(nodes, start, end))
	}
	if len(m.Legs) == 0 {
		m.Legs = []grid.Leg{a.what()}
	}
	return m
}

// message reads the message of a broker that a command stands for.
func (a storyArgs) message() agents.Message {
	if a.d.Cmd == "list" {
		m := agents.List{Broker: "vo1", Incarnation: uint32(a.number("inc", 1))}
		m.Nonce = uint64(a.number("nonce", int(m.Incarnation)))
		if a.d.HasArg("known") {
			m.Known = append(m.Known, a.leg(a.text("known", "")))
		}
		return m
	}
	if a.d.Cmd == "quote" {
		return a.quote()
	}
	if a.d.Cmd == "offers" {
		m := agents.OfferRequest{Horizon: grid.Time(a.seconds("horizon")), Incarnation: uint32(a.number("inc", 0))}
		m.Nonce = uint64(a.number("nonce", int(m.Incarnation)))
		return m
	}
	id := a.leg(a.d.CmdArgs[0].Key)
	by := uint32(a.number("by", int(id.Tx.Incarnation)))
	switch a.d.Cmd {
	case "hold":
		m := agents.Hold{Leg: id, What: a.what(), Job: a.text("job", "job"), User: a.text("user", ""), Limit: a.credits("limit", "1000"),
			For: 30 * grid.Second, Run: a.seconds("run")}
		if a.d.HasArg("for") {
			m.For = a.seconds("for")
		}
		if a.d.HasArg("due") {
			m.Flex = grid.Flex{Ready: grid.Time(a.seconds("ready")), Due: grid.Time(a.seconds("due")), Fix: a.number("fix", 0)}
		}
		m.Flex.Phi = a.number("phi", 0)
		if a.d.HasArg("replaces") {
			m.Replaces, m.Version = a.leg(a.text("replaces", "")), uint32(a.number("version", 1))
			m.Offer = uint32(a.number("offer", 0))
		}
		return m
	case "decline":
		return agents.ShiftDeclined{Leg: id, Number: uint32(a.number("number", 1)), Version: uint32(a.number("version", 1))}
	case "prepare":
		return agents.Prepare{Leg: id, For: max(a.seconds("for"), 15*grid.Minute)}
	case "confirm":
		return agents.Confirm{Leg: id, DecidedBy: by}
	case "cancel":
		return agents.Cancel{Leg: id, DecidedBy: by}
	case "release":
		return agents.Release{Leg: id, DecidedBy: by, Full: a.d.HasArg("full")}
	case "noted":
		return agents.Noted{Leg: id, Step: a.text("step", ""), Shifts: uint32(a.number("shift", 0)), Incarnation: uint32(a.number("by", 0))}
	case "answer":
		v := map[string]agents.Verdict{"wait": agents.Wait, "commit": agents.Commit, "abort": agents.Abort, "unknown": agents.Unknown}
		return agents.Answer{Leg: id, DecidedBy: by, Verdict: v[a.text("verdict", "")]}
	case "reassert":
		var state grid.LegState
		if err := state.UnmarshalText([]byte(a.text("state", ""))); err != nil {
			a.t.Fatal(err)
		}
		inc := uint32(a.number("inc", int(id.Tx.Incarnation)))
		m := agents.Reassert{Incarnation: inc, Nonce: uint64(a.number("twin", int(inc))), Leg: agents.ListedLeg{Leg: id, What: a.what(), Job: "job",
			State: state, Fare: grid.Fare{Base: a.credits("fare", "0")}, Left: a.seconds("left"), Refund: a.credits("refund", "0"),
			Penalty: a.credits("penalty", "0"), Version: uint32(a.number("version", 1))}}
		if a.d.HasArg("due") {
			m.Leg.Flex = grid.Flex{Ready: grid.Time(a.seconds("ready")), Due: grid.Time(a.seconds("due"))}
		}
		m.Leg.Shifts = uint32(a.number("shifts", 0))
		return m
	}
	a.d.Fatalf(a.t, "unknown command %q", a.d.Cmd)
	return nil
}

// Every row of the document has its story, and every story its row.
func TestTransaction_EveryRowHasItsStory(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/TRANSACTION.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| (S\d+) \|`).FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = true
	}
	if len(rows) < 40 {
		t.Fatalf("the document has only %d rows", len(rows))
	}
	files, err := filepath.Glob("testdata/transaction/S*.txt")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, f := range files {
		row, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(f), ".txt"), "-")
		if !rows[row] {
			t.Errorf("%s: the document has no row %s", f, row)
		}
		told[row] = true
	}
	for row := range rows {
		if !told[row] {
			t.Errorf("row %s has no story", row)
		}
	}
}

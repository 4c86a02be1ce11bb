package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"

	"bourse"
	"bourse/policy/backfill"
)

// Scenario is a world to simulate: sites with jobs of their own, and brokers.
type Scenario struct {
	Name    string          // default "scenario"
	Until   bourse.Duration // the simulated span, above 0
	Sites   []Site          // at least one, in order of the file
	Brokers []Broker        // in order of the file
	Dir     string          // the folder that relative file names start from; "" for the working directory
}

// Site is one cluster of a scenario.
type Site struct {
	Name       string
	Policy     backfill.Policy // default EASY
	SLA        *SLA            // policy = "sla-*": promises in place of a queue; nil: none
	Shared     *Shared         // policy = "libra", "edf" and such: deadlines in place of a queue; nil: none
	Pricing    string          // "fixed" or "adaptive", the default
	Overrun    string          // a local job at its estimate: "kill" (default) or "extend"
	Groups     []bourse.Group  // at least one, in order of the file
	Queues     []Queue         // the unnamed one first, then in order of the file
	Limits     Limits
	VOShare    Thousandths     // most of the node-seconds that VOs may hold over the horizon, 0..1; default 1
	VOShares   []VOShare       // the same for single VOs, in order of name; others have no limit of their own
	Hold       bourse.Duration // how long a hold stands, from 1 s; default 30 s
	InDoubt    bourse.Duration // how long a prepared leg waits for the decision, not below Hold; default 15 min
	QueueLimit int             // local jobs that may wait, 1..10,000,000; more are turned away and counted; default 100,000
	Workload   *Workload       // nil: no local jobs

	// Cap is how many node-seconds one broker may hold unconfirmed at the site,
	// 1..10^12; 0, where the key is left out: no cap. A lone hold is always allowed.
	Cap int
	// Penalty is the share of its price that the site adds to the refund of a
	// confirmed leg it loses, 0..10; default 0, and 1 where it makes promises.
	Penalty Thousandths
	// RefundFullUntil is the share of the time from a leg's hold to its start
	// until which its base price is refunded in full to a user who gives it up,
	// 0..1; default 0.5. From then on the refund falls evenly, to nothing at the
	// start. At 1 all is refunded until the start, at 0 it falls from the hold on.
	RefundFullUntil Thousandths
	// RefundScheduleOnly has that schedule hold also where a broker says that a
	// window has broken elsewhere, and asks for all of its price; default false.
	RefundScheduleOnly bool

	// Joins and Leaves say when brokers learn that the site is there, and that it
	// is no more: spans from the scenario's zero, 0 <= Joins < Leaves <= Until. By
	// default it is there from the start to the end. Its own jobs run all the while,
	// and what is confirmed there when it leaves runs on.
	Joins, Leaves bourse.Duration
}

// VOShare is the most of a site's node-seconds that one VO may hold, 0..1.
type VOShare struct {
	VO    string // the name of its broker
	Share Thousandths
}

// ReadScenario reads a scenario and the batch files that its brokers name. An
// error that is not of the file system is a *Problems. Traces are not opened.
func ReadScenario(file string) (*Scenario, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	s, err := ParseScenario(file, text)
	if err != nil {
		return nil, err
	}
	s.Dir = filepath.Dir(file)
	for i := range s.Brokers {
		if err := s.Brokers[i].loadBatch(s.Dir, s.Until); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// loadBatch reads the jobs of the batch that a broker names.
func (b *Broker) loadBatch(dir string, until bourse.Duration) error {
	if b.Batch == "" {
		return nil
	}
	file := within(dir, b.Batch)
	text, err := readFile(file)
	if err != nil {
		return fmt.Errorf("batch of broker %q: %w", b.Name, err)
	}
	batch, err := parseBatch(file, text, true, until)
	if err != nil {
		return err
	}
	b.Jobs = batch.Jobs
	return nil
}

// within resolves a file name against a folder.
func within(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// ParseScenario is ReadScenario of a text, without the batch files; file is
// the name that its errors give.
func ParseScenario(file string, text []byte) (*Scenario, error) {
	t, err := open(file, text)
	if err != nil {
		return nil, err
	}
	t.in = inScenario
	t.need("until", `"30d"`)
	s := &Scenario{
		Name:  t.title("name", "scenario"),
		Until: t.span("until", bourse.Day, bourse.Second),
	}
	sites := t.tables("site")
	if len(sites) == 0 && t.clean("site") {
		t.wrong("site", "missing; a scenario has at least one [[site]]")
	}
	names := map[string]int{}
	for _, site := range sites {
		s.Sites = append(s.Sites, site.site(s.Until, names))
	}
	names = map[string]int{}
	for _, b := range t.tables("broker") {
		var one Broker
		b.fill(one.keys(s.Until, 0, names))
		s.Brokers = append(s.Brokers, one)
	}
	return finish(t, s)
}

// site reads one [[site]].
func (t *table) site(until bourse.Duration, names map[string]int) Site {
	s := t.siteKeys(names)
	s.Joins, s.Leaves = t.stay(until)
	if w := t.table("workload"); w != nil {
		s.Workload = &Workload{}
		w.fill(s.Workload.keys(&s, until))
	}
	t.done()
	return s
}

// siteKeys reads the keys that a site of a scenario and one of a process share.
func (t *table) siteKeys(names map[string]int) Site {
	s := Site{
		Name:       t.name("name", "north", names),
		Pricing:    t.oneOf("pricing", "adaptive", []string{"fixed", "adaptive"}, nil),
		Overrun:    t.oneOf("overrun", "kill", []string{"kill", "extend"}, nil),
		Queues:     t.queues(),
		Limits:     t.limits(),
		VOShare:    t.share("vo_share", One, 0, One),
		Hold:       t.span("hold", 30*bourse.Second, bourse.Second),
		InDoubt:    t.span("in_doubt", 15*bourse.Minute, bourse.Second),
		QueueLimit: t.whole("queue_limit", 100_000, 1, 10_000_000),
		Cap:        t.whole("cap", 0, 1, 1_000_000_000_000),
		Penalty:    t.share("penalty", 0, 0, 10*One),

		RefundFullUntil:    t.share("refund_full_until", One/2, 0, One),
		RefundScheduleOnly: t.flag("refund_schedule_only"),
		VOShares:           t.voShares(),
	}
	s.SLA, s.Shared = t.promises(), t.shared()
	switch {
	case s.Shared != nil:
		s.Policy = backfill.EASY
	case s.SLA == nil:
		s.Policy = t.policy("policy", "easy")
	default:
		s.Policy = backfill.EASY
		if !t.has("penalty") {
			s.Penalty = Thousandths(s.SLA.Shares.Penalty)
		}
		s.SLA.Shares.Penalty = int(s.Penalty)
	}
	s.Groups = t.groups(s.Name)
	if t.clean("hold") && t.clean("in_doubt") && s.InDoubt < s.Hold {
		t.wrong("in_doubt", "%s is shorter than hold, %s", s.InDoubt.Words(), s.Hold.Words())
	}
	t.later("time_shared", "refund", "fix")
	return s
}

// voShares reads [vo_shares], shares by the names of brokers.
func (t *table) voShares() []VOShare {
	v := t.table("vo_shares")
	if v == nil {
		return nil
	}
	out := make([]VOShare, 0, len(v.keys))
	for _, vo := range slices.Sorted(maps.Keys(v.keys)) {
		out = append(out, VOShare{VO: vo, Share: v.share(vo, One, 0, One)})
	}
	return out
}

// stay reads when a site joins and when it leaves.
func (t *table) stay(until bourse.Duration) (joins, leaves bourse.Duration) {
	joins, leaves = t.span("joins", 0, 0), t.span("leaves", until, 0)
	switch {
	case !t.clean("joins") || !t.clean("leaves"):
	case joins >= until:
		t.wrong("joins", "%s is not before the end of the scenario, %s", joins.Words(), until.Words())
	case leaves > until:
		t.wrong("leaves", "%s is after the end of the scenario, %s; leave the key out for a site that stays", leaves.Words(), until.Words())
	case leaves <= joins:
		t.wrong("leaves", "%s is not after joins, %s", leaves.Words(), joins.Words())
	}
	return joins, leaves
}

// Nodes returns the nodes of all groups.
func (s *Site) Nodes() int {
	n := 0
	for _, g := range s.Groups {
		n += g.Nodes
	}
	return n
}

// MeanPrice returns the mean over the sites of what a node costs there on
// average, rounded half up: what the prices of VOWorkload are multiples of.
func (s *Scenario) MeanPrice() bourse.Price {
	sum := new(big.Rat)
	for i := range s.Sites {
		site := new(big.Int)
		for _, g := range s.Sites[i].Groups {
			site.Add(site, new(big.Int).Mul(big.NewInt(int64(g.Nodes)), big.NewInt(int64(g.Price))))
		}
		sum.Add(sum, new(big.Rat).SetFrac(site, big.NewInt(int64(s.Sites[i].Nodes()))))
	}
	sum.Quo(sum, new(big.Rat).SetInt64(int64(len(s.Sites))))
	sum.Add(sum, big.NewRat(1, 2))
	return bourse.Price(new(big.Int).Quo(sum.Num(), sum.Denom()).Int64())
}

// ResolveTraces makes every relative trace a file of dir, or where dir is ""
// of the scenario's own folder. A trace that is not there is an error that
// names the remedy; the traces are not read. Call it once.
func (s *Scenario) ResolveTraces(dir string) error {
	if dir == "" {
		dir = s.Dir
	}
	resolve := func(owner string, trace *string) error {
		if *trace == "" {
			return nil
		}
		*trace = within(dir, *trace)
		info, err := os.Stat(*trace)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s: there is no trace %s; name the folder of the traces with --traces DIR", owner, *trace)
		case err != nil:
			return fmt.Errorf("%s: %w", owner, err)
		case info.IsDir():
			return fmt.Errorf("%s: trace %s is a folder; a file is wanted", owner, *trace)
		}
		return nil
	}
	var all []error
	for i := range s.Sites {
		if w := s.Sites[i].Workload; w != nil {
			all = append(all, resolve(fmt.Sprintf("site %q", s.Sites[i].Name), &w.Trace))
		}
	}
	for i := range s.Brokers {
		if w := s.Brokers[i].Workload; w != nil {
			all = append(all, resolve(fmt.Sprintf("broker %q", s.Brokers[i].Name), &w.Trace))
		}
	}
	return errors.Join(all...)
}

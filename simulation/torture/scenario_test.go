package torture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/sites"

	"github.com/cockroachdb/datadriven"
)

// A scenario for every kind of fault of the domain: sites of 4 nodes each at a
// credit per node-hour, and brokers that plan every minute at ten seconds past. The
// file says what goes wrong, and the trace of messages is its golden output, without
// alarms and most of what sites say to their own clusters. All invariants are on,
// and times are in seconds from 3600 on. The commands:
//
//	world seed=N sites=N brokers=N   whose input is jobs and faults, one a line; a job reads
//	                                 job NAME broker=vo1 submit=SECONDS nodes=N length=SECONDS
//	run until=SECONDS                the trace up to then
//	state                            what has become of the jobs, and of the money
func TestFaults_Scenarios(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, filepath.Join("testdata", "faults"), func(t *testing.T, path string) {
		t.Parallel()
		var s *tiny
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "world":
				s = newTiny(t, d)
				return ""
			case "run":
				var until string
				d.ScanArgs(t, "until", &until)
				at, err := grid.ParseTime(until)
				if err == nil {
					s.trace.Reset()
					err = s.Run(at)
				}
				if err != nil {
					d.Fatalf(t, "%v\n%s", err, s.trace.String())
				}
				return s.trace.String()
			case "state":
				return s.state()
			}
			t.Fatalf("%s: no command %s", d.Pos, d.Cmd)
			return ""
		})
	})
}

// Every kind of fault has a scenario named after it, here or beside the world; those of
// resource managers and of replicas, what is aimed at a moment, what operators wish, and what few worlds
// have, have tests of their own.
func TestFaults_EveryKindHasAScenario(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		if ofManager(k) || ofReplicas(k) || k == CrashAimed || k == LegAimed || k == OperatorWish || k == Discovery || ofFewWorlds(k) {
			continue
		}
		here := slices.ContainsFunc([]string{"testdata", "../../agents/sim/testdata"}, func(dir string) bool {
			_, err := os.Stat(filepath.Join(dir, "faults", string(k)+".txt"))
			return err == nil
		})
		if !here {
			t.Errorf("no scenario is named %s.txt", k)
		}
	}
}

// tiny is a world of a scenario.
type tiny struct {
	*world
	trace strings.Builder
}

func newTiny(t *testing.T, d *datadriven.TestData) *tiny {
	t.Helper()
	var seed uint64
	var hosts, brokers int
	d.ScanArgs(t, "seed", &seed)
	d.ScanArgs(t, "sites", &hosts)
	d.ScanArgs(t, "brokers", &brokers)
	s := &tiny{world: &world{seed: seed, cluster: map[agents.ID]*cluster.Agent{}, users: map[agents.ID]*users{}}}
	for _, name := range siteNames[:hosts] {
		s.sites = append(s.sites, tinySite(name))
	}
	for _, name := range brokerNames[:brokers] {
		s.brokers = append(s.brokers, s.vo(name))
	}
	var faults []sim.Fault
	for line := range strings.Lines(d.Input) {
		if rest, ok := strings.CutPrefix(line, "job "); ok {
			s.job(t, rest)
			continue
		}
		f, err := sim.ParseFault(line)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		faults = append(faults, f)
	}
	s.Faulty = sim.NewFaulty(sim.Options{Seed: seed, Start: start, Faults: faults, Lo: 10, Hi: 40,
		Strike: s.strike, Tamper: s.tamper, Trace: s.tell, Describe: brief})
	for i := range s.sites {
		s.addSite(&s.sites[i])
	}
	for i := range s.brokers {
		s.addBroker(&s.brokers[i])
	}
	newChecker(s.world)
	return s
}

func tinySite(name string) site {
	g := grid.Group{Site: name, Name: "main", Nodes: 4, Performance: 1000, Price: 1_000_000}
	return site{local: make([][]grid.LocalJob, 1), config: sites.Config{
		Name: name, Cluster: clusterID(name), Groups: []grid.Group{g}, Pricing: pricing.Fixed, VOShare: 1000, Span: 3 * grid.Hour,
		Hold: holdLimit, InDoubt: inDoubtLimit, MaxWork: 1000, Lead: leadTime, Penalty: 100}}
}

func (s *tiny) vo(name string) vo {
	c := broker.Defaults(name)
	c.Minimize = grid.GoalTime
	for i := range s.sites {
		c.Sites = append(c.Sites, siteID(s.sites[i].config.Name))
	}
	c.Budget, c.Cycle, c.Phase = 100*grid.Credit, grid.Minute, 10*grid.Second
	c.Horizon, c.Lead, c.OfferWait = 2*grid.Hour, leadTime, 4*grid.Second
	c.Hold, c.InDoubt = holdLimit, inDoubtLimit
	return vo{config: c}
}

// job reads a job; it may cost twice what it does at the base price.
func (s *tiny) job(t *testing.T, line string) {
	t.Helper()
	j := grid.Job{User: "ana"}
	var name string
	var submit, seconds int64
	line = strings.ReplaceAll(strings.TrimSpace(line), "=", " = ")
	if _, err := fmt.Sscanf(line, "%s broker = %s submit = %d nodes = %d length = %d", &j.Name, &name, &submit, &j.Nodes, &seconds); err != nil {
		t.Fatalf("job %s: %v", line, err)
	}
	j.Length, j.MinPerformance, j.MaxPrice = grid.Duration(seconds)*grid.Second, 1000, 2_000_000
	j.Submit = grid.Time(submit * int64(grid.Second))
	j.Deadline = j.Submit.Add(2 * grid.Hour)
	for i := range s.brokers {
		if s.brokers[i].config.Name == name {
			s.brokers[i].jobs = append(s.brokers[i].jobs, j)
			return
		}
	}
	t.Fatalf("job %s: no broker %s", line, name)
}

// tell takes a line of the trace, but for alarms and for what sites and their
// clusters say to each other every time.
func (s *tiny) tell(line string) {
	words := strings.Fields(line)
	from, to, message := strings.Cut(words[1], ">")
	own := from == to || strings.HasPrefix(from, "cluster:") || strings.HasPrefix(to, "cluster:")
	if message && own && words[2] != "NodesLost" && words[2] != "ClusterLost" {
		return
	}
	fmt.Fprintln(&s.trace, line)
}

// brief shows what a message says in a few words.
func brief(m agents.Message) string {
	says := func(format string, args ...any) string {
		return m.Kind() + " " + fmt.Sprintf(format, args...)
	}
	switch m := m.(type) {
	case agents.Submit:
		return says("%s, %d nodes for %v", m.Job.Name, m.Job.Nodes, m.Job.Length)
	case agents.SubmitReply:
		return says("%s", verdict(m.Job, m.Reason))
	case agents.OfferRequest:
		return says("until %v", m.Horizon)
	case agents.Offers:
		if len(m.Groups) == 0 {
			return says("of nothing, as of %v", m.Now)
		}
		g := m.Groups[0]
		return says("as of %v, %d nodes at %v:%s", m.Now, g.Group.Nodes, g.Group.Price, free(g.Admissible))
	case agents.Hold:
		return says("%v, %d nodes from %v for at most %v", m.Leg, m.What.Nodes, m.What.Start, m.Limit)
	case agents.Held:
		return says("%v for %v", m.Leg, m.Fare.Total())
	case agents.Refused:
		return says("%s %v: %v", m.Step, m.Leg, m.Reason)
	case agents.Prepare:
		return says("%v", m.Leg)
	case agents.Prepared:
		return says("%v", m.Leg)
	case agents.Confirm:
		return says("%v", m.Leg)
	case agents.Confirmed:
		return says("%v", m.Leg)
	case agents.Cancel:
		return says("%v", m.Leg)
	case agents.Cancelled:
		return says("%v", m.Leg)
	case agents.LegStarted:
		return says("%v", m.Leg)
	case agents.Release:
		return says("%v", m.Leg)
	case agents.Released:
		return says("%v, %v back", m.Leg, m.Refund)
	case agents.Degraded:
		return says("%v, %v back and %v added", m.Leg, m.Refund, m.Penalty)
	case agents.Reassert:
		return says("%v was %v: %d nodes at %v", m.Leg.Leg, m.Leg.State, m.Leg.What.Nodes, m.Leg.Fare.Total())
	case agents.Reasserted:
		return says("%s", verdict(m.Leg.String(), m.Reason))
	case agents.JobReply:
		return says("%s, %v back", verdict(m.Job, m.Reason), m.Refund)
	case agents.Settled:
		return says("%v", m.Leg)
	case agents.Noted:
		return says("%s %v", m.Step, m.Leg)
	}
	return says("%+v", m)
}

// verdict says what a broker answers to a user.
func verdict(job string, r grid.Reason) string {
	if r.Refused() {
		return fmt.Sprintf("%s refused: %v", job, r)
	}
	return job + " granted"
}

// free shows how many nodes are free from which instants on.
func free(p grid.Profile) string {
	var b strings.Builder
	for _, step := range p {
		fmt.Fprintf(&b, " %d from %v", step.Free, step.At)
	}
	return b.String()
}

// state tells of the jobs and the accounts of the brokers that live.
func (s *tiny) state() string {
	var b strings.Builder
	for i := range s.brokers {
		v, _ := s.Agent(brokerID(s.brokers[i].config.Name)).(*broker.Broker)
		if v == nil {
			continue
		}
		for j := range v.Jobs() {
			fmt.Fprintf(&b, "%s of %s: %v", j.Name, v.Name(), j.State)
			if j.Reason.Refused() {
				fmt.Fprintf(&b, ", %v", j.Reason)
			}
			if j.Last != nil {
				for _, l := range j.Last.Legs {
					fmt.Fprintf(&b, "; %d nodes of %s from %v: %v at %v", l.Nodes, l.Site, l.Start, l.State, l.Fare.Total())
				}
			}
			fmt.Fprintln(&b)
		}
		a := v.Ledger().Account(v.Account())
		fmt.Fprintf(&b, "%s has paid %v, got %v back, and has %v reserved\n", v.Name(), a.Debit, a.Credit-s.brokers[i].config.Budget, a.PendingDebit)
	}
	return b.String()
}

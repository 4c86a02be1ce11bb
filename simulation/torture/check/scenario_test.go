package check

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/agents/story"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/simulation/torture/world"
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
	story.Walk(t, filepath.Join("testdata", "faults"), func(t *testing.T) func(*testing.T, *datadriven.TestData) string {
		t.Parallel()
		var s *tiny
		return func(t *testing.T, d *datadriven.TestData) string {
			a := story.Args{T: t, TestData: d}
			switch d.Cmd {
			case "world":
				s = newTiny(t, a)
				return ""
			case "run":
				s.trace.Reset()
				if err := s.Run(a.At("until")); err != nil {
					d.Fatalf(t, "%v\n%s", err, s.trace.String())
				}
				return s.trace.String()
			case "state":
				return s.state()
			}
			t.Fatalf("%s: no command %s", d.Pos, d.Cmd)
			return ""
		}
	})
}

// tiny is a world of a scenario.
type tiny struct {
	*world.World
	sites   []world.Site
	brokers []world.VO
	trace   strings.Builder
}

func newTiny(t *testing.T, a story.Args) *tiny {
	t.Helper()
	seed := uint64(a.Number("seed", 0))
	s := &tiny{}
	for _, name := range world.SiteNames[:a.Number("sites", 0)] {
		s.sites = append(s.sites, tinySite(name))
	}
	for _, name := range world.BrokerNames[:a.Number("brokers", 0)] {
		s.brokers = append(s.brokers, s.vo(name))
	}
	var faults []sim.Fault
	for line := range strings.Lines(a.Input) {
		if rest, ok := strings.CutPrefix(line, "job "); ok {
			s.job(t, rest)
			continue
		}
		f, err := sim.ParseFault(line)
		if err != nil {
			a.Fatalf(t, "%v", err)
		}
		faults = append(faults, f)
	}
	s.World = world.Of(seed, s.sites, s.brokers, sim.Options{Faults: faults, Lo: 10, Hi: 40, Trace: s.tell, Describe: func(m agents.Message) string { return brief.Say(m) }})
	New(s.World)
	return s
}

func tinySite(name string) world.Site {
	g := grid.Group{Site: name, Name: "main", Nodes: 4, Performance: 1000, Price: 1_000_000}
	return world.Site{Local: make([][]grid.LocalJob, 1), Config: sites.Config{
		Name: name, Cluster: world.ClusterID(name), Groups: []grid.Group{g}, Pricing: pricing.Fixed, VOShare: 1000, Span: 3 * grid.Hour,
		Hold: world.HoldLimit, InDoubt: world.InDoubtLimit, MaxWork: 1000, Lead: world.LeadTime, Penalty: 100}}
}

func (s *tiny) vo(name string) world.VO {
	c := broker.Defaults(name)
	c.Minimize = grid.GoalTime
	for i := range s.sites {
		c.Sites = append(c.Sites, world.SiteID(s.sites[i].Config.Name))
	}
	c.Budget, c.Cycle, c.Phase = 100*grid.Credit, grid.Minute, 10*grid.Second
	c.Horizon, c.Lead, c.OfferWait = 2*grid.Hour, world.LeadTime, 4*grid.Second
	c.Hold, c.InDoubt = world.HoldLimit, world.InDoubtLimit
	return world.VO{Config: c}
}

// job reads a job; it may cost twice what it does at the base price.
func (s *tiny) job(t *testing.T, line string) {
	t.Helper()
	at := slices.IndexFunc(s.brokers, func(v world.VO) bool { return strings.Contains(line, " broker="+v.Config.Name+" ") })
	if at < 0 {
		t.Fatalf("job %s: it names no broker of the world", line)
	}
	v := &s.brokers[at]
	j := story.Job(t, grid.Job{User: "ana", Request: grid.Request{MinPerformance: 1000, MaxPrice: 2_000_000}},
		strings.Replace(line, " broker="+v.Config.Name, "", 1))
	j.Deadline = j.Submit.Add(2 * grid.Hour)
	v.Jobs = append(v.Jobs, j)
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
var brief = story.NewWords(`
	Submit: Submit {{.Job.Name}}, {{.Job.Nodes}} nodes for {{.Job.Length}}
	SubmitReply: SubmitReply {{.Job}}{{template "verdict" .Reason}}
	OfferRequest: OfferRequest until {{.Horizon}}
	Offers: Offers {{if .Groups}}as of {{.Now}}, {{with index .Groups 0}}{{.Group.Nodes}} nodes at {{.Group.Price}}:
		{{range .Admissible}} {{.Free}} from {{.At}}{{end}}{{end}}{{else}}of nothing, as of {{.Now}}{{end}}
	Hold: Hold {{.Leg}}, {{.What.Nodes}} nodes from {{.What.Start}} for at most {{.Limit}}
	Held: Held {{.Leg}} for {{.Fare.Total}}
	Refused: Refused {{.Step}} {{.Leg}}: {{.Reason}}
	Prepare Prepared Confirm Confirmed Cancel Cancelled LegStarted Release Settled: {{.Kind}} {{.Leg}}
	Released: Released {{.Leg}}, {{.Refund}} back
	Degraded: Degraded {{.Leg}}, {{.Refund}} back and {{.Penalty}} added
	Reassert: Reassert {{.Leg.Leg}} was {{.Leg.State}}: {{.Leg.What.Nodes}} nodes at {{.Leg.Fare.Total}}
	Reasserted: Reasserted {{.Leg}}{{template "verdict" .Reason}}
	JobReply: JobReply {{.Job}}{{template "verdict" .Reason}}, {{.Refund}} back
	Noted: Noted {{.Step}} {{.Leg}}
	verdict: {{if .Refused}} refused: {{.}}{{else}} granted{{end}}
	Started JobCancel GiveUp List NodesLost ClusterLost: {{.Kind}} {{printf "%+v" .}}
`, nil)

// state tells of the jobs and the accounts of the brokers that live.
func (s *tiny) state() string {
	var b strings.Builder
	for i := range s.brokers {
		v, _ := s.Agent(world.BrokerID(s.brokers[i].Config.Name)).(*broker.Broker)
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
		fmt.Fprintf(&b, "%s has paid %v, got %v back, and has %v reserved\n", v.Name(), a.Debit, a.Credit-s.brokers[i].Config.Budget, a.PendingDebit)
	}
	return b.String()
}

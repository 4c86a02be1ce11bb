package broker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/agents/story"
	"github.com/bourse-grid/bourse/grid"
)

// TestScenarios runs the stories of testdata/scenarios. Each is a broker among fake sites;
// the golden output is the whole trace of messages and facts.
func TestScenarios(t *testing.T) {
	t.Parallel()
	story.Walk(t, "testdata/scenarios", func(t *testing.T) func(*testing.T, *datadriven.TestData) string {
		var w *testWorld
		sites := map[string]*fakeSite{}
		return func(t *testing.T, d *datadriven.TestData) string {
			a := story.Args{T: t, TestData: d}
			switch d.Cmd {
			case "world":
				w = scenarioWorld(a, sites)
			case "rule":
				scenarioRule(a, sites)
			case "submit":
				for line := range strings.Lines(d.Input) {
					w.submit(a.At("at"), story.Job(t, storyJob, line))
				}
			case "run":
				w.trace = nil
				w.Run(a.At("until"))
				return strings.Join(w.trace, "\n") + "\n"
			case "rest":
				w.check.rest()
			case "accounts":
				return accountWords(w.b)
			case "jobs":
				return jobWords(w.b)
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			return ""
		}
	})
}

// scenarioWorld reads "world key=value..." and a line for each site:
// "north nodes=8 price=36 busy=4@0-1000".
func scenarioWorld(a story.Args, sites map[string]*fakeSite) *testWorld {
	var list []*fakeSite
	for line := range strings.Lines(a.Input) {
		name, pairs := story.Line(line)
		s := newFakeSite(name, 1, 0)
		for _, p := range pairs {
			switch p.Key {
			case "busy":
				var n int
				var from, to grid.Time
				if _, err := fmt.Sscanf(p.Value, "%d@%d-%d", &n, &from, &to); err != nil {
					a.T.Fatalf("%q: %v", line, err)
				}
				s.busy[0].Add(from*sec, to*sec, n)
			default: // nodes and price
				if err := story.Set(&s.groups[0], nil, p.Key, p.Value); err != nil {
					a.T.Fatalf("%q: %v", line, err)
				}
				s.free[0] = grid.NewProfile(0, s.groups[0].Nodes)
			}
		}
		sites[s.name] = s
		list = append(list, s)
	}
	cfg := testConfig(list...)
	for _, x := range a.CmdArgs {
		configure(a.T, &cfg, x)
	}
	return newTestWorld(a.T, cfg, list...)
}

// configWords are the words of stories for what brokers are told by files.
var configWords = map[string]string{"limit": "BudgetLimit", "batch": "BatchSize", "alternatives": "MaxAlternatives", "waiting": "MaxWaiting"}

// configure reads one argument of a broker; "quota=(ben,5)" and "quota=ben:5" are of a user.
func configure(t testing.TB, cfg *Config, x datadriven.CmdArg) {
	text := strings.Join(x.Vals, ":")
	if x.Key != "quota" && x.Key != "share" {
		if err := story.Set(cfg, configWords, x.Key, text); err != nil {
			t.Fatalf("%s: %v", x, err)
		}
		return
	}
	user, text, _ := strings.Cut(text, ":")
	if x.Key == "share" {
		var n int
		story.Value(t, x.String(), &n, text)
		cfg.Users = map[string]UserTerms{user: {Share: n}}
		return
	}
	var c grid.Credits
	story.Value(t, x.String(), &c, text)
	cfg.Quotas = map[string]grid.Credits{user: c}
}

// scenarioRule reads "rule site=north kind=Hold nth=1 refuse=busy add=3".
func scenarioRule(a story.Args, sites map[string]*fakeSite) {
	how := fakeAnswer{refuse: grid.Code(a.Text("refuse", "")), add: a.Credits("add", 0), late: a.Seconds("late"), silent: a.HasArg("silent")}
	site, rule := sites[a.Text("site", "")], onNth(a.Text("kind", ""), a.Number("nth", 0), how)
	if site.rule != nil {
		rule = rules(site.rule, rule)
	}
	site.rule = rule
}

// storyJob is what a job of a story is unless the story says otherwise.
var storyJob = testJob("", 1, grid.Hour, 100*grid.Credit)

func accountWords(b *Broker) string {
	var s strings.Builder
	for _, a := range b.Ledger().Accounts() {
		fmt.Fprintf(&s, "%-10s out %v in %v pending out %v in %v\n", a.Name, a.Debit, a.Credit, a.PendingDebit, a.PendingCredit)
	}
	return s.String()
}

func jobWords(b *Broker) string {
	var s strings.Builder
	for j := range b.Jobs() {
		fmt.Fprintf(&s, "%s %v", j.Name, j.State)
		if j.Reason.Refused() {
			fmt.Fprintf(&s, " %s: %v", j.Reason.Code, j.Reason)
		}
		if j.Last != nil && j.Last.Commit {
			for _, l := range j.Last.Legs {
				fmt.Fprintf(&s, ", %s %s at %v%s", l.Site, story.Leg(l.Leg), l.Fare.Total(), story.Also(" for ", l.Part))
			}
		}
		s.WriteString("\n")
	}
	return s.String()
}

package broker

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/grid"
)

// TestScenarios runs the stories of testdata/scenarios. Each is a broker among fake sites;
// the golden output is the whole trace of messages and facts.
func TestScenarios(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		var w *testWorld
		sites := map[string]*fakeSite{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "world":
				w = scenarioWorld(t, d, sites)
			case "rule":
				scenarioRule(t, d, sites)
			case "submit":
				for line := range strings.Lines(d.Input) {
					w.submit(grid.Time(seconds(t, d, "at", 0)), scenarioJob(t, line))
				}
			case "run":
				w.trace = nil
				w.Run(grid.Time(seconds(t, d, "until", 0)))
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
		})
	})
}

func seconds(t *testing.T, d *datadriven.TestData, key string, def grid.Duration) grid.Duration {
	if !d.HasArg(key) {
		return def
	}
	var s string
	d.ScanArgs(t, key, &s)
	v, err := grid.ParseDuration(s)
	if err != nil {
		d.Fatalf(t, "%s: %v", key, err)
	}
	return v
}

func credits(t *testing.T, s string) grid.Credits {
	v, err := grid.ParseCredits(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func number(t *testing.T, s string) int {
	v, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// scenarioWorld reads "world key=value..." and a line for each site:
// "north nodes=8 price=36 busy=4@0-1000".
func scenarioWorld(t *testing.T, d *datadriven.TestData, sites map[string]*fakeSite) *testWorld {
	var list []*fakeSite
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		s := newFakeSite(f[0], 1, 0)
		for _, kv := range f[1:] {
			key, value, _ := strings.Cut(kv, "=")
			switch key {
			case "nodes":
				n := number(t, value)
				s.groups[0].Nodes = n
				s.free[0] = grid.NewProfile(0, n)
			case "price":
				s.groups[0].Price = grid.Price(credits(t, value))
			case "busy":
				n, span, _ := strings.Cut(value, "@")
				from, to, _ := strings.Cut(span, "-")
				s.busy[0].Add(grid.Time(number(t, from))*1000, grid.Time(number(t, to))*1000, number(t, n))
			default:
				t.Fatalf("unknown key %q", key)
			}
		}
		sites[s.name] = s
		list = append(list, s)
	}
	cfg := testConfig(list...)
	for _, a := range d.CmdArgs {
		switch v := a.Vals[0]; a.Key {
		case "budget":
			cfg.Budget = credits(t, v)
		case "quota":
			user, amount, _ := strings.Cut(v, ":")
			cfg.Quotas = map[string]grid.Credits{user: credits(t, amount)}
		case "limit":
			cfg.BudgetLimit = credits(t, v)
		case "minimize":
			cfg.Minimize, _ = grid.ParseGoal(v)
		case "batch":
			cfg.BatchSize = number(t, v)
		case "alternatives":
			cfg.MaxAlternatives = number(t, v)
		default:
			t.Fatalf("unknown key %q", a.Key)
		}
	}
	return newTestWorld(t, cfg, list...)
}

// scenarioRule reads "rule site=north kind=Hold nth=1 refuse=busy add=3".
func scenarioRule(t *testing.T, d *datadriven.TestData, sites map[string]*fakeSite) {
	var site, kind, text string
	var how fakeAnswer
	nth := 0
	d.ScanArgs(t, "site", &site)
	d.ScanArgs(t, "kind", &kind)
	d.MaybeScanArgs(t, "nth", &nth)
	if d.MaybeScanArgs(t, "refuse", &text) {
		how.refuse = grid.Code(text)
	}
	if d.MaybeScanArgs(t, "add", &text) {
		how.add = credits(t, text)
	}
	how.late = seconds(t, d, "late", 0)
	how.silent = d.HasArg("silent")
	if old := sites[site].rule; old != nil {
		sites[site].rule = rules(old, onNth(kind, nth, how))
		return
	}
	sites[site].rule = onNth(kind, nth, how)
}

// scenarioJob reads "a nodes=2 length=600 budget=50 user=ana priority=1"; a moldable
// job has "sizes=2:600,4:300".
func scenarioJob(t *testing.T, line string) grid.Job {
	f := strings.Fields(line)
	j := testJob(f[0], 1, grid.Hour, 100*grid.Credit)
	for _, kv := range f[1:] {
		key, value, _ := strings.Cut(kv, "=")
		switch key {
		case "nodes":
			j.Nodes = number(t, value)
		case "length":
			j.Length = grid.Duration(number(t, value)) * grid.Second
		case "sizes": // sizes=4:2000,8:1200
			var sizes []grid.Size
			for _, z := range strings.Split(value, ",") {
				nodes, length, _ := strings.Cut(z, ":")
				sizes = append(sizes, grid.Size{Nodes: number(t, nodes), Length: grid.Duration(number(t, length)) * grid.Second})
			}
			j.Mold(sizes)
		case "budget":
			j.Budget = credits(t, value)
		case "user":
			j.User = value
		case "priority":
			j.Priority = number(t, value)
		case "ready":
			j.Ready = grid.Time(number(t, value)) * 1000
		case "flexible":
			j.Flexible = grid.Duration(number(t, value)) * grid.Second
		case "phi":
			j.Phi = number(t, value)
		case "deadline":
			j.Deadline = grid.Time(number(t, value)) * 1000
		case "after":
			j.After = append(j.After, grid.Dependencies(grid.IfDone, strings.Split(value, "+")...)...)
		case "after_any":
			j.After = append(j.After, grid.Dependencies(grid.IfAny, strings.Split(value, "+")...)...)
		case "after_failed":
			j.After = append(j.After, grid.Dependencies(grid.IfFailed, strings.Split(value, "+")...)...)
		case "after_ran": // as earlier versions have recorded it
			j.After = append(j.After, grid.Dependencies(grid.IfRan, strings.Split(value, "+")...)...)
		case "exit":
			j.Exit = number(t, value)
		case "performance":
			j.MinPerformance = grid.Performance(number(t, value))
		case "price": // of a node for 1000 s
			j.MaxPrice = grid.Price(credits(t, value) * 36 / 10)
		case "gpus":
			j.Require.GPUs = number(t, value)
		case "onesite":
			j.OneSite = true
		case "gap":
			j.Gap = grid.Duration(number(t, value)) * grid.Second
		default:
			t.Fatalf("unknown key %q", key)
		}
	}
	return j
}

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
				fmt.Fprintf(&s, ", %s %s at %v", l.Site, legWords(l.Leg), l.Fare.Total())
			}
		}
		s.WriteString("\n")
	}
	return s.String()
}

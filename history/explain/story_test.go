package explain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/grid"
)

// TestStories compares explanations word by word.
func TestStories(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var g *federation
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "grid":
				g = newGrid(t)
				for _, a := range d.CmdArgs {
					switch a.Key {
					case "minimize":
						g.cfg.Minimize, _ = grid.ParseGoal(a.Vals[0])
					case "budget":
						g.cfg.Budget = money(t, a.Vals[0])
					case "alternatives":
						_, _ = fmt.Sscan(a.Vals[0], &g.cfg.MaxAlternatives)
					}
				}
				for line := range strings.Lines(d.Input) {
					gridLine(t, g, line)
				}
				g.start()
			case "site": // site north closed | refuse=hold | open
				var name, how string
				_, _ = fmt.Sscan(d.Input, &name, &how)
				s := g.sites[siteOf(name)]
				s.closed, s.silent = how == "closed", how == "silent"
				s.refuse = strings.TrimPrefix(how, "refuse=")
			case "submit":
				for line := range strings.Lines(d.Input) {
					g.submit(jobLine(t, line))
				}
			case "run":
				var until int64
				d.ScanArgs(t, "until", &until)
				g.run(grid.Time(until) * sec)
			case "explain":
				return g.explain(strings.TrimSpace(d.Input)).Text(nil)
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			return ""
		})
	})
}

func money(t *testing.T, s string) grid.Credits {
	v, err := grid.ParseCredits(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// gridLine reads "north nodes=4 price=3.6 busy=2@0-1000 queue=4@0-500 add=1".
func gridLine(t *testing.T, g *federation, line string) {
	f := strings.Fields(line)
	s := g.site(f[0], 4, 0)
	for _, kv := range f[1:] {
		key, value, _ := strings.Cut(kv, "=")
		var n int
		var from, to grid.Time
		_, _ = fmt.Sscanf(value, "%d@%d-%d", &n, &from, &to)
		switch key {
		case "nodes":
			s.group.Nodes = n
			s.free = grid.NewProfile(0, n)
		case "price":
			s.group.Price = grid.Price(money(t, value))
		case "add":
			s.add = money(t, value)
		case "busy":
			s.free.Add(from*sec, to*sec, -n)
		case "queue":
			s.queue.Add(from*sec, to*sec, n)
		default:
			t.Fatalf("unknown key %q", key)
		}
	}
}

// jobLine reads "wave nodes=2 length=1000 budget=20 user=ana deadline=5000".
func jobLine(t *testing.T, line string) grid.Job {
	f := strings.Fields(line)
	j := job(f[0], 1, grid.Hour, grid.Credit)
	for _, kv := range f[1:] {
		key, value, _ := strings.Cut(kv, "=")
		var n int64
		_, _ = fmt.Sscan(value, &n)
		switch key {
		case "nodes":
			j.Nodes = int(n)
		case "length":
			j.Length = grid.Duration(n) * grid.Second
		case "deadline":
			j.Deadline = grid.Time(n) * sec
		case "budget":
			j.Budget = money(t, value)
		case "user":
			j.User = value
		case "minimize":
			j.Minimize, _ = grid.ParseGoal(value)
		case "urgency":
			j.Urgency, _ = grid.ParseUrgency(value)
		default:
			t.Fatalf("unknown key %q", key)
		}
	}
	return j
}

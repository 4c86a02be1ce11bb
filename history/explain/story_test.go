package explain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/agents/story"
	"github.com/bourse-grid/bourse/grid"
)

// TestStories compares explanations word by word.
func TestStories(t *testing.T) {
	t.Parallel()
	story.Walk(t, "testdata", func(*testing.T) func(*testing.T, *datadriven.TestData) string {
		var g *federation
		return func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "grid":
				g = newGrid(t)
				for _, a := range d.CmdArgs {
					if err := story.Set(&g.cfg, map[string]string{"alternatives": "MaxAlternatives"}, a.Key, a.Vals[0]); err != nil {
						t.Fatal(err)
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
					g.submit(story.Job(t, job("", 1, grid.Hour, grid.Credit), line))
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
		}
	})
}

// gridLine reads "north nodes=4 price=3.6 busy=2@0-1000 queue=4@0-500 add=1".
func gridLine(t *testing.T, g *federation, line string) {
	name, pairs := story.Line(line)
	s := g.site(name, 4, 0)
	for _, p := range pairs {
		var n int
		var from, to grid.Time
		_, _ = fmt.Sscanf(p.Value, "%d@%d-%d", &n, &from, &to)
		switch p.Key {
		case "add":
			story.Value(t, line, &s.add, p.Value)
		case "busy":
			s.free.Add(from*sec, to*sec, -n)
		case "queue":
			s.queue.Add(from*sec, to*sec, n)
		default: // nodes and price
			if err := story.Set(&s.group, nil, p.Key, p.Value); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if p.Key == "nodes" {
				s.free = grid.NewProfile(0, s.group.Nodes)
			}
		}
	}
}

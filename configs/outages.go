package configs

import (
	"fmt"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/workload"
)

// Outages say which nodes of a simulated site fail, and for how long: by two means, or by a
// file.
type Outages struct {
	// MTBF is the mean time that a node serves until it fails, 0 if none does, and MTTR the
	// mean time until it is back. Both times are drawn from exponential distributions.
	MTBF, MTTR grid.Duration
	File       string            // as in the scenario; "": none
	List       []workload.Outage // of the file
}

// maxFailures bounds the failures that a site is expected to have.
const maxFailures = 1_000_000

var withNodes = &keys.Condition{Text: "with nodes of their own for each job", Holds: func(t *keys.Table) bool { return !withShares.Holds(t) },
	Refused: "a site that shares its nodes over time (libra, edf) has no node that fails; leave the key out"}

// outages lists the keys of a site whose nodes fail, which are read after its groups.
func (s *Site) outages(until grid.Duration) keys.List {
	const real = "is only for scenarios; the nodes of a real site fail by themselves"
	o := &s.Outages
	return keys.List{
		keys.Span("mtbf", &o.MTBF, 0, grid.Minute, "mean time that a node serves until it fails, drawn exponentially. What runs on it is lost; a leg is refunded with the penalty, and repaired").ByDefault("no node fails").Only(kinds.InScenario, real).When(withNodes),
		keys.Span("mttr", &o.MTTR, 4*grid.Hour, grid.Second, "mean time until it is back, drawn exponentially").Only(kinds.InScenario, real).When(withNodes),
		keys.Text("outages", &o.File, "", "file of the nodes that fail, in lines `"+workload.OutagesHead+"`; which nodes of the group they are is drawn. Alternative to `mtbf`").Only(kinds.InScenario, real).When(withNodes),
		keys.Rule(func(t *keys.Table) {
			switch {
			case t.In != kinds.InScenario || !t.Clean("mtbf") || !t.Clean("mttr"):
			case o.MTBF > 0 && o.File != "":
				t.Wrong("outages", "cannot be combined with mtbf; leave one of them out")
			case o.MTBF == 0 && t.Has("mttr"):
				t.Wrong("mttr", "needs mtbf, such as mtbf = \"30d\"; add it, or leave the key out")
			case o.MTBF > 0 && float64(s.Nodes())*float64(until)/float64(o.MTBF+o.MTTR) > maxFailures:
				t.Wrong("mtbf", "%s makes the %s fail more than %d times in %s; use a longer time", o.MTBF.Words(), grid.Count(s.Nodes(), "node"), maxFailures, until.Words())
			}
			if o.MTBF == 0 {
				o.MTTR = 0
			}
		}),
	}
}

// loadOutages reads the files of outages that sites name, and adds them to the scenario's
// source.
func (s *Scenario) loadOutages(dir string) error {
	for i := range s.Sites {
		o := &s.Sites[i].Outages
		if o.File == "" {
			continue
		}
		file := keys.Resolve(dir, o.File)
		text, err := kinds.ReadFile(file)
		if err != nil {
			return fmt.Errorf("outages of site %q: %w", s.Sites[i].Name, err)
		}
		if err := s.Sites[i].takeOutages(file, text); err != nil {
			return err
		}
		s.Source.add(o.File, text)
	}
	return nil
}

// takeOutages makes the outages of a file the site's.
func (s *Site) takeOutages(file string, text []byte) error {
	list, err := workload.ParseOutages(file, text)
	if err != nil {
		return err
	}
	nodes := map[string]int{}
	names := make([]string, len(s.Groups))
	for i, g := range s.Groups {
		nodes[g.Name], names[i] = g.Nodes, g.Name
	}
	for _, o := range list {
		has, known := nodes[o.Group]
		switch {
		case !known:
			return fmt.Errorf("%s:%d: site %q has no group %q%s", file, o.Line, s.Name, o.Group, keys.Choose(o.Group, names))
		case o.Nodes > has:
			return fmt.Errorf("%s:%d: nodes %d: group %q has %d", file, o.Line, o.Nodes, o.Group, has)
		}
	}
	s.Outages.List = list
	return nil
}

package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/policy/gather"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/simulation/rehearsal"
	"github.com/bourse-grid/bourse/studies/costart"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// costartTraces are the logs of the clusters, in the order of the jobs' parts.
var costartTraces = []archived{
	{name: "KTH", archive: "KTH SP2", nodes: 100}, {name: "SDSC", archive: "SDSC SP2", nodes: 128},
	{name: "CTC", archive: "CTC SP2", nodes: 430, skip: 3},
}

// studyCostart is our own experiment on jobs that are gathered by pilots.
func studyCostart() experiment {
	return experiment{
		name: "co-start", about: "how often the parts of a job begin together at clusters without reservations, and what their pilots idle (our own)",
		traces: "KTH SP2, then SDSC SP2, then CTC SP2", runs: 1080, quick: 36,
		run: func(s *studying) ([]evidence.Row, error) {
			traces, err := s.costartTraces()
			if err != nil {
				return nil, err
			}
			opt := costart.Options{Seed: s.seed, Jobs: s.runs, Loads: costart.DefaultLoads, Wastes: costart.DefaultWastes, Done: s.done}
			if err := s.costart.into(&opt); err != nil {
				return nil, err
			}
			return costart.Study(traces, opt)
		},
		finding: costart.Finding,
	}
}

// costartTraces reads the given traces. If none is given, it draws two from a model.
func (s *studying) costartTraces() (list []rehearsal.Trace, err error) {
	if len(s.traces) == 0 {
		s.say("no --trace given: drawing %s of jobs for two clusters from the model of Lublin and Feitelson", forecastSpan.Words())
		for _, a := range costartTraces[:2] {
			jobs, err := workload.Lublin{Nodes: a.nodes, Load: 0.8, Seed: simulation.SeedOf(s.seed, a.name)}.Until(forecastSpan)
			if err != nil {
				return nil, err
			}
			list = append(list, rehearsal.Trace{Name: a.name, Nodes: a.nodes, Jobs: jobs})
		}
		return list, nil
	}
	if len(s.traces) == 1 {
		return nil, fmt.Errorf("--trace %s: study co-start gathers jobs at two clusters or three; name the logs of KTH SP2, SDSC SP2 and CTC SP2, in this order", s.traces[0])
	}
	logs, err := s.logs(costartTraces)
	for _, l := range logs {
		jobs, _ := l.trace.Jobs(workload.JobOptions{})
		list = append(list, rehearsal.Trace{Name: l.name, Nodes: l.nodes, Jobs: jobs})
	}
	return list, err
}

// costartFlags are the flags of that study alone.
type costartFlags struct{ loads, strategies, wastes string }

// into sets what the flags name.
func (f *costartFlags) into(opt *costart.Options) error {
	if f.loads != "" {
		opt.Loads = nil
		for _, text := range strings.Split(f.loads, ",") {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || x < 0.1 || x > 0.98 {
				return fmt.Errorf("--load %s: %q must be 0.1 to 0.98, such as 0.7,0.8,0.9", f.loads, text)
			}
			opt.Loads = append(opt.Loads, x)
		}
	}
	if f.strategies != "" {
		opt.Strategies = strings.Split(f.strategies, ",")
		for _, name := range opt.Strategies {
			if !slices.Contains(costart.Strategies, name) {
				return fmt.Errorf("--strategy %s: %q is none of %s", f.strategies, name, strings.Join(costart.Strategies, ", "))
			}
		}
	}
	if f.wastes != "" {
		opt.Wastes = nil
		for _, text := range strings.Split(f.wastes, ",") {
			w, err := gather.ParseShare(text)
			if err != nil || w < gather.LeastWaste || w > gather.MostWaste {
				return fmt.Errorf("--waste %s: %q must be 0.01 to 1, such as 0.05", f.wastes, text)
			}
			opt.Wastes = append(opt.Wastes, w)
		}
	}
	return nil
}

// given is a flag of these that was given, "" if none was.
func (f *costartFlags) given() string {
	switch {
	case f.loads != "":
		return "--load " + f.loads
	case f.strategies != "":
		return "--strategy " + f.strategies
	case f.wastes != "":
		return "--waste " + f.wastes
	}
	return ""
}

package simulation

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// Settings lists the configuration of a scenario for a report: the keys that shape the
// outcome, by site and by VO.
func Settings(sc *configs.Scenario) []report.Setting {
	list := settings{}
	list.add("", "until", grid.Duration(sc.Until).Words())
	for i := range sc.Sites {
		list.site(&sc.Sites[i])
	}
	for i := range sc.Brokers {
		list.broker(&sc.Brokers[i])
	}
	return list
}

type settings []report.Setting

func (l *settings) add(owner, key, value string) {
	*l = append(*l, report.Setting{Owner: owner, Key: key, Value: value})
}

func (l *settings) site(s *configs.Site) {
	l.add(s.Name, "policy", s.PolicyName())
	if s.Policy.ByOwner() {
		l.add(s.Name, "half_life", s.HalfLife.Words())
	}
	l.add(s.Name, "pricing", s.Pricing.String())
	for _, g := range s.Groups {
		l.add(s.Name, "group "+g.Name, fmt.Sprintf("%s, performance %v, %v credits a node-hour", grid.Count(g.Nodes, "node"), g.Performance, g.Price))
	}
	if steps, repeat := s.Groups[0].Curve.Steps(); len(steps) > 0 {
		words := fmt.Sprintf("%d factors", len(steps))
		if repeat > 0 {
			words += ", again every " + repeat.Words()
		}
		l.add(s.Name, "price over time", words)
	}
	for _, q := range s.Queues {
		if q.Name != "" {
			l.add(s.Name, "queue "+q.Name, fmt.Sprintf("priority %v, rate %v, delay cost %v", q.Priority, q.Rate, q.DelayCost))
		}
	}
	if s.VOShare != configs.One {
		l.add(s.Name, "vo_share", s.VOShare.String())
	}
	if s.Overrun != "kill" {
		l.add(s.Name, "overrun", s.Overrun)
	}
	if o := &s.Outages; o.MTBF > 0 {
		l.add(s.Name, "mtbf", o.MTBF.Words())
		l.add(s.Name, "mttr", o.MTTR.Words())
	} else if o.File != "" {
		l.add(s.Name, "outages", fmt.Sprintf("%s, %d of them", o.File, len(o.List)))
	}
	l.add(s.Name, "workload", localWork(s.Workload))
}

// localWork says where a site's own jobs come from.
func localWork(w *configs.Workload) string {
	switch {
	case w == nil:
		return "none"
	case w.Trace != "":
		return "trace " + w.Trace[strings.LastIndexByte(w.Trace, '/')+1:] + ", " + w.Days.Words()
	}
	s := "model " + w.Model + ", " + w.Days.Words()
	if w.Load > 0 {
		s += ", load " + w.Load.String()
	}
	return s
}

func (l *settings) broker(b *configs.Broker) {
	limit := func(given bool, v fmt.Stringer) string {
		if !given {
			return "auto"
		}
		return v.String()
	}
	l.add(b.Name, "budget", b.Budget.String()+" credits")
	l.add(b.Name, "algorithm", b.Algorithm.String())
	l.add(b.Name, "minimize", b.Minimize)
	l.add(b.Name, "strategy", b.Strategy.String())
	l.add(b.Name, "cycle", b.Cycle.Words())
	l.add(b.Name, "horizon", b.Horizon.Words())
	l.add(b.Name, "budget_limit", limit(b.BudgetLimit != nil, b.BudgetLimit))
	if b.TimeLimit == nil {
		l.add(b.Name, "time_limit", "auto")
	} else {
		l.add(b.Name, "time_limit", b.TimeLimit.Words())
	}
	l.add(b.Name, "max_alternatives", fmt.Sprint(b.MaxAlternatives))
	l.add(b.Name, "batch_size", fmt.Sprint(b.BatchSize))
	if b.MaxAsked > 0 {
		l.add(b.Name, "max_asked", fmt.Sprint(b.MaxAsked))
	}
	if b.Lead > 0 {
		l.add(b.Name, "lead", b.Lead.Words())
	}
}

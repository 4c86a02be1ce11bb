package configs

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
)

// Checked holds the figures of a valid file. Those without a meaning for its kind are 0.
type Checked struct {
	Kind    kinds.Kind    `json:"kind"`
	Name    string        `json:"name,omitempty"`
	Sites   int           `json:"sites,omitempty"`
	Groups  int           `json:"groups,omitempty"`
	Nodes   int           `json:"nodes,omitempty"`
	Brokers int           `json:"brokers,omitempty"`
	Jobs    int           `json:"jobs,omitempty"` // of users; at a site, those that run or wait
	Traces  int           `json:"traces,omitempty"`
	Span    grid.Duration `json:"until,omitempty"`
	Points  int           `json:"points,omitempty"` // of a sweep

	Warnings []string `json:"warnings,omitempty"` // what is valid and hardly meant
}

// String returns the figures on one line.
func (c *Checked) String() string {
	var b strings.Builder
	b.WriteString(string(c.Kind))
	if c.Name != "" {
		fmt.Fprintf(&b, " %q", c.Name)
	}
	sep := ": "
	add := func(n int, what string) {
		if n == 0 {
			return
		}
		b.WriteString(sep + grid.Count(n, what))
		sep = ", "
	}
	add(c.Sites, "site")
	add(c.Groups, "group")
	add(c.Nodes, "node")
	add(c.Brokers, "broker")
	add(c.Jobs, "job")
	add(c.Points, "combination")
	add(c.Traces, "trace")
	if c.Span > 0 {
		fmt.Fprintf(&b, "%suntil %s", sep, c.Span.Words())
	}
	return b.String()
}

// Check reads a file of any kind, and the batch files and outages that a scenario names. An error that
// does not come from the file system is a *Problems.
func Check(file string) (*Checked, error) {
	text, err := kinds.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if kinds.Of(text) == kinds.Script {
		return checkScript(file, text)
	}
	if t, err := openFile(file, text); err == nil {
		switch kinds.OfTable(t) {
		case kinds.Sweep:
			s, err := ReadSweep(file)
			if err != nil {
				return nil, err
			}
			return &Checked{Kind: kinds.Sweep, Name: s.Name, Points: s.Points()}, nil
		case kinds.Scenario:
			s, err := ReadScenario(file)
			if err != nil {
				return nil, err
			}
			return s.checked(), nil
		}
	}
	return check(file, text, func(b *Broker, until grid.Duration, sites []string) error {
		_, err := b.loadBatch(filepath.Dir(file), until, sites)
		return err
	})
}

// checkScript checks a script that is a job, by its lines #BOURSE key = value.
func checkScript(file string, text []byte) (*Checked, error) {
	if len(text) > grid.MaxScript {
		return nil, keys.Join([]*Problem{{File: file, Text: tooLarge(len(text))}})
	}
	settings, err := Directives(file, text)
	if err != nil {
		return nil, err
	}
	c := &Checked{Kind: kinds.Script, Jobs: 1}
	_, err = ParseJob(file, NameOf(file), settings, &grid.Work{Script: string(text)})
	if errors.Is(err, ErrNoLength) {
		c.Warnings = []string{"no line says its length: add " + Directive + " length = 1h, or give --length to bourse submit"}
		_, err = ParseJob(file, NameOf(file), append(settings, Setting{Key: "length", Value: "1h"}), &grid.Work{Script: string(text)})
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func check(file string, text []byte, load func(*Broker, grid.Duration, []string) error) (*Checked, error) {
	t, err := openFile(file, text)
	if err != nil {
		return nil, err
	}
	switch kinds.OfTable(t) {
	case kinds.Scenario:
		s, err := ParseScenario(file, text)
		if err != nil {
			return nil, err
		}
		for i := range s.Brokers {
			if err := load(&s.Brokers[i], s.Until, s.siteNames()); err != nil {
				return nil, err
			}
		}
		return s.checked(), nil
	case kinds.BrokerProcess:
		b, err := ParseBrokerProcess(file, text)
		if err != nil {
			return nil, err
		}
		return &Checked{Kind: kinds.BrokerProcess, Name: b.Name}, nil
	case kinds.SiteProcess:
		s, err := ParseSiteProcess(file, text)
		if err != nil {
			return nil, err
		}
		return s.checked(), nil
	case kinds.Site:
		s, err := ParseSite(file, text)
		if err != nil {
			return nil, err
		}
		c := &Checked{Kind: kinds.Site, Name: s.Name, Groups: len(s.Groups), Jobs: len(s.Running) + len(s.Queued)}
		for _, g := range s.Groups {
			c.Nodes += g.Nodes
		}
		return c, nil
	case kinds.Broker:
		b, err := ParseBroker(file, text)
		if err != nil {
			return nil, err
		}
		if err := load(b, 0, nil); err != nil {
			return nil, err
		}
		c := &Checked{Kind: kinds.Broker, Name: b.Name}
		c.addJobs(b)
		return c, nil
	case kinds.Batch:
		b, err := ParseBatch(file, text)
		if err != nil {
			return nil, err
		}
		return &Checked{Kind: kinds.Batch, Jobs: len(b.Jobs)}, nil
	case kinds.Sweep:
		s, _, err := parseSweep(file, text)
		if err != nil {
			return nil, err
		}
		return &Checked{Kind: kinds.Sweep, Name: s.Name, Points: s.Points()}, nil
	}
	return nil, keys.Join([]*Problem{{File: file, Text: "unknown kind of file. A scenario has [[site]] tables, " +
		"a site [[group]], a broker [broker], the process of either also [listen], a batch of jobs [[job]], a sweep [[parameter]]"}})
}

func (s *Scenario) checked() *Checked {
	c := &Checked{Kind: kinds.Scenario, Name: s.Name, Sites: len(s.Sites), Brokers: len(s.Brokers), Span: s.Until}
	for i := range s.Sites {
		c.Groups += len(s.Sites[i].Groups)
		c.Nodes += s.Sites[i].Nodes()
		if w := s.Sites[i].Workload; w != nil && w.Trace != "" {
			c.Traces++
		}
	}
	for i := range s.Brokers {
		c.addJobs(&s.Brokers[i])
		c.Warnings = append(c.Warnings, s.tooLong(&s.Brokers[i])...)
	}
	return c
}

func (s *SiteProcess) checked() *Checked {
	c := &Checked{Kind: kinds.SiteProcess, Name: s.Name, Groups: len(s.Groups), Nodes: s.Nodes()}
	if s.Workload != nil && s.Workload.Trace != "" {
		c.Traces = 1
	}
	if s.Cluster.SameAccount {
		c.Warnings = append(c.Warnings, "same_account = true: work may run as an account that can open the site's keys and journals. Any user can then act as the site and write into its journals")
	}
	return c
}

func (c *Checked) addJobs(b *Broker) {
	c.Jobs += len(b.Jobs)
	if w := b.Workload; w != nil {
		c.Jobs += w.Jobs
		if w.Trace != "" {
			c.Traces++
		}
	}
}

// maxWarnings bounds how many warnings of one kind are listed.
const maxWarnings = 10

// tooLong warns of jobs that no window of a broker can be long enough for: on as many nodes
// as they ask for, the fastest there are, they take longer than it looks ahead.
func (s *Scenario) tooLong(b *Broker) (warnings []string) {
	span, more := b.Horizon-b.Lead, 0
	for i := range b.Jobs {
		j := &b.Jobs[i]
		long := s.quickest(j)
		if long <= span {
			continue
		}
		if len(warnings) == maxWarnings {
			more++
			continue
		}
		warnings = append(warnings, fmt.Sprintf("job %q of broker %q takes %s at the least, the horizon allows %s: it will be abandoned (too-long); it needs a longer horizon or faster nodes",
			j.Name, b.Name, long.Words(), span.Words()))
	}
	if more > 0 {
		warnings = append(warnings, fmt.Sprintf("%d more jobs of broker %q take longer than its horizon allows", more, b.Name))
	}
	if w := b.Workload; w != nil && w.Model == "uniform" {
		r := grid.Request{Nodes: w.Nodes.Lo, Length: w.Length.Lo}
		groups, _ := s.groups()
		if r.Quickest(groups, func(int) int { return 0 }) > span {
			warnings = append(warnings, fmt.Sprintf("every job that is drawn for broker %q takes longer than its horizon allows, %s: all will be abandoned (too-long)", b.Name, span.Words()))
		}
	}
	return warnings
}

// quickest is the shortest time that a job can take on the scenario's nodes, 0 if it asks
// for more than there are.
func (s *Scenario) quickest(j *Job) grid.Duration {
	r := grid.Request{Nodes: j.Nodes, Length: j.Length, Sizes: j.Sizes, MinPerformance: j.MinPerformance, Require: j.Require, Portion: j.Portion, Sites: j.Sites, Avoid: j.Avoid}
	if len(j.Parts) > 1 {
		return s.quickestPart(j)
	}
	groups, siteOf := s.groups()
	return r.Quickest(groups, func(g int) int {
		if j.OneSite {
			return siteOf[g]
		}
		return 0
	})
}

// quickestPart is quickest for a job of parts: the longest time to the end of one of them.
func (s *Scenario) quickestPart(j *Job) (long grid.Duration) {
	groups, siteOf := s.groups()
	job := grid.Request{Together: j.Together, Apart: j.Apart}
	for i := range j.Parts {
		r := j.Parts[i].Request(&job)
		part := r.Quickest(groups, func(g int) int {
			if r.OneSite {
				return siteOf[g]
			}
			return 0
		})
		if part == 0 {
			return 0
		}
		long = max(long, j.Parts[i].Offset+part)
	}
	return long
}

// groups lists the groups of all sites, and whose they are.
func (s *Scenario) groups() (groups []grid.Group, siteOf []int) {
	for i := range s.Sites {
		for _, g := range s.Sites[i].Groups {
			groups, siteOf = append(groups, g), append(siteOf, i)
		}
	}
	return groups, siteOf
}

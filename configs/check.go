package configs

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bourse-grid/bourse"
)

// Kind is what a file describes.
type Kind string

// The kinds of files, known by their tables.
const (
	KindScenario      Kind = "scenario"       // [[site]]
	KindSiteProcess   Kind = "site process"   // [[group]] and [listen]
	KindBrokerProcess Kind = "broker process" // [broker] and [listen]
	KindSite          Kind = "site"           // [[group]]
	KindBroker        Kind = "broker"         // [broker] or [[broker]]
	KindBatch         Kind = "batch"          // [[job]]
	KindSweep         Kind = "sweep"          // [[parameter]]
)

// Checked holds the figures of a valid file. Those without a meaning for its kind are 0.
type Checked struct {
	Kind    Kind            `json:"kind"`
	Name    string          `json:"name,omitempty"`
	Sites   int             `json:"sites,omitempty"`
	Groups  int             `json:"groups,omitempty"`
	Nodes   int             `json:"nodes,omitempty"`
	Brokers int             `json:"brokers,omitempty"`
	Jobs    int             `json:"jobs,omitempty"` // of users; at a site, those that run or wait
	Traces  int             `json:"traces,omitempty"`
	Span    bourse.Duration `json:"until,omitempty"`
	Points  int             `json:"points,omitempty"`  // of a sweep
	Remarks []string        `json:"remarks,omitempty"` // what an operator should know though the file is valid
}

// String returns the figures on one line.
func (c *Checked) String() string {
	var b strings.Builder
	b.WriteString(string(c.Kind))
	if c.Name != "" {
		fmt.Fprintf(&b, " %q", c.Name)
	}
	sep := ": "
	add := func(n int, one, many string) {
		if n == 0 {
			return
		}
		word := many
		if n == 1 {
			word = one
		}
		fmt.Fprintf(&b, "%s%d %s", sep, n, word)
		sep = ", "
	}
	add(c.Sites, "site", "sites")
	add(c.Groups, "group", "groups")
	add(c.Nodes, "node", "nodes")
	add(c.Brokers, "broker", "brokers")
	add(c.Jobs, "job", "jobs")
	add(c.Points, "combination", "combinations")
	add(c.Traces, "trace", "traces")
	if c.Span > 0 {
		fmt.Fprintf(&b, "%suntil %s", sep, c.Span.Words())
	}
	return b.String()
}

// Check reads a file of any kind, and the batch files that a scenario names. An error that
// does not come from the file system is a *Problems.
func Check(file string) (*Checked, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	if t, err := open(file, text); err == nil && t.has("parameter") {
		s, err := ReadSweep(file)
		if err != nil {
			return nil, err
		}
		return &Checked{Kind: KindSweep, Name: s.Name, Points: s.Points()}, nil
	}
	return check(file, text, func(b *Broker, until bourse.Duration) error {
		_, err := b.loadBatch(filepath.Dir(file), until)
		return err
	})
}

func check(file string, text []byte, load func(*Broker, bourse.Duration) error) (*Checked, error) {
	t, err := open(file, text)
	if err != nil {
		return nil, err
	}
	switch {
	case t.has("site"):
		s, err := ParseScenario(file, text)
		if err != nil {
			return nil, err
		}
		for i := range s.Brokers {
			if err := load(&s.Brokers[i], s.Until); err != nil {
				return nil, err
			}
		}
		return s.checked(), nil
	case t.has("listen") && t.has("broker"):
		b, err := ParseBrokerProcess(file, text)
		if err != nil {
			return nil, err
		}
		return &Checked{Kind: KindBrokerProcess, Name: b.Name}, nil
	case t.has("listen"), t.has("vo"):
		s, err := ParseSiteProcess(file, text)
		if err != nil {
			return nil, err
		}
		return s.checked(), nil
	case t.has("group"):
		s, err := ParseSite(file, text)
		if err != nil {
			return nil, err
		}
		c := &Checked{Kind: KindSite, Name: s.Name, Groups: len(s.Groups), Jobs: len(s.Running) + len(s.Queued)}
		for _, g := range s.Groups {
			c.Nodes += g.Nodes
		}
		return c, nil
	case t.has("broker"):
		b, err := ParseBroker(file, text)
		if err != nil {
			return nil, err
		}
		if err := load(b, 0); err != nil {
			return nil, err
		}
		c := &Checked{Kind: KindBroker, Name: b.Name}
		c.addJobs(b)
		return c, nil
	case t.has("job"):
		b, err := ParseBatch(file, text)
		if err != nil {
			return nil, err
		}
		return &Checked{Kind: KindBatch, Jobs: len(b.Jobs)}, nil
	case t.has("parameter"):
		s, _, err := parseSweep(file, text)
		if err != nil {
			return nil, err
		}
		return &Checked{Kind: KindSweep, Name: s.Name, Points: s.Points()}, nil
	}
	return nil, problems([]*Problem{{File: file, Text: "unknown kind of file. A scenario has [[site]] tables, " +
		"a site [[group]], a broker [broker], the process of either also [listen], a batch of jobs [[job]], a sweep [[parameter]]"}})
}

func (s *Scenario) checked() *Checked {
	c := &Checked{Kind: KindScenario, Name: s.Name, Sites: len(s.Sites), Brokers: len(s.Brokers), Span: s.Until}
	for i := range s.Sites {
		c.Groups += len(s.Sites[i].Groups)
		c.Nodes += s.Sites[i].Nodes()
		if w := s.Sites[i].Workload; w != nil && w.Trace != "" {
			c.Traces++
		}
	}
	for i := range s.Brokers {
		c.addJobs(&s.Brokers[i])
	}
	return c
}

func (s *SiteProcess) checked() *Checked {
	c := &Checked{Kind: KindSiteProcess, Name: s.Name, Groups: len(s.Groups), Nodes: s.Nodes()}
	if s.Workload != nil && s.Workload.Trace != "" {
		c.Traces = 1
	}
	if s.Cluster.SameAccount {
		c.Remarks = append(c.Remarks, "same_account = true: work may run as an account that can open the site's keys and journals. Any user can then act as the site and write into its journals")
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

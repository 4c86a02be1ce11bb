package report

import (
	"fmt"
	"io"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Header describes a run. The order of its sites and brokers is the order in every table and
// picture.
type Header struct {
	Scenario string
	Seed     uint64
	Sites    []Site
	Brokers  []Broker
	Settings []Setting // its configuration, in the order to show
}

// Setting is one key of a run's configuration, in the form for users.
type Setting struct {
	Owner string `json:"owner"` // a site or a VO; "" for the whole
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Site is a site and its groups. Its agents are "site:NAME" and "cluster:NAME".
type Site struct {
	Name   string
	Groups []grid.Group
	Log    *LogSummary // of its local jobs; nil: they are from no log that tells waits
	ByWeek bool        // its local jobs are from a log long enough for intervals over weeks
}

// Broker is a VO's broker. Its agent is "broker:NAME".
type Broker struct {
	Name    string
	Budget  grid.Credits
	Urgency grid.Urgency // of jobs that have none of their own
	ByWeek  bool         // what becomes of its jobs depends on such a log
}

// Options say how much of a run to remember.
type Options struct {
	// Keep remembers every job: about 64 bytes for a local job, 300 for a VO job. Without it
	// the collector only sums: memory for local jobs is constant, an ended VO job takes 8
	// bytes, and the report has neither rows nor pictures.
	Keep bool
	// Events receives every fact as a line of JSON when it is recorded; nil: none.
	Events io.Writer
}

// End is the state at the end of the run that facts do not show.
type End struct {
	Until   grid.Time
	Waiting map[string][]Waiting         // by site: the local jobs still queued, in any order
	Ledgers map[agents.ID][]grid.Account // by agent, in the order to show
}

// Waiting is a local job that is still queued; those submitted after the end
// are left out.
type Waiting struct {
	Job    int64
	Group  string // may be empty
	Nodes  int
	Submit grid.Time
}

// Collector sums up facts. A single goroutine feeds it, in the order of the run.
type Collector struct {
	header  Header
	keep    bool
	events  *eventWriter // nil if they are not written
	sites   []*site
	brokers []*vo
	index   map[agents.ID]origin
	byName  map[string]*vo
}

// origin is what a collector knows of an agent: at most one of the two is set.
type origin struct {
	site    *site
	broker  *vo
	cluster bool
}

// NewCollector returns a collector for the agents of the header. It panics if two agents have
// the same name.
func NewCollector(h Header, o Options) *Collector {
	c := &Collector{header: h, keep: o.Keep, index: map[agents.ID]origin{}, byName: map[string]*vo{}}
	if o.Events != nil {
		c.events = newEventWriter(o.Events)
	}
	for _, s := range h.Sites {
		one := newSite(s, o.Keep)
		c.sites = append(c.sites, one)
		c.know(agents.ID("site:"+s.Name), origin{site: one})
		c.know(agents.ID("cluster:"+s.Name), origin{site: one, cluster: true})
	}
	for _, b := range h.Brokers {
		one := newBroker(b, o.Keep)
		c.brokers = append(c.brokers, one)
		c.byName[b.Name] = one
		c.know(agents.ID("broker:"+b.Name), origin{broker: one})
	}
	return c
}

func (c *Collector) know(id agents.ID, o origin) {
	if _, dup := c.index[id]; dup {
		panic(fmt.Sprintf("report: two agents named %s", id))
	}
	c.index[id] = o
}

// Hook feeds the facts of one step. It has the signature of a runtime's hook.
func (c *Collector) Hook(now grid.Time, id agents.ID, out *agents.Outbox) {
	if len(out.Facts) == 0 {
		return
	}
	o := c.index[id]
	for _, f := range out.Facts {
		c.add(now, id, o, f)
	}
}

// Add feeds one fact. Facts of agents that the header does not name, and of kinds
// that no measure needs, are only written to the events.
func (c *Collector) Add(now grid.Time, id agents.ID, f agents.Fact) { c.add(now, id, c.index[id], f) }

// add feeds one fact of an agent of which so much is known.
func (c *Collector) add(now grid.Time, id agents.ID, o origin, f agents.Fact) {
	if c.events != nil {
		c.events.write(now, id, f)
	}
	switch {
	case o.cluster:
		o.site.clusterFact(now, f)
	case o.site != nil:
		switch m := f.(type) {
		case facts.PilotCharged:
			o.site.income.Base = o.site.income.Base.Plus(m.Cost)
		case facts.LegMoved:
			o.site.legMoved(now, m)
			if b := c.byName[m.Leg.Tx.Broker]; b != nil {
				b.follow(now, m.Leg.Tx, m)
			}
		}
	case o.broker != nil:
		o.broker.fact(now, f)
		if c.keep {
			o.broker.detailed(now, f)
		}
		o.broker.drop(now, f)
	}
}

// Finish makes the report at the end of the run. It fails only if the events could not be
// written. Do not feed the collector after that.
func (c *Collector) Finish(end End) (*Report, error) {
	if c.events != nil {
		if err := c.events.flush(); err != nil {
			return nil, fmt.Errorf("events: %w", err)
		}
	}
	r := &Report{until: end.Until, sites: c.sites, brokers: c.brokers, kept: c.keep}
	r.Summary = Summary{Scenario: c.header.Scenario, Seed: c.header.Seed, Until: end.Until, Settings: c.header.Settings,
		Sites: []SiteSummary{}, Brokers: []BrokerSummary{}}
	for _, s := range c.sites {
		s.wait(end.Waiting[s.name], end.Until)
		sum := s.summary(end.Until)
		sum.Accounts = accounts(end.Ledgers[agents.ID("site:"+s.name)])
		r.Summary.Sites = append(r.Summary.Sites, sum)
	}
	for _, b := range c.brokers {
		sum := b.summary(end.Until)
		sum.Accounts = accounts(end.Ledgers[agents.ID("broker:"+b.name)])
		r.Summary.Brokers = append(r.Summary.Brokers, sum)
	}
	r.Summary.AllVOs = total(c.brokers, end.Until)
	r.Summary.Finding = r.Summary.find() + r.Summary.besideLogs()
	return r, nil
}

// Report is a run, summed up: the summary and, if the jobs were kept, its rows
// and its picture.
type Report struct {
	Summary Summary

	until   grid.Time
	sites   []*site
	brokers []*vo
	kept    bool
}

// accounts turns nil into an empty list, so that JSON shows [].
func accounts(list []grid.Account) []grid.Account {
	if list == nil {
		return []grid.Account{}
	}
	return list
}

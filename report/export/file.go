package export

import (
	"container/heap"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/report/lanes"
)

// File turns facts, in order of time, into a file for another program. It remembers only
// running and reserved work and unfinished VO jobs, so its memory depends on the busiest
// moment, not on the length of the run.
//
// It processes the facts of one instant together, ends before starts, and starts and ends
// reservations by their times, so that nodes are free when the next job needs them.
type File struct {
	to      writer
	sites   []*site
	byName  map[string]*site
	brokers map[string]*broker
	now     grid.Time
	count   int // of stays, for the order of those that begin at once
	starts  stayHeap
	ends    stayHeap
	over    []*stay // in this instant
	freed   []*stay // in this instant, and not over yet
	err     error
}

// writer is a format.
type writer interface {
	// over is called for each stay that has ended, or that still runs when the run ends.
	over(s *stay) error
	// began is called for each stay that begins.
	began(s *stay) error
	// settled is called for each site whose use has changed in an instant.
	settled(now grid.Time, s *site) error
	// brokerFact is called for each fact of a broker.
	brokerFact(now grid.Time, broker string, f agents.Fact) error
	finish() error
}

// site is a site with its groups.
type site struct {
	number  int // from 0
	name    string
	groups  []*group
	local   map[int64]*stay
	legs    map[grid.LegID]*stay // that are held, reserved or running
	speaks  bool                 // its own facts come: what brokers say of its legs is not needed
	changed bool
	use     [2]int // nodes of local jobs and of legs that run
}

// group is a group with its nodes, numbered from 0.
type group struct {
	name  string
	known bool // how many nodes it has is known beforehand
	nodes int  // so far
	gaps  lanes.Gaps
	rows  []bool // in use: places of a picture in which one stay follows another
}

// broker is the memory of a VO's jobs.
type broker struct {
	turns  history.Turns
	submit map[string]grid.Time               // of the jobs that are not over
	txs    map[grid.TxID]*history.Transaction // that are not decided
}

// stay is a job or a leg on nodes of a group.
type stay struct {
	site        *site
	group       *group
	broker, job string // of a leg; the number of a local job
	leg         grid.LegID
	part        string // of a job of parts: the one that the leg carries
	submit      grid.Time
	start, end  grid.Time
	due         grid.Time // when it is to end, by its estimate or its reservation
	nodes       int
	fare        grid.Fare
	status      string
	shared      bool // it has its nodes not for itself
	reserved    bool // of a leg: it is confirmed
	begun, back bool // it has its nodes, or has had them; it has given them back
	gone        bool // it is over
	lanes       []lanes.Piece
	row         int
	number      int
}

func (s *stay) vo() bool { return s.broker != "" }

// work is the job of a leg, and its part if it has parts.
func (s *stay) work(between string) string {
	if s.part == "" {
		return s.job
	}
	return s.job + between + s.part
}

// ownNodes bounds the nodes of a group that is known by what runs on it only.
const ownNodes = report.MostNodes

func newFile(to writer, own, told []report.Site) *File {
	e := &File{to: to, byName: map[string]*site{}, brokers: map[string]*broker{}}
	for i, s := range slices.Concat(own, told) {
		one := e.site(s.Name)
		one.speaks = i < len(own)
		for _, g := range s.Groups {
			one.groups = append(one.groups, &group{name: g.Name, known: true, nodes: g.Nodes, gaps: lanes.New(g.Nodes)})
		}
	}
	return e
}

// Format makes an export to w. own are the sites with facts of their own, told those known
// only from brokers; the file has them in this order. Unknown sites and groups may be missing:
// they are added when they are met.
type Format func(w io.Writer, own, told []report.Site) *File

// Run exports the folder of a run, as written by simulate --out.
func Run(dir string, w io.Writer, begin Format) error {
	s, err := report.ReadSummary(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, report.EventsFile)
	events, err := os.Open(path)
	if err != nil {
		return err
	}
	defer events.Close()
	e := begin(w, s.Header().Sites, nil)
	if err := report.ReadEvents(events, e.Add); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return e.Finish(s.Until)
}

// Now is the instant of the latest fact.
func (e *File) Now() grid.Time { return e.now }

// Sites lists the sites met, in the form for an exporter. A group of unknown size has as many
// nodes as its work has needed at once.
func (e *File) Sites() (own, told []report.Site) {
	for _, s := range e.sites {
		one := report.Site{Name: s.name}
		for _, g := range s.groups {
			one.Groups = append(one.Groups, grid.Group{Site: s.name, Name: g.name, Nodes: g.nodes})
		}
		if s.speaks {
			own = append(own, one)
		} else {
			told = append(told, one)
		}
	}
	return own, told
}

// site is the site of that name, and new if there is none yet.
func (e *File) site(name string) *site {
	if s := e.byName[name]; s != nil {
		return s
	}
	s := &site{number: len(e.sites), name: name, local: map[int64]*stay{}, legs: map[grid.LegID]*stay{}}
	e.sites, e.byName[name] = append(e.sites, s), s
	return s
}

func (e *File) broker(name string) *broker {
	b := e.brokers[name]
	if b == nil {
		b = &broker{submit: map[string]grid.Time{}, txs: map[grid.TxID]*history.Transaction{}}
		e.brokers[name] = b
	}
	return b
}

func (s *site) group(name string) *group {
	if i := slices.IndexFunc(s.groups, func(g *group) bool { return g.name == name }); i >= 0 {
		return s.groups[i]
	}
	g := &group{name: name, gaps: lanes.New(ownNodes)}
	s.groups = append(s.groups, g)
	return g
}

// Add takes one fact. The first error stops it and is kept for Finish.
func (e *File) Add(now grid.Time, id agents.ID, f agents.Fact) error {
	if now > e.now {
		e.advance(now)
	}
	kind, name, _ := strings.Cut(string(id), ":")
	switch kind {
	case "cluster":
		e.clusterFact(e.site(name), now, f)
	case "site":
		e.siteFact(e.site(name), now, f)
	case "broker":
		e.brokerFact(name, now, f)
	}
	return e.err
}

// Finish ends the file. Work that is still running then is written as such.
func (e *File) Finish(until grid.Time) error {
	e.advance(max(until, e.now))
	e.settle(e.now)
	for _, s := range e.sites {
		var rest []*stay
		for _, one := range s.local {
			rest = append(rest, one)
		}
		for _, one := range s.legs {
			if one.begun {
				rest = append(rest, one)
			}
		}
		slices.SortFunc(rest, func(a, b *stay) int { return a.number - b.number })
		for _, one := range rest {
			if one.end = min(e.now, one.due); !one.vo() {
				one.end = e.now
			}
			one.status = report.Running
			e.tell(e.to.over(one))
		}
	}
	if e.err == nil {
		e.err = e.to.finish()
	}
	return e.err
}

func (e *File) tell(err error) {
	if e.err == nil {
		e.err = err
	}
}

// advance lives through the instants before now at which something starts or ends.
func (e *File) advance(now grid.Time) {
	for {
		e.settle(e.now)
		next := min(e.starts.first(), e.ends.first())
		if next >= now {
			break
		}
		e.now = max(next, e.now)
	}
	e.now = now
}

// settle closes an instant.
func (e *File) settle(now grid.Time) {
	for e.ends.first() <= now {
		if s := heap.Pop(&e.ends).(entry).stay; s.begun && s.due <= now {
			e.giveBack(s)
		}
	}
	for _, s := range e.freed {
		e.giveBack(s)
	}
	for _, s := range e.over {
		e.giveBack(s)
		if s.begun || !s.vo() { // a local job may end as it begins, and has no nodes then
			e.tell(e.to.over(s))
		}
	}
	e.freed, e.over = e.freed[:0], e.over[:0]
	for e.starts.first() <= now {
		if s := heap.Pop(&e.starts).(entry).stay; !s.begun && !s.gone && s.start <= now {
			e.begin(s)
		}
	}
	for _, s := range e.sites {
		if s.changed {
			s.changed = false
			e.tell(e.to.settled(now, s))
		}
	}
}

// begin gives a stay its nodes.
func (e *File) begin(s *stay) {
	g := s.group
	s.begun, s.number = true, e.count
	e.count++
	if !s.shared && s.nodes > 0 {
		if free := g.gaps.Height(); free < s.nodes {
			e.tell(fmt.Errorf("site %s, group %s: %s needed at %v s, %d free: the facts promise a node twice", s.site.name, g.name, report.Count(s.nodes, "node"), s.start, free))
			return
		}
		s.lanes = slices.Clone(g.gaps.Take(s.nodes, s.vo() || !g.known))
		slices.SortFunc(s.lanes, func(a, b lanes.Piece) int { return a.Lane - b.Lane })
		g.nodes = max(g.nodes, s.lanes[len(s.lanes)-1].Lane+s.lanes[len(s.lanes)-1].Height)
	}
	if s.row = slices.Index(g.rows, false); s.row < 0 {
		s.row = len(g.rows)
		g.rows = append(g.rows, false)
	}
	g.rows[s.row] = true
	e.uses(s, s.nodes)
	if s.vo() {
		heap.Push(&e.ends, entry{s.due, s.number, s})
	}
	e.tell(e.to.began(s))
}

// giveBack takes its nodes from a stay.
func (e *File) giveBack(s *stay) {
	if !s.begun || s.back {
		return
	}
	s.back = true
	s.group.gaps.Give(s.lanes)
	s.group.rows[s.row] = false
	e.uses(s, -s.nodes)
}

func (e *File) uses(s *stay, nodes int) {
	i := 0
	if s.vo() {
		i = 1
	}
	s.site.use[i] += nodes
	s.site.changed = true
}

// await puts a stay on the list of those that begin.
func (e *File) await(s *stay) {
	heap.Push(&e.starts, entry{s.start, e.count, s})
	e.count++
}

// entry is a stay and an instant at which to look at it.
type entry struct {
	at     grid.Time
	number int
	stay   *stay
}

type stayHeap []entry

func (h stayHeap) first() grid.Time {
	if len(h) == 0 {
		return grid.Never
	}
	return h[0].at
}

func (h stayHeap) Len() int      { return len(h) }
func (h stayHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h stayHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].number < h[j].number
}
func (h *stayHeap) Push(x any) { *h = append(*h, x.(entry)) }
func (h *stayHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"unicode/utf8"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// longestEvent bounds a line of events.jsonl.
const longestEvent = 16 << 20

// types are the types of the facts of a run, by kind. What only a cluster in real time
// records is in no run; it may have a field of the same name as the head of a line.
var types = func() map[string]reflect.Type {
	of := map[string]reflect.Type{}
	for _, f := range facts.Facts() {
		of[f.Kind()] = reflect.TypeOf(f)
	}
	delete(of, facts.WorkBegun{}.Kind())
	delete(of, facts.ClusterImage{}.Kind())
	return of
}()

// decode makes a fact of its fields.
func decode(of reflect.Type, line []byte) (agents.Fact, error) {
	p := reflect.New(of)
	if err := json.Unmarshal(line, p.Interface()); err != nil {
		return nil, err
	}
	f, _ := p.Elem().Interface().(agents.Fact) // as all of the list are
	return f, nil
}

// eventHead is what every line of events.jsonl opens with.
type eventHead struct {
	At    *grid.Time `json:"at"`
	Agent agents.ID  `json:"agent"`
	Kind  string     `json:"kind"`
}

// headOf reads the head of a line. Decoding every line once for its head and once for its
// fact would take a quarter of all the time that a report does, so a head as eventWriter
// writes it is cut off the line. Of any other line, as somebody may have made it, all is
// decoded.
func headOf(line []byte) (h eventHead, err error) {
	at, agent, kind, ok := cutHead(line)
	if ok {
		var t grid.Time
		if err := t.UnmarshalJSON(at); err == nil {
			return eventHead{&t, agents.ID(agent), string(kind)}, nil
		}
	}
	err = json.Unmarshal(line, &h)
	return h, err
}

// cutHead cuts the words of a head off a line. It reports false if they may need decoding.
func cutHead(line []byte) (at, agent, kind []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"at":`))
	if !ok {
		return nil, nil, nil, false
	}
	at, rest, ok = bytes.Cut(rest, []byte(`,"agent":"`))
	if !ok || bytes.ContainsFunc(at, func(r rune) bool { return r != '-' && r != '.' && (r < '0' || r > '9') }) {
		return nil, nil, nil, false
	}
	agent, rest, ok = bytes.Cut(rest, []byte(`","kind":"`))
	if !ok || bytes.ContainsFunc(agent, func(r rune) bool { return r == '"' || r == '\\' || r < ' ' || r == utf8.RuneError }) {
		return nil, nil, nil, false
	}
	kind, _, ok = bytes.Cut(rest, []byte(`"`))
	return at, agent, kind, ok && !bytes.ContainsAny(kind, "\\")
}

// ReadEvents reads events.jsonl and calls each with every fact, in order. It skips facts of
// unknown kinds. An error names the line.
func ReadEvents(r io.Reader, each func(now grid.Time, id agents.ID, f agents.Fact) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestEvent)
	n := 0
	for lines.Scan() {
		n++
		line := lines.Bytes()
		head, err := headOf(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if head.At == nil || head.Agent == "" || head.Kind == "" {
			return fmt.Errorf("line %d: must have at, agent and kind", n)
		}
		of, known := types[head.Kind]
		if !known {
			if err := json.Unmarshal(line, &struct{}{}); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			continue
		}
		f, err := decode(of, line)
		if err == nil {
			err = each(*head.At, head.Agent, f)
		}
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", n, head.Kind, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	return nil
}

// Header is what the summary says of how a run was made.
func (s *Summary) Header() Header {
	h := Header{Scenario: s.Scenario, Seed: s.Seed, Settings: s.Settings}
	for _, one := range s.Sites {
		site := Site{Name: one.Name, Log: one.Local.Log, ByWeek: one.Weeks != nil}
		for _, g := range one.Groups {
			site.Groups = append(site.Groups, grid.Group{Site: one.Name, Name: g.Name, Nodes: g.Nodes, Performance: g.Performance, Price: g.Price, Curve: curveOf(g.Curve)})
		}
		h.Sites = append(h.Sites, site)
	}
	for _, one := range s.Brokers {
		h.Brokers = append(h.Brokers, Broker{Name: one.Name, Budget: one.Budget, Urgency: one.Urgency, ByWeek: one.Weeks != nil})
	}
	return h
}

// ReadDir reads a report's summary and events back, so that its tables and its picture can
// be drawn again. Local jobs that were still queued at the end are counted but have no
// rows. It is an error if the files are from different runs, or have contents that no run
// writes.
func ReadDir(dir string) (*Report, error) {
	text, err := os.ReadFile(filepath.Join(dir, SummaryFile))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, EventsFile)
	events, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer events.Close()
	return read(text, events, filepath.Join(dir, SummaryFile), path)
}

// ReadSummary reads a report's summary alone. It is an error if no run could have written it.
func ReadSummary(dir string) (*Summary, error) {
	path := filepath.Join(dir, SummaryFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return readSummary(text, path)
}

func readSummary(text []byte, path string) (*Summary, error) {
	var s Summary
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &s, nil
}

// read makes a report from the two files; errors name them by their paths.
func read(summary []byte, events io.Reader, summaryPath, eventsPath string) (*Report, error) {
	s, err := readSummary(summary, summaryPath)
	if err != nil {
		return nil, err
	}
	c := NewCollector(s.Header(), Options{Keep: true})
	if err := c.feed(events); err != nil {
		return nil, fmt.Errorf("%s: %w", eventsPath, err)
	}
	r, err := c.Finish(End{Until: s.Until})
	if err != nil {
		return nil, err
	}
	if !r.Summary.tellsOf(s) {
		return nil, fmt.Errorf("%s and %s are of different runs: their numbers differ", summaryPath, eventsPath)
	}
	r.Summary = *s
	return r, nil
}

// feed adds the facts of an events.jsonl, each checked first. The budget in the header of a
// run that was written has all payments in it already.
func (c *Collector) feed(events io.Reader) error {
	return ReadEvents(events, func(now grid.Time, id agents.ID, f agents.Fact) error {
		switch f.(type) {
		case facts.BudgetOpened, facts.Deposited:
			return nil
		}
		err := c.check(now, id, f)
		if err == nil {
			c.Add(now, id, f)
		}
		return err
	})
}

// check refuses a summary that no run could have written.
func (s *Summary) check() error {
	if s.Until < 0 {
		return fmt.Errorf("until: %v s is before the start", s.Until)
	}
	names := map[string]bool{}
	for _, one := range s.Sites {
		if names["site:"+one.Name] {
			return fmt.Errorf("sites: there are two named %q", one.Name)
		}
		names["site:"+one.Name] = true
		if len(one.Groups) == 0 {
			return fmt.Errorf("sites: %q has no groups", one.Name)
		}
		for _, g := range one.Groups {
			if g.Nodes < 1 || g.Nodes > MostNodes {
				return fmt.Errorf("sites: %q, group %q: %d nodes, must be 1 to %d", one.Name, g.Name, g.Nodes, MostNodes)
			}
			if _, err := grid.ParsePriceCurve(g.Curve); err != nil {
				return fmt.Errorf("sites: %q, group %q: %w", one.Name, g.Name, err)
			}
		}
	}
	for _, one := range s.Brokers {
		if names["broker:"+one.Name] {
			return fmt.Errorf("brokers: there are two named %q", one.Name)
		}
		names["broker:"+one.Name] = true
	}
	return nil
}

// MostNodes bounds a group read from a file, and what a job may take of one.
const MostNodes = 10_000_000

// check refuses a fact that no agent of the header could have recorded.
func (c *Collector) check(now grid.Time, id agents.ID, f agents.Fact) error {
	s := c.index[id].site
	switch f := f.(type) {
	case facts.JobStarted:
		return s.checkGroup(f.Group, f.Nodes)
	case facts.JobEnded:
		return s.checkGroup(f.Group, f.Nodes)
	case facts.LegMoved:
		if f.What.Nodes == 0 || f.State == grid.Refused {
			return nil
		}
		return s.checkGroup(f.What.Group, f.What.Nodes)
	case facts.TxBegun:
		if len(f.Sites) != len(f.Legs) {
			return fmt.Errorf("%d sites for %d legs", len(f.Sites), len(f.Legs))
		}
		for k, leg := range f.Legs {
			if err := c.index[agents.ID("site:"+f.Sites[k])].site.checkGroup(leg.Group, leg.Nodes); err != nil {
				return err
			}
		}
	}
	if now > grid.MaxTime {
		return errors.New("at is beyond all time")
	}
	return nil
}

// checkGroup refuses a group that the site does not have, and impossible numbers of
// nodes. It accepts everything of a site that is not known.
func (s *site) checkGroup(name string, nodes int) error {
	if s == nil {
		return nil
	}
	if _, ok := s.index[name]; !ok {
		return fmt.Errorf("site %s has no group %q", s.name, name)
	}
	if nodes < 0 || nodes > MostNodes {
		return fmt.Errorf("%d nodes", nodes)
	}
	return nil
}

// UnmarshalJSON reads the counts of this build, or of one that called the jobs
// abandoned refused.
func (s *JobSummary) UnmarshalJSON(text []byte) error {
	type plain JobSummary
	var old struct {
		Refused int `json:"refused"`
	}
	if err := json.Unmarshal(text, (*plain)(s)); err != nil {
		return err
	}
	err := json.Unmarshal(text, &old)
	s.Abandoned += old.Refused
	return err
}

// tellsOf reports whether two summaries are of the same run, apart from what facts do not
// show.
func (s *Summary) tellsOf(o *Summary) bool {
	if len(s.Sites) != len(o.Sites) || len(s.Brokers) != len(o.Brokers) {
		return false
	}
	for i := range s.Sites {
		a, b := s.Sites[i], o.Sites[i]
		a.Local.Waiting, a.Accounts, a.Refunded = b.Local.Waiting, b.Accounts, b.Refunded
		if !reflect.DeepEqual(a, b) {
			return false
		}
	}
	for i := range s.Brokers {
		a, b := s.Brokers[i], o.Brokers[i]
		a.Accounts = b.Accounts
		a.Refunded, a.Value, a.CostNodeHour = b.Refunded, b.Value, b.CostNodeHour // before refunds, in older runs
		a.Transactions.Moved = b.Transactions.Moved                               // which older runs have not counted
		for _, j := range []*JobSummary{&a.Jobs, &b.Jobs} {                       // which older runs have not told apart
			j.Waiting, j.Withdrawn, j.Abandoned = j.Waiting+j.Withdrawn+j.Abandoned, 0, 0
		}
		if !reflect.DeepEqual(a, b) {
			return false
		}
	}
	return true
}

package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
)

// traceFile writes the Trace Event Format, which Perfetto and Chrome open: a process
// for each site and VO; in a site threads for each group, as many as jobs have run
// there at once; a slice for each job and leg; arrows between the legs of a window;
// counters of nodes in use and of prices. Instants are microseconds.
type traceFile struct {
	out     *bufio.Writer
	enc     *json.Encoder
	any     bool           // an event is written
	threads map[*group]int // named so far
	groups  map[*group]int // the number of its first thread
	sites   map[*site]bool // named
	vos     map[string]int // their processes
	windows map[grid.TxID]*traceWindow
	flows   int
}

// traceWindow is a window with legs that are not over.
type traceWindow struct {
	legs []traceSlice // that have begun, in the order in which they did
	open int
}

type traceSlice struct {
	pid, tid int
	ts       int64
}

// traceEvent is one event; what a phase does not have is left out.
type traceEvent struct {
	Name string         `json:"name"`
	Cat  string         `json:"cat,omitempty"`
	Ph   string         `json:"ph"`
	TS   int64          `json:"ts"`
	Dur  *int64         `json:"dur,omitempty"`
	PID  int            `json:"pid"`
	TID  int            `json:"tid"`
	ID   int            `json:"id,omitempty"`
	BP   string         `json:"bp,omitempty"` // e: the arrow ends in the slice that holds its instant
	Args map[string]any `json:"args,omitempty"`
}

// threadsOfGroup bounds the jobs that one group runs at once, by the numbers of threads.
const threadsOfGroup = 1 << 20

// Trace exports to w the JSON that Perfetto opens.
func Trace(w io.Writer, own, told []report.Site) *File {
	f := &traceFile{out: bufio.NewWriterSize(w, 1<<16), threads: map[*group]int{}, groups: map[*group]int{}, sites: map[*site]bool{},
		vos: map[string]int{}, windows: map[grid.TxID]*traceWindow{}}
	f.enc = json.NewEncoder(f.out)
	f.enc.SetEscapeHTML(false)
	e := newFile(f, own, told)
	_, err := f.out.WriteString("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n")
	e.tell(err)
	for _, s := range e.sites {
		e.tell(f.nameSite(s))
	}
	return e
}

func (f *traceFile) write(e traceEvent) error {
	if f.any {
		if err := f.out.WriteByte(','); err != nil {
			return err
		}
	}
	f.any = true
	return f.enc.Encode(e)
}

// micro is an instant in microseconds.
func micro(t grid.Time) int64 { return int64(t) * 1000 }

// Sites are processes 1, 3, 5; VOs 2, 4, 6: either may be met first.
func pidOf(s *site) int { return 2*s.number + 1 }

func (f *traceFile) nameSite(s *site) error {
	if f.sites[s] {
		return nil
	}
	f.sites[s] = true
	return f.name("process", pidOf(s), 0, "site "+s.name, s.number)
}

// name names a process or a thread, and says which place it has among the others.
func (f *traceFile) name(what string, pid, tid int, name string, place int) error {
	if err := f.write(traceEvent{Name: what + "_name", Ph: "M", PID: pid, TID: tid, Args: map[string]any{"name": name}}); err != nil {
		return err
	}
	return f.write(traceEvent{Name: what + "_sort_index", Ph: "M", PID: pid, TID: tid, Args: map[string]any{"sort_index": place}})
}

// thread is that of a stay, named if it is met for the first time.
func (f *traceFile) thread(s *stay) (int, error) {
	first, ok := f.groups[s.group]
	if !ok {
		for i, g := range s.site.groups {
			if g == s.group {
				first = 1 + i*threadsOfGroup
			}
		}
		f.groups[s.group] = first
	}
	for ; f.threads[s.group] <= s.row; f.threads[s.group]++ {
		n := f.threads[s.group]
		if err := f.name("thread", pidOf(s.site), first+n, fmt.Sprintf("%s %d", s.group.name, n+1), first+n); err != nil {
			return 0, err
		}
	}
	return first + s.row, nil
}

func (f *traceFile) began(s *stay) error {
	if err := f.nameSite(s.site); err != nil {
		return err
	}
	tid, err := f.thread(s)
	if err != nil || !s.vo() {
		return err
	}
	w := f.windows[s.leg.Tx]
	if w == nil {
		w = &traceWindow{}
		f.windows[s.leg.Tx] = w
	}
	w.legs, w.open = append(w.legs, traceSlice{pidOf(s.site), tid, micro(s.start)}), w.open+1
	hours := report.NodeHours(grid.Leg{Start: s.start, End: s.due, Nodes: s.nodes})
	if hours <= 0 || s.fare == (grid.Fare{}) {
		return nil
	}
	return f.write(traceEvent{Name: "price a node-hour", Ph: "C", TS: micro(s.start), PID: pidOf(s.site), Args: map[string]any{
		"base": s.fare.Base.Float() / hours, "additive": s.fare.Additive.Float() / hours}})
}

func (f *traceFile) over(s *stay) error {
	if !s.begun || s.end <= s.start {
		return nil
	}
	tid, err := f.thread(s)
	if err != nil {
		return err
	}
	e := traceEvent{Name: "job " + s.job, Cat: "local", Ph: "X", TS: micro(s.start), PID: pidOf(s.site), TID: tid,
		Args: map[string]any{"nodes": s.nodes, "status": s.status, "waited s": s.start.Sub(s.submit).Seconds()}}
	dur := micro(s.end) - e.TS
	e.Dur = &dur
	if s.vo() {
		e.Name, e.Cat = s.broker+"/"+s.work(" "), "vo"
		e.Args["leg"], e.Args["credits"] = s.leg.String(), s.fare.Total().Float()
		if s.part != "" {
			e.Args["part"] = s.part
		}
	}
	if err := f.write(e); err != nil || !s.vo() {
		return err
	}
	w := f.windows[s.leg.Tx]
	if w.open--; w.open > 0 {
		return nil
	}
	delete(f.windows, s.leg.Tx)
	return f.join(w.legs)
}

// join draws arrows from each leg of a window to the next.
func (f *traceFile) join(legs []traceSlice) error {
	if len(legs) < 2 {
		return nil
	}
	f.flows++
	for i, l := range legs {
		e := traceEvent{Name: "window", Cat: "window", Ph: "t", TS: l.ts, PID: l.pid, TID: l.tid, ID: f.flows}
		switch i {
		case 0:
			e.Ph = "s"
		case len(legs) - 1:
			e.Ph, e.BP = "f", "e"
		}
		if err := f.write(e); err != nil {
			return err
		}
	}
	return nil
}

func (f *traceFile) settled(now grid.Time, s *site) error {
	if err := f.nameSite(s); err != nil {
		return err
	}
	return f.write(traceEvent{Name: "nodes in use", Ph: "C", TS: micro(now), PID: pidOf(s), Args: map[string]any{"local jobs": s.use[0], "VOs": s.use[1]}})
}

func (f *traceFile) brokerFact(now grid.Time, broker string, fact agents.Fact) error {
	c, ok := fact.(facts.CycleClosed)
	if !ok {
		return nil
	}
	pid := f.vos[broker]
	if pid == 0 {
		pid = 2 * (len(f.vos) + 1)
		f.vos[broker] = pid
		if err := f.name("process", pid, 0, "VO "+broker, 1_000_000+pid); err != nil {
			return err
		}
	}
	return f.write(traceEvent{Name: "jobs of the cycle", Ph: "C", TS: micro(now), PID: pid, Args: map[string]any{"planned": c.Batch - c.Postponed, "postponed": c.Postponed}})
}

func (f *traceFile) finish() error {
	if _, err := f.out.WriteString("]}\n"); err != nil {
		return err
	}
	return f.out.Flush()
}

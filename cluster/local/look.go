package local

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// Words for why work has not ended by itself.
const (
	WhyWindow = "its window was over"
	WhyTold   = "it was told to end"
)

// look shows the nodes and, as jobs, the work that runs, has ended, or was lost because its
// supervisor was killed or the machine restarted.
func (d *Driver) look(at bourse.Time) (*bourse.Look, error) {
	if _, err := os.Stat(d.cfg.Folder); err != nil {
		return nil, err
	}
	l := &bourse.Look{At: at, Source: "processes of this machine"}
	busy := map[string]int{}
	for _, name := range d.names() {
		job, err := d.work(name).job()
		if err != nil {
			return nil, err
		}
		if job == nil {
			continue
		}
		l.Jobs = append(l.Jobs, *job)
		if job.State == bourse.ManagedRunning {
			for _, n := range job.Nodes {
				busy[n] = 1
			}
		}
	}
	slices.SortStableFunc(l.Jobs, func(a, b bourse.ManagedJob) int { return ranks[a.State] - ranks[b.State] })
	for _, n := range slices.Sorted(slices.Values(d.cfg.Nodes)) {
		l.Nodes = append(l.Nodes, bourse.ManagedNode{Name: n, State: bourse.NodeUp, CPUs: 1, Busy: busy[n]})
	}
	return l, nil
}

// ranks puts running work first.
var ranks = map[bourse.ManagedState]int{bourse.ManagedRunning: 0, bourse.ManagedEnded: 1, bourse.ManagedLost: 1}

// job is how a look shows a piece of work; nil if it does not.
func (w work) job() (*bourse.ManagedJob, error) {
	s := w.state()
	if s.err != nil {
		return nil, s.err
	}
	if s.claim == nil || !s.runs && s.result == nil || s.result != nil && s.result.Failed.Refused() {
		return nil, nil // it has not begun
	}
	o, err := read[order](w, orderFile)
	if o == nil {
		return nil, err // it was just put aside
	}
	j := &bourse.ManagedJob{Number: strconv.Itoa(s.claim.Process.PID), Name: o.Name, User: o.Account.Name, State: bourse.ManagedRunning,
		Count: len(o.Nodes), Nodes: o.Nodes, Exclusive: true, Limit: o.End.Sub(o.Start), Submit: o.At, Start: s.claim.At, End: o.End}
	if r := s.result; r != nil {
		j.State, j.Why, j.Start, j.End, j.Exit, j.Signal = bourse.ManagedEnded, r.Why, r.Begin, r.End, r.Exit, r.Signal
		if r.Lost != "" {
			j.State, j.Why = bourse.ManagedLost, r.Lost
		}
	}
	return j, nil
}

// output reads what work has printed, from the file that its supervisor keeps and never
// from one that its user may have put elsewhere.
func (d *Driver) output(m agents.OutputRequest) agents.Output {
	a := agents.Output{Ref: m.Ref, Name: m.Name, From: m.From}
	fail := func(err error) agents.Output {
		a.Failure = because(err)
		return a
	}
	if !properName(m.Name) {
		a.Failure = bourse.Because(bourse.Invalid, "%q cannot name a piece of work", m.Name)
		return a
	}
	f, err := os.Open(d.work(m.Name).file(outputFile))
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(work(d.ended(m.Name)).file(outputFile))
	}
	if errors.Is(err, fs.ErrNotExist) {
		a.Failure = bourse.Because(bourse.Unknown, "there is no output of it; it has not begun, or ended more than %s ago and was deleted", bourse.Duration(keptFor.Milliseconds()).Words())
		return a
	}
	if err != nil {
		return fail(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return fail(err)
	}
	a.Size = info.Size()
	if a.From < 0 {
		a.From = max(0, a.Size-min(-a.From, bourse.MaxTail))
	}
	a.From = min(a.From, a.Size)
	a.Data = make([]byte, min(bourse.MaxTail, a.Size-a.From))
	n, err := f.ReadAt(a.Data, a.From)
	a.Data = a.Data[:n]
	if err != nil && !errors.Is(err, io.EOF) {
		return fail(err)
	}
	return a
}

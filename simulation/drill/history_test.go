//go:build linux

package drill

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/linear"
	"github.com/bourse-grid/bourse/web/client"
)

// The requests of users to the broker's API and its answers, across all its lives: for each job
// they must be those of one register.

// call is what a user asks about a job.
type call struct{ job, does string } // "submit", "see", "cancel"

// told is what became of it: of a see the job's state, "unknown" if there is no
// such job; "yes", "no"; "" if no answer came, and it may have come to pass.
type told string

// userHistory takes down calls of several users at once.
type userHistory struct {
	mu    sync.Mutex
	begun time.Time
	ops   []porcupine.Operation
	taken map[string]bool // jobs that the broker has said it took
}

func newUserHistory() *userHistory { return &userHistory{begun: time.Now(), taken: map[string]bool{}} }

func (h *userHistory) now() int64 { return int64(time.Since(h.begun)) }

// took takes down a call that began at an instant and has just been answered.
func (h *userHistory) took(since int64, c call, t told) {
	h.mu.Lock()
	defer h.mu.Unlock()
	op := porcupine.Operation{ClientId: len(h.ops), Input: c, Output: t, Call: since, Return: h.now()}
	if t == "" {
		op.Return = 1 << 62
	}
	h.ops = append(h.ops, op)
	if c.does == "submit" && t == "yes" {
		h.taken[c.job] = true
	}
}

// lost says whether an error leaves open what has come to pass, and what it says
// if not.
func lost(err error) (bool, told) {
	p, ok := err.(*client.Problem) //nolint:errorlint // as the client returns it
	switch {
	case !ok || p.Status >= 500:
		return true, ""
	case p.Status == http.StatusNotFound:
		return false, "unknown"
	}
	return false, "no"
}

// check returns an error unless each job is a register.
func (h *userHistory) check() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if porcupine.CheckOperations(register, h.ops) {
		return nil
	}
	for _, part := range register.Partition(h.ops) {
		if !porcupine.CheckOperations(register, part) {
			var b strings.Builder
			for _, op := range part {
				fmt.Fprintf(&b, "\n  %v..%v %s: %q", time.Duration(op.Call).Round(time.Millisecond), time.Duration(op.Return).Round(time.Millisecond), op.Input.(call).does, op.Output)
			}
			return fmt.Errorf("what users were told of job %s is not what one register would say:%s", part[0].Input.(call).job, &b)
		}
	}
	return fmt.Errorf("the users' history is not that of one register")
}

// The states of a register: absent, open (waiting, trying, placed or running: a window
// that breaks has its job wait again), or one of the ends.
const (
	absent = "absent"
	open   = "open"
)

// register is the model of one job.
var register = (&porcupine.NondeterministicModel{
	Partition: func(ops []porcupine.Operation) [][]porcupine.Operation {
		index := map[string]int{}
		var parts [][]porcupine.Operation
		for _, op := range ops {
			job := op.Input.(call).job
			i, ok := index[job]
			if !ok {
				i = len(parts)
				index[job] = i
				parts = append(parts, nil)
			}
			parts[i] = append(parts[i], op)
		}
		return parts
	},
	Init:  func() []any { return []any{absent} },
	Step:  func(state, in, out any) []any { return registerStep(state.(string), in.(call).does, out.(told)) },
	Equal: func(a, b any) bool { return a == b },
}).ToModel()

// registerStep lists what a job may be after a call with that answer.
func registerStep(state, does string, out told) []any {
	first := []any{state}
	switch does {
	case "submit":
		switch {
		case state == absent && out == "yes":
			return []any{open}
		case state == absent && out == "":
			return []any{absent, open}
		}
		return first
	case "cancel":
		switch {
		case out == "yes" && (state == open || state == "withdrawn"):
			return []any{"withdrawn"}
		case out == "yes":
			return nil
		case out == "unknown" && state != absent:
			return nil
		case state == open: // a repeat may be refused because the first try was heard
			return []any{open, "withdrawn"}
		}
		return first
	}
	switch {
	case out == "":
		return first
	case out == "unknown":
		if state == absent {
			return first
		}
		return nil
	case out == "waiting" || out == "trying" || out == "placed" || out == "running":
		if state == open {
			return first
		}
		return nil
	case state == string(out):
		return first
	case state == open && (out == "done" || out == "abandoned"):
		return []any{string(out)}
	}
	return nil
}

// legHistory is what a broker has asked of its sites' ledgers, as its journal
// shows it: what is asked may have been asked at once when the fact before it
// was on record, what is answered was answered when it was on record itself.
type legHistory struct {
	*linear.History
	txs    map[grid.TxID]*facts.TxBegun
	priced map[grid.TxID]int
	legs   map[string][]grid.LegID // of a job's committed windows
	exempt map[grid.LegID]bool
}

// readLegs reads the journal of a broker's process, or of a replica's.
func readLegs(dir string) (*legHistory, error) {
	h := &legHistory{linear.New(), map[grid.TxID]*facts.TxBegun{}, map[grid.TxID]int{}, map[string][]grid.LegID{}, map[grid.LegID]bool{}}
	folder, err := journal.LookInto(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	_, err = journal.Read(folder, journal.NewCodec(), func(r journal.Record) error {
		if !r.Image {
			h.Tick()
			h.take(r.Fact)
		}
		return nil
	})
	return h, err
}

func (h *legHistory) take(fact interface{ Kind() string }) {
	switch f := fact.(type) {
	case facts.TxBegun:
		h.txs[f.Tx] = &f
		for i := range f.Legs {
			h.Ask(grid.LegID{Tx: f.Tx, Leg: i}, linear.AskHold, f.Sites[i], f.Limits[i])
		}
	case facts.LegPriced:
		h.Answer(f.Leg, linear.AskHold, "Held", f.Fare.Total())
		if h.priced[f.Leg.Tx]++; h.txs[f.Leg.Tx] != nil && len(h.txs[f.Leg.Tx].Legs) > 1 {
			h.Ask(f.Leg, linear.AskPrepare, "", 0)
		}
	case facts.TxDecided:
		h.decided(f)
	case facts.TxReversed:
		h.each(f.Tx, func(leg grid.LegID) { h.Ask(leg, linear.AskCancel, "", 0) })
	case facts.LegClosed:
		switch {
		case f.Commit:
			h.Answer(f.Leg, linear.AskConfirm, "Confirmed", 0)
		case f.Reason.Refused(): // the site has given it up: it was never asked, or could not be done
		default:
			h.Answer(f.Leg, linear.AskCancel, "Cancelled", 0)
		}
	case facts.JobCancelled:
		h.released(f.Job)
	case facts.JobBroken:
		h.released(f.Job)
	case facts.LegDone:
		if f.State == grid.Released {
			h.Answer(f.Leg, linear.AskRelease, "Released", f.Refund)
		}
	case facts.LegAdopted:
		h.exempt[f.Leg] = true
	case facts.Amnesia:
		for _, leg := range f.Legs {
			h.exempt[leg] = true
		}
	}
}

func (h *legHistory) decided(f facts.TxDecided) {
	h.each(f.Tx, func(leg grid.LegID) {
		if !f.Commit {
			h.Ask(leg, linear.AskCancel, "", 0)
			return
		}
		h.Ask(leg, linear.AskConfirm, "", 0)
		h.legs[f.Job] = append(h.legs[f.Job], leg)
	})
}

func (h *legHistory) released(job string) {
	for _, leg := range h.legs[job] {
		h.Ask(leg, linear.AskRelease, "", 0)
	}
}

func (h *legHistory) each(tx grid.TxID, do func(grid.LegID)) {
	if x := h.txs[tx]; x != nil {
		for i := range x.Legs {
			do(grid.LegID{Tx: tx, Leg: i})
		}
	}
}

// check returns an error unless every leg's operations are those of one ledger.
func (h *legHistory) check() error {
	return h.Check(func(leg grid.LegID) bool { return h.exempt[leg] })
}

package batsim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/driven"
)

// talk is one simulation with a scheduler.
type talk struct {
	peer   *Peer
	world  *driven.World
	limits map[int64]job
	nodes  nodes
	now    grid.Time
	busy   grid.Time // until when the scheduler decides: it hears of nothing before
	events []event   // that it has not heard of
	due    []decision
	calls  []grid.Time // when it wishes to be called, in order
	last   bool        // it knows that no more jobs come
	coming int         // jobs
}

// job is what is kept of a job that was submitted.
type job struct {
	nodes int
	limit grid.Duration
	cut   bool // it runs into its limit
	alloc []int
	start grid.Time
	text  string // of the allocation
}

// decision is carried out at an instant.
type decision struct {
	at    grid.Time
	kind  string
	id    int64
	alloc string
	known bool // the job waited or ran when the scheduler decided
}

// Run lets the scheduler drive a world of that many nodes. cut says which jobs run into their
// limits; log is the name of the log.
func Run(p *Peer, w *driven.World, nodeCount int, log string, cut func(id int64) bool) error {
	t := &talk{peer: p, world: w, limits: map[int64]job{}, nodes: nodes{make([]bool, nodeCount)}, coming: w.Jobs()}
	t.tell("SIMULATION_BEGINS", begins(nodeCount, log))
	if err := t.ask(); err != nil {
		return err
	}
	if err := t.decide(); err != nil {
		return err
	}
	for {
		if err := t.wish(); err != nil {
			return err
		}
		r, ok, err := w.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		t.happened(r, cut)
		for again := true; again; { // a kill is told at once
			if err := t.decide(); err != nil {
				return err
			}
			if again = t.now >= t.busy && len(t.events) > 0; again {
				if err := t.ask(); err != nil {
					return err
				}
			}
		}
	}
	t.tell("SIMULATION_ENDS", map[string]any{})
	return t.ask()
}

// tell adds an event of this instant to the next message.
func (t *talk) tell(kind string, data any) {
	t.events = append(t.events, event{seconds(t.now), kind, data})
}

// happened turns a request of the world into events.
func (t *talk) happened(r *driven.Request, cut func(id int64) bool) {
	t.now = r.Now
	for _, id := range r.Ended {
		j := t.limits[id]
		state := "COMPLETED_SUCCESSFULLY"
		if j.cut {
			state = "COMPLETED_WALLTIME_REACHED"
		}
		t.completed(id, j, state, 0)
	}
	for i := range r.Arrived {
		j := &r.Arrived[i]
		t.limits[j.ID] = job{nodes: j.Nodes, limit: j.Estimate, cut: cut(j.ID)}
		t.tell("JOB_SUBMITTED", map[string]any{"job_id": nameOf(j.ID), "job": map[string]any{
			"id": nameOf(j.ID), "subtime": seconds(j.Submit), "walltime": seconds(grid.Time(j.Estimate)), "res": j.Nodes, "profile": profile, "user": j.User}})
	}
	if t.coming -= len(r.Arrived); t.coming == 0 && !t.last {
		t.last = true
		t.tell("NOTIFY", map[string]string{"type": "no_more_static_job_to_submit"})
	}
	if n, _ := slices.BinarySearch(t.calls, t.now+1); n > 0 {
		t.calls = slices.Delete(t.calls, 0, n)
		t.tell("REQUESTED_CALL", map[string]any{})
	}
}

func (t *talk) completed(id int64, j job, state string, code int) {
	t.nodes.free(j.alloc)
	delete(t.limits, id)
	t.tell("JOB_COMPLETED", map[string]any{"job_id": nameOf(id), "job_state": state, "return_code": code, "alloc": j.text})
}

// wish has the world ask again when a decision, a call or the end of the scheduler's thinking is
// due.
func (t *talk) wish() error {
	a := driven.Answer{Wake: grid.Never}
	if len(t.due) > 0 {
		a.Wake = t.due[0].at
	}
	if len(t.calls) > 0 {
		a.Wake = min(a.Wake, t.calls[0])
	}
	if len(t.events) > 0 {
		a.Wake = min(a.Wake, t.busy)
	}
	return t.world.Apply(&a)
}

// ask tells the scheduler what has happened and takes its decisions.
func (t *talk) ask() error {
	text, err := json.Marshal(message{seconds(t.now), t.events})
	if err != nil {
		return err
	}
	t.events = t.events[:0]
	said, err := t.peer.ask(text)
	if err != nil {
		return t.at(err)
	}
	var a answer
	if err := parse(said, &a, false); err != nil {
		return t.at(fmt.Errorf("the answer is no message (%w); it is like {\"now\":%v,\"events\":[]}", err, seconds(t.now)))
	}
	if t.busy, err = instant(a.Now); err != nil {
		return t.at(err)
	}
	if t.busy < t.now {
		return t.at(fmt.Errorf("the answer is of %v, which is past; now must not go back", t.busy))
	}
	for i := range a.Events {
		e := &a.Events[i]
		at, err := instant(e.Timestamp)
		if err == nil && (at < t.now || at > t.busy) {
			err = fmt.Errorf("its timestamp %v is not between %v and the answer's now, %v", at, t.now, t.busy)
		}
		if err == nil {
			err = t.take(at, e.Type, e.Data)
		}
		if err != nil {
			return t.at(fmt.Errorf("event %d, %.40q: %w", i+1, e.Type, err))
		}
	}
	slices.SortStableFunc(t.due, func(x, y decision) int { return cmp.Compare(x.at, y.at) })
	return nil
}

func (t *talk) at(err error) error { return fmt.Errorf("at %v: %w", t.now, err) }

// take reads a decision.
func (t *talk) take(at grid.Time, kind string, data json.RawMessage) error {
	one := func(name, alloc string) error {
		id, err := idOf(name)
		_, known := t.limits[id]
		t.due = append(t.due, decision{at, kind, id, alloc, known})
		return err
	}
	switch kind {
	case "EXECUTE_JOB":
		var d struct {
			Job   string `json:"job_id"`
			Alloc string `json:"alloc"`
		}
		if err := parse(data, &d, true); err != nil {
			return err
		}
		return one(d.Job, d.Alloc)
	case "REJECT_JOB":
		var d struct {
			Job string `json:"job_id"`
		}
		if err := parse(data, &d, true); err != nil {
			return err
		}
		return one(d.Job, "")
	case "KILL_JOB":
		var d struct {
			Jobs []string `json:"job_ids"`
		}
		if err := parse(data, &d, true); err != nil {
			return err
		}
		for _, name := range d.Jobs {
			if err := one(name, ""); err != nil {
				return err
			}
		}
		return nil
	case "CALL_ME_LATER":
		var d struct {
			Timestamp float64 `json:"timestamp"`
		}
		if err := parse(data, &d, true); err != nil {
			return err
		}
		call, err := instant(d.Timestamp)
		if err == nil && call <= t.now {
			err = fmt.Errorf("the call at %v is not later than now", call)
		}
		if i, there := slices.BinarySearch(t.calls, call); !there {
			t.calls = slices.Insert(t.calls, i, call)
		}
		return err
	}
	return fmt.Errorf("bourse does not know it; a scheduler may say EXECUTE_JOB, REJECT_JOB, KILL_JOB and CALL_ME_LATER")
}

// decide carries out the decisions that are due.
func (t *talk) decide() error {
	var killed []string
	progress := map[string]any{}
	for len(t.due) > 0 && t.due[0].at <= t.now {
		d := t.due[0]
		t.due = t.due[1:]
		j, left := t.limits[d.id]
		a := driven.Answer{Wake: grid.Never}
		switch d.kind {
		case "EXECUTE_JOB":
			a.Start = []int64{d.id}
		case "REJECT_JOB":
			a.Reject = []int64{d.id}
		case "KILL_JOB":
			if !left && d.known {
				continue // it ended while the scheduler decided
			}
			a.Kill = []int64{d.id}
		}
		if err := t.world.Apply(&a); err != nil {
			return err
		}
		switch d.kind {
		case "EXECUTE_JOB":
			alloc, err := t.nodes.take(d.alloc, j.nodes)
			if err != nil {
				return t.at(fmt.Errorf("start of job %d: %w", d.id, err))
			}
			j.alloc, j.text, j.start = alloc, d.alloc, t.now
			t.limits[d.id] = j
		case "REJECT_JOB":
			delete(t.limits, d.id)
		case "KILL_JOB":
			t.completed(d.id, j, "COMPLETED_KILLED", -1)
			killed = append(killed, nameOf(d.id))
			progress[nameOf(d.id)] = map[string]any{"profile": profile, "progress": t.now.Sub(j.start).Seconds() / j.limit.Seconds()}
		}
	}
	if len(killed) > 0 {
		t.tell("JOB_KILLED", map[string]any{"job_ids": killed, "job_progress": progress})
	}
	return nil
}

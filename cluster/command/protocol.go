package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// request is one line to the program.
type request struct {
	ID      uint64            `json:"id"`
	Do      string            `json:"do"`
	Version int               `json:"version,omitempty"` // hello
	Site    string            `json:"site,omitempty"`    // hello
	Prefix  string            `json:"prefix,omitempty"`  // hello
	Name    string            `json:"name,omitempty"`
	Start   *grid.Time        `json:"start,omitempty"`
	End     *grid.Time        `json:"end,omitempty"`
	Nodes   []string          `json:"nodes,omitempty"`
	User    string            `json:"user,omitempty"`
	Command []string          `json:"command,omitempty"`
	Script  string            `json:"script,omitempty"` // a program's text, instead of a command
	Env     map[string]string `json:"env,omitempty"`
	Dir     string            `json:"dir,omitempty"`     // where the work begins; none: its own folder
	Output  string            `json:"output,omitempty"`  // where its output goes; none: the driver's own place
	Number  string            `json:"number,omitempty"`  // end, delete: of the job as last seen
	Submit  *grid.Time        `json:"submit,omitempty"`  // likewise
	In      string            `json:"in,omitempty"`      // run: the name of the pilot that becomes the work
	Group   string            `json:"group,omitempty"`   // claim
	Count   int               `json:"count,omitempty"`   // claim: nodes
	Limit   *grid.Duration    `json:"limit,omitempty"`   // claim: of the job
	Grant   *grid.Duration    `json:"grant,omitempty"`   // claim: how long it may idle from its begin
	Seconds *grid.Duration    `json:"seconds,omitempty"` // grant: likewise
	File    string            `json:"file,omitempty"`    // output
	From    *int64            `json:"from,omitempty"`
	Max     int               `json:"max,omitempty"`
}

// requestOf is a command in the words of the protocol.
func requestOf(c agents.Command) request {
	r := request{Do: string(c.Verb), Name: c.Name}
	switch c.Verb {
	case agents.End, agents.Delete:
		r.Number = c.Number
		if c.Submit > 0 {
			r.Submit = &c.Submit
		}
		return r
	case agents.Claim:
		r.Group, r.Count, r.Limit, r.Grant, r.User = c.Group, c.Count, &c.Limit, &c.Granted, c.User
		return r
	case agents.Grant:
		r.Seconds = &c.Granted
		return r
	}
	r.In = c.In
	r.Start, r.End, r.Nodes, r.User = &c.Start, &c.End, c.Nodes, c.User
	if w := c.Work; w != nil {
		r.Command, r.Script, r.Dir, r.Output = w.Work.Command, w.Work.Script, w.Work.Dir, w.Work.Output
		r.Env = map[string]string{}
		for _, v := range w.Work.Env {
			r.Env[v.Name] = v.Value
		}
		for _, v := range w.Variables(c.Site, c.Nodes, c.Start, c.End) {
			r.Env[v.Name] = v.Value
		}
	}
	return r
}

// answer is one line from the program. Unknown fields are ignored.
type answer struct {
	ID      *uint64         `json:"id"`
	Version int             `json:"version"`
	Source  string          `json:"source"`
	Can     []string        `json:"can"`
	Look    json.RawMessage `json:"look"`
	Outcome string          `json:"outcome"`
	Code    string          `json:"code"`
	Detail  string          `json:"detail"`
	Number  string          `json:"number"`
	Failure *said           `json:"failure"`
	From    int64           `json:"from"`
	Size    int64           `json:"size"`
	Data    []byte          `json:"data"` // base64
}

// said is why something failed, in the words of the program.
type said struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// codes are those of the API that a program may use.
var codes = []grid.Code{grid.Invalid, grid.TooLarge, grid.TooLong, grid.NoNode, grid.Busy, grid.Past, grid.Unknown, grid.MinNotice, grid.MaxHorizon,
	grid.NotAllowed, grid.Draining, grid.Cap, grid.QueueFull, grid.Conflict, grid.BadState, grid.NoCluster, grid.Withdrawn, grid.NoShare, grid.Early}

// reason takes the program's words. A code that is not one of the API's counts as other.
func (s said) reason(other grid.Code) grid.Reason {
	code := grid.Code(s.Code)
	if !slices.Contains(codes, code) {
		code = other
	}
	return grid.Because(code, "%s", plain(s.Detail))
}

// failed is the failure that an answer tells, or nil.
func (a *answer) failed() error {
	if a.Failure != nil {
		return failure{a.Failure.reason(grid.NoCluster)}
	}
	return nil
}

// outcome is how a command went. An answer without one that is known is a failure.
func (a *answer) outcome() (agents.Outcome, grid.Reason) {
	words := said{a.Code, a.Detail}
	switch o := agents.Outcome(a.Outcome); o {
	case agents.Done:
		return o, grid.Reason{}
	case agents.Denied:
		return o, words.reason(grid.Invalid)
	case agents.Failure:
		return o, words.reason(grid.NoCluster)
	}
	if err := a.failed(); err != nil {
		return agents.Failure, asReason(err)
	}
	return agents.Failure, grid.Because(grid.NoCluster, "the driver's answer has outcome %q; must be done, denied or failure", plain(a.Outcome))
}

// maxDetail bounds the words of a program that are kept, in bytes.
const maxDetail = 1 << 10

// plain makes one line of a text, without what moves a terminal's cursor.
func plain(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) > maxDetail {
		s = s[:maxDetail]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s))
}

// Bounds of a look.
const (
	maxNodes = 100_000
	maxJobs  = 1_000_000
	maxName  = 4 << 10 // bytes
)

// readLook reads the look of an answer. What it leaves out is not taken for empty: a
// driver that cannot read its jobs must fail.
func (a *answer) readLook() (*grid.Look, error) {
	if err := a.failed(); err != nil {
		return nil, err
	}
	var l struct {
		grid.Look
		Nodes        *[]grid.ManagedNode        `json:"nodes"`
		Jobs         *[]grid.ManagedJob         `json:"jobs"`
		Reservations *[]grid.ManagedReservation `json:"reservations"`
	}
	if len(a.Look) == 0 {
		return nil, errors.New("the driver's answer to look has neither look nor failure")
	}
	if err := json.Unmarshal(a.Look, &l); err != nil {
		return nil, fmt.Errorf("the driver's look: %w", inWords(err))
	}
	if l.Nodes == nil || l.Jobs == nil || l.Reservations == nil {
		return nil, errors.New("the driver's look lacks nodes, jobs or reservations; an empty list is []")
	}
	look := l.Look
	look.Nodes, look.Jobs, look.Reservations = *l.Nodes, *l.Jobs, *l.Reservations
	if err := checkLook(&look); err != nil {
		return nil, fmt.Errorf("the driver's look: %w", err)
	}
	return &look, nil
}

// inWords says which field of an answer has a value of the wrong kind.
func inWords(err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err
	}
	want := "whole number"
	switch wrong.Type.Kind() {
	case reflect.String:
		want = "string"
	case reflect.Bool:
		want = "boolean"
	case reflect.Slice:
		want = "list"
	case reflect.Struct:
		want = "object"
	}
	return fmt.Errorf("%s: %s, must be a %s", wrong.Field, wrong.Value, want)
}

// checkLook says what is wrong with a look.
func checkLook(l *grid.Look) error {
	switch {
	case l.At <= 0 || l.At >= grid.MaxTime:
		return errors.New("at: must be when it was begun, in seconds since 1970")
	case len(l.Nodes) > maxNodes || len(l.Jobs) > maxJobs || len(l.Reservations) > maxJobs:
		return fmt.Errorf("%d nodes, %d jobs, %d reservations: must be at most %d, %d, %d", len(l.Nodes), len(l.Jobs), len(l.Reservations), maxNodes, maxJobs, maxJobs)
	}
	nodes := map[string]bool{}
	for i, n := range l.Nodes {
		switch {
		case n.Name == "" || len(n.Name) > maxName || nodes[n.Name]:
			return fmt.Errorf("nodes[%d]: name %q: must be there, once, and at most %d bytes", i, plain(n.Name), maxName)
		case n.State != grid.NodeUp && n.State != grid.NodeDrained && n.State != grid.NodeDown && n.State != grid.NodeUnknown:
			return fmt.Errorf("nodes[%d]: state %q: must be up, drained, down or unknown", i, plain(string(n.State)))
		case n.CPUs < 0 || n.Busy < 0 || n.Memory < 0 || n.GPUs < 0:
			return fmt.Errorf("nodes[%d]: must have no figure below 0", i)
		}
		nodes[n.Name] = true
	}
	for i := range l.Jobs {
		if err := checkJob(&l.Jobs[i]); err != nil {
			return fmt.Errorf("jobs[%d]: %w", i, err)
		}
	}
	for i, r := range l.Reservations {
		if r.Name == "" || len(r.Name) > maxName || r.End < r.Start || r.Start < 0 {
			return fmt.Errorf("reservations[%d]: must have a name, and an end that is not before its start", i)
		}
	}
	return nil
}

func checkJob(j *grid.ManagedJob) error {
	switch j.State {
	case grid.ManagedPending, grid.ManagedHeld, grid.ManagedRunning, grid.ManagedEnded, grid.ManagedLost, grid.ManagedUnknown:
	default:
		return fmt.Errorf("state %q: must be pending, held, running, ended, lost or unknown", plain(string(j.State)))
	}
	switch {
	case j.Number == "" || len(j.Number) > maxName || len(j.Name) > maxName || len(j.User) > maxName:
		return fmt.Errorf("must have a number, and no name of more than %d bytes", maxName)
	case j.Count < 0 || j.Limit < 0 || j.Granted < 0 || len(j.In) > maxName || j.Start < 0 || j.Submit < 0 || j.End < 0:
		return errors.New("must have no figure below 0")
	case j.State == grid.ManagedRunning && (j.Start == 0 || len(j.Nodes) == 0):
		return errors.New("runs, and must have its start and nodes")
	}
	return nil
}

// Package command drives a resource manager through a program of somebody else: a process
// that is asked on its standard input and answers on its standard output, one JSON object a
// line. It follows "Drivers", kind = "command": what the program must do, how long it may
// take, and what its silence means. The reconciler that decides what is done stands above
// (cluster/managed) and is the same for all managers.
//
// The package never repeats a command by itself, and never calls one denied that it does not
// know to be: what was not answered is a failure, and a later look decides.
package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Version is the version of the protocol.
const Version = 1

// Limits of the program, in time and size.
const (
	HelloLimit   = 10 * time.Second
	LookLimit    = 60 * time.Second // also of output
	CommandLimit = 40 * time.Second
	EndLimit     = 5 * time.Second // from the end of its standard input to its exit
	MaxLook      = 8 << 20         // bytes of a line that answers a look
	MaxLine      = 256 << 10       // of any other
	maxUnasked   = 10_000          // answers of one life that nobody waits for
	maxSaid      = 100             // lines of its standard error that are logged within a minute
	firstPause   = time.Second     // before it is started again; doubled each time
	longestPause = time.Minute
	steadyAfter  = time.Minute // a life of that length resets the pause
)

// Config says which program it is.
type Config struct {
	Command []string          // with its arguments
	Dir     string            // where it is started; "": here
	Env     map[string]string // beside PATH, HOME and LANG
	Site    string
	Prefix  string // all our names in the manager begin with it
	// Needs are the verbs that it must know.
	Needs []string
	// Hello bounds the wait for its hello; 0: HelloLimit.
	Hello time.Duration
	// Log takes what it writes to standard error, and what it does wrong, from several
	// goroutines; nil: nobody.
	Log func(line string)
}

// Driver is the program, started again whenever it ends. Do may be called for one command,
// one look and one output at the same time.
type Driver struct {
	cfg  Config
	keep *keeper
}

// New starts the program and waits for its hello, a second time if the first fails. Close
// must be called.
func New(ctx context.Context, cfg Config) (*Driver, error) {
	if len(cfg.Command) == 0 {
		return nil, errors.New("command names no program")
	}
	d := &Driver{cfg: cfg, keep: newKeeper(cfg)}
	hello, err := d.keep.greeted(ctx)
	if err != nil {
		d.Close()
		return nil, err
	}
	var missing []string
	for _, verb := range cfg.Needs {
		if !slices.Contains(hello.Can, verb) {
			missing = append(missing, verb)
		}
	}
	if len(missing) > 0 {
		d.Close()
		return nil, &MissingError{missing}
	}
	return d, nil
}

// MissingError says that the program lacks verbs that the site's claims need.
type MissingError struct{ Verbs []string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("the driver cannot %s, which [cluster] claims needs; choose other claims, or a driver that can", strings.Join(e.Verbs, " and "))
}

// Close ends the program: its input ends, and after EndLimit it is killed with all that is
// in its process group.
func (d *Driver) Close() { d.keep.close() }

// Do carries out a message of the cluster.
func (d *Driver) Do(ctx context.Context, m agents.Message, answer func(agents.Message)) {
	switch m := m.(type) {
	case agents.Command:
		outcome, why := d.command(ctx, m)
		answer(agents.CommandDone{Ref: m.Ref, Name: m.Name, Outcome: outcome, Reason: why})
	case agents.LookRequest:
		look, err := d.Look(ctx)
		if err != nil {
			answer(agents.Looked{Ref: m.Ref, Failure: asReason(err)})
			return
		}
		answer(agents.Looked{Ref: m.Ref, Look: look})
	case agents.OutputRequest:
		answer(d.output(ctx, m))
	}
}

// Look asks for a look.
func (d *Driver) Look(ctx context.Context) (*grid.Look, error) {
	a, err := d.keep.ask(ctx, request{Do: "look"}, LookLimit)
	if err != nil {
		return nil, err
	}
	return a.readLook()
}

// command asks for a command.
func (d *Driver) command(ctx context.Context, c agents.Command) (agents.Outcome, grid.Reason) {
	if c.Verb == agents.Run {
		if c.Work == nil {
			return agents.Denied, grid.Because(grid.Invalid, "there is nothing to run")
		}
		if wrong := c.Work.Work.Check(); wrong != nil {
			return agents.Denied, grid.Because(grid.Invalid, "%s %v", wrong.Key, wrong.Err)
		}
	}
	a, err := d.keep.ask(ctx, requestOf(c), CommandLimit)
	if err != nil {
		return agents.Failure, asReason(err)
	}
	return a.outcome()
}

// output asks for what work has printed.
func (d *Driver) output(ctx context.Context, m agents.OutputRequest) agents.Output {
	out := agents.Output{Ref: m.Ref, Name: m.Name, From: m.From}
	a, err := d.keep.ask(ctx, request{Do: "output", Name: m.Name, File: m.File, From: &m.From, Max: grid.MaxTail}, LookLimit)
	if err == nil {
		err = a.failed()
	}
	switch {
	case err != nil:
		out.Failure = asReason(err)
	case len(a.Data) > grid.MaxTail || a.From < 0 || a.Size < a.From+int64(len(a.Data)):
		out.Failure = grid.Because(grid.NoCluster, "the driver's answer is no part of an output: %d bytes from %d of %d", len(a.Data), a.From, a.Size)
	default:
		out.From, out.Size, out.Data = a.From, a.Size, a.Data
	}
	return out
}

// failure is an error with a reason of the protocol.
type failure struct{ grid.Reason }

func (f failure) Error() string { return f.Reason.String() }

// asReason makes a reason of what went wrong with the program or was said by it.
func asReason(err error) grid.Reason {
	var f failure
	if errors.As(err, &f) {
		return f.Reason
	}
	return grid.Because(grid.NoCluster, "%v", err)
}

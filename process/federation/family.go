package federation

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"github.com/bourse-grid/bourse/process"
)

// Family is the set of child processes that up has started. A child ends when its
// standard input does, so it also ends when its parent is killed.
type Family struct {
	binary string
	log    *prefixed
	mu     sync.Mutex
	pids   map[string]int // by role and name
	pause  time.Duration  // before a child is restarted
}

// NewFamily makes a family without children, whose log lines go to stderr.
func NewFamily(stderr io.Writer) (*Family, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &Family{binary: binary, log: &prefixed{out: stderr}, pids: map[string]int{}, pause: restartWait}, nil
}

// PID is the process ID of a member.
func (f *Family) PID(m Member) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pids[m.Role+m.Name]
}

// Run starts the members, calls ready when all of them are ready, and keeps them running
// until ctx ends or one fails. Then it stops them all.
func (f *Family) Run(ctx context.Context, members []Member, ready func() error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	arrived := make(chan struct{}, len(members))
	for _, m := range members {
		all.Go(func() {
			if err := f.keep(ctx, m, arrived); err != nil {
				stop(err)
			}
		})
	}
	err := func() error {
		late := time.After(readyWithin)
		for range members {
			select {
			case <-arrived:
			case <-late:
				return fmt.Errorf("not all agents were ready within %v; see their messages above", readyWithin)
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err := ready(); err != nil {
			return err
		}
		<-ctx.Done()
		return context.Cause(ctx)
	}()
	stop(err)
	all.Wait()
	return err
}

// keep runs a member until ctx ends. It restarts a member that is killed, or that fails
// after it was ready. A member that ends by itself before that is an error.
func (f *Family) keep(ctx context.Context, m Member, arrived chan<- struct{}) error {
	var kills []time.Time
	var once sync.Once
	wait := f.pause
	for {
		begun, ready := time.Now(), false
		err := f.child(ctx, m, func() { ready = true; once.Do(func() { arrived <- struct{}{} }) })
		if ctx.Err() != nil {
			return nil
		}
		var exit *exec.ExitError
		killed := errors.As(err, &exit) && !exit.Exited()
		if !killed && !(ready && exit != nil && exit.ExitCode() == 1) {
			return fmt.Errorf("%s %s ended by itself (%v); see its messages above", m.Role, m.Name, ending(err))
		}
		now := time.Now()
		if now.Sub(begun) >= longestWait {
			wait = f.pause
		}
		how := "failed"
		pause := wait
		if killed {
			if kills = recent(append(kills, now)); len(kills) >= mostKills {
				return fmt.Errorf("%s %s was killed %d times within %v", m.Role, m.Name, len(kills), killsWithin)
			}
			how, pause = "was killed", f.pause
		} else {
			wait = min(2*wait, longestWait)
		}
		f.log.line(m.Name, fmt.Appendf(nil, "%s %s %s (%v); restarting it in %v from its journal", m.Role, m.Name, how, exit, pause))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// recent drops kills that are longer ago than killsWithin.
func recent(kills []time.Time) []time.Time {
	for kills[len(kills)-1].Sub(kills[0]) > killsWithin {
		kills = kills[1:]
	}
	return kills
}

// ending says how a process ended.
func ending(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// child runs a member once, until it ends or ctx does.
func (f *Family) child(ctx context.Context, m Member, ready func()) error {
	cmd := exec.Command(f.binary, m.Role, m.File, "--until-eof")
	cmd.Env = append(os.Environ(), ChildMark+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	logs, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	f.mu.Lock()
	f.pids[m.Role+m.Name] = cmd.Process.Pid
	f.mu.Unlock()
	ended := make(chan struct{})
	var isReady atomic.Bool
	go func() {
		select {
		case <-ctx.Done():
		case <-ended:
			return
		}
		_ = stdin.Close()
		if !isReady.Load() { // it may be waiting for its cluster, and not for its input
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
		select {
		case <-time.After(stopWithin):
			_ = cmd.Process.Signal(syscall.SIGKILL)
		case <-ended:
		}
	}()
	f.forward(m, logs, func() { isReady.Store(true); ready() })
	err = cmd.Wait()
	close(ended)
	return err
}

// ChildMark tells a test binary to act as bourse.
const ChildMark = "BOURSE_UP_CHILD"

// maxLine bounds a line of a child's log; longer ones are cut into several.
const maxLine = 64 << 10

// forward passes on the log of a child until its end.
func (f *Family) forward(m Member, logs io.Reader, ready func()) {
	r := bufio.NewReaderSize(logs, maxLine)
	for {
		line, err := r.ReadSlice('\n')
		if len(line) > 0 {
			var said struct{ Message string }
			if json.Unmarshal(line, &said) == nil && said.Message == "ready" {
				ready()
			}
			f.log.line(m.Name, line)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// prefixed writes the log lines of several agents, each with its agent's name. It turns
// lines of JSON into readable ones.
type prefixed struct {
	mu  sync.Mutex
	out io.Writer
}

func (p *prefixed) line(name string, line []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.out.(*os.File)
	plain := !ok || !term.IsTerminal(int(f.Fd()))
	fmt.Fprintf(p.out, "%-8s ", name)
	c := zerolog.ConsoleWriter{Out: p.out, NoColor: plain, TimeFormat: "15:04:05.000", FormatPrepare: process.VisibleMessage}
	if _, err := c.Write(line); err == nil {
		return
	}
	if n := len(line); n == 0 || line[n-1] != '\n' {
		line = append(line[:n:n], '\n')
	}
	_, _ = p.out.Write(line)
}

// The waits of a family.
const (
	readyWithin = time.Minute                      // of a child, from its start
	stopWithin  = process.Patience + 5*time.Second // for a child that is told to stop; then it is killed
	restartWait = time.Second                      // before a child is restarted; doubles each time it fails again
	longestWait = time.Minute                      // upper bound of that wait; a child that ran this long starts over with restartWait
	mostKills   = 5                                // of one child within killsWithin; then all are stopped
	killsWithin = time.Minute
)

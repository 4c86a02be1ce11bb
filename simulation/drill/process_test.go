//go:build linux

package drill

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// life is one life of an agent's process.
type life struct {
	cmd   *exec.Cmd
	stdin io.Closer
	begun chan struct{} // closed when it says "ready"
	ended chan struct{} // closed when it is gone; err is set then
	err   error
	mu    sync.Mutex
	lines []string // that it has said, in this life
	lives atomic.Int32
}

// start begins a life, which ends with the test's process if not before. Its log
// goes on in the file "log" of its folder.
func (a *agent) start() {
	a.f.t.Helper()
	program := cmp.Or(a.program, a.f.program, binary)
	if a.clock != "" {
		program = wrongClocked(a.f.t)
	}
	args := slices.Concat(a.within, []string{program, a.role, a.file(), "--until-eof"}, a.flags)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), clockVariable+"="+a.clock)
	stdin, err := cmd.StdinPipe()
	must(a.f.t, err)
	said, err := cmd.StderrPipe()
	must(a.f.t, err)
	log, err := os.OpenFile(filepath.Join(a.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(a.f.t, err)
	must(a.f.t, cmd.Start())
	a.mu.Lock()
	a.cmd, a.stdin, a.lines, a.err = cmd, stdin, nil, nil
	a.begun, a.ended = make(chan struct{}), make(chan struct{})
	a.mu.Unlock()
	a.lives.Add(1)
	go func() {
		a.listen(said, log)
		a.err = cmd.Wait()
		_ = log.Close()
		close(a.ended)
	}()
}

// listen takes down what the process says until it says no more.
func (a *agent) listen(said io.Reader, log io.Writer) {
	lines := bufio.NewReaderSize(said, 1<<20)
	ready := false
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			_, _ = io.WriteString(log, line)
			a.mu.Lock()
			a.lines = append(a.lines, line)
			a.mu.Unlock()
		}
		if !ready && strings.Contains(line, `"message":"ready"`) {
			ready = true
			close(a.begun)
		}
		if err != nil {
			return
		}
	}
}

// ready waits until others can reach the agent.
func (a *agent) ready() {
	a.f.t.Helper()
	select {
	case <-a.begun:
	case <-a.ended:
		a.f.t.Fatalf("%s ended by itself: %v\n%s", a.id(), a.err, a.tail(20))
	case <-time.After(patience):
		a.f.t.Fatalf("%s is not ready within %v\n%s", a.id(), patience, a.tail(20))
	}
}

// running reports whether the agent has a process.
func (a *agent) running() bool {
	if a.cmd == nil {
		return false
	}
	select {
	case <-a.ended:
		return false
	default:
		return true
	}
}

// pid is the process; where it is started within something, that execs.
func (a *agent) pid() int { return a.cmd.Process.Pid }

// process is pid, for whoever does not start it.
func (a *agent) process() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cmd == nil {
		return 0
	}
	return a.pid()
}

func (a *agent) signal(s syscall.Signal) {
	a.f.t.Helper()
	if err := a.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		a.f.t.Fatal(err)
	}
}

// kill ends the process as a power cut would, but for what the kernel has taken.
func (a *agent) kill() {
	a.f.t.Helper()
	a.signal(syscall.SIGKILL)
	<-a.ended
}

// stop has the agent leave.
func (a *agent) stop() {
	a.f.t.Helper()
	_ = a.stdin.Close()
	select {
	case <-a.ended:
		if a.err != nil {
			a.f.t.Errorf("%s does not leave as it should: %v\n%s", a.id(), a.err, a.tail(10))
		}
	case <-time.After(patience):
		a.signal(syscall.SIGABRT)
		a.f.t.Errorf("%s does not leave within %v\n%s", a.id(), patience, a.tail(10))
	}
}

// fails waits until the agent ends by itself, and returns its exit status.
func (a *agent) fails(within time.Duration) int {
	a.f.t.Helper()
	select {
	case <-a.ended:
		return a.cmd.ProcessState.ExitCode()
	case <-time.After(within):
		a.f.t.Fatalf("%s still runs after %v\n%s", a.id(), within, a.tail(10))
		return 0
	}
}

// said reports whether this life has logged a line with all these texts.
func (a *agent) said(texts ...string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, line := range a.lines {
		if containsAll(line, texts) {
			return true
		}
	}
	return false
}

func containsAll(line string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(line, text) {
			return false
		}
	}
	return true
}

// tail is the end of the agent's log, over all lives.
func (a *agent) tail(n int) string {
	text, _ := os.ReadFile(filepath.Join(a.dir, "log"))
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-n):], []byte("\n")))
}

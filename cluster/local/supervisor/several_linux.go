package supervisor

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// several looks after several pieces of work, each in a cgroup of its own.
type several struct {
	reaper
	started chan struct{} // a process was

	mu   sync.Mutex
	all  map[*supervisor]bool
	over sync.WaitGroup
}

// SuperviseSeveral runs the works whose folders it reads, one in a line, each from begin to
// end, and writes a Word for each, in a line, once it has begun. It takes only work that has a
// cgroup of its own, since that is how it finds all that a piece of work has started. It
// returns when nothing more comes and all works are over. Its process must do nothing else,
// and have the folder above those of the works as its last argument.
func SuperviseSeveral(folders io.Reader, words io.Writer) error {
	told, err := become()
	if err != nil {
		return err
	}
	self, ok := Find(os.Getpid())
	if !ok {
		return errors.New("/proc does not show this process")
	}
	self.Several = true
	c := &several{reaper: reaper{mains: map[int]chan<- syscall.WaitStatus{}, shared: true}, started: make(chan struct{}, 1), all: map[*supervisor]bool{}}
	go func() {
		for range c.started {
			c.run()
		}
	}()
	go func() {
		for sig := range told {
			c.tell(sig)
		}
	}()
	lines := make(chan string)
	go func() { // the thread that starts work must not end, and waits for nothing else
		defer close(lines)
		for r := bufio.NewScanner(folders); r.Scan(); {
			lines <- r.Text()
		}
	}()
	for line := range lines {
		text, _ := json.Marshal(c.take(Folder(line), self))
		_, _ = words.Write(append(text, '\n'))
	}
	c.over.Wait()
	return nil
}

// take begins the work in a folder, unless it needs a supervisor of its own or has one.
func (c *several) take(folder Folder, self Process) Word {
	s, err := newSupervisor(folder, &c.reaper)
	if err != nil || s.order.Cgroup == "" {
		return Word{Alone: true}
	}
	if s.group = openGroup(s.order.Cgroup); s.group == nil {
		return Word{Alone: true}
	}
	c.note(s, true) // before its claim is seen, by which it may be told to end
	if err := s.work.Claim(self); err != nil {
		c.note(s, false)
		_ = s.group.Close()
		return Word{Alone: true} // who tells what is wrong
	}
	s.kin = &grouped{s}
	word := s.start()
	select {
	case c.started <- struct{}{}:
	default:
	}
	if word.Failed.Code != "" {
		defer c.note(s, false)
		return c.conclude(s, word)
	}
	c.over.Go(func() {
		defer c.note(s, false)
		s.finish()
		_ = c.conclude(s, word)
	})
	if told(s.work) {
		c.tell(syscall.SIGUSR1)
	}
	return word
}

// conclude ends a piece of work, and says to the log if its result could not be written.
func (c *several) conclude(s *supervisor, word Word) Word {
	if err := s.conclude(); err != nil {
		fmt.Fprintf(os.Stderr, "bourse: %v\n", err)
	}
	return word
}

// note records that it looks after a piece of work, or no longer does.
func (c *several) note(s *supervisor, does bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if does {
		c.all[s] = true
	} else {
		delete(c.all, s)
	}
}

// tell ends all work if the process is told to end, and what is named in its folder if it is
// told to look there.
func (c *several) tell(sig os.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for s := range c.all {
		if sig == syscall.SIGTERM || sig == syscall.SIGUSR1 && told(s.work) {
			select {
			case s.told <- syscall.SIGTERM:
			default: // it was told often enough
			}
		}
	}
}

// told reports whether a piece of work is to end.
func told(w Folder) bool {
	_, err := os.Stat(w.File(ToldFile))
	return err == nil
}

// grouped is the kin of one of several pieces of work: all in its cgroup, and what its work has
// moved elsewhere, has lost its parent and still has its mark.
type grouped struct{ *supervisor }

func (g *grouped) kill() {
	_ = killGroup(g.order.Cgroup)
	g.strays(func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) })
}

func (g *grouped) signal(signals ...syscall.Signal) int {
	list := members(g.order.Cgroup)
	for _, pid := range list {
		for _, sig := range signals {
			_ = signalIf(pid, sig, func() bool { return isMember(pid, g.order.Cgroup) })
		}
	}
	return len(list) + g.strays(func(pid int) {
		for _, sig := range signals {
			_ = syscall.Kill(pid, sig)
		}
	})
}

func (g *grouped) gone(within time.Duration) bool {
	if !populated(g.order.Cgroup) && g.strays(func(int) {}) == 0 {
		return true
	}
	time.Sleep(within)
	return false
}

// strays calls f for the children of this process that are outside of all cgroups of its works
// and have the work's mark, and returns how many there are. Their numbers are theirs meanwhile.
func (g *grouped) strays(f func(pid int)) (n int) {
	g.Lock()
	defer g.Unlock()
	list, _ := startedBy(os.Getpid(), os.Getpid()) // by the thread that starts work, to which orphans pass too
	for _, pid := range list {
		if g.mains[pid] == nil && g.work.marks(pid) {
			f(pid)
			n++
		}
	}
	return n
}

// members lists the processes of a cgroup, and of those in it.
func members(folder string) (all []int) {
	text, _ := os.ReadFile(folder + "/cgroup.procs")
	for field := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil {
			all = append(all, pid)
		}
	}
	list, _ := os.ReadDir(folder)
	for _, e := range list {
		if e.IsDir() {
			all = append(all, members(folder+"/"+e.Name())...)
		}
	}
	return all
}

// isMember reports whether a process is in a cgroup, or in one in it.
func isMember(pid int, folder string) bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "0::") && strings.Contains(strings.TrimSpace(line)+"/", "/"+path.Base(folder)+"/") {
			return true
		}
	}
	return false
}

// populated reports whether a process is in a cgroup, or in one in it.
func populated(folder string) bool {
	text, err := os.ReadFile(folder + "/cgroup.events")
	return err == nil && strings.Contains(string(text), "populated 1") || err != nil && !errors.Is(err, os.ErrNotExist)
}

package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// The times of a supervisor.
const (
	clockEvery   = 5 * time.Second  // the clock is read again, because it may be set
	drainWithin  = 5 * time.Second  // for the rest of the output, once all that could print has ended
	writeWithin  = 10 * time.Minute // for the result, if the disk is full
	writeRetries = time.Second
)

// supervisor looks after one piece of work.
type supervisor struct {
	work  Folder
	order *Order
	out   *sink
	errs  *sink    // of its standard error; nil: that goes to out
	group *os.File // the work's cgroup; nil: it has none

	told   chan os.Signal
	status chan syscall.WaitStatus // of the work's own process
	gone   chan struct{}           // closed when nothing is left of what it has started
	main   int
	reaps  sync.Mutex // while it is held, no number of a child passes to another process
	result Result
}

// Supervise runs the work in a folder from begin to end, and writes to words that it has
// begun, or why it could not. Its process must do nothing else: whatever the work starts
// belongs to this process, however it tries to get away. It returns nil if another process
// runs the work, or has run it.
func Supervise(folder Folder, words *os.File) error {
	runtime.LockOSThread() // the work is killed when the thread that started it ends
	s := &supervisor{work: folder, told: make(chan os.Signal, 16), status: make(chan syscall.WaitStatus, 1), gone: make(chan struct{})}
	// Caught signals are reset for the work; ignored ones it would ignore too.
	signal.Notify(s.told, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	if err := errors.Join(becomeReaper(), SealDescriptors()); err != nil {
		return err
	}
	syscall.Umask(0o022)
	var err error
	if s.order, err = Read[Order](s.work, OrderFile); err != nil || s.order == nil || s.order.Run == nil {
		return errors.Join(err, fmt.Errorf("%s is not the folder of a piece of work", folder))
	}
	self, ok := Find(os.Getpid())
	if !ok {
		return errors.New("/proc does not show this process")
	}
	if err := s.work.Claim(self); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	failed := s.run(func() { say(words, Word{}) })
	if failed != nil {
		s.result = Result{Begin: Now(), End: Now(), Failed: Reason{"unknown", fmt.Sprintf("its work could not be begun: %v", failed)}}
	}
	if err := s.keep(); err != nil {
		return err
	}
	if failed != nil {
		say(words, Word{s.result.Failed})
	}
	if s.group != nil {
		closeGroup(s.order.Cgroup)
	}
	return nil
}

// say tells the driver, if the driver still listens.
func say(words *os.File, v Word) {
	text, _ := json.Marshal(v)
	_, _ = words.Write(text)
	_ = words.Close()
}

// keep writes the result. It tries for a while if the disk is full, because without a
// result the work counts as lost.
func (s *supervisor) keep() error {
	for end := time.Now().Add(writeWithin); ; time.Sleep(writeRetries) {
		if err := s.work.Write(ResultFile, s.result); err == nil || time.Now().After(end) {
			return err
		}
	}
}

// run runs the work until it and all that it has started have ended.
func (s *supervisor) run(begun func()) error {
	var err error
	if s.out, err = s.sink(OutputFile); err != nil {
		return err
	}
	defer s.out.close()
	out, err := s.out.open()
	if err != nil {
		return err
	}
	errs := out
	if s.order.Run.Error != "" {
		if s.errs, err = s.sink(ErrorsFile); err != nil {
			return err
		}
		defer s.errs.close()
		if errs, err = s.errs.open(); err != nil {
			return err
		}
	}
	s.result.Begin = Now()
	s.group = openGroup(s.order.Cgroup)
	var wrong *mistake
	main, err := s.begin(out, errs)
	_, _ = out.Close(), errs.Close()
	switch {
	case errors.As(err, &wrong):
		fmt.Fprintf(s.out, "bourse: %s\n", wrong.words)
		s.result.Exit = wrong.status
		begun()
	case err != nil:
		return err
	default:
		s.main = main.Pid
		go s.reap()
		begun()
		s.await()
		s.killAll()
	}
	s.result.End = max(s.result.End, s.result.Begin)
	late := time.Now().Add(drainWithin)
	for _, x := range []*sink{s.out, s.errs} {
		if x != nil {
			x.drain(late)
			x.end(&s.result)
		}
	}
	return nil
}

// sink opens a file of what is printed.
func (s *supervisor) sink(name string) (*sink, error) {
	f, err := os.OpenFile(s.work.File(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &sink{files: []*os.File{f}, left: MaxOutput}, nil
}

// begin opens the files that the job names for what it prints, with the rights of its account,
// and starts the work.
func (s *supervisor) begin(out, errs *os.File) (*os.Process, error) {
	// If the job names no folder, the work inherits its home, so that its account need
	// not pass through the folders above.
	if err := os.Chdir(s.work.File(HomeFolder)); err != nil {
		return nil, err
	}
	for _, x := range []struct {
		key, name string
		to        *sink
	}{{"output", s.order.Run.Output, s.out}, {"error", s.order.Run.Error, s.errs}} {
		if x.name == "" {
			continue
		}
		var f *os.File
		err := s.order.Account.As(func() (err error) { f, err = create(path.Join(s.order.Run.Dir, x.name)); return err })
		if err != nil {
			return nil, &mistake{126, fmt.Sprintf("%s: %v", x.key, err)}
		}
		x.to.add(f)
	}
	p, err := begin(s.order, s.work, s.group, out, errs)
	if err != nil && s.group != nil && !errors.As(err, new(*mistake)) { // before Linux 5.7, or not ours to fill
		_ = s.group.Close()
		s.group = nil
		p, err = begin(s.order, s.work, nil, out, errs)
	}
	return p, err
}

// create makes a file, or empties an existing one. It does not wait, as it would if the
// name were that of a pipe.
func create(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("%s is no regular file", name))
	}
	return f, nil
}

// reap waits for all descendants of the work: a process that loses its parent becomes a
// child of this one. When this process has no child any more, nothing is left.
func (s *supervisor) reap() {
	defer close(s.gone)
	for awaitChild() == nil {
		s.reaps.Lock()
		s.reapAll()
		s.reaps.Unlock()
	}
}

// reapAll takes the status of all children that have ended.
func (s *supervisor) reapAll() {
	for {
		var st syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &st, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil || pid <= 0:
			return
		case pid == s.main:
			s.status <- st
		}
	}
}

// await returns when the work's own process has ended, or its time is over: some time after
// the end of its window, or after it was told to end.
func (s *supervisor) await() {
	var kill <-chan time.Time
	ticks := 0
	terminate := func(why string) {
		if kill != nil {
			return
		}
		s.result.Why, kill = why, time.After(time.Duration(s.order.Grace)*time.Millisecond)
		_, _ = signalDescendants(syscall.SIGTERM, syscall.SIGCONT) // a stopped process takes no signal
	}
	for {
		left := time.Until(time.UnixMilli(int64(s.order.End)))
		if left <= 0 {
			terminate(WhyWindow)
			left = clockEvery
		}
		select {
		case st := <-s.status:
			s.took(st)
			return
		case sig := <-s.told:
			if sig == syscall.SIGTERM {
				terminate(WhyTold)
			}
		case <-kill:
			return
		case <-time.After(min(left, clockEvery)):
			if ticks++; ticks == 1 {
				dropText() // it waits now, mostly; work that is over sooner would need the pages again at once
			}
		}
	}
}

// took records how the work's own process ended.
func (s *supervisor) took(st syscall.WaitStatus) {
	s.result.End, s.result.Exit = Now(), st.ExitStatus()
	if st.Signaled() {
		s.result.Signal = int(st.Signal())
		s.result.Exit = 128 + s.result.Signal
	}
}

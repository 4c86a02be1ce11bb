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

	*reaper
	kin    kin
	told   chan os.Signal
	status chan syscall.WaitStatus // of the work's own process
	main   int                     // the number of that process; 0: there is none
	result Result
}

// kin is all that a piece of work has started and that is not over.
type kin interface {
	kill()                                // all that can be found at once
	signal(signals ...syscall.Signal) int // sends signals to all, and returns how many there were
	gone(within time.Duration) bool       // reports whether nothing is left; it may wait so long
}

// Supervise runs the work in a folder from begin to end, and writes to words that it has
// begun, or why it could not. Its process must do nothing else: whatever the work starts
// belongs to this process, however it tries to get away. It returns nil if another process
// runs the work, or has run it.
func Supervise(folder Folder, words *os.File) error {
	told, err := become()
	if err != nil {
		return err
	}
	s, err := newSupervisor(folder, &reaper{mains: map[int]chan<- syscall.WaitStatus{}})
	if err != nil {
		return err
	}
	s.told = told
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
	s.group = openGroup(s.order.Cgroup)
	word := s.start()
	if word.Failed.Code == "" {
		say(words, word)
		s.kin = descend(s)
		s.finish()
	}
	if err := s.conclude(); err != nil {
		return err
	}
	if word.Failed.Code != "" {
		say(words, word)
	}
	return nil
}

// become makes this process one that supervises. It returns the signals that it is told.
func become() (told chan os.Signal, err error) {
	runtime.LockOSThread() // the work is killed when the thread that started it ends
	told = make(chan os.Signal, 16)
	// Caught signals are reset for the work; ignored ones it would ignore too.
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGUSR1)
	syscall.Umask(0o022)
	return told, errors.Join(becomeReaper(), SealDescriptors())
}

// newSupervisor reads the order in a folder of work.
func newSupervisor(folder Folder, r *reaper) (*supervisor, error) {
	o, err := Read[Order](folder, OrderFile)
	if err != nil || o == nil || o.Run == nil {
		return nil, errors.Join(err, fmt.Errorf("%s is not the folder of a piece of work", folder))
	}
	return &supervisor{work: folder, order: o, reaper: r, told: make(chan os.Signal, 16), status: make(chan syscall.WaitStatus, 1)}, nil
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

// start starts the work, and returns what is to be said of that.
func (s *supervisor) start() Word {
	s.result.Begin = Now()
	err := s.begin()
	var wrong *mistake
	switch {
	case errors.As(err, &wrong):
		fmt.Fprintf(s.out, "bourse: %s\n", wrong.words)
		s.result.Exit = wrong.status
	case err != nil:
		s.result = Result{Begin: Now(), End: Now(), Failed: Reason{"unknown", fmt.Sprintf("its work could not be begun: %v", err)}}
		s.close()
		return Word{Failed: s.result.Failed}
	}
	return Word{}
}

// finish waits until the work that was started and all that it has started have ended.
func (s *supervisor) finish() {
	if s.main != 0 {
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
	s.close()
}

// close closes the files of what the work prints.
func (s *supervisor) close() {
	for _, x := range []*sink{s.out, s.errs} {
		if x != nil {
			x.close()
		}
	}
}

// conclude writes the result, and removes the work's cgroup.
func (s *supervisor) conclude() error {
	err := s.keep()
	if s.group != nil {
		_ = s.group.Close()
		closeGroup(s.order.Cgroup)
	}
	return err
}

// sink opens a file of what is printed.
func (s *supervisor) sink(name string) (*sink, error) {
	f, err := os.OpenFile(s.work.File(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &sink{files: []*os.File{f}, left: MaxOutput}, nil
}

// begin takes what the work prints, and starts it.
func (s *supervisor) begin() (err error) {
	if s.out, err = s.sink(OutputFile); err != nil {
		return err
	}
	out, err := s.out.open()
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	errs := out
	if s.order.Run.Error != "" {
		if s.errs, err = s.sink(ErrorsFile); err != nil {
			return err
		}
		if errs, err = s.errs.open(); err != nil {
			return err
		}
		defer func() { _ = errs.Close() }()
	}
	return s.beginIn(out, errs)
}

// beginIn opens the files that the job names for what it prints, with the rights of its account,
// and starts the work.
func (s *supervisor) beginIn(out, errs *os.File) error {
	// If the job names no folder, the work inherits its home, so that its account need
	// not pass through the folders above.
	if err := os.Chdir(s.work.File(HomeFolder)); err != nil {
		return err
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
			return &mistake{126, fmt.Sprintf("%s: %v", x.key, err)}
		}
		x.to.add(f)
	}
	err := s.begun(out, errs)
	if err != nil && s.group != nil && !s.shared && !errors.As(err, new(*mistake)) { // before Linux 5.7, or not ours to fill
		_ = s.group.Close()
		s.group = nil
		err = s.begun(out, errs)
	}
	return err
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

// await returns when the work's own process has ended, or its time is over: some time after
// the end of its window, or after it was told to end.
func (s *supervisor) await() {
	var kill <-chan time.Time
	terminate := func(why string) {
		if kill != nil {
			return
		}
		s.result.Why, kill = why, time.After(time.Duration(s.order.Grace)*time.Millisecond)
		_ = s.kin.signal(syscall.SIGTERM, syscall.SIGCONT) // a stopped process takes no signal
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
			dropText() // it waits now, mostly; work that is over sooner would need the pages again at once
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

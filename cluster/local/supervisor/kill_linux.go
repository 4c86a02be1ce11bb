package supervisor

import (
	"os"
	"syscall"
	"time"
)

// How work is killed.
const (
	killEvery  = 5 * time.Millisecond
	killRounds = 20               // at most, one after the other without a pause
	leftAfter  = 10 * time.Second // what is still there then is said to the operator
	leftEvery  = 10 * time.Second // and how many there are
	leftPause  = 100 * time.Millisecond
)

// killAll kills until nothing is left, and does not give up: while something of the work is
// there, the work is not over. A cgroup dies at once. Without one a process may have started
// another just before it was killed, and processes that do nothing else than start the next
// and end outrun whoever reads all of /proc. But each of them loses its parent, and becomes
// a child of this process: its own children are few, and are listed and killed in a fraction
// of the time that a process needs to start another.
func (s *supervisor) killAll() {
	since, pause := time.Now(), killEvery
	said := since.Add(leftAfter - leftEvery)
	for !s.kin.gone(0) {
		s.kin.kill()
		if s.kin.gone(0) {
			break
		}
		n := s.kin.signal(syscall.SIGKILL)
		if time.Since(said) >= leftEvery {
			said, pause = time.Now(), leftPause
			_ = s.work.Write(LeftFile, Left{Since: Time(since.UnixMilli()), Processes: n})
		}
		if s.kin.gone(pause) {
			break
		}
	}
	if s.result.End == 0 {
		s.result.End = Now()
		s.took(<-s.status)
	}
}

// descent is the kin of the only work of a process: all descendants of the process.
type descent struct {
	*supervisor
	over chan struct{} // closed when none is left
}

// descend begins to take the statuses of all descendants of this process.
func descend(s *supervisor) kin {
	d := &descent{s, make(chan struct{})}
	go func() {
		defer close(d.over)
		d.run() // when this process has no child any more, nothing is left
	}()
	return d
}

// kill kills the cgroup, if there is one, and the children of this process, the latest first,
// as long as it finds some. Their numbers are theirs until they are reaped, which does not
// happen between the list and the kill.
func (d *descent) kill() {
	if d.group != nil {
		_ = killGroup(d.order.Cgroup)
	}
	for range killRounds {
		d.Lock()
		d.takeAll()
		list, err := childrenOf(os.Getpid())
		for i := len(list) - 1; i >= 0; i-- {
			_ = syscall.Kill(list[i], syscall.SIGKILL)
		}
		d.Unlock()
		if err != nil || len(list) == 0 {
			return
		}
	}
}

// signal sends signals to children of children, too.
func (d *descent) signal(signals ...syscall.Signal) int {
	list, _ := descendants()
	for pid, started := range list {
		for _, sig := range signals {
			_ = signalIf(pid, sig, func() bool { s, err := statOf(pid); return err == nil && s.started == started })
		}
	}
	return len(list)
}

func (d *descent) gone(within time.Duration) bool {
	select {
	case <-d.over:
		return true
	default:
	}
	if within == 0 {
		return false
	}
	select {
	case <-d.over:
		return true
	case <-time.After(within):
		return false
	}
}

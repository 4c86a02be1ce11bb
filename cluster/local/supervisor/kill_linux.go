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
	for {
		if s.group != nil {
			_ = killGroup(s.order.Cgroup)
		}
		s.killChildren()
		select {
		case <-s.gone:
		default:
			n, _ := signalDescendants(syscall.SIGKILL) // children of children
			if time.Since(said) >= leftEvery {
				said, pause = time.Now(), leftPause
				_ = s.work.Write(LeftFile, Left{Since: Time(since.UnixMilli()), Processes: n})
			}
			select {
			case <-s.gone:
			case <-time.After(pause):
				continue
			}
		}
		break
	}
	if s.result.End == 0 {
		s.result.End = Now()
		s.took(<-s.status)
	}
}

// killChildren kills the children of this process, the latest first, as long as it finds
// some. Their numbers are theirs until they are reaped, which does not happen between the
// list and the kill.
func (s *supervisor) killChildren() {
	for range killRounds {
		s.reaps.Lock()
		s.reapAll()
		list, err := childrenOf(os.Getpid())
		for i := len(list) - 1; i >= 0; i-- {
			_ = syscall.Kill(list[i], syscall.SIGKILL)
		}
		s.reaps.Unlock()
		if err != nil || len(list) == 0 {
			return
		}
	}
}

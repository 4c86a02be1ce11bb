package supervisor

import (
	"errors"
	"os"
	"sync"
	"syscall"
)

// reaper takes the statuses of all children of this process. A process that loses its parent
// becomes one of them.
type reaper struct {
	sync.Mutex                                   // while it is held, no number of a child passes to another process
	mains      map[int]chan<- syscall.WaitStatus // where the status of work's own process goes
	shared     bool                              // by several pieces of work
}

// start starts work's own process, and returns its number.
func (r *reaper) start(program string, args []string, attr *os.ProcAttr, status chan<- syscall.WaitStatus) (pid int, err error) {
	r.Lock()
	defer r.Unlock()
	p, err := os.StartProcess(program, args, attr)
	if err != nil {
		return 0, err
	}
	r.mains[p.Pid] = status
	defer func() { _ = p.Release() }()
	return p.Pid, nil
}

// run takes statuses until there is no child any more.
func (r *reaper) run() {
	for awaitChild() == nil {
		r.Lock()
		r.takeAll()
		r.Unlock()
	}
}

// takeAll takes the statuses of all children that have ended.
func (r *reaper) takeAll() {
	for {
		var st syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &st, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil || pid <= 0:
			return
		case r.mains[pid] != nil:
			r.mains[pid] <- st
			delete(r.mains, pid)
		}
	}
}

package journal

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// mirrorLink repeats on a second disk, in order and on one goroutine, what was done on the
// main one, so that a hanging disk does not hang the writer.
type mirrorLink struct {
	ops    chan mirrorOp
	failed chan struct{} // closed at the first failure
	err    error         // the first failure; set before failed is closed
	once   sync.Once
	cut    atomic.Bool   // begin no more operations
	end    chan struct{} // closed when there will be no more operations
	done   chan struct{} // closed when the last operation has ended and the disk is closed
	closed error         // error of closing the disk
	disk   Disk
}

type mirrorOp struct {
	do   func(Disk) error
	done chan<- error // nil if the writer does not wait
}

// maxMirrorOps is the most operations that may wait for a second disk; beyond it the writer
// waits. An append has about a megabyte at most.
const maxMirrorOps = 16

func newMirrorLink(disk Disk) *mirrorLink {
	l := &mirrorLink{ops: make(chan mirrorOp, maxMirrorOps), failed: make(chan struct{}), end: make(chan struct{}), done: make(chan struct{}), disk: disk}
	go l.run()
	return l
}

func (l *mirrorLink) run() {
	defer close(l.done)
	for {
		select {
		case op := <-l.ops:
			l.carryOut(op)
		case <-l.end:
			for len(l.ops) > 0 && !l.cut.Load() {
				l.carryOut(<-l.ops)
			}
			l.closed = closeDisk(l.disk)
			return
		}
	}
}

func (l *mirrorLink) carryOut(op mirrorOp) {
	if l.err == nil && !l.cut.Load() {
		if err := op.do(l.disk); err != nil {
			l.err = err
			close(l.failed)
		}
	}
	if op.done != nil {
		op.done <- l.err
	}
}

// errMirrorWait is the error of a second disk that takes too long.
var errMirrorWait = errors.New("it does not answer in time")

// post hands over an operation. It waits while too many are waiting already.
func (l *mirrorLink) post(do func(Disk) error, done chan<- error, most time.Duration) error {
	select {
	case <-l.failed:
		return l.err
	default:
	}
	select {
	case l.ops <- mirrorOp{do, done}:
		return nil
	default:
	}
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case l.ops <- mirrorOp{do, done}:
		return nil
	case <-l.failed:
		return l.err
	case <-late.C:
		return errMirrorWait
	}
}

// wait waits for an operation, until it is late.
func (l *mirrorLink) wait(done <-chan error, late <-chan time.Time) error {
	select {
	case err := <-done:
		return err
	case <-late:
		return errMirrorWait
	}
}

// close ends the goroutine once everything handed over is done or, with cut, as soon as
// possible.
func (l *mirrorLink) close(cut bool) {
	l.cut.Store(cut)
	l.once.Do(func() { close(l.end) })
}

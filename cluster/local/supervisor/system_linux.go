package supervisor

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// System calls that package syscall lacks. golang.org/x/sys is initialised too late for this
// package.
const (
	prctlSubreaper   = 36        // PR_SET_CHILD_SUBREAPER
	callCloseRange   = 436       // the same number on all architectures
	closeOnExec      = 4         // CLOSE_RANGE_CLOEXEC
	waitAll          = 0         // P_ALL
	waitExitedNoReap = 0x1000004 // WEXITED | WNOWAIT
	adviceDrop       = 4         // MADV_DONTNEED
)

// becomeReaper makes this process the parent of all descendants that lose theirs.
func becomeReaper() error {
	if _, _, e := syscall.RawSyscall(syscall.SYS_PRCTL, prctlSubreaper, 1, 0); e != 0 {
		return e
	}
	return nil
}

// SealDescriptors keeps the files that this process has inherited from programs that it
// starts: all but the standard ones are closed there.
func SealDescriptors() error {
	_, _, e := syscall.Syscall(callCloseRange, 3, uintptr(^uint32(0)), closeOnExec)
	if e == 0 {
		return nil
	}
	open, err := numbers("/proc/self/fd") // before Linux 5.11
	for _, fd := range open {
		if fd >= 3 {
			syscall.CloseOnExec(fd)
		}
	}
	return err
}

// awaitChild waits until a child has ended, and leaves it as it is: its number is not given
// to another process yet.
func awaitChild() error {
	for {
		var info [128]byte // siginfo_t
		_, _, e := syscall.Syscall6(syscall.SYS_WAITID, waitAll, 0, uintptr(unsafe.Pointer(&info)), waitExitedNoReap, 0, 0)
		switch e {
		case 0:
			return nil
		case syscall.EINTR:
		default:
			return e
		}
	}
}

// As runs f with the rights of an account for opening files: in a thread of its own, which
// takes these rights and ends with f.
func (a *Account) As(f func() error) error {
	if !a.Switch {
		return f()
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread is not used again
		done <- func() error {
			if err := errors.Join(setGroups(a.Groups), syscall.Setfsgid(int(a.GID)), syscall.Setfsuid(int(a.UID))); err != nil {
				return err
			}
			if now, _, _ := syscall.RawSyscall(syscall.SYS_SETFSUID, ^uintptr(0), 0, 0); uint32(now) != a.UID {
				return fmt.Errorf("the rights of %s cannot be taken", a.Name)
			}
			return f()
		}()
	}()
	return <-done
}

// setGroups sets the groups of the calling thread alone.
func setGroups(list []uint32) error {
	var first *uint32
	if len(list) > 0 {
		first = &list[0]
	}
	if _, _, e := syscall.RawSyscall(syscall.SYS_SETGROUPS, uintptr(len(list)), uintptr(unsafe.Pointer(first)), 0); e != 0 {
		return os.NewSyscallError("setgroups", e)
	}
	return nil
}

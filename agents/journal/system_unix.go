//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package journal

import (
	"os"
	"syscall"
)

// lockFile locks the file for this process until it is closed or the process ends in any
// way.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// unlockFile unlocks the file at once. Closing it alone would leave it locked while a child
// process that is just starting still has a copy.
func unlockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// syncFolder makes the names in a folder durable.
func syncFolder(path string, fsync func(*os.File) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := fsync(f); err != nil {
		return closing(f, err)
	}
	return f.Close()
}

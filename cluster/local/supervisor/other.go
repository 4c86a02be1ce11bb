//go:build !linux

package supervisor

import (
	"errors"
	"io"
	"os"
)

// On other systems than Linux no work runs.

var errLinux = errors.New("work runs on Linux only")

// Mark names the work's folder in the environment of all processes that it starts.
const Mark = "BOURSE_WORK"

// Supervise, SuperviseSeveral, BootID, Cgroup, SealDescriptors, Lives, Fate and Terminate refuse, or do nothing.
func Supervise(Folder, *os.File) error            { return errLinux }
func SuperviseSeveral(io.Reader, io.Writer) error { return errLinux }
func BootID() (string, error)                     { return "", errLinux }
func Cgroup() (string, error)                     { return "", errLinux }
func SealDescriptors() error                      { return nil }
func (Process) Lives(Folder) bool                 { return false }
func (Process) Fate() string                      { return "" }
func (Process) Terminate(Folder) error            { return errLinux }

// KillMarked refuses.
func KillMarked(Folder, string) (left int, err error) { return 0, errLinux }

// As calls f with the rights of this process.
func (*Account) As(f func() error) error { return f() }

//go:build !linux

package local

import (
	"errors"
	"os"
)

// On other systems than Linux New refuses to make a cluster of this kind.

var errLinux = errors.New("work runs on Linux only")

type process struct {
	PID int `json:"pid"`
}

func bootID() (string, error)                          { return "", errLinux }
func (process) lives(work) bool                        { return false }
func (process) fate() string                           { return "" }
func (process) terminate(work) error                   { return errLinux }
func killMarked(work) error                            { return errLinux }
func startSupervisor([]string, work) (*os.File, error) { return nil, errLinux }

func (*account) as(f func() error) error { return f() }

// Supervise runs a work, on Linux.
func Supervise(string, *os.File) error { return errLinux }

//go:build !linux

package local

import (
	"errors"
	"os"
)

// startSupervisor fails: on other systems than Linux New refuses to make a cluster of this kind.
func startSupervisor([]string, string, *os.File) (*os.File, error) {
	return nil, errors.New("work runs on Linux only")
}

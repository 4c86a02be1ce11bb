// Package supervise is where bourse becomes the supervisor of a piece of work: in its init,
// before any package that supervisors do not need is initialised. See package supervisor of
// cluster/local, and decision 41.
package supervise

import (
	"fmt"
	"os"

	"github.com/bourse-grid/bourse/cluster/local/supervisor"
)

// Command is the first argument of a process that is a supervisor; package supervisor knows
// the others.
const Command = "supervise"

func init() {
	if len(os.Args) < 3 || os.Args[1] != Command {
		return
	}
	known, err := supervisor.Called(os.Args[2:])
	if !known {
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bourse: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

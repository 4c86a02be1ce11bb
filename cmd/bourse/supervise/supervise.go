// Package supervise is where bourse becomes the supervisor of a piece of work: in its init,
// before any package that supervisors do not need is initialised. See package supervisor of
// cluster/local, and decision 41.
package supervise

import (
	"fmt"
	"os"

	"github.com/bourse-grid/bourse/cluster/local/supervisor"
)

// Command is the first argument of a process that is a supervisor; the second and last is
// the folder of its work.
const Command = "supervise"

func init() {
	if len(os.Args) != 3 || os.Args[1] != Command {
		return
	}
	if err := supervisor.Supervise(supervisor.Folder(os.Args[2]), os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "bourse: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

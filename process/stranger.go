package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/process/failure"
)

// Strange returns an error if an agent, a "site" or a "broker", that has no journal in its folder
// would begin one beside that of another agent of its kind: its file is then most likely another's,
// and by it the agent that lives here would not go on. What the disk refuses to tell is a failure.
func Strange(file string, cfg *configs.Process, role, name string) error {
	p := &process{cfg: cfg}
	switch _, err := os.Stat(p.folder(agents.ID(role + ":" + name))); {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return failure.Of(err)
	}
	entries, err := os.ReadDir(cfg.Journal.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure.Of(err)
	}
	for _, e := range entries {
		other, is := strings.CutPrefix(e.Name(), role+"-")
		if is && e.IsDir() && !strings.Contains(other, ".") { // site-north.old was put aside
			return fmt.Errorf("%s: this is the file of %s %q, which has no journal in %s, but %q has: if the file is of another %s or its name was changed, put the one of %q back; if %q is new here, give it a journal.dir of its own",
				file, role, name, cfg.Journal.Dir, other, role, other, name)
		}
	}
	return nil
}

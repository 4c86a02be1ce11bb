package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
)

// Strange returns an error if an agent, a "site" or a "broker", that has no journal in its folder
// would begin one beside that of another agent of its kind: its file is then most likely another's,
// and by it the work of the agent that lived here would be taken for a stranger's, and ended.
func Strange(file string, cfg *configs.Process, role, name string) error {
	p := &process{cfg: cfg}
	if _, err := os.Stat(p.folder(agents.ID(role + ":" + name))); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := os.ReadDir(cfg.Journal.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if other, is := strings.CutPrefix(e.Name(), role+"-"); is && e.IsDir() {
			return fmt.Errorf("%s: this is the file of %s %q, which has no journal in %s, but %q has: if the file is of another %s or its name was changed, put the one of %q back; if %q is new here, give it a journal.dir of its own",
				file, role, name, cfg.Journal.Dir, other, role, other, name)
		}
	}
	return err
}

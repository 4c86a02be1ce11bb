package configs

import (
	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// around is what the jobs of a scenario are held to, zero for a batch by itself, and the files
// that the scenario is read with.
type around struct {
	files     *opened
	sites     []string         // names; nil: any may be there
	horizon   grid.Duration    // of their broker; 0: not known
	algorithm search.Algorithm // of their broker
}

// aroundOf is what the jobs of a table's file are held to.
func aroundOf(t *keys.Table) *around { return t.Beside().(*around) }

// openFile parses a text and returns its root table; file is its name in messages.
func openFile(file string, text []byte) (*keys.Table, error) {
	return kinds.Open(file, text, &around{files: &opened{}})
}

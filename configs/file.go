package configs

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/workload/files"
)

// The kinds of files that some keys are restricted to.
const (
	inScenario keys.Files = 1 << iota
	inProcess
	inBatch
)

// maxFile bounds the size of a file: 16 MiB.
const maxFile = 16 << 20

// around is what the jobs of a scenario are held to; zero for a batch by itself.
type around struct {
	sites     []string         // names; nil: any may be there
	horizon   grid.Duration    // of their broker; 0: not known
	algorithm search.Algorithm // of their broker
}

// readFile returns the text of a file of bounded size.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d MiB; is it a TOML file?", name, maxFile>>20)
	}
	var packed *files.PackedError
	if plain, err := files.Text(text); err == nil {
		return plain, nil
	} else if !errors.As(err, &packed) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil // what it is, is said where it is read
}

// openFile parses a text and returns its root table; file is its name in messages.
func openFile(file string, text []byte) (*keys.Table, error) {
	return keys.Open(file, text, &around{}, notTOML)
}

// aroundOf is what the jobs of a table's file are held to.
func aroundOf(t *keys.Table) *around { return t.Beside().(*around) }

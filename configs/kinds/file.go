package kinds

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/workload/files"
)

// The kinds of files that some keys are restricted to.
const (
	InScenario keys.Files = 1 << iota
	InProcess
	InBatch
)

// maxFile bounds the size of a file: 16 MiB.
const maxFile = 16 << 20

// ReadFile returns the text of a file of bounded size.
func ReadFile(name string) ([]byte, error) {
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

// Open parses a text and returns its root table; file is its name in messages, beside what the
// caller keeps of the whole file.
func Open(file string, text []byte, beside any) (*keys.Table, error) {
	return keys.Open(file, text, beside, notTOML)
}

package configs

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/BurntSushi/toml"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/workload/files"
)

// maxFile bounds the size of a file: 16 MiB.
const maxFile = 16 << 20

// document is a file being read, with the problems found so far.
type document struct {
	file   string
	where  *locator
	wrong  []*Problem
	faulty map[path]bool // paths with a problem, and the tables around them

	around around // of the jobs in it
}

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

// open parses a text and returns its root table; file is its name in messages.
func open(file string, text []byte) (*table, error) {
	where := locate(string(text))
	if where.beyond != nil {
		where.beyond.File = file
		if what := notTOML(text); what != "" {
			where.beyond = &Problem{File: file, Text: what}
		}
		return nil, problems([]*Problem{where.beyond})
	}
	keys := map[string]any{}
	if _, err := toml.Decode(string(text), &keys); err != nil {
		p := &Problem{File: file, Text: err.Error()}
		if syntax := (toml.ParseError{}); errors.As(err, &syntax) {
			p.Line, p.Key, p.Text = syntax.Position.Line, syntax.LastKey, "not TOML: "+syntax.Message
		}
		if what := notTOML(text); what != "" {
			p = &Problem{File: file, Text: what}
		}
		return nil, problems([]*Problem{p})
	}
	return &table{doc: &document{file: file, where: where, faulty: map[path]bool{}}, keys: keys, known: map[string]bool{}}, nil
}

// finish ends the reading of a document. It returns out, or all problems found.
func finish[T any](t *table, out *T) (*T, error) {
	if len(t.doc.wrong) > 0 {
		return nil, problems(t.doc.wrong)
	}
	return out, nil
}

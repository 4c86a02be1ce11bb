package configs

import (
	"errors"
	"path/filepath"

	"github.com/BurntSushi/toml"
)

// document is a file being read, with the problems found so far.
type document struct {
	file   string
	where  *locator
	wrong  []*Problem
	faulty map[path]bool // paths with a problem, and the tables around them
	beside any           // what the caller keeps of the file
}

// open parses a text and returns its root table; file is its name in messages. beside is what
// the caller keeps of the whole file, for the rules of all its tables. what says of a text that
// cannot be read what it is instead of TOML, "" if that is not known.
func open(file string, text []byte, beside any, what func(text []byte) string) (*table, error) {
	instead := func(p *Problem) (*table, error) {
		if is := what(text); is != "" {
			p = &Problem{File: file, Text: is}
		}
		return nil, problems([]*Problem{p})
	}
	where := locate(string(text))
	if where.beyond != nil {
		where.beyond.File = file
		return instead(where.beyond)
	}
	keys := map[string]any{}
	if _, err := toml.Decode(string(text), &keys); err != nil {
		p := &Problem{File: file, Text: err.Error()}
		if syntax := (toml.ParseError{}); errors.As(err, &syntax) {
			p.Line, p.Key, p.Text = syntax.Position.Line, syntax.LastKey, "not TOML: "+syntax.Message
		}
		return instead(p)
	}
	doc := &document{file: file, where: where, faulty: map[path]bool{}, beside: beside}
	return &table{doc: doc, keys: keys, known: map[string]bool{}}, nil
}

// finish ends the reading of a document. It returns out, or all problems found.
func finish[T any](t *table, out *T) (*T, error) {
	if len(t.doc.wrong) > 0 {
		return nil, problems(t.doc.wrong)
	}
	return out, nil
}

// within resolves a file name against a folder.
func within(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

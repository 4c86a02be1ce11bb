package keys

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
	faulty map[Path]bool // paths with a problem, and the tables around them
	beside any           // what the caller keeps of the file
}

// Open parses a text and returns its root table; file is its name in messages. beside is what
// the caller keeps of the whole file, for the rules of all its tables. what says of a text that
// cannot be read what it is instead of TOML, "" if that is not known.
func Open(file string, text []byte, beside any, what func(text []byte) string) (*Table, error) {
	instead := func(p *Problem) (*Table, error) {
		if is := what(text); is != "" {
			p = &Problem{File: file, Text: is}
		}
		return nil, Join([]*Problem{p})
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
	doc := &document{file: file, where: where, faulty: map[Path]bool{}, beside: beside}
	return &Table{doc: doc, Keys: keys, known: map[string]bool{}}, nil
}

// Finish ends the reading of a document. It returns out, or all problems found.
func Finish[T any](t *Table, out *T) (*T, error) {
	if len(t.doc.wrong) > 0 {
		return nil, Join(t.doc.wrong)
	}
	return out, nil
}

// Resolve resolves a file name against a folder.
func Resolve(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

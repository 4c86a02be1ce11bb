package configs

import (
	"fmt"
	"path/filepath"
	"slices"
)

// Source holds the texts from which a scenario was read. It gives the same scenario again
// even if the files have changed or are gone.
type Source struct {
	Name    string       `json:"name"` // of the file, without its folder, or "preset" and its name
	Text    string       `json:"text"`
	Batches []SourceFile `json:"batches,omitempty"` // that its brokers name, and the outages, prices and files of Slurm that its sites do
}

// SourceFile is a file, by its name in the scenario.
type SourceFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// opened are the files that a scenario is read with: the curves of prices, and the files of Slurm.
type opened struct {
	dir    string       // of the scenario
	record []SourceFile // what stands there in place of the file of that name
	read   []SourceFile // in the order in which they were opened
}

// text returns the text of a file by its path: the record's or, if that has none, by read.
func (o *opened) text(path string, read func(path string) ([]byte, error)) ([]byte, error) {
	name := path
	if rel, err := filepath.Rel(o.dir, path); err == nil {
		name = filepath.ToSlash(rel)
	}
	if at := slices.IndexFunc(o.record, func(f SourceFile) bool { return f.Name == name }); at >= 0 {
		return []byte(o.record[at].Text), nil
	}
	text, err := read(path)
	if err == nil {
		o.read = append(o.read, SourceFile{name, string(text)})
	}
	return text, err
}

// TraceFile is a trace: its name in the scenario, and its path.
type TraceFile struct{ Name, Path string }

// add adds a file that a scenario names, once.
func (s *Source) add(name string, text []byte) {
	if f := (SourceFile{name, string(text)}); name != "" && !slices.Contains(s.Batches, f) {
		s.Batches = append(s.Batches, f)
	}
}

// Scenario reads the scenario again. If it has traces, call ResolveTraces.
func (s Source) Scenario() (*Scenario, error) {
	out, err := parseScenario(s.Name, []byte(s.Text), &opened{dir: ".", record: s.Batches})
	if err != nil {
		return nil, err
	}
	out.Source = s
	for i := range out.Sites {
		o := &out.Sites[i].Outages
		if o.File == "" {
			continue
		}
		text, err := s.file("outages", o.File, "site", out.Sites[i].Name)
		if err == nil {
			err = out.Sites[i].takeOutages(o.File, text)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range out.Brokers {
		b := &out.Brokers[i]
		if b.Batch == "" {
			continue
		}
		text, err := s.file("batch", b.Batch, "broker", b.Name)
		if err == nil {
			err = b.takeBatch(b.Batch, text, out.Until, out.siteNames())
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// file returns the text of a file that an owner names.
func (s *Source) file(what, name, owner, of string) ([]byte, error) {
	at := slices.IndexFunc(s.Batches, func(f SourceFile) bool { return f.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("%s: %s %q of %s %q is not on record", s.Name, what, name, owner, of)
	}
	return []byte(s.Batches[at].Text), nil
}

package keys

import (
	"iter"

	"github.com/bourse-grid/bourse/policy/names"
)

// About describes what a key takes, for documents and completion.
type About struct {
	Kind    string
	Default string              // in TOML; "": none
	Limits  string              // allowed values, if Kind and Words do not say it
	Words   []string            // allowed words
	Below   func() List         // of a table: its keys, on a dummy target
	Shape   func(string) string // of a table: [name] or [[name]]
	Named   bool                // a table whose keys are names of the user's own

	Policies []names.Policy // what the words mean, if they name policies
}

// Of lists the keys that a kind of files may have.
func (list List) Of(in Files) iter.Seq[*Key] {
	return func(yield func(*Key) bool) {
		for i := range list {
			if k := &list[i]; k.rule == nil && k.where.has(in) && !yield(k) {
				return
			}
		}
	}
}

// About says what a key takes.
func (k *Key) About() About { return k.field.about() }

// Reference is one key of a file, for documents, hints and completion.
type Reference struct {
	Name    string
	Kind    string   // "duration", "whole number", ...
	Default string   // in TOML, or in words; "": none
	Limits  string   // allowed values, if Kind and Words do not say it
	Words   []string // allowed words, if they are few
	Must    bool     // it must be given
	With    string   // the condition under which it is allowed; "": always
	Doc     string   // what it means

	Policies []names.Policy // what the words mean, if they name policies
}

// Describe describes a key.
func (k *Key) Describe() Reference {
	a := k.About()
	out := Reference{Name: k.Name, Kind: a.Kind, Default: a.Default, Limits: a.Limits, Words: a.Words, Policies: a.Policies, Doc: k.Doc, Must: k.example != ""}
	if k.def != "" {
		out.Default = k.def
	}
	if f, ok := k.field.(nameField); ok && f.to != nil {
		out.Must = true
	}
	for _, c := range k.with {
		out.With = c.Text // the narrowest condition comes last
	}
	return out
}

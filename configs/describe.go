package configs

import (
	"iter"

	"github.com/bourse-grid/bourse/policy/names"
)

// about describes what a key takes, for documents and completion.
type about struct {
	kind   string
	def    string              // in TOML; "": none
	limits string              // allowed values, if kind and words do not say it
	words  []string            // allowed words
	below  func() keys         // of a table: its keys, on a dummy target
	shape  func(string) string // of a table: [name] or [[name]]
	named  bool                // a table whose keys are names of the user's own

	policies []names.Policy // what the words mean, if they name policies
}

// of lists the keys that a kind of files may have.
func (list keys) of(in place) iter.Seq[*key] {
	return func(yield func(*key) bool) {
		for i := range list {
			if k := &list[i]; k.rule == nil && k.where.has(in) && !yield(k) {
				return
			}
		}
	}
}

// about says what a key takes.
func (k *key) about() about { return k.field.about() }

// described is one key of a file, for documents, hints and completion.
type described struct {
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

// describe describes a key.
func (k *key) describe() described {
	a := k.about()
	out := described{Name: k.name, Kind: a.kind, Default: a.def, Limits: a.limits, Words: a.words, Policies: a.policies, Doc: k.doc, Must: k.example != ""}
	if k.def != "" {
		out.Default = k.def
	}
	if f, ok := k.field.(nameField); ok && f.to != nil {
		out.Must = true
	}
	for _, c := range k.with {
		out.With = c.text // the narrowest condition comes last
	}
	return out
}

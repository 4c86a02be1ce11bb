package keys

import "cmp"

// List has the keys of a table in the order in which they are read: a default or a rule
// may use the keys above it.
type List []Key

// Key is one line of such a list.
type Key struct {
	Name    string
	field   field
	Doc     string       // what it means, in one line
	example string       // a value, if the key must be given; else ""
	def     string       // the default in words, if it depends on something
	where   Files        // kinds of files that may have it; 0: all kinds with its table
	refused string       // the error in other files; "": that the key is unknown
	with    []*Condition // what it depends on
	rule    func(*Table) // instead of all of the above
}

// field is the target of a value, with the values that it allows.
type field interface {
	read(t *Table, key string) // takes the value or the default, and reports problems
	about() About
}

// Files is a set of kinds of files, a bit for each.
type Files int

// nowhere is for a known key that is always refused.
const nowhere Files = -1 << 31

// has reports whether a set, 0 for all, has a kind of files.
func (f Files) has(in Files) bool { return f == 0 || f&in != 0 }

// Condition is a condition under which keys have a meaning.
type Condition struct {
	Text    string // "with a trace"; "": its keys are ignored silently
	Holds   func(*Table) bool
	Refused string // the error if it does not hold; "": one made from text
}

// Must makes a key required; example is a value in TOML.
func (k Key) Must(example string) Key { k.example = example; return k }

// ByDefault describes the default in words.
func (k Key) ByDefault(words string) Key { k.def = words; return k }

// Only restricts a key to some kinds of files. refused is the error in others; "": that the
// key is unknown.
func (k Key) Only(in Files, refused string) Key { k.where, k.refused = in, refused; return k }

// When refuses a key unless all of the conditions hold.
func (k Key) When(all ...*Condition) Key { k.with = append(k.with, all...); return k }

// Rule checks or completes the keys above it in the list.
func Rule(f func(*Table)) Key { return Key{rule: f} }

// Refuse is a key that is always refused, and not documented.
func Refuse(name, text string) Key { return Key{Name: name, where: nowhere, refused: text} }

// Fill reads a table by its keys. It reports missing keys first and unknown keys last.
func (t *Table) Fill(list List) {
	for i := range list {
		if k := &list[i]; k.example != "" {
			t.Need(k.Name, k.example)
		}
	}
	for i := range list {
		if k := &list[i]; k.rule != nil {
			k.rule(t)
		} else if k.mayStand(t) {
			k.field.read(t, k.Name)
		}
	}
	t.done()
}

// mayStand reports whether a key is allowed here. It reports a known key that is not.
func (k *Key) mayStand(t *Table) bool {
	if !k.where.has(t.In) {
		if k.refused != "" && t.Has(k.Name) {
			t.Wrong(k.Name, "%s", k.refused)
		}
		return false
	}
	for _, c := range k.with {
		if !c.Holds(t) {
			if t.Has(k.Name) && c.Text != "" {
				t.Wrong(k.Name, "%s", cmp.Or(c.Refused, "can be used only "+c.Text+"; leave the key out"))
			}
			return false
		}
	}
	return true
}

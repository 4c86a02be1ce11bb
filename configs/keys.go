package configs

import (
	"cmp"
)

// A table of a file is described by a list of keys, one per line: its name, where the value
// goes, which values are allowed, what it means. Reading, hints at known keys and
// docs/CONFIG.md all use that list. A rule about several keys is a function in the list.

// keys lists the keys of a table in the order in which they are read: a default or a rule
// may use the keys above it.
type keys []key

// key is one line of such a list.
type key struct {
	name    string
	field   field
	doc     string       // what it means, in one line
	example string       // a value, if the key must be given; else ""
	def     string       // the default in words, if it depends on something
	where   place        // kinds of files that may have it; 0: all kinds with its table
	refused string       // the error in other files; "": that the key is unknown
	with    []*condition // what it depends on
	rule    func(*table) // instead of all of the above
}

// field is the target of a value, with the values that it allows.
type field interface {
	read(t *table, key string) // takes the value or the default, and reports problems
	about() about
}

// place is a set of kinds of files.
type place int

// nowhere is for a known key that is always refused.
const nowhere place = -1 << 31

// has reports whether a set, 0 for all, has a kind of files.
func (p place) has(in place) bool { return p == 0 || p&in != 0 }

// condition is a condition under which keys have a meaning.
type condition struct {
	text    string // "with a trace"; "": its keys are ignored silently
	holds   func(*table) bool
	refused string // the error if it does not hold; "": one made from text
}

// must makes a key required; example is a value in TOML.
func (k key) must(example string) key { k.example = example; return k }

// byDefault describes the default in words.
func (k key) byDefault(words string) key { k.def = words; return k }

// only restricts a key to some kinds of files. refused is the error in others; "": that the
// key is unknown.
func (k key) only(in place, refused string) key { k.where, k.refused = in, refused; return k }

// when refuses a key unless all of the conditions hold.
func (k key) when(all ...*condition) key { k.with = append(k.with, all...); return k }

// rule checks or completes the keys above it in the list.
func rule(f func(*table)) key { return key{rule: f} }

// refuse is a key that is always refused, and not documented.
func refuse(name, text string) key { return key{name: name, where: nowhere, refused: text} }

// fill reads a table by its keys. It reports missing keys first and unknown keys last.
func (t *table) fill(list keys) {
	for i := range list {
		if k := &list[i]; k.example != "" {
			t.need(k.name, k.example)
		}
	}
	for i := range list {
		if k := &list[i]; k.rule != nil {
			k.rule(t)
		} else if k.mayStand(t) {
			k.field.read(t, k.name)
		}
	}
	t.done()
}

// mayStand reports whether a key is allowed here. It reports a known key that is not.
func (k *key) mayStand(t *table) bool {
	if !k.where.has(t.in) {
		if k.refused != "" && t.has(k.name) {
			t.wrong(k.name, "%s", k.refused)
		}
		return false
	}
	for _, c := range k.with {
		if !c.holds(t) {
			if t.has(k.name) && c.text != "" {
				t.wrong(k.name, "%s", cmp.Or(c.refused, "can be used only "+c.text+"; leave the key out"))
			}
			return false
		}
	}
	return true
}

package configs

import "cmp"

// A table of a file is a list of keys, a line each: the name, where the value
// goes, what it may be, what it means. Reading, the hints at known keys and
// docs/CONFIG.md all come from that list. Rules that concern several keys are
// functions named in it.

// keys lists what a table may hold in the order in which it is read: a default
// or a rule may look at what stands above it.
type keys []key

// key is one line of such a list.
type key struct {
	name    string
	field   field
	doc     string       // what it means, in one line
	example string       // a value, where the key must be given; else ""
	def     string       // the default in words, where it depends on something
	where   place        // the files it may stand in; 0: all that its table may
	refused string       // what is said elsewhere; "": that the key is unknown
	with    []*condition // what it depends on
	rule    func(*table) // in place of all that
}

// field is where a value goes and what it may be.
type field interface {
	read(t *table, key string) // takes the value, or the default, and reports what is wrong
	about() about
}

// about is what documents and completion say of a field.
type about struct {
	kind   string
	def    string              // as TOML has it; "": none
	limits string              // what is allowed, where kind and words do not say it
	words  []string            // the words allowed
	below  func() keys         // of a table, on a target that nobody uses
	shape  func(string) string // of a table: [name] or [[name]]
}

// place is a set of the files in which a key may stand.
type place int

const (
	inScenario place = 1 << iota
	inProcess
	inBatch
	nowhere // the key is known to be refused
)

// condition is what keys need to have a meaning.
type condition struct {
	text    string // "with a trace"; "": its keys are passed over in silence
	holds   func(*table) bool
	refused string // what is said where it does not hold, if "has a meaning only" is not it
}

// must makes a key one that has to be given; example is a value as TOML has it.
func (k key) must(example string) key { k.example = example; return k }

// byDefault says in words what holds where the key is left out.
func (k key) byDefault(words string) key { k.def = words; return k }

// only restricts a key to some files; refused is what is said in others, "" that
// it is unknown.
func (k key) only(in place, refused string) key { k.where, k.refused = in, refused; return k }

// when refuses a key where one of the conditions does not hold.
func (k key) when(all ...*condition) key { k.with = append(k.with, all...); return k }

// rule checks or completes what stands above it in the list.
func rule(f func(*table)) key { return key{rule: f} }

// refuse is a key that is never taken, and not listed in documents.
func refuse(name, text string) key { return key{name: name, where: nowhere, refused: text} }

// fill reads a table by its keys: first it reports those that are missing, last
// those that are unknown.
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

// mayStand reports whether a key is taken here, and refuses it where it is known
// but is not.
func (k *key) mayStand(t *table) bool {
	if k.where != 0 && k.where&t.in == 0 {
		if k.refused != "" && t.has(k.name) {
			t.wrong(k.name, "%s", k.refused)
		}
		return false
	}
	for _, c := range k.with {
		if !c.holds(t) {
			if t.has(k.name) && c.text != "" {
				t.wrong(k.name, "%s", cmp.Or(c.refused, "has a meaning only "+c.text+"; leave the key out"))
			}
			return false
		}
	}
	return true
}

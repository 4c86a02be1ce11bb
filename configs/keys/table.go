package keys

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Table is a table of a document. Its getters record the keys that they are asked for, and
// report invalid values; done then reports the keys that no getter was asked for. A getter
// returns the default for an invalid value, so that reading goes on and reports all
// problems of a file at once.
type Table struct {
	In   Files // the kind of file
	Path Path
	Keys map[string]any // as TOML has them

	doc   *document
	known map[string]bool
}

// newTable returns a table within t.
func newTable(t *Table, p Path, keys map[string]any) *Table {
	return &Table{doc: t.doc, In: t.In, Path: p, Keys: keys, known: map[string]bool{}}
}

// Take returns the value of a key and records that the key is known.
func (t *Table) Take(key string) (any, bool) {
	t.known[key] = true
	v, ok := t.Keys[key]
	return v, ok
}

// Has reports whether a key is given.
func (t *Table) Has(key string) bool {
	_, ok := t.Take(key)
	return ok
}

// Wrong reports a problem with the value of a key.
func (t *Table) Wrong(key, format string, args ...any) { t.WrongAt(t.Path.Key(key), format, args...) }

// WrongAt reports a problem with what is at a place of the file.
func (t *Table) WrongAt(p Path, format string, args ...any) {
	t.doc.wrong = append(t.doc.wrong, &Problem{
		File: t.doc.file, Line: t.doc.where.lineOf(p), Key: p.String(), Text: fmt.Sprintf(format, args...)})
	for ; p != ""; p = p.parent() {
		t.doc.faulty[p] = true
	}
}

// FileName is the name of the file that is read.
func (t *Table) FileName() string { return t.doc.file }

// Dir is the folder of that file.
func (t *Table) Dir() string { return filepath.Dir(t.doc.file) }

// Resolve resolves a file name against that folder.
func (t *Table) Resolve(file string) string { return Resolve(t.Dir(), file) }

// Line is the line of a place, or of the nearest table around it, from 1.
func (t *Table) Line(p Path) int { return t.doc.where.lineOf(p) }

// Beside is what the caller keeps of the whole file, as it was opened.
func (t *Table) Beside() any { return t.doc.beside }

// Sound reports whether no problem was found in this table.
func (t *Table) Sound() bool { return !t.doc.faulty[t.Path] }

// Clean reports whether no problem was found with the value of a key or inside it.
func (t *Table) Clean(key string) bool { return !t.doc.faulty[t.Path.Key(key)] }

// Need reports the key as missing if it is not given; example shows a value.
func (t *Table) Need(key, example string) {
	if !t.Has(key) {
		t.Wrong(key, "missing; write for example %s = %s", key, example)
	}
}

// done reports every key that no getter was asked for.
func (t *Table) done() {
	unknown := make([]string, 0, len(t.Keys))
	for k := range t.Keys {
		if !t.known[k] {
			unknown = append(unknown, k)
		}
	}
	if len(unknown) == 0 {
		return
	}
	slices.Sort(unknown)
	known := slices.Sorted(maps.Keys(t.known))
	for _, k := range unknown {
		if near := Nearest(k, known); near != "" {
			t.Wrong(k, "unknown key; did you mean %s?", near)
		} else {
			t.Wrong(k, "unknown key; must be one of %s", strings.Join(known, ", "))
		}
	}
}

// Table returns the table under a key, nil if there is none.
func (t *Table) Table(key string) *Table {
	v, ok := t.Take(key)
	if !ok {
		return nil
	}
	keys, ok := v.(map[string]any)
	if !ok {
		t.Wrong(key, "must be a table, not %s", TypeOf(v))
		return nil
	}
	return newTable(t, t.Path.Key(key), keys)
}

// Tables returns the array of tables under a key.
func (t *Table) Tables(key string) []*Table {
	v, ok := t.Take(key)
	if !ok {
		return nil
	}
	list, other := TablesIn(v)
	switch {
	case list != nil && other < 0:
	case list != nil:
		t.WrongAt(t.Path.Key(key).At(other), "must be a table, not %s", TypeOf(v.([]any)[other]))
		return nil
	case TypeOf(v) == "a table":
		t.Wrong(key, "must be an array of tables, not one table; write [[%s]]", t.Path.Key(key))
		return nil
	default:
		t.Wrong(key, "must be an array of tables, not %s; write [[%s]]", TypeOf(v), t.Path.Key(key))
		return nil
	}
	out := make([]*Table, len(list))
	for i, keys := range list {
		out[i] = newTable(t, t.Path.Key(key).At(i), keys)
	}
	return out
}

// TablesIn returns the tables of an array, written as [[name]] or inline; nil if v is not an
// array. other is the index of the first element that is not a table, -1 if all are.
func TablesIn(v any) (list []map[string]any, other int) {
	switch v := v.(type) {
	case []map[string]any:
		return v, -1
	case []any:
		list = make([]map[string]any, len(v))
		for i, e := range v {
			one, ok := e.(map[string]any)
			if !ok {
				return list, i
			}
			list[i] = one
		}
		return list, -1
	}
	return nil, -1
}

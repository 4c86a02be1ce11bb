package configs

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// table is a table of a document. Its getters record the keys that they are asked for, and
// report invalid values; done then reports the keys that no getter was asked for. A getter
// returns the default for an invalid value, so that reading goes on and reports all
// problems of a file at once.
type table struct {
	doc   *document
	in    place // the kind of file
	path  path
	keys  map[string]any
	known map[string]bool
}

// newTable returns a table within t.
func newTable(t *table, p path, keys map[string]any) *table {
	return &table{doc: t.doc, in: t.in, path: p, keys: keys, known: map[string]bool{}}
}

// take returns the value of a key and records that the key is known.
func (t *table) take(key string) (any, bool) {
	t.known[key] = true
	v, ok := t.keys[key]
	return v, ok
}

// has reports whether a key is given.
func (t *table) has(key string) bool {
	_, ok := t.take(key)
	return ok
}

// wrong reports a problem with the value of a key.
func (t *table) wrong(key, format string, args ...any) { t.wrongAt(t.path.key(key), format, args...) }

func (t *table) wrongAt(p path, format string, args ...any) {
	t.doc.wrong = append(t.doc.wrong, &Problem{
		File: t.doc.file, Line: t.doc.where.lineOf(p), Key: p.String(), Text: fmt.Sprintf(format, args...)})
	for ; p != ""; p = p.parent() {
		t.doc.faulty[p] = true
	}
}

// fileName is the name of the file that is read.
func (t *table) fileName() string { return t.doc.file }

// dir is the folder of that file.
func (t *table) dir() string { return filepath.Dir(t.doc.file) }

// resolve resolves a file name against that folder.
func (t *table) resolve(file string) string { return within(t.dir(), file) }

// line is the line of a place, or of the nearest table around it, from 1.
func (t *table) line(p path) int { return t.doc.where.lineOf(p) }

// beside is what the caller keeps of the whole file, as it was opened.
func (t *table) beside() any { return t.doc.beside }

// sound reports whether no problem was found in this table.
func (t *table) sound() bool { return !t.doc.faulty[t.path] }

// clean reports whether no problem was found with the value of a key or inside it.
func (t *table) clean(key string) bool { return !t.doc.faulty[t.path.key(key)] }

// need reports the key as missing if it is not given; example shows a value.
func (t *table) need(key, example string) {
	if !t.has(key) {
		t.wrong(key, "missing; write for example %s = %s", key, example)
	}
}

// done reports every key that no getter was asked for.
func (t *table) done() {
	unknown := make([]string, 0, len(t.keys))
	for k := range t.keys {
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
		if near := nearest(k, known); near != "" {
			t.wrong(k, "unknown key; did you mean %s?", near)
		} else {
			t.wrong(k, "unknown key; must be one of %s", strings.Join(known, ", "))
		}
	}
}

// table returns the table under a key, nil if there is none.
func (t *table) table(key string) *table {
	v, ok := t.take(key)
	if !ok {
		return nil
	}
	keys, ok := v.(map[string]any)
	if !ok {
		t.wrong(key, "must be a table, not %s", kind(v))
		return nil
	}
	return newTable(t, t.path.key(key), keys)
}

// tables returns the array of tables under a key.
func (t *table) tables(key string) []*table {
	v, ok := t.take(key)
	if !ok {
		return nil
	}
	list, other := inArray(v)
	switch {
	case list != nil && other < 0:
	case list != nil:
		t.wrongAt(t.path.key(key).at(other), "must be a table, not %s", kind(v.([]any)[other]))
		return nil
	case kind(v) == "a table":
		t.wrong(key, "must be an array of tables, not one table; write [[%s]]", t.path.key(key))
		return nil
	default:
		t.wrong(key, "must be an array of tables, not %s; write [[%s]]", kind(v), t.path.key(key))
		return nil
	}
	out := make([]*table, len(list))
	for i, keys := range list {
		out[i] = newTable(t, t.path.key(key).at(i), keys)
	}
	return out
}

// inArray returns the tables of an array, written as [[name]] or inline; nil if v is not an
// array. other is the index of the first element that is not a table, -1 if all are.
func inArray(v any) (list []map[string]any, other int) {
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

// text returns a string.
func (t *table) text(key, def string) string {
	v, ok := t.take(key)
	if !ok {
		return def
	}
	s, ok := v.(string)
	if !ok {
		t.wrong(key, "must be a string, not %s", kind(v))
		return def
	}
	if err := grid.CheckText(s); err != nil {
		t.wrong(key, "%v", err)
		return def
	}
	return s
}

// maxTexts bounds an array of strings.
const maxTexts = 1000

// texts returns an array of strings.
func (t *table) texts(key string) []string {
	v, ok := t.take(key)
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		t.wrong(key, "must be an array of strings, not %s", kind(v))
		return nil
	}
	if len(list) > maxTexts {
		t.wrong(key, "has %d elements; must have at most %d", len(list), maxTexts)
		return nil
	}
	out := make([]string, 0, len(list))
	for i, e := range list {
		s, ok := e.(string)
		if !ok {
			t.wrongAt(t.path.key(key).at(i), "must be a string, not %s", kind(e))
			return nil
		}
		if err := grid.CheckText(s); err != nil {
			t.wrongAt(t.path.key(key).at(i), "%v", err)
			return nil
		}
		out = append(out, s)
	}
	return out
}

// words returns an array of strings with any characters: arguments of a program.
func (t *table) words(key string) []string {
	v, ok := t.take(key)
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		t.wrong(key, `must be an array of strings, such as ["sh", "-c", "echo $BOURSE_LEG"], not %s`, kind(v))
		return nil
	}
	out := make([]string, len(list))
	for i, e := range list {
		s, ok := e.(string)
		if !ok {
			t.wrongAt(t.path.key(key).at(i), "must be a string, not %s", kind(e))
			return nil
		}
		out[i] = s
	}
	return out
}

// raw returns a string with any characters.
func (t *table) raw(key string) string {
	v, _ := t.take(key)
	s, ok := v.(string)
	if !ok {
		t.wrong(key, "must be a string, not %s", kind(v))
	}
	return s
}

// name returns a name that must be given: 1 to 100 bytes, no blanks around it. A name in
// seen, which holds the lines of names, is refused.
func (t *table) name(key, example string, seen map[string]int) string {
	t.need(key, strconv.Quote(example))
	s := t.text(key, "")
	if !t.has(key) || !t.clean(key) {
		return s
	}
	switch err := grid.CheckName(s); {
	case err != nil:
		t.wrong(key, "%v", err)
	case seen[s] > 0:
		t.wrong(key, "%q is already used in line %d; must be unique", s, seen[s])
	default:
		seen[s] = t.doc.where.lineOf(t.path.key(key))
	}
	return s
}

// title returns an optional name that need not be unique.
func (t *table) title(key, def string) string {
	if !t.has(key) {
		return def
	}
	return t.name(key, def, map[string]int{})
}

// oneOf returns one of the known words.
func (t *table) oneOf(key, def string, known []string) string {
	s := t.text(key, def)
	if !slices.Contains(known, s) {
		t.wrong(key, "%q is unknown; must be one of %s", s, strings.Join(known, ", "))
		return def
	}
	return s
}

// whole returns a whole number from lo to hi.
func (t *table) whole(key string, def, lo, hi int) int {
	v, ok := t.take(key)
	if !ok {
		return def
	}
	return t.wholeAt(t.path.key(key), v, def, lo, hi)
}

func (t *table) wholeAt(p path, v any, def, lo, hi int) int {
	n, ok := v.(int64)
	switch {
	case !ok:
		t.wrongAt(p, "must be a whole number from %d to %d, not %s", lo, hi, kind(v))
	case n < int64(lo) || n > int64(hi):
		t.wrongAt(p, "%d is outside %d..%d", n, lo, hi)
	default:
		return int(n)
	}
	return def
}

// share returns a decimal number from lo to hi, in thousandths.
func (t *table) share(key string, def, lo, hi Thousandths) Thousandths {
	v, ok := t.take(key)
	if !ok {
		return def
	}
	return t.shareAt(t.path.key(key), v, def, lo, hi)
}

func (t *table) shareAt(p path, v any, def, lo, hi Thousandths) Thousandths {
	n, err := thousandths(v)
	switch {
	case err != nil:
		t.wrongAt(p, "%v; must be a number from %v to %v", err, lo, hi)
	case n < lo || n > hi:
		t.wrongAt(p, "%v is outside %v..%v", n, lo, hi)
	default:
		return n
	}
	return def
}

// span returns a duration of at least lo.
func (t *table) span(key string, def, lo grid.Duration) grid.Duration {
	d := value(t, key, def)
	if t.has(key) && t.clean(key) && d < lo {
		t.wrong(key, "%s is too short; must be at least %s", d.Words(), lo.Words())
		return def
	}
	return d
}

// fromTOML is a type of package grid that can read itself.
type fromTOML[T any] interface {
	*T
	UnmarshalTOML(any) error
}

// value returns a value of a type of package grid.
func value[T any, P fromTOML[T]](t *table, key string, def T) T {
	v, ok := t.take(key)
	if !ok {
		return def
	}
	return element[T, P](t, t.path.key(key), v, def)
}

func element[T any, P fromTOML[T]](t *table, p path, v any, def T) T {
	if !scalar(v) {
		t.wrongAt(p, "must be a number, not %s", kind(v))
		return def
	}
	var out T
	if err := P(&out).UnmarshalTOML(v); err != nil {
		t.wrongAt(p, "%v", err)
		return def
	}
	return out
}

// autoOr reads "auto", as nil, or a value of the vocabulary.
func autoOr[T any, P fromTOML[T]](t *table, key string) *T {
	v, ok := t.take(key)
	if !ok || v == "auto" {
		return nil
	}
	var none T
	if err := P(&none).UnmarshalTOML(v); err != nil && scalar(v) {
		t.wrong(key, "%v; must be \"auto\" or a number", err)
		return nil
	}
	out := value[T, P](t, key, none)
	return &out
}

// scalar reports whether v is a number or a string.
func scalar(v any) bool {
	switch v.(type) {
	case int64, float64, string:
		return true
	}
	return false
}

// kind names the type of a value in TOML's terms.
func kind(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "a whole number"
	case float64:
		return "a decimal number"
	case bool:
		return "true or false"
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "an array"
	}
	return "a date"
}

// placed is one value of an array, with its place for messages.
type placed struct {
	at    path
	value any
}

// elements returns the values of an array, none if the key is not given.
func (t *table) elements(key string) (list []placed) {
	v, given := t.take(key)
	if !given {
		return nil
	}
	array, ok := v.([]any)
	if !ok {
		t.wrong(key, "is %s; must be an array", kind(v))
	}
	for i, one := range array {
		list = append(list, placed{t.path.key(key).at(i), one})
	}
	return list
}

// file returns the name of a file or folder, relative to the folder of the file that is read.
func (t *table) file(key, def string) string {
	s := t.text(key, def)
	if t.has(key) && t.clean(key) && s == "" {
		t.wrong(key, "is empty; must be the name of a file or folder")
	}
	if s == "" {
		return ""
	}
	return t.resolve(s)
}

// flag returns true or false, false by default.
func (t *table) flag(key string) bool {
	v, ok := t.take(key)
	if !ok {
		return false
	}
	b, ok := v.(bool)
	if !ok {
		t.wrong(key, "must be true or false, not %s", kind(v))
	}
	return b
}

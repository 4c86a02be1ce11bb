package keys

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// The getters of a table, one for each kind of value.

// Text returns a string.
func (t *Table) Text(key, def string) string {
	v, ok := t.Take(key)
	if !ok {
		return def
	}
	s, ok := v.(string)
	if !ok {
		t.Wrong(key, "must be a string, not %s", TypeOf(v))
		return def
	}
	if err := grid.CheckText(s); err != nil {
		t.Wrong(key, "%v", err)
		return def
	}
	return s
}

// MaxTexts bounds an array of strings.
const MaxTexts = 1000

// Texts returns an array of strings.
func (t *Table) Texts(key string) []string {
	v, ok := t.Take(key)
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		t.Wrong(key, "must be an array of strings, not %s", TypeOf(v))
		return nil
	}
	if len(list) > MaxTexts {
		t.Wrong(key, "has %d elements; must have at most %d", len(list), MaxTexts)
		return nil
	}
	out := make([]string, 0, len(list))
	for i, e := range list {
		s, ok := e.(string)
		if !ok {
			t.WrongAt(t.Path.Key(key).At(i), "must be a string, not %s", TypeOf(e))
			return nil
		}
		if err := grid.CheckText(s); err != nil {
			t.WrongAt(t.Path.Key(key).At(i), "%v", err)
			return nil
		}
		out = append(out, s)
	}
	return out
}

// name returns a name that must be given: 1 to 100 bytes, no blanks around it. A name in
// seen, which holds the lines of names, is refused.
func (t *Table) name(key, example string, seen map[string]int) string {
	t.Need(key, strconv.Quote(example))
	s := t.Text(key, "")
	if !t.Has(key) || !t.Clean(key) {
		return s
	}
	switch err := grid.CheckName(s); {
	case err != nil:
		t.Wrong(key, "%v", err)
	case seen[s] > 0:
		t.Wrong(key, "%q is already used in line %d; must be unique", s, seen[s])
	default:
		seen[s] = t.doc.where.lineOf(t.Path.Key(key))
	}
	return s
}

// title returns an optional name that need not be unique.
func (t *Table) title(key, def string) string {
	if !t.Has(key) {
		return def
	}
	return t.name(key, def, map[string]int{})
}

// OneOf returns one of the known words.
func (t *Table) OneOf(key, def string, known []string) string {
	s := t.Text(key, def)
	if !slices.Contains(known, s) {
		t.Wrong(key, "%q is unknown; must be one of %s", s, strings.Join(known, ", "))
		return def
	}
	return s
}

// Whole returns a whole number from lo to hi.
func (t *Table) Whole(key string, def, lo, hi int) int {
	v, ok := t.Take(key)
	if !ok {
		return def
	}
	return t.WholeAt(t.Path.Key(key), v, def, lo, hi)
}

// WholeAt is Whole for a value at a place.
func (t *Table) WholeAt(p Path, v any, def, lo, hi int) int {
	n, ok := v.(int64)
	switch {
	case !ok:
		t.WrongAt(p, "must be a whole number from %d to %d, not %s", lo, hi, TypeOf(v))
	case n < int64(lo) || n > int64(hi):
		t.WrongAt(p, "%d is outside %d..%d", n, lo, hi)
	default:
		return int(n)
	}
	return def
}

// Share returns a decimal number from lo to hi, in thousandths.
func (t *Table) Share(key string, def, lo, hi Thousandths) Thousandths {
	v, ok := t.Take(key)
	if !ok {
		return def
	}
	return t.ShareAt(t.Path.Key(key), v, def, lo, hi)
}

// ShareAt is Share for a value at a place.
func (t *Table) ShareAt(p Path, v any, def, lo, hi Thousandths) Thousandths {
	n, err := ParseThousandths(v)
	switch {
	case err != nil:
		t.WrongAt(p, "%v; must be a number from %v to %v", err, lo, hi)
	case n < lo || n > hi:
		t.WrongAt(p, "%v is outside %v..%v", n, lo, hi)
	default:
		return n
	}
	return def
}

// Span returns a duration of at least lo.
func (t *Table) Span(key string, def, lo grid.Duration) grid.Duration {
	d := Value(t, key, def)
	if t.Has(key) && t.Clean(key) && d < lo {
		t.Wrong(key, "%s is too short; must be at least %s", d.Words(), lo.Words())
		return def
	}
	return d
}

// fromTOML is a type of package grid that can read itself.
type fromTOML[T any] interface {
	*T
	UnmarshalTOML(any) error
}

// Value returns a value of a type of package grid.
func Value[T any, P fromTOML[T]](t *Table, key string, def T) T {
	v, ok := t.Take(key)
	if !ok {
		return def
	}
	return element[T, P](t, t.Path.Key(key), v, def)
}

func element[T any, P fromTOML[T]](t *Table, p Path, v any, def T) T {
	if !scalar(v) {
		t.WrongAt(p, "must be a number, not %s", TypeOf(v))
		return def
	}
	var out T
	if err := P(&out).UnmarshalTOML(v); err != nil {
		t.WrongAt(p, "%v", err)
		return def
	}
	return out
}

// AutoOr reads "auto", as nil, or a value of the vocabulary.
func AutoOr[T any, P fromTOML[T]](t *Table, key string) *T {
	v, ok := t.Take(key)
	if !ok || v == "auto" {
		return nil
	}
	var none T
	if err := P(&none).UnmarshalTOML(v); err != nil && scalar(v) {
		t.Wrong(key, "%v; must be \"auto\" or a number", err)
		return nil
	}
	out := Value[T, P](t, key, none)
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

// TypeOf names the type of a value in TOML's terms.
func TypeOf(v any) string {
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
	At    Path
	Value any
}

// Elements returns the values of an array, none if the key is not given.
func (t *Table) Elements(key string) (list []placed) {
	v, given := t.Take(key)
	if !given {
		return nil
	}
	array, ok := v.([]any)
	if !ok {
		t.Wrong(key, "is %s; must be an array", TypeOf(v))
	}
	for i, one := range array {
		list = append(list, placed{t.Path.Key(key).At(i), one})
	}
	return list
}

// File returns the name of a file or folder, relative to the folder of the file that is read.
func (t *Table) File(key, def string) string {
	s := t.Text(key, def)
	if t.Has(key) && t.Clean(key) && s == "" {
		t.Wrong(key, "is empty; must be the name of a file or folder")
	}
	if s == "" {
		return ""
	}
	return t.Resolve(s)
}

// flag returns true or false, false by default.
func (t *Table) flag(key string) bool {
	v, ok := t.Take(key)
	if !ok {
		return false
	}
	b, ok := v.(bool)
	if !ok {
		t.Wrong(key, "must be true or false, not %s", TypeOf(v))
	}
	return b
}

package keys

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/names"
)

// The kinds of fields. Each has a constructor that makes a key from its name, target,
// default, range and description.

// own is a field with a reading function of its own.
type own struct {
	what About
	take func(t *Table, key string)
}

func (f own) read(t *Table, key string) { f.take(t, key) }
func (f own) about() About              { return f.what }

// Custom is a key of none of the kinds below.
func Custom(name string, what About, take func(t *Table, key string), doc string) Key {
	return Key{Name: name, field: own{what, take}, Doc: doc}
}

type textField struct {
	to  *string
	def string
}

// Text is a key whose value is any string.
func Text(name string, to *string, def, doc string) Key {
	return Key{Name: name, field: textField{to, def}, Doc: doc}
}

func (f textField) read(t *Table, key string) { *f.to = t.Text(key, f.def) }
func (f textField) about() About              { return About{Kind: "string", Default: Quoted(f.def)} }

// Quoted is a default in TOML, "" for none.
func Quoted(s string) string {
	if s == "" {
		return ""
	}
	return strconv.Quote(s)
}

type nameField struct {
	to      *string
	seen    map[string]int
	example string
}

// Named is a name that must be given and must differ from those seen.
func Named(name string, to *string, seen map[string]int, example, doc string) Key {
	return Key{Name: name, field: nameField{to, seen, example}, Doc: doc}
}

func (f nameField) read(t *Table, key string) { *f.to = t.name(key, f.example, f.seen) }
func (f nameField) about() About              { return About{Kind: "name"} }

type titleField struct {
	to  *string
	def string
}

// Title is an optional name that need not be unique.
func Title(name string, to *string, def, doc string) Key {
	return Key{Name: name, field: titleField{to, def}, Doc: doc}
}

func (f titleField) read(t *Table, key string) { *f.to = t.title(key, f.def) }
func (f titleField) about() About              { return About{Kind: "name", Default: Quoted(f.def)} }

type wordField struct {
	to    *string
	def   string
	known []string
}

// Word is one of the known words.
func Word(name string, to *string, def string, known []string, doc string) Key {
	return Key{Name: name, field: wordField{to, def, known}, Doc: doc}
}

func (f wordField) read(t *Table, key string) { *f.to = t.OneOf(key, f.def, f.known) }
func (f wordField) about() About {
	return About{Kind: "word", Default: Quoted(f.def), Words: f.known}
}

type policyField[T fmt.Stringer] struct {
	to    *T
	def   T
	parse func(string) (T, error)
	known []names.Policy
}

// Policy is a key that names one of the policies of a kind, as their package's table has
// them.
func Policy[T fmt.Stringer](name string, to *T, def T, parse func(string) (T, error), known []names.Policy, doc string) Key {
	return Key{Name: name, field: policyField[T]{to, def, parse, known}, Doc: doc}
}

func (f policyField[T]) read(t *Table, key string) {
	v, err := f.parse(t.OneOf(key, f.def.String(), names.Of(f.known)))
	if *f.to = f.def; err == nil {
		*f.to = v
	}
}

func (f policyField[T]) about() About {
	return About{Kind: "word", Default: Quoted(f.def.String()), Words: names.Of(f.known), Policies: f.known}
}

type textsField struct{ to *[]string }

// Texts is an array of strings.
func Texts(name string, to *[]string, doc string) Key {
	return Key{Name: name, field: textsField{to}, Doc: doc}
}

func (f textsField) read(t *Table, key string) { *f.to = t.Texts(key) }
func (f textsField) about() About {
	return About{Kind: "array of strings", Limits: fmt.Sprintf("at most %d", MaxTexts)}
}

type wholeField[T ~int | ~uint64] struct {
	to          *T
	def, lo, hi int
}

// Whole is a whole number of lo to hi.
func Whole[T ~int | ~uint64](name string, to *T, def, lo, hi int, doc string) Key {
	return Key{Name: name, field: wholeField[T]{to, def, lo, hi}, Doc: doc}
}

func (f wholeField[T]) read(t *Table, key string) { *f.to = T(t.Whole(key, f.def, f.lo, f.hi)) }
func (f wholeField[T]) about() About {
	def := ""
	if f.def >= f.lo {
		def = strconv.Itoa(f.def)
	}
	return About{Kind: "whole number", Default: def, Limits: fmt.Sprintf("%d..%d", f.lo, f.hi)}
}

type shareField[T ~int | ~int64] struct {
	to          *T
	def, lo, hi Thousandths
}

// Share is a decimal number from lo to hi, kept in thousandths.
func Share[T ~int | ~int64](name string, to *T, def, lo, hi Thousandths, doc string) Key {
	return Key{Name: name, field: shareField[T]{to, def, lo, hi}, Doc: doc}
}

func (f shareField[T]) read(t *Table, key string) { *f.to = T(t.Share(key, f.def, f.lo, f.hi)) }
func (f shareField[T]) about() About {
	def := ""
	if f.def >= f.lo {
		def = f.def.String()
	}
	return About{Kind: "number", Default: def, Limits: fmt.Sprintf("%v..%v", f.lo, f.hi)}
}

type spanField struct {
	to      *grid.Duration
	def, lo grid.Duration
}

// Span is a duration of at least lo.
func Span(name string, to *grid.Duration, def, lo grid.Duration, doc string) Key {
	return Key{Name: name, field: spanField{to, def, lo}, Doc: doc}
}

func (f spanField) read(t *Table, key string) { *f.to = t.Span(key, f.def, f.lo) }
func (f spanField) about() About {
	a := About{Kind: "duration"}
	if f.def >= f.lo {
		a.Default = strconv.Quote(f.def.Words())
	}
	if f.lo > 0 {
		a.Limits = "from " + f.lo.Words()
	}
	return a
}

type amountField[T any, P fromTOML[T]] struct {
	to  P
	def T
}

// Amount is a value of a type of package grid, which has its own range.
func Amount[T any, P fromTOML[T]](name string, to P, def T, doc string) Key {
	return Key{Name: name, field: amountField[T, P]{to, def}, Doc: doc}
}

func (f amountField[T, P]) read(t *Table, key string) { *f.to = Value[T, P](t, key, f.def) }
func (f amountField[T, P]) about() About {
	a := About{Kind: unit(f.def), Default: fmt.Sprint(f.def)}
	if d, ok := any(f.def).(grid.Duration); ok {
		a.Default = strconv.Quote(d.Words())
	}
	return a
}

// unit names the unit of a value of a type of package grid.
func unit(v any) string {
	switch v.(type) {
	case grid.Credits:
		return "credits"
	case grid.Price:
		return "credits per node-hour"
	case grid.Performance:
		return "performance"
	case grid.Time:
		return "time"
	}
	return "duration"
}

// Auto is a value as of amount, or "auto", the default, which is nil.
func Auto[T any, P fromTOML[T]](name string, to *P, doc string) Key {
	return Key{Name: name, field: autoField[T, P]{to}, Doc: doc}
}

type autoField[T any, P fromTOML[T]] struct{ to *P }

func (f autoField[T, P]) read(t *Table, key string) { *f.to = AutoOr[T, P](t, key) }
func (f autoField[T, P]) about() About {
	var none T
	return About{Kind: unit(none), Default: `"auto"`, Words: []string{"auto"}}
}

type flagField struct {
	to  *bool
	def bool
}

// Boolean is true or false.
func Boolean(name string, to *bool, def bool, doc string) Key {
	return Key{Name: name, field: flagField{to, def}, Doc: doc}
}

func (f flagField) read(t *Table, key string) {
	if *f.to = f.def; t.Has(key) {
		*f.to = t.flag(key)
	}
}
func (f flagField) about() About {
	return About{Kind: "boolean", Default: strconv.FormatBool(f.def), Words: []string{"true", "false"}}
}

type sizeField struct{ to *int64 }

// Size is a number of bytes.
func Size(name string, to *int64, doc string) Key {
	return Key{Name: name, field: sizeField{to}, Doc: doc}
}

func (f sizeField) read(t *Table, key string) {
	if size := t.size(key); t.Has(key) {
		*f.to = size
	}
}
func (f sizeField) about() About { return About{Kind: "size"} }

type fileField struct {
	to  *string
	def string
}

// File is the name of a file or folder, relative to the file that names it.
func File(name string, to *string, def, doc string) Key {
	return Key{Name: name, field: fileField{to, def}, Doc: doc}
}

func (f fileField) read(t *Table, key string) { *f.to = t.File(key, f.def) }
func (f fileField) about() About              { return About{Kind: "file", Default: Quoted(f.def)} }

type daysField struct {
	to  *grid.Duration
	def grid.Duration
}

// Days is a number of days above 0.
func Days(name string, to *grid.Duration, def grid.Duration, doc string) Key {
	return Key{Name: name, field: daysField{to, def}, Doc: doc}
}

func (f daysField) read(t *Table, key string) {
	if n := t.Share(key, 0, 1, 100_000*One); n > 0 {
		*f.to = grid.Duration(n) * grid.Day / grid.Duration(One)
	} else {
		*f.to = f.def
	}
}
func (f daysField) about() About { return About{Kind: "days", Limits: "0.001..100000"} }

type tableField struct {
	of    func() List
	empty bool
}

// Section is a table within the table. If it is not given, all of its keys have their
// defaults. of is called when the table is read.
func Section(name string, of func() List, doc string) Key {
	return Key{Name: name, field: tableField{of, true}, Doc: doc}
}

// Option is a section whose keys are not read if it is not given.
func Option(name string, of func() List, doc string) Key {
	return Key{Name: name, field: tableField{of, false}, Doc: doc}
}

func (f tableField) read(t *Table, key string) {
	below := t.Table(key)
	if below == nil {
		if !f.empty {
			return
		}
		below = newTable(t, t.Path.Key(key), nil)
	}
	below.Fill(f.of())
}
func (f tableField) about() About {
	return About{Kind: "table", Below: f.of, Shape: Bracket}
}

// Bracket writes the name of a table, [name].
func Bracket(path string) string { return "[" + path + "]" }

// Brackets writes the name of the tables of an array, [[name]].
func Brackets(path string) string { return "[[" + path + "]]" }

type listField[T any] struct {
	to   *[]T
	of   func(*T) List
	most int
}

// Each is an array of at most so many tables; 0: no bound.
func Each[T any](name string, to *[]T, most int, of func(*T) List, doc string) Key {
	return Key{Name: name, field: listField[T]{to, of, most}, Doc: doc}
}

func (f listField[T]) read(t *Table, key string) {
	list := t.Tables(key)
	if f.most > 0 && len(list) > f.most {
		t.Wrong(key, "has %d tables; must have at most %d", len(list), f.most)
		return
	}
	for _, below := range list {
		var one T
		below.Fill(f.of(&one))
		*f.to = append(*f.to, one)
	}
}
func (f listField[T]) about() About {
	a := About{Kind: "tables", Below: func() List { return f.of(new(T)) }, Shape: Brackets}
	if f.most > 0 {
		a.Limits = fmt.Sprintf("at most %d", f.most)
	}
	return a
}

type entriesField struct {
	what About
	one  func(t *Table, key string)
}

// Entries is a table whose keys are names. one is called for each name, in order.
func Entries(name string, what About, one func(t *Table, key string), doc string) Key {
	what.Named = true
	return Key{Name: name, field: entriesField{what, one}, Doc: doc}
}

func (f entriesField) read(t *Table, key string) {
	below := t.Table(key)
	if below == nil {
		return
	}
	for _, k := range slices.Sorted(maps.Keys(below.Keys)) {
		f.one(below, k)
	}
}
func (f entriesField) about() About { return f.what }

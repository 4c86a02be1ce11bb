package configs

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
	what about
	take func(t *table, key string)
}

func (f own) read(t *table, key string) { f.take(t, key) }
func (f own) about() about              { return f.what }

// custom is a key of none of the kinds below.
func custom(name string, what about, take func(t *table, key string), doc string) key {
	return key{name: name, field: own{what, take}, doc: doc}
}

type textField struct {
	to  *string
	def string
}

// text is a key whose value is any string.
func text(name string, to *string, def, doc string) key {
	return key{name: name, field: textField{to, def}, doc: doc}
}

func (f textField) read(t *table, key string) { *f.to = t.text(key, f.def) }
func (f textField) about() about              { return about{kind: "string", def: quoted(f.def)} }

func quoted(s string) string {
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

// named is a name that must be given and must differ from those seen.
func named(name string, to *string, seen map[string]int, example, doc string) key {
	return key{name: name, field: nameField{to, seen, example}, doc: doc}
}

func (f nameField) read(t *table, key string) { *f.to = t.name(key, f.example, f.seen) }
func (f nameField) about() about              { return about{kind: "name"} }

type titleField struct {
	to  *string
	def string
}

// title is an optional name that need not be unique.
func title(name string, to *string, def, doc string) key {
	return key{name: name, field: titleField{to, def}, doc: doc}
}

func (f titleField) read(t *table, key string) { *f.to = t.title(key, f.def) }
func (f titleField) about() about              { return about{kind: "name", def: quoted(f.def)} }

type wordField struct {
	to    *string
	def   string
	known []string
}

// word is one of the known words.
func word(name string, to *string, def string, known []string, doc string) key {
	return key{name: name, field: wordField{to, def, known}, doc: doc}
}

func (f wordField) read(t *table, key string) { *f.to = t.oneOf(key, f.def, f.known) }
func (f wordField) about() about {
	return about{kind: "word", def: quoted(f.def), words: f.known}
}

type policyField[T fmt.Stringer] struct {
	to    *T
	def   T
	parse func(string) (T, error)
	known []names.Policy
}

// policy is a key that names one of the policies of a kind, as their package's table has
// them.
func policy[T fmt.Stringer](name string, to *T, def T, parse func(string) (T, error), known []names.Policy, doc string) key {
	return key{name: name, field: policyField[T]{to, def, parse, known}, doc: doc}
}

func (f policyField[T]) read(t *table, key string) {
	v, err := f.parse(t.oneOf(key, f.def.String(), names.Of(f.known)))
	if *f.to = f.def; err == nil {
		*f.to = v
	}
}

func (f policyField[T]) about() about {
	return about{kind: "word", def: quoted(f.def.String()), words: names.Of(f.known), policies: f.known}
}

type textsField struct{ to *[]string }

// texts is an array of strings.
func texts(name string, to *[]string, doc string) key {
	return key{name: name, field: textsField{to}, doc: doc}
}

func (f textsField) read(t *table, key string) { *f.to = t.texts(key) }
func (f textsField) about() about {
	return about{kind: "array of strings", limits: fmt.Sprintf("at most %d", maxTexts)}
}

type wholeField[T ~int | ~uint64] struct {
	to          *T
	def, lo, hi int
}

// whole is a whole number of lo to hi.
func whole[T ~int | ~uint64](name string, to *T, def, lo, hi int, doc string) key {
	return key{name: name, field: wholeField[T]{to, def, lo, hi}, doc: doc}
}

func (f wholeField[T]) read(t *table, key string) { *f.to = T(t.whole(key, f.def, f.lo, f.hi)) }
func (f wholeField[T]) about() about {
	def := ""
	if f.def >= f.lo {
		def = strconv.Itoa(f.def)
	}
	return about{kind: "whole number", def: def, limits: fmt.Sprintf("%d..%d", f.lo, f.hi)}
}

type shareField[T ~int | ~int64] struct {
	to          *T
	def, lo, hi Thousandths
}

// share is a decimal number from lo to hi, kept in thousandths.
func share[T ~int | ~int64](name string, to *T, def, lo, hi Thousandths, doc string) key {
	return key{name: name, field: shareField[T]{to, def, lo, hi}, doc: doc}
}

func (f shareField[T]) read(t *table, key string) { *f.to = T(t.share(key, f.def, f.lo, f.hi)) }
func (f shareField[T]) about() about {
	def := ""
	if f.def >= f.lo {
		def = f.def.String()
	}
	return about{kind: "number", def: def, limits: fmt.Sprintf("%v..%v", f.lo, f.hi)}
}

type spanField struct {
	to      *grid.Duration
	def, lo grid.Duration
}

// span is a duration of at least lo.
func span(name string, to *grid.Duration, def, lo grid.Duration, doc string) key {
	return key{name: name, field: spanField{to, def, lo}, doc: doc}
}

func (f spanField) read(t *table, key string) { *f.to = t.span(key, f.def, f.lo) }
func (f spanField) about() about {
	a := about{kind: "duration"}
	if f.def >= f.lo {
		a.def = strconv.Quote(f.def.Words())
	}
	if f.lo > 0 {
		a.limits = "from " + f.lo.Words()
	}
	return a
}

type amountField[T any, P fromTOML[T]] struct {
	to  P
	def T
}

// amount is a value of a type of package grid, which has its own range.
func amount[T any, P fromTOML[T]](name string, to P, def T, doc string) key {
	return key{name: name, field: amountField[T, P]{to, def}, doc: doc}
}

func (f amountField[T, P]) read(t *table, key string) { *f.to = value[T, P](t, key, f.def) }
func (f amountField[T, P]) about() about {
	a := about{kind: unit(f.def), def: fmt.Sprint(f.def)}
	if d, ok := any(f.def).(grid.Duration); ok {
		a.def = strconv.Quote(d.Words())
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

// auto is a value as of amount, or "auto", the default, which is nil.
func auto[T any, P fromTOML[T]](name string, to *P, doc string) key {
	return key{name: name, field: autoField[T, P]{to}, doc: doc}
}

type autoField[T any, P fromTOML[T]] struct{ to *P }

func (f autoField[T, P]) read(t *table, key string) { *f.to = autoOr[T, P](t, key) }
func (f autoField[T, P]) about() about {
	var none T
	return about{kind: unit(none), def: `"auto"`, words: []string{"auto"}}
}

type flagField struct {
	to  *bool
	def bool
}

// boolean is true or false.
func boolean(name string, to *bool, def bool, doc string) key {
	return key{name: name, field: flagField{to, def}, doc: doc}
}

func (f flagField) read(t *table, key string) {
	if *f.to = f.def; t.has(key) {
		*f.to = t.flag(key)
	}
}
func (f flagField) about() about {
	return about{kind: "boolean", def: strconv.FormatBool(f.def), words: []string{"true", "false"}}
}

type sizeField struct{ to *int64 }

// size is a number of bytes.
func size(name string, to *int64, doc string) key {
	return key{name: name, field: sizeField{to}, doc: doc}
}

func (f sizeField) read(t *table, key string) { *f.to = t.size(key) }
func (f sizeField) about() about              { return about{kind: "size"} }

type fileField struct {
	to  *string
	def string
}

// file is the name of a file or folder, relative to the file that names it.
func file(name string, to *string, def, doc string) key {
	return key{name: name, field: fileField{to, def}, doc: doc}
}

func (f fileField) read(t *table, key string) { *f.to = t.file(key, f.def) }
func (f fileField) about() about              { return about{kind: "file", def: quoted(f.def)} }

type daysField struct {
	to  *grid.Duration
	def grid.Duration
}

// days is a number of days above 0.
func days(name string, to *grid.Duration, def grid.Duration, doc string) key {
	return key{name: name, field: daysField{to, def}, doc: doc}
}

func (f daysField) read(t *table, key string) {
	if n := t.share(key, 0, 1, 100_000*One); n > 0 {
		*f.to = grid.Duration(n) * grid.Day / grid.Duration(One)
	} else {
		*f.to = f.def
	}
}
func (f daysField) about() about { return about{kind: "days", limits: "0.001..100000"} }

type tableField struct {
	of    func() keys
	empty bool
}

// section is a table within the table. If it is not given, all of its keys have their
// defaults. of is called when the table is read.
func section(name string, of func() keys, doc string) key {
	return key{name: name, field: tableField{of, true}, doc: doc}
}

// option is a section whose keys are not read if it is not given.
func option(name string, of func() keys, doc string) key {
	return key{name: name, field: tableField{of, false}, doc: doc}
}

func (f tableField) read(t *table, key string) {
	below := t.table(key)
	if below == nil {
		if !f.empty {
			return
		}
		below = newTable(t, t.path.key(key), nil)
	}
	below.fill(f.of())
}
func (f tableField) about() about {
	return about{kind: "table", below: f.of, shape: bracket}
}

func bracket(path string) string  { return "[" + path + "]" }
func brackets(path string) string { return "[[" + path + "]]" }

type listField[T any] struct {
	to   *[]T
	of   func(*T) keys
	most int
}

// each is an array of at most so many tables; 0: no bound.
func each[T any](name string, to *[]T, most int, of func(*T) keys, doc string) key {
	return key{name: name, field: listField[T]{to, of, most}, doc: doc}
}

func (f listField[T]) read(t *table, key string) {
	list := t.tables(key)
	if f.most > 0 && len(list) > f.most {
		t.wrong(key, "has %d tables; must have at most %d", len(list), f.most)
		return
	}
	for _, below := range list {
		var one T
		below.fill(f.of(&one))
		*f.to = append(*f.to, one)
	}
}
func (f listField[T]) about() about {
	a := about{kind: "tables", below: func() keys { return f.of(new(T)) }, shape: brackets}
	if f.most > 0 {
		a.limits = fmt.Sprintf("at most %d", f.most)
	}
	return a
}

type entriesField struct {
	what about
	one  func(t *table, key string)
}

// entries is a table whose keys are names. one is called for each name, in order.
func entries(name string, what about, one func(t *table, key string), doc string) key {
	what.named = true
	return key{name: name, field: entriesField{what, one}, doc: doc}
}

func (f entriesField) read(t *table, key string) {
	below := t.table(key)
	if below == nil {
		return
	}
	for _, k := range slices.Sorted(maps.Keys(below.keys)) {
		f.one(below, k)
	}
}
func (f entriesField) about() about { return f.what }

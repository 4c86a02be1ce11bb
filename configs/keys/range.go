package keys

import (
	"fmt"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
)

// Range is an inclusive range, Lo <= Hi.
type Range[T any] struct{ Lo, Hi T }

// FromTo is the range from lo to hi.
func FromTo[T any](lo, hi T) Range[T] { return Range[T]{lo, hi} }

// pair returns the two elements of an array, if the key is given and has two.
func (t *Table) pair(key string) (p Path, lo, hi any, ok bool) {
	v, given := t.Take(key)
	if !given {
		return "", nil, nil, false
	}
	list, array := v.([]any)
	if !array || len(list) != 2 {
		t.Wrong(key, "must be a range, two values in brackets: [least, most]")
		return "", nil, nil, false
	}
	return t.Path.Key(key), list[0], list[1], true
}

// rangeField is a range whose ends are read one by one.
type rangeField[T ~int | ~int64] struct {
	to   *Range[T]
	def  Range[T]
	one  func(t *Table, p Path, v any, def T) T
	what string // "number": the word for an end in messages
	kind string
	span string
	show func(T) string
}

func (f rangeField[T]) read(t *Table, key string) {
	*f.to = f.def
	p, lo, hi, ok := t.pair(key)
	if !ok {
		return
	}
	*f.to = Range[T]{f.one(t, p.At(0), lo, f.def.Lo), f.one(t, p.At(1), hi, f.def.Hi)}
	if !t.Clean(key) || f.to.Lo <= f.to.Hi {
		return
	}
	if f.what == "value" { // show them as in the file
		t.Wrong(key, "%v..%v is reversed; write the smaller value first", lo, hi)
	} else {
		t.Wrong(key, "%v..%v is reversed; write the smaller number first", f.to.Lo, f.to.Hi)
	}
}

func (f rangeField[T]) about() About {
	return About{Kind: "[least, most], " + f.kind, Limits: f.span, Default: "[" + f.show(f.def.Lo) + ", " + f.show(f.def.Hi) + "]"}
}

// Between is a range of values of a type of package grid.
func Between[T ~int64, P fromTOML[T]](name string, to *Range[T], def Range[T], doc string) Key {
	show := func(v T) string {
		if d, ok := any(v).(grid.Duration); ok {
			return strconv.Quote(d.Words())
		}
		return fmt.Sprint(v)
	}
	return Key{Name: name, Doc: doc, field: rangeField[T]{to, def, element[T, P], "value", unit(def.Lo), "", show}}
}

// Wholes is a range of whole numbers within lo..hi.
func Wholes(name string, to *Range[int], def Range[int], lo, hi int, doc string) Key {
	one := func(t *Table, p Path, v any, def int) int { return t.WholeAt(p, v, def, lo, hi) }
	return Key{Name: name, Doc: doc, field: rangeField[int]{to, def, one, "number", "whole numbers", fmt.Sprintf("%d..%d", lo, hi), strconv.Itoa}}
}

// Factors is a range of numbers within lo..hi, kept in thousandths.
func Factors(name string, to *Range[Thousandths], def Range[Thousandths], lo, hi Thousandths, doc string) Key {
	one := func(t *Table, p Path, v any, def Thousandths) Thousandths { return t.ShareAt(p, v, def, lo, hi) }
	return Key{Name: name, Doc: doc, field: rangeField[Thousandths]{to, def, one, "number", "numbers", fmt.Sprintf("%v..%v", lo, hi), Thousandths.String}}
}

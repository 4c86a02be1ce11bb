package configs

import (
	"fmt"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
)

// Range is an inclusive range, Lo <= Hi.
type Range[T any] struct{ Lo, Hi T }

// pair returns the two elements of an array, if the key is given and has two.
func (t *table) pair(key string) (p path, lo, hi any, ok bool) {
	v, given := t.take(key)
	if !given {
		return "", nil, nil, false
	}
	list, array := v.([]any)
	if !array || len(list) != 2 {
		t.wrong(key, "must be a range, two values in brackets: [least, most]")
		return "", nil, nil, false
	}
	return t.path.key(key), list[0], list[1], true
}

// rangeField is a range whose ends are read one by one.
type rangeField[T ~int | ~int64] struct {
	to   *Range[T]
	def  Range[T]
	one  func(t *table, p path, v any, def T) T
	what string // "number": the word for an end in messages
	kind string
	span string
	show func(T) string
}

func (f rangeField[T]) read(t *table, key string) {
	*f.to = f.def
	p, lo, hi, ok := t.pair(key)
	if !ok {
		return
	}
	*f.to = Range[T]{f.one(t, p.at(0), lo, f.def.Lo), f.one(t, p.at(1), hi, f.def.Hi)}
	if !t.clean(key) || f.to.Lo <= f.to.Hi {
		return
	}
	if f.what == "value" { // show them as in the file
		t.wrong(key, "%v..%v is reversed; write the smaller value first", lo, hi)
	} else {
		t.wrong(key, "%v..%v is reversed; write the smaller number first", f.to.Lo, f.to.Hi)
	}
}

func (f rangeField[T]) about() about {
	return about{kind: "[least, most], " + f.kind, limits: f.span, def: "[" + f.show(f.def.Lo) + ", " + f.show(f.def.Hi) + "]"}
}

// between is a range of values of a type of package grid.
func between[T ~int64, P fromTOML[T]](name string, to *Range[T], def Range[T], doc string) key {
	show := func(v T) string {
		if d, ok := any(v).(grid.Duration); ok {
			return strconv.Quote(d.Words())
		}
		return fmt.Sprint(v)
	}
	return key{name: name, doc: doc, field: rangeField[T]{to, def, element[T, P], "value", unit(def.Lo), "", show}}
}

// wholes is a range of whole numbers within lo..hi.
func wholes(name string, to *Range[int], def Range[int], lo, hi int, doc string) key {
	one := func(t *table, p path, v any, def int) int { return t.wholeAt(p, v, def, lo, hi) }
	return key{name: name, doc: doc, field: rangeField[int]{to, def, one, "number", "whole numbers", fmt.Sprintf("%d..%d", lo, hi), strconv.Itoa}}
}

// factors is a range of numbers within lo..hi, kept in thousandths.
func factors(name string, to *Range[Thousandths], def Range[Thousandths], lo, hi Thousandths, doc string) key {
	one := func(t *table, p path, v any, def Thousandths) Thousandths { return t.shareAt(p, v, def, lo, hi) }
	return key{name: name, doc: doc, field: rangeField[Thousandths]{to, def, one, "number", "numbers", fmt.Sprintf("%v..%v", lo, hi), Thousandths.String}}
}

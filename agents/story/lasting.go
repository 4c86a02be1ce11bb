package story

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Lasting prints all that a value holds, a line for each field of a struct, but for the fields that
// are named as "Type.field": those of one life alone, and what refers back. What an agent knows by its
// facts and what it knows by its image must print the same: a field that the image lacks shows so.
func Lasting(v any, passing ...string) string {
	p := printer{passing: passing, open: map[uintptr]bool{}}
	p.print("", reflect.ValueOf(v))
	return p.String()
}

// printer walks a value.
type printer struct {
	strings.Builder
	passing []string
	open    map[uintptr]bool // pointers that are being printed
}

func (p *printer) print(path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || p.open[v.Pointer()] {
			return
		}
		p.open[v.Pointer()] = true
		p.print(path, v.Elem())
		delete(p.open, v.Pointer())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			p.print(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, k := range keys {
			p.print(fmt.Sprintf("%s[%v]", path, k), v.MapIndex(k))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; !slices.Contains(p.passing, v.Type().Name()+"."+name) {
				p.print(path+"."+name, v.Field(i))
			}
		}
	default:
		if !v.IsZero() {
			fmt.Fprintf(p, "%s %v\n", path, v)
		}
	}
}

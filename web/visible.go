package web

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/grid"
)

// Texts from users and operators are shown to others, also on terminals, so they must not
// have invisible characters. Huma calls Resolve for each input.

// Resolve implements huma.Resolver.
func (in *batchInput) Resolve(huma.Context) []error { return unseen("body", in.Body) }

// Resolve implements huma.Resolver.
func (in *modifyInput) Resolve(huma.Context) []error { return unseen("body", in.Body) }

// Resolve implements huma.Resolver.
func (in *drainInput) Resolve(huma.Context) []error { return unseen("body", in.Body) }

// Resolve implements huma.Resolver.
func (in *closeInput) Resolve(huma.Context) []error { return unseen("body", in.Body) }

// Resolve implements huma.Resolver.
func (in *openInput) Resolve(huma.Context) []error { return unseen("body", in.Body) }

// Resolve implements huma.Resolver.
func (in *maintenanceInput) Resolve(huma.Context) []error { return unseen("body", in.Body) }

// Resolve implements huma.Resolver.
func (in *lostInput) Resolve(huma.Context) []error { return unseen("body", in.Body) }

// maxUnseen bounds how many texts of one request are reported.
const maxUnseen = 20

// unseen reports the texts in a value that have invisible characters, by their JSON
// paths.
func unseen(at string, value any) []error {
	var wrong []error
	var look func(at string, v reflect.Value)
	look = func(at string, v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			if err := grid.CheckText(v.String()); err != nil && len(wrong) < maxUnseen {
				wrong = append(wrong, &huma.ErrorDetail{Location: at, Message: err.Error()})
			}
		case reflect.Pointer:
			if !v.IsNil() {
				look(at, v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				look(fmt.Sprintf("%s[%d]", at, i), v.Index(i))
			}
		case reflect.Struct:
			if w, written := v.Interface().(encoding.TextMarshaler); written {
				if text, err := w.MarshalText(); err == nil {
					look(at, reflect.ValueOf(string(text)))
				}
				return
			}
			for i := range v.NumField() {
				switch f := v.Type().Field(i); {
				case f.Tag.Get("shown") == "never": // passed on unchanged
				case f.Anonymous:
					look(at, v.Field(i))
				case f.IsExported():
					name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
					look(at+"."+name, v.Field(i))
				}
			}
		}
	}
	look(at, reflect.ValueOf(value))
	return wrong
}

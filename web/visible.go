package web

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"bourse"
)

// What users and operators send is shown to others, on terminals too: none of it
// may have characters that cannot be seen. The library asks what is sent for
// what is wrong with it.

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

// maxUnseen bounds the texts of one request that are named.
const maxUnseen = 20

// unseen says which texts of a value have characters that cannot be seen, by the
// names that JSON gives them.
func unseen(at string, value any) []error {
	var wrong []error
	var look func(at string, v reflect.Value)
	look = func(at string, v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			if err := bourse.CheckText(v.String()); err != nil && len(wrong) < maxUnseen {
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
			for i := range v.NumField() {
				switch f := v.Type().Field(i); {
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

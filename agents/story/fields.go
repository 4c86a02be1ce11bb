package story

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Value reads the text of a value by its type, and fails the test if it cannot. Times and
// durations are in seconds unless the text has a unit.
func Value(t testing.TB, where string, p any, text string) {
	t.Helper()
	if err := new(Language).parse(reflect.ValueOf(p).Elem(), text); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
}

// Set sets the field of a struct that a word names, in lower case: the struct's own, or else
// one of the structs in it. Other words for fields are in a table.
func Set(p any, words map[string]string, word, text string) error {
	l := Language{Fields: words}
	return l.set(reflect.ValueOf(p).Elem(), word, text)
}

func (l *Language) set(in reflect.Value, word, text string) error {
	v, err := named(in, l.Fields, word)
	if err != nil {
		return err
	}
	if err := l.parse(v, text); err != nil {
		return fmt.Errorf("%s: %w", word, err)
	}
	return nil
}

// named finds the field that a word stands for. A table may give several names: the first
// that there is counts.
func named(v reflect.Value, words map[string]string, word string) (reflect.Value, error) {
	names := words[strings.ToLower(v.Type().Name())+" "+word]
	if names == "" {
		names = words[word]
	}
	if names == "" {
		names = word
	}
	for _, name := range strings.Fields(names) {
		at := v
		for _, step := range strings.Split(name, ".") {
			if at = field(at, step); !at.IsValid() {
				break
			}
		}
		if at.IsValid() {
			return at, nil
		}
	}
	return reflect.Value{}, fmt.Errorf("%s has no field %q", v.Type().Name(), word)
}

// field finds a field by its name in any case, level by level.
func field(v reflect.Value, name string) reflect.Value {
	for level := []reflect.Value{v}; len(level) > 0; {
		var next []reflect.Value
		for _, s := range level {
			for i := range s.NumField() {
				f := s.Field(i)
				if !s.Type().Field(i).IsExported() {
					continue
				}
				if strings.EqualFold(s.Type().Field(i).Name, name) {
					return f
				}
				if f.Kind() == reflect.Struct && !whole(f) {
					next = append(next, f)
				}
			}
		}
		level = next
	}
	return reflect.Value{}
}

// whole reports whether a struct is one value in a story, not a list of fields.
func whole(v reflect.Value) bool {
	switch v.Interface().(type) {
	case grid.LegID, grid.TxID, grid.Reason, grid.Fare:
		return true
	}
	_, text := v.Addr().Interface().(encoding.TextUnmarshaler)
	return text
}

// parse reads a value by its type.
func (l *Language) parse(v reflect.Value, text string) (err error) {
	if x, ok := l.Values[text]; ok && reflect.TypeOf(x) == v.Type() {
		v.Set(reflect.ValueOf(x))
		return nil
	}
	switch p := v.Addr().Interface().(type) {
	case *grid.Duration:
		*p, err = grid.ParseDuration(text)
		return err
	case *grid.Time:
		d, err := grid.ParseDuration(text)
		*p = grid.Time(d)
		return err
	case *grid.Credits:
		digits, below := strings.CutPrefix(text, "-")
		if *p, err = grid.ParseCredits(digits); below {
			*p = -*p
		}
		return err
	case *grid.Price:
		c, err := grid.ParseCredits(text)
		*p = grid.Price(c)
		return err
	case *grid.LegID:
		*p, err = l.Leg(text)
		return err
	case *grid.Fare:
		return l.parse(reflect.ValueOf(&p.Base).Elem(), text)
	case *grid.Reason:
		*p = reason(text)
		return nil
	case encoding.TextUnmarshaler:
		return p.UnmarshalText([]byte(text))
	}
	return l.parseKind(v, text)
}

// reason is a reason of one word, its code, or what is said of a lack of room.
func reason(text string) grid.Reason {
	if strings.Contains(text, " ") {
		return grid.Reason{Code: grid.Busy, Detail: text}
	}
	return grid.Reason{Code: grid.Code(text), Detail: text}
}

func (l *Language) parseKind(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool: // any word for it says yes
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		v.SetInt(n)
		return err
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		v.SetUint(n)
		return err
	case reflect.Slice: // "a+b" or "a,b"
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '+' || r == ',' }) {
			one := reflect.New(v.Type().Elem()).Elem()
			if err := l.parse(one, part); err != nil {
				return err
			}
			v.Set(reflect.Append(v, one))
		}
	case reflect.Struct: // "2:600", field by field
		parts := strings.Split(text, ":")
		if len(parts) > v.NumField() {
			return fmt.Errorf("%q has %d parts; %s has %d fields", text, len(parts), v.Type(), v.NumField())
		}
		for i, part := range parts {
			if err := l.parse(v.Field(i), part); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%q cannot be read as %s", text, v.Type())
	}
	return nil
}

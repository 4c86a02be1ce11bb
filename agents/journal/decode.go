package journal

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A restart may have to read 300,000 facts, and encoding/json takes some 6 us for each. So
// the types of the facts are compiled once into decoders that read exactly the JSON that
// Append writes: no blanks, keys in any order, no unknown keys. Rare cases (maps, text with
// escapes) are left to encoding/json. A test and a fuzz target check that both read the
// same.

// reader reads one JSON text. It keeps the first error, after which all reads return zero
// values.
type reader struct {
	codec *Codec
	data  []byte
	pos   int
	err   error
	check bool                     // only checks that the text can be read, keeping one element of a list
	words [maxWords]string         // texts seen before, by hash: names are repeated in every fact
	zeros map[*kind]*reflect.Value // by kind, values to decode into
}

// decoder reads one value into v.
type decoder func(d *reader, v reflect.Value)

func newReader(c *Codec) *reader {
	return &reader{codec: c, zeros: map[*kind]*reflect.Value{}}
}

// record reads a payload.
func (d *reader) record(payload []byte) (grid.Time, agents.Fact, error) {
	d.data, d.pos, d.err = payload, 0, nil
	d.literal(`{"at":`)
	at := grid.Time(d.time())
	d.literal(`,"kind":`)
	name := d.text()
	d.literal(`,"fact":`)
	if d.err != nil {
		return 0, nil, d.err
	}
	k := d.codec.kinds[name]
	if k == nil {
		return 0, nil, d.codec.unknown(name)
	}
	v := d.zeros[k]
	if v == nil {
		z := reflect.New(k.typ).Elem()
		v, d.zeros[k] = &z, &z
	}
	v.SetZero()
	k.decode(d, *v)
	d.literal("}\n")
	if d.err == nil && d.pos != len(d.data) {
		d.fail("goes on after its end")
	}
	if d.err != nil {
		return 0, nil, fmt.Errorf("fact of kind %q: %w", name, d.err)
	}
	return at, v.Interface().(agents.Fact), nil
}

// The types written as decimal numbers, with their number of decimals.
var decimals = map[reflect.Type]int{
	reflect.TypeFor[grid.Duration]():    3,
	reflect.TypeFor[grid.Performance](): 3,
	reflect.TypeFor[grid.Credits]():     6,
	reflect.TypeFor[grid.Price]():       6,
}

var (
	textual = reflect.TypeFor[encoding.TextUnmarshaler]()
	special = reflect.TypeFor[json.Unmarshaler]()
)

// decoderOf compiles a type.
func decoderOf(t reflect.Type) decoder {
	if t == reflect.TypeFor[grid.Time]() {
		return func(d *reader, v reflect.Value) { v.SetInt(d.time()) }
	}
	if digits, ok := decimals[t]; ok {
		return func(d *reader, v reflect.Value) { v.SetInt(d.decimal(digits)) }
	}
	switch pointer := reflect.PointerTo(t); {
	case pointer.Implements(special):
		return decodeRest
	case pointer.Implements(textual):
		return decodeText
	}
	switch t.Kind() {
	case reflect.Bool:
		return decodeBool
	case reflect.String:
		return func(d *reader, v reflect.Value) { v.SetString(d.text()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return decodeInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return decodeUint
	case reflect.Struct:
		return structDecoder(t)
	case reflect.Pointer:
		return pointerDecoder(t)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 { // bytes are base64
			return sliceDecoder(t)
		}
	}
	return decodeRest
}

// decodeRest leaves a value to encoding/json.
func decodeRest(d *reader, v reflect.Value) {
	from := d.pos
	if d.skip(); d.err != nil {
		return
	}
	if err := json.Unmarshal(d.data[from:d.pos], v.Addr().Interface()); err != nil {
		d.fail(err.Error())
	}
}

func decodeText(d *reader, v reflect.Value) {
	if b, plain := d.quoted(); !plain {
		d.fail("a name has escapes")
	} else if d.err == nil {
		if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(b); err != nil {
			d.err = err
		}
	}
}

func decodeBool(d *reader, v reflect.Value) {
	yes := d.peek() == 't'
	if yes {
		d.literal("true")
	} else {
		d.literal("false")
	}
	v.SetBool(yes)
}

func decodeInt(d *reader, v reflect.Value) {
	n := d.decimal(0)
	if v.OverflowInt(n) {
		d.fail("a number is too large")
		return
	}
	v.SetInt(n)
}

func decodeUint(d *reader, v reflect.Value) {
	n, err := strconv.ParseUint(string(d.number()), 10, v.Type().Bits())
	if err != nil {
		d.fail(errors.Unwrap(err).Error())
		return
	}
	v.SetUint(n)
}

// field is a field of a struct with its name in JSON.
type field struct {
	name   string
	opens  string // the name as written, with quotes and colon
	index  []int  // one step, except in embedded structs
	decode decoder
}

// structDecoder compiles a struct. Fields are written in order, some left out, so the
// following ones are tried first. A type must not contain itself.
func structDecoder(t reflect.Type) decoder {
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		name, tagged := jsonName(f)
		if name == "" || !f.IsExported() || f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct {
			continue // the fields of an embedded struct are listed themselves
		}
		fields = append(fields, field{name, `"` + name + `":`, f.Index, decoderOf(f.Type)})
	}
	return func(d *reader, v reflect.Value) {
		if !d.next('{') {
			d.fail("must be an object")
			return
		}
		if d.next('}') {
			return
		}
		for i := 0; d.err == nil; i++ {
			for i < len(fields) && !d.takes(fields[i].opens) {
				i++
			}
			if i == len(fields) {
				if i = d.field(fields); i < 0 {
					return
				}
			}
			f := &fields[i]
			if len(f.index) == 1 {
				f.decode(d, v.Field(f.index[0]))
			} else {
				f.decode(d, v.FieldByIndex(f.index))
			}
			if d.next('}') {
				return
			}
			if !d.next(',') {
				d.fail(`must be "," or "}"`)
			}
		}
	}
}

// field reads the name of a field that is out of order and returns its index, or -1 if the
// type has no such field.
func (d *reader) field(fields []field) int {
	name, plain := d.quoted()
	if !plain || !d.next(':') {
		d.fail("must be the name of a field")
		return -1
	}
	for i := range fields {
		if fields[i].name == string(name) {
			return i
		}
	}
	d.fail(fmt.Sprintf("field %q is unknown", name))
	return -1
}

// jsonName returns a field's name in JSON, "" if it is not written, and whether its tag
// gives the name.
func jsonName(f reflect.StructField) (name string, tagged bool) {
	tag := f.Tag.Get("json")
	for i := range len(tag) + 1 {
		if i == len(tag) || tag[i] == ',' {
			name = tag[:i]
			break
		}
	}
	switch name {
	case "-":
		return "", true
	case "":
		return f.Name, false
	}
	return name, true
}

// pointerDecoder compiles a pointer; null is nil.
func pointerDecoder(t reflect.Type) decoder {
	element := decoderOf(t.Elem())
	return func(d *reader, v reflect.Value) {
		if d.null() {
			return
		}
		v.Set(reflect.New(t.Elem()))
		element(d, v.Elem())
	}
}

// sliceDecoder compiles a slice; null is nil.
func sliceDecoder(t reflect.Type) decoder {
	element := decoderOf(t.Elem())
	return func(d *reader, v reflect.Value) {
		if d.null() {
			return
		}
		if !d.next('[') {
			d.fail("must be a list")
			return
		}
		v.Set(reflect.MakeSlice(t, 0, 0))
		if d.next(']') {
			return
		}
		for n := 0; d.err == nil; n++ {
			at := n
			if d.check {
				at = 0
			}
			if at == v.Cap() {
				v.Grow(max(4, at))
			}
			v.SetLen(at + 1)
			v.Index(at).SetZero()
			element(d, v.Index(at))
			if d.next(']') {
				return
			}
			if !d.next(',') {
				d.fail(`must be "," or "]"`)
			}
		}
	}
}

package journal

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// A restart may have to read 300,000 facts, and encoding/json takes some 6 us for each.
// So the types of the facts are compiled once into decoders that read the JSON that
// Append writes, and only that: no blanks, keys in any order, no unknown key. What is
// rare (maps, text with escapes) is left to encoding/json. A test and a fuzz target
// check that both read the same.

// reader reads one text of JSON. The first error is kept; after it all reads
// give zero values.
type reader struct {
	codec *Codec
	data  []byte
	pos   int
	err   error
	check bool                     // whether it can be read is all that matters: of a list one element is kept
	words [maxWords]string         // seen before, by hash: names are repeated in every fact
	zeros map[*kind]*reflect.Value // to decode into, by kind
}

// decoder reads one value into v.
type decoder func(d *reader, v reflect.Value)

func newReader(c *Codec) *reader {
	return &reader{codec: c, zeros: map[*kind]*reflect.Value{}}
}

// record reads a payload.
func (d *reader) record(payload []byte) (bourse.Time, agents.Fact, error) {
	d.data, d.pos, d.err = payload, 0, nil
	d.literal(`{"at":`)
	at := bourse.Time(d.time())
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

// The types whose JSON is a decimal, with their digits.
var decimals = map[reflect.Type]int{
	reflect.TypeFor[bourse.Duration]():    3,
	reflect.TypeFor[bourse.Performance](): 3,
	reflect.TypeFor[bourse.Credits]():     6,
	reflect.TypeFor[bourse.Price]():       6,
}

var (
	textual = reflect.TypeFor[encoding.TextUnmarshaler]()
	special = reflect.TypeFor[json.Unmarshaler]()
)

// decoderOf compiles a type.
func decoderOf(t reflect.Type) decoder {
	if t == reflect.TypeFor[bourse.Time]() {
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

// field is a field of a struct under its name in JSON.
type field struct {
	name   string
	opens  string // the name as it is written, with quotes and colon
	index  []int  // one step but for embedded structs
	decode decoder
}

// structDecoder compiles a struct. Its fields come in order, some left out, so
// those that follow are tried first. A type must not contain itself.
func structDecoder(t reflect.Type) decoder {
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		name, tagged := jsonName(f)
		if name == "" || !f.IsExported() || f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct {
			continue // an embedded struct's fields come by themselves
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

// field reads the name of a field that is out of order and returns its place, -1
// if the type has none of that name.
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

// jsonName is a field's name in JSON, "" if it has none there, and whether its
// tag says so.
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

// pointerDecoder compiles a pointer; null is a nil one.
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

// sliceDecoder compiles a slice; null is a nil one.
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

package journal

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// draw fills every field below v with values of all sizes.
func draw(t *rapid.T, v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[grid.Time]():
		v.SetInt(rapid.OneOf(rapid.Int64Max(int64(grid.Never)), rapid.Just(int64(grid.Never))).Draw(t, "time"))
	case v.Type() == reflect.TypeFor[grid.Urgency]():
		v.SetInt(rapid.OneOf(rapid.Int64Range(0, int64(grid.MaxUrgency)+1), rapid.Int64Range(-10_000_001, -1)).Draw(t, "urgency"))
	case v.Type() == reflect.TypeFor[grid.Condition]():
		v.SetUint(rapid.Uint64Range(0, uint64(grid.IfEach)).Draw(t, "condition"))
	case v.Type() == reflect.TypeFor[grid.Ranges]():
		v.Set(reflect.ValueOf(ranges(t)))
	case v.Type() == reflect.TypeFor[grid.Array]():
		if list := ranges(t); len(list) > 0 {
			v.Set(reflect.ValueOf(grid.Array{Indices: list, AtOnce: rapid.IntRange(0, 9).Draw(t, "at once")}))
		}
	case v.Kind() == reflect.Uint8 && v.Type().Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		v.SetUint(rapid.SampledFrom(named(v.Type())).Draw(t, "name"))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			draw(t, v.Field(i))
		}
	case v.Kind() == reflect.Slice: // an empty one and none are not told apart
		n := rapid.IntRange(0, 6).Draw(t, "len")
		if n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range n {
			draw(t, v.Index(i))
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			draw(t, v.Index(i))
		}
	case v.Kind() == reflect.Map: // an empty one and none are not told apart
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			draw(t, key)
			draw(t, value)
			v.SetMapIndex(key, value)
		}
	case v.Kind() == reflect.Pointer:
		if rapid.Bool().Draw(t, "some") {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem())
		}
	case v.Kind() == reflect.String:
		v.SetString(rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z0-9"\\<é]*`)).Draw(t, "text"))
	case v.Kind() == reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case v.CanUint():
		v.SetUint(rapid.Uint64().Draw(t, "uint") >> (64 - v.Type().Bits()))
	case v.CanInt():
		n := rapid.Int64().Draw(t, "int")
		v.SetInt(n >> (64 - v.Type().Bits()))
	case v.CanFloat():
		v.SetFloat(rapid.Float64().Draw(t, "float"))
	default:
		t.Fatalf("a fact has a %v: teach draw about it", v.Type())
	}
}

// ranges draws a set of whole numbers; an empty one is nil.
func ranges(t *rapid.T) (list grid.Ranges) {
	for range rapid.IntRange(0, 3).Draw(t, "ranges") {
		first := rapid.IntRange(0, 9).Draw(t, "gap")
		if n := len(list); n > 0 {
			first += list[n-1].Last + 2
		}
		list = append(list, grid.Range{First: first, Last: first + rapid.IntRange(0, 9).Draw(t, "more")})
	}
	return list
}

// named lists the values of an enumeration that have a name.
func named(t reflect.Type) (list []uint64) {
	for n := range uint64(256) {
		v := reflect.New(t)
		v.Elem().SetUint(n)
		func() {
			defer func() { _ = recover() }()
			if _, err := v.Elem().Interface().(encoding.TextMarshaler).MarshalText(); err == nil {
				list = append(list, n)
			}
		}()
	}
	return list
}

// A restart replays what was written down: of every kind of fact, every value
// comes back, and as encoding/json would read it.
func TestCodec_EveryFactComesBack(t *testing.T) {
	t.Parallel()
	c := NewCodec()
	d := newReader(c)
	for _, zero := range facts.Facts() {
		t.Run(zero.Kind(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				v := reflect.New(reflect.TypeOf(zero)).Elem()
				draw(rt, v)
				want := v.Interface().(agents.Fact)
				at := grid.Time(rapid.Int64Max(int64(grid.Never)).Draw(rt, "at"))
				payload, err := c.Append([]byte("before"), at, want)
				if err != nil {
					rt.Fatal(err)
				}
				payload = payload[len("before"):]
				gotAt, got, err := d.record(payload)
				if err != nil || gotAt != at || !reflect.DeepEqual(got, want) {
					rt.Fatalf("%s is read as %v %+v: %v", payload, gotAt, got, err)
				}
				slow(rt, payload, got)
			})
		})
	}
}

// slow compares a decoded fact with encoding/json, which also refuses values that nobody
// may enter.
func slow(t rapid.TB, payload []byte, got agents.Fact) {
	var line struct {
		At   grid.Time
		Kind string
		Fact json.RawMessage
	}
	if err := json.Unmarshal(payload, &line); err != nil {
		return
	}
	v := reflect.New(reflect.TypeOf(got))
	if err := json.Unmarshal(line.Fact, v.Interface()); err != nil {
		return
	}
	if !reflect.DeepEqual(v.Elem().Interface(), got) {
		t.Fatalf("%s is read as %+v, encoding/json reads %+v", payload, got, v.Elem())
	}
}

func TestCodec_WritesALineOfJSON(t *testing.T) {
	t.Parallel()
	b, err := NewCodec().Append(nil, 12_500, facts.LegPriced{Leg: grid.LegID{Tx: grid.TxID{Broker: "a&b", Incarnation: 2, Nonce: 3, Seq: 4}, Leg: 1},
		Fare: grid.Fare{Base: grid.Credit, Additive: 7}})
	const want = `{"at":12.5,"kind":"leg-priced","fact":{"leg":{"tx":{"broker":"a&b","incarnation":2,"nonce":3,"seq":4},"leg":1},"fare":{"base":1,"additive":0.000007}}}` + "\n"
	if err != nil || string(b) != want {
		t.Errorf("%v\n%s", err, b)
	}
}

func TestCodec_RefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	c := NewCodec()
	for text, want := range map[string]string{
		`{"at":1,"kind":"leg-sold","fact":{}}`:                             `fact of kind "leg-sold" is unknown to this build`,
		`{"at":1,"kind":"nodes-freed","fact":{"log":{}}}`:                  `fact of kind "nodes-freed": field "log" is unknown`,
		`{"at":1,"kind":"leg-moved","fact":{"state":"gone"}}`:              `leg state "gone" is unknown`,
		`{"at":1.0001,"kind":"nodes-freed","fact":{}}`:                     "at most 3 decimals",
		`{"at":99999999999999999999,"kind":"nodes-freed","fact":{}}`:       "too large",
		`{"at":1,"kind":"nodes-freed","fact":{}}{`:                         `must be `,
		`{"at":1,"kind":"nodes-freed","fact":[]}`:                          "must be an object",
		"{\"at\":1,\"kind\":\"job-ended\",\"fact\":{\"group\":\"a\x01\"}}": "a text is not UTF-8",
		"{\"at\":1,\"kind\":\"job-ended\",\"fact\":{\"group\":\"a\xff\"}}": "a text is not UTF-8",
		`{"at":1,"kind":"job-ended","fact":{"nodes":1.5}}`:                 "at most 0 decimals",
		`{"at":1,"kind":"nodes-freed","fact":{"leg":{"tx":{"seq":-1}}}}`:   "invalid syntax",
		`{"at":1,"kind":"job-ended","fact":{"group":"a`:                    "a text does not end",
		`{"at":1,"kind":"tx-begun","fact":{"sites":["a","b"}}`:             `must be "," or "]"`,
		`{"at":1,"kind":"leg-priced","fact":{"leg":{"leg":99999999999}}`:   `must be `,
		`{"at":1,"kind":"leg-priced","fact":{"fare":{"base":1e400}}}`:      `must be "," or "}"`,
		`{"at":1,"kind":"job-ended","fact":{"killed":treu}}`:               `must be "true"`,
		`{"at":1,"kind":"tx-begun","fact":{"tx":{"incarnation":1e10}}}`:    "invalid syntax",
		`{"at":1,"kind":"tx-begun","fact":{"tx":{"incarnation":1`:          `must be "," or "}"`,
		`{"kind":"tx-begun","at":1,"fact":{}}`:                             `must be "{\"at\":"`,
		`{"at":1,"kind":"nodes-freed","fact":{"leg":{"tx":{"seq":1},}}}`:   "must be a text",
		`{"at":1,"kind":"job-started","fact":{"queue":9223372036854775808`: "too large",
	} {
		if _, f, err := c.Decode([]byte(text + "\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is read as %+v, %v; want %q", text, f, err, want)
		}
	}
}

// Images may contain maps, pointers and types with a JSON format of their own.
func TestCodec_ReadsImagesOfAnyType(t *testing.T) {
	t.Parallel()
	n := 7
	want := richImage{Map: map[string]grid.Credits{"a": 1, "b\"": grid.Credit}, Pointer: &n, Raw: json.RawMessage(`{"x":[1,"]",null,true,false]}`),
		Bytes: []byte{1, 2, 3}, Float: 1.5, Empty: []string{}, embedded: embedded{Inner: "i"}, Array: [2]int{3, 4}, Account: []grid.Account{{Name: "vo:a", Credit: 5}}}
	c := NewCodec(richImage{}, facts.LegDone{})
	b, err := c.Append(nil, 1, want)
	if err != nil {
		t.Fatal(err)
	}
	if _, got, err := c.Decode(b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s\nis read as %+v, %v", b, got, err)
	}
}

type embedded struct{ Inner string }

type richImage struct {
	Map     map[string]grid.Credits
	Pointer *int
	Raw     json.RawMessage
	Bytes   []byte
	Float   float64
	Empty   []string
	embedded
	Array   [2]int
	Account []grid.Account
	Hidden  int `json:"-"`
}

func (richImage) Kind() string { return "rich-image" }

func TestCodec_OneTypeForAKind(t *testing.T) {
	t.Parallel()
	for _, f := range []agents.Fact{&facts.NodesFreed{}, otherFreed{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T is taken for a fact of kind %q", f, f.Kind())
				}
			}()
			NewCodec(f)
		}()
	}
}

type otherFreed struct{}

func (otherFreed) Kind() string { return "nodes-freed" }

// A fact that was read is written back the same, and encoding/json agrees.
func FuzzCodec(f *testing.F) {
	c := NewCodec()
	for _, zero := range facts.Facts() {
		b, err := c.Append(nil, 1500, zero)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	b, _ := c.Append(nil, 1, leg(7))
	f.Add(b)
	f.Fuzz(func(t *testing.T, payload []byte) {
		at, fact, err := c.Decode(payload)
		if err != nil {
			return
		}
		slow(t, payload, fact)
		again, err := c.Append(nil, at, fact)
		if err != nil {
			t.Fatalf("%s is read and cannot be written: %v", payload, err)
		}
		at2, fact2, err := c.Decode(again)
		if err != nil || at2 != at || !reflect.DeepEqual(fact2, fact) {
			t.Fatalf("%s is read as %+v, written as %s, read as %+v, %v", payload, fact, again, fact2, err)
		}
	})
}

// twoSegments are the files of a journal that was begun anew once.
func twoSegments(t testing.TB) (files [2][]byte) {
	disk := &Memory{}
	j, _ := mustOpen(t, disk, withImage)
	mustAppend(t, j, 1, 4)
	if err := j.Snapshot(5, image{3}); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, 4, 6)
	for n := range files {
		files[n], _ = file(t, disk, uint64(n+1))
	}
	return files
}

// No bytes make the reader panic; what it reads of a file is what was there,
// whole record by whole record.
func FuzzReadFile(f *testing.F) {
	for _, data := range twoSegments(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var facts uint64
		end := int64(0)
		s, err := ReadFile("f", data, withImage.Codec, func(r Record) error {
			if !r.Image {
				facts++
			}
			if w, ok := wholeAt(data, int(r.Offset)); !ok || r.Offset < end {
				t.Fatalf("record %d at %d is not whole", r.Number, r.Offset)
			} else {
				end = int64(w.end())
			}
			return nil
		})
		if err == nil && (s.Facts != facts || len(data)-s.Torn < int(end) || !bytes.HasPrefix(data, []byte(version))) {
			t.Fatalf("%+v with %d facts, ends at %d of %d bytes", s, facts, end, len(data))
		}
	})
}

// A record is read back before it is written, and each element of its lists is
// looked at, though one is kept.
func TestCodec_ACheckLooksAtEveryElement(t *testing.T) {
	t.Parallel()
	f := facts.LegsForgotten{}
	for i := range 900 {
		f.Legs = append(f.Legs, grid.LegID{Tx: grid.TxID{Broker: "b", Incarnation: 1, Nonce: 2, Seq: uint64(i)}})
	}
	c := NewCodec()
	text, err := c.Append(nil, 1, f)
	if err != nil {
		t.Fatal(err)
	}
	check := newReader(c)
	check.check = true
	if _, _, err := check.record(text); err != nil {
		t.Error(err)
	}
	bad := bytes.Replace(text, []byte(`"seq":700`), []byte(`"seq":-1`), 1)
	if _, _, err := check.record(bad); err == nil {
		t.Error("a check passes over an element")
	}
}

package wire

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// The guard holds every leg that is named against its broker: a field for a leg that
// is added later must be found too.
func TestBrokers_NamesThatOfEveryLegOfEveryKind(t *testing.T) {
	t.Parallel()
	oneof := (*Envelope)(nil).ProtoReflect().Descriptor().Oneofs().ByName("body")
	legs := 0
	for i := range oneof.Fields().Len() {
		e := &Envelope{}
		r := e.ProtoReflect()
		field := oneof.Fields().Get(i)
		want := fill(r.Mutable(field).Message())
		if name := field.Message().Name(); name == "List" || name == "PilotsRequest" {
			want++ // its broker
		}
		got := Brokers(e)
		if legs += want; len(got) != want {
			t.Errorf("%s: %d legs are looked at, there are %d", field.Message().Name(), len(got), want)
		}
	}
	if legs < 20 {
		t.Errorf("only %d legs were found at all", legs)
	}
}

// fill puts a value into every message field, and returns how many are legs.
func fill(m protoreflect.Message) (legs int) {
	if m.Descriptor().Name() == "LegID" {
		return 1
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		switch f := fields.Get(i); {
		case f.Message() == nil:
		case f.IsList():
			legs += fill(m.Mutable(f).List().AppendMutable().Message())
		default:
			legs += fill(m.Mutable(f).Message())
		}
	}
	return legs
}

// The name that a VO gives a broker or a user must reach a site of several VOs as its full
// name, in every message and at every place. The test looks at all names of a decoded
// message, by its Go fields.
func TestRename_ChangesEveryNameOfABrokerOrUserInEveryKind(t *testing.T) {
	t.Parallel()
	names := 0
	for _, m := range samples() {
		if len(namesIn(reflect.ValueOf(m))) > 0 {
			names++
		}
		e, err := Encode("broker:vo1", "site:north", m)
		if err != nil {
			t.Fatal(err)
		}
		if !Rename(e, func(s string) (string, bool) { return "atlas/" + s, true }) {
			t.Fatalf("%s is not renamed", m.Kind())
		}
		inside, err := Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range namesIn(reflect.ValueOf(inside)) {
			if !strings.HasPrefix(s, "atlas/") {
				t.Errorf("%s still names %q", m.Kind(), s)
			}
		}
		if !Rename(e, func(s string) (string, bool) { return strings.CutPrefix(s, "atlas/") }) {
			t.Fatalf("%s is not renamed back", m.Kind())
		}
		back, err := Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := Encode("broker:vo1", "site:north", m); err != nil {
			t.Fatal(err)
		} else if was, err := Decode(plain); err != nil || !reflect.DeepEqual(was, back) {
			t.Errorf("%s comes back as %+v, %v", m.Kind(), back, err)
		}
	}
	if names < 20 {
		t.Errorf("only %d kinds with names were found at all", names)
	}
}

func TestRename_StopsAtANameThatThereIsNoOtherFor(t *testing.T) {
	t.Parallel()
	for _, m := range samples() {
		e, err := Encode("site:north", "broker:vo1", m)
		if err != nil {
			t.Fatal(err)
		}
		none := func(string) (string, bool) { return "", false }
		if want := len(namesIn(reflect.ValueOf(m))) == 0; Rename(e, none) != want {
			t.Errorf("%s: renamed %v", m.Kind(), !want)
		}
	}
}

// namesIn are the names of brokers and users that a message has, at any depth.
func namesIn(v reflect.Value) (list []string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			list = namesIn(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			list = append(list, namesIn(v.Index(i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case (f.Name == "Broker" || f.Name == "User") && f.Type.Kind() == reflect.String:
				list = append(list, v.Field(i).String())
			case f.Name == "Users":
				list = append(list, v.Field(i).Interface().([]string)...)
			case f.IsExported():
				list = append(list, namesIn(v.Field(i))...)
			}
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

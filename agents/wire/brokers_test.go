package wire

import (
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
		if field.Message().Name() == "List" {
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

package wire

import (
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Brokers names the brokers of all legs that an envelope speaks of, in the order
// of its fields: the field broker of every message within the body, at any depth.
// What cannot hold one, such as a profile, is passed over, so that the cost is that
// of the legs.
func Brokers(e *Envelope) []string {
	if e.GetBody() == nil {
		return nil
	}
	r := e.ProtoReflect()
	return brokersIn(nil, r.Get(r.WhichOneof(r.Descriptor().Oneofs().Get(0))).Message())
}

func brokersIn(names []string, m protoreflect.Message) []string {
	for _, f := range speaking()[m.Descriptor().FullName()] {
		switch {
		case f.Message() == nil:
			names = append(names, m.Get(f).String())
		case f.IsList():
			list := m.Get(f).List()
			for i := range list.Len() {
				names = brokersIn(names, list.Get(i).Message())
			}
		case m.Has(f):
			names = brokersIn(names, m.Get(f).Message())
		}
	}
	return names
}

// speaking lists the fields of each message type that name a broker, or hold what
// does.
var speaking = sync.OnceValue(func() map[protoreflect.FullName][]protoreflect.FieldDescriptor {
	fields := map[protoreflect.FullName][]protoreflect.FieldDescriptor{}
	var speaks func(protoreflect.MessageDescriptor) bool
	speaks = func(d protoreflect.MessageDescriptor) bool {
		list, known := fields[d.FullName()]
		if known {
			return len(list) > 0
		}
		fields[d.FullName()] = nil // no type holds itself
		for i := range d.Fields().Len() {
			if f := d.Fields().Get(i); f.Message() != nil && speaks(f.Message()) || f.Name() == "broker" {
				list = append(list, f)
			}
		}
		fields[d.FullName()] = list
		return len(list) > 0
	}
	for i := range bodies().Len() {
		speaks(bodies().Get(i).Message())
	}
	return fields
})

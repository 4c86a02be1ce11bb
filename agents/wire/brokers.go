package wire

import (
	"slices"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Brokers names the brokers of all legs in an envelope, in the order of its fields: the
// field broker of every message within the body, at any depth. Messages that cannot
// contain one, such as a profile, are skipped, so only legs cost.
func Brokers(e *Envelope) []string {
	if e.GetBody() == nil {
		return nil
	}
	r := e.ProtoReflect()
	return brokersIn(nil, r.Get(r.WhichOneof(r.Descriptor().Oneofs().Get(0))).Message())
}

func brokersIn(names []string, m protoreflect.Message) []string {
	for _, f := range brokerFields()[m.Descriptor().FullName()] {
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

// Rename gives every broker and every user that the message in an envelope names another
// name, at any depth and in place: the fields broker, user and users. If name has none for
// one of them, Rename stops and reports false, and the envelope must not be used. An empty
// name, such as that of an unnamed user, stays empty.
func Rename(e *Envelope, name func(string) (string, bool)) bool {
	if e.GetBody() == nil {
		return true
	}
	r := e.ProtoReflect()
	return renameIn(r.Get(r.WhichOneof(r.Descriptor().Oneofs().Get(0))).Message(), name)
}

func renameIn(m protoreflect.Message, name func(string) (string, bool)) bool {
	other := func(v protoreflect.Value) (protoreflect.Value, bool) {
		if v.String() == "" {
			return v, true
		}
		s, ok := name(v.String())
		return protoreflect.ValueOfString(s), ok
	}
	for _, f := range nameFields()[m.Descriptor().FullName()] {
		if !m.Has(f) {
			continue
		}
		ok := true
		switch v := m.Get(f); {
		case f.IsList():
			for i := 0; i < v.List().Len() && ok; i++ {
				if f.Message() != nil {
					ok = renameIn(v.List().Get(i).Message(), name)
				} else if v, has := other(v.List().Get(i)); has {
					m.Get(f).List().Set(i, v)
				} else {
					ok = false
				}
			}
		case f.Message() != nil:
			ok = renameIn(v.Message(), name)
		default:
			if v, ok = other(v); ok {
				m.Set(f, v)
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

var (
	brokerFields = sync.OnceValue(func() fieldsOf { return holding("broker") })
	nameFields   = sync.OnceValue(func() fieldsOf { return holding("broker", "user", "users") })
)

// fieldsOf lists fields by the message type that they belong to.
type fieldsOf map[protoreflect.FullName][]protoreflect.FieldDescriptor

// holding lists the fields of each message type that have one of the names, or contain a
// field that does.
func holding(names ...protoreflect.Name) fieldsOf {
	fields := fieldsOf{}
	var holds func(protoreflect.MessageDescriptor) bool
	holds = func(d protoreflect.MessageDescriptor) bool {
		list, known := fields[d.FullName()]
		if known {
			return len(list) > 0
		}
		fields[d.FullName()] = nil // no type contains itself
		for i := range d.Fields().Len() {
			if f := d.Fields().Get(i); f.Message() != nil && holds(f.Message()) || slices.Contains(names, f.Name()) {
				list = append(list, f)
			}
		}
		fields[d.FullName()] = list
		return len(list) > 0
	}
	for i := range bodies().Len() {
		holds(bodies().Get(i).Message())
	}
	return fields
}

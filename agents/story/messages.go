package story

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Language says how one kind of story writes messages. Its tables only hold what differs from
// the names and the order of the messages' own fields.
type Language struct {
	Leg    func(text string) (grid.LegID, error)
	Kinds  map[string]string         // words for kinds that have other names
	Fields map[string]string         // words for fields that have other names; "kind word" is of one kind, in lower case
	Values map[string]any            // words for values of types that cannot read their own
	Orders map[string]string         // by kind: the fields that stand one behind the other, if not as in the type
	Usual  map[string]agents.Message // by kind: what a message says unless the story says otherwise
	Ours   []string                  // arguments of commands that are not fields
}

// Command reads a message that names its fields, such as "hold vo1/1/1.0 nodes=4 start=60".
// A word by itself sets the first field, or the field of that name if that is a switch.
func (l *Language) Command(kind string, args []datadriven.CmdArg) (agents.Message, error) {
	m, err := l.begin(kind)
	if err != nil {
		return nil, err
	}
	for _, a := range args {
		if slices.Contains(l.Ours, a.Key) {
			continue
		}
		if len(a.Vals) == 0 {
			if f, err := named(m, l.Fields, a.Key); err != nil || f.Kind() != reflect.Bool {
				if err := l.parse(order(m, nil)[0], a.Key); err != nil {
					return nil, err
				}
				continue
			}
		}
		if err := l.set(m, a.Key, strings.Join(a.Vals, ",")); err != nil {
			return nil, err
		}
	}
	return l.end(m), nil
}

// Line reads a message whose fields stand one behind the other, such as "Held 1.0 4". The
// last field takes all words that are left if it is a text or a reason; "name=value" sets a
// field by its name, and a word with colons is one of the message's list.
func (l *Language) Line(words []string) (agents.Message, error) {
	m, err := l.begin(words[0])
	if err != nil {
		return nil, err
	}
	fields := order(m, strings.Fields(l.Orders[m.Type().Name()]))
	for i := 1; i < len(words); i++ {
		word := words[i]
		if key, value, ok := strings.Cut(word, "="); ok {
			err = l.set(m, key, value)
		} else if list := lists(m); list.IsValid() && strings.Contains(word, ":") {
			err = l.parse(list, word)
		} else if len(fields) == 0 {
			return nil, fmt.Errorf("%s has no field for %q", m.Type().Name(), word)
		} else {
			if _, ok := fields[0].Interface().(grid.Reason); ok && len(fields) == 1 {
				word, i = strings.Join(words[i:], " "), len(words)
			}
			err = l.parse(fields[0], word)
			fields = fields[1:]
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", m.Type().Name(), word, err)
		}
	}
	return l.end(m), nil
}

// begin is a message of a kind as it usually is.
func (l *Language) begin(word string) (reflect.Value, error) {
	if other := l.Kinds[word]; other != "" {
		word = other
	}
	for _, p := range agents.Messages() {
		if strings.EqualFold(p.Kind(), word) {
			m := reflect.New(reflect.TypeOf(p.Message)).Elem()
			if usual := l.Usual[p.Kind()]; usual != nil {
				m.Set(reflect.ValueOf(usual))
			}
			return m, nil
		}
	}
	return reflect.Value{}, fmt.Errorf("no message is a %q", word)
}

// end fills in what follows from the rest: a decision is that of the life in the leg's name,
// unless it says otherwise.
func (l *Language) end(v reflect.Value) agents.Message {
	if f := v.FieldByName("DecidedBy"); f.IsValid() && f.IsZero() {
		f.SetUint(uint64(v.Interface().(agents.OfLeg).LegID().Tx.Incarnation))
	}
	return v.Interface().(agents.Message)
}

// order lists the fields of a message in the order in which a line says them.
func order(v reflect.Value, names []string) (fields []reflect.Value) {
	for _, name := range names {
		fields = append(fields, field(v, name))
	}
	if len(names) > 0 {
		return fields
	}
	for i := range v.NumField() {
		f := v.Field(i)
		switch f.Interface().(type) {
		case agents.Stamp, grid.Proof:
			continue
		}
		if f.Kind() == reflect.Struct && !whole(f) {
			fields = append(fields, order(f, nil)...)
			continue
		}
		fields = append(fields, f)
	}
	return fields
}

// lists is the first field that is a list of structs.
func lists(v reflect.Value) reflect.Value {
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct {
			return f
		}
	}
	return reflect.Value{}
}

// With returns a message with another value in a field, if it has that field: a stamp, or a
// proof.
func With(m agents.Message, name string, value any) agents.Message {
	v := reflect.New(reflect.TypeOf(m)).Elem()
	v.Set(reflect.ValueOf(m))
	if f := v.FieldByName(name); f.IsValid() {
		f.Set(reflect.ValueOf(value))
	}
	return v.Interface().(agents.Message)
}

// Proofs lists the proofs that a message carries in its own fields, by their names.
func Proofs(m agents.Message) map[string]grid.Proof {
	list := map[string]grid.Proof{}
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		if p, ok := v.Field(i).Interface().(grid.Proof); ok && p != (grid.Proof{}) {
			list[v.Type().Field(i).Name] = p
		}
	}
	return list
}

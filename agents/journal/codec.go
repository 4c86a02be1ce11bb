package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Codec turns facts into the payload of records and back. A payload is a line of
// JSON,
//
//	{"at":12.5,"kind":"leg-moved","fact":{...}}
//
// with the instant in seconds and the fact as its type marshals. A Codec knows
// the kinds of the vocabulary and those it was made with, and is safe for
// concurrent use.
type Codec struct {
	kinds map[string]*kind
}

// kind is what is known about one kind of facts.
type kind struct {
	name   string
	typ    reflect.Type
	decode decoder
}

// NewCodec returns a codec for all facts of the vocabulary, and for those in more: zero
// values of other facts, such as images of agents. It panics on two types of one kind, and
// on a pointer.
func NewCodec(more ...agents.Fact) *Codec {
	c := &Codec{kinds: map[string]*kind{}}
	for _, f := range facts.Facts() {
		c.add(f)
	}
	for _, f := range grid.ReplicaFacts() {
		c.add(f)
	}
	for _, f := range more {
		c.add(f)
	}
	return c
}

// vocabulary is the codec without further facts.
var vocabulary = sync.OnceValue(func() *Codec { return NewCodec() })

func (c *Codec) add(f agents.Fact) {
	t := reflect.TypeOf(f)
	if k := c.kinds[f.Kind()]; k != nil && k.typ == t {
		return
	}
	if c.kinds[f.Kind()] != nil || t.Kind() == reflect.Pointer {
		panic(fmt.Sprintf("journal: %v cannot be the fact of kind %q", t, f.Kind()))
	}
	c.kinds[f.Kind()] = &kind{name: f.Kind(), typ: t, decode: decoderOf(t)}
}

// Append appends the payload of a fact to b. It is an error if the codec does not know the
// fact or the fact does not marshal.
func (c *Codec) Append(b []byte, at grid.Time, f agents.Fact) ([]byte, error) {
	k := c.kinds[f.Kind()]
	if k == nil || k.typ != reflect.TypeOf(f) {
		return b, fmt.Errorf("fact %T of kind %q is not one that a journal can read back", f, f.Kind())
	}
	text, err := at.MarshalJSON()
	if err != nil {
		return b, err
	}
	out := bytes.NewBuffer(b)
	out.WriteString(`{"at":`)
	out.Write(text)
	out.WriteString(`,"kind":"`)
	out.WriteString(k.name)
	out.WriteString(`","fact":`)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		return b, fmt.Errorf("fact of kind %q: %w", k.name, err)
	}
	whole := out.Bytes()
	whole[len(whole)-1] = '}' // in place of the encoder's newline
	return append(whole, '\n'), nil
}

// Decode reads a payload. An unknown kind, or a field that the kind does not have, is an
// error, so that no part of a later version's journal is ignored.
func (c *Codec) Decode(payload []byte) (grid.Time, agents.Fact, error) {
	d := newReader(c)
	return d.record(payload)
}

// unknown is the error for a kind that the codec does not know.
func (c *Codec) unknown(name string) error {
	return fmt.Errorf("fact of kind %q is unknown to this build", name)
}

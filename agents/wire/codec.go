package wire

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
)

// codec puts one message type into an envelope, and takes it out of it. A type
// has one iff its line in the table of agents says that it crosses from a broker
// to a site or back.
type codec struct {
	kind string
	put  func(*writer, agents.Message) isEnvelope_Body
	read func(*reader, isEnvelope_Body) agents.Message
}

// form makes a codec from its two halves.
func form[M agents.Message, B isEnvelope_Body](put func(*writer, M) B, read func(*reader, B) M) codec {
	var zero M
	return codec{
		kind: zero.Kind(),
		put: func(w *writer, m agents.Message) isEnvelope_Body {
			x, ok := m.(M)
			if !ok { // a type of that name in another package
				w.err = inProcess(m)
				return nil
			}
			return put(w, x)
		},
		read: func(r *reader, b isEnvelope_Body) agents.Message { return read(r, b.(B)) },
	}
}

var codecs = func() map[string]codec {
	m := map[string]codec{}
	for _, c := range slices.Concat(steps, recovery, works, pilots, replicas) {
		m[c.kind] = c
	}
	return m
}()

// writer keeps the first error of the message that is written.
type writer struct{ err error }

// within refuses a list that no receiver would accept.
func (w *writer) within(n, most int, what string) {
	if n > most && w.err == nil {
		w.err = fmt.Errorf("wire: %d %s, at most %d go into a message", n, what, most)
	}
}

func inProcess(m agents.Message) error {
	return fmt.Errorf("wire: %s stays within a process and has no form on the wire", m.Kind())
}

// put fills the body with a message.
func (e *Envelope) put(m agents.Message) error {
	c, ok := codecs[m.Kind()]
	if !ok {
		return inProcess(m)
	}
	w := &writer{}
	e.Body = c.put(w, m)
	return w.err
}

// message reads the body.
func (r *reader) message(e *Envelope) agents.Message {
	c, ok := codecs[r.kind]
	if !ok {
		r.fail("body", "has no reader")
		return nil
	}
	return c.read(r, e.Body)
}

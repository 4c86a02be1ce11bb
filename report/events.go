package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// eventWriter writes facts as lines of JSON, each an object that opens with
// "at" (seconds), "agent" and "kind" and goes on with the fields of the fact.
// The first error stops it and is kept for flush.
type eventWriter struct {
	out  *bufio.Writer
	body bytes.Buffer
	enc  *json.Encoder
	ids  map[agents.ID][]byte // quoted
	err  error
}

func newEventWriter(w io.Writer) *eventWriter {
	e := &eventWriter{out: bufio.NewWriterSize(w, 1<<16), ids: map[agents.ID][]byte{}}
	e.enc = json.NewEncoder(&e.body)
	e.enc.SetEscapeHTML(false)
	return e
}

func (e *eventWriter) write(now grid.Time, id agents.ID, f agents.Fact) {
	if e.err != nil {
		return
	}
	e.body.Reset()
	if err := e.enc.Encode(f); err != nil {
		e.err = fmt.Errorf("fact %s of %s: %w", f.Kind(), id, err)
		return
	}
	quoted, ok := e.ids[id]
	if !ok {
		quoted, _ = json.Marshal(string(id)) // a string always marshals
		e.ids[id] = quoted
	}
	e.out.WriteString(`{"at":`)
	e.out.WriteString(now.String())
	e.out.WriteString(`,"agent":`)
	e.out.Write(quoted)
	e.out.WriteString(`,"kind":"`)
	e.out.WriteString(f.Kind())
	e.out.WriteByte('"')
	if fields := e.body.Bytes()[1:]; fields[0] != '}' {
		e.out.WriteByte(',')
		e.out.Write(fields)
	} else {
		e.out.WriteString("}\n")
	}
}

// flush writes what is left and returns the first error there was.
func (e *eventWriter) flush() error {
	if e.err != nil {
		return e.err
	}
	return e.out.Flush()
}

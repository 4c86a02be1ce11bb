package wire

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bourse-grid/bourse/agents"
)

// A Dialect is what an earlier release knows of the wire: the fields of each message, by their
// numbers. All else of a message it ignores, as protobuf does.
type Dialect struct {
	fields map[protoreflect.Name]map[protoreflect.FieldNumber]bool
}

//go:embed release.txt
var lastRelease string

// LastRelease is the release that this build comes after.
func LastRelease() *Dialect {
	r, err := parseRelease(lastRelease)
	if err != nil {
		panic(err) // of a file of this package, which a test reads
	}
	return r
}

// parseRelease reads lines of a message and its numbers.
func parseRelease(text string) (*Dialect, error) {
	r := &Dialect{fields: map[protoreflect.Name]map[protoreflect.FieldNumber]bool{}}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		known := map[protoreflect.FieldNumber]bool{}
		for _, word := range words[1:] {
			n, err := strconv.ParseInt(word, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("wire: of %s of the last release: %w", words[0], err)
			}
			known[protoreflect.FieldNumber(n)] = true
		}
		r.fields[protoreflect.Name(words[0])] = known
	}
	return r, nil
}

// Pass takes a message over the wire to or from an agent of the release: without what the
// release does not know. It is nil if that is the whole message, which the release then
// ignores. An error says that what is left of it cannot be read.
func (r *Dialect) Pass(from, to agents.ID, m agents.Message) (agents.Message, error) {
	e, err := Encode(from, to, m)
	if err != nil {
		return nil, err
	}
	r.strip(e.ProtoReflect())
	if e.Body == nil {
		return nil, nil
	}
	return Decode(e)
}

// strip clears the fields of a message that the release does not know, at any depth.
func (r *Dialect) strip(m protoreflect.Message) {
	known := r.fields[m.Descriptor().Name()]
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case !known[f.Number()]:
			m.Clear(f)
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				r.strip(v.List().Get(i).Message())
			}
		default:
			r.strip(v.Message())
		}
		return true
	})
}

package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// jsonError adds the line of a syntax error and the form that the text must have.
func jsonError(b []byte, err error, like string) error {
	at := int64(len(b))
	if s, ok := err.(*json.SyntaxError); ok {
		at = s.Offset
	}
	line := 1 + bytes.Count(b[:min(at, int64(len(b)))], []byte("\n"))
	return fmt.Errorf("line %d: %w; must be JSON of the form %s", line, err, like)
}

// object is one JSON object being read. The first error stays.
type object struct {
	path   string
	fields map[string]json.RawMessage
	order  []string
	err    error
}

// readObject reads an object and refuses keys that are not known.
func readObject(path string, raw json.RawMessage, known ...string) (*object, error) {
	o := &object{path: path, fields: make(map[string]json.RawMessage)}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("%s: %s is not an object; write {...}", place(path), shown(raw))
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", place(path), err)
		}
		key := t.(string)
		if _, twice := o.fields[key]; twice {
			return nil, fmt.Errorf("%s: key %q appears twice; remove one", place(path), key)
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("%s: %w", place(path), err)
		}
		o.fields[key] = v
		o.order = append(o.order, key)
	}
	if len(known) > 0 {
		return o, o.keys(known...)
	}
	return o, nil
}

func place(path string) string {
	if path == "" {
		return "top level"
	}
	return path
}

// keys refuses unknown keys.
func (o *object) keys(known ...string) error {
	for _, key := range o.order {
		if !slices.Contains(known, key) {
			return fmt.Errorf("%s: key %q is unknown; must be one of %s", place(o.path), key, strings.Join(known, ", "))
		}
	}
	return nil
}

func (o *object) has(key string) bool { _, ok := o.fields[key]; return ok }

// each calls do with each object of an array.
func (o *object) each(key string, do func(*object) error) error {
	raw, ok := o.fields[key]
	if !ok {
		return fmt.Errorf("%q is missing; write \"%s\": [...]", key, key)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || list == nil {
		return fmt.Errorf("%s: %s is not an array; write [...]", key, shown(raw))
	}
	for i, item := range list {
		member, err := readObject(fmt.Sprintf("%s[%d]", key, i), item)
		if err == nil {
			err = do(member)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// value parses a number; want describes it, for the error if it is missing.
func (o *object) value(key, want string, parse func(string) error) {
	if o.err != nil {
		return
	}
	raw, ok := o.fields[key]
	if !ok {
		o.err = fmt.Errorf("%s: %q is missing; write %s", o.path, key, want)
		return
	}
	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil || raw[0] == '"' || string(raw) == "null" {
		o.err = fmt.Errorf("%s.%s: %s is not a number", o.path, key, shown(raw))
		return
	}
	if err := parse(string(raw)); err != nil {
		o.err = fmt.Errorf("%s.%s: %w", o.path, key, err)
	}
}

// text reads a name.
func (o *object) text(key string) string {
	if o.err != nil {
		return ""
	}
	raw, ok := o.fields[key]
	if !ok {
		o.err = fmt.Errorf("%s: %q is missing; write a name in quotes", o.path, key)
		return ""
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil || s == "" {
		o.err = fmt.Errorf("%s.%s: %s is not a name; write it in quotes", o.path, key, shown(raw))
	}
	return s
}

// shown shortens a value for an error.
func shown(raw json.RawMessage) string {
	if len(raw) > 40 {
		return string(raw[:37]) + "..."
	}
	return string(raw)
}

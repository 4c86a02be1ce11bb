package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse"
)

// problem is a PROBLEM.json: slots of nodes named one by one, and a batch.
type problem struct {
	Nodes []bourse.Group // in the order in which slots name them
	Slots []bourse.Slot
	Names []string // of the jobs
	Jobs  []bourse.Request

	named map[string]bool // the jobs so far
	most  bourse.Credits  // what all jobs together could cost at most
}

const (
	maxNodes        = 1_000_000
	maxBatchCredits = 4_000_000_000_000 * bourse.Credit // of all jobs together: selection adds in 62 bits
)

// readProblem reads the file of that name, "-" for standard input.
func readProblem(name string, in io.Reader) (*problem, error) {
	var b []byte
	var err error
	if name == "-" {
		b, err = io.ReadAll(in)
	} else {
		b, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	p, err := parseProblem(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// parseProblem reads a PROBLEM.json. An error names the place, such as jobs[2].nodes, the
// problem and the remedy.
func parseProblem(b []byte) (*problem, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(b, &whole); err != nil {
		return nil, jsonError(b, err, `{"slots": [...], "jobs": [...]}`)
	}
	top, err := readObject("", whole, "slots", "jobs")
	if err != nil {
		return nil, err
	}
	p := &problem{named: make(map[string]bool)}
	index := make(map[string]int32)
	err = top.each("slots", func(o *object) error { return p.addSlot(o, index) })
	if err == nil {
		err = top.each("jobs", p.addJob)
	}
	return p, err
}

func (p *problem) addSlot(o *object, index map[string]int32) error {
	if err := o.keys("node", "start", "end", "performance", "price"); err != nil {
		return err
	}
	s := bourse.Slot{Count: 1}
	node := o.text("node")
	o.value("start", "seconds", func(v string) (err error) { s.Start, err = bourse.ParseTime(v); return })
	o.value("end", "seconds", func(v string) (err error) { s.End, err = bourse.ParseTime(v); return })
	o.value("performance", "a number above 0; lengths are stated for performance 1", func(v string) (err error) {
		s.Performance, err = bourse.ParsePerformance(v)
		return
	})
	o.value("price", "credits per node-hour", func(v string) (err error) { s.Price, err = bourse.ParsePrice(v); return })
	if o.err == nil && s.End <= s.Start {
		o.err = fmt.Errorf("%s.end: %v is not after start %v", o.path, s.End, s.Start)
	}
	if o.err != nil {
		return o.err
	}
	g, ok := index[node]
	if !ok {
		g = int32(len(p.Nodes))
		index[node] = g
		p.Nodes = append(p.Nodes, bourse.Group{Name: node, Nodes: 1})
	}
	s.Group = g
	p.Slots = append(p.Slots, s)
	return nil
}

func (p *problem) addJob(o *object) error {
	if err := o.keys("name", "nodes", "length", "minPerformance", "maxPrice", "budget", "ready", "deadline"); err != nil {
		return err
	}
	r := bourse.Request{MinPerformance: bourse.Unit, Deadline: bourse.Never, Ready: -bourse.MaxTime}
	name := o.text("name")
	o.value("nodes", "a whole number of nodes", func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > maxNodes {
			return fmt.Errorf("%s: must be a whole number, 1 to %d", v, maxNodes)
		}
		r.Nodes = n
		return nil
	})
	o.value("length", "seconds at performance 1", func(v string) error {
		d, err := bourse.ParseDuration(v)
		if err == nil && d <= 0 {
			err = fmt.Errorf("%s: must be at least one millisecond", v)
		}
		r.Length = d
		return err
	})
	if o.has("minPerformance") {
		o.value("minPerformance", "", func(v string) (err error) { r.MinPerformance, err = bourse.ParsePerformance(v); return })
	}
	if o.has("ready") {
		o.value("ready", "", func(v string) (err error) { r.Ready, err = bourse.ParseTime(v); return })
	}
	if o.has("deadline") {
		o.value("deadline", "", func(v string) (err error) { r.Deadline, err = bourse.ParseTime(v); return })
	}
	if o.has("maxPrice") || !o.has("budget") {
		o.value("maxPrice", "credits per node-hour (or a budget)", func(v string) (err error) { r.MaxPrice, err = bourse.ParsePrice(v); return })
	}
	if o.has("budget") {
		o.value("budget", "", func(v string) (err error) { r.Budget, err = bourse.ParseCredits(v); return })
	}
	if o.err != nil {
		return o.err
	}
	switch {
	case !o.has("maxPrice"):
		r.MaxPrice = r.PriceWithin()
	case !o.has("budget"):
		r.Budget = r.DefaultBudget()
	}
	if p.named[name] {
		return fmt.Errorf("%s.name: an earlier job is also named %q; names in a batch must differ", o.path, name)
	}
	p.most = p.most.Plus(max(r.Budget, r.DefaultBudget()))
	if p.most > maxBatchCredits {
		return fmt.Errorf("%s: the jobs up to this one may cost more than %v credits in total; lower maxPrice, length, nodes or budget", o.path, maxBatchCredits)
	}
	p.named[name] = true
	p.Names = append(p.Names, name)
	p.Jobs = append(p.Jobs, r)
	return nil
}

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

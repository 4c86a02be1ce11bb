package gather

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Case is a scripted world as its file has it, and what came of it. Read takes the first
// five members and leaves the others out.
type Case struct {
	Name     string     `json:"name"`
	Length   int64      `json:"length"` // seconds
	Waste    Share      `json:"waste"`  // such as "0.05"
	Allow    int64      `json:"allowance"`
	Deadline int64      `json:"deadline"`
	Place    bool       `json:"place,omitempty"`
	Parts    []CasePart `json:"parts"`

	Acts    []CaseAct `json:"acts"`
	Outcome string    `json:"outcome"` // committed, or why it was abandoned
	Start   *int64    `json:"start,omitempty"`
	Spent   int64     `json:"spent"`
	Tries   int       `json:"tries"`
}

// CasePart is a part of a scripted world.
type CasePart struct {
	Nodes   int64      `json:"nodes"`
	Cluster int64      `json:"cluster"`
	Begins  []int64    `json:"begins"`
	Fits    [][2]int64 `json:"fits"`
}

// CaseAct is an act in it.
type CaseAct struct {
	T     int64  `json:"t"`
	Do    string `json:"do"`
	Part  int    `json:"part"`
	Value *int64 `json:"value,omitempty"`
	Why   Why    `json:"why,omitempty"`
}

// Share is a decimal in millionths, which a file may also have as a number.
type Share struct {
	Millionths int64
	Text       string // as it was read
}

// UnmarshalJSON reads a decimal of at most six places.
func (s *Share) UnmarshalJSON(b []byte) error {
	text := strings.Trim(string(b), `"`)
	m, err := ParseShare(text)
	if err != nil {
		return err
	}
	*s = Share{m, text}
	return nil
}

// MarshalJSON writes it as it was read.
func (s Share) MarshalJSON() ([]byte, error) { return json.Marshal(s.Text) }

// ParseShare reads a decimal of at most six places, up to 1000, in millionths.
func ParseShare(text string) (int64, error) {
	whole, part, _ := strings.Cut(text, ".")
	w, err := strconv.ParseUint(whole, 10, 10)
	if err != nil || len(part) > 6 {
		return 0, fmt.Errorf("%q: must be a decimal such as 0.05, of at most six places", text)
	}
	p, err := strconv.ParseUint((part + "000000")[:6], 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q: must be a decimal such as 0.05, of at most six places", text)
	}
	return int64(w)*WasteUnit + int64(p), nil
}

// Bounds of a file of cases.
const mostCases = 10_000

// ReadCases reads a list of scripted worlds. An error names the world.
func ReadCases(text []byte) ([]Case, error) {
	var list []Case
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("a list of worlds, as bourse gather --json prints it: %w", err)
	}
	if len(list) > mostCases {
		return nil, fmt.Errorf("%d worlds; a file has at most %d", len(list), mostCases)
	}
	for i := range list {
		w := list[i].world()
		if err := w.Check(); err != nil {
			return nil, fmt.Errorf("world %d (%s): %w", i+1, list[i].Name, err)
		}
	}
	return list, nil
}

func (c *Case) world() World {
	w := World{Order: Order{Length: c.Length, Waste: c.Waste.Millionths, Deadline: c.Deadline, Place: c.Place}}
	for _, p := range c.Parts {
		w.Order.Parts = append(w.Order.Parts, Part{p.Nodes, p.Cluster})
		w.Parts = append(w.Parts, Script{p.Begins, p.Fits})
	}
	return w
}

// Play returns the case with what came of it.
func (c Case) Play() Case {
	w := c.world()
	r := w.Run()
	c.Allow, c.Spent, c.Tries, c.Start = w.Order.Allowance(), r.Spent, r.Tries, nil
	c.Outcome = string(r.Why)
	if r.Why == "" {
		c.Outcome, c.Start = "committed", &r.Start
	}
	c.Acts = make([]CaseAct, len(r.Acts))
	for i, a := range r.Acts {
		c.Acts[i] = CaseAct{T: a.At, Do: a.Do.String(), Part: a.Part, Why: a.Why}
		if a.Do.Valued() {
			c.Acts[i].Value = &r.Acts[i].Value
		}
	}
	return c
}

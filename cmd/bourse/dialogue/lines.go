package dialogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/driven"
)

// Version is that of the lines.
const Version = 1

// begin is the first line.
type begin struct {
	Version int    `json:"version"`
	Nodes   int    `json:"nodes"`
	Jobs    int    `json:"jobs"` // of each world
	Seed    uint64 `json:"seed"`
	Worlds  int    `json:"worlds,omitempty"` // side by side
}

// said is what the program answers: to a request or to an end.
type said struct {
	World  *int       `json:"world"`
	Start  []int64    `json:"start"`
	Reject []int64    `json:"reject"`
	Kill   []int64    `json:"kill"`
	Wake   *grid.Time `json:"wake"`
	Again  *uint64    `json:"again"` // side by side: begin another stretch, drawn by this seed
}

func (s *said) answer() driven.Answer {
	a := driven.Answer{Start: s.Start, Reject: s.Reject, Kill: s.Kill, Wake: grid.Never}
	if s.Wake != nil {
		a.Wake = *s.Wake
	}
	return a
}

// nothing reports whether the answer asks for nothing to be done.
func (s *said) nothing() bool {
	return len(s.Start) == 0 && len(s.Reject) == 0 && len(s.Kill) == 0 && (s.Wake == nil || *s.Wake == grid.Never)
}

// like is an answer of a scheduler.
const like = `{"start":[7],"reject":[],"kill":[],"wake":1600}`

// likeSeveral is an answer side by side.
const likeSeveral = `[{"world":0,"start":[7],"reject":[],"kill":[],"wake":1600}]`

// parseAs reads one JSON value of known keys; like is such a value, for the error.
func parseAs(line []byte, to any, like string) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more than one value")
		}
	}
	if err == nil {
		return nil
	}
	const shown = 200
	text := line
	if len(text) > shown {
		text = text[:shown]
	}
	return fmt.Errorf("the answer %q is wrong (%v); an answer is like %s", text, err, like)
}

// appendRequest appends the line of a request; world is -1 if there is but one.
func appendRequest(b []byte, world int, r *driven.Request) []byte {
	b = append(open(b, world), `"now":`...)
	b = appendSeconds(b, int64(r.Now))
	b = strconv.AppendInt(append(b, `,"free":`...), int64(r.Free), 10)
	b = append(b, `,"ended":[`...)
	for i, id := range r.Ended {
		b = strconv.AppendInt(comma(b, i), id, 10)
	}
	b = append(b, `],"arrived":[`...)
	for i := range r.Arrived {
		j := &r.Arrived[i]
		b = strconv.AppendInt(append(comma(b, i), `{"id":`...), j.ID, 10)
		b = strconv.AppendInt(append(b, `,"nodes":`...), int64(j.Nodes), 10)
		b = appendSeconds(append(b, `,"estimate":`...), int64(j.Estimate))
		b = appendSeconds(append(b, `,"submit":`...), int64(j.Submit))
		b = append(append(append(b, `,"user":"`...), j.User...), `"}`...)
	}
	return append(b, "]}"...)
}

// appendEnd appends the line that says that all is over.
func appendEnd(b []byte, world int, now grid.Time) []byte {
	b = append(open(b, world), `"end":{"now":`...)
	return append(appendSeconds(b, int64(now)), "}}"...)
}

func open(b []byte, world int) []byte {
	if b = append(b, '{'); world >= 0 {
		b = append(strconv.AppendInt(append(b, `"world":`...), int64(world), 10), ',')
	}
	return b
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

// appendSeconds writes milliseconds as seconds, with decimals where there are any.
func appendSeconds(b []byte, ms int64) []byte {
	if ms%1000 == 0 {
		return strconv.AppendInt(b, ms/1000, 10)
	}
	return append(b, grid.Time(ms).String()...)
}

package api

import (
	"encoding"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/grid"
)

// Written is a value that a request writes as text. It is read once, with the request; what is
// wrong with it is kept until its key can be named. It keeps its spelling too, so that a request
// that is written again is the same.
type Written[T any] struct {
	value T
	text  string // "": it is not given
	err   error
}

// Write is a value as it is sent.
func Write[T encoding.TextMarshaler](v T) Written[T] {
	text, err := v.MarshalText()
	return Written[T]{v, string(text), err}
}

// Read returns the value, the zero one if it is not given, or what is wrong with its text.
func (w Written[T]) Read() (T, error) { return w.value, w.err }

// IsZero reports whether it is not given.
func (w Written[T]) IsZero() bool { return w.text == "" }

// String is the text, "" if it is not given.
func (w Written[T]) String() string { return w.text }

// MarshalText writes the value as it was spelled.
func (w Written[T]) MarshalText() ([]byte, error) { return []byte(w.text), nil }

// UnmarshalText reads the value. It always succeeds; see Read.
func (w *Written[T]) UnmarshalText(text []byte) error {
	if *w = (Written[T]{text: string(text)}); w.text != "" {
		w.err = any(&w.value).(encoding.TextUnmarshaler).UnmarshalText(text)
	}
	return nil
}

// Schema describes the values for OpenAPI.
func (Written[T]) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeString} }

// Moment is a span after a submission, or a date.
type Moment struct {
	After grid.Duration // without a date; Never: at no time, which is not written
	Date  time.Time     // zero: no date
}

// From returns the instant, for a submission now.
func (m Moment) From(now grid.Time) grid.Time {
	if m.Date.IsZero() {
		return now.Add(m.After)
	}
	return grid.Time(m.Date.UnixMilli())
}

// MarshalText writes the span in seconds, or RFC 3339; nothing for no span, and for Never.
func (m Moment) MarshalText() ([]byte, error) {
	switch {
	case !m.Date.IsZero():
		return []byte(m.Date.Format(time.RFC3339)), nil
	case m.After == 0, m.After >= grid.Duration(grid.Never):
		return nil, nil
	}
	return []byte(m.After.String() + "s"), nil
}

// UnmarshalText reads a span such as 30m, or RFC 3339.
func (m *Moment) UnmarshalText(text []byte) error {
	d, err := grid.ParseDuration(string(text))
	if err == nil {
		*m = Moment{After: d}
		return nil
	}
	t, err := time.Parse(time.RFC3339, string(text))
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return fmt.Errorf("%q: must be a span such as 90s, 30m, 2h or 1d, or a time such as 2026-03-01T12:00:00Z in the years 1970 to 2200", text)
	}
	*m = Moment{Date: t}
	return nil
}

// MomentAt reads the text of a moment, which is def if there is none.
func MomentAt(text string, now, def grid.Time) (grid.Time, error) {
	var w Written[Moment]
	_ = w.UnmarshalText([]byte(text)) // what is wrong is kept
	return momentAt(w, now, def)
}

// momentAt is the instant of a moment, def if it is not given.
func momentAt(w Written[Moment], now, def grid.Time) (grid.Time, error) {
	if m, err := w.Read(); err != nil || !w.IsZero() {
		return m.From(now), err
	}
	return def, nil
}

// Elements are those of an array as its user writes them: indices, and how many may be in play
// at once.
type Elements struct{ grid.Array }

// MarshalText writes them, nothing for a single job.
func (e Elements) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads them.
func (e *Elements) UnmarshalText(text []byte) (err error) {
	e.Array, err = grid.ParseArray(string(text))
	return err
}

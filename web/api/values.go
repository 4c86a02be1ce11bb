// Package api is what is said over the HTTP API: the types of requests and answers, which the
// server, the client and the commands share, with how a job of a request becomes a job and what
// answers say in words. It knows no server and asks no agent.
package api

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/grid"
)

// The types of package grid in the form that the API writes: money, prices, performances
// and spans as exact decimal numbers, instants as RFC 3339 text.
type (
	// Credits is an amount of money.
	Credits struct{ grid.Credits }
	// Balance is an amount of money that may be negative.
	Balance struct{ grid.Credits }
	// Price is in credits per node-hour.
	Price struct{ grid.Price }
	// Performance is a factor; lengths are stated for 1.
	Performance struct{ grid.Performance }
	// Seconds is a span in seconds, to the millisecond.
	Seconds struct{ grid.Duration }
	// Instant is a date and time, to the millisecond. The zero Instant means none and is left
	// out; so is grid.Never.
	Instant grid.Time
)

// InstantOf converts t; Never becomes the zero Instant.
func InstantOf(t grid.Time) Instant {
	if t >= grid.Never {
		return 0
	}
	return Instant(t)
}

// Time is the instant in UTC; the zero time if there is none.
func (i Instant) Time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(i)).UTC()
}

// String is RFC 3339 in UTC, with milliseconds.
func (i Instant) String() string { return i.Time().Format("2006-01-02T15:04:05.000Z07:00") }

// MarshalJSON writes RFC 3339 in UTC.
func (i Instant) MarshalJSON() ([]byte, error) { return []byte(strconv.Quote(i.String())), nil }

// UnmarshalJSON reads RFC 3339 with any offset.
func (i *Instant) UnmarshalJSON(b []byte) error {
	s, err := strconv.Unquote(string(b))
	if err != nil {
		return fmt.Errorf("%s is not a time; must be such as %q", b, "2026-03-01T12:00:00Z")
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return fmt.Errorf("%q is not a time; must be such as %q", s, "2026-03-01T12:00:00Z")
	}
	*i = Instant(t.UnixMilli())
	return nil
}

// Schema describes the values for OpenAPI.
func (Credits) Schema(huma.Registry) *huma.Schema {
	return number("credits, to the millionth", 0, grid.MaxBudget.Float())
}

// Schema describes the values for OpenAPI.
func (Balance) Schema(huma.Registry) *huma.Schema {
	return number("credits, to the millionth; may be negative", -grid.MaxCredits.Float(), grid.MaxCredits.Float())
}

// UnmarshalJSON reads credits, which may be negative.
func (b *Balance) UnmarshalJSON(text []byte) error {
	amount, below := bytes.CutPrefix(text, []byte("-"))
	err := b.Credits.UnmarshalJSON(amount)
	if below {
		b.Credits = -b.Credits
	}
	return err
}

// Schema describes the values for OpenAPI.
func (Price) Schema(huma.Registry) *huma.Schema {
	return number("credits per node-hour, to the millionth", 0, grid.MaxPrice.Float())
}

// Schema describes the values for OpenAPI.
func (Performance) Schema(huma.Registry) *huma.Schema {
	return number("a factor, to the thousandth", 0.001, grid.MaxPerformance.Float())
}

// Schema describes the values for OpenAPI.
func (Seconds) Schema(huma.Registry) *huma.Schema {
	return number("seconds, to the millisecond", 0, grid.MaxDuration.Seconds())
}

// Schema describes the values for OpenAPI.
func (Instant) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Description: "RFC 3339, to the millisecond"}
}

func number(about string, low, high float64) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Description: about, Minimum: &low, Maximum: &high}
}

// Reason says why a request was refused or postponed.
type Reason struct {
	Code   string `json:"code" doc:"a word for programs, such as no-window, account, queue-full"`
	Detail string `json:"detail,omitempty" doc:"an explanation for people, with figures"`
}

// String returns the detail, or the code if there is none, for people: figures are rounded, and
// instants are in the time zone of this process.
func (r *Reason) String() string {
	if r == nil {
		return ""
	}
	return grid.Rounded(instant().ReplaceAllStringFunc(grid.Reason{Code: grid.Code(r.Code), Detail: r.Detail}.String(), here))
}

// instant finds what Dated has written.
var instant = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`) })

func here(s string) string {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return s
	}
	return t.Local().Format("2006-01-02 15:04:05Z07:00")
}

// Persists reports whether the same request would be refused again; see grid.Reason.
func (r *Reason) Persists() bool { return r != nil && grid.Reason{Code: grid.Code(r.Code)}.Persists() }

// ReasonOf is nil for no reason.
func ReasonOf(r grid.Reason) *Reason {
	if !r.Refused() {
		return nil
	}
	return &Reason{Code: string(r.Code), Detail: Dated(r.Detail)}
}

// Dated writes the instants in an agent's words as RFC 3339.
func Dated(words string) string {
	return grid.Phrase(words).In(func(t grid.Time) string { return time.UnixMilli(int64(t)).UTC().Format(time.RFC3339) })
}

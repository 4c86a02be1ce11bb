package web

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse"
)

// The values of the vocabulary as the API writes them: money, prices,
// performances and spans as decimal numbers, exact to their last digit,
// instants as RFC 3339 text.
type (
	// Credits is an amount of money.
	Credits struct{ bourse.Credits }
	// Balance is an amount of money that may be below 0.
	Balance struct{ bourse.Credits }
	// Price is in credits per node-hour.
	Price struct{ bourse.Price }
	// Performance is a factor, 1 the speed that lengths are stated for.
	Performance struct{ bourse.Performance }
	// Seconds is a span in seconds, to the millisecond.
	Seconds struct{ bourse.Duration }
	// Instant is a time of day, to the millisecond. The zero Instant stands for
	// none and is left out; so is bourse.Never.
	Instant bourse.Time
)

// instant is t, or none for Never.
func instant(t bourse.Time) Instant {
	if t >= bourse.Never {
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
		return fmt.Errorf("%s is no time; write %q", b, "2026-03-01T12:00:00Z")
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return fmt.Errorf("%q is no time; write %q", s, "2026-03-01T12:00:00Z")
	}
	*i = Instant(t.UnixMilli())
	return nil
}

// Schema describes the values for OpenAPI.
func (Credits) Schema(huma.Registry) *huma.Schema {
	return number("credits, to the millionth", 0, bourse.MaxBudget.Float())
}

// Schema describes the values for OpenAPI.
func (Balance) Schema(huma.Registry) *huma.Schema {
	return number("credits, to the millionth, below 0 too", -bourse.MaxCredits.Float(), bourse.MaxCredits.Float())
}

// UnmarshalJSON reads credits, below 0 too.
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
	return number("credits per node-hour, to the millionth", 0, bourse.MaxPrice.Float())
}

// Schema describes the values for OpenAPI.
func (Performance) Schema(huma.Registry) *huma.Schema {
	return number("a factor, to the thousandth", 0.001, bourse.MaxPerformance.Float())
}

// Schema describes the values for OpenAPI.
func (Seconds) Schema(huma.Registry) *huma.Schema {
	return number("seconds, to the millisecond", 0, bourse.MaxDuration.Seconds())
}

// Schema describes the values for OpenAPI.
func (Instant) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Description: "RFC 3339, to the millisecond"}
}

func number(about string, low, high float64) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Description: about, Minimum: &low, Maximum: &high}
}

// Reason says why something expected was refused or put off.
type Reason struct {
	Code   string `json:"code" doc:"a word for programs, such as no-window, account, queue-full"`
	Detail string `json:"detail,omitempty" doc:"words for people, with the figures in them"`
}

// String shows the words, or the code where there are none.
func (r *Reason) String() string {
	if r == nil {
		return ""
	}
	return bourse.Rounded(bourse.Reason{Code: bourse.Code(r.Code), Detail: r.Detail}.String())
}

// reasonOf is nil for no reason.
func reasonOf(r bourse.Reason) *Reason {
	if !r.Refused() {
		return nil
	}
	return &Reason{Code: string(r.Code), Detail: dated(r.Detail)}
}

// dated writes the instants in an agent's words as RFC 3339.
func dated(words string) string {
	return bourse.Phrase(words).In(func(t bourse.Time) string { return time.UnixMilli(int64(t)).UTC().Format(time.RFC3339) })
}

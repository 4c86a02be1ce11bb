package grid

import (
	"fmt"
	"strings"
)

// Time is an instant in milliseconds since the run's zero (a simulation's start,
// a trace's zero, or the Unix epoch on a live site). Formats show seconds.
type Time int64

// Duration is a span in milliseconds. Formats show seconds.
type Duration int64

// The spans that others are multiples of.
const (
	Millisecond Duration = 1
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
	Day                  = 24 * Hour
)

const (
	// MaxTime bounds every instant read from outside: 10^10 s, 317 years.
	MaxTime Time = 10_000_000_000_000
	// Never is later than every instant a schedule can hold.
	Never Time = 1 << 60
	// MaxDuration bounds every span read from outside.
	MaxDuration = Duration(MaxTime)
)

// Add returns the instant d after t. Inputs are bounded by MaxTime and
// MaxDuration where they enter, so a sum cannot overflow.
func (t Time) Add(d Duration) Time { return t + Time(d) }

// Sub returns the span from u to t.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// String shows t in seconds, with decimals if it is not whole.
func (t Time) String() string {
	if t >= Never {
		return "never"
	}
	return formatDecimal(int64(t), 3)
}

// String shows d in seconds, with decimals if it is not whole.
func (d Duration) String() string { return formatDecimal(int64(d), 3) }

// Seconds returns d in seconds, for reports.
func (d Duration) Seconds() float64 { return float64(d) / 1000 }

// Hours returns d in hours, for reports.
func (d Duration) Hours() float64 { return float64(d) / float64(Hour) }

// Seconds returns t in seconds, for reports.
func (t Time) Seconds() float64 { return float64(t) / 1000 }

// Words shows d as people write it ("90s", "30m", "2h", "1d"), in the largest unit that
// divides it. ParseDuration reads it back.
func (d Duration) Words() string {
	for _, u := range durationUnits {
		if d != 0 && d%u.span == 0 {
			return fmt.Sprintf("%d%s", d/u.span, u.name)
		}
	}
	return d.String() + "s"
}

var durationUnits = []struct {
	name string
	span Duration
}{{"d", Day}, {"h", Hour}, {"m", Minute}, {"s", Second}}

// ParseDuration reads "90" or "90s" (seconds), "30m", "2h", "1d"; decimals are
// allowed and rounded to the millisecond. Negative spans and spans above
// MaxDuration are errors.
func ParseDuration(s string) (Duration, error) {
	text, unit := strings.TrimSpace(s), Second
	for _, u := range durationUnits {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			text, unit = rest, u.span
			break
		}
	}
	v, err := parseMultiple(text, int(unit/Second), 3)
	switch {
	case err == errTooLarge, err == nil && (v < 0 || v > int64(MaxDuration)):
		return 0, fmt.Errorf("duration %q is outside 0..%ds", s, MaxDuration/Second)
	case err != nil:
		return 0, fmt.Errorf("duration %q %w; write 90, 90s, 30m, 2h or 1d", s, err)
	}
	return Duration(v), nil
}

// ParseTime reads an instant in seconds, with decimals rounded to the
// millisecond, between -MaxTime and MaxTime.
func ParseTime(s string) (Time, error) {
	v, err := parseDecimal(s, 3)
	if err == nil && (v > int64(MaxTime) || v < -int64(MaxTime)) {
		err = errTooLarge
	}
	if err != nil {
		return 0, fmt.Errorf("time %q %w; must be seconds between -1e10 and 1e10", s, err)
	}
	return Time(v), nil
}

// MarshalJSON writes seconds, null for Never.
func (t Time) MarshalJSON() ([]byte, error) {
	if t >= Never {
		return []byte("null"), nil
	}
	return appendDecimal(nil, int64(t), 3), nil
}

// UnmarshalJSON reads what MarshalJSON writes: seconds, and null as Never.
func (t *Time) UnmarshalJSON(b []byte) (err error) {
	if string(b) == "null" {
		*t = Never
		return nil
	}
	*t, err = ParseTime(string(b))
	return err
}

// UnmarshalTOML reads seconds as a number, or a span since zero such as "2h".
func (t *Time) UnmarshalTOML(v any) error {
	if s, ok := v.(string); ok {
		d, err := ParseDuration(s)
		*t = Time(d)
		return err
	}
	s, err := decimalText(v)
	if err == nil {
		*t, err = ParseTime(s)
	}
	return err
}

// MarshalJSON writes seconds.
func (d Duration) MarshalJSON() ([]byte, error) { return appendDecimal(nil, int64(d), 3), nil }

// UnmarshalJSON reads seconds as a number, or a string such as "30m".
func (d *Duration) UnmarshalJSON(b []byte) (err error) {
	*d, err = ParseDuration(strings.Trim(string(b), `"`))
	return err
}

// UnmarshalTOML reads seconds as a number, or a string such as "30m".
func (d *Duration) UnmarshalTOML(v any) error {
	s, ok := v.(string)
	if !ok {
		var err error
		if s, err = decimalText(v); err != nil {
			return err
		}
	}
	p, err := ParseDuration(s)
	*d = p
	return err
}

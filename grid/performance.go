package grid

import "fmt"

// Performance is a node's speed in thousandths: 1000 is the speed at which the
// length of a job is stated.
type Performance int64

const (
	// Unit is performance 1.
	Unit Performance = 1000
	// MaxPerformance bounds every performance read from outside: 1000.
	MaxPerformance = 1000 * Unit
)

// Runtime is how long work of that length (its runtime at performance 1) takes
// on a node of performance p > 0, rounded up to the millisecond.
func (p Performance) Runtime(length Duration) Duration {
	return (length*Duration(Unit) + Duration(p) - 1) / Duration(p)
}

// String shows the performance as a factor, "1.5".
func (p Performance) String() string { return formatDecimal(int64(p), 3) }

// Float returns the performance as a factor, for reports.
func (p Performance) Float() float64 { return float64(p) / float64(Unit) }

// ParsePerformance reads a factor above 0 up to MaxPerformance; more than three
// decimals are rounded.
func ParsePerformance(s string) (Performance, error) {
	v, err := parseDecimal(s, 3)
	switch {
	case err == errTooLarge, err == nil && (v <= 0 || Performance(v) > MaxPerformance):
		return 0, fmt.Errorf("performance %q is outside 0.001..%v", s, MaxPerformance)
	case err != nil:
		return 0, fmt.Errorf("performance %q %w; must be 0.001..%v", s, err, MaxPerformance)
	}
	return Performance(v), nil
}

// MarshalJSON writes the factor.
func (p Performance) MarshalJSON() ([]byte, error) { return appendDecimal(nil, int64(p), 3), nil }

// UnmarshalJSON reads the factor.
func (p *Performance) UnmarshalJSON(b []byte) (err error) {
	*p, err = ParsePerformance(string(b))
	return err
}

// UnmarshalTOML reads the factor.
func (p *Performance) UnmarshalTOML(v any) error {
	s, err := decimalText(v)
	if err == nil {
		*p, err = ParsePerformance(s)
	}
	return err
}

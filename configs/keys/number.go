package keys

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Thousandths is a share or a factor in thousandths: 1000 means 1. A number with more
// decimals is refused, not rounded.
type Thousandths int64

// One is the factor 1.
const One Thousandths = 1000

// String shows the number with no more decimals than it needs.
func (n Thousandths) String() string { return strconv.FormatFloat(n.Float(), 'f', -1, 64) }

// Float returns the number, for distributions and reports.
func (n Thousandths) Float() float64 { return float64(n) / float64(One) }

// MaxThousandths is the largest number that is read: a million.
const MaxThousandths = 1_000_000 * One

// ParseThousandths reads a number of TOML with at most three decimals, up to a million.
func ParseThousandths(v any) (Thousandths, error) {
	switch v := v.(type) {
	case int64:
		if v >= -int64(MaxThousandths/One) && v <= int64(MaxThousandths/One) {
			return Thousandths(v) * One, nil
		}
		return 0, fmt.Errorf("%d is too large", v)
	case float64:
		if math.IsNaN(v) || math.Abs(v) > MaxThousandths.Float() {
			return 0, fmt.Errorf("%v is not a finite number", v)
		}
		n := Thousandths(math.Round(v * 1000))
		if n.Float() != v { // if v has at most three decimals, both are the float nearest to it
			return 0, fmt.Errorf("%v has more than three decimals", v)
		}
		return n, nil
	}
	return 0, fmt.Errorf("is %s", TypeOf(v))
}

var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"PiB", 1 << 50},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"PB", 1e15}, {"B", 1},
}

// maxSize bounds a memory or a disk: 1024 PiB.
const maxSize = 1 << 60

// size returns a memory or disk size in bytes, 0 if the key is not given. The value is a
// number of bytes, or a string with a unit such as "64GiB" or "1.5TB".
func (t *Table) size(key string) int64 {
	v, ok := t.Take(key)
	if !ok {
		return 0
	}
	n, err := parseSize(v)
	if err != nil {
		t.Wrong(key, `%v; must be a number of bytes or a size such as "64GiB" or "500GB"`, err)
	}
	return n
}

// ParseSize reads a number of bytes or a size such as "64GiB".
func ParseSize(text string) (int64, error) { return parseSize(text) }

func parseSize(v any) (int64, error) {
	switch v := v.(type) {
	case int64:
		if v < 0 || v > maxSize {
			return 0, fmt.Errorf("%d is outside 0..%d", v, int64(maxSize))
		}
		return v, nil
	case string:
		text, unit := strings.TrimSpace(v), int64(1)
		for _, u := range sizeUnits {
			if rest, ok := strings.CutSuffix(text, u.name); ok {
				text, unit = strings.TrimSpace(rest), u.bytes
				break
			}
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || strings.ContainsAny(text, "xXpP_iInN") {
			return 0, fmt.Errorf("%q is not a size", v)
		}
		if f < 0 || f*float64(unit) > maxSize {
			return 0, fmt.Errorf("%q is outside 0..1024PiB", v)
		}
		return int64(math.Round(f * float64(unit))), nil
	}
	return 0, fmt.Errorf("is %s", TypeOf(v))
}

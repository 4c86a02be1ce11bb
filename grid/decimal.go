package grid

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

var (
	errNotNumber = errors.New("is not a number")
	errTooLarge  = errors.New("is too large")
)

// parseDecimal reads a decimal number ("18", "-0.5", "1.7e3") as a whole number
// of 10^-digits; anything below the last digit is rounded half away from zero. NaN,
// infinities and values beyond int64 are errors.
func parseDecimal(s string, digits int) (int64, error) { return parseMultiple(s, 1, digits) }

// parseMultiple is parseDecimal of the number times factor, which must be 1 to 10^6. It
// rounds once, after the multiplication.
func parseMultiple(s string, factor, digits int) (int64, error) {
	i, neg := 0, false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	mantissa, scale, seen, point := make([]byte, 0, 24), 0, false, false
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen = true
		if point {
			scale--
		}
		mantissa = append(mantissa, c)
	}
	if !seen {
		return 0, errNotNumber
	}
	if i < len(s) {
		if s[i] != 'e' && s[i] != 'E' {
			return 0, errNotNumber
		}
		exp, err := strconv.Atoi(s[i+1:])
		if err != nil || exp < -400 {
			return 0, errNotNumber
		}
		if exp > 400 {
			return 0, errTooLarge
		}
		scale += exp
	}
	v, err := scaled(times(mantissa, factor), scale+digits)
	if neg {
		v = -v
	}
	return v, err
}

// times returns the digits of mantissa x factor.
func times(mantissa []byte, factor int) []byte {
	if factor == 1 {
		return mantissa
	}
	carry := 0
	for k := len(mantissa) - 1; k >= 0; k-- {
		carry += int(mantissa[k]-'0') * factor
		mantissa[k] = byte('0' + carry%10)
		carry /= 10
	}
	return append(strconv.AppendInt(nil, int64(carry), 10), mantissa...)
}

// scaled returns mantissa x 10^shift, rounded half up.
func scaled(mantissa []byte, shift int) (int64, error) {
	up := false
	if shift < 0 {
		keep := len(mantissa) + shift
		if keep < 0 {
			return 0, nil
		}
		up = mantissa[keep] >= '5'
		mantissa = mantissa[:keep]
	}
	var v int64
	for k := 0; k < len(mantissa)+max(shift, 0); k++ {
		var d int64
		if k < len(mantissa) {
			d = int64(mantissa[k] - '0')
		} else if v == 0 {
			break
		}
		if v > (math.MaxInt64-9)/10 {
			return 0, errTooLarge
		}
		v = v*10 + d
	}
	if up {
		v++
	}
	return v, nil
}

// formatDecimal writes v x 10^-digits with no more decimals than it needs.
func formatDecimal(v int64, digits int) string {
	return string(appendDecimal(nil, v, digits))
}

func appendDecimal(b []byte, v int64, digits int) []byte {
	u := uint64(v)
	if v < 0 {
		b = append(b, '-')
		u = -u
	}
	unit := uint64(1)
	for range digits {
		unit *= 10
	}
	b = strconv.AppendUint(b, u/unit, 10)
	rest := u % unit
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for rest > 0 {
		unit /= 10
		b = append(b, byte('0'+rest/unit))
		rest %= unit
	}
	return b
}

// decimalText gives the digits of a number that a TOML reader has decoded.
func decimalText(v any) (string, error) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	case string:
		return "", fmt.Errorf("%q is a string, not a number", v)
	}
	return "", fmt.Errorf("must be a number, not %T", v)
}

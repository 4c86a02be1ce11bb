package grid

import (
	"regexp"
	"strconv"
	"strings"
)

// Reasons and turns keep exact figures: amounts to the millionth of a credit and spans in
// seconds. People are shown rounded figures; the JSON of the same command has the exact ones.

var (
	exactAmount  = regexp.MustCompile(`(^|[\s(+])(\d+\.\d{4,6})\b`)                           // instants have three decimals at most
	exactCredits = regexp.MustCompile(`(^|[\s(+])(\d+\.\d{3})( credits?| base| for delay)\b`) // three decimals too, where they are money
	exactSeconds = regexp.MustCompile(`(^|[\s(])(\d{3,}(?:\.\d{1,3})?) ?s\b`)
)

// Rounded shows words with amounts to the hundredth of a credit, or to two figures
// where they are smaller, and spans of 2 minutes or more in minutes, hours or days.
func Rounded(words string) string {
	words = exactAmount.ReplaceAllStringFunc(words, roundAmount)
	words = exactCredits.ReplaceAllStringFunc(words, roundAmount)
	return exactSeconds.ReplaceAllStringFunc(words, func(s string) string {
		before, figure := leading(s)
		d, err := ParseDuration(strings.TrimSpace(strings.TrimSuffix(figure, "s")))
		if err != nil || d < 2*Minute {
			return s
		}
		return before + d.Roughly()
	})
}

// roundAmount rounds the figure that s has after one character at most, and before other words.
func roundAmount(s string) string {
	before, figure := leading(s)
	figure, after, _ := strings.Cut(figure, " ")
	v, err := strconv.ParseFloat(figure, 64)
	if err != nil {
		return s
	}
	text := strconv.FormatFloat(v, 'f', 2, 64)
	if v < 0.1 {
		text = strconv.FormatFloat(v, 'g', 2, 64)
		if strings.Contains(text, "e") {
			return s
		}
	}
	if after != "" {
		text += " " + after
	}
	return before + text
}

// leading splits off the one character before a figure, if there is one.
func leading(s string) (before, figure string) {
	if s[0] >= '0' && s[0] <= '9' {
		return "", s
	}
	return s[:1], s[1:]
}

// Roughly shows d in the unit that suits it, with a decimal where that tells
// something: "45 s", "12 min", "2.8 h", "3.5 d".
func (d Duration) Roughly() string {
	for _, u := range []struct {
		from, span Duration
		name       string
		decimals   int
	}{{36 * Hour, Day, "d", 1}, {90 * Minute, Hour, "h", 1}, {90 * Second, Minute, "min", 0}} {
		if d >= u.from {
			text := strconv.FormatFloat(float64(d)/float64(u.span), 'f', u.decimals, 64)
			return strings.TrimSuffix(text, ".0") + " " + u.name
		}
	}
	return d.String() + " s"
}

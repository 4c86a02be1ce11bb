package grid

import (
	"fmt"
	"slices"
	"strings"
)

// Phrase is a text for people in which instants are marked, so that each view can show them
// by its own clock. It is plain text on disk and on the wire. An instant by the calendar, as
// live processes have them, is written as @ and Unix seconds; an instant of a simulation,
// which has no calendar, as its seconds. Nothing else in a Phrase looks like a marked
// instant: if a name has an @ before that many digits, the @ is doubled.
type Phrase string

// Calendar is the instant from which times are by the calendar: September 2001 in Unix time.
// Live processes only have later times, and simulations, which start at zero, end long
// before it.
const Calendar Time = 1_000_000_000_000

// calendarDigits is how many digits the whole seconds have from Calendar on.
const calendarDigits = 10

// Say formats like fmt.Sprintf, but marks a Time as an instant and keeps the marked instants
// of a Phrase or a Reason.
func Say(format string, args ...any) Phrase {
	typed := slices.Clone(args)
	for i, a := range args {
		switch a := a.(type) {
		case Time:
			if a >= Calendar && a < MaxTime {
				typed[i] = Phrase("@" + a.String())
			}
		case Phrase, Reason:
		case string:
			typed[i] = plain(a)
		case error:
			typed[i] = plain(a.Error())
		case TxID:
			typed[i] = plain(a.String())
		case LegID:
			typed[i] = plain(a.String())
		}
	}
	return Phrase(fmt.Sprintf(format, typed...))
}

// Because makes a reason with a detail formatted by Say.
func Because(code Code, format string, args ...any) Reason {
	return Reason{Code: code, Detail: string(Say(format, args...))}
}

// In shows the phrase with its instants by a clock.
func (p Phrase) In(clock func(Time) string) string {
	var b strings.Builder
	s := string(p)
	for {
		ats, figure, before, after := nextMark(s)
		if figure == "" {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before)
		b.WriteString(strings.Repeat("@", ats/2))
		if t, err := ParseTime(figure); ats%2 == 1 && err == nil {
			figure = clock(t)
		} else if ats%2 == 1 {
			figure = "@" + figure
		}
		b.WriteString(figure)
		s = after
	}
}

// plain doubles the marks of a text that is no phrase.
func plain(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	var b strings.Builder
	for {
		ats, figure, before, after := nextMark(s)
		if figure == "" {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before + strings.Repeat("@", 2*ats) + figure)
		s = after
	}
}

// nextMark finds the next figure of calendarDigits or more digits that follows one @ or
// several; figure is "" if there is none.
func nextMark(s string) (ats int, figure, before, after string) {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '@')
		if i < 0 {
			return 0, "", s, ""
		}
		begin := from + i
		rest := strings.TrimLeft(s[begin:], "@")
		n := digits(rest)
		if from = len(s) - len(rest); n < calendarDigits {
			continue
		}
		if k := digits(strings.TrimPrefix(rest[n:], ".")); strings.HasPrefix(rest[n:], ".") && k > 0 {
			n += 1 + min(k, 3)
		}
		return from - begin, rest[:n], s[:begin], rest[n:]
	}
}

// digits is how many digits a text begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

package grid

import (
	"fmt"
	"strconv"
	"strings"
)

// Curve is a Profile as one line of text, for facts: "0:128 3600000:124
// 7200000:128" has 128 nodes free from 0 ms on, 124 an hour later and 128 again
// two hours after that. The first instant is in milliseconds since zero, each
// later one in milliseconds after the one before it. A long profile takes a fifth of the
// room of a list of steps.
type Curve string

// Curve is the profile as text; an empty profile is "".
func (p Profile) Curve() Curve {
	b := make([]byte, 0, 12*len(p))
	last := Time(0)
	for i, s := range p {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(s.At-last), 10)
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(s.Free), 10)
		last = s.At
	}
	return Curve(b)
}

// Profile reads the curve back. It returns an error if steps are not in order of time or
// an instant is beyond Never.
func (c Curve) Profile() (Profile, error) {
	if c == "" {
		return nil, nil
	}
	p := make(Profile, 0, strings.Count(string(c), " ")+1)
	last := Time(0)
	for text := range strings.SplitSeq(string(c), " ") {
		at, free, ok := strings.Cut(text, ":")
		d, err1 := strconv.ParseInt(at, 10, 64)
		n, err2 := strconv.Atoi(free)
		if !ok || err1 != nil || err2 != nil || d > int64(Never) || d < -int64(Never) {
			return nil, fmt.Errorf("step %d of a curve is %q; must be \"milliseconds:nodes\"", len(p)+1, text)
		}
		if len(p) > 0 && d <= 0 || last > Never-Time(d) && d > 0 {
			return nil, fmt.Errorf("step %d of a curve, %q, is not after the one before it, or beyond all time", len(p)+1, text)
		}
		last = last.Add(Duration(d))
		p = append(p, Step{last, n})
	}
	return p, nil
}

package slurm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// number is a number in the forms of the different versions: plain, null for none, or an
// object {"set", "infinite", "number"}.
type number struct {
	value int64
	set   bool // neither none nor infinite
}

// UnmarshalJSON reads each of the forms.
func (n *number) UnmarshalJSON(b []byte) error {
	*n = number{}
	switch {
	case bytes.Equal(b, []byte("null")):
		return nil
	case len(b) > 0 && b[0] == '{':
		var w struct {
			Set      *bool   `json:"set"`
			Infinite bool    `json:"infinite"`
			Number   float64 `json:"number"`
		}
		if err := json.Unmarshal(b, &w); err != nil {
			return err
		}
		if w.Infinite || w.Set == nil || !*w.Set {
			return nil
		}
		return n.take(w.Number)
	}
	var v float64
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("must be a number, null or {set, infinite, number}: %w", err)
	}
	return n.take(v)
}

func (n *number) take(v float64) error {
	if math.Abs(v) > 1<<53 {
		return nil // Slurm's largest values mean none
	}
	n.value, n.set = int64(v), true
	return nil
}

// time is an instant that was given in seconds; 0 means none.
func (n number) time() grid.Time { return instant(n.value) }

// instant converts whole seconds since the epoch, at most grid.MaxTime; 0 for earlier
// times.
func instant(seconds int64) grid.Time {
	return grid.Time(min(max(seconds, 0), int64(grid.MaxTime)/1000) * 1000)
}

// count is a number of things, from 0 to some billions.
func (n number) count() int { return int(min(max(n.value, 0), math.MaxInt32)) }

// listed is a word; in newer versions a list of words.
type listed []string

// UnmarshalJSON reads either form.
func (l *listed) UnmarshalJSON(b []byte) error {
	*l = nil
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(l))
	}
	var s *string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("must be a word or a list of words: %w", err)
	}
	if s != nil && *s != "" {
		*l = listed{*s}
	}
	return nil
}

// has reports whether one of the words is in the list, in upper or lower case.
func (l listed) has(words ...string) bool { return l.first(words...) != "" }

// first returns the first of the words that is in the list, "" if none is.
func (l listed) first(words ...string) string {
	for _, w := range words {
		for _, s := range l {
			if strings.EqualFold(s, w) {
				return w
			}
		}
	}
	return ""
}

// commas splits a list at its commas; nil for Slurm's words for none.
func commas(s string) []string {
	if s == "" || s == "(null)" || s == "N/A" {
		return nil
	}
	var out []string
	for w := range strings.SplitSeq(s, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

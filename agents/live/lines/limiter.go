package lines

import (
	"sync"
	"time"
)

// Limiter lets one line of each kind through in a minute.
type Limiter struct {
	mu   sync.Mutex
	last map[string]time.Time
	all  map[string]*minuteCount // by what its lines have in common
}

// minuteCount is how many lines of one sort were logged in the current minute, and how many
// were not since the last line.
type minuteCount struct {
	from   time.Time
	lines  int
	hidden uint64
}

// LinesAMinute bounds the lines of one sort, whoever they are about: names cost a stranger
// nothing.
const LinesAMinute = 10

// AllowOf is Allow for one of many that a line of a sort can be about: one line a minute for
// each, and ten for all. hidden is how many were left out before this line.
func (s *Limiter) AllowOf(sort, about string, now time.Time) (hidden uint64, ok bool) {
	if !s.Allow(sort+" "+about, now) {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*minuteCount{}
	}
	c := s.all[sort]
	if c == nil {
		c = &minuteCount{}
		s.all[sort] = c
	}
	if now.Sub(c.from) >= time.Minute {
		c.from, c.lines = now, 0
	}
	if c.lines == LinesAMinute {
		c.hidden++
		return 0, false
	}
	c.lines++
	hidden, c.hidden = c.hidden, 0
	return hidden, true
}

// limitedKinds bounds how many kinds are remembered. At the bound all are forgotten.
const limitedKinds = 4096

// Allow reports whether a line of that kind may be logged now.
func (s *Limiter) Allow(kind string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.last[kind]; ok && now.Sub(last) < time.Minute {
		return false
	}
	if s.last == nil || len(s.last) >= limitedKinds {
		s.last = map[string]time.Time{}
	}
	s.last[kind] = now
	return true
}

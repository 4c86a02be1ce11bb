package live

import (
	"sync"
	"time"
)

// How fast one peer may send over all its connections. A peer above the rate is slowed down
// by not reading from it. One that continues for longer than the patience is disconnected
// and kept out for the penalty. An honest peer has at most 64 envelopes under way and stays
// far below.
const (
	rateMessages = 20_000   // parcels and acknowledgements a second
	rateBytes    = 64 << 20 // a second
	rateBurst    = 2        // seconds' worth that may come at once
	ratePatience = 30 * time.Second
	ratePenalty  = 10 * time.Second
)

// cost is how much of its sender's rate a message uses.
type cost struct{ messages, bytes int }

// rate is a token bucket for messages and bytes. The zero value is full.
type rate struct {
	mu      sync.Mutex
	streams int       // open streams; under the guard's lock
	debt    float64   // seconds of sending above the rate; negative within the burst
	at      time.Time // time of debt
	since   time.Time // when the debt began; zero if there is none
	until   time.Time // end of the penalty
}

// take charges the cost of a message. It returns how long the stream must wait before its
// next message, or that the peer has been above the rate for too long.
func (r *rate) take(now time.Time, c cost) (wait time.Duration, tooLong bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at.IsZero() {
		r.at, r.debt = now, -rateBurst
	}
	if passed := now.Sub(r.at); passed > 0 {
		r.debt = max(r.debt-passed.Seconds(), -rateBurst)
		r.at = now
	}
	if r.debt <= 0 {
		r.since = time.Time{}
	}
	r.debt += max(float64(c.messages)/rateMessages, float64(c.bytes)/rateBytes)
	if r.debt <= 0 {
		return 0, false
	}
	if r.since.IsZero() {
		r.since = now
	}
	if now.Sub(r.since) > ratePatience {
		r.until = now.Add(ratePenalty)
		return 0, true
	}
	return time.Duration(r.debt * float64(time.Second)), false
}

// idle reports whether the peer has neither debt nor penalty left.
func (r *rate) idle(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.After(r.until) && now.Sub(r.at).Seconds() >= r.debt+rateBurst
}

// keptOut reports whether the peer is still kept out.
func (r *rate) keptOut(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return now.Before(r.until)
}

// enter returns the rate of a peer that has opened a stream, and a function to call when
// the stream has closed.
func (g *Guard) enter(p peer) (*rate, func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.rates[p.name]
	if r == nil {
		for name, other := range g.rates { // drop those of peers that have gone
			if other.streams == 0 && other.idle(g.now()) {
				delete(g.rates, name)
			}
		}
		r = &rate{}
		g.rates[p.name] = r
	}
	r.streams++
	return r, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if r.streams--; r.streams == 0 && r.idle(g.now()) {
			delete(g.rates, p.name)
		}
	}
}

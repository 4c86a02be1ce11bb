package web

import (
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// refusals takes what net/http says of connections that came to nothing, a
// failed TLS handshake above all, into the process's log. Whoever can reach the
// port can cause such lines, so that a burst is let through and then one a
// second; the next line that is says how many were not.
type refusals struct {
	log zerolog.Logger

	mu     sync.Mutex
	tokens int
	at     time.Time // of the last token
	hidden int       // lines since the last one said
}

// refusalBurst is how many lines may come at once after a quiet while.
const refusalBurst = 20

// Write takes one line.
func (r *refusals) Write(line []byte) (int, error) {
	if hidden, ok := r.may(time.Now()); ok {
		e := r.log.Warn().Str("room", "api")
		if hidden > 0 {
			e.Int("hidden", hidden)
		}
		e.Msg(strings.TrimPrefix(strings.TrimSpace(string(line)), "http: "))
	}
	return len(line), nil
}

// may reports whether a line may be said, and how many were not before it.
func (r *refusals) may(now time.Time) (hidden int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := int(now.Sub(r.at) / time.Second); n > 0 {
		r.tokens, r.at = min(r.tokens+n, refusalBurst), now
	}
	if r.tokens == 0 {
		r.hidden++
		return 0, false
	}
	hidden, r.hidden = r.hidden, 0
	r.tokens--
	return hidden, true
}

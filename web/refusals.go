package web

import (
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// refusals writes net/http's messages about failed connections, mostly failed TLS handshakes,
// to the process's log. Anybody who can reach the port can cause such lines, so it lets
// through a burst and then one per second; each line says how many were left out before it.
type refusals struct {
	log zerolog.Logger

	mu     sync.Mutex
	tokens int
	at     time.Time // of the last token
	hidden int       // lines left out since the last one written
}

// refusalBurst is how many lines may come at once after a quiet period.
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

// may reports whether a line may be written, and how many were left out before it.
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

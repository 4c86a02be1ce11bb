package web

import (
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// refusals writes to the process's log what net/http says of failed connections, failed
// TLS handshakes above all. Anybody who can reach the port can cause such lines, so a
// burst is let through and then one a second; each line says how many were left out
// before it.
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

package live

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/agents/live/lines"
	"github.com/rs/zerolog"
)

// libraryLog writes the messages of Proto.Actor into the process's log: only warnings and
// errors, and each kind at most once a minute for an address, because connections to a peer
// that cannot be reached or refuses us are retried forever.
type libraryLog struct {
	slog.Handler
	limiter *lines.Limiter
}

// closedByUs is what gRPC says of a connection closed by this side, as at every orderly
// end. It is not worth logging.
const closedByUs = "the client connection is closing"

func newLibraryLog(l zerolog.Logger) *slog.Logger {
	l = l.With().Str("lib", "protoactor").Logger().Level(max(l.GetLevel(), zerolog.WarnLevel))
	return slog.New(libraryLog{zerolog.NewSlogHandler(l), new(lines.Limiter)})
}

// Handle implements slog.Handler.
func (h libraryLog) Handle(ctx context.Context, r slog.Record) error {
	kind, ours := r.Message, false
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "address":
			kind += " " + a.Value.String()
		case "error":
			ours = strings.Contains(a.Value.String(), closedByUs)
		}
		return true
	})
	if ours || !h.limiter.Allow(kind, time.Now()) {
		return nil
	}
	r.Time = time.Time{}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h libraryLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return libraryLog{h.Handler.WithAttrs(attrs), h.limiter}
}

// WithGroup implements slog.Handler.
func (h libraryLog) WithGroup(name string) slog.Handler {
	return libraryLog{h.Handler.WithGroup(name), h.limiter}
}

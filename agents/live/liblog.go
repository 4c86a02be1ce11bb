package live

import (
	"context"
	"log/slog"
	"time"

	"github.com/rs/zerolog"
)

// libraryLog writes what Proto.Actor says into the process's log: only warnings and
// errors, and each kind at most once a minute for an address, because a peer that cannot
// be reached or refuses us is tried again for ever.
type libraryLog struct {
	slog.Handler
	limiter *logLimiter
}

func newLibraryLog(l zerolog.Logger) *slog.Logger {
	l = l.With().Str("lib", "protoactor").Logger().Level(max(l.GetLevel(), zerolog.WarnLevel))
	return slog.New(libraryLog{zerolog.NewSlogHandler(l), new(logLimiter)})
}

// Handle implements slog.Handler.
func (h libraryLog) Handle(ctx context.Context, r slog.Record) error {
	kind := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "address" {
			kind += " " + a.Value.String()
		}
		return true
	})
	if !h.limiter.allow(kind, time.Now()) {
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

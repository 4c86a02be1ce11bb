package process

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"

	"github.com/bourse-grid/bourse/grid"
)

// VisibleMessage escapes terminal commands in a log message, which may contain words of a
// peer. Other fields are quoted anyway.
func VisibleMessage(event map[string]any) error {
	if words, ok := event[zerolog.MessageFieldName].(string); ok {
		event[zerolog.MessageFieldName] = string(grid.AppendVisible(nil, []byte(words)))
	}
	return nil
}

// NewLog logs readable lines on a terminal, and lines of JSON elsewhere.
func NewLog(w io.Writer, level zerolog.Level) zerolog.Logger {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		w = zerolog.NewConsoleWriter(func(c *zerolog.ConsoleWriter) {
			c.Out, c.TimeFormat, c.FormatPrepare = f, "15:04:05.000", VisibleMessage
		})
	}
	stamp := zerolog.HookFunc(func(e *zerolog.Event, _ zerolog.Level, _ string) {
		e.Str(zerolog.TimestampFieldName, time.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00"))
	})
	return zerolog.New(zerolog.SyncWriter(w)).Level(level).Hook(stamp)
}

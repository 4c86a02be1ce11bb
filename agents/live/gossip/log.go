package gossip

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/bourse-grid/bourse/agents/live/lines"
	"github.com/rs/zerolog"
)

// Cause is the kind of a complaint from gossip: a word for metrics and logs.
type Cause string

// The causes.
const (
	Key     Cause = "key"         // not encrypted with a key of this VO
	Label   Cause = "label"       // of another VO
	Form    Cause = "form"        // bytes that are not such a message
	Crowded Cause = "crowded"     // more than there is room for
	Away    Cause = "unreachable" // a peer that could not be reached
	Broken  Cause = "broken-off"  // a connection that ended halfway, as happens under load
	Other   Cause = "other"
)

// words finds the cause of a complaint by words in memberlist's line. The first match
// counts.
var words = []struct {
	word  string
	cause Cause
}{
	{errBrokeOff.Error(), Broken}, {"i/o timeout from=", Broken}, {"reset by peer from=", Broken}, {"EOF from=", Broken},
	{"label", Label},
	{"ecrypt", Key}, {"ncrypted", Key},
	{"decode", Form}, {"not supported", Form}, {"checksum", Form}, {"too short", Form},
	{"missing message type", Form}, {"Received invalid", Form}, {"truncated", Form}, {"decompress", Form}, {"failed to receive", Form},
	{"queue full", Crowded}, {"Too many", Crowded},
	{"Failed to send", Away}, {"Push/Pull with", Away}, {"fallback TCP ping", Away},
}

func causeOf(line string) Cause {
	for _, w := range words {
		if strings.Contains(line, w.word) {
			return w.cause
		}
	}
	return Other
}

// complaints turns memberlist's lines into records. Anyone who reaches the port can cause a
// complaint with every packet, so all are counted, but only one a minute is logged for each
// cause. What memberlist calls an error is mostly a peer that is gone, so it is logged one
// level lower; a complaint about something from outside is a warning.
type complaints struct {
	log     zerolog.Logger
	limiter lines.Limiter

	mu     sync.Mutex
	counts map[Cause]uint64
}

// Write takes one line.
func (w *complaints) Write(p []byte) (int, error) {
	tag, line, _ := strings.Cut(strings.TrimSpace(string(p)), "] ")
	line = strings.TrimPrefix(line, "memberlist: ")
	switch tag {
	case "[DEBUG":
		w.log.Trace().Msg(line)
	case "[INFO":
		w.log.Debug().Msg(line)
	default:
		w.complaint(tag == "[WARN", line)
	}
	return len(p), nil
}

func (w *complaints) complaint(mild bool, line string) {
	cause := causeOf(line)
	w.mu.Lock()
	w.counts[cause]++
	n := w.counts[cause]
	w.mu.Unlock()
	level := zerolog.WarnLevel
	switch {
	case cause == Broken:
		level = zerolog.DebugLevel
	case cause != Away && cause != Other:
	case mild:
		level = zerolog.DebugLevel
	default:
		level = zerolog.InfoLevel
	}
	if w.log.GetLevel() <= level && w.limiter.Allow(string(cause)+level.String(), time.Now()) {
		w.log.WithLevel(level).Str("cause", string(cause)).Uint64("so_far", n).Msg(line)
	}
}

// all returns the number of complaints by cause.
func (w *complaints) all() map[Cause]uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.counts)
}

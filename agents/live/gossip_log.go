package live

import (
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// GossipCause is the kind of a complaint from gossip: a word for metrics and logs.
type GossipCause string

// The causes.
const (
	GossipKey     GossipCause = "key"         // not encrypted with a key of this VO
	GossipLabel   GossipCause = "label"       // of another VO
	GossipForm    GossipCause = "form"        // bytes that are not such a message
	GossipCrowded GossipCause = "crowded"     // more than there is room for
	GossipAway    GossipCause = "unreachable" // a peer that could not be reached
	GossipBroken  GossipCause = "broken-off"  // a connection that ended halfway, as happens under load
	GossipOther   GossipCause = "other"
)

// gossipWords finds the cause of a complaint by words in memberlist's line. The first match
// counts.
var gossipWords = []struct {
	word  string
	cause GossipCause
}{
	{errBrokeOff.Error(), GossipBroken}, {"i/o timeout from=", GossipBroken}, {"reset by peer from=", GossipBroken}, {"EOF from=", GossipBroken},
	{"label", GossipLabel},
	{"ecrypt", GossipKey}, {"ncrypted", GossipKey},
	{"decode", GossipForm}, {"not supported", GossipForm}, {"checksum", GossipForm}, {"too short", GossipForm},
	{"missing message type", GossipForm}, {"Received invalid", GossipForm}, {"truncated", GossipForm}, {"decompress", GossipForm}, {"failed to receive", GossipForm},
	{"queue full", GossipCrowded}, {"Too many", GossipCrowded},
	{"Failed to send", GossipAway}, {"Push/Pull with", GossipAway}, {"fallback TCP ping", GossipAway},
}

func gossipCause(line string) GossipCause {
	for _, w := range gossipWords {
		if strings.Contains(line, w.word) {
			return w.cause
		}
	}
	return GossipOther
}

// gossipLog turns memberlist's lines into records. Anyone who reaches the port can cause a
// complaint with every packet, so all are counted, but only one a minute is logged for each
// cause. What memberlist calls an error is mostly a peer that is gone, so it is logged one
// level lower; a complaint about something from outside is a warning.
type gossipLog struct {
	log     zerolog.Logger
	limiter logLimiter

	mu     sync.Mutex
	counts map[GossipCause]uint64
}

// Write takes one line.
func (w *gossipLog) Write(p []byte) (int, error) {
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

func (w *gossipLog) complaint(mild bool, line string) {
	cause := gossipCause(line)
	w.mu.Lock()
	w.counts[cause]++
	n := w.counts[cause]
	w.mu.Unlock()
	level := zerolog.WarnLevel
	switch {
	case cause == GossipBroken:
		level = zerolog.DebugLevel
	case cause != GossipAway && cause != GossipOther:
	case mild:
		level = zerolog.DebugLevel
	default:
		level = zerolog.InfoLevel
	}
	if w.log.GetLevel() <= level && w.limiter.allow(string(cause)+level.String(), time.Now()) {
		w.log.WithLevel(level).Str("cause", string(cause)).Uint64("so_far", n).Msg(line)
	}
}

// complaints returns the number of complaints by cause.
func (w *gossipLog) complaints() map[GossipCause]uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.counts)
}

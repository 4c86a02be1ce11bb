package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Kind is the kind of a fault.
type Kind string

// The kinds of faults that every world knows. A world's domain may add others.
const (
	Drop         Kind = "drop"              // messages are lost
	Delay        Kind = "delay"             // messages and all behind them are late
	Duplicate    Kind = "duplicate"         // messages come twice, the second time later
	Reorder      Kind = "reorder"           // messages are overtaken
	Partition    Kind = "partition"         // nothing passes in either direction
	OneWay       Kind = "partition-one-way" // nothing passes from the host
	Flap         Kind = "flap"              // a partition that comes and goes
	CrashSync    Kind = "crash-sync"        // the process dies before or after a sync
	CrashSend    Kind = "crash-send"        // the process dies before, between or after its sends
	Pause        Kind = "pause"             // the process does nothing
	ClockJump    Kind = "clock-jump"        // the wall clock is wrong, and the process may restart by it
	Drift        Kind = "drift"             // the clock runs fast or slow
	TornJournal  Kind = "torn-journal"      // the process dies within a write
	BitFlip      Kind = "bit-flip"          // the process dies, and a bit on the disk is wrong
	DiskFull     Kind = "disk-full"         // the disk is full
	SyncFailed   Kind = "sync-failed"       // a sync fails: the process stops
	OldJournal   Kind = "old-journal"       // the process restarts with the journal of an earlier instant
	Twin         Kind = "twin"              // a second process of the same name
	Mirror       Kind = "mirror"            // the disk is lost, and restored from its mirror; or the mirror refuses
	Batch        Kind = "batch"             // the process syncs once for several steps
	LyingSync    Kind = "lying-sync"        // the disk says that it has synced and has not, and its power fails
	Rot          Kind = "rot"               // a bit of an older segment is wrong, which no restart reads
	networkKinds      = "drop delay duplicate reorder partition partition-one-way flap"
)

// kinds lists the kinds that every world knows, in the order in which they are shown.
var kinds = []Kind{Drop, Delay, Duplicate, Reorder, Partition, OneWay, Flap, CrashSync, CrashSend, Pause,
	ClockJump, Drift, TornJournal, BitFlip, DiskFull, SyncFailed, OldJournal, Twin, Mirror, Batch, LyingSync, Rot}

// Kinds lists the kinds of faults that every world knows.
func Kinds() []Kind { return slices.Clone(kinds) }

// network reports whether the fault strikes messages.
func (k Kind) network() bool { return slices.Contains(strings.Fields(networkKinds), string(k)) }

// Fault is one thing that goes wrong. Each draws from a stream of its own, so leaving one
// out does not change the others.
type Fault struct {
	Kind  Kind
	At    grid.Time     // of the world
	For   grid.Duration // how long it lasts; of a crash: until the process restarts
	Host  agents.ID     // the host that it strikes; of a message: either end of it
	Peer  agents.ID     // the other end; "": any that is not near to the host
	Share int           // of the messages that it strikes, in thousandths; 0: all
	Size  int64         // Delay, Reorder, Duplicate: by at most so many ms; ClockJump: by ms; Drift: millionths; Mirror: its form; Batch: for at most so many ms; else of the domain
	Salt  uint64        // of its stream
}

// String shows the fault as ParseFault reads it.
func (f Fault) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at=%v", f.Kind, f.At)
	for _, w := range []struct {
		key string
		set bool
		v   any
	}{{"for", f.For != 0, f.For}, {"host", f.Host != "", f.Host}, {"peer", f.Peer != "", f.Peer},
		{"share", f.Share != 0, f.Share}, {"size", f.Size != 0, f.Size}, {"salt", f.Salt != 0, f.Salt}} {
		if w.set {
			fmt.Fprintf(&b, " %s=%v", w.key, w.v)
		}
	}
	return b.String()
}

// ParseFault reads a fault: its kind, then key=value, with times in seconds. An error names
// the word that is wrong.
func ParseFault(line string) (Fault, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Fault{}, fmt.Errorf("a fault begins with its kind, such as %s", Drop)
	}
	f := Fault{Kind: Kind(words[0])}
	for _, word := range words[1:] {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return f, fmt.Errorf("fault %s: %q is not key=value", f.Kind, word)
		}
		if err := f.set(key, value); err != nil {
			return f, fmt.Errorf("fault %s: %s: %w", f.Kind, key, err)
		}
	}
	return f, nil
}

func (f *Fault) set(key, value string) error {
	var err error
	switch key {
	case "at":
		f.At, err = grid.ParseTime(value)
	case "for":
		f.For, err = grid.ParseDuration(value)
	case "host":
		f.Host = agents.ID(value)
	case "peer":
		f.Peer = agents.ID(value)
	case "share":
		_, err = fmt.Sscanf(value, "%d", &f.Share)
	case "size":
		_, err = fmt.Sscanf(value, "%d", &f.Size)
	case "salt":
		_, err = fmt.Sscanf(value, "%d", &f.Salt)
	default:
		return fmt.Errorf("unknown; the keys are at, for, host, peer, share, size, salt")
	}
	if err == nil && (f.For < 0 || f.Share < 0 || f.Share > 1000) {
		return fmt.Errorf("%q is out of range", value)
	}
	return err
}

// whom shows what the fault strikes.
func (f *Fault) whom() string {
	switch {
	case f.Host == "":
		return "everybody"
	case f.Peer == "":
		return string(f.Host)
	}
	return string(f.Host + " and " + f.Peer)
}

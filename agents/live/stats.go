package live

import (
	"sync/atomic"
	"time"
)

// Stats are the counters of a host since it began. Counts only grow.
type Stats struct {
	Agents  []AgentStats  // in order of name
	Drivers []DriverStats // in order of name, and by kind as in the table of messages
	// Messages from the network that were not handed to an agent.
	Unknown  uint64 // of a kind or version unknown to this build
	Barred   uint64 // of a kind that the addressee does not take from the network
	Nobody   uint64 // for an agent that is not or no longer here, or an Ask that has ended
	Full     uint64 // the agent's mailbox was full
	Waiting  uint64 // the host had not begun
	Stopping uint64 // the host was stopping
	// Messages of agents that were not sent.
	Unsendable uint64 // it could not be encoded, or there is no network
	In, Out    uint64 // envelopes from and to the network
	Asks       int    // waiting now
	// Ahead is how far the wall clock was ahead of the host's, which follows it slowly;
	// negative if behind.
	Ahead time.Duration
}

// AgentStats are the counters of one agent since its life began.
type AgentStats struct {
	ID      string
	Steps   uint64
	Facts   uint64
	Syncs   uint64
	Images  uint64 // snapshots of its state
	Sends   uint64
	Dropped uint64 // messages refused because the mailbox was full or the life over
	Refused uint64 // messages refused because the agent has panicked on such before
	Missed  uint64 // watches that ended because the watcher fell behind
	Waiting int    // messages in the mailbox now
	Alarms  int    // alarms set now
	Failed  bool   // its life ended before the host
	Step    Histogram
	Sync    Histogram
	Batch   Histogram // steps made durable by one sync
}

// DriverStats are the counters of a driver's messages of one kind.
type DriverStats struct {
	ID      string
	Kind    string // of message
	Done    uint64 // calls that have returned
	Failed  uint64 // of them by a panic
	Dropped uint64 // messages dropped because too many waited
	Waiting int    // messages waiting now
	Took    Histogram
}

// Histogram counts how often a measured value was at most each bound. Times are in seconds.
type Histogram struct {
	Bounds []float64 // ascending
	Counts []uint64  // one more than bounds: the last counts all above
	Sum    float64
	Count  uint64
}

// times and sizes are bounds of histograms: powers of four from a microsecond to four
// seconds, and powers of two from 1 to 1024.
var (
	times = []float64{1e-6, 4e-6, 16e-6, 64e-6, 256e-6, 1024e-6, 4096e-6, 16384e-6, 65536e-6, 262144e-6, 1048576e-6, 4194304e-6}
	sizes = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}
)

// tally collects a histogram. One goroutine adds, others read.
type tally struct {
	counts [13]atomic.Uint64
	sum    atomic.Int64 // of nanoseconds, or of units
}

func (t *tally) took(d time.Duration) { t.add(times, d.Seconds(), int64(d)) }
func (t *tally) size(n int)           { t.add(sizes, float64(n), int64(n)) }

func (t *tally) add(bounds []float64, x float64, exact int64) {
	i := 0
	for i < len(bounds) && x > bounds[i] {
		i++
	}
	t.counts[i].Add(1)
	t.sum.Add(exact)
}

// histogram returns the counts; unit is how much of the sum is 1.
func (t *tally) histogram(bounds []float64, unit float64) Histogram {
	h := Histogram{Bounds: bounds, Counts: make([]uint64, len(bounds)+1), Sum: float64(t.sum.Load()) / unit}
	for i := range h.Counts {
		h.Counts[i] = t.counts[i].Load()
		h.Count += h.Counts[i]
	}
	return h
}

// counters are those of one life. The agent's actor adds, others read.
type counters struct {
	steps, facts, syncs, images, sends, dropped, refused, missed atomic.Uint64
	alarms                                                       atomic.Int64
	step, sync, batch                                            tally
}

// stats reads the counters of a life.
func (l *life) stats() AgentStats {
	c := &l.count
	return AgentStats{
		ID: string(l.id), Steps: c.steps.Load(), Facts: c.facts.Load(), Syncs: c.syncs.Load(), Images: c.images.Load(),
		Sends: c.sends.Load(), Dropped: c.dropped.Load(), Refused: c.refused.Load(), Missed: c.missed.Load(),
		Waiting: int(l.waiting.Load()), Alarms: int(c.alarms.Load()), Failed: l.failed.Load(),
		Step: c.step.histogram(times, 1e9), Sync: c.sync.histogram(times, 1e9), Batch: c.batch.histogram(sizes, 1),
	}
}

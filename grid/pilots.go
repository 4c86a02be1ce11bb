package grid

import "slices"

// PilotState is the state of a pilot, a job that holds nodes and idles until they are needed.
type PilotState string

// The states of a pilot.
const (
	PilotWaits   PilotState = "waits"   // or its submission is under way
	PilotRuns    PilotState = "runs"    // it idles, or has become work
	PilotOver    PilotState = "over"    // without a begin, it never ran
	PilotDenied  PilotState = "denied"  // by its manager; it never ran
	PilotUnknown PilotState = "unknown" // it is over; whether and how long it ran cannot be known
)

// Over reports whether nothing of the pilot is left.
func (s PilotState) Over() bool { return s == PilotOver || s == PilotDenied || s == PilotUnknown }

// Gather is how the parts of a job are gathered at clusters without reservations: by pilots
// that idle until all run. Its parts are those of the job, each for one site. A job for a queue
// has no parts: it goes as a whole into the queue in which it will probably begin first.
type Gather struct {
	Waste    int64    `json:"waste"`    // how much of the work may be idled, in millionths
	Deadline Duration `json:"deadline"` // from when the job is ready
	Odds     int      `json:"odds"`     // how sure a promise must be, in thousandths
	Queue    bool     `json:"queue,omitempty"`
}

// LeastQueued is the shortest job that may go into a queue, and QueueDeadline how long it may
// wait there.
const (
	LeastQueued   = 3 * Minute
	QueueDeadline = 30 * Day
	queueIdle     = 10 * Minute
)

// GatherQueued is how a job of that length is gathered that goes into a queue. Its only pilot is
// the job: what it may idle, 10 min if the job is as long, bridges the time until it is seen to run.
func GatherQueued(length Duration) *Gather {
	waste := (int64(queueIdle)*WasteUnit + int64(length) - 1) / max(int64(length), 1)
	return &Gather{Waste: min(max(waste, LeastWaste), MostWaste), Deadline: QueueDeadline, Queue: true}
}

// NodesAlone says why a part of a job that is gathered has none of the keys of AsksMore.
const NodesAlone = "stands beside gather, whose sites are asked for nodes alone; leave it out, and name sites that suit"

// AsksMore is the key, as in a batch file, by which a part asks more of its nodes than that there
// are so many; "" if none does. A pilot cannot ask for it.
func (p *JobPart) AsksMore() string {
	switch {
	case p.MinPerformance != Unit && p.MinPerformance != 0:
		return "min_performance"
	case !p.Require.None():
		return "require"
	case p.Portion.GPUs > 0:
		return "gpus_per_node"
	case p.Portion.Cores > 0:
		return "cores_per_node"
	case !p.Portion.Whole():
		return "memory_per_node"
	}
	return ""
}

// Bounds of a Gather.
const (
	WasteUnit             = 1_000_000
	LeastWaste, MostWaste = WasteUnit / 100, WasteUnit
)

// Gathering is how far a job is gathered. Its times are whole seconds from its Zero.
type Gathering struct {
	ID      TxID             `json:"id"` // a pilot is a leg of it: part + MaxParts x number
	Zero    Time             `json:"zero"`
	Parts   []GatheringPart  `json:"parts"`
	Pilots  []GatheringPilot `json:"pilots,omitempty"` // whose ends were not seen
	Over    int64            `json:"over,omitempty"`   // node-seconds idled by those whose ends were
	Try     *GatheringTry    `json:"try,omitempty"`    // the open one
	Tries   int              `json:"tries,omitempty"`  // that are over
	Commits bool             `json:"commits,omitempty"`
	Start   int64            `json:"start,omitempty"`
	Why     string           `json:"why,omitempty"` // it was abandoned
}

// GatheringPart is a part of it, as its site last said.
type GatheringPart struct {
	Site    string `json:"site"`
	Group   string `json:"group,omitempty"`
	Cluster int    `json:"cluster,omitempty"` // nodes of the group
	Price   Price  `json:"price,omitempty"`
	Pilots  int    `json:"pilots,omitempty"`  // submitted so far
	Lost    int64  `json:"lost,omitempty"`    // the round that saw its last pilot end by itself; -1: none
	Denials int    `json:"denials,omitempty"` // in a row
	Words   string `json:"words,omitempty"`   // of the last one
	// Likely is when its site forecast it to begin, of a job for a queue.
	Likely BestEffort `json:"likely,omitzero"`
}

// GatheringPilot is a pilot whose end was not seen.
type GatheringPilot struct {
	Part      int   `json:"part"`
	Number    int   `json:"number"` // among those of its part, from 0
	Limit     int64 `json:"limit"`
	Submitted int64 `json:"submitted"`
	Granted   int64 `json:"granted"`          // from its begin
	Begin     int64 `json:"begin"`            // by its manager; -1: not seen
	Given     bool  `json:"given,omitempty"`  // it is told to leave
	Placed    bool  `json:"placed,omitempty"` // it keeps a place in line
	Worked    int64 `json:"worked,omitempty"` // when the window began on its nodes: it idles no more; 0: none has
}

// GatheringTry is a time in which pilots run.
type GatheringTry struct {
	Share int64 `json:"share"`
	Leads bool  `json:"leads,omitempty"`
	Base  int64 `json:"base"`
}

// Words say how far it is: "gathering, try 2: north idles, south waits". Of a job for a queue:
// "queued at north, likely to begin 40m after it came".
func (g *Gathering) Words() Phrase {
	if len(g.Parts) == 1 {
		return g.queueWords()
	}
	s := Say("gathering, try %d: ", g.Tries+1)
	none := true
	for i := range g.Parts {
		at := slices.IndexFunc(g.Pilots, func(p GatheringPilot) bool { return p.Part == i && !p.Given })
		if at < 0 {
			continue
		}
		if !none {
			s += ", "
		}
		none = false
		verb := Phrase("waits")
		if g.Pilots[at].Begin >= 0 {
			verb = "idles"
		}
		s += Say("%s %s", g.Parts[i].Site, verb)
	}
	if none {
		s += "no pilots yet"
	}
	return s
}

func (g *Gathering) queueWords() Phrase {
	p := &g.Parts[0]
	s := Say("queued at %s", p.Site)
	if slices.ContainsFunc(g.Pilots, func(x GatheringPilot) bool { return !x.Given && x.Begin >= 0 }) {
		s = Say("its turn has come at %s", p.Site)
	}
	if !p.Likely.Known() {
		return s
	}
	after := func(t Time) string {
		if t == Never {
			return "never"
		}
		return max(t.Sub(g.Zero), 0).Words()
	}
	if p.Likely.AtOnce {
		return s + ", to begin at once by its forecast"
	}
	return s + Say(", likely to begin %s after it came (%d %%: %s to %s)", after(p.Likely.Median), p.Likely.Level, after(p.Likely.Lower), after(p.Likely.Upper))
}

// Refusals say what managers have refused, in their own words, until they take a pilot:
// "; south has not kept 2 pilots: Invalid account".
func (g *Gathering) Refusals() (s Phrase) {
	for i := range g.Parts {
		if p := &g.Parts[i]; p.Denials > 0 {
			s += Say("; %s has not kept %s: %s", p.Site, Count(p.Denials, "pilot"), p.Words)
		}
	}
	return s
}

// Same reports whether two are the same.
func (g *Gathering) Same(o *Gathering) bool {
	return g.ID == o.ID && g.Zero == o.Zero && g.Over == o.Over && g.Tries == o.Tries && g.Commits == o.Commits && g.Start == o.Start && g.Why == o.Why &&
		(g.Try == nil) == (o.Try == nil) && (g.Try == nil || *g.Try == *o.Try) &&
		slices.Equal(g.Parts, o.Parts) && slices.Equal(g.Pilots, o.Pilots)
}

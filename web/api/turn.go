package api

// Turn is one event in the life of a job, with the state of the job just after it.
type Turn struct {
	At     Instant  `json:"at"`
	Turn   string   `json:"turn" enum:"submitted,postponed,abandoned,gathering,trying,try-failed,placed,confirmed,started,leg-ended,done,failed,leg-lost,repaired,moved,broken,withdrawn,shifted,offered,offer-over,reversed,elements-dropped" doc:"docs/EVENTS.md explains each"`
	Reason *Reason  `json:"reason,omitempty"`
	Ended  string   `json:"ended,omitempty" enum:"settled,released,lost" doc:"for leg-ended and leg-lost: how it ended"`
	Refund *Credits `json:"refund,omitempty" doc:"for leg-ended and leg-lost: refund and penalty of its site"`
	Job    Job      `json:"job"`
}

// Alive is the event that shows that a stream is alive although nothing happens.
type Alive struct {
	At Instant `json:"at"`
}

// Missed says that events were not told, and why: those after the id with which a stream was
// opened, or some that came too fast. The reader should read the state; events go on.
type Missed struct {
	Why string `json:"why"`
}

// Lost is the last event of a stream whose reader was too slow. The reader should open a
// new stream with the id of the last event that it has read.
type Lost struct {
	Why string `json:"why"`
}

// Denied is the last event of a stream whose caller may no longer listen: the
// certificate has expired or was revoked.
type Denied struct {
	Why string `json:"why"`
}

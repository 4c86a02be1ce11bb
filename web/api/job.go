package api

import (
	"github.com/bourse-grid/bourse/grid"
)

// Job is a job as its broker knows it.
type Job struct {
	ID        string  `json:"id" doc:"unique at the broker" example:"wave-k3f9m2q7"`
	Name      string  `json:"name" doc:"the name that its user gave it" example:"wave"`
	User      string  `json:"user,omitempty"`
	Batch     string  `json:"batch,omitempty"`
	State     string  `json:"state" enum:"waiting,gathering,trying,placed,running,done,failed,abandoned,withdrawn" doc:"waiting: for a cycle; gathering: its pilots are brought together at sites without reservations; trying: its transaction is undecided; placed: its window is committed; running: a leg of its window has begun; done: all its legs have ended, and no work failed; failed: all its legs have ended, and the work of one exited with a status other than 0, was killed at its window's end, or was lost; abandoned: it can never be placed, or what it comes after cannot come true any more; withdrawn: its user cancelled it"`
	Submitted Instant `json:"submitted,omitzero" doc:"absent: the broker lost its memory of the job and knows only the legs, from the sites"`
	Since     Instant `json:"since,omitzero" doc:"when it entered its state"`

	Nodes          int         `json:"nodes" doc:"nodes that it asks for; for a moldable job, those of its window or, without one, of the size with the least nodes x length"`
	Length         Seconds     `json:"length" doc:"on so many nodes, at performance 1"`
	Sizes          []Size      `json:"sizes,omitempty" doc:"the ways to run a moldable job; nodes and length are one of them"`
	MinPerformance Performance `json:"minPerformance,omitzero"`
	MaxPrice       Price       `json:"maxPrice"`
	Budget         Credits     `json:"budget"`
	Ready          Instant     `json:"ready,omitzero"`
	Deadline       Instant     `json:"deadline,omitzero" doc:"absent: none"`
	Priority       int         `json:"priority,omitempty"`
	Minimize       string      `json:"minimize,omitempty" doc:"its owner's goal; absent: the broker's"`
	Urgency        string      `json:"urgency,omitempty" doc:"what it is worth to its owner to end an hour earlier, in credits or as a share of the budget; absent: the broker's default"`
	OneSite        bool        `json:"oneSite,omitempty"`
	PortionRequest
	Parts       []PartRequest `json:"parts,omitempty" doc:"of a job of unlike parts: what each asks for, without what it runs"`
	Together    bool          `json:"together,omitempty" doc:"one site carries all its parts"`
	Apart       bool          `json:"apart,omitempty" doc:"no site carries two of its parts"`
	After       []string      `json:"after,omitempty" doc:"identities of the jobs that must succeed before it starts"`
	AfterAny    []string      `json:"afterAny,omitempty" doc:"identities of the jobs that must have ended, however"`
	AfterFailed []string      `json:"afterFailed,omitempty" doc:"identities of the jobs whose work must have failed"`
	AfterEach   []string      `json:"afterEach,omitempty" doc:"of an array: identities of the arrays whose element of the same index must succeed before each of its own"`
	Gap         *Seconds      `json:"gap,omitempty" doc:"time between the end of the last of them and its start"`

	Array   *Array   `json:"array,omitempty" doc:"of an array: its elements, which have no rows of their own in a list. nodes, budget and the other fields are those of each element"`
	Element *Element `json:"element,omitempty" doc:"of an element: its array"`

	Reason *Reason  `json:"reason,omitempty" doc:"why it is not placed, or why it failed"`
	Sites  []string `json:"sites,omitempty" doc:"of its window, in order; of an array, those of its elements' windows, by name"`
	Start  Instant  `json:"start,omitzero" doc:"of its window; of an array, of the first of its elements' windows"`
	End    Instant  `json:"end,omitzero" doc:"of its window, the actual end once it is done; of an array, of the last of its elements' windows so far"`
	Cost   *Credits `json:"cost,omitempty" doc:"price of its window, as held by the sites, before refunds; of an array, of all its elements' windows so far"`
	Paid   *Credits `json:"paid,omitempty" doc:"only for a single job: what was paid for all its windows so far, as in the statement; absent: nothing"`
	Back   *Credits `json:"back,omitempty" doc:"only for a single job: refunds of that, for windows cancelled, replaced or lost, and penalties"`
	Legs   []Leg    `json:"legs,omitempty"`

	Again *JobRequest `json:"again,omitempty" doc:"only for a single job, and only for its own user: what would submit it again. Absent for a job of parts"`
}

// Leg is one site's part of a window.
type Leg struct {
	Site  string  `json:"site"`
	Group string  `json:"group"`
	Nodes int     `json:"nodes"`
	Start Instant `json:"start"`
	End   Instant `json:"end"`
	State string  `json:"state" doc:"asked, held, prepared, confirmed, running, settled, or one of the exits"`
	Cost  Credits `json:"cost"`
	Part  string  `json:"part,omitempty" doc:"of a job of parts: the part that the leg carries"`

	Slices int `json:"slices,omitempty" doc:"what it takes of each node, if not all of it: so many of the slices into which the node is divided"`
	Of     int `json:"of,omitempty" doc:"how many those are"`

	Opens   Instant `json:"opens,omitzero" doc:"for a flexible leg: earliest start"`
	Closes  Instant `json:"closes,omitzero" doc:"for a flexible leg: latest end; once it is fixed, opens and closes are its start and end"`
	Version uint32  `json:"version,omitempty" doc:"1, plus one for each change by its user; absent until it is held"`
	Shifts  uint32  `json:"shifts,omitempty" doc:"how often its site has moved or fixed it within its window"`

	Exit   *int    `json:"exit,omitempty" doc:"exit status of its work once that has ended; for a signal, 128 plus its number. Absent: unknown, or the site started no work"`
	Begin  Instant `json:"begin,omitzero" doc:"when its work really began, once it has ended"`
	Signal int     `json:"signal,omitempty" doc:"the signal that ended its work"`
	Ended  *Reason `json:"ended,omitempty" doc:"why its work ended, if not by itself"`
	Output string  `json:"output,omitempty" doc:"the file on the cluster with the output of its work"`
	Kept   Instant `json:"kept,omitzero" doc:"until then its output and the files of its folder can be read, once its work has ended"`

	Bought grid.Duration `json:"-"` // what of each node the cost pays for, however early its work ended
}

// JobList is a page of jobs, the newest first.
type JobList struct {
	Jobs []Job  `json:"jobs"`
	Next uint64 `json:"next,omitempty" doc:"before= for the next page; absent: this is the last"`
}

// Cancelled is the answer to a cancellation.
type Cancelled struct {
	ID     string   `json:"id"`
	Done   bool     `json:"done" doc:"every site has released its leg; otherwise that is still in progress"`
	Refund *Credits `json:"refund,omitempty" doc:"once it is done: what was refunded since the job was cancelled"`
	Paid   *Credits `json:"paid,omitempty" doc:"once it is done: as in the job, what was paid for all its windows"`
	Back   *Credits `json:"back,omitempty" doc:"once it is done: all refunds of that, including this one"`
	Words  string   `json:"words,omitempty" doc:"the same in words"`
}

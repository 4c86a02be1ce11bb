package gather

// Deed is what is to be done.
type Deed uint8

// All deeds. Their parts, pilots and values are in the table.
const (
	Submit  Deed = iota // a pilot; value: its limit in seconds
	Grant               // value: seconds from its begin that it may idle, never less than before
	Release             // a pilot that runs; value: node-seconds that it has idled
	Cancel              // a pilot that waits
	Commit              // Hold, Prepare and COMMIT of all; value: the start
	GiveUp
	Place // a pilot with a far begin; or that begin again for one that has not begun; value: its limit
	Begin // a pilot in its place may begin now
)

var deeds = [...]struct {
	name   string
	valued bool
}{
	Submit:  {"submit", true},
	Grant:   {"grant", true},
	Release: {"release", true},
	Cancel:  {"cancel", false},
	Commit:  {"commit", true},
	GiveUp:  {"give-up", false},
	Place:   {"place", true},
	Begin:   {"begin", false},
}

func (d Deed) String() string { return deeds[d].name }

// Valued reports whether an act of this kind has a value.
func (d Deed) Valued() bool { return deeds[d].valued }

// Why says why something is given up.
type Why string

// All reasons.
const (
	ByDeadline  Why = "deadline"
	ByWaste     Why = "waste"     // the allowance is spent
	ByDenials   Why = "denied"    // a manager refuses pilots, or they end as soon as they begin
	ByShare     Why = "share"     // more idling would not fit the try's share
	NotBegun    Why = "not begun" // it does not start, though it was thought that it would
	ByWithdrawn Why = "withdrawn" // the job was
)

// Act is something to be done at a round, in order.
type Act struct {
	At    int64
	Do    Deed
	Part  int // None if it is about all
	Pilot int // which of the part's pilots, from 0
	Value int64
	Why   Why
	Words string // of a manager, if it was given up ByDenials
}

// None is the part of an act about all parts.
const None = -1

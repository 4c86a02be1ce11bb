package supervisor

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Time is milliseconds: since 1970, or of a while. In files it is seconds.
type Time int64

// MarshalJSON writes seconds.
func (t Time) MarshalJSON() ([]byte, error) {
	sign, n := "", int64(t)
	if n < 0 {
		sign, n = "-", -n
	}
	if n%1000 == 0 {
		return fmt.Appendf(nil, "%s%d", sign, n/1000), nil
	}
	return fmt.Appendf(nil, "%s%d.%03d", sign, n/1000, n%1000), nil
}

// UnmarshalJSON reads seconds, with decimals or without; null, which stands for a time that
// never comes, is read as the last one.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = math.MaxInt64
		return nil
	}
	whole, part, _ := strings.Cut(string(b), ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds > math.MaxInt64/2000 || seconds < math.MinInt64/2000 || len(part) > 3 {
		return fmt.Errorf("%q is no time in seconds with at most three decimals", b)
	}
	thousandths, err := strconv.ParseUint((part + "000")[:3], 10, 16)
	if err != nil {
		return fmt.Errorf("%q is no time in seconds: %w", b, err)
	}
	*t = Time(seconds * 1000)
	if strings.HasPrefix(whole, "-") {
		*t -= Time(thousandths)
	} else {
		*t += Time(thousandths)
	}
	return nil
}

// Order is what a supervisor must know. It is a part of the file order.json.
type Order struct {
	End     Time    `json:"end"`   // of the window
	Grace   Time    `json:"grace"` // between telling the work to end and killing it
	Account Account `json:"account"`
	Run     *Run    `json:"run,omitempty"`
	Cgroup  string  `json:"cgroup,omitempty"` // the folder of the cgroup that is made for the work; "": none is
}

// Run is the program to run.
type Run struct {
	Args   []string `json:"args,omitempty"` // its name and arguments; nil: the script
	Env    []string `json:"env,omitempty"`  // all of its environment
	Dir    string   `json:"dir,omitempty"`
	Output string   `json:"output,omitempty"` // the file that the job names; "": none
	Error  string   `json:"error,omitempty"`  // likewise for its standard error; "": that is part of its output
}

// Account is a local account as which work runs.
type Account struct {
	Name   string   `json:"name"`
	UID    uint32   `json:"uid"`
	GID    uint32   `json:"gid"`
	Groups []uint32 `json:"groups,omitempty"`
	Home   string   `json:"home"`
	Switch bool     `json:"switch,omitempty"` // it is not the account of the site itself
}

// Claim says who runs the work. It is made once.
type Claim struct {
	At      Time    `json:"at"`
	Process Process `json:"process"` // zero: nobody ever will
}

// Process names a process of this machine so that it cannot be confused with a later one of
// the same number: its number, and when it was started, in ticks since the machine was.
type Process struct {
	PID     int    `json:"pid"`
	Started uint64 `json:"started"`
	Boot    string `json:"boot"`              // the start of the machine
	Several bool   `json:"several,omitempty"` // it looks after several pieces of work of one folder
}

// Result is what came of work that was begun, or could not be. It is written once nothing of
// the work is left.
type Result struct {
	Begin   Time   `json:"begin"`
	End     Time   `json:"end"`
	Exit    int    `json:"exit"`
	Signal  int    `json:"signal,omitempty"`
	Why     string `json:"why,omitempty"`     // why it was ended; "": it ended by itself
	Failed  Reason `json:"failed,omitzero"`   // why it did not begin
	Lost    string `json:"lost,omitempty"`    // its supervisor is gone, and its end is not known
	Kept    int64  `json:"kept"`              // bytes of its output
	Dropped int64  `json:"dropped,omitempty"` // bytes beyond MaxOutput, or that could not be written
}

// Reason is a code and words, as in the rest of the project.
type Reason struct {
	Code   string `json:"code"`
	Detail string `json:"detail,omitempty"`
}

// Left says that work has not ended although it is killed again and again.
type Left struct {
	Since     Time `json:"since"`     // of the first kill
	Processes int  `json:"processes"` // that were there at the last one; 0: none could be seen
}

// Word is what a supervisor says once it has begun the work, or has failed to.
type Word struct {
	Failed Reason `json:"failed,omitzero"`
	Alone  bool   `json:"alone,omitempty"` // the work needs a supervisor of its own, and has not begun
}

// Words for why work has not ended by itself.
const (
	WhyWindow = "its window was over"
	WhyTold   = "it was told to end"
)

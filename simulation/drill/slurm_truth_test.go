//go:build linux

package drill

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The account of a drill of real clusters by the managers and the work themselves. Nothing here
// comes from Bourse: marks are lines that work has written, jobs stand in the list that each
// controller keeps of those that are over, sights are what squeue and scontrol have shown every few
// seconds.

// truth is all of it.
type truth struct {
	marks   []mark
	over    []overJob
	sights  map[string]*sight // by name, of all that bears a name of ours
	left    []string          // what bears one at the end
	foreign []foreignJob
	strange []string // foreign reservations that are not as they were made
	upset   []upset
}

// mark is a line that work has written when it began, ended, or was told to end.
type mark struct {
	what, job    string
	leg          int
	site         string
	start        int64 // of the window that it was told of
	name, number string
	node         string
	account      string
	at           time.Time
}

// readMarks reads lines of: what job leg site start name number node account at.
func readMarks(text string) ([]mark, error) {
	var out []mark
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 10 {
			return nil, fmt.Errorf("a mark of %d words: %q", len(f), line)
		}
		leg, err1 := strconv.Atoi(f[2])
		start, err2 := strconv.ParseInt(f[4], 10, 64)
		at, err3 := strconv.ParseFloat(f[9], 64)
		if err1 != nil || err2 != nil || err3 != nil {
			return nil, fmt.Errorf("mark %q: %v, %v, %v", line, err1, err2, err3)
		}
		out = append(out, mark{f[0], f[1], leg, f[3], start, f[5], f[6], f[7], f[8], time.UnixMilli(int64(at * 1000))})
	}
	return out, nil
}

// markScript writes marks into a file, whatever account runs it.
const markScript = `#!/bin/sh
mark() { echo "$1 $BOURSE_JOB $BOURSE_LEG $BOURSE_SITE $BOURSE_START $SLURM_JOB_NAME $SLURM_JOB_ID $SLURMD_NODENAME $(id -un) $(date +%%s.%%3N)" >>%[1]s; }
trap 'mark told; exit 143' TERM
mark begin
sleep "$1" & wait $!
mark end
`

// overJob is a line of a controller's list of jobs that are over. After a crash one may
// stand there twice.
type overJob struct {
	cluster, number, name, user, state string
	nodes, submit, exit                string
	denied                             bool      // by its node: see readDenied
	start                              time.Time // to the second; zero: it has not
}

// ran reports whether it was ever given nodes.
func (j overJob) ran() bool {
	return j.nodes != "" && j.nodes != "(null)" && !strings.HasPrefix(j.exit, "125:")
}

// slurmTime is how Slurm writes times, in UTC here.
const slurmTime = "2006-01-02T15:04:05"

func readOver(cluster, file string, denied map[string]bool) ([]overJob, error) {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil, nil
	}
	var out []overJob
	had := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		f := map[string]string{}
		for word := range strings.FieldsSeq(line) {
			if k, v, ok := strings.Cut(word, "="); ok {
				f[k] = v
			}
		}
		user, _, _ := strings.Cut(f["UserId"], "(")
		j := overJob{cluster, f["JobId"], f["Name"], user, f["JobState"], f["NodeList"], f["SubmitTime"], f["ExitCode"], denied[f["JobId"]+" "+f["EndTime"]], time.Time{}}
		if at, err := time.Parse(slurmTime, f["StartTime"]); err == nil {
			j.start = at
		}
		if key := j.number + j.submit; !had[key] {
			had[key] = true
			out = append(out, j)
		}
	}
	return out, err
}

// deniedLine is what a controller logs when a node would not take a job and the job may
// not go back to its queue; the node's daemon has it ended then.
var deniedLine = regexp.MustCompile(`^\[([-0-9T:]+)\.\d+\] _slurm_rpc_requeue: Requeue of JobId=(\d+) returned an error`)

// readDenied reads a controller's log for the jobs that Slurm itself has ended before
// they began: a controller that was killed gives a lost job's number to another job, and
// the node that still has the first one calls the second a duplicate. They are named by
// their number and the second in which they ended, or the one after.
func readDenied(log string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(log) {
		f := deniedLine.FindStringSubmatch(line)
		if f == nil {
			continue
		}
		at, err := time.Parse(slurmTime, f[1])
		for i := 0; err == nil && i < 2; i++ {
			out[f[2]+" "+at.Add(time.Duration(i)*time.Second).Format(slurmTime)] = true
		}
	}
	return out
}

// sight is when a manager has shown that something of a name of ours is there.
type sight struct {
	cluster     string
	first, last time.Time
}

// foreignJob is a job of somebody else.
type foreignJob struct {
	cluster, number, name string
	submitted             time.Time
	begun, ended          bool // it has said so itself
}

// upset is a time in which a cluster was not whole: its controller or a node's daemon
// was down, a node drained, or the administrator at work.
type upset struct {
	cluster  string
	from, to time.Time
	crash    bool // of its controller, which forgets the last seconds
}

// recovers is how long a cluster counts as upset after all is as it was.
const recovers = 10 * time.Second

// upsetIn reports whether a cluster was so at some time of an interval.
func (t *truth) upsetIn(cluster string, from, to time.Time) bool {
	for _, u := range t.upset {
		if u.cluster == cluster && u.from.Before(to) && u.to.After(from) {
			return true
		}
	}
	return false
}

// touchedIn reports whether something was done to a cluster, or not yet undone, at some
// time of an interval.
func (t *truth) touchedIn(cluster string, from, to time.Time) bool {
	return t.upsetIn(cluster, from.Add(recovers), to)
}

// crashedAfter reports whether a cluster's controller was killed so soon after an
// instant that it may have forgotten what it acknowledged then.
func (t *truth) crashedAfter(cluster string, at time.Time) bool {
	for _, u := range t.upset {
		if d := u.from.Sub(at); u.crash && u.cluster == cluster && d > -time.Second && d < 15*time.Second {
			return true
		}
	}
	return false
}

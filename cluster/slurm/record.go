package slurm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// record is a line of scontrol: words of the form Key=value. Of two with the same key the
// first counts, because free texts, which could look like keys, come last.
type record map[string]string

// parseRecord reads a line.
func parseRecord(line string) record {
	r := record{}
	for word := range strings.FieldsSeq(line) {
		key, value, ok := strings.Cut(word, "=")
		if _, twice := r[key]; ok && !twice {
			r[key] = value
		}
	}
	return r
}

// time is the instant under a key; 0 if there is none.
func (r record) time(key string) (grid.Time, error) {
	switch s := r[key]; s {
	case "", "Unknown", "N/A", "None", "(null)", "NONE":
		return 0, nil
	default:
		seconds, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s %q is not in seconds; SLURM_TIME_FORMAT must be %%s", key, s)
		}
		return instant(seconds), nil
	}
}

// jobRecord is what scontrol show job says of a job, as long as the controller remembers
// it.
type jobRecord struct {
	number, name, user  string
	state               grid.ManagedState
	why                 string
	submit, start, end  grid.Time
	exit, signal        int
	reservation, output string
}

// readJob reads what scontrol show job -o NUMBER prints.
func readJob(text []byte) (jobRecord, error) {
	line := string(text)
	r := parseRecord(line)
	j := jobRecord{number: r["JobId"], reservation: none(r["Reservation"]), output: none(r["StdOut"])}
	if j.number == "" {
		return j, fmt.Errorf("scontrol show job: no JobId in %.80q", line)
	}
	j.name = between(line, "JobName=", " UserId=")
	j.user, _, _ = strings.Cut(r["UserId"], "(")
	j.state, j.why = stateOf(listed{r["JobState"]}, r["Reason"], r["Priority"] == "0")
	var err error
	for _, f := range []struct {
		key  string
		into *grid.Time
	}{{"SubmitTime", &j.submit}, {"StartTime", &j.start}, {"EndTime", &j.end}} {
		if *f.into, err = r.time(f.key); err != nil {
			return j, fmt.Errorf("job %s: %w", j.number, err)
		}
	}
	exit, signal, _ := strings.Cut(r["ExitCode"], ":")
	j.exit, _ = strconv.Atoi(exit)
	j.signal, _ = strconv.Atoi(signal)
	return j, nil
}

// between is the text between two marks, "" if they are missing.
func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// none turns Slurm's words for none into "".
func none(s string) string {
	if s == "(null)" || s == "N/A" {
		return ""
	}
	return s
}

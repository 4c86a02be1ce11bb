package workload

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// times reads when a job was submitted, began and ended, how long it ran and its time limit.
// Times without a zone are of the table's. Where its clock was put back an hour a time can
// be either of two: the order of a job's times, and how long it ran, then say which.
func (t *table) times(r *Record) string {
	var at [4][2]int64
	var n [4]int
	for i, of := range [...]role{roleSubmit, roleEligible, roleStart, roleEnd} {
		c, s := t.cell(of)
		if c == "" {
			continue
		}
		if at[i], n[i] = t.instant(c, s.unit); n[i] == 0 {
			return fmt.Sprintf("%s %.30q is no time; must be as 2026-01-31T12:00:00, with or without a zone such as Z or +01:00, or seconds since 1970", t.names[s.place], c)
		}
	}
	unset(at, &n)
	run, why := t.length(roleRun)
	if why != "" {
		return why
	}
	which, undecided := decide(at, n, run)
	t.tally.undecided += undecided
	begun := [4]int64{-1, -1, -1, -1}
	for i := range begun {
		if n[i] > 0 {
			begun[i] = at[i][which[i]]
		}
	}
	return t.settle(r, begun, run)
}

// unset takes times of around 1970 as not set, for which Slurm writes 0, beside others by the
// calendar.
func unset(at [4][2]int64, n *[4]int) {
	isDated := func(i int) bool { return n[i] > 0 && at[i][0] >= dated*1000 }
	if !isDated(0) && !isDated(1) && !isDated(2) && !isDated(3) {
		return
	}
	for i := range n {
		if !isDated(i) {
			n[i] = 0
		}
	}
}

// settle writes the times of a record: submit, eligible, start and end, in ms, -1 where
// unknown, and how long the job ran.
func (t *table) settle(r *Record, at [4]int64, run int64) string {
	submit, start, end := max(at[0], at[1]), at[2], at[3]
	if start >= 0 && at[1] > start && at[0] >= 0 {
		submit = at[0] // it began, so it was eligible
	}
	t.key.submit, t.key.start = at[0], start
	if submit >= 0 {
		r[SubmitTime] = Millis(submit)
	}
	switch {
	case submit >= 0 && start >= 0:
		if r[WaitTime] = Millis(max(start-submit, 0)); start < submit {
			t.tally.early++
		}
	case len(t.from[roleWait]) > 0:
		wait, why := t.length(roleWait)
		if why != "" {
			return why
		}
		if wait >= 0 {
			r[WaitTime] = Millis(wait)
		}
	}
	switch {
	case run >= 0:
	case start >= 0 && end >= start:
		run = end - start
	case start >= 0 && end >= 0:
		t.tally.reversed++
	}
	if run >= 0 {
		r[RunTime] = Millis(run)
	} else if start >= 0 && len(t.from[roleRun])+len(t.from[roleEnd]) > 0 {
		t.tally.lengthless++
		return passed
	}
	limit, why := t.length(roleEstimate)
	if limit >= 0 {
		r[RequestedTime] = Millis(limit)
	}
	return why
}

// length reads a length of time in ms, -1 if there is none.
func (t *table) length(of role) (int64, string) {
	c, s := t.cell(of)
	switch strings.ToUpper(c) {
	case "", "UNLIMITED", "PARTITION_LIMIT", "INFINITE", "INF", "UNSET":
		return -1, ""
	}
	d, ok := length(c, s.unit)
	if !ok {
		return -1, fmt.Sprintf("%s %.30q is no length of time; must be as 1-12:00:00, or a number", t.names[s.place], c)
	}
	return d, ""
}

// decide chooses between the two instants that times may have: those in order (submitted,
// then eligible, then begun, then ended) and with an end as long after the start as the job
// ran. It also returns how many times that leaves open; these are the first.
func decide(at [4][2]int64, n [4]int, run int64) (which [4]int, undecided int) {
	if n[0] < 2 && n[1] < 2 && n[2] < 2 && n[3] < 2 {
		return which, 0
	}
	best, open := int64(-1), [4]bool{}
	for k := range 16 {
		var pick [4]int
		valid := true
		for i := range pick {
			pick[i] = k >> i & 1
			valid = valid && (pick[i] == 0 || n[i] == 2)
		}
		if !valid {
			continue
		}
		is := func(i int) int64 { return at[i][pick[i]] }
		var fault int64
		for _, pair := range [...][2]int{{0, 1}, {0, 2}, {1, 2}, {2, 3}} {
			if a, b := pair[0], pair[1]; n[a] > 0 && n[b] > 0 && is(a) > is(b) {
				fault += 1 << 50
			}
		}
		if n[2] > 0 && n[3] > 0 && run >= 0 {
			fault += max(is(3)-is(2)-run, run-is(3)+is(2))
		}
		switch {
		case best < 0 || fault < best:
			best, which, open = fault, pick, [4]bool{}
		case fault == best:
			for i := range pick {
				open[i] = open[i] || pick[i] != which[i]
			}
		}
	}
	for _, o := range open {
		if o {
			undecided++
		}
	}
	return which, undecided
}

// zoned are the formats of times that state a zone, unzoned of those that do not. Seconds
// may have decimals.
var (
	zoned   = [...]string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05 UTC", "2006-01-02T15:04:05 GMT"}
	unzoned = [...]string{"2006-01-02T15:04:05", "2006-01-02T15:04"}
)

// instant parses a time, in ms since 1970, with the unit of a number. In an hour that the
// clock repeats there are two, the earlier first; n is 0 if it is no time.
func (t *table) instant(c string, unit int64) (at [2]int64, n int) {
	if number, ok := parseNumber([]byte(c)); ok {
		if ms := number.Millis(); number.mantissa() >= 0 && !number.beyond(maxSeconds*1000) {
			at[0] = scaled(ms, unit)
			return at, 1
		}
		return at, 0
	}
	if len(c) < len("2006-01-02T15:04") {
		return at, 0
	}
	b := []byte(c)
	if b[10] == ' ' {
		b[10] = 'T'
	}
	if b[4] == '/' && b[7] == '/' {
		b[4], b[7] = '-', '-'
	}
	c = string(b)
	for _, layout := range unzoned {
		if wall, err := time.Parse(layout, c); err == nil {
			return t.local(wall)
		}
	}
	if i := len(c) - 6; c[i] == ' ' || c[i+1] == ' ' {
		c = strings.Replace(c, " +", "+", 1)
		c = strings.Replace(c, " -", "-", 1)
	}
	for _, layout := range zoned {
		if is, err := time.Parse(layout, c); err == nil && is.Unix() >= 0 {
			at[0] = is.UnixMilli()
			return at, 1
		}
	}
	return at, 0
}

// local returns the instants at which the clock of the table's zone shows a time, which is
// given as if it were UTC.
func (t *table) local(wall time.Time) (at [2]int64, n int) {
	const around = 26 * time.Hour // beyond the widest offset and its change
	offset := func(at time.Time) time.Duration {
		_, s := at.In(t.zone).Zone()
		return time.Duration(s) * time.Second
	}
	before, after := offset(wall.Add(-around)), offset(wall.Add(around))
	first := wall.Add(-before)
	last := wall.Add(-after)
	if first.Unix() < 0 {
		return at, 0
	}
	if at[0] = first.UnixMilli(); before == after {
		return at, 1
	}
	isFirst, isLast := offset(first) == before, offset(last) == after
	switch {
	case isFirst && isLast:
		at[1] = last.UnixMilli()
		return at, 2
	case isLast:
		at[0] = last.UnixMilli()
	case !isFirst:
		t.tally.skipped++
	}
	return at, 1
}

// scaled is a number of units, given in thousandths, in ms.
func scaled(thousandths, unit int64) int64 {
	return thousandths/1000*unit + thousandths%1000*unit/1000
}

// length parses a length of time, in ms: [[DAYS-]HOURS:]MINUTES:SECONDS, or a number of
// units.
func length(c string, unit int64) (int64, bool) {
	if n, ok := parseNumber([]byte(c)); ok {
		if n.mantissa() < 0 || n.beyond(maxSeconds-1) {
			return 0, false
		}
		return scaled(n.Millis(), unit), true
	}
	c = strings.Replace(strings.Replace(c, " days ", "-", 1), " day, ", "-", 1) // as Python prints it
	days, clock, ok := strings.Cut(c, "-")
	if !ok {
		days, clock = "0", c
	}
	total, err := strconv.ParseInt(days, 10, 32)
	parts := strings.Split(clock, ":")
	if err != nil || total < 0 || len(parts) < 2 || len(parts) > 3 {
		return 0, false
	}
	if len(parts) == 2 {
		parts = append([]string{"0"}, parts...)
	}
	last := len(parts) - 1
	seconds, ok := parseNumber([]byte(parts[last]))
	if !ok || seconds.mantissa() < 0 || seconds.Millis() >= 61_000 {
		return 0, false
	}
	total *= 24
	for _, part := range parts[:last] {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return 0, false
		}
		total += int64(n)
		total *= 60
	}
	return total*1000 + seconds.Millis(), true
}

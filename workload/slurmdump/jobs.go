package slurmdump

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/grid"
	twin "github.com/bourse-grid/bourse/policy/slurm"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/files"
)

// Jobs are the jobs of a dump, in the order of their submission.
type Jobs struct {
	List       []twin.Job
	Users      []string // by Job.User
	Names      []string // JobIDRaw if the dump has it, else JobID; by place in List
	Accounts   []string // by place in List
	QOS        []string // by place in List
	Partitions []string // by place in List
	unlimited  []bool   // by place in List: it asked for no time limit
	Lines      []int    // by place in List
	Tally      Tally
}

// Tally counts rows by what became of them.
type Tally struct {
	Steps, NeverRan, Unended, Repeats int
	Undepending                       int // dependencies on jobs that are not in the dump
	Unreserved                        int // in reservations that are not given
	Unassociated                      int // users without an association
}

// dated is the least time, in ms, that shows a date; clocks that begin earlier are a trace's own.
const dated = 100_000_000_000

// Zero is the instant at which the clock of the trace begins: that of the first submission,
// as in other tables, if it shows a date.
func (j *Jobs) Zero() grid.Time {
	if first := j.List[0].Submit; first >= dated {
		return first - first%1000
	}
	return 0
}

// Under returns the jobs as they would be submitted under another configuration: those that
// ask for no time limit have the one of their partition.
func (j *Jobs) Under(conf *twin.Config) []twin.Job {
	list := slices.Clone(j.List)
	for i := range list {
		if j.unlimited[i] {
			list[i].Limit = conf.Partitions[list[i].Partition].Limit()
		}
	}
	return list
}

// Placed reports whether the dump says on which nodes each job ran.
func (j *Jobs) Placed() bool {
	return !slices.ContainsFunc(j.List, func(x twin.Job) bool { return x.On.Count() == 0 })
}

// Until leaves only the jobs that are submitted before an instant.
func (j *Jobs) Until(end grid.Time) {
	n, _ := slices.BinarySearchFunc(j.List, end, func(x twin.Job, end grid.Time) int { return int(min(max(x.Submit-end, -1), 1)) })
	for n < len(j.List) && j.List[n].Submit < end {
		n++
	}
	j.List = j.List[:n]
}

// maxJobs bounds the jobs of a dump.
const maxJobs = 10_000_000

// OpenJobs reads a dump of sacct, however it is packed: sacct -aXPD with the columns JobID,
// Submit, Start, ElapsedRaw or End, NNodes, Partition and, where there are any, Eligible,
// TimelimitRaw, AllocCPUS, User, Account, QOS, NodeList, Reservation and SubmitLine. Times
// that state no zone are in the given one.
func (c *Cluster) OpenJobs(name string, zone *time.Location) (*Jobs, error) {
	in := io.Reader(os.Stdin)
	if name == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	r, err := files.Plain(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c.readJobs(name, r, zone)
}

// dump reads the rows of sacct.
type dump struct {
	cluster *Cluster
	zone    *time.Location
	t       *table
	width   int // columns
	out     *Jobs
	users   map[string]int
	words   map[string]string
	ids     map[string][]int // places in the list by JobID, tasks by the array too
	seen    map[jobKey]int
	asked   []asked // by place in the list
	limits  map[int64]int
}

// asked is what a job asked for that its row does not say.
type asked struct {
	after []string // numbers of jobs
	begin bool     // a begin time of its own
	task  bool     // it is a task of an array
	limit bool     // a time limit
}

type jobKey struct {
	id            string
	submit, start grid.Time
}

func (c *Cluster) readJobs(name string, r io.Reader, zone *time.Location) (*Jobs, error) {
	d := &dump{cluster: c, zone: zone, t: &table{name: name}, out: &Jobs{}, users: map[string]int{}, words: map[string]string{}, ids: map[string][]int{}, seen: map[jobKey]int{}, limits: map[int64]int{}}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	for number := 1; in.Scan(); number++ {
		text := bytes.TrimRight(in.Bytes(), "\r")
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		cells := strings.Split(string(text), "|")
		if d.t.columns == nil {
			if err := d.head(cells); err != nil {
				return nil, err
			}
			continue
		}
		if plain(cells[0]) == d.t.first() {
			continue // the names again, as dumps were joined
		}
		if err := d.row(row{number, cells}); err != nil {
			return nil, err
		}
		if len(d.out.List) > maxJobs {
			return nil, fmt.Errorf("%s: has more than %d jobs", name, maxJobs)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(d.out.List) == 0 {
		return nil, fmt.Errorf("%s: no job is left: %d never ran, %d had not ended", name, d.out.Tally.NeverRan, d.out.Tally.Unended)
	}
	return d.finish(), nil
}

// head takes the names of the columns.
func (d *dump) head(cells []string) error {
	d.t.columns = columns(cells)
	if d.width = len(cells); cells[d.width-1] == "" {
		d.width-- // sacct -p ends its lines with a bar
	}
	var lacks []string
	for _, of := range [][]string{{"JobID", "JobIDRaw"}, {"Submit"}, {"Start"}, {"ElapsedRaw", "Elapsed", "End"}, {"NNodes", "AllocNodes", "ReqNodes"}, {"Partition"}} {
		if !slices.ContainsFunc(of, func(name string) bool { _, ok := d.t.columns[plain(name)]; return ok }) {
			lacks = append(lacks, of[0])
		}
	}
	if len(lacks) > 0 {
		return fmt.Errorf("%s: line 1: has no column %s; print the jobs with sacct -aXPD --format ALL", d.t.name, strings.Join(lacks, ", "))
	}
	return nil
}

// joined puts together again what bars in a line of submission, or in a name, have parted.
func (d *dump) joined(cells []string) []string {
	extra := len(cells) - d.width
	if extra == 1 && cells[len(cells)-1] == "" {
		return cells[:d.width]
	}
	for _, column := range [...]string{"submitline", "jobname"} {
		if at, ok := d.t.columns[column]; ok && extra > 0 {
			return slices.Concat(cells[:at], []string{strings.Join(cells[at:at+extra+1], "|")}, cells[at+extra+1:])
		}
	}
	return cells
}

// first returns the first value of several columns that says something.
func (d *dump) first(r row, columns ...string) string {
	for _, c := range columns {
		switch v := d.t.get(r, c); v {
		case "", "Unknown", "None", "N/A", "(null)", "None assigned":
		default:
			return v
		}
	}
	return ""
}

// row takes one row.
func (d *dump) row(r row) error {
	id := d.first(r, "jobid", "jobidraw")
	if r.cells = d.joined(r.cells); len(r.cells) < d.width {
		return line{d.t.name, r.number, ""}.fault("JobID "+id, "the row has %d columns, must have the %d of the first line", len(r.cells), d.width)
	}
	number, array, task, pending := jobNumber(id)
	at := line{d.t.name, r.number, ""}
	switch {
	case strings.Contains(id, "."):
		d.out.Tally.Steps++
		return nil
	case number < 0:
		return at.fault("JobID", "%.40q is no number of a job, such as 12 or 12_3", id)
	}
	_, throttle, _ := strings.Cut(id, "%")
	if n, err := whole(strings.TrimRight(throttle, "]"), 1); err == nil {
		d.limits[array] = n
	}
	times, run, err := workload.JobTimes([4]string{d.t.get(r, "submit"), d.t.get(r, "eligible"), d.t.get(r, "start"), d.t.get(r, "end")}, d.first(r, "elapsedraw", "elapsed"), d.zone)
	if err != nil {
		return at.fault("JobID "+id, "%v", err)
	}
	state, _, _ := strings.Cut(d.t.get(r, "state"), " ")
	switch {
	case times[0] >= grid.Never:
		return at.fault("Submit", "job %s has none", id)
	case pending || times[2] >= grid.Never:
		d.out.Tally.NeverRan++
		return nil
	case times[3] >= grid.Never && unended[strings.ToUpper(state)] || run < 0:
		d.out.Tally.Unended++
		return nil
	}
	j := twin.Job{ID: number, Array: array, Task: task, Submit: times[0], Started: max(times[2], times[0]), Run: run, QOS: -1, Assoc: -1, Reservation: -1}
	if raw, _, _, _ := jobNumber(d.first(r, "jobidraw")); raw > 0 {
		j.ID = raw
	}
	if err := d.fill(&j, r, at, id); err != nil {
		return err
	}
	if times[1] < grid.Never && times[1] > j.Submit && times[1] <= j.Started {
		j.Begin = times[1]
	}
	key := jobKey{id, j.Submit, j.Started}
	if i, twice := d.seen[key]; twice {
		d.out.Tally.Repeats++
		d.out.List[i].Run = max(d.out.List[i].Run, j.Run)
		return nil
	}
	d.seen[key] = len(d.out.List)
	d.add(j, r, id)
	return nil
}

// unended are states of jobs that still ran when the dump was made.
var unended = map[string]bool{"RUNNING": true, "R": true, "SUSPENDED": true, "S": true, "COMPLETING": true, "CG": true, "PENDING": true, "PD": true, "": true}

// add appends a job, with what its line of submission says.
func (d *dump) add(j twin.Job, r row, id string) {
	s := submitted(d.t.get(r, "submitline"))
	if v := d.first(r, "arraytaskthrottle", "arraytasklimit"); v != "" {
		if n, err := whole(v, 0); err == nil {
			s.throttle = n
		}
	}
	if v := d.first(r, "dependency"); v != "" {
		s.after = dependencies(v)
	}
	j.Nice = s.nice
	array, _, isTask := strings.Cut(id, "_")
	if s.throttle > 0 && isTask {
		d.limits[j.Array] = s.throttle
	}
	place := len(d.out.List)
	d.ids[id] = append(d.ids[id], place)
	if isTask {
		d.ids[array] = append(d.ids[array], place)
	}
	d.out.List = append(d.out.List, j)
	d.out.Names = append(d.out.Names, d.first(r, "jobidraw", "jobid"))
	d.out.Accounts = append(d.out.Accounts, d.intern(d.t.get(r, "account")))
	d.out.QOS = append(d.out.QOS, d.intern(d.t.get(r, "qos")))
	d.out.Partitions = append(d.out.Partitions, d.cluster.Partitions[j.Partition].Name)
	d.out.Lines = append(d.out.Lines, r.number)
	d.asked = append(d.asked, asked{s.after, s.begin, isTask, d.hasLimit(r)})
}

// finish sorts the jobs by their submission, and finds what they depend on.
func (d *dump) finish() *Jobs {
	order := make([]int, len(d.out.List))
	for i := range order {
		order[i] = i
	}
	list := d.out.List
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &list[a], &list[b]
		switch {
		case x.Submit != y.Submit:
			return sign(x.Submit < y.Submit)
		case x.ID != y.ID:
			return sign(x.ID < y.ID)
		}
		return 0
	})
	now := make([]int, len(order)) // the new place of each
	for i, old := range order {
		now[old] = i
	}
	out := &Jobs{Users: d.out.Users, Tally: d.out.Tally}
	for i, old := range order {
		j, want := list[old], d.asked[old]
		if want.task {
			j.Throttle = d.limits[j.Array]
		}
		missing := false
		for _, id := range want.after {
			found := d.ids[id]
			missing = missing || len(found) == 0
			for _, k := range found {
				if now[k] != i && !slices.Contains(j.After, now[k]) && list[k].Submit <= j.Submit {
					j.After = append(j.After, now[k])
				}
			}
		}
		if missing {
			out.Tally.Undepending++
		} else if len(j.After) > 0 && !want.begin {
			j.Begin = 0 // it became eligible when those had ended
		}
		out.List = append(out.List, j)
		out.unlimited = append(out.unlimited, !want.limit)
		out.Names = append(out.Names, d.out.Names[old])
		out.Accounts = append(out.Accounts, d.out.Accounts[old])
		out.QOS = append(out.QOS, d.out.QOS[old])
		out.Partitions = append(out.Partitions, d.out.Partitions[old])
		out.Lines = append(out.Lines, d.out.Lines[old])
	}
	return out
}

func sign(less bool) int {
	if less {
		return -1
	}
	return 1
}

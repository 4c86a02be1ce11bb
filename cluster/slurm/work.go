package slurm

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// run submits the work as its account, to begin with the window, unless it is already there
// or has begun.
func (d *Driver) run(ctx context.Context, m agents.Command) (agents.Outcome, grid.Reason) {
	refuse := func(code grid.Code, format string, args ...any) (agents.Outcome, grid.Reason) {
		return agents.Denied, grid.Because(code, format, args...)
	}
	if m.Work == nil {
		return refuse(grid.Invalid, "there is no work to run")
	}
	if wrong := m.Work.Work.Check(); wrong != nil {
		return refuse(grid.Invalid, "%s: %v", wrong.Key, wrong.Err)
	}
	a, why := d.work.account(m.User)
	if why.Refused() {
		return agents.Denied, why
	}
	if m.In != "" {
		return d.runIn(ctx, m)
	}
	jobs, err := d.c.jobsNamed(ctx, m.Name)
	if err != nil {
		return judge(err)
	}
	for _, j := range jobs {
		switch {
		case !d.in(j.reservation, m.Name) || j.user != m.User: // somebody else's job with the same name
		case !over(j.state):
			return agents.Done, grid.Reason{}
		case j.nodes != "":
			return refuse(grid.BadState, "it has run before, as job %s", j.number)
		}
	}
	t, err := d.work.traces(ctx, m.Name)
	switch {
	case err != nil:
		return agents.Failure, grid.Because(grid.NoCluster, "%v", err)
	case t.begun:
		return refuse(grid.BadState, "it has begun before, as job %s", t.number)
	}
	nodes, err := d.c.nodesNow(ctx, m.Nodes)
	if err != nil {
		return judge(err)
	}
	partition, why := d.partition(nodes, m)
	if why.Refused() {
		return agents.Denied, why
	}
	here := d.work.of(m.Name)
	files := map[string]string{}
	if m.Work.Work.Script != "" {
		files["script"] = m.Work.Work.Script
	}
	if where := whereabouts(m, here); where != "" {
		files["where"] = where
	}
	if err := d.work.prepare(ctx, m.Name, a, files); err != nil {
		if d.afar != nil {
			return unprepared(err)
		}
		return refuse(grid.NoCluster, "its folder cannot be made: %v", err)
	}
	_, err = d.c.run(ctx, a, wrapper(m, here), "sbatch", d.submission(m, partition, here)...)
	return judge(err)
}

// submission returns the options of sbatch for the work: those of its account first, because
// of two that contradict each other the later counts. The limit is rounded up to whole
// minutes, which are all that Slurm knows. It matters only if nobody ends the work.
func (d *Driver) submission(m agents.Command, partition, here string) []string {
	limit := max(1, (m.End.Sub(m.Start)+grid.Minute-1)/grid.Minute)
	args := append(slices.Clone(m.Options), "--parsable", "--job-name="+m.Name)
	if !d.cfg.Unreserved {
		args = append(args, "--reservation="+m.Name)
	}
	args = append(args, "--partition="+partition,
		"--nodes="+strconv.Itoa(len(m.Nodes)), "--nodelist="+strings.Join(m.Nodes, ","))
	args = append(args, takes(m.Part)...)
	args = append(args, "--time="+strconv.FormatInt(int64(limit), 10), "--no-requeue", "--chdir="+here, "--output="+here+"/output", "--input=/dev/null")
	if begin := m.Start.Add(grid.Second - 1); begin > wallClock() {
		args = append(args, "--begin="+uts(begin))
	}
	return args
}

// complete adds to a look the ends of work that the controller has forgotten, and the exit
// status that the wrapper has kept.
func (d *Driver) complete(ctx context.Context, look *grid.Look, names []string, tracesOf func(name string) (traces, error)) {
	jobs := map[string][]int{}
	for i := range look.Jobs {
		jobs[look.Jobs[i].Name] = append(jobs[look.Jobs[i].Name], i)
	}
	for _, name := range names {
		live := false
		for _, i := range jobs[name] {
			live = live || !over(look.Jobs[i].State)
		}
		t, err := tracesOf(name)
		switch {
		case err != nil, live && t.begun:
			continue
		case !t.begun:
			for _, i := range jobs[name] {
				d.neverBegun(look.At, &look.Jobs[i])
			}
			continue
		}
		known := false
		for _, i := range jobs[name] {
			j := &look.Jobs[i]
			if j.Number != t.number {
				continue
			}
			known = true
			if j.State == grid.ManagedLost && t.ended { // its node was lost later
				j.State, j.Why = grid.ManagedEnded, ""
			}
			if t.ended {
				j.Exit, j.Signal = t.exit, t.signal
			}
		}
		switch {
		case known:
		case t.ended:
			look.Jobs = append(look.Jobs, grid.ManagedJob{Number: t.number, Name: name, User: d.work.owner(name), State: grid.ManagedEnded, Reservation: name,
				Count: len(t.nodes), Nodes: t.nodes, Start: t.begin, End: t.end, Exit: t.exit, Signal: t.signal})
		default:
			if j, ok := d.accounted(ctx, name, t); ok {
				look.Jobs = append(look.Jobs, j)
			}
		}
	}
}

// beginWithin is how long a job may run by Slurm's word before its wrapper must have begun:
// longer than a shared file system takes to show a new file.
const beginWithin = 2 * grid.Minute

// neverBegun marks as lost a job that got nodes and whose wrapper did not begin on them,
// because the daemon of a node was down or refused it. Slurm shows it as running until its
// limit, or as failed. A wrapper that could not write to its folder has said so. What is not
// over is marked as not begun: Slurm may yet put it back, as one that has run.
func (d *Driver) neverBegun(now grid.Time, j *grid.ManagedJob) {
	silent := j.State == grid.ManagedRunning && j.Why == "" && j.Start > 0 && now.Sub(j.Start) > beginWithin
	if d.in(j.Reservation, j.Name) && len(j.Nodes) > 0 && (silent || j.State == grid.ManagedEnded && j.Exit != noFolder) {
		j.State, j.Why = grid.ManagedLost, strings.TrimPrefix(j.Why+", and has never begun on its node", ", and ")
	}
	j.Unbegun = d.in(j.Reservation, j.Name) && !over(j.State)
}

// accounted asks the accounting, if there is one, about work that was killed before it could
// leave its exit status.
func (d *Driver) accounted(ctx context.Context, name string, t traces) (grid.ManagedJob, bool) {
	if _, err := strconv.ParseUint(t.number, 10, 32); err != nil {
		return grid.ManagedJob{}, false
	}
	out, err := d.c.Run(ctx, "sacct", "--noheader", "--parsable2", "--allocations", "--duplicates", "--jobs="+t.number, "--name="+name,
		"--starttime="+uts(t.begin.Add(-grid.Day)), "--format="+accountFormat)
	if err != nil {
		return grid.ManagedJob{}, false
	}
	for _, j := range readAccounts(out) {
		if over(j.State) {
			j.Name, j.Reservation = name, name
			return j, true
		}
	}
	return grid.ManagedJob{}, false
}

// accountFormat is for sacct --format.
const accountFormat = "JobIDRaw,User,State,ExitCode,Submit,Start,End,NodeList"

// readAccounts reads what sacct prints in that format. What makes no sense is left out.
func readAccounts(text []byte) []grid.ManagedJob {
	var out []grid.ManagedJob
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimRight(line, "\n"), "|")
		if len(f) != strings.Count(accountFormat, ",")+1 {
			continue
		}
		j := grid.ManagedJob{Number: f[0], User: f[1]}
		word, _, _ := strings.Cut(f[2], " ") // "CANCELLED by 1002"
		j.State, j.Why = stateOf(listed{word}, "", false)
		exit, signal, _ := strings.Cut(f[3], ":")
		e, err1 := strconv.ParseUint(exit, 10, 8)
		s, err2 := strconv.ParseUint(signal, 10, 8)
		r := record{"Submit": f[4], "Start": f[5], "End": f[6]}
		var err3, err4, err5, err6 error
		j.Submit, err3 = r.time("Submit")
		j.Start, err4 = r.time("Start")
		j.End, err5 = r.time("End")
		j.Nodes, err6 = Hosts(f[7])
		if errors.Join(err1, err2, err3, err4, err5, err6) != nil {
			continue
		}
		j.Exit, j.Signal = ending(int(e), int(s))
		j.Count = len(j.Nodes)
		out = append(out, j)
	}
	return out
}

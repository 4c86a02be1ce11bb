package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Config is what a driver must know.
type Config struct {
	Commands   Commands
	Partitions []string // where work is submitted, to the first that fits
	// Holder is the account that unconfirmed reservations are for. It must exist, and
	// run nothing.
	Holder string
	// Folder is where work finds its scripts, and leaves its output and its exit status:
	// on a file system that the nodes share, under the same absolute path.
	Folder string
	Keep   time.Duration // how long files of work are kept after its end; 0: 7 days
	// Unreserved: no reservations are made, and there is no holder. Work is submitted without one.
	Unreserved bool
	Now        func() grid.Time // the clock of the site; nil: this machine's
}

// Driver looks at one Slurm cluster and carries out the commands of its reconciler.
type Driver struct {
	c    Commands
	cfg  Config
	work place
	afar *afar // work, if that is reached by a shell; otherwise nil

	spaced spaced // looks of afar
	offers atomic.Pointer[map[string]Offer]
}

// place is where work finds its scripts and leaves its files, by the names of reservations. What
// it says of an account, its files and its name is of the machine that Slurm's commands run on.
type place interface {
	account(name string) (*account, grid.Reason)
	of(name string) string
	owner(name string) string
	traces(ctx context.Context, name string) (traces, error)
	prepare(ctx context.Context, name string, a *account, files map[string]string) error
	find(ctx context.Context, name string) (a *account, dir string, where map[string]string, err error)
	close(ctx context.Context, name string, sweepBefore time.Time)
}

// New returns a driver. An error says what to correct.
func New(cfg Config) (*Driver, error) {
	cfg.Keep = cmp.Or(cfg.Keep, 7*24*time.Hour)
	if cfg.Now == nil {
		cfg.Now = wallClock
	}
	if len(cfg.Partitions) == 0 {
		return nil, errors.New("no partition is named; name those whose nodes are offered")
	}
	d := &Driver{c: cfg.Commands, cfg: cfg}
	if cfg.Commands.Shell != nil {
		work, err := newAfar(cfg)
		if err != nil {
			return nil, err
		}
		d.work, d.afar = work, work
		return d, nil
	}
	if err := cfg.checkHolder(); err != nil {
		return nil, err
	}
	if conf := cfg.Commands.Conf; conf != "" { // if it is missing, Slurm's commands would look for it for a minute
		if _, err := os.Stat(conf); err != nil {
			return nil, fmt.Errorf("the configuration of Slurm: %w", err)
		}
	}
	work, err := newFolder(cfg.Folder)
	if err != nil {
		return nil, err
	}
	d.work = work
	return d, nil
}

// checkHolder says what is wrong with the account that holds reservations.
func (cfg *Config) checkHolder() error {
	if cfg.Unreserved {
		return nil
	}
	holder, err := user.Lookup(cfg.Holder)
	switch {
	case err != nil:
		return fmt.Errorf("there is no account %q to hold reservations; make one that runs nothing, here and where slurmctld runs: useradd --system --no-create-home --shell /usr/sbin/nologin %s", cfg.Holder, cfg.Holder)
	case holder.Uid == "0":
		return errors.New("root must not hold reservations; name an account that runs nothing")
	}
	return nil
}

// in reports whether a job of a name is in the reservation of that name, if there are any.
func (d *Driver) in(reservation, name string) bool { return d.cfg.Unreserved || reservation == name }

// Do answers a message of the reconciler, and blocks until it is done. Commands come one at
// a time; looks and requests for output may run beside them.
func (d *Driver) Do(ctx context.Context, m agents.Message, answer func(agents.Message)) {
	switch m := m.(type) {
	case agents.LookRequest:
		look, err := d.Look(ctx)
		if err != nil {
			_, why := judge(err)
			answer(agents.Looked{Ref: m.Ref, Failure: why})
			return
		}
		answer(agents.Looked{Ref: m.Ref, Look: look})
	case agents.Command:
		outcome, why := d.carryOut(ctx, m)
		answer(agents.CommandDone{Ref: m.Ref, Name: m.Name, Outcome: outcome, Reason: why})
	case agents.OutputRequest:
		answer(d.read(ctx, m))
	}
}

// Look is what the cluster shows, together with the ends of work that the controller has
// already forgotten.
func (d *Driver) Look(ctx context.Context) (*grid.Look, error) {
	if d.afar != nil {
		return d.spaced.look(ctx, d.lookAfar)
	}
	at := d.cfg.Now()
	look, err := Look(ctx, d.c)
	if err != nil {
		return nil, err
	}
	look.At = at
	d.completeHere(ctx, look)
	return look, nil
}

// completeHere completes a look by the files of this machine.
func (d *Driver) completeHere(ctx context.Context, look *grid.Look) {
	here := d.work.(folder)
	d.complete(ctx, look, here.names(), func(name string) (traces, error) { return here.traces(ctx, name) })
}

// CommandLimit bounds the time of a command, which makes several calls.
const CommandLimit = 40 * time.Second

func (d *Driver) carryOut(ctx context.Context, m agents.Command) (agents.Outcome, grid.Reason) {
	ctx, cancel := context.WithTimeout(ctx, CommandLimit)
	defer cancel()
	if !plainName(m.Name) {
		return agents.Denied, grid.Because(grid.Invalid, "%q cannot name a reservation", m.Name)
	}
	switch m.Verb {
	case agents.Reserve:
		return d.reserve(ctx, m)
	case agents.Assign:
		return d.assign(ctx, m)
	case agents.Run:
		return d.run(ctx, m)
	case agents.End:
		_, outcome, why := d.end(ctx, m)
		return outcome, why
	case agents.Delete:
		return d.delete(ctx, m)
	case agents.Claim:
		return d.claim(ctx, m)
	case agents.Grant:
		return d.grant(ctx, m)
	}
	return agents.Denied, grid.Because(grid.Invalid, "command %q is not known", string(m.Verb))
}

// plainName reports whether a name can be part of an option of Slurm's and name a folder.
func plainName(s string) bool {
	return s != "" && len(s) <= 128 && s[0] != '.' && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_')
	})
}

// reserve creates the reservation, for the holder. If it is there already, as it should be,
// an earlier command has created it and its answer was lost.
func (d *Driver) reserve(ctx context.Context, m agents.Command) (agents.Outcome, grid.Reason) {
	if len(m.Nodes) == 0 || m.Start >= m.End {
		return agents.Denied, grid.Because(grid.Invalid, "a reservation of %s from %v to %v", grid.Count(len(m.Nodes), "node"), m.Start, m.End)
	}
	// Slurm reserves a drained node without complaint.
	nodes, err := d.c.nodesNow(ctx, m.Nodes)
	if err != nil {
		return judge(err)
	}
	for _, name := range m.Nodes {
		n := nodes[name]
		switch {
		case n == nil:
			return agents.Denied, grid.Because(grid.NoNode, "there is no node %s", name)
		case n.state != grid.NodeUp:
			return agents.Denied, grid.Because(grid.Busy, "node %s is %s", name, n.said)
		}
	}
	if _, why := d.partition(nodes, m); why.Refused() {
		return agents.Denied, why
	}
	_, err = d.c.Run(ctx, "scontrol", "create", "reservation", "ReservationName="+m.Name, "StartTime="+uts(m.Start), "EndTime="+uts(m.End),
		"Nodes="+strings.Join(m.Nodes, ","), "Users="+d.cfg.Holder, "Flags=PURGE_COMP=00:05:00"+overlaps(m))
	outcome, why := judge(err)
	if outcome == agents.Done {
		return outcome, why
	}
	there, err := d.reservation(ctx, m.Name)
	switch {
	case err != nil || there == nil: // as it was said
	case there.Start == seconds(m.Start) && there.End == seconds(m.End) && sameNames(there.Nodes, m.Nodes):
		return agents.Done, grid.Reason{}
	default:
		return agents.Denied, grid.Because(grid.Conflict, "reservation %s exists already, from %v to %v on %s", m.Name, there.Start, there.End, grid.Count(len(there.Nodes), "node"))
	}
	return outcome, why
}

// partition picks the partition for work on these nodes: the first that has all of them and
// allows its time. The padding of a reservation does not count: no work runs in it, and
// Slurm's limit is for jobs.
func (d *Driver) partition(nodes map[string]*nodeNow, m agents.Command) (string, grid.Reason) {
	var short string
	length := m.End.Sub(m.Start) - m.Padding
	for _, p := range d.cfg.Partitions {
		fits := true
		for _, name := range m.Nodes {
			limit, in := grid.Duration(0), false
			if n := nodes[name]; n != nil {
				limit, in = n.limits[p], n.state != "" && hasKey(n.limits, p)
			}
			if in && limit > 0 && length > limit {
				short, in = p, false
			}
			fits = fits && in
		}
		if fits {
			return p, grid.Reason{}
		}
	}
	if short != "" {
		return "", grid.Because(grid.TooLarge, "partition %s lets no job run for %s", short, length.Words())
	}
	return "", grid.Because(grid.NoNode, "no partition of %s has all nodes %s", strings.Join(d.cfg.Partitions, ", "), strings.Join(m.Nodes, ","))
}

func hasKey[V any](m map[string]V, key string) bool {
	_, ok := m[key]
	return ok
}

// reservation reads a reservation; nil if there is none.
func (d *Driver) reservation(ctx context.Context, name string) (*grid.ManagedReservation, error) {
	out, err := d.c.Run(ctx, "scontrol", "show", "reservation", name, "-o")
	if says(err, "not found") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := readReservations(out)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
	}
	return nil, nil
}

// assign gives the reservation to the account whose work is to run in it. From now on it
// lasts, used or not.
func (d *Driver) assign(ctx context.Context, m agents.Command) (agents.Outcome, grid.Reason) {
	if _, why := d.work.account(m.User); why.Refused() {
		return agents.Denied, why
	}
	_, err := d.c.Run(ctx, "scontrol", "update", "ReservationName="+m.Name, "Users="+m.User, "Flags-=PURGE_COMP")
	return judge(err)
}

// end cancels the jobs of that name, if they are those that were seen. It returns how many
// of them are not over.
func (d *Driver) end(ctx context.Context, m agents.Command) (int, agents.Outcome, grid.Reason) {
	if d.afar != nil { // the job of work in a pilot has the pilot's name
		in, err := d.afar.within(ctx, m.Name)
		if err != nil {
			outcome, why := judge(err)
			return 0, outcome, why
		}
		m.Name = cmp.Or(in, m.Name)
	}
	jobs, err := d.c.jobsNamed(ctx, m.Name)
	if err != nil {
		outcome, why := judge(err)
		return 0, outcome, why
	}
	live := 0
	for _, j := range jobs {
		if over(j.state) || !d.ours(m, j) {
			continue
		}
		live++
		// By name too, in case the number now belongs to another job.
		_, err := d.c.Run(ctx, "scancel", "--name="+m.Name, "--user="+j.user, j.number)
		if err != nil && !says(err, "Invalid job id") && !says(err, "already completing") && !says(err, "already completed") {
			outcome, why := judge(err)
			return live, outcome, why
		}
	}
	return live, agents.Done, grid.Reason{}
}

// ours reports whether a job of the command's name is the one that was submitted for it: by
// number and time of submission if it has been seen, otherwise by the reservation and the
// account that owns its folder.
func (d *Driver) ours(m agents.Command, j named) bool {
	if m.Number != "" && m.Submit > 0 {
		return j.number == m.Number && j.submit == seconds(m.Submit)
	}
	if owner := d.work.owner(m.Name); owner != "" && j.user != owner {
		return false
	}
	return d.in(j.reservation, m.Name)
}

// delete ends the work and deletes the reservation.
func (d *Driver) delete(ctx context.Context, m agents.Command) (agents.Outcome, grid.Reason) {
	live, outcome, why := d.end(ctx, m)
	if outcome != agents.Done {
		return outcome, why
	}
	if d.cfg.Unreserved {
		if live > 0 {
			return agents.Denied, grid.Because(grid.Busy, "its work is still ending")
		}
		d.work.close(ctx, m.Name, time.Now().Add(-d.cfg.Keep))
		return agents.Done, grid.Reason{}
	}
	_, err := d.c.Run(ctx, "scontrol", "delete", "ReservationName="+m.Name)
	switch {
	case err == nil, says(err, "Requested reservation is invalid"):
	case says(err, "in use") && live > 0:
		return agents.Denied, grid.Because(grid.Busy, "its work is still ending")
	case says(err, "in use"):
		return agents.Denied, grid.Because(grid.Busy, "jobs that were not submitted for it are in reservation %s; it ends when they do, or with its window", m.Name)
	default:
		return judge(err)
	}
	d.work.close(ctx, m.Name, time.Now().Add(-d.cfg.Keep))
	return agents.Done, grid.Reason{}
}

// uts writes an instant as Slurm's options take it.
func uts(t grid.Time) string { return fmt.Sprintf("uts%d", seconds(t)/1000) }

// seconds rounds an instant to whole seconds, which are all that Slurm knows.
func seconds(t grid.Time) grid.Time { return t / 1000 * 1000 }

func sameNames(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/local/supervisor"
	"github.com/bourse-grid/bourse/grid"
)

// Config says where work runs, and on what.
type Config struct {
	// Folder has a folder for each piece of work; it is made if it is missing. Every
	// account as which work runs must be able to pass through the folders above it.
	Folder string
	// Site is whose work it is: looks show no other, so that nothing of another site is taken for
	// a stranger's and ended, whatever folder its file names. "": they show all.
	Site string
	// Nodes are the names of the nodes, each once.
	Nodes []string
	// Supervisor is the program, with its arguments, that is started for each piece of work,
	// or for several, with more arguments for supervisor.Called.
	Supervisor []string
	// Ungrouped makes no cgroup for a piece of work, even where it could: what it has started
	// is then killed process by process.
	Ungrouped bool
	// Grace is how long work may clean up after it was told to end; then it is
	// killed. 0: 30 s.
	Grace time.Duration
	// Keep is how long the folder of work is kept after its end; 0: 7 days.
	Keep time.Duration
	// Warn is told what an operator should know: work that cannot be killed, at most once in
	// ten minutes each. It is called by looks. nil: nobody is told.
	Warn func(words string)
	// Now is the clock of the windows; nil: the machine's.
	Now func() grid.Time
}

// Driver carries out what a cluster asks of this machine. Do may be called for one command,
// one look and one output at the same time.
type Driver struct {
	cfg    Config
	self   supervisor.Account
	cgroup string // in which cgroups of work are made; "": none is

	crewing sync.Mutex // begins are one after the other, as the answers are
	crew    *crew      // the supervisor that begins the next piece of work; nil: none does yet
	begun   time.Time  // this life
	tidied  time.Time  // used by commands only

	warned map[string]time.Time // work that cannot be killed; used by looks only
	fights atomic.Int64         // how much of it the last look has shown

	aside aside
	known map[string]*shown        // by name: what the last look has shown
	nodes atomic.Pointer[[]string] // that looks show
}

// Offer makes looks show further nodes. Those that they show already stay: what nobody offers
// any more does no harm there.
func (d *Driver) Offer(names []string) {
	all := slices.Concat(*d.nodes.Load(), names)
	slices.Sort(all)
	all = slices.Compact(all)
	d.nodes.Store(&all)
}

// The times of a piece of work.
const (
	usualGrace  = 30 * time.Second
	beginWithin = 20 * time.Second // after its start the supervisor must say that the work has begun
)

// New makes the folder for work. It fails on systems where work could not be found again,
// or not be ended with all that it has started.
func New(cfg Config) (*Driver, error) {
	if runtime.GOOS != "linux" {
		return nil, fmt.Errorf("[cluster] kind = \"local\" runs work on Linux only, not on %s; leave the table out to simulate the nodes", runtime.GOOS)
	}
	folder, err := filepath.Abs(cfg.Folder)
	if err != nil {
		return nil, err
	}
	cfg.Folder, cfg.Grace, cfg.Keep = folder, cmp.Or(cfg.Grace, usualGrace), cmp.Or(cfg.Keep, usualKeep)
	if _, err := supervisor.BootID(); err != nil {
		return nil, fmt.Errorf("work could not be found again after a restart: %w", err)
	}
	self, err := ownAccount()
	if err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = func() grid.Time { return now() }
	}
	d := &Driver{cfg: cfg, self: self, begun: time.Now()}
	d.nodes.Store(&cfg.Nodes)
	if !cfg.Ungrouped {
		d.cgroup, _ = supervisor.Cgroup() // without one work is killed process by process
	}
	if err := d.makeFolders(); err != nil {
		return nil, fmt.Errorf("the folder of [cluster] cannot be made: %w", err)
	}
	if d.cfg.Folder, err = filepath.EvalSymlinks(folder); err != nil { // work is recognised by its path
		return nil, err
	}
	d.aside.find(d.ended(""), d.begun)
	halves, err := filepath.Glob(filepath.Join(cfg.Folder, ".*"+supervisor.Besides))
	for _, half := range halves { // left by a life that died before it was whole
		err = errors.Join(err, os.RemoveAll(half))
	}
	return d, err
}

// makeFolders makes the folders that are missing. Accounts may pass through the folder, and
// see only their own work in it.
func (d *Driver) makeFolders() error {
	if _, err := os.Stat(d.cfg.Folder); errors.Is(err, fs.ErrNotExist) {
		if err := errors.Join(os.MkdirAll(d.cfg.Folder, 0o711), os.Chmod(d.cfg.Folder, 0o711)); err != nil {
			return err
		}
	}
	return os.MkdirAll(d.ended(""), 0o700)
}

// Do carries out a message of the cluster.
func (d *Driver) Do(ctx context.Context, m agents.Message, answer func(agents.Message)) {
	switch m := m.(type) {
	case agents.Command:
		outcome, why := d.command(ctx, m)
		answer(agents.CommandDone{Ref: m.Ref, Name: m.Name, Outcome: outcome, Reason: why})
	case agents.LookRequest:
		look, err := d.look(d.cfg.Now())
		if err != nil {
			answer(agents.Looked{Ref: m.Ref, Failure: because(err)})
			return
		}
		answer(agents.Looked{Ref: m.Ref, Look: look})
	case agents.OutputRequest:
		answer(d.read(m))
	}
}

// command carries out a command.
func (d *Driver) command(ctx context.Context, c agents.Command) (agents.Outcome, grid.Reason) {
	if !properName(c.Name) {
		return agents.Denied, grid.Because(grid.Invalid, "%q cannot name a piece of work", c.Name)
	}
	var err error
	switch c.Verb {
	case agents.Run:
		err = d.run(ctx, c)
	case agents.End:
		_, err = d.end(c.Name)
	case agents.Delete:
		err = d.remove(c.Name)
	default:
		err = deny(grid.Invalid, "processes of this machine know no reservations: %s cannot be done", c.Verb)
	}
	d.tidy(time.Now())
	var no *denial
	switch {
	case err == nil:
		return agents.Done, grid.Reason{}
	case errors.As(err, &no):
		return agents.Denied, no.Reason
	}
	return agents.Failure, because(err)
}

// denial is an error that says that nothing was done or will be.
type denial struct{ grid.Reason }

func (d *denial) Error() string { return d.Reason.String() }

func deny(code grid.Code, format string, args ...any) error {
	return &denial{grid.Because(code, format, args...)}
}

// failedToBegin is a supervisor's word for why its work has not begun.
func failedToBegin(why supervisor.Reason) error {
	return &denial{grid.Reason{Code: grid.Code(why.Code), Detail: why.Detail}}
}

// because makes a reason of a system error.
func because(err error) grid.Reason { return grid.Because(grid.Unknown, "%v", err) }

// run begins a piece of work, unless it was begun before.
func (d *Driver) run(ctx context.Context, c agents.Command) error {
	w := d.work(c.Name)
	switch known, err := w.exists(); {
	case err != nil:
		return err
	case !known:
		if err := d.prepare(w, c); err != nil {
			return err
		}
	}
	switch s := w.state(); {
	case s.result != nil && s.result.Failed.Code != "":
		return failedToBegin(s.result.Failed)
	case s.err != nil:
		return s.err
	case s.claim == nil:
		return d.begin(ctx, w)
	case s.claim.Process.PID == 0:
		return deny(grid.Withdrawn, "it was ended before it began, and is never begun again")
	case s.result != nil && s.result.Lost != "":
		return deny(grid.Unknown, "it was begun at %v and is never begun again: %s", grid.Time(s.claim.At), s.result.Lost)
	}
	return nil
}

// prepare makes the folder of a piece of work, beside its place first, so that it appears
// whole or not at all. The claim makes it durable: an order that is lost with the machine before
// that is given again.
func (d *Driver) prepare(w work, c agents.Command) error {
	at := d.cfg.Now()
	switch {
	case c.Work == nil:
		return deny(grid.Invalid, "there is nothing to run")
	case c.End <= at:
		return deny(grid.Past, "its window ended at %v", c.End)
	}
	if _, err := os.Lstat(d.ended(c.Name)); err == nil {
		return deny(grid.Withdrawn, "it was deleted, and is never begun again")
	}
	if wrong := c.Work.Work.Check(); wrong != nil {
		return deny(grid.Invalid, "%s %v", wrong.Key, wrong.Err)
	}
	as, err := d.account(c.User)
	if err != nil {
		return err
	}
	o := order{Name: c.Name, Site: c.Site, Nodes: c.Nodes, Start: c.Start, At: at, Work: *c.Work, part: c.Part,
		Order: supervisor.Order{End: supervisor.Time(c.End), Grace: supervisor.Time(d.cfg.Grace.Milliseconds()), Account: as}}
	o.Run = o.ordered(w)
	if d.cgroup != "" {
		o.Cgroup = d.group(c.Name)
	}
	beside := work(filepath.Join(d.cfg.Folder, "."+c.Name+supervisor.Besides))
	if err := errors.Join(os.RemoveAll(string(beside)), os.RemoveAll(string(w)), beside.make(&o)); err != nil {
		return err
	}
	return os.Rename(string(beside), string(w))
}

// group is the folder of the cgroup of a piece of work. Sites of one machine may share the
// folder above, so the name is of the site's folder too.
func (d *Driver) group(name string) string {
	return fmt.Sprintf("%s/%s.%08x", d.cgroup, name, crc32.ChecksumIEEE([]byte(d.cfg.Folder)))
}

// end tells a piece of work to end, and reports whether it still runs. If it has not begun,
// it never will.
func (d *Driver) end(name string) (runs bool, err error) {
	w := d.work(name)
	if known, err := w.exists(); !known || err != nil {
		return false, err
	}
	s := w.state()
	if s.err == nil && s.claim == nil {
		err := w.folder().Claim(supervisor.Process{})
		if !errors.Is(err, fs.ErrExist) {
			return false, err
		}
		s = w.state() // its supervisor was faster
	}
	switch {
	case s.err != nil:
		return false, s.err
	case s.runs:
		return true, s.claim.Process.Terminate(w.folder())
	}
	return false, nil
}

// remove ends a piece of work, and puts its folder aside once it is over. Looks show it for a
// while nevertheless: whoever deletes work that ended just now has not seen how it ended.
func (d *Driver) remove(name string) error {
	runs, err := d.end(name)
	if err != nil {
		return err
	}
	if runs {
		return deny(grid.Busy, "it was told to end, and is killed if it has not within %v", d.cfg.Grace)
	}
	w := d.work(name)
	if known, err := w.exists(); !known || err != nil {
		return err
	}
	if err := os.Rename(string(w), d.ended(name)); err != nil {
		return err
	}
	d.aside.put(name, time.Now())
	return nil
}

// How long and how much is kept.
const (
	tidyEvery = time.Minute
	shownFor  = time.Hour          // work that has ended, in this life of the site
	usualKeep = 7 * 24 * time.Hour // its folder, after that or after it was deleted
	keptMost  = 1000               // folders of work that is no longer shown
	tidyMost  = 100                // folders deleted at a time
)

// tidy puts aside work that ended long ago, and deletes the oldest of what was put aside.
// What fails now is left to the next time.
func (d *Driver) tidy(at time.Time) {
	if at.Sub(d.tidied) < tidyEvery {
		return
	}
	d.tidied = at
	if d.cgroup != "" {
		groups, _ := filepath.Glob(d.group("*"))
		for _, g := range groups {
			_ = os.Remove(g) // fails while a process is in it
		}
	}
	if at.Sub(d.begun) > shownFor {
		for _, name := range d.names() {
			w := d.work(name)
			s := w.state()
			if over := s.result; over != nil && at.Sub(time.UnixMilli(int64(over.End))) > shownFor {
				_ = os.Rename(string(w), d.ended(name))
			}
		}
	}
	list, err := os.ReadDir(d.ended(""))
	if err != nil {
		return
	}
	type aged struct {
		name string
		at   time.Time
	}
	var all []aged
	for _, e := range list {
		if info, err := e.Info(); err == nil {
			all = append(all, aged{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b aged) int { return a.at.Compare(b.at) })
	for i, a := range all {
		if i < tidyMost && (len(all)-i > keptMost || at.Sub(a.at) > d.cfg.Keep) {
			_ = os.RemoveAll(d.ended(a.name))
		}
	}
}

// names lists the work that has not been put aside.
func (d *Driver) names() (names []string) {
	list, _ := os.ReadDir(d.cfg.Folder)
	for _, e := range list {
		if properName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// Check says why work cannot run as an account; nil if it can. remark is what an operator
// should know even if it can.
func (d *Driver) Check(name string) (remark string, err error) {
	a, err := d.account(name)
	if err != nil {
		return "", err
	}
	if err := a.As(func() error { _, err := os.Stat(d.ended("")); return err }); err != nil {
		remark = fmt.Sprintf("account %s cannot pass through the folders above %s: its work begins there, but does not find its files by whole paths. "+
			"Allow it (chmod o+x), or name another [cluster] folder", name, d.cfg.Folder)
	}
	return remark, nil
}

// work is the folder of a piece of work by its name.
func (d *Driver) work(name string) work { return work(filepath.Join(d.cfg.Folder, name)) }

// ended is the place of the folder of deleted work.
func (d *Driver) ended(name string) string { return filepath.Join(d.cfg.Folder, ".ended", name) }

// properName reports whether a name can be that of a folder.
func properName(name string) bool {
	return name != "" && len(name) <= 128 && name[0] != '.' && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	})
}

func now() grid.Time { return grid.Time(time.Now().UnixMilli()) }

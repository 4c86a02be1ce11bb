package local

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/cluster/local/supervisor"
	"github.com/bourse-grid/bourse/grid"
)

// work is the folder of one piece of work.
type work string

// order is what to run. It is written once, before anything begins.
type order struct {
	supervisor.Order               // what its supervisor must know
	Name             string        `json:"name"`
	Site             string        `json:"site"`
	Nodes            []string      `json:"nodes"`
	Start            grid.Time     `json:"start"`
	At               grid.Time     `json:"at"` // of the order
	Work             grid.Handover `json:"work"`

	part grid.LegPart // which Run tells it
}

// state is the state of a piece of work.
type state struct {
	claim  *supervisor.Claim
	result *supervisor.Result
	left   *supervisor.Left // it runs on though it is killed again and again; nil: that is not so
	runs   bool
	err    error
}

func (w work) folder() supervisor.Folder      { return supervisor.Folder(w) }
func (w work) file(name string) string        { return w.folder().File(name) }
func (w work) write(name string, v any) error { return w.folder().Write(name, v) }

// exists reports whether the folder is whole, or claimed. One that is neither is left of an order
// that was lost with the machine before anything began.
func (w work) exists() (bool, error) {
	for _, name := range []string{supervisor.OrderFile, supervisor.ClaimFile} {
		if _, err := os.Lstat(w.file(name)); !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// make fills a folder for an order. What its files hold is on the disk when it returns.
func (w work) make(o *order) error {
	if err := errors.Join(os.Mkdir(string(w), 0o711), os.Mkdir(w.file(supervisor.HomeFolder), 0o700)); err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(string(w), 0o711), os.Chmod(w.file(supervisor.HomeFolder), 0o700)); err != nil { // independent of the process's umask
		return err
	}
	own := []string{supervisor.HomeFolder}
	if o.Work.Work.Script != "" {
		if err := os.WriteFile(w.file(supervisor.ScriptFile), []byte(o.Work.Work.Script), 0o700); err != nil {
			return err
		}
		if err := os.Chmod(w.file(supervisor.ScriptFile), 0o700); err != nil {
			return err
		}
		if err := supervisor.Sync(w.file(supervisor.ScriptFile)); err != nil {
			return err
		}
		own = append(own, supervisor.ScriptFile)
	}
	if o.Account.Switch {
		for _, name := range own {
			if err := os.Lchown(w.file(name), int(o.Account.UID), int(o.Account.GID)); err != nil {
				return err
			}
		}
	}
	return w.write(supervisor.OrderFile, o)
}

// state reads the state of the work. Work whose supervisor is gone without a result is
// lost: what it has left is killed, and that is its result. Until then it runs.
func (w work) state() state { return w.stateOf(nil, lives{}) }

// stateOf is the state of work whose claim was read before; nil: it was not.
func (w work) stateOf(claim *supervisor.Claim, alive lives) state {
	s := w.read(claim, alive)
	if s.err != nil || s.claim == nil || s.runs || s.result != nil || s.claim.Process.PID == 0 {
		return s
	}
	o, err := supervisor.Read[order](w.folder(), supervisor.OrderFile)
	if o == nil {
		o = &order{}
	}
	left, errKill := supervisor.KillMarked(w.folder(), o.Cgroup)
	if s.err = errors.Join(err, errKill); s.err != nil {
		return s
	}
	if left > 0 {
		s.runs = true
		s.left, s.err = w.leaves(left)
		return s
	}
	s.result = &supervisor.Result{Begin: s.claim.At, End: supervisor.Now(), Lost: s.claim.Process.Fate()}
	s.err = w.write(supervisor.ResultFile, s.result)
	return s
}

// leaves records that so many processes of work without a supervisor are still there.
func (w work) leaves(processes int) (*supervisor.Left, error) {
	before, err := supervisor.Read[supervisor.Left](w.folder(), supervisor.LeftFile)
	if err != nil {
		return nil, err
	}
	left := &supervisor.Left{Since: supervisor.Now(), Processes: processes}
	if before != nil {
		left.Since = before.Since
	}
	if before == nil || *before != *left {
		err = w.write(supervisor.LeftFile, left)
	}
	return left, err
}

// lives says which supervisors of several pieces of work live, each asked for once.
type lives map[supervisor.Process]bool

func (l lives) of(p supervisor.Process, w work) bool {
	alive, known := l[p]
	if !known {
		if alive = p.Lives(w.folder()); p.Several {
			l[p] = alive
		}
	}
	return alive
}

// read reads the files of the work. A supervisor writes the result before it ends, so
// whether it runs is asked first.
func (w work) read(claim *supervisor.Claim, alive lives) (s state) {
	if s.claim = claim; claim == nil {
		if s.claim, s.err = supervisor.Read[supervisor.Claim](w.folder(), supervisor.ClaimFile); s.err != nil || s.claim == nil {
			return s
		}
	}
	runs := alive.of(s.claim.Process, w)
	s.result, s.err = supervisor.Read[supervisor.Result](w.folder(), supervisor.ResultFile)
	if s.runs = runs && s.result == nil; s.runs && s.err == nil {
		s.left, s.err = supervisor.Read[supervisor.Left](w.folder(), supervisor.LeftFile)
	}
	return s
}

// ordered is the program that a hand-over asks for, for the folder in which it is begun.
// Of the site's own environment it has only the search path and the language, and only if
// the work runs as the same account.
func (o *order) ordered(w work) *supervisor.Run {
	h := &o.Work
	r := &supervisor.Run{Args: h.Work.Command, Dir: h.Work.Dir}
	if h.Work.Script != "" {
		r.Args = nil
	}
	named := strings.NewReplacer("%j", strings.ReplaceAll(h.Job, "/", "_"), "%l", strconv.Itoa(h.Leg))
	r.Output, r.Error = named.Replace(h.Work.Output), named.Replace(h.Work.Error)
	a := &o.Account
	r.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + a.Home, "USER=" + a.Name, "LOGNAME=" + a.Name}
	if !a.Switch {
		for _, name := range []string{"PATH", "LANG"} {
			if v := os.Getenv(name); v != "" {
				r.Env = append(r.Env, name+"="+v)
			}
		}
	}
	for _, list := range [][]grid.EnvVar{h.Work.Env, h.Variables(o.Site, o.Nodes, o.Start, grid.Time(o.End)), o.part.Variables(), {{Name: supervisor.Mark, Value: string(w)}}} {
		for _, v := range list {
			r.Env = append(r.Env, v.Name+"="+v.Value)
		}
	}
	return r
}

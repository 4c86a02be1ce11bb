package supervisor

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
)

// begun starts the work as its account, in its cgroup if there is one; its output goes to
// out, and its standard error to errs. A *mistake is the job's own error: the work counts as begun, and as failed.
func (s *supervisor) begun(out, errs *os.File) error {
	o := s.order
	program, args, err := o.program(s.work)
	if err != nil {
		return err
	}
	if dir := o.Run.Dir; dir != "" {
		err := o.Account.As(func() error {
			info, err := os.Stat(dir)
			if err == nil && !info.IsDir() {
				err = &os.PathError{Op: "chdir", Path: dir, Err: syscall.ENOTDIR}
			}
			return err
		})
		if err != nil {
			return &mistake{126, fmt.Sprintf("workdir: %v", err)}
		}
	}
	none, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer func() { _ = none.Close() }()
	env := o.Run.Env
	if env == nil {
		env = []string{} // and not this process's own
	}
	attr := &os.ProcAttr{Dir: o.Run.Dir, Env: env, Files: []*os.File{none, out, errs}, Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}}
	if o.Account.Switch {
		attr.Sys.Credential = &syscall.Credential{Uid: o.Account.UID, Gid: o.Account.GID, Groups: o.Account.Groups}
	}
	if s.group != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(s.group.Fd())
	}
	for range 50 { // a file that is being written by whoever has just forked cannot be run
		if s.main, err = s.reaper.start(program, args, attr, s.status); !errors.Is(err, syscall.ETXTBSY) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return blame(args[0], err)
}

// program is the file to run, with its arguments.
func (o *Order) program(w Folder) (file string, args []string, err error) {
	if args = o.Run.Args; len(args) > 0 {
		err = o.Account.As(func() (err error) { file, err = lookPath(args[0], o.Run.Dir, o.Run.Env); return err })
		return file, args, err
	}
	file = w.File(ScriptFile)
	err = o.Account.As(func() error { _, err := os.Stat(file); return err })
	switch {
	case err == nil:
	case o.Run.Dir == "":
		file = "../" + ScriptFile // relative to its home, so the folders above do not matter
	default:
		err = fmt.Errorf("account %s cannot reach it (%w); let it pass through the folders above, or name another one as [cluster] folder", o.Account.Name, err)
		return "", nil, err
	}
	return file, []string{file}, nil
}

// mistake is an error of the job itself that keeps its work from running, with the exit
// status that a shell has for it.
type mistake struct {
	status int
	words  string
}

func (m *mistake) Error() string { return m.words }

// blame tells the job's mistakes from errors of the machine.
func blame(name string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOENT):
		return &mistake{127, fmt.Sprintf("%s: not found, or what its first line names is not", name)}
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOEXEC), errors.Is(err, syscall.E2BIG), errors.Is(err, syscall.ETXTBSY),
		errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG):
		return &mistake{126, fmt.Sprintf("%s: cannot be run: %v", name, err)}
	}
	return err
}

// lookPath finds a program as a shell does.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	list := ""
	for _, v := range env { // the last one counts
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			list = p
		}
	}
	for d := range strings.SplitSeq(list, ":") {
		if list == "" {
			break
		}
		if !path.IsAbs(d) {
			d = path.Join(dir, d)
		}
		file := path.Join(d, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", &mistake{127, fmt.Sprintf("%s: command not found in %s", name, list)}
}

package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bourse-grid/bourse"
)

// startSupervisor starts the supervisor of a piece of work. It outlives this process: it has
// a session of its own, and none of this process's open files. The reader returns what it
// says.
func startSupervisor(command []string, w work) (words *os.File, err error) {
	none, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = none.Close() }()
	log, err := os.OpenFile(w.file(logFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	words, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = theirs.Close() }()
	argv := append(append([]string{}, command...), string(w))
	p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{Dir: "/", Files: []*os.File{none, theirs, log}, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		_ = words.Close()
		return nil, err
	}
	go func() { _, _ = p.Wait() }() // so that it does not remain a zombie
	return words, nil
}

// begin starts the work as its account; its output goes to out. A *mistake is the job's own
// error: the work counts as begun, and as failed.
func begin(o *order, w work, out *os.File) (*os.Process, error) {
	env := o.environment(w)
	dir := o.Work.Work.Dir
	path, argv, err := o.program(w, env)
	if err != nil {
		return nil, err
	}
	if dir != "" {
		err := o.Account.as(func() error {
			info, err := os.Stat(dir)
			if err == nil && !info.IsDir() {
				err = &os.PathError{Op: "chdir", Path: dir, Err: syscall.ENOTDIR}
			}
			return err
		})
		if err != nil {
			return nil, &mistake{126, fmt.Sprintf("workdir: %v", err)}
		}
	}
	none, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer func() { _ = none.Close() }()
	attr := &os.ProcAttr{Dir: dir, Env: env, Files: []*os.File{none, out, out}, Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}}
	if o.Account.Switch {
		attr.Sys.Credential = &syscall.Credential{Uid: o.Account.UID, Gid: o.Account.GID, Groups: o.Account.Groups}
	}
	var p *os.Process
	for range 50 { // a file that is being written by whoever has just forked cannot be run
		if p, err = os.StartProcess(path, argv, attr); !errors.Is(err, syscall.ETXTBSY) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return p, blame(argv[0], err)
}

// program is the file to run, with its arguments.
func (o *order) program(w work, env []string) (path string, argv []string, err error) {
	argv = o.Work.Work.Command
	if o.Work.Work.Script == "" {
		err = o.Account.as(func() (err error) { path, err = lookPath(argv[0], o.Work.Work.Dir, env); return err })
		return path, argv, err
	}
	path = w.file(scriptFile)
	err = o.Account.as(func() error { _, err := os.Stat(path); return err })
	switch {
	case err == nil:
	case o.Work.Work.Dir == "":
		path = "../" + scriptFile // relative to its home, so the folders above do not matter
	default:
		err = fmt.Errorf("account %s cannot reach it (%w); let it pass through the folders above, or name another one as [cluster] folder", o.Account.Name, err)
		return "", nil, err
	}
	return path, []string{path}, nil
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
	path := ""
	for _, v := range env { // the last one counts
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path = p
		}
	}
	for _, d := range filepath.SplitList(path) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		file := filepath.Join(d, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", &mistake{127, fmt.Sprintf("%s: command not found in %s", name, path)}
}

// environment is the environment of the work. Of the site's own it has only the search path
// and the language, and only if the work runs as the same account.
func (o *order) environment(w work) []string {
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + o.Account.Home, "USER=" + o.Account.Name, "LOGNAME=" + o.Account.Name}
	if !o.Account.Switch {
		for _, name := range []string{"PATH", "LANG"} {
			if v := os.Getenv(name); v != "" {
				env = append(env, name+"="+v)
			}
		}
	}
	for _, list := range [][]bourse.EnvVar{o.Work.Work.Env, o.Work.Variables(o.Site, o.Nodes, o.Start, o.End), {{Name: markVariable, Value: string(w)}}} {
		for _, v := range list {
			env = append(env, v.Name+"="+v.Value)
		}
	}
	return env
}

// as runs f with the rights of an account for opening files: in a thread of its own, which
// takes these rights and ends with f.
func (a *account) as(f func() error) error {
	if !a.Switch {
		return f()
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread is not used again
		done <- func() error {
			groups := make([]int, len(a.Groups))
			for i, g := range a.Groups {
				groups[i] = int(g)
			}
			if err := errors.Join(unix.Setgroups(groups), unix.Setfsgid(int(a.GID)), unix.Setfsuid(int(a.UID))); err != nil {
				return err
			}
			if now, err := unix.SetfsuidRetUid(-1); err != nil || now != int(a.UID) {
				return fmt.Errorf("the rights of %s cannot be taken: %w", a.Name, err)
			}
			return f()
		}()
	}()
	return <-done
}

package slurm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// folder is where work finds its scripts and leaves its files. It has a folder for each
// reservation, owned by the account of its work. What is in there cannot be trusted: only
// regular files are read, with bounds, and no link is followed.
//
//	NAME/script   what it runs, if that is a script
//	NAME/begun    made once, by the first job of that name: work begins no second time
//	NAME/exit     made when it has ended
//	NAME/output   what it prints, unless the job says where that goes
//	NAME/where    the files of its output and of its standard error, and the folder in which
//	              it begins, where those are elsewhere
//	done/NAME     the same, after the reservation was deleted
type folder string

const doneFolder = "done"

// newFolder makes the folder if there is none.
func newFolder(path string) (folder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == '%' || r == '\\' }) {
		return "", fmt.Errorf("folder %q: Slurm gives a meaning to %% and \\; name another one", path)
	}
	if err := os.MkdirAll(filepath.Join(path, doneFolder), 0o711); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if err := ownFolder(path, info); err != nil {
		return "", err
	}
	return folder(path), nil
}

// of is the folder of a reservation.
func (f folder) of(name string) string { return filepath.Join(string(f), name) }

// prepare makes the folder of a reservation for an account, with its files: whole or not at
// all.
func (f folder) prepare(_ context.Context, name string, a *account, files map[string]string) (err error) {
	fresh := f.of(".new-" + name)
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(fresh)
		}
	}()
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	for file, text := range files {
		path := filepath.Join(fresh, file)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			return err
		}
		if err := f.give(path, a); err != nil {
			return err
		}
	}
	if err := f.give(fresh, a); err != nil {
		return err
	}
	if err := os.RemoveAll(f.of(name)); err != nil { // left by an earlier try; nothing has begun in it
		return err
	}
	return os.Rename(fresh, f.of(name))
}

func (f folder) give(path string, a *account) error {
	if !a.other {
		return nil
	}
	if err := os.Lchown(path, int(a.uid), int(a.gid)); err != nil {
		return fmt.Errorf("%w; folder %s must be on a file system on which the site's process may give files away", err, string(f))
	}
	return nil
}

// account finds an account as which work may run, or says why it may not.
func (f folder) account(name string) (*account, grid.Reason) { return lookUp(name) }

// owner is the account that a reservation's folder belongs to, "" if there is no folder.
func (f folder) owner(name string) string {
	a, _, err := f.folderOf(name)
	if err != nil {
		return ""
	}
	return a.name
}

// find returns the folder of a reservation, put aside or not, the account that owns it, and which
// of its files are elsewhere.
func (f folder) find(_ context.Context, name string) (*account, string, map[string]string, error) {
	a, dir, err := f.folderOf(name)
	if err != nil {
		return nil, "", nil, err
	}
	where, _ := note(dir, "where")
	return a, dir, where, nil
}

func (f folder) folderOf(name string) (*account, string, error) {
	for _, path := range []string{f.of(name), filepath.Join(string(f), doneFolder, name)} {
		info, err := os.Lstat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok || !info.IsDir() {
			return nil, "", fmt.Errorf("%s is no folder", path)
		}
		a, err := ownerOf(stat.Uid)
		return a, path, err
	}
	return nil, "", os.ErrNotExist
}

// maxNote bounds the files that the wrapper of work writes; the longest is a list of nodes.
const maxNote = 1 << 20

// note reads a file of a reservation's folder, with lines of the form key=value; nil if there
// is none.
func note(dir, file string) (map[string]string, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	r, err := root.OpenFile(file, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	if info, err := r.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s of %s is no regular file", file, dir)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxNote))
	if err != nil {
		return nil, err
	}
	return readNote(text), nil
}

// readNote reads lines of the form key=value.
func readNote(text []byte) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(strings.TrimRight(line, "\n"), "="); ok {
			values[key] = value
		}
	}
	return values
}

// traces is what the wrapper of work has left.
type traces struct {
	begun, ended bool
	number       string // of its job
	begin, end   grid.Time
	nodes        []string
	exit, signal int
}

// traces reads the traces of a reservation.
func (f folder) traces(_ context.Context, name string) (traces, error) {
	begun, err := note(f.of(name), "begun")
	if err != nil || begun == nil {
		return traces{}, err
	}
	ended, err := note(f.of(name), "exit")
	if err != nil {
		return traces{begun: true, number: begun["job"]}, err
	}
	return readTraces(name, begun, ended)
}

// readTraces makes traces of the files begun and exit; nil: there is no such file.
func readTraces(name string, begun, ended map[string]string) (t traces, err error) {
	if begun == nil {
		return t, nil
	}
	t.begun, t.number = true, begun["job"]
	t.begin, _ = record(begun).time("begin")
	t.nodes, _ = Hosts(begun["nodes"])
	if ended == nil {
		return t, nil
	}
	status, err := strconv.ParseUint(ended["exit"], 10, 8)
	if err != nil {
		return t, fmt.Errorf("exit %q of %s: %w", ended["exit"], name, err)
	}
	t.ended = true
	t.exit, t.signal = ending(int(status), 0)
	t.end, _ = record(ended).time("end")
	return t, nil
}

// names lists, by name, the reservations whose folder is not put aside.
func (f folder) names() []string {
	entries, _ := os.ReadDir(string(f))
	var out []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != doneFolder && plainName(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out
}

// close puts the folder of a deleted reservation aside, and removes those that were put aside
// before an instant.
func (f folder) close(_ context.Context, name string, before time.Time) {
	f.putAside(name)
	f.sweep(before)
}

func (f folder) putAside(name string) {
	old := filepath.Join(string(f), doneFolder, name)
	if _, err := os.Lstat(f.of(name)); err != nil {
		return
	}
	_ = os.RemoveAll(old)
	if os.Rename(f.of(name), old) == nil {
		now := time.Now()
		_ = os.Chtimes(old, now, now)
	}
}

// maxSwept bounds the folders that one sweep removes.
const maxSwept = 100

// sweep removes folders that were put aside before an instant.
func (f folder) sweep(before time.Time) {
	done := filepath.Join(string(f), doneFolder)
	entries, _ := os.ReadDir(done)
	swept := 0
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) && swept < maxSwept {
			_ = os.RemoveAll(filepath.Join(done, e.Name()))
			swept++
		}
	}
}

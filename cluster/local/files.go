package local

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/local/supervisor"
	"github.com/bourse-grid/bourse/grid"
)

// read reads what work has printed, or the files of its folder. What it has printed comes
// from the files that its supervisor keeps, and never from one that its user may have put
// elsewhere.
func (d *Driver) read(m agents.OutputRequest) agents.Output {
	a := agents.Output{Ref: m.Ref, Name: m.Name, What: m.Source.What, From: m.From}
	err := m.Source.Check()
	if err == nil && !properName(m.Name) {
		err = fmt.Errorf("%q cannot name a piece of work", m.Name)
	}
	if err != nil {
		a.Failure = grid.Because(grid.Invalid, "%v", err)
		return a
	}
	w := d.work(m.Name)
	known, err := w.exists()
	if err == nil && !known {
		w = work(d.ended(m.Name))
		known, err = w.exists()
	}
	switch {
	case err != nil:
	case !known:
		err = fmt.Errorf("nothing of it is there; it has not begun, or ended more than %s ago, or the site keeps only the latest %d", grid.Duration(d.cfg.Keep.Milliseconds()).Words(), keptMost)
	case m.Source.What == grid.ReadOutput || m.Source.What == grid.ReadErrors:
		err = w.printed(&a)
	default:
		err = w.files(m.Source, &a)
	}
	if err != nil {
		a.Failure = because(err)
	}
	return a
}

// printed reads what the work has printed.
func (w work) printed(a *agents.Output) error {
	name := supervisor.OutputFile
	if a.What == grid.ReadErrors {
		name = supervisor.ErrorsFile
	}
	f, err := os.Open(w.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		o, errOrder := supervisor.Read[order](w.folder(), supervisor.OrderFile)
		if a.What == grid.ReadErrors && errOrder == nil && o != nil && o.Work.Work.Error == "" {
			return errors.New("its standard error is part of its output: its job names no file for it, by error = \"...\"")
		}
		return errors.New("there is no output of it yet; it has not begun")
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return piece(f, info.Size(), a)
}

// piece reads a piece of a file of a size.
func piece(f io.ReaderAt, size int64, a *agents.Output) error {
	if a.Size = size; a.From < 0 {
		a.From = max(0, size-min(-a.From, grid.MaxTail))
	}
	a.From = min(a.From, size)
	a.Data = make([]byte, min(grid.MaxTail, size-a.From))
	n, err := f.ReadAt(a.Data, a.From)
	a.Data = a.Data[:n]
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// files reads the files of the folder in which the work begins, with the rights of its
// account: what that cannot read is not read here either.
func (w work) files(from grid.Source, a *agents.Output) error {
	o, err := supervisor.Read[order](w.folder(), supervisor.OrderFile)
	if err != nil || o == nil {
		return errors.Join(err, errors.New("its folder is not complete"))
	}
	var root *os.Root
	open := func() (err error) { root, err = os.OpenRoot(o.Run.Dir); return err }
	if o.Run.Dir == "" { // its account need not be able to pass through the folders above
		root, err = os.OpenRoot(w.file(supervisor.HomeFolder))
	} else {
		err = o.Account.As(open)
	}
	if err != nil {
		return fmt.Errorf("the folder in which it begins: %w", err)
	}
	defer func() { _ = root.Close() }()
	if from.What == grid.ReadList {
		return o.Account.As(func() error { return list(root, from.Path, a) })
	}
	var f *os.File
	if err := o.Account.As(func() (err error) { f, err = openFile(root, from.Path); return err }); err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() > grid.MaxFileSize:
		return fmt.Errorf("%s has %d bytes; files of at most %d can be fetched. Split it, or copy it from the cluster by other means", from.Path, info.Size(), grid.MaxFileSize)
	case from.What == grid.ReadFile:
		return piece(f, info.Size(), a)
	}
	return digest(f, info, from.Path, a)
}

// openFile opens a regular file below a folder. It follows no link, and does not wait for
// whoever writes to a pipe. If a folder on the way is replaced by a link meanwhile, root
// still leads to nothing outside.
func openFile(root *os.Root, name string) (*os.File, error) {
	if err := plain(root, name); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("%s is no regular file; only those can be fetched", name))
	}
	return f, nil
}

// plain refuses a path that passes over a link.
func plain(root *os.Root, name string) error {
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		info, err := root.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no file %s in its folder (any more)", name)
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a link; links are not followed. Name the file itself, if it is in the folder", at)
		}
	}
	return nil
}

// digest computes the SHA-256 of a file. Of one that changes meanwhile there is none.
func digest(f *os.File, before fs.FileInfo, name string, a *agents.Output) error {
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, grid.MaxFileSize))
	if err != nil {
		return err
	}
	after, err := f.Stat()
	if err != nil {
		return err
	}
	if n != after.Size() || !after.ModTime().Equal(before.ModTime()) {
		return fmt.Errorf("%s changes while it is read; fetch it when it is complete, or print it by bourse logs", name)
	}
	a.From, a.Size, a.Data = 0, n, h.Sum(nil)
	return nil
}

// list lists the regular files below a folder by path, within the bounds of a list.
func list(root *os.Root, below string, a *agents.Output) error {
	if below != "" {
		if err := plain(root, below); err != nil {
			return err
		}
		if info, err := root.Lstat(below); err != nil || !info.IsDir() {
			return errors.Join(err, listFile(below, info, a))
		}
	}
	seen := 0
	var walk func(folder string, depth int) error
	walk = func(folder string, depth int) error {
		f, err := root.OpenFile(folder, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
		if err != nil {
			return nil // it is gone, or not the account's to read
		}
		entries, _ := f.ReadDir(grid.MaxFilesSeen - seen + 1)
		_ = f.Close()
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
		for _, e := range entries {
			if seen++; seen > grid.MaxFilesSeen {
				return fmt.Errorf("its folder has more than %d entries; list a folder in it, or pack what it leaves into one file", grid.MaxFilesSeen)
			}
			name := path.Join(folder, e.Name())
			switch {
			case e.IsDir() && depth < grid.MaxFileDepth:
				if err := walk(name, depth+1); err != nil {
					return err
				}
			case e.Type().IsRegular():
				if info, err := root.Lstat(name); err == nil {
					_ = listFile(name, info, a)
				}
			}
		}
		return nil
	}
	if below == "" {
		below = "."
	}
	return walk(below, strings.Count(below, "/"))
}

// listFile adds a file to a list, or counts it where there is no room. A path that no request
// can name is left out.
func listFile(name string, info fs.FileInfo, a *agents.Output) error {
	if info == nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file and no folder", name)
	}
	if (grid.Source{What: grid.ReadFile, Path: name}).Check() != nil {
		return nil
	}
	if a.Size++; len(a.Files) < grid.MaxFiles {
		a.Files = append(a.Files, grid.WorkFile{Path: name, Size: info.Size(), At: grid.Time(info.ModTime().UnixMilli())})
	}
	return nil
}

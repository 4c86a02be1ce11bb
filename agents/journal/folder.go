package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Folder is a folder of the file system as a Disk.
type Folder struct {
	path string
	lock *os.File // nil: for reading only
	open *os.File // the file that grows
	name string   // of open

	fsync func(*os.File) error // (*os.File).Sync; replaced in a test
}

// OpenFolder creates the folder if there is none and locks it for this process. On systems
// that lock files, a second writer is refused while this one lives.
func OpenFolder(path string) (*Folder, error) {
	if err := makeFolder(path, (*os.File).Sync); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(lock); err != nil {
		owner, _ := os.ReadFile(lock.Name())
		return nil, fmt.Errorf("journal %s is in use by process %s: %w", path, owner, closing(lock, err))
	}
	if err = lock.Truncate(0); err == nil {
		_, err = fmt.Fprintf(lock, "%d", os.Getpid())
	}
	if err != nil {
		return nil, closing(lock, err)
	}
	return &Folder{path: path, lock: lock, fsync: (*os.File).Sync}, nil
}

// makeFolder creates the folder and those above it durably: a journal must not vanish with
// its name, nor with that of a folder above. If a sync fails it removes what it has
// created, as the next call would believe it to be durable.
func makeFolder(path string, fsync func(*os.File) error) error {
	path = filepath.Clean(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(path)
	if above != path {
		if err := makeFolder(above, fsync); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		if info, there := os.Stat(path); there != nil || !info.IsDir() { // unless another process has just created it
			return err
		}
	}
	if err := syncFolder(above, fsync); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// LookInto opens a folder for reading, even while another process writes there.
func LookInto(path string) (*Folder, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", path)
	}
	if err != nil {
		return nil, err
	}
	return &Folder{path: path, fsync: (*os.File).Sync}, nil
}

// closing closes f and returns err, which is more important than an error of closing.
func closing(f *os.File, err error) error {
	_ = f.Close()
	return err
}

func (d *Folder) file(name string) string { return filepath.Join(d.path, name) }

// Names lists the files, sorted.
func (d *Folder) Names() ([]string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Read returns the whole of a file.
func (d *Folder) Read(name string) ([]byte, error) { return os.ReadFile(d.file(name)) }

// Open opens a file for reading, even while another process writes it.
func (d *Folder) Open(name string) (File, error) { return os.Open(d.file(name)) }

// Append writes at the end of a file, and keeps it open for next time.
func (d *Folder) Append(name string, data []byte) error {
	if d.name != name {
		if err := d.leave(); err != nil {
			return err
		}
		f, err := os.OpenFile(d.file(name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		d.open, d.name = f, name
	}
	_, err := d.open.Write(data)
	return err
}

// leave closes the open file.
func (d *Folder) leave() error {
	if d.open == nil {
		return nil
	}
	err := d.open.Close()
	d.open, d.name = nil, ""
	return err
}

// Truncate cuts a file to size bytes, durably.
func (d *Folder) Truncate(name string, size int64) error {
	if err := os.Truncate(d.file(name), size); err != nil {
		return err
	}
	return d.syncFile(name)
}

// Sync makes the content of a file durable.
func (d *Folder) Sync(name string) error {
	if d.name == name {
		return d.fsync(d.open)
	}
	return d.syncFile(name)
}

func (d *Folder) syncFile(name string) error {
	f, err := os.OpenFile(d.file(name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := d.fsync(f); err != nil {
		return closing(f, err)
	}
	return f.Close()
}

// Rename gives a file another name.
func (d *Folder) Rename(from, to string) error {
	if d.name == from || d.name == to {
		if err := d.leave(); err != nil {
			return err
		}
	}
	return os.Rename(d.file(from), d.file(to))
}

// Remove deletes a file.
func (d *Folder) Remove(name string) error {
	if d.name == name {
		if err := d.leave(); err != nil {
			return err
		}
	}
	return os.Remove(d.file(name))
}

// SyncNames makes renames, removals and new files durable.
func (d *Folder) SyncNames() error { return syncFolder(d.path, d.fsync) }

// Close unlocks the folder for other processes. What was not synced may be lost.
func (d *Folder) Close() error {
	err := d.leave()
	if d.lock != nil {
		err = errors.Join(err, unlockFile(d.lock), d.lock.Close())
	}
	return err
}

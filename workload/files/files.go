// Package files writes files whole or not at all, and reads text however it is packed or
// encoded.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file by write: beside its place, synced, then renamed, so
// that the name never holds half of it and what it held before is replaced only
// by a whole one. A link is kept and its target replaced. What is no regular
// file, such as a pipe or a terminal, is written to as it is.
func Replace(path string, write func(io.Writer) error) (err error) {
	switch info, e := os.Stat(path); {
	case e == nil && !info.Mode().IsRegular():
		return straight(path, write)
	case e == nil:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	case !errors.Is(e, fs.ErrNotExist):
		return e
	}
	beside := fmt.Sprintf("%s.%d.part", path, os.Getpid())
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(beside)
		}
	}()
	if err = write(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(beside, path)
}

// Try finds out whether Replace could write a file, and leaves nothing behind.
func Try(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder; must be a file", path)
	case err == nil && !info.Mode().IsRegular():
		return nil
	case err == nil:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	beside := fmt.Sprintf("%s.%d.part", path, os.Getpid())
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(beside))
}

// straight writes to something that cannot be replaced.
func straight(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

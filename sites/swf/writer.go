package swf

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Write writes the header and the records, one line each, fields parted by one
// space. What it writes Read reads back to equal records.
func Write(w io.Writer, t *Trace) error {
	b := bufio.NewWriterSize(w, chunkSize)
	for _, line := range t.Header.Lines {
		if strings.Contains(line, "\n") || !strings.HasPrefix(strings.TrimLeft(line, " \t\r"), ";") {
			return fmt.Errorf("header line %q is no comment; one line that begins with ; is wanted", line)
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	for i := range t.Records {
		out := b.AvailableBuffer()
		for f, v := range t.Records[i] {
			if f > 0 {
				out = append(out, ' ')
			}
			out = v.append(out)
		}
		if _, err := b.Write(append(out, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}

// WriteFile writes a trace to a file, gzip if its name ends in ".gz". It writes
// beside the file and renames, so that the name never holds half a trace; what
// it held before is replaced. Only regular files are replaced.
func WriteFile(path string, t *Trace) (err error) {
	if info, e := os.Stat(path); e == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: is not a regular file and would be replaced by one", path)
		}
		if path, err = filepath.EvalSymlinks(path); err != nil { // keep the link, replace its target
			return err
		}
	} else if !errors.Is(e, fs.ErrNotExist) {
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
	if err = writeTo(f, path, t); err != nil {
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

// writeTo compresses by the name that the file will have.
func writeTo(f *os.File, path string, t *Trace) error {
	if !zipped(path) {
		return Write(f, t)
	}
	z := gzip.NewWriter(f)
	if err := Write(z, t); err != nil {
		return err
	}
	return z.Close()
}

package workload

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"github.com/bourse-grid/bourse/workload/files"
)

// Write writes the header and the records, one line each, fields parted by one
// space. What it writes Read reads back to equal records.
func Write(w io.Writer, t *Trace) error {
	b := bufio.NewWriterSize(w, chunkSize)
	for _, line := range t.Header.Lines {
		if strings.Contains(line, "\n") || !strings.HasPrefix(strings.TrimLeft(line, " \t\r"), ";") {
			return fmt.Errorf("header line %q is no comment; must be one line that begins with ;", line)
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	for i := range t.Records {
		out := b.AvailableBuffer()
		for f, v := range t.Records[i][:standard] {
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

// WriteFile writes a trace to a file, in GWF if its name ends in ".gwf" and else
// in SWF, gzip if it ends in ".gz", whole or not at all; see files.Replace.
func WriteFile(path string, t *Trace) error {
	return files.Replace(path, func(w io.Writer) error { return writeTo(w, path, t) })
}

// writeTo compresses by the name that the file will have.
func writeTo(f io.Writer, path string, t *Trace) error {
	write := Write
	if FormatOf(path) == FormatGWF {
		write = WriteGrid
	}
	if !zipped(path) {
		return write(f, t)
	}
	z := gzip.NewWriter(f)
	if err := write(z, t); err != nil {
		return err
	}
	return z.Close()
}

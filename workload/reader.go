package workload

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Options say how a trace is read.
type Options struct {
	// Strict refuses what is otherwise repaired and counted: bad lines, which are skipped,
	// and records out of order, which are sorted by submission.
	Strict bool
	// Skip leaves out that many records of the file, good or bad, before
	// anything else.
	Skip int
	// Format is one of the formats; "": as the file's name says.
	Format string
	// Zone is the zone of a table's times that state none; nil: UTC.
	Zone *time.Location
}

// The formats of traces.
const (
	FormatSWF     = "swf"     // the Standard Workload Format
	FormatGWF     = "gwf"     // the Grid Workload Format
	FormatSacct   = "sacct"   // what sacct --parsable2 prints
	FormatParquet = "parquet" // the same as a table of Apache Parquet
)

// FormatOf returns the format that a file's name implies by its ending, ignoring that of
// gzip; SWF by default.
func FormatOf(path string) string {
	name := strings.TrimSuffix(strings.ToLower(path), ".gz")
	for _, format := range [...]string{FormatGWF, FormatSacct, FormatParquet} {
		if strings.HasSuffix(name, "."+format) {
			return format
		}
	}
	return FormatSWF
}

// Stdin names the standard input in place of a file.
const Stdin = "-"

const (
	maxLine    = 64 << 10 // bytes; a longer line is bad
	maxHeader  = 4 << 20  // bytes of comments in all; beyond it the file is refused
	maxRecords = 1 << 25  // beyond it the file is refused
	maxReserve = 1 << 18  // records to make room for at most on the word of a header
	chunkSize  = 128 << 10
)

// Open reads the trace in a file, in the format that opt or its name gives (FormatOf), and
// inflates it if its name ends in ".gz". Stdin is inflated if it begins like gzip. Errors
// name the file and, if there is one, the line.
func Open(path string, opt Options) (*Trace, error) {
	if path == Stdin {
		return openStdin(os.Stdin, opt)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: is a folder; must be a trace file", path)
	}
	if cmp.Or(opt.Format, FormatOf(path)) == FormatParquet {
		return readParquet(f, path, opt)
	}
	if !zipped(path) {
		return Read(f, path, opt)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: ends in .gz and is not gzip: %w", path, err)
	}
	ahead := readAhead(z)
	defer ahead.stop()
	return read(ahead.next, path, opt)
}

// openStdin reads a trace from a pipe.
func openStdin(in io.Reader, opt Options) (*Trace, error) {
	const name = "standard input"
	if opt.Format == FormatParquet {
		return nil, fmt.Errorf("%s: Parquet is read from its end on; give a file", name)
	}
	b := bufio.NewReader(in)
	if head, _ := b.Peek(2); string(head) != "\x1f\x8b" {
		return Read(b, name, opt)
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return Read(z, name, opt)
}

// zipped reports whether a file's name says that it is gzip.
func zipped(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".gz") }

// Read reads an uncompressed trace. name is used in messages and implies the format.
func Read(r io.Reader, name string, opt Options) (*Trace, error) {
	buf := make([]byte, chunkSize)
	return read(func() ([]byte, error) {
		n, err := r.Read(buf)
		return buf[:n], err
	}, name, opt)
}

// read parses the lines of chunks until one comes with an error. It is done with a chunk
// before it asks for the next.
func read(next func() ([]byte, error), name string, opt Options) (*Trace, error) {
	if opt.Skip < 0 {
		return nil, fmt.Errorf("%s: %d records cannot be skipped; must be 0 or more", name, opt.Skip)
	}
	p := newParser(name, opt)
	for {
		chunk, err := next()
		if e := p.feed(chunk); e != nil {
			return nil, e
		}
		if err == io.EOF {
			return p.finish()
		}
		if err != nil {
			return nil, p.broken(err)
		}
	}
}

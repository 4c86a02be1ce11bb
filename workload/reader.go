package workload

import (
	"cmp"
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
	// Format is one of the formats; "": as the file's name says or, if that says nothing,
	// as it begins.
	Format string
	// Zone is the zone of a table's times that state none; nil: UTC.
	Zone *time.Location
	// Map says what columns of a table are, beside the names that are known.
	Map []Mapped
}

// The formats of traces.
const (
	FormatSWF     = "swf"     // the Standard Workload Format
	FormatGWF     = "gwf"     // the Grid Workload Format
	FormatSacct   = "sacct"   // what sacct --parsable2 prints
	FormatCSV     = "csv"     // any table with the names of its columns on top, of sacct or not
	FormatParquet = "parquet" // the same as a table of Apache Parquet
)

// FormatOf returns the format that a file's name implies by its ending, ignoring that of
// a packer; SWF by default.
func FormatOf(path string) string {
	format, _ := formatOf(path)
	return format
}

// formatOf also reports whether the name has the ending of a format at all. A file without
// one is known by what it holds.
func formatOf(path string) (format string, said bool) {
	name := strings.ToLower(path)
	for _, ending := range packers {
		name = strings.TrimSuffix(name, ending)
	}
	for _, f := range Formats() {
		if strings.HasSuffix(name, "."+f) {
			return f, true
		}
	}
	return FormatSWF, false
}

// packers are the endings of packed files that are read.
var packers = [...]string{".gz", ".bz2", ".zst"}

// Formats lists the formats that are read.
func Formats() []string {
	return []string{FormatSWF, FormatGWF, FormatSacct, FormatCSV, FormatParquet}
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

// Open reads the trace in a file, in the format that opt or its name gives, else the one
// that it begins like (begin). It is unpacked, and decoded, by its first bytes. Errors name
// the file and, if there is one, the line.
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
	if isParquet(f) || cmp.Or(opt.Format, FormatOf(path)) == FormatParquet {
		return readParquet(f, path, opt)
	}
	b, err := begin(f, path, opt)
	if err != nil {
		return nil, err
	}
	ahead := readAhead(b.in)
	defer ahead.stop()
	return read(ahead.next, path, b.opt)
}

// isParquet reports whether a file begins like Parquet, whatever its name.
func isParquet(f io.ReaderAt) bool {
	var magic [4]byte
	_, err := f.ReadAt(magic[:], 0)
	return err == nil && string(magic[:]) == parquetMagic
}

// openStdin reads a trace from a pipe.
func openStdin(in io.Reader, opt Options) (*Trace, error) {
	const name = "standard input"
	if opt.Format == FormatParquet {
		return nil, fmt.Errorf("%s: Parquet is read from its end on; give a file", name)
	}
	return Read(in, name, opt)
}

// zipped reports whether a file's name says that it is gzip.
func zipped(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".gz") }

// Read reads a trace, packed or not. name is used in messages and may imply the format.
func Read(r io.Reader, name string, opt Options) (*Trace, error) {
	b, err := begin(r, name, opt)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, chunkSize)
	return read(func() ([]byte, error) {
		n, err := b.in.Read(buf)
		return buf[:n], err
	}, name, b.opt)
}

// read parses the lines of chunks until one comes with an error. It is done with a chunk
// before it asks for the next.
func read(next func() ([]byte, error), name string, opt Options) (*Trace, error) {
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

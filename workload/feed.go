package workload

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"github.com/bourse-grid/bourse/grid"
)

// Feed returns the jobs of a trace one by one while the file is read, inflated and parsed
// in the background. Of a million records only some thousands are in memory, not 144 bytes
// of each. It cannot repair what would need sorting the whole trace: it then returns
// ErrNotInOrder, and the trace must be read with Open.
type Feed struct {
	Header Header // as it stood at the first record

	batches chan []grid.LocalJob
	batch   []grid.LocalJob
	quit    chan struct{}
	ahead   *ahead
	file    *os.File
	read    atomic.Int64 // bytes of the file
	size    int64

	// These belong to the reading goroutine until batches is closed.
	parser *parser
	jobs   JobOptions
	until  grid.Time // no job submitted then or later is kept
	tally  Tally
	err    error
}

// ErrNotInOrder says that a trace is not in order of submission, has comments after its
// first record, has lines of partial executions or is not in SWF, so that it must be read
// completely before it can be used.
var ErrNotInOrder = errors.New("the trace is not in order")

const feedAhead = 4 // batches of a chunk's records each

// CanFeed reports whether the trace of that name can be read by OpenFeed: a file in SWF.
func CanFeed(path string, opt Options) bool {
	return path != Stdin && (cmp.Or(opt.Format, FormatOf(path)) == FormatSWF)
}

// OpenFeed begins to read a trace that CanFeed allows. It must be closed.
func OpenFeed(path string, opt Options, jobs JobOptions) (*Feed, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &Feed{
		batches: make(chan []grid.LocalJob, feedAhead), quit: make(chan struct{}), file: file, jobs: jobs, until: grid.Never,
	}
	if info, err := file.Stat(); err == nil {
		if f.size = info.Size(); info.IsDir() {
			file.Close()
			return nil, fmt.Errorf("%s: is a folder; must be a trace file", path)
		}
	}
	if isParquet(file) {
		file.Close()
		return nil, ErrNotInOrder
	}
	b, err := begin(tracked{file, &f.read}, path, opt)
	if err == nil && b.opt.Format != FormatSWF {
		err = ErrNotInOrder
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	f.parser = newParser(path, b.opt)
	f.parser.t.Records = make([]Record, 0, 4096)
	f.ahead = readAhead(b.in)
	go f.run()
	f.batch = <-f.batches // now the header is known
	return f, nil
}

// Next returns the next job. ok is false at the end; End then tells more.
func (f *Feed) Next() (j grid.LocalJob, ok bool) {
	for len(f.batch) == 0 {
		if f.batch, ok = <-f.batches; !ok {
			return j, false
		}
	}
	j, f.batch = f.batch[0], f.batch[1:]
	return j, true
}

// Read returns how many bytes of the file have been read, and the file's size. It may be
// called at any time.
func (f *Feed) Read() (done, size int64) { return f.read.Load(), f.size }

// tracked counts the bytes that are read.
type tracked struct {
	io.Reader
	n *atomic.Int64
}

func (c tracked) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// End reads the rest and returns the trace without its records, their number, what was
// repaired, and the error if there was one.
func (f *Feed) End() (t *Trace, records int, tally Tally, err error) {
	for range f.batches {
	}
	return f.parser.t, f.parser.taken, f.tally, f.err
}

// Close stops reading, at whatever point.
func (f *Feed) Close() {
	close(f.quit)
	for range f.batches {
	}
	f.ahead.stop()
	f.file.Close()
}

// run reads until the end, the first error or Close.
func (f *Feed) run() {
	defer close(f.batches)
	for f.err == nil {
		chunk, err := f.ahead.next()
		if f.err = f.parser.feed(chunk); f.err != nil {
			return
		}
		if err == io.EOF {
			if _, f.err = f.parser.finish(); f.err == nil {
				f.err = f.hand()
			}
			return
		}
		if f.err = f.hand(); f.err == nil && err != nil {
			f.err = f.parser.broken(err)
		}
	}
}

// hand turns the records read so far into jobs and passes them on.
func (f *Feed) hand() error {
	t := f.parser.t
	switch {
	case t.Backwards > 0 || f.parser.partial != nil || f.parser.taken > 0 && len(t.Header.Lines) > len(f.Header.Lines):
		return ErrNotInOrder
	case len(t.Records) == 0:
		return nil
	case f.parser.taken == 0:
		f.Header.Lines = slices.Clone(t.Header.Lines)
		if f.jobs.Span > 0 {
			f.until = t.Records[0].Submit().Add(f.jobs.Span)
		}
	}
	batch := make([]grid.LocalJob, 0, len(t.Records))
	for i := range t.Records {
		if j, kept := f.jobs.job(&t.Records[i], f.until, &f.tally); kept {
			batch = append(batch, j)
		}
	}
	f.parser.taken += len(t.Records)
	t.Records = t.Records[:0]
	select {
	case f.batches <- batch:
		return nil
	case <-f.quit:
		return errClosed
	}
}

var errClosed = errors.New("the feed is closed")

package supervisor

import (
	"fmt"
	"io"
	"os"
	"time"
)

// MaxOutput is how many bytes of output are kept. The rest is dropped, and the last line of
// the output says how much that was.
const MaxOutput = 64 << 20

// sink takes what work prints, and never lets it wait for a full disk.
type sink struct {
	files   []*os.File // the driver's own file, then the one that the job names
	left    int64
	kept    int64
	dropped int64

	printed *os.File      // what it reads from
	drained chan struct{} // closed when all of that was taken
}

// open begins to take what is printed to the file that it returns.
func (s *sink) open() (*os.File, error) {
	printed, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.printed, s.drained = printed, make(chan struct{})
	go func() { defer close(s.drained); _, _ = s.ReadFrom(printed) }()
	return theirs, nil
}

// drain waits until all that was printed is taken, or until it is late, because another
// process was given the other end.
func (s *sink) drain(late time.Time) {
	select {
	case <-s.drained:
	case <-time.After(time.Until(late)):
	}
	_ = s.printed.Close()
	<-s.drained
}

func (s *sink) add(f *os.File) { s.files = append(s.files, f) }

// Write keeps as much as there is room for.
func (s *sink) Write(b []byte) (int, error) {
	n := min(int64(len(b)), s.left)
	if n > 0 {
		_, err := s.files[0].Write(b[:n])
		if err != nil {
			n = 0
		}
		for _, f := range s.files[1:] {
			_, _ = f.Write(b[:n])
		}
	}
	s.left, s.kept, s.dropped = s.left-n, s.kept+n, s.dropped+int64(len(b))-n
	return len(b), nil
}

// ReadFrom takes all that is printed, until the other end is closed.
func (s *sink) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{s}, r)
}

// end writes how much was dropped.
func (s *sink) end(r *Result) {
	r.Kept, r.Dropped = r.Kept+s.kept, r.Dropped+s.dropped
	if s.dropped == 0 {
		return
	}
	for _, f := range s.files {
		fmt.Fprintf(f, "\n[bourse: %d more bytes were printed and dropped; of an output %d are kept]\n", s.dropped, MaxOutput)
	}
}

func (s *sink) close() {
	for _, f := range s.files {
		_ = f.Close()
	}
}

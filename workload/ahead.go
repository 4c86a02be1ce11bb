package workload

import "io"

// ahead reads chunks in a goroutine of its own, so that inflating overlaps with parsing.
// It reuses a handful of buffers.
type ahead struct {
	full chan chunk
	free chan []byte
	quit chan struct{}
	used []byte // the chunk handed out last
}

type chunk struct {
	data []byte
	err  error
}

func readAhead(r io.Reader) *ahead {
	const buffers = 4
	a := &ahead{full: make(chan chunk, buffers), free: make(chan []byte, buffers), quit: make(chan struct{})}
	for range buffers {
		a.free <- make([]byte, chunkSize)
	}
	go a.run(r)
	return a
}

// run fills free buffers until r ends. full has room for all of them, so only
// the wait for a free one can block, and quit ends that.
func (a *ahead) run(r io.Reader) {
	defer close(a.full)
	for {
		select {
		case <-a.quit:
			return
		case buf := <-a.free:
			c := fill(r, buf)
			a.full <- c
			if c.err != nil {
				return
			}
		}
	}
}

// fill reads until buf is full or r ends. Unlike io.ReadFull it distinguishes a truncated
// stream (io.ErrUnexpectedEOF) from one that has ended.
func fill(r io.Reader, buf []byte) chunk {
	n := 0
	for n < len(buf) {
		k, err := r.Read(buf[n:])
		n += k
		if err != nil {
			return chunk{buf[:n], err}
		}
	}
	return chunk{buf, nil}
}

// next takes back the chunk handed out before and hands out another.
func (a *ahead) next() ([]byte, error) {
	if a.used != nil {
		a.free <- a.used[:cap(a.used)]
	}
	c := <-a.full
	a.used = c.data
	return c.data, c.err
}

// stop ends the goroutine and waits for it. Nothing is read afterwards.
func (a *ahead) stop() {
	close(a.quit)
	for range a.full {
	}
}

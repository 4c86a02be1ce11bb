package shadow

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/shadow"
	"github.com/bourse-grid/bourse/process/failure"
)

// maxEvent bounds a line of a file of events: a window of many nodes names them all.
const maxEvent = 16 << 20

// Read hands on the events of a file, in order, and returns how long the whole lines of it
// are: a last line that a crash has cut short does not count. An error that is none of the
// file system says which line is wrong.
func Read(file string, each func(shadow.Event)) (int64, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, failure.Of(err)
	}
	defer f.Close()
	var size int64
	in := bufio.NewReader(f)
	for line := 1; ; line++ {
		text, err := in.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return size, nil
		case err != nil:
			return size, failure.Of(err)
		case len(text) > maxEvent:
			return size, fmt.Errorf("%s:%d: longer than %d bytes; this is no file of events", file, line, maxEvent)
		}
		var e shadow.Event
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			return size, fmt.Errorf("%s:%d: %w; this is no file of events, name another with --events", file, line, err)
		}
		each(e)
		size += int64(len(text))
	}
}

// journal is an open file of events, or none.
type journal struct {
	file  *os.File
	tally shadow.Tally
}

// open opens a file of events of a site for more of them, under a demand of so many recorded
// windows; what is there is taken by the market and tallied. A new file can only be read by
// its owner.
func open(file, site string, m *shadow.Market, recorded int) (*journal, error) {
	j := &journal{}
	var other string
	was := recorded
	size, err := Read(file, func(e shadow.Event) {
		if e.Began != nil && e.Began.Site != site {
			other = e.Began.Site
		}
		if e.Began != nil {
			was = e.Began.Recorded
		}
		m.Take(e)
		j.tally.Add(e)
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case other != "":
		return nil, fmt.Errorf("%s has the events of site %q, and this is %q; name another file with --events", file, other, site)
	case was != recorded:
		return nil, fmt.Errorf("%s is of another demand: %s, and now %s; name another file with --events", file, demand(was), demand(recorded))
	}
	if j.file, err = os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return nil, failure.Of(err)
	}
	if err = j.file.Truncate(size); err == nil {
		_, err = j.file.Seek(size, io.SeekStart)
	}
	return j, failure.Of(err)
}

// demand is whose windows are asked for, in words.
func demand(recorded int) string {
	if recorded == 0 {
		return "local jobs"
	}
	return fmt.Sprintf("a record of %s", grid.Count(recorded, "window"))
}

// write writes events down.
func (j *journal) write(list ...shadow.Event) error {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	for _, e := range list {
		j.tally.Add(e)
		if err := out.Encode(e); err != nil {
			return failure.Of(err)
		}
	}
	if j.file == nil {
		return nil
	}
	_, err := j.file.Write(text.Bytes())
	return failure.Of(err)
}

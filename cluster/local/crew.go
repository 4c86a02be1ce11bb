package local

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bourse-grid/bourse/cluster/local/supervisor"
)

// crewMost is how many pieces of work one supervisor looks after: what is lost together if it
// is killed, and by how many the cost of its process is divided.
const crewMost = 32

// crew is a supervisor of several pieces of work, as the site sees it.
type crew struct {
	folders *os.File // to it
	words   *os.File // from it
	lines   *bufio.Reader
	works   int // that it was given
}

// begin has a supervisor begin a piece of work, and waits for its answer.
func (d *Driver) begin(ctx context.Context, w work) error {
	said := supervisor.Word{Alone: true}
	var err error
	if d.cgroup != "" {
		said, err = d.beginInCrew(ctx, w)
	}
	logs := d.crewLog()
	if err == nil && said.Alone {
		logs = w.file(supervisor.LogFile)
		said, err = d.beginAlone(ctx, w)
	}
	switch {
	case err != nil:
		return fmt.Errorf("its supervisor has not said that the work has begun; its log is %s: %w", logs, err)
	case said.Failed.Code != "":
		return failedToBegin(said.Failed)
	}
	return nil
}

// beginAlone starts a supervisor for one piece of work.
func (d *Driver) beginAlone(ctx context.Context, w work) (said supervisor.Word, err error) {
	words, err := startSupervisor(append(slices.Clone(d.cfg.Supervisor), string(w)), w.file(supervisor.LogFile), nil)
	if err != nil {
		return said, err
	}
	defer func() { _ = words.Close() }()
	defer patient(ctx, words)()
	text, err := io.ReadAll(io.LimitReader(words, 64<<10))
	if err != nil || json.Unmarshal(text, &said) != nil {
		return said, cmp.Or(err, io.ErrUnexpectedEOF)
	}
	return said, nil
}

// patient bounds how long an answer is waited for.
func patient(ctx context.Context, words *os.File) (stop func() bool) {
	_ = words.SetReadDeadline(time.Now().Add(beginWithin))
	return context.AfterFunc(ctx, func() { _ = words.SetReadDeadline(time.Now()) })
}

// beginInCrew gives a piece of work to the supervisor of several, and starts one if there is
// none, or it has enough. One that does not answer is given nothing more.
func (d *Driver) beginInCrew(ctx context.Context, w work) (said supervisor.Word, err error) {
	line := []byte(string(w) + "\n")
	if bytes.Count(line, []byte("\n")) > 1 {
		return supervisor.Word{Alone: true}, nil
	}
	if d.crew != nil {
		if _, err := d.crew.folders.Write(line); err != nil { // it was killed
			d.dismiss()
		}
	}
	if d.crew == nil {
		if d.crew, err = d.startCrew(); err != nil {
			return said, err
		}
		if _, err := d.crew.folders.Write(line); err != nil {
			d.dismiss()
			return said, err
		}
	}
	stop := patient(ctx, d.crew.words)
	text, err := d.crew.lines.ReadSlice('\n')
	stop()
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if d.crew.works++; err != nil || d.crew.works == crewMost {
		d.dismiss()
	}
	return said, err
}

// crewLog is where supervisors of several pieces of work write what goes wrong.
func (d *Driver) crewLog() string { return filepath.Join(d.cfg.Folder, "."+supervisor.LogFile) }

// startCrew starts a supervisor of several pieces of work. It ends when it is given nothing
// more, or this process is gone, and all of its work is over.
func (d *Driver) startCrew() (*crew, error) {
	theirs, folders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	words, err := startSupervisor(append(slices.Clone(d.cfg.Supervisor), supervisor.Several, d.cfg.Folder), d.crewLog(), theirs)
	if err = errors.Join(err, theirs.Close()); err != nil {
		_ = folders.Close()
		return nil, err
	}
	return &crew{folders: folders, words: words, lines: bufio.NewReader(words)}, nil
}

// dismiss gives nothing more to the supervisor of several pieces of work.
func (d *Driver) dismiss() {
	_ = d.crew.folders.Close()
	_ = d.crew.words.Close()
	d.crew = nil
}

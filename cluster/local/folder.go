package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/bourse-grid/bourse"
)

// work is the folder of one piece of work.
type work string

// The files of a piece of work.
const (
	orderFile  = "order.json"
	scriptFile = "script"
	homeFolder = "home"
	claimFile  = "claim.json"
	outputFile = "output"
	resultFile = "result.json"
	logFile    = "log"

	besides = ".new" // at the end of the name of what is not yet whole
)

// order is what to run. It is written once, before anything begins.
type order struct {
	Name    string          `json:"name"`
	Site    string          `json:"site"`
	Nodes   []string        `json:"nodes"`
	Start   bourse.Time     `json:"start"`
	End     bourse.Time     `json:"end"`
	At      bourse.Time     `json:"at"` // of the order
	Grace   bourse.Duration `json:"grace"`
	Account account         `json:"account"`
	Work    bourse.Handover `json:"work"`
}

// claim says who runs the work. It is made once.
type claim struct {
	At      bourse.Time `json:"at"`
	Process process     `json:"process"` // zero: nobody ever will
}

// result is what came of work that was begun, or could not be.
type result struct {
	Begin   bourse.Time   `json:"begin"`
	End     bourse.Time   `json:"end"`
	Exit    int           `json:"exit"`
	Signal  int           `json:"signal,omitempty"`
	Why     string        `json:"why,omitempty"`     // why it was ended; "": it ended by itself
	Failed  bourse.Reason `json:"failed,omitzero"`   // why it did not begin
	Lost    string        `json:"lost,omitempty"`    // its supervisor is gone, and its end is not known
	Kept    int64         `json:"kept"`              // bytes of its output
	Dropped int64         `json:"dropped,omitempty"` // bytes beyond MaxOutput, or that could not be written
	Left    int           `json:"left,omitempty"`    // processes that could not be killed
}

// word is what a supervisor says once it has begun the work, or has failed to.
type word struct {
	Failed bourse.Reason `json:"failed,omitzero"`
}

// state is the state of a piece of work.
type state struct {
	claim  *claim
	result *result
	runs   bool
	err    error
}

func (w work) file(name string) string { return filepath.Join(string(w), name) }

// exists reports whether the folder exists.
func (w work) exists() (bool, error) {
	_, err := os.Lstat(string(w))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// make fills a folder for an order. All of it is on the disk when it returns.
func (w work) make(o *order) error {
	if err := os.MkdirAll(w.file(homeFolder), 0o711); err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(string(w), 0o711), os.Chmod(w.file(homeFolder), 0o700)); err != nil { // independent of the process's umask
		return err
	}
	own := []string{homeFolder}
	if o.Work.Work.Script != "" {
		if err := os.WriteFile(w.file(scriptFile), []byte(o.Work.Work.Script), 0o700); err != nil {
			return err
		}
		if err := os.Chmod(w.file(scriptFile), 0o700); err != nil {
			return err
		}
		own = append(own, scriptFile)
	}
	if o.Account.Switch {
		for _, name := range own {
			if err := os.Lchown(w.file(name), int(o.Account.UID), int(o.Account.GID)); err != nil {
				return err
			}
		}
	}
	for _, name := range own {
		if err := syncFile(w.file(name)); err != nil {
			return err
		}
	}
	return w.write(orderFile, o)
}

// written counts the files that this process has written. It gives files that are not yet
// whole different names.
var written atomic.Uint64

// write writes a file durably, so that it appears whole or not at all.
func (w work) write(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	beside := w.file(fmt.Sprintf("%s.%d.%d%s", name, os.Getpid(), written.Add(1), besides))
	if err := os.WriteFile(beside, text, 0o600); err != nil {
		return err
	}
	if err := errors.Join(syncFile(beside), os.Rename(beside, w.file(name))); err != nil {
		return err
	}
	return syncFile(string(w))
}

// claim records who runs the work from now on; fs.ErrExist if there is a claim already.
func (w work) claim(p process) error {
	text, err := json.Marshal(claim{At: now(), Process: p})
	if err != nil {
		return err
	}
	beside := w.file(fmt.Sprintf("%s.%d", claimFile, os.Getpid()))
	if err := os.WriteFile(beside, text, 0o600); err != nil {
		return err
	}
	err = errors.Join(syncFile(beside), os.Link(beside, w.file(claimFile)))
	return errors.Join(err, os.Remove(beside), syncFile(string(w)))
}

// read reads a file of the work; nil if it is not there.
func read[T any](w work, name string) (*T, error) {
	text, err := os.ReadFile(w.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v := new(T)
	if err := json.Unmarshal(text, v); err != nil {
		return nil, fmt.Errorf("%s: %w", w.file(name), err)
	}
	return v, nil
}

// state reads the state of the work. Work whose supervisor is gone without a result is
// lost: what it has left is killed, and that is its result.
func (w work) state() state {
	s := w.read()
	if s.err != nil || s.claim == nil || s.runs || s.result != nil || s.claim.Process.PID == 0 {
		return s
	}
	if s.err = killMarked(w); s.err != nil {
		return s
	}
	s.result = &result{Begin: s.claim.At, End: now(), Lost: s.claim.Process.fate()}
	s.err = w.write(resultFile, s.result)
	return s
}

// read reads the files of the work. A supervisor writes the result before it ends, so
// whether it runs is asked first.
func (w work) read() (s state) {
	if s.claim, s.err = read[claim](w, claimFile); s.err != nil || s.claim == nil {
		return s
	}
	lives := s.claim.Process.lives(w)
	s.result, s.err = read[result](w, resultFile)
	s.runs = lives && s.result == nil
	return s
}

// syncFile makes the content of a file or folder durable.
func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

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

// work is the folder of one work.
type work string

// The files of a work.
const (
	orderFile  = "order.json"
	scriptFile = "script"
	homeFolder = "home"
	claimFile  = "claim.json"
	outputFile = "output"
	resultFile = "result.json"
	logFile    = "log"

	besides = ".new" // ends the name of what is not whole yet
)

// order is what is to run. It is written once, before anything begins.
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

// claim says who runs a work. It is made once.
type claim struct {
	At      bourse.Time `json:"at"`
	Process process     `json:"process"` // zero: nobody ever will
}

// result is what came of a work that was begun, or could not be.
type result struct {
	Begin   bourse.Time   `json:"begin"`
	End     bourse.Time   `json:"end"`
	Exit    int           `json:"exit"`
	Signal  int           `json:"signal,omitempty"`
	Why     string        `json:"why,omitempty"`     // it did not end by itself
	Failed  bourse.Reason `json:"failed,omitzero"`   // it did not begin
	Lost    string        `json:"lost,omitempty"`    // its supervisor has gone, and when it ended is not known
	Kept    int64         `json:"kept"`              // bytes of its output
	Dropped int64         `json:"dropped,omitempty"` // beyond MaxOutput, or that could not be written
	Left    int           `json:"left,omitempty"`    // processes that could not be killed
}

// word is what a supervisor says when it has begun the work, or could not.
type word struct {
	Failed bourse.Reason `json:"failed,omitzero"`
}

// state is how it stands with a work.
type state struct {
	claim  *claim
	result *result
	runs   bool
	err    error
}

func (w work) file(name string) string { return filepath.Join(string(w), name) }

// exists reports whether there is such a work.
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
	if err := errors.Join(os.Chmod(string(w), 0o711), os.Chmod(w.file(homeFolder), 0o700)); err != nil { // whatever the process's mask
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

// written counts the files that this process has written, to tell apart those that are
// not whole yet.
var written atomic.Uint64

// write writes a file so that it is there whole or not at all, and stays.
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

// claim says who runs the work from now on; fs.ErrExist if that has been said.
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

// state reads how it stands with the work. One whose supervisor is gone without a
// result is lost: what it has left is killed, and that is its result.
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

// read reads the files of the work. A supervisor that ends writes the result before,
// so that it is asked first whether it runs.
func (w work) read() (s state) {
	if s.claim, s.err = read[claim](w, claimFile); s.err != nil || s.claim == nil {
		return s
	}
	lives := s.claim.Process.lives(w)
	s.result, s.err = read[result](w, resultFile)
	s.runs = lives && s.result == nil
	return s
}

// syncFile has the disk keep what a file or folder holds.
func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

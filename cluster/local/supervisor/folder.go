package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"time"
)

// Folder is the folder of one piece of work.
type Folder string

// The files of a piece of work.
const (
	OrderFile  = "order.json"
	ScriptFile = "script"
	HomeFolder = "home"
	ClaimFile  = "claim.json"
	OutputFile = "output"
	ErrorsFile = "errors" // its standard error, if the job keeps that apart
	LeftFile   = "left.json"
	ToldFile   = "told" // it is to end; read by a supervisor of several pieces of work
	ResultFile = "result.json"
	LogFile    = "log"

	Besides = ".new" // at the end of the name of what is not yet whole
)

// Several is the word before the folder of a supervisor of several pieces of work.
const Several = "several"

// Called does what the arguments of a supervisor's process say: FOLDER of one piece of work, or
// "several" and the FOLDER above those of the works that it reads from its standard input.
// known: false if they say nothing of the kind, and nothing was done.
func Called(args []string) (known bool, err error) {
	switch {
	case len(args) == 1:
		return true, Supervise(Folder(args[0]), os.Stdout)
	case len(args) == 2 && args[0] == Several:
		return true, SuperviseSeveral(os.Stdin, os.Stdout)
	}
	return false, nil
}

// File is the path of a file of the work.
func (w Folder) File(name string) string { return strings.TrimSuffix(string(w), "/") + "/" + name }

// Name is the name of the work.
func (w Folder) Name() string { return string(w)[strings.LastIndexByte(string(w), '/')+1:] }

// written counts the files that this process has written. It gives files that are not yet
// whole different names.
var written atomic.Uint64

// Write writes a file, so that it appears whole or not at all. Its content is on the disk when it
// returns. Its name is once the folder is synced, as Claim does: what is written later and lost
// with the machine is a result, and work that has none is lost with the machine too.
func (w Folder) Write(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	beside := w.File(fmt.Sprintf("%s.%d.%d%s", name, os.Getpid(), written.Add(1), Besides))
	if err := os.WriteFile(beside, text, 0o600); err != nil {
		return err
	}
	return errors.Join(Sync(beside), os.Rename(beside, w.File(name)))
}

// Claim records who runs the work from now on; fs.ErrExist if there is a claim already. When it
// returns, the claim is on the disk, with the folder and all that was written there before: the
// work never begins again, even if the machine fails at once.
func (w Folder) Claim(p Process) error {
	text, err := json.Marshal(Claim{At: Now(), Process: p})
	if err != nil {
		return err
	}
	beside := w.File(fmt.Sprintf("%s.%d", ClaimFile, os.Getpid()))
	if err := os.WriteFile(beside, text, 0o600); err != nil {
		return err
	}
	err = errors.Join(Sync(beside), os.Link(beside, w.File(ClaimFile)))
	return errors.Join(err, os.Remove(beside), Sync(string(w)), Sync(path.Dir(string(w))))
}

// Read reads a file of the work; nil if it is not there.
func Read[T any](w Folder, name string) (*T, error) {
	text, err := os.ReadFile(w.File(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v := new(T)
	if err := json.Unmarshal(text, v); err != nil {
		return nil, fmt.Errorf("%s: %w", w.File(name), err)
	}
	return v, nil
}

// Sync makes the content of a file or folder durable.
func Sync(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Now is the machine's time.
func Now() Time { return Time(time.Now().UnixMilli()) }

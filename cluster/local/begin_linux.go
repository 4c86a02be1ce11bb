package local

import (
	"os"
	"syscall"
)

// startSupervisor starts a supervisor: of one piece of work or, if more is given, of what is
// written there. It outlives this process: it has a session of its own, none of this process's
// open files and nothing of its environment. The reader returns what it says.
func startSupervisor(argv []string, logs string, more *os.File) (words *os.File, err error) {
	none, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = none.Close() }()
	if more == nil {
		more = none
	}
	log, err := os.OpenFile(logs, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	words, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = theirs.Close() }()
	// One processor at a time is enough for it, and with more it would have more threads.
	p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{Dir: "/", Env: []string{"GOMAXPROCS=1"}, Files: []*os.File{more, theirs, log}, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		_ = words.Close()
		return nil, err
	}
	go func() { _, _ = p.Wait() }() // so that it does not remain a zombie
	return words, nil
}

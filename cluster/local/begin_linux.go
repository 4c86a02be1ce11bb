package local

import (
	"os"
	"syscall"

	"github.com/bourse-grid/bourse/cluster/local/supervisor"
)

// startSupervisor starts the supervisor of a piece of work. It outlives this process: it has
// a session of its own, none of this process's open files and nothing of its environment.
// The reader returns what it says.
func startSupervisor(command []string, w work) (words *os.File, err error) {
	none, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = none.Close() }()
	log, err := os.OpenFile(w.file(supervisor.LogFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	words, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = theirs.Close() }()
	argv := append(append([]string{}, command...), string(w))
	// One processor at a time is enough for it, and with more it would have more threads.
	p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{Dir: "/", Env: []string{"GOMAXPROCS=1"}, Files: []*os.File{none, theirs, log}, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		_ = words.Close()
		return nil, err
	}
	go func() { _, _ = p.Wait() }() // so that it does not remain a zombie
	return words, nil
}

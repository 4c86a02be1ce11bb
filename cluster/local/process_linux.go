package local

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// process names a process of this machine so that it cannot be confused with a later one of
// the same number: its number, and when it was started, in ticks since the machine was.
type process struct {
	PID     int    `json:"pid"`
	Started uint64 `json:"started"`
	Boot    string `json:"boot"` // the start of the machine
}

// bootID differs after each start of the machine.
var bootID = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
})

// thisProcess is the calling process.
func thisProcess() (process, error) {
	boot, err := bootID()
	if err != nil {
		return process{}, err
	}
	s, err := statOf(os.Getpid())
	return process{PID: os.Getpid(), Started: s.started, Boot: boot}, err
}

// stat is what the kernel says of a process.
type stat struct {
	parent  int
	started uint64
	over    bool // it has ended, and its parent has not yet asked for its status
}

func statOf(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	return parseStat(text)
}

// parseStat reads proc(5)'s stat: after the name, which may hold anything, the state
// is the third field, the parent the fourth, the start the 22nd.
func parseStat(text []byte) (s stat, err error) {
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return s, fmt.Errorf("stat of a process has %d fields after the name", len(fields))
	}
	s.over = fields[0] == "Z" || fields[0] == "X" || fields[0] == "x"
	if s.parent, err = strconv.Atoi(fields[1]); err != nil {
		return s, err
	}
	s.started, err = strconv.ParseUint(fields[19], 10, 64)
	return s, err
}

// lives reports whether a supervisor still runs: it is that process, of this start of the
// machine, with that folder as its argument.
func (p process) lives(w work) bool {
	boot, err := bootID()
	if err != nil || p.PID <= 0 || p.Boot != boot {
		return false
	}
	s, err := statOf(p.PID)
	if err != nil || s.over || s.started != p.Started {
		return false
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
	return err == nil && string(lastArgument(line)) == string(w)
}

// lastArgument is the last argument of a command line as proc(5) has it.
func lastArgument(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{0})
	return line[bytes.LastIndexByte(line, 0)+1:]
}

// fate says what became of a supervisor that no longer runs.
func (p process) fate() string {
	if boot, err := bootID(); err == nil && p.Boot != boot {
		return "the machine has restarted since"
	}
	return "the process that looked after it was killed"
}

// terminate asks a supervisor to end its work. If it has ended meanwhile, nothing is to be
// done.
func (p process) terminate(w work) error {
	return signalIf(p.PID, syscall.SIGTERM, func() bool { return p.lives(w) })
}

// signalIf sends a signal to the process of a number if it is the right one. The number
// cannot pass to another process in between, because the handle is of the process itself.
func signalIf(pid int, sig syscall.Signal, right func() bool) error {
	h, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer func() { _ = h.Release() }()
	if !right() {
		return nil
	}
	if err := h.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// processes lists the numbers of all visible processes.
func processes() ([]int, error) {
	list, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, e := range list {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// descendants lists the descendants of a process, without the process itself, with the
// times when they were started.
func descendants(of int) (map[int]uint64, error) {
	pids, err := processes()
	if err != nil {
		return nil, err
	}
	all, children := map[int]stat{}, map[int][]int{}
	for _, pid := range pids {
		if s, err := statOf(pid); err == nil { // else it has ended
			all[pid] = s
			children[s.parent] = append(children[s.parent], pid)
		}
	}
	found := map[int]uint64{}
	for line := children[of]; len(line) > 0; line = line[1:] {
		pid := line[0]
		if _, twice := found[pid]; !twice && !all[pid].over {
			found[pid] = all[pid].started
		}
		line = append(line, children[pid]...)
	}
	return found, nil
}

// signalDescendants sends a signal to all descendants of this process.
func signalDescendants(sig syscall.Signal) (n int, err error) {
	list, err := descendants(os.Getpid())
	for pid, started := range list {
		err = errors.Join(err, signalIf(pid, sig, func() bool { s, err := statOf(pid); return err == nil && s.started == started }))
	}
	return len(list), err
}

// markVariable names the work's folder in the environment of all processes that it starts,
// unless they remove it.
const markVariable = "BOURSE_WORK"

// killMarked kills what work without a supervisor has left behind: all processes with its
// mark in their environment. It cannot find those that have removed the mark.
func killMarked(w work) error {
	pids, err := processes()
	if err != nil {
		return err
	}
	mark := []byte(markVariable + "=" + string(w))
	marked := func(pid int) bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		return err == nil && slices.ContainsFunc(bytes.Split(text, []byte{0}), func(v []byte) bool { return bytes.Equal(v, mark) })
	}
	for _, pid := range pids {
		if pid == os.Getpid() || !marked(pid) {
			continue
		}
		if e := signalIf(pid, syscall.SIGKILL, func() bool { return marked(pid) }); !errors.Is(e, fs.ErrPermission) {
			err = errors.Join(err, e)
		}
	}
	return err
}

package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// BootID differs after each start of the machine.
var BootID = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
})

// Find names the process of a number; false if there is none, or it is over.
func Find(pid int) (Process, bool) {
	boot, err := BootID()
	s, errStat := statOf(pid)
	return Process{PID: pid, Started: s.started, Boot: boot}, err == nil && errStat == nil && !s.over
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

// Lives reports whether a supervisor still runs: it is that process, of this start of the
// machine, with that folder as its argument, or the folder above if it looks after several
// pieces of work.
func (p Process) Lives(w Folder) bool {
	boot, err := BootID()
	if err != nil || p.PID <= 0 || p.Boot != boot {
		return false
	}
	s, err := statOf(p.PID)
	if err != nil || s.over || s.started != p.Started {
		return false
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
	named := string(w)
	if p.Several {
		named = path.Dir(named)
	}
	return err == nil && string(lastArgument(line)) == named
}

// lastArgument is the last argument of a command line as proc(5) has it.
func lastArgument(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{0})
	return line[bytes.LastIndexByte(line, 0)+1:]
}

// Fate says what became of a supervisor that no longer runs.
func (p Process) Fate() string {
	if boot, err := BootID(); err == nil && p.Boot != boot {
		return "the machine has restarted since"
	}
	return "the process that looked after it was killed"
}

// Terminate asks a supervisor to end its work. If it has ended meanwhile, nothing is to be
// done.
func (p Process) Terminate(w Folder) error {
	sig := syscall.SIGTERM
	if p.Several {
		if err := os.WriteFile(w.File(ToldFile), nil, 0o600); err != nil {
			return err
		}
		sig = syscall.SIGUSR1
	}
	return signalIf(p.PID, sig, func() bool { return p.Lives(w) })
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

// numbers lists the entries of a folder of proc(5) that are numbers.
func numbers(folder string) ([]int, error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	list, err := f.Readdirnames(-1)
	var all []int
	for _, name := range list {
		if n, err := strconv.Atoi(name); err == nil {
			all = append(all, n)
		}
	}
	return all, err
}

// childrenOf lists the children of a process, those that are over included, the latest last.
// It costs as much as there are children, whatever else runs on the machine. It fails where
// the kernel does not list them.
func childrenOf(pid int) (children []int, err error) {
	threads, err := numbers(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range threads {
		list, err := startedBy(pid, t)
		if err != nil {
			if _, gone := os.Stat(fmt.Sprintf("/proc/%d/task/%d", pid, t)); gone != nil {
				continue // the thread has ended
			}
			return nil, err
		}
		children = append(children, list...)
	}
	return children, err
}

// startedBy lists the children of one thread of a process, the latest last. Orphans that pass to
// the process become children of the thread with its own number while that lives.
func startedBy(pid, thread int) (children []int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, thread))
	for field := range bytes.FieldsSeq(text) {
		if n, err := strconv.Atoi(string(field)); err == nil {
			children = append(children, n)
		}
	}
	return children, err
}

// descendants lists the descendants of this process that are not over, with the times when
// they were started.
func descendants() (map[int]uint64, error) {
	children := childrenOf
	if _, err := childrenOf(os.Getpid()); err != nil {
		all, err := family()
		if err != nil {
			return nil, err
		}
		children = func(pid int) ([]int, error) { return all[pid], nil }
	}
	found := map[int]uint64{}
	first, err := children(os.Getpid())
	for line := first; len(line) > 0; line = line[1:] {
		pid := line[0]
		s, err := statOf(pid)
		if _, twice := found[pid]; twice || err != nil || s.over {
			continue
		}
		found[pid] = s.started
		next, _ := children(pid) // else it has ended
		line = append(line, next...)
	}
	return found, err
}

// family lists the children of all visible processes, where the kernel does not.
func family() (map[int][]int, error) {
	pids, err := numbers("/proc")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, pid := range pids {
		if s, err := statOf(pid); err == nil { // else it has ended
			children[s.parent] = append(children[s.parent], pid)
		}
	}
	return children, nil
}

// Mark names the work's folder in the environment of all processes that it starts, unless
// they remove it.
const Mark = "BOURSE_WORK"

// How what is left of work without a supervisor is killed.
const (
	markedRounds = 40 // at most, one after the other
	markedQuiet  = 3  // so many that find nothing, one after the other, mean that nothing is left
	markedPause  = 2 * time.Millisecond
)

// KillMarked kills what work without a supervisor has left behind: all processes of its
// cgroup, if it has one, and all with its mark in their environment. Without a cgroup it
// cannot find those that have removed the mark, and may miss one that starts the next and
// ends faster than processes are listed. It returns how many of those that it has found are
// left: they hang in the kernel, or it always finds others.
func KillMarked(w Folder, cgroup string) (left int, err error) {
	return untilQuiet(func() (int, error) { return killMarked(w, cgroup) })
}

// untilQuiet repeats a pass that kills what it finds, until several in a row have found
// nothing: one alone may have missed what was started during it. It returns how many the last
// one found, 0 if all is quiet.
func untilQuiet(pass func() (found int, err error)) (left int, err error) {
	quiet := 0
	for range markedRounds {
		n, err := pass()
		if err != nil {
			return n, err
		}
		if left, quiet = n, quiet+1; n > 0 {
			quiet = 0
		}
		if quiet == markedQuiet {
			return 0, nil
		}
		time.Sleep(markedPause) // it takes a moment to die
	}
	return max(left, 1), nil
}

// killMarked does so once, and returns how many it has found.
func killMarked(w Folder, cgroup string) (found int, err error) {
	if cgroup != "" {
		if err := killGroup(cgroup); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		members, _ := os.ReadFile(cgroup + "/cgroup.procs")
		found = bytes.Count(members, []byte("\n"))
	}
	pids, err := numbers("/proc")
	if err != nil {
		return found, err
	}
	n := 0
	for _, pid := range pids {
		if pid == os.Getpid() || !w.marks(pid) {
			continue
		}
		e := signalIf(pid, syscall.SIGKILL, func() bool { return w.marks(pid) })
		if errors.Is(e, fs.ErrPermission) {
			continue
		}
		n++
		err = errors.Join(err, e)
	}
	return max(found, n), err
}

// marks reports whether a process has the mark of the work.
func (w Folder) marks(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false
	}
	mark := Mark + "=" + string(w)
	for v := range bytes.SplitSeq(text, []byte{0}) {
		if string(v) == mark {
			return true
		}
	}
	return false
}

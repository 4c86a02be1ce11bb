package supervisor

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Cgroup returns the folder of this process's cgroup, in which cgroups for work can be made
// and killed as one; an error says why none can. It makes one and removes it to find out.
func Cgroup() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	folder, err := groupFolder(string(mounts), string(own))
	if err != nil {
		return "", err
	}
	probe := fmt.Sprintf("%s/bourse.probe.%d", folder, os.Getpid())
	if err := os.Mkdir(probe, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	defer func() { _ = syscall.Rmdir(probe) }()
	f, err := os.OpenFile(probe+"/cgroup.kill", os.O_WRONLY, 0)
	if err != nil {
		return "", err
	}
	return folder, f.Close()
}

// groupFolder finds the folder of a cgroup of version 2 in what proc(5) says of mounts and of
// a process's cgroups.
func groupFolder(mounts, own string) (string, error) {
	at := ""
	for line := range strings.Lines(own) {
		if p, ok := strings.CutPrefix(line, "0::"); ok {
			at = strings.TrimSuffix(strings.TrimSuffix(p, "\n"), "/")
		}
	}
	for line := range strings.Lines(mounts) {
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if !ok || !strings.HasPrefix(after, "cgroup2 ") || len(fields) < 5 {
			continue
		}
		root, point := strings.TrimSuffix(fields[3], "/"), fields[4]
		inside, ok := strings.CutPrefix(at, root)
		if !ok || strings.Contains(at, "/..") || inside != "" && inside[0] != '/' {
			return "", fmt.Errorf("its cgroup %s is outside of what is mounted at %s", at, point)
		}
		return point + inside, nil
	}
	return "", errors.New("no cgroup2 is mounted")
}

// openGroup makes the cgroup of a piece of work and opens it; nil if it cannot: the work is
// then killed process by process.
func openGroup(folder string) *os.File {
	if folder == "" {
		return nil
	}
	if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil
	}
	f, err := os.Open(folder)
	if err != nil {
		return nil
	}
	return f
}

// killGroup kills all processes of a cgroup at once: none can fork away meanwhile.
func killGroup(folder string) error {
	f, err := os.OpenFile(folder+"/cgroup.kill", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("1")
	return errors.Join(err, f.Close())
}

// closeGroup removes a cgroup in which nothing is left. The kernel may take a moment to see
// that; the site tries again later.
func closeGroup(folder string) {
	for range 500 {
		if err := syscall.Rmdir(folder); !errors.Is(err, syscall.EBUSY) {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

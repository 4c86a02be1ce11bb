package slurm

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// shells are the shells of this machine that can be /bin/sh somewhere.
func shells(t *testing.T) (list [][]string) {
	t.Helper()
	for _, s := range [][]string{{"dash"}, {"bash"}, {"bash", "--posix"}, {"busybox", "sh"}} {
		if path, err := exec.LookPath(s[0]); err == nil {
			list = append(list, append([]string{path}, s[1:]...))
		}
	}
	if list == nil {
		t.Skip("needs dash or bash")
	}
	return list
}

// A job's environment is its own affair: whatever it is, the work has it, the wrapper does
// not, and its exit status is kept.
func TestWrapper_AHostileEnvironmentReachesTheWorkAlone(t *testing.T) {
	t.Parallel()
	env := map[string]string{
		"here": "/nonexistent", "out": "/nonexistent/out", "work": "x", "status": "y", "told": "1", "s": "127", // names that the wrapper once had
		"bourse_here": "/nonexistent", "bourse_date": "/bin/false", "bourse_mv": "/bin/false", "bourse_env": "/bin/false", "bourse_status": "9", "bourse_tool": "x", // and has
		"PATH": "/opt/app/bin", "HOME": "/nonexistent", "IFS": "x/", "TZ": "Asia/Tokyo", "LC_ALL": "xx_YY", "CDPATH": "/usr", // what changes a shell
		"ENV": "/nonexistent/env", "BASH_ENV": "/nonexistent/env", "SHELLOPTS": "noexec:xtrace", "BASHOPTS": "x", "PS4": "$(exit 9)", "POSIXLY_CORRECT": "1", "OPTIND": "x",
		"UID": "0", "EUID": "0", "PPID": "1", "PWD": "/nonexistent", "_": "x", "LINENO": "x", // what a shell keeps to itself
		"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "theirs", "ODD": "a'b\"c\n$PATH `id` \\", // what the wrapper reads, and what has to be quoted
	}
	for _, shell := range shells(t) {
		for _, output := range []string{"", "out-%l"} {
			f, m, here := newWork(t)
			m.Work.Work = grid.Work{Script: "#!/bin/cat /proc/self/environ\n", Output: output} // the environment as it is, by no shell
			if _, err := os.Stat("/proc/self/environ"); err != nil {
				t.Skip("needs /proc, which shows an environment as it is")
			}
			for name, value := range env {
				m.Work.Work.Env = append(m.Work.Work.Env, grid.EnvVar{Name: name, Value: value})
			}
			if err := os.WriteFile(filepath.Join(here, "script"), []byte(m.Work.Work.Script), 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(shell[0], shell[1:]...)
			cmd.Env = append(os.Environ(), "SLURM_JOB_ID=41", "SLURM_JOB_NODELIST=n[1-2]")
			cmd.Stdin = strings.NewReader(wrapper(m, here))
			printed, err := cmd.Output()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if output != "" {
				if printed, err = os.ReadFile(filepath.Join(here, "out-1")); err != nil {
					t.Fatal(err)
				}
			}
			vars := strings.Split(string(printed), "\x00")
			for name, value := range env {
				if !slices.Contains(vars, name+"="+value) {
					t.Errorf("%q, output %q: the work has no %s=%q", shell, output, name, value)
				}
			}
			for _, v := range vars {
				if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "bourse_") && env[name] == "" {
					t.Errorf("%q: a variable of the wrapper's reaches the work: %s", shell, v)
				}
			}
			if got, err := f.traces(t.Context(), m.Name); err != nil || !got.begun || !got.ended || got.exit != cmd.ProcessState.ExitCode() || got.number != "41" || got.end < got.begin {
				t.Errorf("%q, output %q: it has left %+v, %v; status %d", shell, output, got, err, cmd.ProcessState.ExitCode())
			}
		}
	}
}

// A program whose name is like a variable is a program.
func TestWrapper_AProgramWithAnEqualsSignRuns(t *testing.T) {
	t.Parallel()
	for _, shell := range shells(t) {
		f, m, here := newWork(t)
		m.Work.Work = grid.Work{Command: []string{"./a=b", "x y"}}
		if err := os.WriteFile(filepath.Join(here, "a=b"), []byte("#!/bin/sh\necho \"$1\"; exit 5\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(shell[0], shell[1:]...)
		cmd.Stdin = strings.NewReader(wrapper(m, here))
		out, _ := cmd.Output()
		if got, err := f.traces(t.Context(), m.Name); err != nil || got.exit != 5 || string(out) != "x y\n" {
			t.Errorf("%q: %q, %+v, %v", shell, out, got, err)
		}
	}
}

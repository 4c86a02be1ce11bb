package conformance

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/cluster/command"
)

// python is an interpreter: the system's own if there is one, because others on the PATH may
// be scripts that read their standard input.
func python(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		return "/usr/bin/python3"
	}
	name, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	return name
}

// checked runs the checks against the sample driver, or one of them against it with a mistake.
func checked(t *testing.T, mistake, only string, within time.Duration) []Result {
	t.Helper()
	sample, err := filepath.Abs("../../../docs/examples/driver.py")
	if err != nil {
		t.Fatal(err)
	}
	program := []string{python(t), sample}
	if mistake != "" {
		broken, err := filepath.Abs("testdata/broken.py")
		if err != nil {
			t.Fatal(err)
		}
		program = []string{python(t), broken, sample, mistake}
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return Check(context.Background(), Options{
		Driver: command.Config{Command: append(program, "--folder", t.TempDir(), "--nodes", "2"), Site: "check", Prefix: "bourse.check.", Hello: time.Minute, Log: func(line string) { t.Log(line) }},
		Submit: true, Pilots: true, User: me.Username, Within: within, Names: "t.", only: only})
}

func TestCheck_TheSampleDriverPasses(t *testing.T) {
	t.Parallel()
	list := checked(t, "", "", 0)
	for _, r := range list {
		if r.State != OK {
			t.Errorf("%d %s: %s: %s", r.Number, r.Name, r.State, r.Words)
		}
	}
	if len(list) != 11 || !Passed(list) {
		t.Errorf("got %v", list)
	}
}

// Each mistake fails the check that is about it, and no driver with one passes. What never comes need
// not be waited for long.
func TestCheck_BrokenDriversFailTheirCheck(t *testing.T) {
	t.Parallel()
	for mistake, c := range map[string]struct {
		check  string
		within time.Duration
	}{
		"twice":    {"work", 0},
		"soon":     {"work", 0},
		"remember": {"work", 0},
		"hide":     {"work", 0},
		"noise":    {"hello", 0},
		"silent":   {"looks", 300 * time.Millisecond},
		"overstay": {"pilots", 0},
		"shrink":   {"pilots", 0},
		"undead":   {"pilots", 0},
		"eager":    {"pilots", 0},
		"adrift":   {"looks", 0},
		"greedy":   {"names that begin alike", 0},
	} {
		t.Run(mistake, func(t *testing.T) {
			t.Parallel()
			list := checked(t, mistake, c.check, c.within)
			i := slices.IndexFunc(list, func(r Result) bool { return r.Name == c.check })
			if list[i].State != Failed || Passed(list) {
				t.Errorf("check %s is %s: %s", c.check, list[i].State, list[i].Words)
			}
			t.Log(fmt.Sprint(list[i]))
		})
	}
}

package conformance

import (
	"context"
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

// begin begins the checks against the sample driver, or against it with a mistake, and returns what
// waits for their results. A driver mostly waits for the work that is checked, so many go at once,
// however few processors there are.
func begin(t *testing.T, mistake string, within time.Duration) func() []Result {
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
	options := Options{
		Driver: command.Config{Command: append(program, "--folder", t.TempDir(), "--nodes", "3"), Site: "check", Prefix: "bourse.check.", Log: func(line string) { t.Log(line) }},
		Submit: true, User: me.Username, Within: within, Names: "t."}
	results := make(chan []Result, 1)
	go func() { results <- Check(context.Background(), options) }()
	return func() []Result { return <-results }
}

func TestCheck_TheSampleDriverPasses(t *testing.T) {
	t.Parallel()
	list := begin(t, "", 0)()
	for _, r := range list {
		want := OK
		if r.Name == "pilots" {
			want = Skipped
		}
		if r.State != want {
			t.Errorf("%d %s: %s: %s", r.Number, r.Name, r.State, r.Words)
		}
	}
	if len(list) != 11 || !Passed(list) {
		t.Errorf("got %v", list)
	}
}

// Each mistake fails the check that is about it, and no driver with one passes. The silent driver never
// shows what it has, so its looks may be short: they fail at any speed.
func TestCheck_BrokenDriversFailTheirCheck(t *testing.T) {
	t.Parallel()
	mistakes := []struct {
		name, check string
		within      time.Duration
		results     func() []Result
	}{
		{name: "twice", check: "work"},
		{name: "soon", check: "work"},
		{name: "remember", check: "work"},
		{name: "hide", check: "work"},
		{name: "noise", check: "hello"},
		{name: "silent", check: "looks", within: 300 * time.Millisecond},
	}
	for i := range mistakes {
		m := &mistakes[i]
		m.results = begin(t, m.name, m.within)
	}
	for _, m := range mistakes {
		list := m.results()
		i := slices.IndexFunc(list, func(r Result) bool { return r.Name == m.check })
		if list[i].State != Failed || Passed(list) {
			t.Errorf("%s: check %s is %s: %s", m.name, m.check, list[i].State, list[i].Words)
		}
		t.Logf("%s: %v", m.name, list[i])
	}
}

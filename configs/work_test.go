package configs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A batch has the same job by a command and by a script; the client reads the script.
func TestWork_ABatchHasCommandsAndScripts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "wave.sh"), []byte("#!/bin/sh\nhostname\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(smallBatch, `ready = "1h"`, `command = ["sh", "-c", "echo one\necho two"]
env = { B = "two\nlines", A = "" }
workdir = "/scratch"
output = "out-%j.%l"
rendezvous = true`, 1)
	text = strings.Replace(text, "length = 60\n", "length = 60\nscript = \"wave.sh\"\n", 1)
	b, err := ParseBatch(filepath.Join(dir, "batch.toml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := &grid.Work{Command: []string{"sh", "-c", "echo one\necho two"}, Env: []grid.EnvVar{{Name: "A"}, {Name: "B", Value: "two\nlines"}},
		Dir: "/scratch", Output: "out-%j.%l", Rendezvous: true}
	if got := b.Jobs[0].At(0, b.Jobs[0].Ready.Date).Work; !got.Same(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := b.Jobs[1].Work; !got.Same(&grid.Work{Script: "#!/bin/sh\nhostname\n"}) {
		t.Errorf("%+v", got)
	}
}

func TestWork_SaysWhatIsWrongAndWhatWouldBeRight(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := filepath.Join(dir, "long.sh")
	if err := os.WriteFile(long, []byte("#!/bin/sh\n"+strings.Repeat("x", 70_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	var cases []refusal
	for _, c := range []struct{ line, key, text string }{
		{`command = "hostname"`, "command", `must be an array of strings, such as ["sh", "-c"`},
		{`command = ["sh", 1]`, "command", "must be a string, not a whole number"},
		{`command = []`, "command", "names no program"},
		{`script = "none.sh"`, "script", "there is no file none.sh"},
		{fmt.Sprintf("script = %q", long), "script", "has 70010 bytes; must have at most 65536"},
		{fmt.Sprintf("script = %q", dir), "script", "is not a regular file"},
		{`workdir = "/scratch"`, "workdir", "can be used only with a command or a script"},
		{`env = { A = "1" }`, "env", "can be used only with a command or a script"},
		{`rendezvous = true`, "rendezvous", "can be used only with a command or a script"},
	} {
		cases = append(cases, refusal{name: c.line, old: `ready = "1h"`, new: c.line, key: "job." + c.key, text: c.text})
	}
	for _, c := range []struct{ line, key, text string }{
		{`workdir = "scratch"`, "workdir", "is not absolute"},
		{`output = "/etc/passwd"`, "output", "leaves the folder"},
		{`env = { BOURSE_JOB = "x" }`, "env", "choose another name"},
		{`env = { A = 1 }`, "env.A", "must be a string, not a whole number"},
		{`script = "none.sh"`, "script", "there is no file none.sh"},
	} {
		cases = append(cases, refusal{name: c.line, old: `ready = "1h"`, new: "command = [\"hostname\"]\n" + c.line + "#!", key: "job." + c.key, text: c.text})
	}
	runRefusals(t, smallBatch, cases)
}

// The same batch file serves a simulation: it opens no script, and says that it runs
// nothing.
func TestWork_ASimulationRunsNothingAndSaysSo(t *testing.T) {
	t.Parallel()
	text := strings.Replace(smallScenario, `deadline = "1d"`, "deadline = \"1d\"\nscript = \"none.sh\"\noutput = \"x\"", 1)
	s, err := ParseScenario("f.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Brokers[1].Ignored(), `broker "vo2": job "wave" has a command or a script, which a simulation does not run`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := s.Brokers[0].Ignored(); got != "" {
		t.Errorf("%q", got)
	}
	if _, err = ParseScenario("f.toml", []byte(strings.Replace(text, `script = "none.sh"`, `command = "x"`, 1))); err == nil {
		t.Error("what cannot be a command is taken")
	}
}
